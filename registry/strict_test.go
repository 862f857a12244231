package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestReadStrict(t *testing.T) {
	t.Parallel()
	type request struct {
		Path string          `json:"path"`
		Body json.RawMessage `json:"body"`
	}
	type file struct {
		Name    string             `json:"name"`
		Submit  *request           `json:"submit"`
		Steps   []request          `json:"steps"`
		ByName  map[string]request `json:"byName"`
		Anybody map[string]any     `json:"anybody"`
	}
	for name, c := range map[string]struct {
		text string
		want []string // empty: it is read
	}{
		"known keys, whatever is below those that take anything": {`{"Name":"a","submit":{"path":"/","body":{"any":1}},"anybody":{"x":{"y":1}}}`, nil},
		"unknown keys are told at once, with what was meant": {
			`{"nam":"a","sbmit":{},"submit":{"pth":"/"},"steps":[{"path":""},{"bdy":1}],"byName":{"one":{"zzz":1}}}`,
			[]string{`nam: unknown key; did you mean "name"?`, `sbmit: unknown key; did you mean "submit"?`, `submit.pth: `, `steps[1].bdy: `, `byName.one.zzz: unknown key; known are path, body`},
		},
		"a value of another type": {`{"name":1}`, []string{"it is not as expected", "name"}},
		"no JSON":                 {"{\n\"name\": }", []string{"line 2"}},
		"nothing":                 {" \n", []string{"it is empty"}},
		"a list":                  {`[]`, []string{"it is not as expected"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var to file
			err := registry.ReadStrict([]byte(c.text), &to)
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, expected %q in it", err, want)
				}
			}
		})
	}
}
