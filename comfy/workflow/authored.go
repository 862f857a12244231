package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/notes"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// appInputs takes the inputs the author chose for the editor's app mode, extra.linearData.
func (d *definer) appInputs() {
	chosen, _ := d.w.App()
	for _, input := range chosen {
		node, widget := input[0], input[1]
		places := d.f.Locate(node, widget)
		if len(places) == 0 {
			d.f.AddFinding("app-input-missing", graph.SeverityWarning, node, "the app input "+plain.Quote(widget)+" of node "+node+" is not there or not active", "choose it again in the editor's app mode")
			continue
		}
		if !d.taken[graph.Spot(places[0].Node.ID, places[0].Input)] {
			d.add(d.authoredField(places, d.appName(node, widget, places[0]), sourceApp))
		}
	}
}

// appName is the field's name: what the widget is called, or what the author calls its node where the
// widget's own name says nothing.
func (d *definer) appName(node, widget string, p graph.FoundWidget) string {
	if p.Input == "value" || p.Input == "text" || p.Input == "string" {
		if name := plain.Slug(p.Node.AuthorTitle(), "_"); name != "" {
			return name
		}
	}
	if name := plain.Slug(widget, "_"); name != "" && name != "value" {
		return knownName(name)
	}
	return knownName(p.Input)
}

// authoredField makes one field that sets all places. Media and texts without a stored value are required.
func (d *definer) authoredField(places []graph.FoundWidget, name string, src source) *field {
	f := d.fieldOf(name, places[0], src)
	for _, p := range places[1:] {
		f.targets = append(f.targets, binding.Target{Node: p.Node.ID, Input: p.Input, Mode: loaders[p.Node.Class].mode})
	}
	if title := places[0].Node.AuthorTitle(); title != "" && (places[0].Input == "value" || f.Type.IsMedia()) {
		f.DisplayName = title
	}
	if f.Type == registry.TypeString && f.Default == "" && len(f.Choices) == 0 {
		f.Default, f.Required = nil, true
	}
	return f
}

// directiveInputs makes the fields of @input lines whose widget has none yet. It gives the field of every line.
// prompts are the texts that samplers draw; the first is what the tool is told to make.
func (d *definer) directiveInputs(prompts [][]graph.FoundWidget) map[int]*field {
	authored := map[int]*field{}
	for i, dir := range d.notice.Directives {
		if dir.Word != "input" {
			continue
		}
		places := d.f.Locate(dir.Target, dir.Widget)
		if len(places) == 0 {
			d.f.AddFinding("directive-target", graph.SeverityWarning, dir.Note, fmt.Sprintf("@input %s.%s: no active node has this widget", plain.Short(dir.Target), plain.Short(dir.Widget)), "name the node by id, path or title, and the widget as the prompt form calls it")
			continue
		}
		if f := d.fieldAt(places[0]); f != nil {
			authored[i] = f
			continue
		}
		f := d.authoredField(places, d.appName(dir.Target, dir.Widget, places[0]), sourceDirective)
		if len(prompts) > 0 && has(prompts[0], places[0]) {
			f.Name, f.targets = "prompt", targetsOf(prompts[0])
			d.prompt(f)
		}
		authored[i] = d.add(f)
	}
	return authored
}

func has(list []graph.FoundWidget, p graph.FoundWidget) bool {
	for _, q := range list {
		if q.Node == p.Node && q.Input == p.Input {
			return true
		}
	}
	return false
}

func (d *definer) fieldAt(p graph.FoundWidget) *field {
	for _, f := range d.fields {
		for _, t := range f.targets {
			if t.Node == p.Node.ID && t.Input == p.Input {
				return f
			}
		}
	}
	return nil
}

// applyDirectives lets @input lines change their fields.
func (d *definer) applyDirectives(authored map[int]*field) {
	for i, dir := range d.notice.Directives {
		if f := authored[i]; f != nil {
			d.changeField(f, dir)
		}
	}
}

func (d *definer) changeField(f *field, dir notes.Directive) {
	if name := plain.Slug(dir.Args["name"], "_"); name != "" && name != f.Name {
		d.rename(f, name)
	}
	if label := dir.Args["label"]; label != "" {
		f.DisplayName = plain.Clip(plain.Line(notes.StripTags(label)), 80)
	}
	if text := dir.Args["description"]; text != "" {
		f.Description = plain.Clip(plain.Line(notes.StripTags(text)), 300)
	}
	if t := registry.InputType(strings.ToLower(dir.Args["type"])); t != "" {
		d.retype(f, t, dir)
	}
	if v, ok := dir.Flag("required"); ok {
		if f.Required = v; v && dir.Args["default"] == "" && f.Type == registry.TypeString {
			f.Default = nil
		}
	}
	if v, ok := dir.Flag("advanced"); ok {
		f.Advanced = v
	}
	d.changeNumbers(f, dir)
	d.changeChoices(f, dir)
	d.changeRole(f, dir)
	if text, ok := dir.Args["default"]; ok {
		d.changeDefault(f, text, dir)
	}
	f.settle(d)
}

// changeRole reads what an input means.
func (d *definer) changeRole(f *field, dir notes.Directive) {
	switch role := registry.InputRole(strings.ToLower(dir.Args["role"])); {
	case role == "":
	case registry.InputRoles()[role] == f.Type:
		f.Role = role
	default:
		var fitting []string
		for role, needs := range registry.InputRoles() {
			if needs == f.Type {
				fitting = append(fitting, string(role))
			}
		}
		slices.Sort(fitting)
		d.f.Findings = append(d.f.Findings, notes.Unknown(dir.Note, "role "+string(role)+" in @input", string(role), fitting, ""))
	}
}

