package web_test

import (
	"net/http"
	"testing"
)

func TestSearchOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("finder")
	var found struct {
		Tools []struct {
			ToolID string
			Score  float64
			Why    string
		}
	}
	t.Run("D8 tools are ranked, each with score and why", func(t *testing.T) {
		if status := dev.call("GET", "/api/tools?q=a+picture+of+a+castle&has=text&limit=3&language=en", "", &found); status != http.StatusOK {
			t.Fatal(status)
		}
		if len(found.Tools) == 0 || len(found.Tools) > 3 {
			t.Fatalf("got %+v", found)
		}
		last := found.Tools[0].Score
		for _, tool := range found.Tools {
			if tool.ToolID == "" || tool.Why == "" || tool.Score <= 0 || tool.Score > last {
				t.Errorf("got %+v after a score of %v", tool, last)
			}
			last = tool.Score
		}
	})
	t.Run("D8 what makes no sense is refused", func(t *testing.T) {
		for _, query := range []string{"q=x&limit=0", "q=x&limit=many", "q=x&has=smell"} {
			if status := dev.call("GET", "/api/tools?"+query, "", nil); status != http.StatusUnprocessableEntity {
				t.Errorf("%s: got %d", query, status)
			}
		}
	})
}
