package workflow

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// knob is a widget name that people know, with the name its field gets, and what they are told of it where the author
// says nothing.
type knob struct {
	name     string
	advanced bool
	label    string
	about    string
}

// knobs lists the widgets of sampling worth showing. Everything else of a sampler stays as the author set it.
var knobs = map[string]knob{
	"width": {"width", false, "", "Width in pixels."}, "height": {"height", false, "", "Height in pixels."},
	"custom_width": {"width", true, "", "Width in pixels."}, "custom_height": {"height", true, "", "Height in pixels."},
	"empty_latent_width": {"width", false, "", "Width in pixels."}, "empty_latent_height": {"height", false, "", "Height in pixels."},
	"steps": {"steps", false, "", "How long to work on it: more steps take longer and give finer detail."},
	"cfg":   {"cfg", false, "", "How closely to follow the words."}, "guidance": {"guidance", false, "", "How closely to follow the words."},
	"denoise": {"denoise", true, "", "How much to change: 1 paints everything anew, less keeps more of what is there."},
	"length":  {"length", false, "", "How many frames."}, "num_frames": {"length", false, "", "How many frames."}, "video_length": {"length", false, "", "How many frames."},
	"duration": {"duration", false, "", "How long, in seconds."}, "seconds": {"seconds", false, "", "How long, in seconds."},
	"aspect_ratio": {"aspect_ratio", false, "Aspect ratio", "Width against height."}, "resolution": {"resolution", true, "", "How large."}, "size": {"size", false, "", "How large."},
	"quality": {"quality", true, "", "Better takes longer."}, "n": {"n", true, "How many", "How many results."},
	"megapixels": {"megapixels", true, "", "How large, in millions of pixels."}, "scale_by": {"scale", true, "", "How many times as large."}, "upscale_by": {"scale", true, "", "How many times as large."},
	"fps": {"fps", true, "Frames per second", "More is smoother."}, "frame_rate": {"fps", true, "Frames per second", "More is smoother."},
	"batch_size":   {"batch_size", true, "How many", "How many to make in one go. Each takes time and memory."},
	"sampler_name": {"sampler", true, "", "The way the picture is worked out of the noise."}, "scheduler": {"scheduler", true, "", "How the work is spread over the steps."},
	"strength": {"strength", true, "", "How strongly it acts."}, "strength_model": {"lora_strength", true, "LoRA strength", "How strongly the LoRA acts."},
	"ckpt_name": {"model", true, "", "The model that paints."}, "unet_name": {"model", true, "", "The model that paints."}, "model_name": {"model", true, "", "The model that does the work."},
	"model": {"model", true, "", "The model that does the work."}, "lora_name": {"lora", true, "LoRA", "A style or subject that the model learns on top."},
	"control_net_name": {"control_net", true, "ControlNet", "The model that keeps to the outlines."},
	"upscale_method":   {"upscale_method", true, "Resampling", "How pixels are made when the size changes: lanczos is sharp, area is smooth."},
	"temperature":      {"temperature", true, "", "How freely it chooses: 0 is always the same."}, "language": {"language", false, "", "The language it speaks."}, "voice": {"voice", false, "", "The voice it speaks with."},
}

var fractions = regexp.MustCompile(`(?i)^(fps|frame_rate|(start|end)_at)$|cfg|guidance|denoise|strength|weight|megapixels|scale|factor|ratio|penalty|percent|opacity|temperature|duration|seconds|speed`)

// takesFractions tells widgets that take fractions even where a file has a whole number and nobody declared them.
func takesFractions(n *graph.FlatNode, widget string) bool {
	if n.Node != nil {
		if slot := n.Node.Input(widget); slot != nil && (slot.Type == "FLOAT" || slot.Type == "INT") {
			return slot.Type == "FLOAT"
		}
	}
	return fractions.MatchString(widget) || strings.Contains(n.Class, "Float")
}

// knownName gives the usual field name of a widget.
func knownName(widget string) string {
	if k, ok := knobs[widget]; ok {
		return k.name
	}
	return widget
}

// guessKnobs adds the known widgets of nodes that results depend on. Equal widgets of equal nodes with equal
// values are one field: two samplers that share their steps.
func (h heuristic) guessKnobs(explicit bool) {
	found := map[string]*field{}
	count := map[string]int{}
	for _, n := range h.inOrder() {
		if n.IsResult() && !apiNode(n) || strings.HasPrefix(n.Class, graph.DeployPrefix) {
			continue
		}
		for _, in := range n.Inputs {
			k, ok := knobs[in.Name[strings.LastIndexByte(in.Name, '.')+1:]]
			if !ok || !strings.HasPrefix(in.Name, "empty_latent") && !h.sizeMatters(n, k.name) {
				continue
			}
			p, ok := h.knobPlace(n, in.Name)
			if !ok {
				continue
			}
			key := n.Class + "\x00" + in.Name + "\x00" + string(ordered.Append(nil, p.Value))
			if same := found[key]; same != nil && p.Node.Class == n.Class {
				same.targets = append(same.targets, binding.Target{Node: p.Node.ID, Input: p.Input})
				h.d.taken[graph.Spot(p.Node.ID, p.Input)] = true
				continue
			}
			if count[k.name]++; count[k.name] > 2 || explicit && h.d.byName[k.name] != nil {
				continue
			}
			if f := h.addKnob(k, p, n.SpecOf(in.Name), explicit || count[k.name] > 1); f != nil {
				found[key] = f
			}
		}
	}
}

