package workflow

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// heuristic finds the inputs that the author did not choose.
type heuristic struct{ d *definer }

// guessInputs finds what callers will want to set: texts, media, seed, and the knobs of samplers. Where the
// author chose inputs, or described some, only a missing text or picture joins them openly, the rest as advanced.
func (h heuristic) guessInputs(positive, negative []graph.FoundWidget) {
	chosen := h.authored()
	h.guessTexts(positive, negative, chosen && h.has(registry.TypeString))
	if !chosen || !h.hasMedia() {
		h.guessMedia()
	}
	h.guessSeed()
	h.guessKnobs(h.quiet())
	if !h.d.sampled && !h.quiet() {
		h.guessWidgets()
	}
}

// quiet says whether the author's own words tell which inputs matter.
func (h heuristic) quiet() bool {
	return slices.ContainsFunc(h.d.fields, func(f *field) bool { return f.source != sourceGuess })
}

func (h heuristic) has(t registry.InputType) bool {
	return slices.ContainsFunc(h.d.fields, func(f *field) bool { return f.Type == t && len(f.Choices) == 0 && f.source <= sourceApp })
}

func (h heuristic) hasMedia() bool {
	return slices.ContainsFunc(h.d.fields, func(f *field) bool { return f.Type.IsMedia() && f.source <= sourceApp })
}

// promptWords are the inputs of text encoders that all take the same description.
var promptWords = map[string]bool{
	"text": true, "prompt": true, "text_g": true, "text_l": true, "clip_l": true, "clip_g": true, "t5xxl": true, "llama": true, "positive": true,
	"positive_prompt": true, "qwen25_7b": true, "bert": true, "mt5xl": true, "text_positive": true, "string": true, "value": true, "text_a": true, "text_b": true, "text1": true, "text2": true,
	"string_a": true, "string_b": true, "string1": true, "string2": true, "user_prompt": true, "default_value": true, "wildcard_text": true, "populated_text": true, "negative": true, "negative_prompt": true,
}

// otherTexts are text inputs that are fields of their own.
var otherTexts = map[string]bool{
	"lyrics": true, "tags": true, "caption": true, "style": true, "system_prompt": true, "instruction": true, "instructions": true, "question": true, "query": true,
	"script": true, "tts_text": true, "narrator_text": true, "reference_text": true, "target_text": true, "ref_text": true, "gen_text": true, "srt_content": true, "description": true, "sample_query": true,
}

// machineTexts are text inputs that are no prose: what they hold is for the node, not for a person.
var machineTexts = map[string]bool{
	"expression": true, "fragment_shader": true, "code": true, "regex_pattern": true, "pattern": true, "find": true, "replace": true, "delimiter": true, "separator": true, "filename_prefix": true,
}

// tracePrompts follows the conditioning of every sampler up to the texts.
func (h heuristic) tracePrompts() (positive, negative []graph.FoundWidget) {
	t := tracer{d: h.d, seen: map[string]bool{}}
	for _, n := range h.d.f.Nodes {
		if !h.d.reached[n.ID] {
			continue
		}
		_, pos := linkOf(n, "positive")
		_, neg := linkOf(n, "negative")
		guider := strings.Contains(n.Class, "Guider") || strings.Contains(n.Class, "Sampler")
		if !pos && !neg && !guider {
			continue
		}
		if pos || guider {
			h.d.sampled = h.d.sampled || isSampler(n)
		}
		for _, name := range []string{"positive", "conditioning", "cond1", "cond2", "text_embeds", "prompt"} {
			if r, ok := linkOf(n, name); ok && (name == "positive" || guider) {
				t.up(r, false, 0)
			}
		}
		if r, ok := linkOf(n, "negative"); ok {
			t.up(r, true, 0)
		}
	}
	return t.positive, t.negative
}

func linkOf(n *graph.FlatNode, input string) (graph.Ref, bool) {
	v, _ := n.Inputs.Get(input)
	r, ok := v.(graph.Ref)
	return r, ok
}

// isSampler tells nodes that draw pictures out of noise, by name and by what they take.
func isSampler(n *graph.FlatNode) bool {
	if strings.Contains(n.Class, "Sampler") || strings.Contains(n.Class, "Guider") {
		return true
	}
	_, latent := linkOf(n, "latent_image")
	return latent
}

// tracer follows links from the samplers up to the texts.
type tracer struct {
	d                  *definer
	seen               map[string]bool
	positive, negative []graph.FoundWidget
}

