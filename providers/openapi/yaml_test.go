package openapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/registry"
)

// TestLargeYAML holds that a large document, which is read in pieces, says what a small one says.
func TestLargeYAML(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, text string) ([]registry.Tool, error) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "shop.openapi.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tools, _, err := openapi.Check(t.Context(), file, []string{"*"})
		return tools, err
	}
	const head = "openapi: 3.1.0\nservers:\n- url: https://shop.example\ninfo:\n  title: Shop\n"
	var more strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&more, "  /more%d:\n    get:\n      operationId: more%d\n      description: %s\n", i, i, strings.Repeat("more ", 40))
	}
	buy := func(member string) string {
		return "paths:\n  /buy:\n    post:\n      operationId: buy\n" + member
	}
	for name, text := range map[string]string{
		"a block of text":              head + buy("      description: |\n        # Buys\n\n        key: value\n        - a\n      summary: Buy\n"),
		"a block with its own indent":  head + buy("      description: |2\n          indented\n        less\n"),
		"folded":                       head + buy("      description: >-\n        one\n        two\n\n        three\n"),
		"quotes over lines":            head + buy("      description: \"one\n        paths: two\"\n      summary: 'it''s\n\n        three'\n"),
		"plain text over lines":        head + buy("      description: one\n        two\n"),
		"brackets over lines":          head + buy("      tags: [\n        a,\n        b]\n"),
		"a list as deep as its key":    head + buy("      parameters:\n      - name: a\n        in: query\n        schema:\n          enum:\n          - x\n          - 1.50\n      - {name: b, in: query}\n"),
		"comments":                     "# first\n" + head + "# between\n" + buy("# in\n      summary: Buy # after\n          # deeper\n"),
		"a document's start":           "---\n" + head + buy("      summary: Buy\n"),
		"quoted keys":                  head + buy("      \"summary\": Buy\n      'responses':\n        \"200\":\n          description: Bought\n"),
		"no keys of the usual kind":    head + "? x-more\n: 1\n" + buy("      summary: Buy\n"),
		"lines that end as on Windows": strings.ReplaceAll(head+buy("      description: |\n        one\n        two\n      summary: Buy\n"), "\n", "\r\n"),
		"an empty member":              head + "tags:\n" + buy("      summary:\n      description: Buys\n"),
		"an alias":                     head + "x-a: &a\n  b: 1\nx-b: *a\n" + buy("      summary: Buy\n"),
		"a name twice":                 head + "info:\n  title: Other\n" + buy("      summary: Buy\n"),
		"quotes that never end":        head + buy("      summary: \"Buy\n"),
		"brackets that never end":      head + buy("      tags: [a\n"),
		"quotes over members":          head + "x-a: \"one\nx-b: two\"\n" + buy("      summary: Buy\n"),
		"less indented":                head + buy("      summary: Buy\n") + "   /odd: {}\n",
		"two documents":                head + buy("      summary: Buy\n") + "---\n" + head,
		"text after a key":             head + "x-a:\n  - b\n  c: d\n" + buy("      summary: Buy\n"),
		"a tab":                        head + buy("      summary: Buy\n\tdescription: Buys\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := "\n"
			if strings.Contains(text, "\r\n") {
				end = "\r\n"
			}
			want, wantErr := check(t, text)
			paths := "paths:" + end
			got, err := check(t, strings.Replace(text, paths, paths+strings.ReplaceAll(more.String(), "\n", end), 1))
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%v; want %v", err, wantErr)
			}
			if err != nil {
				return
			}
			if len(want) != 1 || len(got) != 1001 || !reflect.DeepEqual(got[1000], want[0]) {
				t.Errorf("%d tools, the last %+v; want %+v", len(got), got[len(got)-1], want)
			}
		})
	}
}
