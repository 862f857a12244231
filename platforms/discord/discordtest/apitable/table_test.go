package apitable

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// specs finds ../shared/specs beside the project.
func specs(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	dir = filepath.Join(dir, "..", "shared", "specs")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the API descriptions are missing: %v", err)
		}
		t.Skip("no API descriptions beside the project")
	}
	return dir
}

func TestCommittedTable(t *testing.T) {
	t.Parallel()
	t.Run("the committed table is what the description gives", func(t *testing.T) {
		t.Parallel()
		table, err := Derive(specs(t))
		if err != nil {
			t.Fatal(err)
		}
		want, err := table.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, committed) {
			t.Fatal("api.json differs from the description; run go generate in discordtest")
		}
	})
	t.Run("every schema compiles", func(t *testing.T) {
		t.Parallel()
		v := validator(t)
		for _, name := range Bodies() {
			if _, err := v.Validate(name, map[string]any{}); err != nil {
				t.Error(err)
			}
		}
	})
}

func validator(t *testing.T) *Validator {
	t.Helper()
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewValidator(table)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValidate(t *testing.T) {
	t.Parallel()
	v := validator(t)
	cases := []struct{ name, schema, body, want string }{
		{"a good message", "MessageCreateRequest", `{"content":"hi","allowed_mentions":{"parse":[]}}`, `null`},
		{"too long", "ModalInteractionCallbackRequest", `{"type":9,"data":{"custom_id":"a","title":"","components":[]}}`,
			`[{"Path":["data","components"],"Code":"BASE_TYPE_MIN_LENGTH"},{"Path":["data","title"],"Code":"BASE_TYPE_MIN_LENGTH"}]`},
		{"missing", "ApplicationCommandCreateRequest", `{}`, `[{"Path":["name"],"Code":"BASE_TYPE_REQUIRED"}]`},
		{"unknown property", "MessageCreateRequest", `{"content":"hi","colour":1}`, `[{"Path":["colour"],"Code":"UNKNOWN_FIELD","Unknown":true}]`},
		{"unknown property without a value", "MessageCreateRequest", `{"content":"hi","colour":null}`, `null`},
		{"unknown component", "MessageCreateRequest", `{"components":[{"type":99}]}`, `[{"Path":["components","0","type"],"Code":"UNION_TYPE_CHOICES"}]`},
		{"only the branch that was meant speaks", "MessageCreateRequest", `{"components":[{"type":1,"components":[{"type":2,"style":9}]}]}`,
			`[{"Path":["components","0","components","0","style"],"Code":"BASE_TYPE_CHOICES"}]`},
		{"wrong JSON type", "MessageCreateRequest", `{"content":5,"flags":"x"}`,
			`[{"Path":["content"],"Code":"BASE_TYPE_BAD_TYPE"},{"Path":["flags"],"Code":"NUMBER_TYPE_COERCE"}]`},
		{"bit fields may be digits", "ApplicationCommandCreateRequest", `{"name":"a","default_member_permissions":"0"}`, `null`},
		{"no address", "MessageCreateRequest", `{"embeds":[{"url":"not an address"}]}`, `[{"Path":["embeds","0","url"],"Code":"URL_TYPE_INVALID_URL"}]`},
		{"file types, newer than the description", "ApplicationCommandCreateRequest", `{"name":"a","options":[{"type":11,"name":"f","description":"d","file_types":["image",".glb"]}]}`, `null`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(c.body)))
			if err != nil {
				t.Fatal(err)
			}
			faults, err := v.Validate(c.schema, body)
			if err != nil {
				t.Fatal(err)
			}
			if got := brief(t, faults); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// brief writes faults without their texts.
func brief(t *testing.T, faults []Fault) string {
	t.Helper()
	type short struct {
		Path    []string
		Code    string
		Unknown bool `json:",omitempty"`
	}
	var list []short
	for _, f := range faults {
		list = append(list, short{f.Path, f.Code, f.Unknown})
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
