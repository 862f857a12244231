package workflow

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/notes"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// deployClass says how one of ComfyUI-Deploy's external nodes becomes an input. The lists hold the input's
// present name first, then the older ones.
type deployClass struct {
	typ     registry.InputType
	value   []string // widgets with the value
	socket  []string // sockets whose link is a default
	url     []string // widgets with the URL of a default
	mode    binding.Mode
	list    bool
	integer bool
	step    json.Number
	bounds  bool // has min_value and max_value
	min     json.Number
	max     json.Number
	seed    bool
	options bool
}

// deployClassOf finds a class by the end of its name.
func deployClassOf(kind string) (deployClass, bool) {
	value := []string{"default_value"}
	switch kind {
	case "Text", "TextAny", "TextSingleLine":
		return deployClass{typ: registry.TypeString, value: value}, true
	case "TextList":
		return deployClass{typ: registry.TypeString, value: []string{"text"}, mode: binding.ModeJSON, list: true}, true
	case "Image":
		return deployClass{typ: registry.TypeImage, socket: []string{"default_value", "default_image"}, url: []string{"default_value_url"}, mode: binding.ModeLoadImage}, true
	case "ImageAlpha":
		return deployClass{typ: registry.TypeImage, socket: []string{"default_value", "default_image"}, mode: binding.ModeLoadImageAlpha}, true
	case "ImageBatch":
		return deployClass{typ: registry.TypeImage, socket: value, value: []string{"images"}, mode: binding.ModeLoadImage, list: true}, true
	case "Number":
		return deployClass{typ: registry.TypeNumber, value: value, step: "0.01", min: "-2147483647", max: "2147483647"}, true
	case "NumberInt":
		return deployClass{typ: registry.TypeNumber, value: value, integer: true, min: "-2147483647", max: "2147483647"}, true
	case "NumberSlider", "Slider":
		return deployClass{typ: registry.TypeNumber, value: value, step: "0.01", bounds: true, min: "0", max: "1"}, true
	case "NumberSliderInt":
		return deployClass{typ: registry.TypeNumber, value: value, integer: true, bounds: true, min: "0", max: "10"}, true
	case "Boolean":
		return deployClass{typ: registry.TypeBoolean, value: value}, true
	case "Seed":
		return deployClass{typ: registry.TypeNumber, value: value, integer: true, seed: true, bounds: true, min: "1", max: "4294967295"}, true
	case "Enum":
		return deployClass{typ: registry.TypeString, value: value, options: true}, true
	case "Lora":
		return deployClass{typ: registry.TypeFile, value: []string{"default_lora_name"}, url: []string{"lora_url"}, mode: binding.ModeURL}, true
	case "Checkpoint":
		return deployClass{typ: registry.TypeFile, value: []string{"default_value", "default_checkpoint_name"}}, true
	case "FaceModel":
		return deployClass{typ: registry.TypeFile, value: []string{"default_face_model_name"}, url: []string{"face_model_url"}, mode: binding.ModeURL}, true
	case "Video":
		return deployClass{typ: registry.TypeVideo, value: []string{"default_video", "default_value"}, url: []string{"default_value_url"}}, true
	case "Vid":
		return deployClass{typ: registry.TypeVideo, value: value}, true
	case "Audio":
		return deployClass{typ: registry.TypeAudio, value: []string{"audio_file"}, socket: value}, true
	case "EXR":
		return deployClass{typ: registry.TypeFile, value: []string{"exr_file"}, socket: []string{"default_image"}}, true
	case "File":
		return deployClass{typ: registry.TypeFile, url: []string{"file_url"}, mode: binding.ModeURL}, true
	}
	return deployClass{}, false
}

// deployInputs makes the fields of all external nodes that something depends on.
func (d *definer) deployInputs() {
	for _, n := range d.f.Nodes {
		kind, ok := strings.CutPrefix(n.Class, graph.DeployPrefix)
		if !ok || !d.reached[n.ID] {
			continue
		}
		class, known := deployClassOf(kind)
		if !known {
			class = guessDeployClass(n)
		}
		d.deployInput(n, class)
	}
}

// guessDeployClass reads a class that came after this was written: by the sort of its default.
func guessDeployClass(n *graph.FlatNode) deployClass {
	c := deployClass{typ: registry.TypeString, value: []string{"default_value"}}
	switch v, _ := n.Inputs.Get("default_value"); v.(type) {
	case json.Number:
		c.typ = registry.TypeNumber
	case bool:
		c.typ = registry.TypeBoolean
	}
	return c
}

func (d *definer) deployInput(n *graph.FlatNode, c deployClass) {
	id := fieldName(firstString(n, "input_id", "name"))
	if id == "" {
		id = plain.Slug(n.Class[len(graph.DeployPrefix):], "_")
		d.f.AddFinding("no-input-id", graph.SeverityWarning, n.ID, "the external node "+n.ID+" has no input_id", "give it one")
	}
	target := binding.Target{Node: n.ID, Input: c.write(n), Mode: c.mode}
	d.taken[graph.Spot(n.ID, target.Input)] = true
	for _, name := range append(append([]string(nil), c.value...), c.socket...) {
		d.taken[graph.Spot(n.ID, name)] = true
	}
	if same := d.byName[id]; same != nil {
		d.f.AddFinding("duplicate-input-id", graph.SeverityWarning, n.ID, "input_id "+plain.Quote(id)+" is used twice", "both nodes get the same value; give one another id if they should differ")
		same.targets = append(same.targets, target)
		return
	}
	f := &field{InputField: registry.InputField{Name: id, Type: c.typ, Multiple: c.list, Integer: c.integer, Seed: c.seed}, source: sourceDeploy}
	f.DisplayName = plain.Clip(plain.Line(firstString(n, "display_name")), 80)
	f.Description = plain.Clip(strings.TrimSpace(plain.Text(notes.StripTags(firstString(n, "description")))), 300)
	if s := n.SpecOf("default_value"); s != nil && c.typ == registry.TypeString && !c.options {
		f.Multiline = s.Multiline
	}
	c.numbers(n, f)
	c.choices(d, n, f)
	c.defaults(n, f)
	if f.Integer && !f.Seed && d.onlySeeds(n) {
		f.Seed, f.Min = true, "0"
	}
	f.targets = []binding.Target{target}
	d.add(f)
}

