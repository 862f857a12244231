package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/notes"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// DefaultRate is the price of one second of engine time in US dollars, where Options give none.
const DefaultRate json.Number = "0.000337"

// Options say how a workflow becomes a tool.
type Options struct {
	// FileName is where the tool's id comes from: "flux general.json" makes "flux-general".
	FileName string
	// ObjectInfo declares the nodes of the server. Without it ranges, choices and some names are unknown.
	ObjectInfo *objectinfo.Info
	// Rate is the price of one second of engine time in US dollars; empty means DefaultRate.
	Rate json.Number
	// ByMachine bills at the rate of the GPU that ran, with Rate for one that has none; false: Rate is what
	// a second costs.
	ByMachine bool
	// Returns tells what output nodes gave that nobody knows, by class: image, video, audio, text or file.
	Returns map[string]string
	// Service is the tool's service; empty means "comfyui".
	Service string
}

// Definition is what a workflow becomes.
type Definition struct {
	Tool     registry.Tool
	Binding  *binding.Binding
	Needs    Requirements
	Findings []graph.Finding
}

// Requirements are what an engine must have to run the workflow.
type Requirements struct {
	Classes []string `json:"classes"`
	Models  []Model  `json:"models,omitempty"`
	// PicturesOnly says that all results are pictures, of nodes that ComfyUI has itself: all that serverless workers give back.
	PicturesOnly bool `json:"picturesOnly,omitempty"`
	// Tags are what the author asks of an engine beside that, such as gpu=4090 and vram=24.
	Tags []string `json:"tags,omitempty"`
}

// Model is one model file.
type Model struct {
	Folder string `json:"folder"` // as the server names it: checkpoints, loras, vae ...
	Name   string `json:"name"`
	URL    string `json:"url,omitempty"` // where the author says it comes from
}

// limits of a tool's inputs
const (
	maxFields   = 32  // with those that are guessed
	maxAuthored = 200 // that the author chose
	maxFindings = 100
)

// source tells who chose an input.
type source int8

const (
	sourceDeploy source = iota
	sourceApp
	sourceDirective
	sourceGuess
)

// field is an input in the making.
type field struct {
	registry.InputField
	targets []binding.Target
	source  source
	main    bool   // what the tool is told to make
	knob    string // what people are told where the author says nothing
}

type definer struct {
	w       *graph.Workflow
	o       Options
	f       *graph.Flat
	facts   graph.Facts
	notice  notes.Notice
	uses    map[string][]graph.Use
	reached map[string]bool
	fields  []*field
	byName  map[string]*field
	taken   map[string]bool   // widgets that have an input already, by spot
	shown   map[string]string // labels of widgets inside that instances show, by spot
	sampled bool              // a sampler was found
	example string            // the prompt text in the file
}

func newDefiner(w *graph.Workflow, o Options) *definer {
	o.Rate = cmp.Or(o.Rate, DefaultRate)
	o.Service = cmp.Or(o.Service, "comfyui")
	d := &definer{w: w, o: o, f: graph.Flatten(w, o.ObjectInfo), facts: w.Facts(), byName: map[string]*field{}, taken: map[string]bool{}}
	for _, n := range d.f.Nodes {
		n.Gave = o.Returns[n.Class]
	}
	d.f.Complete()
	d.fillPlaceholders()
	d.f.CheckClasses()
	d.uses = d.f.Uses()
	d.shown = d.f.Shown()
	d.reached = d.f.Reached(d.uses)
	d.notice = notes.Read(append(append([]graph.Note(nil), d.facts.Notes...), d.facts.SubgraphNotes...))
	d.f.Findings = append(d.f.Findings, d.notice.Findings...)
	return d
}

// inputs fills the fields, each source in its turn. What an author chose is not guessed again.
func (d *definer) inputs() {
	positive, negative := heuristic{d}.tracePrompts()
	d.deployInputs()
	d.appInputs()
	authored := d.directiveInputs(groupTexts(positive))
	heuristic{d}.guessInputs(positive, negative)
	d.applyDirectives(authored)
	d.noteDescriptions()
	slices.SortStableFunc(d.fields, func(a, b *field) int { return a.rank() - b.rank() })
	d.variation()
}

