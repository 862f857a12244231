package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/web"
)

// fileAddress is that of a file on a page.
var fileAddress = regexp.MustCompile(`/(?:files|thumbs)/[0-9a-f]+/[0-9a-f]{64}/[^"?]+`)

func TestSharedResultsAreReported(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	me, stranger := h.reader(), h.visitor()
	run := h.started(me, "studio", url.Values{"prompt": {"a lamp"}})
	me.form("/run/"+run.ID+"/share", nil)
	_, rest, _ := strings.Cut(me.page("/run/"+run.ID), `id="link" readonly value="`)
	link, _, _ := strings.Cut(rest, `"`)
	link = strings.TrimPrefix(link, h.url)
	page := stranger.page(link)
	has(t, page, "Report this result", `action="`+link+`/report"`, "Violence or hate")
	file := fileAddress.FindString(page)
	reads := func(c *client, path string, want int) {
		t.Helper()
		if res := c.do("GET", path, "", nil); res.StatusCode != want {
			t.Errorf("GET %s: status %d, want %d", path, res.StatusCode, want)
		}
	}
	waiting := func(want int) moderation.Case {
		t.Helper()
		cases, err := h.reports.Cases(t.Context(), moderation.Place{}, 10)
		if err != nil || len(cases) != want {
			t.Fatalf("the cases are %+v, %v; want %d", cases, err, want)
		}
		return append(cases, moderation.Case{})[0]
	}
	if res := stranger.form(link+"/report", url.Values{"reason": {"boring"}}); res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a reason that is none: status %d", res.StatusCode)
	}
	if res := stranger.form("/s/x.y/report", url.Values{"reason": {"spam"}}); res.StatusCode != http.StatusNotFound {
		t.Errorf("a link that is none: status %d", res.StatusCode)
	}
	waiting(0)
	if res := stranger.form(link+"/report", url.Values{"reason": {"rights"}, "words": {"my photo"}}); res.StatusCode != http.StatusOK {
		t.Errorf("a report: status %d", res.StatusCode)
	}
	c := waiting(1)
	if c.RunID != run.ID || c.Reports != 1 || c.Words[0] != "my photo" || c.Where != (moderation.Place{Platform: "web"}) {
		t.Errorf("the case is %+v", c)
	}
	reads(stranger, file, http.StatusOK)
	if err := h.reports.TakeDown(t.Context(), moderation.Decision{RunID: run.ID, By: "console"}, false); err != nil {
		t.Fatal(err)
	}
	reads(stranger, link, http.StatusNotFound)
	reads(stranger, file, http.StatusNotFound)
	reads(me, file, http.StatusOK)
	if res := me.form("/run/"+run.ID+"/share", nil); res.StatusCode < 400 || res.StatusCode >= 500 {
		t.Errorf("what was taken down is shared again: status %d", res.StatusCode)
	}

	h.serve(func(c *web.Config) { c.Reports = nil })
	off := h.visitor()
	if res := off.form("/s/x.y/report", url.Values{"reason": {"spam"}}); res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("where nothing is reported: status %d", res.StatusCode)
	}
}