// up looks for texts behind one conditioning output.
func (t *tracer) up(r graph.Ref, negative bool, depth int) {
	n := t.d.f.ByID[r.Node]
	key := graph.Spot(r.Node, strconv.FormatBool(negative)+strconv.Itoa(r.Slot))
	if n == nil || depth > 60 || t.seen[key] {
		return
	}
	t.seen[key] = true
	if n.Class == "ConditioningZeroOut" && negative {
		return
	}
	t.texts(n, negative)
	pos, neg := pairLinks(n, "positive"), pairLinks(n, "negative")
	if len(pos) > 0 && len(neg) > 0 {
		// A sampler for edits takes what to avoid twice, once as its second condition.
		if negative = negative || strings.HasPrefix(strings.ToLower(n.OutputName(r.Slot)), "neg"); negative {
			pos = neg
		}
	}
	for _, next := range pos {
		t.up(next, negative, depth+1)
	}
	if len(pos) > 0 {
		return
	}
	for _, in := range n.Inputs {
		if next, ok := in.Value.(graph.Ref); ok && t.carriesConditioning(in.Name, next) {
			t.up(next, negative, depth+1)
		}
	}
}

// pairLinks are the links of one side of a node that takes texts in pairs: "positive", and as the nodes for hooks call them "positive_NEW" and "positive_A".
func pairLinks(n *graph.FlatNode, side string) (links []graph.Ref) {
	for _, in := range n.Inputs {
		more, ok := strings.CutPrefix(in.Name, side)
		if r, linked := in.Value.(graph.Ref); ok && linked && (more == "" || more[0] == '_' && more == strings.ToUpper(more)) {
			links = append(links, r)
		}
	}
	return links
}

// carriesConditioning tells links that lead on to texts.
func (t *tracer) carriesConditioning(input string, r graph.Ref) bool {
	if origin := t.d.f.ByID[r.Node]; origin != nil {
		kind := origin.OutputType(r.Slot)
		if kind == "CONDITIONING" || origin.Spec != nil && kind != "" && !graph.AnyType(kind) {
			return kind == "CONDITIONING"
		}
	}
	return strings.HasPrefix(input, "cond") || strings.HasSuffix(input, "conditioning") || strings.Contains(input, "pipe") || input == "text_embeds"
}

// texts takes the text widgets of a node that makes conditioning.
func (t *tracer) texts(n *graph.FlatNode, negative bool) {
	usual := false
	for _, in := range n.Inputs {
		usual = usual || promptWords[in.Name] || otherTexts[in.Name]
	}
	for _, in := range n.Inputs {
		if !promptWords[in.Name] && !otherTexts[in.Name] && (usual || !soundsLikeText(n, in)) {
			continue
		}
		isNegative := negative || strings.Contains(in.Name, "negative")
		switch v := in.Value.(type) {
		case string:
			t.take(graph.FoundWidget{Node: n, Input: in.Name, Value: v}, isNegative)
		case graph.Ref:
			if p, ok := t.textSource(v); ok {
				t.take(p, isNegative)
			}
		}
	}
}

// soundsLikeText tells texts under unusual names, base_prompt or style_text, in classes that nobody declared.
func soundsLikeText(n *graph.FlatNode, in graph.Input) bool {
	name := strings.ToLower(in.Name)
	if n.Spec != nil || strings.Contains(name, "system") || !strings.Contains(name, "prompt") && !strings.Contains(name, "text") {
		return false
	}
	if n.Node != nil {
		if slot := n.Node.Input(in.Name); slot != nil && slot.Type != "STRING" && slot.Type != "" {
			return false
		}
	}
	text, ok := in.Value.(string)
	return !ok || strings.Contains(name, "prompt") && !looksLikeFile(text) || strings.Contains(text, " ")
}

func (t *tracer) take(p graph.FoundWidget, negative bool) {
	key := graph.Spot(p.Node.ID, "="+p.Input)
	if t.seen[key] {
		return
	}
	t.seen[key] = true
	if negative {
		t.negative = append(t.negative, p)
		return
	}
	t.positive = append(t.positive, p)
}

// textSource follows a text link to the widget a person would type into. Of a concatenation the linked part
// counts before the fixed one, and of two fixed ones the longer. Of several linked parts one that stands by itself counts before a
// template that others are put into.
func (t *tracer) textSource(r graph.Ref) (graph.FoundWidget, bool) {
	return t.textBehind(r, map[string]bool{})
}

// maxBehind bounds how many nodes are looked at behind one link.
const maxBehind = 60