// rank orders fields: what the author chose in the author's order, then what people set most.
func (f *field) rank() int {
	if f.source != sourceGuess {
		return int(f.source)
	}
	known := []string{"prompt", "", "negative_prompt", "media", "seed", "steps", "cfg", "guidance", "width", "height", "length", "denoise"}
	base := strings.TrimRight(f.Name, "0123456789")
	if f.Type.IsMedia() {
		base = "media"
	}
	if i := slices.Index(known, base); i >= 0 {
		return 10 + i
	}
	if f.Type == registry.TypeString && f.Multiline {
		return 11
	}
	if f.Advanced {
		return 51
	}
	return 50
}

// add takes a field over, under a free name, and marks its widgets. It is dropped when the tool is full.
func (d *definer) add(f *field) *field {
	if len(d.fields) >= maxAuthored || len(d.fields) >= maxFields && f.source == sourceGuess {
		return nil
	}
	f.Name = d.freeName(f.Name)
	f.settle(d)
	f.hideSecrets()
	for _, t := range f.targets {
		d.taken[graph.Spot(t.Node, t.Input)] = true
	}
	d.fields = append(d.fields, f)
	d.byName[f.Name] = f
	return f
}

func (d *definer) freeName(name string) string {
	name = cmp.Or(name, "input")
	for i := 2; d.byName[name] != nil; i++ {
		base := strings.TrimRight(name, "0123456789")
		if base == "" || i > 2 {
			base = strings.TrimSuffix(name, strconv.Itoa(i-1))
		}
		if name = base + strconv.Itoa(i); i > 1000 {
			break
		}
	}
	return name
}

// settle makes the field one that the registry accepts: the default inside its range and choices.
func (f *field) settle(d *definer) {
	if f.Type != registry.TypeNumber {
		f.Min, f.Max, f.Step, f.Integer, f.Seed = "", "", "", false, false
	}
	if f.Type != registry.TypeString {
		f.Multiline = false
	}
	if !f.Seed {
		f.Min, f.Max = meant(f.Min), meant(f.Max)
	}
	if f.Min != "" && f.Max != "" && floatOf(f.Min) > floatOf(f.Max) {
		f.Min, f.Max = f.Max, f.Min
	}
	if n, ok := f.Default.(json.Number); ok && f.Type == registry.TypeNumber && !f.Seed {
		f.Default = f.neatNumber(n)
		f.widen(d, n)
	}
	if len(f.Choices) > 0 && f.Default != nil && f.Default != "" && !f.Multiple && !hasChoice(f.Choices, f.Default) {
		f.Choices = append([]registry.Choice{{Value: f.Default}}, f.Choices...)
	}
	if f.Default == nil || f.Multiple && f.source == sourceGuess {
		return
	}
	if !f.Multiple {
		f.Default = matching(f.Type, f.Default)
	}
	if f.Default == nil {
		return
	}
	if _, problem := registry.CheckValue(f.InputField, f.Default); problem != nil && f.Default != any("") {
		f.Default = nil
	}
}

// hideSecrets keeps keys that authors left in widgets out of the definition.
func (f *field) hideSecrets() {
	text, ok := f.Default.(string)
	if !ok {
		return
	}
	secret := plain.HoldsKey(text)
	for _, t := range f.targets {
		secret = secret || secretName(t.Input)
	}
	if secret {
		f.Default = nil
	}
}

// neatNumber writes 20.0 as 20 where an integer is due, and 1.2500000000000002, which editors leave behind, as 1.25.
func (f *field) neatNumber(n json.Number) json.Number {
	if f.Integer {
		if i, err := strconv.Atoi(string(n)); err == nil {
			return json.Number(strconv.Itoa(i))
		}
		if v, err := n.Float64(); err == nil && v == float64(int(v)) {
			return json.Number(strconv.Itoa(int(v)))
		}
		return n
	}
	if short := strconv.FormatFloat(floatOf(n), 'f', -1, 32); len(n) > 15 && len(short) < 10 {
		return json.Number(short)
	}
	return n
}

// widen moves a bound that the stored value breaks: the author used it, so it works.
func (f *field) widen(d *definer, n json.Number) {
	v := floatOf(n)
	low, high := f.Min != "" && v < floatOf(f.Min), f.Max != "" && v > floatOf(f.Max)
	if !low && !high {
		return
	}
	node := ""
	if len(f.targets) > 0 {
		node = f.targets[0].Node
	}
	d.f.AddFinding("default-out-of-range", graph.SeverityWarning, node, fmt.Sprintf("the value %s of %s is outside %s to %s", n, plain.Quote(f.Name), orDash(f.Min), orDash(f.Max)), "mend the value or the range")
	if low {
		f.Min = n
	} else {
		f.Max = n
	}
}