// inOrder gives the nodes that results depend on as they run, each after what it takes, and else as the file has them.
func (h heuristic) inOrder() []*graph.FlatNode {
	var order []*graph.FlatNode
	seen := map[string]bool{}
	var visit func(*graph.FlatNode)
	visit = func(n *graph.FlatNode) {
		if n == nil || seen[n.ID] || !h.d.reached[n.ID] {
			return
		}
		seen[n.ID] = true
		for _, in := range n.Inputs {
			if r, ok := in.Value.(graph.Ref); ok {
				visit(h.d.f.ByID[r.Node])
			}
		}
		order = append(order, n)
	}
	for _, n := range h.d.f.Nodes {
		visit(n)
	}
	return order
}

// sizeMatters tells the width of the picture to be from that of a crop or, where a sampler paints, of a picture
// on the way.
func (h heuristic) sizeMatters(n *graph.FlatNode, name string) bool {
	if name != "width" && name != "height" {
		return true
	}
	lower := strings.ToLower(n.Class)
	if strings.Contains(lower, "crop") || strings.Contains(lower, "load") {
		return false
	}
	for _, word := range []string{"latent", "tovideo", "size", "resolution"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return apiNode(n) || !h.d.sampled && (strings.Contains(lower, "image") || strings.Contains(lower, "video"))
}

func (h heuristic) knobPlace(n *graph.FlatNode, input string) (graph.FoundWidget, bool) {
	found, widget, v, ok := h.d.f.Literal(n, input)
	if !ok || h.d.taken[graph.Spot(found.ID, widget)] {
		return graph.FoundWidget{}, false
	}
	switch v.(type) {
	case json.Number, string, bool:
		return graph.FoundWidget{Node: found, Input: widget, Value: v}, true
	}
	return graph.FoundWidget{}, false
}

// addKnob adds the field, unless it would be a text without choices: model names nobody can know. A number that a primitive
// holds has the bounds of the widget that it is for.
func (h heuristic) addKnob(k knob, p graph.FoundWidget, use *objectinfo.Input, advanced bool) *field {
	f := h.d.fieldOf(k.name, p, sourceGuess)
	if use != nil && (use.Min != "" || use.Max != "") {
		f.numbersFrom(use)
	}
	if f.Type == registry.TypeString && len(f.Choices) < 2 || f.Type.IsMedia() {
		return nil
	}
	f.Advanced = k.advanced || advanced
	f.DisplayName = p.Node.AuthorTitle()
	if p.Input != "value" {
		f.DisplayName = ""
	}
	if f = h.d.add(f); f != nil && f.Name == k.name {
		f.tell(k)
	}
	return f
}

// tell says what a known widget is for, where the author's notes do not.
func (f *field) tell(k knob) {
	f.DisplayName = cmp.Or(f.DisplayName, k.label)
	f.knob = k.about
}

// guessWidgets serves workflows without a sampler: what a person would turn on the nodes themselves. The
// author's titled primitives come first, then the widgets of the nodes in order; the later ones are advanced.
func (h heuristic) guessWidgets() {
	open := 0
	for _, titled := range []bool{true, false} {
		for _, n := range h.d.f.Nodes {
			if !h.d.reached[n.ID] || !h.worthShowing(n) {
				continue
			}
			_, primitive := n.Primitive()
			if (primitive && n.AuthorTitle() != "") != titled {
				continue
			}
			for _, in := range n.Inputs {
				if len(h.d.fields) >= maxFields/2 || !h.addWidget(n, in, titled || open < 5) {
					continue
				}
				open++
			}
		}
	}
}

// worthShowing leaves out what brings data in or takes it out.
func (h heuristic) worthShowing(n *graph.FlatNode) bool {
	return !n.IsResult() && len(loaderInputs(n)) == 0 && !strings.HasPrefix(n.Class, graph.DeployPrefix) && !strings.Contains(n.Class, "Loader") && len(h.d.uses[n.ID]) > 0
}

func (h heuristic) addWidget(n *graph.FlatNode, in graph.Input, open bool) bool {
	if _, link := in.Value.(graph.Ref); link || h.d.taken[graph.Spot(n.ID, in.Name)] || secretName(in.Name) || machineTexts[in.Name] || graph.IsControl(in.Value) || n.EditorsOwn(in.Name) {
		return false
	}
	s := n.SpecOf(in.Name)
	if s != nil && (!s.Widget || s.Type == objectinfo.TypeDynamicCombo) || in.Value == nil {
		return false
	}
	name := plain.Slug(in.Name[strings.LastIndexByte(in.Name, '.')+1:], "_")
	if title := plain.Slug(n.AuthorTitle(), "_"); title != "" && (in.Name == "value" || len(n.Inputs) == 1 || n.Class == graph.CustomCombo) {
		name = title
	}
	label := h.d.shown[graph.Spot(n.ID, in.Name)]
	if name == "value" && label != "" {
		name = plain.Slug(label, "_")
	}
	f := h.d.fieldOf(name, graph.FoundWidget{Node: n, Input: in.Name, Value: in.Value}, sourceGuess)
	if f.Type == registry.TypeString && len(f.Choices) < 2 && (s == nil || s.Type != "STRING" && s.Type != "COLOR" || looksLikeFile(textOf(in.Value))) {
		return false
	}
	f.Advanced = !open || s != nil && s.Advanced
	if in.Name == "value" {
		f.DisplayName = n.AuthorTitle()
	}
	if label != "" {
		f.DisplayName = label
	}
	return h.d.add(f) != nil
}