func (t *tracer) textBehind(r graph.Ref, been map[string]bool) (graph.FoundWidget, bool) {
	n := t.d.f.ByID[r.Node]
	if n == nil || been[r.Node] || len(been) > maxBehind || n.Spec != nil && r.Slot < len(n.Spec.Outputs) && !mayBeText(n.Spec.Outputs[r.Slot]) {
		return graph.FoundWidget{}, false
	}
	been[r.Node] = true
	var found []graph.FoundWidget
	for _, in := range t.alternatives(n) {
		if next, ok := in.Value.(graph.Ref); ok && (promptWords[in.Name] || takesText(n, in.Name) || chooses(n)) {
			if p, ok := t.textBehind(next, been); ok {
				found = append(found, p)
			}
		}
	}
	if len(found) > 0 {
		return found[max(0, slices.IndexFunc(found, func(p graph.FoundWidget) bool { return !hasLinks(p.Node) }))], true
	}
	best := graph.FoundWidget{}
	for _, in := range n.Inputs {
		s, ok := in.Value.(string)
		if !ok || !promptWords[in.Name] && !otherTexts[in.Name] || in.Name == "delimiter" || strings.Contains(in.Name, "system") {
			continue
		}
		if best.Node == nil || len(s) > len(best.Value.(string)) {
			best = graph.FoundWidget{Node: n, Input: in.Name, Value: s}
		}
	}
	return best, best.Node != nil
}

// mayBeText tells types of outputs that can be a text: what a switch gives has the type of what is linked to it.
func mayBeText(kind string) bool {
	return kind == "STRING" || graph.AnyType(kind)
}

// chooses tells nodes that hand on one of several things as it is.
func chooses(n *graph.FlatNode) bool { return strings.Contains(strings.ToLower(n.Class), "switch") }

// alternatives are a node's inputs; of a switch that stands where its author left it, only those that it hands on.
func (t *tracer) alternatives(n *graph.FlatNode) []graph.Input {
	_, _, set, ok := t.d.f.Literal(n, "switch")
	on, isBool := set.(bool)
	if !chooses(n) || !ok || !isBool {
		return n.Inputs
	}
	chosen := map[bool]string{true: "on_true", false: "on_false"}[on]
	if i := slices.IndexFunc(n.Inputs, func(in graph.Input) bool { return in.Name == chosen }); i >= 0 {
		return n.Inputs[i : i+1]
	}
	return n.Inputs
}

func hasLinks(n *graph.FlatNode) bool {
	return slices.ContainsFunc(n.Inputs, func(in graph.Input) bool { _, linked := in.Value.(graph.Ref); return linked })
}

func takesText(n *graph.FlatNode, input string) bool {
	s := n.SpecOf(input)
	return s != nil && s.Type == "STRING"
}

// guessTexts makes the prompt fields. When the author has chosen texts already, the others only stay in the
// prompt as they are.
func (h heuristic) guessTexts(positive, negative []graph.FoundWidget, chosen bool) {
	if chosen {
		return
	}
	groups, free := groupTexts(positive), false
	if len(groups) == 0 {
		texts, avoid := h.freeTexts(negative)
		if len(negative) == 0 {
			negative = avoid
		}
		groups, free = groupTexts(texts), len(negative) == 0
	}
	groups = h.onlyShown(groups)
	first := true
	for i, g := range groups {
		if i >= 6 || h.anyTaken(g) {
			continue
		}
		h.addText(g, first && !otherTexts[g[0].Input] || len(groups) == 1, free)
		first = false
	}
	for i, g := range groupTexts(negative) {
		if i >= 2 || h.anyTaken(g) {
			continue
		}
		f := h.d.fieldOf("negative_prompt", g[0], sourceGuess)
		f.targets = targetsOf(g)
		f.Advanced = i > 0 || h.quiet()
		f.Multiline = true
		f.Description = "What to avoid."
		h.d.add(f)
	}
}

func (h heuristic) anyTaken(g []graph.FoundWidget) bool {
	for _, p := range g {
		if h.d.taken[graph.Spot(p.Node.ID, p.Input)] || strings.HasPrefix(p.Node.Class, graph.DeployPrefix) {
			return true
		}
	}
	return false
}

func targetsOf(g []graph.FoundWidget) []binding.Target {
	var out []binding.Target
	for _, p := range g {
		out = append(out, binding.Target{Node: p.Node.ID, Input: p.Input})
	}
	return out
}