// fieldName keeps an author's id as it is, but for what can't be printed.
func fieldName(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '\uFFFD' {
			return -1
		}
		return r
	}, plain.Line(s))
	return strings.TrimSpace(plain.Cut(s, 100))
}

// onlySeeds tells a number that nothing but seeds are linked to.
func (d *definer) onlySeeds(n *graph.FlatNode) bool {
	uses := d.uses[n.ID]
	for _, u := range uses {
		if !isSeedName(u.Input) {
			return false
		}
	}
	return len(uses) > 0
}

// write names the input that Apply sets.
func (c deployClass) write(n *graph.FlatNode) string {
	list := c.value
	switch c.mode {
	case binding.ModeLoadImage, binding.ModeLoadImageAlpha:
		list = c.socket
	case binding.ModeURL:
		list = c.url
	}
	for _, name := range list {
		if _, ok := n.Inputs.Get(name); ok || n.SpecOf(name) != nil {
			return name
		}
	}
	return list[0]
}

func firstString(n *graph.FlatNode, names ...string) string {
	for _, name := range names {
		if v, ok := n.Inputs.Get(name); ok {
			if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
				return s
			}
		}
	}
	return ""
}

func (c deployClass) numbers(n *graph.FlatNode, f *field) {
	if c.typ != registry.TypeNumber {
		return
	}
	f.Min, f.Max, f.Step = c.min, c.max, c.step
	if !c.bounds {
		return
	}
	if v, ok := n.Inputs.Get("min_value"); ok {
		if num, ok := v.(json.Number); ok {
			f.Min = num
		}
	}
	if v, ok := n.Inputs.Get("max_value"); ok {
		if num, ok := v.(json.Number); ok {
			f.Max = num
		}
	}
}

// choices reads the options of an Enum: JSON, or, as people write them, one a line or between commas.
func (c deployClass) choices(d *definer, n *graph.FlatNode, f *field) {
	if !c.options {
		return
	}
	text := strings.TrimSpace(firstString(n, "options"))
	list, isList := []any(nil), false
	if v, err := writtenJSON(text); err == nil && text != "" {
		list, isList = v.([]any)
		if o, ok := v.(*ordered.Object); ok {
			list, _ = o.Get("options").([]any)
			isList = true
		}
	}
	if !isList {
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == ';' }) {
			list = append(list, strings.Trim(strings.TrimSpace(part), `"'[]`))
		}
	}
	for _, v := range list {
		label := ""
		if o, ok := v.(*ordered.Object); ok {
			label, v = plain.Line(textOf(o.Get("label"))), o.Get("value")
		}
		if num, ok := v.(json.Number); ok {
			v = string(num)
		}
		if s, ok := v.(string); ok && strings.TrimSpace(s) != "" && !hasChoice(f.Choices, s) {
			f.Choices = append(f.Choices, registry.Choice{Value: strings.Clone(s), Label: label})
		}
	}
	if len(f.Choices) == 0 {
		d.f.AddFinding("enum-without-options", graph.SeverityWarning, n.ID, "the choice "+plain.Quote(f.Name)+" has no options", `write them as JSON, for example ["small", "large"]`)
	}
}

// writtenJSON reads what an author wrote into a widget.
func writtenJSON(text string) (any, error) {
	return ordered.Limits{Values: 2 << 20}.Parse([]byte(text))
}

func hasChoice(list []registry.Choice, v any) bool {
	for _, c := range list {
		if c.Value == v {
			return true
		}
	}
	return false
}

// defaults settles the default and with it whether the input is required: there is no flag for it in these
// nodes, a value that exists is the only sign.
func (c deployClass) defaults(n *graph.FlatNode, f *field) {
	f.Required = true
	for _, name := range c.socket {
		if v, ok := n.Inputs.Get(name); ok {
			if _, link := v.(graph.Ref); link {
				f.Required = false
			}
		}
	}
	if url := firstString(n, c.url...); url != "" {
		f.Required = false
		if registry.IsMediaRef(url) && !c.list {
			f.Default = strings.Clone(url)
		}
	}
	for _, name := range c.value {
		v, ok := n.Inputs.Get(name)
		if _, link := v.(graph.Ref); !ok || link {
			continue
		}
		c.takeDefault(f, v)
		return
	}
}

func (c deployClass) takeDefault(f *field, v any) {
	switch v := v.(type) {
	case string:
		if c.list {
			list, err := writtenJSON(v)
			if texts, _ := list.([]any); err == nil && len(texts) > 0 && c.typ == registry.TypeString {
				f.Default, f.Required = ordered.Plain(texts), false
			}
			return
		}
		if strings.TrimSpace(v) == "" {
			return
		}
		f.Required = false
		if c.typ == registry.TypeString || registry.IsMediaRef(v) {
			f.Default = strings.Clone(v)
		}
	case json.Number:
		if c.typ == registry.TypeNumber {
			f.Default, f.Required = ordered.Plain(v), false
		}
	case bool:
		if c.typ == registry.TypeBoolean {
			f.Default, f.Required = v, false
		}
	}
}
