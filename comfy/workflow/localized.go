package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/notes"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// localized are the tool's texts in other languages, by @i18n lines: those without input= and output= are the tool's own.
func (d *definer) localized(t registry.Tool) map[string]registry.Words {
	var all map[string]registry.Words
	for _, dir := range d.notice.Directives {
		if dir.Word != "i18n" {
			continue
		}
		language := strings.ToLower(dir.Target)
		if !isLanguage(language) {
			d.f.AddFinding("directive-target", graph.SeverityWarning, dir.Note, "@i18n "+plain.Short(dir.Target)+" names no language", "write its two letters, such as de")
			continue
		}
		if all == nil {
			all = map[string]registry.Words{}
		}
		words := all[language]
		input, output := plain.Slug(dir.Args["input"], "_"), plain.Slug(dir.Args["output"], "_")
		switch {
		case input != "":
			d.inputWords(&words, dir, t.InputSchema, input)
		case output != "":
			d.outputWords(&words, dir, t.OutputSchema, output)
		default:
			words.DisplayName, words.Description = wordsOf(dir, "name", 80, words.DisplayName), wordsOf(dir, "description", 1000, words.Description)
		}
		all[language] = words
	}
	return withVariationWords(all, t.InputSchema)
}

// inputWords takes what a line says of an input.
func (d *definer) inputWords(words *registry.Words, dir notes.Directive, schema registry.InputSchema, name string) {
	f, there := schema.Get(name)
	if !there {
		d.f.AddFinding("directive-target", graph.SeverityWarning, dir.Note, fmt.Sprintf("@i18n %s: there is no input %s", dir.Target, plain.Short(name)), "name the input as the tool has it")
		return
	}
	if words.Inputs == nil {
		words.Inputs = map[string]registry.InputWords{}
	}
	own := words.Inputs[name]
	own.DisplayName, own.Description = wordsOf(dir, "label", 80, own.DisplayName), wordsOf(dir, "description", 300, own.Description)
	own.Choices = d.choiceWords(dir, f, own.Choices)
	words.Inputs[name] = own
}

// choiceWords reads choices="ink=Tinte|oil=Öl". Labels for values that no engine has for now are left out without a word.
func (d *definer) choiceWords(dir notes.Directive, f registry.InputField, labels map[string]string) map[string]string {
	text, said := dir.Args["choices"]
	if !said {
		return labels
	}
	for _, part := range splitChoices(text) {
		value, label, paired := strings.Cut(part, "=")
		value, label = strings.TrimSpace(value), plain.Clip(plain.Line(notes.StripTags(label)), 80)
		if !paired || label == "" {
			d.badValue(dir, "choices", part)
			continue
		}
		if !slices.ContainsFunc(f.Choices, func(c registry.Choice) bool { return fmt.Sprint(c.Value) == value }) {
			continue
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[value] = label
	}
	return labels
}

// outputWords takes what a line says of an output.
func (d *definer) outputWords(words *registry.Words, dir notes.Directive, schema registry.OutputSchema, name string) {
	if !slices.ContainsFunc(schema, func(o registry.OutputField) bool { return o.Name == name }) {
		d.f.AddFinding("directive-target", graph.SeverityWarning, dir.Note, fmt.Sprintf("@i18n %s: there is no output %s", dir.Target, plain.Short(name)), "name the output as the tool has it")
		return
	}
	if words.Outputs == nil {
		words.Outputs = map[string]string{}
	}
	words.Outputs[name] = wordsOf(dir, "label", 80, words.Outputs[name])
}

func isLanguage(tag string) bool {
	return len(tag) >= 2 && len(tag) <= 3 && strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") == ""
}

// wordsOf is a text of a directive, or the one said before.
func wordsOf(dir notes.Directive, key string, most int, before string) string {
	if text := plain.Clip(plain.Line(notes.StripTags(dir.Args[key])), most); text != "" {
		return text
	}
	return before
}