func (d *definer) rename(f *field, name string) {
	delete(d.byName, f.Name)
	if other := d.byName[name]; other != nil && other.source == sourceGuess {
		delete(d.byName, name)
		other.Name = d.freeName(name + "_other")
		d.byName[other.Name] = other
	}
	f.Name = d.freeName(name)
	d.byName[f.Name] = f
}

var fieldTypes = []registry.InputType{registry.TypeString, registry.TypeNumber, registry.TypeImage, registry.TypeVideo, registry.TypeAudio, registry.TypeFile, registry.TypeBoolean}

func (d *definer) retype(f *field, t registry.InputType, dir notes.Directive) {
	if t == "integer" {
		f.Type, f.Integer = registry.TypeNumber, true
		return
	}
	if !slices.Contains(fieldTypes, t) {
		var words []string
		for _, known := range fieldTypes {
			words = append(words, string(known))
		}
		d.f.Findings = append(d.f.Findings, notes.Unknown(dir.Note, "type "+string(t)+" in @input", string(t), words, ""))
		return
	}
	f.Type = t
	if _, number := f.Default.(json.Number); t != registry.TypeNumber || !number {
		f.Default = matching(t, f.Default)
	}
}

// matching keeps a default that fits the new type.
func matching(t registry.InputType, v any) any {
	switch v.(type) {
	case string:
		if t == registry.TypeString || t.IsMedia() {
			return v
		}
	case json.Number:
		if t == registry.TypeNumber {
			return v
		}
	case bool:
		if t == registry.TypeBoolean {
			return v
		}
	}
	return nil
}

func (d *definer) changeNumbers(f *field, dir notes.Directive) {
	d.changeBound(f, dir, "min", &f.Min)
	d.changeBound(f, dir, "max", &f.Max)
	if n, ok := f.Default.(json.Number); ok && dir.Args["default"] == "" {
		if f.Min != "" && floatOf(n) < floatOf(f.Min) {
			f.Default = f.Min
		}
		if f.Max != "" && floatOf(n) > floatOf(f.Max) {
			f.Default = f.Max
		}
	}
}

func (d *definer) changeBound(f *field, dir notes.Directive, key string, to *json.Number) {
	text, ok := dir.Args[key]
	if !ok {
		return
	}
	n := json.Number(text)
	if _, err := decimal.Parse(n); err != nil || f.Type != registry.TypeNumber {
		d.badValue(dir, key, text)
		return
	}
	*to = n
}

func (d *definer) badValue(dir notes.Directive, key, text string) {
	advice := "give a value of the input's type"
	switch {
	case key == "cost":
		advice = "give US dollars a run, such as cost=0.02, or a second, such as cost=0.0005/second"
	case key == "needs":
		advice = "name tags of engines, such as needs gpu=4090 vram=24"
	case key == "choices" && dir.Word == "i18n":
		advice = `give labels of values, such as choices="ink=Tinte|oil=Öl"`
	}
	d.f.AddFinding("directive-value", graph.SeverityWarning, dir.Note, fmt.Sprintf("@%s: %s=%s does not fit", dir.Word, key, plain.Short(text)), advice)
}

func (d *definer) changeChoices(f *field, dir notes.Directive) {
	text, ok := dir.Args["choices"]
	if !ok || f.Type.IsMedia() {
		return
	}
	f.Choices = nil
	for _, part := range splitChoices(text) {
		v, fits := directiveValue(f.Type, strings.TrimSpace(part))
		if !fits {
			d.badValue(dir, "choices", part)
			continue
		}
		if !hasChoice(f.Choices, v) && v != "" {
			f.Choices = append(f.Choices, registry.Choice{Value: v})
		}
	}
	if len(f.Choices) > 0 && f.Default != nil && dir.Args["default"] == "" && !hasChoice(f.Choices, f.Default) {
		f.Default = f.Choices[0].Value
	}
}

// splitChoices splits a list at its bars or, where it has none, at its commas.
func splitChoices(text string) []string {
	if strings.Contains(text, "|") {
		return strings.Split(text, "|")
	}
	return strings.Split(text, ",")
}

// directiveValue reads a value of a directive as the type wants it.
func directiveValue(t registry.InputType, text string) (any, bool) {
	switch t {
	case registry.TypeNumber:
		n := json.Number(text)
		_, err := decimal.Parse(n)
		return n, err == nil
	case registry.TypeBoolean:
		switch strings.ToLower(text) {
		case "true", "yes", "on":
			return true, true
		case "false", "no", "off":
			return false, true
		}
		return nil, false
	case registry.TypeString:
		return text, true
	}
	return nil, false
}

func (d *definer) changeDefault(f *field, text string, dir notes.Directive) {
	v, ok := directiveValue(f.Type, text)
	if f.Seed && strings.EqualFold(text, "random") {
		v, ok = registry.RandomSeed, true
	}
	if !ok {
		d.badValue(dir, "default", text)
		return
	}
	f.Default = v
	if _, given := dir.Args["required"]; !given {
		f.Required = false
	}
}

// noteDescriptions gives a field without a description what a note says of it, in a line that begins with its label, its
// name or that of its widget: "Steps: how long to work", "- cfg = how closely".
func (d *definer) noteDescriptions() {
	for _, f := range d.fields {
		names := []string{plain.Slug(f.DisplayName, "_"), f.Name}
		for _, t := range f.targets {
			names = append(names, plain.Slug(t.Input, "_"))
		}
		for _, name := range names {
			if text := d.notice.About[name]; f.Description == "" && name != "" && text != "" {
				f.Description = plain.Clip(text, 300)
			}
		}
		f.Description = cmp.Or(f.Description, f.knob)
	}
}