// groupTexts puts together what takes the same text: several encoders of one node, and nodes with the same
// words in them.
func groupTexts(list []graph.FoundWidget) [][]graph.FoundWidget {
	var groups [][]graph.FoundWidget
	at := map[string]int{}
	for _, p := range list {
		keys := []string{graph.Spot("=", textOf(p.Value))}
		if promptWords[p.Input] {
			keys = append(keys, graph.Spot("node", p.Node.ID))
		}
		if otherTexts[p.Input] || textOf(p.Value) == "" {
			keys = keys[1:]
		}
		i, found := -1, false
		for _, k := range keys {
			if j, ok := at[k]; ok && !found {
				i, found = j, true
			}
		}
		if !found {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], p)
		for _, k := range keys {
			at[k] = i
		}
	}
	return groups
}

// addText adds a text field. The words in the file are its default; the main one is asked for where the file has none.
func (h heuristic) addText(g []graph.FoundWidget, main, free bool) {
	p := g[0]
	for _, q := range g {
		if len(textOf(q.Value)) > len(textOf(p.Value)) {
			p = q
		}
	}
	name := textName(p)
	if free && p.Input == "text" {
		name = "text" // to be spoken or read rather than painted
	}
	f := h.d.fieldOf(name, p, sourceGuess)
	f.targets = targetsOf(g)
	f.Multiline = true
	f.DisplayName = p.Node.AuthorTitle()
	if label := h.d.shown[graph.Spot(p.Node.ID, p.Input)]; label != "" {
		f.DisplayName = label
		if short := plain.Slug(label, "_"); p.Input == "value" && short != "" {
			f.Name = short
		}
	}
	if f.DisplayName == f.Name {
		f.DisplayName = ""
	}
	if f.Type != registry.TypeString {
		f.Type, f.Default = registry.TypeString, textOf(p.Value)
	}
	if main {
		h.d.prompt(f)
	}
	h.d.add(f)
}

// prompt makes a field the one that tells the tool what to make.
func (d *definer) prompt(f *field) {
	f.main, f.Multiline = true, true
	if d.example = strings.TrimSpace(textOf(f.Default)); d.example == "" || plain.HoldsKey(d.example) {
		f.Required, f.Default = true, nil
	}
}

// textName names a text field: prompt, or what its widget or node is called where that says more.
func textName(p graph.FoundWidget) string {
	if otherTexts[p.Input] {
		return p.Input
	}
	if title := plain.Slug(p.Node.AuthorTitle(), "_"); title != "" && len(title) <= 24 && p.Input == "value" {
		return title
	}
	return "prompt"
}

// freeTexts finds texts to type, and what to avoid, where no sampler leads to any: speech, language models, paid services. Those that
// are known to say what to avoid are left out.
func (h heuristic) freeTexts(avoided []graph.FoundWidget) (positive, negative []graph.FoundWidget) {
	for _, n := range h.d.f.Nodes {
		if !h.d.reached[n.ID] || graph.IsNote(n.Class) || n.IsResult() && !apiNode(n) {
			continue
		}
		for _, in := range n.Inputs {
			text, ok := in.Value.(string)
			if _, err := strconv.ParseFloat(text, 64); err == nil { // a number of a node that nobody declared
				continue
			}
			if !ok || machineTexts[in.Name] || strings.HasPrefix(n.Class, graph.DeployPrefix) || strings.Contains(in.Name, "system") {
				continue
			}
			if slices.ContainsFunc(avoided, func(k graph.FoundWidget) bool { return k.Node == n && k.Input == in.Name }) {
				continue
			}
			s := n.SpecOf(in.Name)
			known := promptWords[in.Name] && in.Name != "value" && in.Name != "string" && in.Name != "style" || otherTexts[in.Name]
			if s != nil && s.Type == "STRING" && (s.Multiline || known) || s == nil && known && !looksLikeFile(text) || textPrimitive(n, in.Name) {
				p := graph.FoundWidget{Node: n, Input: in.Name, Value: text}
				if strings.Contains(in.Name, "negative") || avoids.MatchString(n.WrittenTitle()) {
					negative = append(negative, p)
				} else {
					positive = append(positive, p)
				}
			}
		}
	}
	return positive, negative
}

// avoids finds titles of nodes whose text says what to avoid.
var avoids = regexp.MustCompile(`(?i)negativ|负|負|ネガティブ|부정|негатив`)

func apiNode(n *graph.FlatNode) bool { return n.Spec != nil && n.Spec.APINode }

func textPrimitive(n *graph.FlatNode, input string) bool {
	text, _ := n.Inputs.Get(input)
	return input == "value" && !looksLikeFile(textOf(text)) && (n.Class == "PrimitiveString" || n.Class == "PrimitiveStringMultiline")
}

// fileName matches texts that are the name or path of a file of known kind, and nothing else.
var fileName = regexp.MustCompile(`(?i)^[^\n,;!?]{1,200}\.(json|py|txt|csv|png|jpe?g|webp|gif|mp4|webm|mov|mkv|wav|mp3|flac|ogg|glb|gltf|obj|ply|stl|fbx)\s*$`)

