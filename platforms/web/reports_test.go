package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/files"
)

// fileAddress is that of a file on a page.
var fileAddress = regexp.MustCompile(`/(?:files|thumbs)/[0-9a-f]+/[0-9a-f]{64}/[^"?]+`)

func TestSharedResultsAreReported(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	me, stranger := h.reader(), h.visitor()
	run := h.started(me, "studio", url.Values{"prompt": {"a lamp"}})
	shared := func() string {
		me.form("/run/"+run.ID+"/share", nil)
		_, rest, _ := strings.Cut(me.page("/run/"+run.ID), `id="link" readonly value="`)
		link, _, _ := strings.Cut(rest, `"`)
		return strings.TrimPrefix(link, h.url)
	}
	link := shared()
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
	if res := stranger.form(link+"/report", url.Values{"reason": {"rights"}, "words": {"my photo"}}); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != link+"?done=reported" {
		t.Errorf("a report: status %d", res.StatusCode)
	}
	c := waiting(1)
	if c.RunID != run.ID || c.Reports != 1 || c.Words[0] != "my photo" || c.Where != (moderation.Place{Platform: "web"}) {
		t.Errorf("the case is %+v", c)
	}
	reads(stranger, file, http.StatusOK)
	forService := files.Links{Key: []byte("a key for the tests that is long")}.File("", "asset:"+strings.Split(file, "/")[3], "a.png")
	reads(stranger, forService, http.StatusOK)
	if err := h.reports.TakeDown(t.Context(), moderation.Decision{RunID: run.ID, By: "console"}, false); err != nil {
		t.Fatal(err)
	}
	reads(stranger, link, http.StatusNotFound)
	reads(stranger, file, http.StatusNotFound)
	reads(stranger, forService, http.StatusNotFound)
	reads(me, file, http.StatusOK)
	if res := me.form("/run/"+run.ID+"/share", nil); res.StatusCode < 400 || res.StatusCode >= 500 {
		t.Errorf("what was taken down is shared again: status %d", res.StatusCode)
	}

	if err := h.reports.Appeal(t.Context(), run.AccountID, "my own photo"); err != nil {
		t.Fatal(err)
	}
	appeals, err := h.reports.Appeals(t.Context())
	if err != nil || len(appeals) != 1 {
		t.Fatalf("the appeals are %+v, %v", appeals, err)
	}
	if err := h.reports.Answer(t.Context(), "console", appeals[0].ID, true, ""); err != nil {
		t.Fatal(err)
	}
	reads(stranger, file, http.StatusOK)
	link = shared()
	has(t, stranger.page(link), "Report this result")
	h.serve(func(c *web.Config) { c.Reports = nil })
	if strings.Contains(h.visitor().page(link), "Report this result") {
		t.Error("where nothing is reported there is a form to report")
	}
}
