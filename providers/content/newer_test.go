package content_test

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/registry"
)

// An entry is changed by somebody who has seen its version, and by nobody who has seen an earlier one.
func TestEntryOfAnotherVersion(t *testing.T) {
	t.Parallel()
	h := contenttest.New(t)
	id := h.Do("createEntry", object{"collectionId": "glossary", "slug": "kiln", "title": "Kiln", "content": object{"body": "Hot."}})["entryId"]
	entry := func() object { return h.Items("getEntry", object{"id": id, "includeContent": true})[0] }
	seen := entry()["version"].(json.Number).String()
	if _, err := h.UseAt(t.Context(), contenttest.Editor, "updateEntry", object{"id": id, "content": object{"body": "Theirs."}}, nil, seen); err != nil {
		t.Fatal(err)
	}
	for _, change := range []object{{"content": object{"body": "Mine."}}, {"status": "published"}, {"slug": "oven"}} {
		change["id"] = id
		_, err := h.UseAt(t.Context(), contenttest.Operator, "updateEntry", change, nil, seen)
		if refused := registry.AsError(err); refused == nil || refused.Code != registry.CodeInvalidInput || refused.Field != content.VersionField {
			t.Errorf("%v: got %v", change, err)
		}
	}
	if got := entry(); got["content"].(object)["body"] != "Theirs." || got["status"] != "draft" || got["slug"] != "kiln" {
		t.Errorf("got %v", got)
	}
	now := entry()["version"].(json.Number).String()
	if _, err := h.UseAt(t.Context(), contenttest.Operator, "updateEntry", object{"id": id, "content": object{"body": "Mine."}}, nil, now); err != nil || entry()["content"].(object)["body"] != "Mine." {
		t.Errorf("of the version that there is: %v", err)
	}
}