func looksLikeFile(s string) bool {
	return graph.NamesModel(s) || fileName.MatchString(s)
}

// guessMedia makes a field for every loader whose file a result depends on.
func (h heuristic) guessMedia() {
	for _, n := range h.d.f.Nodes {
		if !h.d.reached[n.ID] || h.onlyDefaults(n) {
			continue
		}
		for _, in := range loaderInputs(n) {
			v, ok := n.Inputs.Get(in)
			_, link := v.(graph.Ref)
			if !ok || link || h.d.taken[graph.Spot(n.ID, in)] {
				continue
			}
			f := h.d.fieldOf("", graph.FoundWidget{Node: n, Input: in, Value: v}, sourceGuess)
			f.Name = string(f.Type)
			if graph.InputKind(n.Class) == "mask" {
				f.Name = "mask"
			}
			f.DisplayName = n.AuthorTitle()
			h.d.add(f)
		}
	}
}

// loaderInputs gives the widgets of a node that name files to upload.
func loaderInputs(n *graph.FlatNode) []string {
	if strings.HasPrefix(n.Class, graph.DeployPrefix) {
		return nil
	}
	if in := loaderOf(n).input; in != "" {
		return []string{in}
	}
	var out []string
	if n.Spec != nil {
		for i := range n.Spec.Inputs {
			if s := &n.Spec.Inputs[i]; s.Upload != "" {
				out = append(out, s.Name)
			}
		}
	}
	return out
}

// onlyDefaults tells loaders that only feed the default sockets of external nodes.
func (h heuristic) onlyDefaults(n *graph.FlatNode) bool {
	uses := h.d.uses[n.ID]
	for _, u := range uses {
		if !strings.HasPrefix(u.Node.Class, graph.DeployPrefix) {
			return false
		}
	}
	return len(uses) > 0
}

// guessSeed makes one field of all seeds: the picture changes when any does.
func (h heuristic) guessSeed() {
	for _, f := range h.d.fields {
		if f.Seed {
			return
		}
	}
	var seed *field
	joined := map[string]bool{}
	for _, n := range h.d.f.Nodes {
		if !h.d.reached[n.ID] || strings.HasPrefix(n.Class, graph.DeployPrefix) {
			continue
		}
		for _, in := range n.Inputs {
			if !isSeedName(in.Name) {
				continue
			}
			found, input, v, ok := h.d.f.Literal(n, in.Name)
			if _, number := v.(json.Number); !ok || !number || h.d.taken[graph.Spot(found.ID, input)] || joined[graph.Spot(found.ID, input)] {
				continue
			}
			joined[graph.Spot(found.ID, input)] = true
			seed = h.joinSeed(seed, graph.FoundWidget{Node: found, Input: input, Value: v})
		}
	}
	if seed != nil {
		h.d.add(seed)
	}
}

// authored says whether the author chose the inputs, rather than described some.
func (h heuristic) authored() bool {
	return slices.ContainsFunc(h.d.fields, func(f *field) bool { return f.source <= sourceApp })
}

// joinSeed adds one more place; the range is what all accept.
func (h heuristic) joinSeed(seed *field, p graph.FoundWidget) *field {
	f := h.d.fieldOf("seed", p, sourceGuess)
	f.Type, f.Integer, f.Seed, f.Step, f.Choices = registry.TypeNumber, true, true, "", nil
	f.Default, f.Advanced = registry.RandomSeed, h.quiet()
	f.Description = "The same seed with the same inputs gives the same result; -1 draws a new one."
	if f.Min == "" || floatOf(f.Min) < 0 {
		f.Min = "0"
	}
	if seed == nil {
		return f
	}
	if f.Max != "" && (seed.Max == "" || floatOf(f.Max) < floatOf(seed.Max)) {
		seed.Max = f.Max
	}
	seed.targets = append(seed.targets, f.targets...)
	return seed
}

// onlyShown leaves out the texts that the instances around them keep to themselves, if they show any.
func (h heuristic) onlyShown(groups [][]graph.FoundWidget) [][]graph.FoundWidget {
	var kept [][]graph.FoundWidget
	for _, g := range groups {
		for _, p := range g {
			if _, ok := h.d.shown[graph.Spot(p.Node.ID, p.Input)]; ok || !strings.Contains(p.Node.ID, ":") {
				kept = append(kept, g)
				break
			}
		}
	}
	if len(kept) == 0 {
		return groups
	}
	return kept
}
