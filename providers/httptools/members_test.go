package httptools

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// TestEveryMemberIsInTheDocuments holds the page for authors against what files can say.
func TestEveryMemberIsInTheDocuments(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []any{spec{}, request{}, upload{}, price{}, jwt{}, callback{}, registry.WebhookConfig{}, registry.FailureSign{}} {
		kind := reflect.TypeOf(of)
		for field := range kind.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), name+": ") {
				t.Errorf("docs/providers.md has no %s of %s", name, kind.Name())
			}
		}
	}
	for _, word := range []string{onlyIf, forEach, members, instead, inHTTP} {
		if !strings.Contains(string(page), word) {
			t.Errorf("docs/providers.md has no %s", word)
		}
	}
}
