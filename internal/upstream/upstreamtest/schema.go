package upstreamtest

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema compiles the JSON Schema that stands at a place of a document, such as "/components/schemas/Input".
func Schema(t testing.TB, document, place string) *jsonschema.Schema {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://schema.invalid/", parsed); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("https://schema.invalid/#" + place)
}