func orDash(n json.Number) string {
	if n == "" {
		return "-"
	}
	return string(n)
}

// fieldOf makes a field for one widget from its declaration and stored value.
func (d *definer) fieldOf(name string, p graph.FoundWidget, src source) *field {
	s := p.Node.SpecOf(p.Input)
	f := &field{InputField: registry.InputField{Name: name}, source: src, targets: []binding.Target{{Node: p.Node.ID, Input: p.Input}}}
	if kind := mediaKind(p.Node, p.Input, s); kind != "" {
		f.Type, f.Required = kind, true
		f.targets[0].Mode = loaders[p.Node.Class].mode
		f.Mask = d.maskOf(p.Node)
		return f
	}
	if f.Default = p.Plain(); isPlaceholder(f.Default) {
		f.Default = ""
	}
	f.typeFrom(s)
	if s == nil && takesFractions(p.Node, p.Input) {
		f.Integer = false
	}
	if s != nil {
		f.Multiline = s.Multiline
		f.numbersFrom(s)
		if len(s.Choices) > 0 && matching(f.Type, s.Choices[0].Value) != nil {
			f.Choices = s.Choices
		}
		f.branchChoices(s, p.Value)
	}
	if own := p.Node.OwnChoices(p.Input); len(own) > 0 {
		f.Choices = own
	}
	f.Seed = f.Type == registry.TypeNumber && f.Integer && isSeedName(p.Input)
	return f
}

// branchChoices offers the options of a dynamic combo that need no further inputs, beside the stored one.
func (f *field) branchChoices(s *objectinfo.Input, stored any) {
	for _, b := range s.Branches {
		if len(b.Inputs) == 0 || any(b.Key) == stored {
			f.Choices = append(f.Choices, registry.Choice{Value: b.Key})
		}
	}
}

func (f *field) typeFrom(s *objectinfo.Input) {
	kind := ""
	if s != nil {
		kind = s.Type
	}
	switch v := f.Default.(type) {
	case bool:
		f.Type = registry.TypeBoolean
	case json.Number:
		f.Type = registry.TypeNumber
		f.Integer = kind == "INT" || kind == "" && !strings.ContainsAny(string(v), ".eE")
	default:
		f.Type = registry.TypeString
		if _, text := v.(string); v != nil && !text {
			f.Default = nil
		}
	}
	switch kind {
	case "BOOLEAN":
		f.Type = registry.TypeBoolean
	case "INT", "FLOAT":
		f.Type, f.Integer = registry.TypeNumber, kind == "INT"
	}
}

func (f *field) numbersFrom(s *objectinfo.Input) {
	if f.Type != registry.TypeNumber {
		return
	}
	f.Min, f.Max = s.Min, s.Max
	// A float's step is that of the editor's arrows; refusing 7.25 for it would help nobody.
	if f.Integer && floatOf(s.Step) > 1 {
		f.Step = s.Step
	}
}

// meant drops bounds that only say how many bits a number has.
func meant(bound json.Number) json.Number {
	if math.Abs(floatOf(bound)) > 1<<31 {
		return ""
	}
	return bound
}

func isSeedName(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return name == "seed" || name == "noise_seed" || strings.HasSuffix(name, "_seed") || name == "rand_seed"
}

// mediaKind says what file a widget names, or "".
func mediaKind(n *graph.FlatNode, input string, s *objectinfo.Input) registry.InputType {
	switch {
	case s != nil && s.Upload == graph.KindFile:
		return registry.TypeFile
	case s != nil && s.Upload != "":
		return registry.InputType(s.Upload)
	}
	if l := loaderOf(n); input == l.input {
		return l.kind
	}
	return ""
}

// maskOf tells how the file of a loader marks an area: by the alpha of the picture, where something takes the loader's mask, or as
// the channel of a mask's loader says. ComfyUI's masks are full where alpha is nought, and where a colour is full.
func (d *definer) maskOf(n *graph.FlatNode) registry.MaskKind {
	switch n.Class {
	case "LoadImage", "LoadImageOutput":
		if slices.ContainsFunc(d.uses[n.ID], func(u graph.Use) bool { return u.Slot == 1 }) {
			return registry.MaskWithin
		}
	case "LoadImageMask":
		if channel, _ := n.Inputs.Get("channel"); channel == nil || channel == any("alpha") {
			return registry.MaskAlpha
		}
		return registry.MaskWhite
	}
	return ""
}

func textOf(v any) string { s, _ := v.(string); return s }

func floatOf(n json.Number) float64 { f, _ := n.Float64(); return f }
