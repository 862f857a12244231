package markdown_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/signalbox/signalbox/providers/content/markdown"
)

func html(t *testing.T, source string, options ...goldmark.Option) string {
	t.Helper()
	var out bytes.Buffer
	if err := goldmark.New(append(options, goldmark.WithExtensions(extension.GFM, extension.Footnote))...).Convert([]byte(source), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Without bounds the time that these take grows with the square of their length: for a megabyte it is many minutes, and the table has gigabytes.
func TestTextsOfStrangers(t *testing.T) {
	t.Parallel()
	const size = 48 << 10
	for what, shown := range map[string]string{"[a](b) ": `<a href="b">a</a>`, "![a](b) ": `<img src="b" alt="a">`, "*a* ": "<em>a</em>", "~a~ ": "<del>a</del>", "`a` ": "<code>a</code>", "<bc:d> ": `<a href="bc:d">bc:d</a>`} {
		out := html(t, strings.Repeat(what, size/len(what))+"\n\nx "+what, markdown.Bounds)
		if !strings.HasPrefix(out, "<p>"+shown) || strings.HasSuffix(out, shown+"</p>\n") {
			t.Errorf("%q begins as %.40q and ends as %q", what, out, out[len(out)-40:])
		}
	}
	for what, element := range map[string]string{">": "<blockquote>", "1. ": "<ol>", "- * + ": "<ul>"} {
		if n := strings.Count(html(t, strings.Repeat(what, size/len(what))+"a", markdown.Bounds), element); n == 0 || n > 50 {
			t.Errorf("%q: %d are within each other", what, n)
		}
	}
	if out := html(t, strings.Repeat("[a]: b\n", 2000), markdown.Bounds); !strings.Contains(out, "[a]: b") {
		t.Errorf("2000 names of addresses in a paragraph became %.100q", out)
	}
	table := "|" + strings.Repeat("a|", 1000) + "\n|" + strings.Repeat("-|", 1000) + "\n" + strings.Repeat("|\n", 1000)
	if out := html(t, table, markdown.Bounds); len(out) > 2*len(table) {
		t.Errorf("a table of %d bytes became %d", len(table), len(out))
	}
}

func TestTextsOfPeopleAreAsTheyWere(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if html(t, string(source), markdown.Bounds) != html(t, string(source)) {
			t.Errorf("%s is shown in another way", name)
		}
	}
	sparse := strings.Repeat("a|", 20) + "\n" + strings.Repeat("-|", 20) + "\n" + strings.Repeat("b\n", 50)
	if got, want := html(t, sparse, markdown.Bounds), html(t, sparse); got != want {
		t.Errorf("a table with few words became %.100s", got)
	}
	nested := "> - a\n>   1. [b](c)\n>      - [x] d\n>        > e[^1]\n\n[^1]: *f*\n\n|a|b|\n|-|-|\n|`c\\|d`|\n"
	if got, want := html(t, nested, markdown.Bounds), html(t, nested); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
