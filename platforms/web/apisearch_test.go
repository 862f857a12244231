package web_test

import (
	"net/http"
	"slices"
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
		for _, query := range []string{"q=x&limit=0", "q=x&limit=many", "q=x&has=smell", "limit=0", "limit=101", "after=a&limit=many"} {
			if status := dev.call("GET", "/api/tools?"+query, "", nil); status != http.StatusUnprocessableEntity {
				t.Errorf("%s: got %d", query, status)
			}
		}
	})
	t.Run("D8 the list can be read page by page", func(t *testing.T) {
		type page struct {
			Tools []struct{ ToolID string }
			Next  string
		}
		read := func(query string) (ids []string, next string) {
			var p page
			if status := dev.call("GET", "/api/tools"+query, "", &p); status != http.StatusOK || p.Tools == nil {
				t.Fatalf("%s: %d, %+v", query, status, p)
			}
			for _, tool := range p.Tools {
				ids = append(ids, tool.ToolID)
			}
			return ids, p.Next
		}
		all, next := read("")
		if next != "" || len(all) < 3 {
			t.Fatalf("the whole list ends at %q: %q", next, all)
		}
		var got []string
		for query := "?limit=2"; ; query = "?limit=2&after=" + next {
			var ids []string
			ids, next = read(query)
			if got = append(got, ids...); len(ids) > 2 || next == "" {
				break
			}
		}
		if !slices.Equal(got, all) {
			t.Errorf("by pages: %q, at once: %q", got, all)
		}
		if ids, next := read("?after=" + all[0] + "0"); !slices.Equal(ids, all[1:]) || next != "" {
			t.Errorf("after an id that is gone: %q, %q", ids, next)
		}
		if ids, _ := read("?after=zzzz"); len(ids) != 0 {
			t.Errorf("after the end: %q", ids)
		}
	})
}
