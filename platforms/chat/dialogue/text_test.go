package dialogue

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
)

func TestWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"It is **red**.":                     "It is [bold:red].",
		"use `a b`":                          "use [code:a b]",
		"# Title\nmore":                      "[bold:Title]\nmore",
		"[here](https://a.example/x)":        "here (https://a.example/x)",
		"![p](https://a.example/x.png) ok":   "p (https://a.example/x.png) ok",
		"2 ** 3 and 4 ** 5\nnot **open":      "2 [bold: 3 and 4 ] 5\nnot **open",
		"@everyone <b>x</b> <@123> [a] (b)":  "@everyone <b>x</b> <@123> [a] (b)",
		"key sk-ant-api03-abcdefghijklmnopq": "key ***",
	} {
		var got strings.Builder
		for _, s := range written(text) {
			if s.URL != "" {
				t.Errorf("%q has a link", text)
			}
			if s.Style == chat.StylePlain {
				got.WriteString(s.Text)
			} else {
				got.WriteString("[" + string(s.Style) + ":" + s.Text + "]")
			}
		}
		if got.String() != want {
			t.Errorf("%q is shown as %q, want %q", text, got.String(), want)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	text := chat.Text{{Text: "one two three\nfour "}, {Style: chat.StyleBold, Text: "five six seven eight"}, {Text: strings.Repeat("x", 25)}}
	pages := split(text, 10)
	var all strings.Builder
	for _, p := range pages {
		if p.Len() > 10 {
			t.Errorf("%q is longer than 10", p)
		}
		all.WriteString(p.String())
	}
	plain := func(s string) string { return strings.Join(strings.Fields(s), "") }
	if plain(all.String()) != plain(text.String()) {
		t.Errorf("%q became %q", text, all.String())
	}
	if pages := split(nil, 10); len(pages) != 1 {
		t.Errorf("an empty text is %d messages", len(pages))
	}
}
