package markdown_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content/markdown"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	change := func(a markdown.Address) string {
		if a.Image {
			return "asset:1"
		}
		return "/there"
	}
	for name, c := range map[string][2]string{
		"a link and a picture":      {"[a](x.md) ![b](y.png \"T\")", "[a](/there) ![b](asset:1 \"T\")"},
		"without words":             {"![](y.png)", "![](asset:1)"},
		"a picture in a link":       {"[![b](y.png)](x.md) and [c](z)", "[![b](asset:1)](/there) and [c](/there)"},
		"marks in the words":        {"[**a** `]` \\](q](x.md)", "[**a** `]` \\](q](/there)"},
		"brackets around addresses": {"![b](<a picture.png>)", "![b](asset:1)"},
		"parentheses in addresses":  {"[a](x_(y).md).", "[a](/there)."},
		"names":                     {"![b][p] and [q]\n\n[p]: y.png \"T\"\n[q]: <x.md>\n[r]: unused\n", "![b][p] and [q]\n\n[p]: asset:1 \"T\"\n[q]: /there\n[r]: unused\n"},
		"code is left":              {"`[a](x)`\n\n    ![b](y)\n\n```\n[c](z)\n```\n", "`[a](x)`\n\n    ![b](y)\n\n```\n[c](z)\n```\n"},
		"an address as its text":    {"<https://a.example> https://b.example", "<https://a.example> https://b.example"},
		"in lists, tables, quotes":  {"- [a](x)\n> ![b](y)\n\n| h |\n|---|\n| [c](z) |\n", "- [a](/there)\n> ![b](asset:1)\n\n| h |\n|---|\n| [c](/there) |\n"},
		"nothing":                   {"no [link] and no ![picture]\r\n", "no [link] and no ![picture]\r\n"},
	} {
		if got := markdown.Replace(c[0], change); got != c[1] {
			t.Errorf("%s: got %q, want %q", name, got, c[1])
		}
		if got := markdown.Replace(c[0], func(a markdown.Address) string { return a.To }); got != c[0] {
			t.Errorf("%s: nothing was to change: %q", name, got)
		}
	}
	if got := markdown.Replace("[a](x)", func(markdown.Address) string { return "a (b)" }); got != "[a](<a (b)>)" {
		t.Errorf("got %q", got)
	}
	found := markdown.Addresses("one\n\n[two *words*](x)")
	if len(found) != 1 || found[0].Alt != "two *words*" || markdown.Line("one\n\n[two *words*](x)", found[0].At) != 3 {
		t.Errorf("got %+v", found)
	}
}

func FuzzReplace(f *testing.F) {
	for _, seed := range []string{"[a](x) ![b](<y z>)", "[![](a)](b)", "[a]: <x>\n[a]", "![a\\](b", "[a](\\)", "> [a](\n> x)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if got := markdown.Replace(source, func(a markdown.Address) string { return a.To }); got != source {
			t.Errorf("nothing was to change in %q: %q", source, got)
		}
		got := markdown.Replace(source, func(markdown.Address) string { return "q" })
		if strings.Count(got, "\n") > strings.Count(source, "\n") {
			t.Errorf("lines came into %q: %q", source, got)
		}
	})
}
