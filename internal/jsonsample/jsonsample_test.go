package jsonsample_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/jsonsample"
)

func TestOf(t *testing.T) {
	t.Parallel()
	long := `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"x":{"enum":["` + strings.Repeat("long ", 100) + `"]}}}},"b":{"type":"string"}}}`
	for name, c := range map[string]struct{ schema, want string }{
		"what would be long": {long, `{"a":[{}],"b":"..."}`},
		"an object in an object": {`{"type":"object","required":["name"],"properties":{"born":{"type":"string","format":"date"},"name":{"type":"string"},"address":{"type":"object","properties":{"city":{"type":["null","string"]}}}}}`,
			`{"name":"...","born":"2026-01-31","address":{"city":"..."}}`},
		"a list of objects":  {`{"type":"array","items":{"type":"object","properties":{"size":{"enum":["s","m"]},"count":{"type":"integer","minimum":2}}}}`, `[{"size":"s","count":2}]`},
		"one of several":     {`{"oneOf":[{"type":"null"},{"allOf":[{"allOf":[{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"}}},{"properties":{"breed":{"type":"string"}}}]},{"type":"object","required":["kind"],"properties":{"kind":{"enum":["dog"]}}}]}]}`, `{"kind":"dog","breed":"..."}`},
		"an example":         {`{"type":"object","examples":[{"a":1}]}`, `{"a":1}`},
		"a list of anything": {`{"type":"array","items":true}`, `[]`},
		"anything":           {`{}`, ``},
		"nonsense":           {`{`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := jsonsample.Of([]byte(c.schema)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
