package markdown_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// Without bounds each of these takes from seconds to many minutes, and the table becomes more than a hundred times as long.
func TestTextsOfStrangers(t *testing.T) {
	t.Parallel()
	const size = 128 << 10
	repeated := func(what string) string { return strings.Repeat(what, size/len(what)) }
	var notes strings.Builder
	for i := 'a'; notes.Len() < size; i++ {
		notes.WriteString("[^" + string(i) + "]: x [^" + string(i) + "]\n\n")
	}
	began := time.Now()
	for name, source := range map[string]string{
		"pictures without an end": repeated("![]("), "links without an end": repeated("[a]("), "emphasis without an end": repeated("*a_ "), "quotes": repeated(">"), "lists": repeated("1. "),
		"addresses with names": repeated("[a]: b\n"), "notes": notes.String(),
		"a table": "|" + strings.Repeat("a|", size/32) + "\n|" + strings.Repeat("-|", size/32) + "\n" + strings.Repeat("|\n", size/32),
	} {
		if out := html(t, source, markdown.Bounds); len(out) > 20*len(source) {
			t.Errorf("%s: %d bytes became %d", name, len(source), len(out))
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if out := html(t, repeated("[a](b) ")+"\n\n[a](b)\n", markdown.Bounds); !strings.HasPrefix(out, `<p><a href="b">a</a>`) || !strings.HasSuffix(out, "[a](b)</p>\n") {
		t.Errorf("it begins with %.40q and ends with %q", out, out[len(out)-40:])
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
	nested := "> - a\n>   1. [b](c)\n>      - [x] d\n>        > e[^1]\n\n[^1]: *f*\n\n|a|b|\n|-|-|\n|`c\\|d`|\n"
	if got, want := html(t, nested, markdown.Bounds), html(t, nested); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
