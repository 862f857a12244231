package workflow

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/notes"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// localized are the tool's texts in other languages, by @i18n lines: those without input= are the tool's own.
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
		input := plain.Slug(dir.Args["input"], "_")
		if input == "" {
			words.DisplayName, words.Description = wordsOf(dir, "name", 80, words.DisplayName), wordsOf(dir, "description", 1000, words.Description)
			all[language] = words
			continue
		}
		if _, there := t.InputSchema.Get(input); !there {
			d.f.AddFinding("directive-target", graph.SeverityWarning, dir.Note, fmt.Sprintf("@i18n %s: there is no input %s", language, plain.Short(input)), "name the input as the tool has it")
			continue
		}
		if words.Inputs == nil {
			words.Inputs = map[string]registry.InputWords{}
		}
		before := words.Inputs[input]
		words.Inputs[input] = registry.InputWords{DisplayName: wordsOf(dir, "label", 80, before.DisplayName), Description: wordsOf(dir, "description", 300, before.Description)}
		all[language] = words
	}
	return withVariationWords(all, t.InputSchema)
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
