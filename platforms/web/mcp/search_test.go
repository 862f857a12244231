package mcp_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/registry/catalog"
)

func TestSearchTools(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, key := h.person(t, "searcher", 0)
	session := h.connect(t, "2026-07-28", key, sdk.ClientOptions{})
	search := func(t *testing.T, arguments map[string]any) ([]catalog.Brief, bool) {
		t.Helper()
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "searchTools", Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		var found struct{ Tools []catalog.Brief }
		if text, ok := result.Content[0].(*sdk.TextContent); ok && !result.IsError {
			if err := json.Unmarshal([]byte(text.Text), &found); err != nil {
				t.Fatal(err)
			}
		}
		return found.Tools, result.IsError
	}
	t.Run("D8 searchTools finds tools by what they can do, with price and needs", func(t *testing.T) {
		found, failed := search(t, map[string]any{"query": "a story that costs something", "has": "text"})
		if failed || len(found) == 0 || found[0].Name == "" || found[0].Price == "" || found[0].Score <= 0 {
			t.Errorf("found %+v", found)
		}
	})
	t.Run("D8 searchTools does not find what is not for the asker", func(t *testing.T) {
		found, _ := search(t, map[string]any{"query": "inner"})
		for _, f := range found {
			if f.ToolID == "inner" {
				t.Error("an internal tool was found")
			}
		}
	})
	t.Run("D8 searchTools says what it expects", func(t *testing.T) {
		if _, failed := search(t, map[string]any{"query": "story", "has": "smell"}); !failed {
			t.Error("a kind that there is not was taken")
		}
	})
}
