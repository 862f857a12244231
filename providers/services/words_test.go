package services_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/services"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func TestToolsAreReadInEveryLanguage(t *testing.T) {
	t.Parallel()
	words := services.Words()
	files := httptools.New(httptools.Config{Bundled: services.Files, Words: words, Store: &registrytest.Specs{}, Lookup: func(string) (string, bool) { return "", false }})
	tools, err := files.Load(t.Context())
	if err != nil || len(tools) == 0 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	unused := maps.Clone(words)
	for _, tool := range tools {
		texts := []string{tool.Description}
		for _, f := range tool.InputSchema {
			texts = append(texts, f.DisplayName, f.Description)
			for _, c := range f.Choices {
				if !isName(c.Label) {
					texts = append(texts, c.Label)
				}
				if in := words[c.Label]; in != nil && readIn(tool, "de", f.Name, c.Value) != in["de"] {
					t.Errorf("%s.%s: the choice %q is read in German as %q", tool.ToolID, f.Name, c.Label, readIn(tool, "de", f.Name, c.Value))
				}
			}
		}
		for _, text := range texts {
			if _, ok := words[text]; text != "" && !ok {
				t.Errorf("%s: words.json lacks %q", tool.ToolID, text)
			}
			delete(unused, text)
		}
		delete(unused, tool.DisplayName)
		german := tool.In("de-AT")
		if german.Description != words[tool.Description]["de"] || german.InputSchema[0].DisplayName != words[tool.InputSchema[0].DisplayName]["de"] {
			t.Errorf("%s is read in German as %q with the input %q", tool.ToolID, german.Description, german.InputSchema[0].DisplayName)
		}
	}
	for text, in := range words {
		for _, language := range []string{"de", "es", "ru", "zh"} {
			if in[language] == "" {
				t.Errorf("%q is not there in %s", text, language)
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("words.json has texts of no tool: %q", slices.Sorted(maps.Keys(unused)))
	}
}

// isName tells whether a label is a product's name, such as "Kling 3", and has nothing that is read in a language.
func isName(label string) bool {
	first, _ := utf8.DecodeRuneInString(label)
	return unicode.IsUpper(first) && !strings.Contains(label, "(") && !strings.HasPrefix(label, "Version")
}

// readIn is the label of a choice in a language.
func readIn(tool registry.Tool, language, input string, value any) string {
	f, _ := tool.In(language).InputSchema.Get(input)
	return f.Choices[slices.IndexFunc(f.Choices, func(c registry.Choice) bool { return c.Value == value })].Label
}
