package api

import (
	"encoding/json"
	"testing"
)

func TestQueueOrder(t *testing.T) {
	t.Parallel()
	var items []queueItem
	if err := json.Unmarshal([]byte(`[[5, "c", {}], [-1, "a", {"1": {}}], [0.5, "b"]]`), &items); err != nil {
		t.Fatal(err)
	}
	sortByNumber(items)
	if items[0].promptID != "a" || items[1].promptID != "b" || items[2].promptID != "c" {
		t.Errorf("%+v", items)
	}
	for _, bad := range []string{`[{}]`, `[[]]`, `[["x", "y"]]`, `[7]`} {
		if err := json.Unmarshal([]byte(bad), &items); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
