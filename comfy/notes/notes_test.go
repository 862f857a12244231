package notes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/comfy/graph"
)

func noteTexts(texts ...string) []graph.Note {
	var out []graph.Note
	for _, text := range texts {
		out = append(out, graph.Note{ID: "1", Type: "MarkdownNote", Text: text})
	}
	return out
}

func TestDescription(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   []graph.Note
		want string
	}{
		{"A51 two notes yield both texts in order", noteTexts("First thing.", "Second thing."), "First thing.\n\nSecond thing."},
		{"A51 no note yields an empty description", nil, ""},
		{"A51 blank notes and empty ones yield nothing", noteTexts(" \n ", "---\n"), ""},
		{"A52 the purpose comes first wherever it stands", noteTexts("Steps around 8 are enough.", "## Purpose\nTurns a photo into a poster."), "Purpose\nTurns a photo into a poster.\n\nSteps around 8 are enough."},
		{"A53 A54 inputs and use cases survive", noteTexts("Restores old photos.\n\nInputs:\n- image: the scan\n- strength: how much to change\n\nGood for:\n* family albums\n* faded prints"),
			"Restores old photos.\n\nInputs:\n- image: the scan\n- strength: how much to change\n\nGood for:\n- family albums\n- faded prints"},
		{"lists of downloads go, with their headings", noteTexts("Draws cats.\n\n## Model links\n\n**vae**\n\n- [ae.safetensors](https://huggingface.co/x/ae.safetensors)\n\nModel Storage Location\n\n```\n📂 ComfyUI/\n├── 📂 models/\n```\n\n## Report workflow issue\n\nIf you found any issues, [report template issue here](https://github.com/x/issues)"),
			"Draws cats."},
		{"installation comes last", noteTexts("Install the Foo pack first.", "Draws cats."), "Draws cats.\n\nInstall the Foo pack first."},
		{"Markdown becomes text", noteTexts("# **Big** title\nSome *soft* and `code` and ~~old~~ text, see [the docs](https://a.example/x) ![pic](b.png)\n> quoted\n| a | b |\n|---|---|\n| Steps | 8 |"),
			"Big title\nSome soft and code and old text, see the docs pic\nquoted\na: b\nSteps: 8"},
		{"HTML, scripts and entities go", noteTexts(`<div style="x">Draws <b>cats</b>.</div><script>alert(1)</script> &lt;img src=x onerror=alert(1)&gt; a &amp; b <<b>i>x</i>`), "Draws cats.\na & b x"},
		{"a lora's angle brackets stay", []graph.Note{{Type: "Note", Text: "Use <lora:pixel:0.8> and 1 < 2."}}, "Use <lora:pixel:0.8> and 1 < 2."},
		{"control characters and text direction tricks go", noteTexts("abc\x00\x1b[31m\u202edef\u200b\u2066ghi\U000e0041"), "abc[31mdefghi"},
		{"plain notes keep their stars and underscores", []graph.Note{{Type: "Note", Text: "use my_file_name *here*"}}, "use my_file_name *here*"},
		{"titles of notes that say something lead", []graph.Note{{Type: "Note", Title: "Voice speed", Text: "Keep it near 1."}, {Type: "Note", Title: "Note", Text: "Other."}}, "Voice speed\nKeep it near 1.\n\nOther."},
		{"keys do not pass", noteTexts("my key is sk-abcdefghijklmnopqrstuvwx and more"), "my key is *** and more"},
		{"repeated notes appear once", noteTexts("Same.", "Same."), "Same."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, Read(c.in).Description); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a long note is cut at the bound", func(t *testing.T) {
		t.Parallel()
		got := Read(noteTexts(strings.Repeat("A sentence. \n\n", 10_000), strings.Repeat("word ", 100_000))).Description
		if n := len([]rune(got)); n > maxDescription+10 || n < 5 {
			t.Errorf("%d runes", n)
		}
	})
}

func TestDirectives(t *testing.T) {
	t.Parallel()
	n := Read(noteTexts("Draws cats.\n@tool id=cat-maker name=\"The Cat's maker\" cost=0.02\n`@input \"My node\".text name='a b' required`\n@input 12:5.how.width min=1\n@bot telegram send-as=document\nmail me @ cats\n@catfan drew this"))
	if diff := cmp.Diff("Draws cats.\nmail me @ cats\n@catfan drew this", n.Description); diff != "" {
		t.Error(diff)
	}
	want := []Directive{
		{Word: "tool", Args: map[string]string{"id": "cat-maker", "name": "The Cat's maker", "cost": "0.02"}, Note: "1"},
		{Word: "input", Target: "My node", Widget: "text", Args: map[string]string{"name": "a b", "required": "true"}, Note: "1"},
		{Word: "input", Target: "12:5", Widget: "how.width", Args: map[string]string{"min": "1"}, Note: "1"},
		{Word: "bot", Target: "telegram", Args: map[string]string{"send-as": "document"}, Note: "1"},
	}
	if diff := cmp.Diff(want, n.Directives, cmp.AllowUnexported(Directive{})); diff != "" {
		t.Error(diff)
	}
	if len(n.Findings) != 0 {
		t.Errorf("findings %v", n.Findings)
	}
	for text, advice := range map[string]string{
		"@tol id=x":                "did you mean @tool?",
		"@inptu 6.text name=x":     "did you mean @input?",
		"@tool comand=/x":          "did you mean command?",
		"@input 6.text requierd":   "did you mean required?",
		"@bot telegram sendas=doc": "did you mean send-as?",
		"@setup model=a":           "known are @tool, @input, @output, @bot, @i18n",
		"@input name=x":            "write @input <node>.<widget>, for example @input 6.text name=prompt",
		"@output":                  "write @output <node>, for example @output 9 name=poster",
	} {
		got := Read(noteTexts(text))
		if len(got.Findings) != 1 || got.Findings[0].Advice != advice || got.Findings[0].Code != "unknown-directive" || got.Description != "" {
			t.Errorf("%s: %+v, description %q", text, got.Findings, got.Description)
		}
	}
}
