package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func TestAnswersAsCards(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	book := registry.Tool{ToolID: "book", Service: "fake", DisplayName: "Book", InputSchema: registry.InputSchema{{Name: "place", Type: registry.TypeString, Required: true}}}
	cancel := registry.Tool{ToolID: "cancel_booking", Service: "fake", DisplayName: "Cancel a booking", InputSchema: registry.InputSchema{{Name: "booking", Type: registry.TypeString, Required: true}}}
	h.fakes.Set(book, cancel)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	const answer = `{"receipt": {"title": "<b>Two</b> tickets", "items": [{"title": "Ticket", "quantity": 2, "amount": "89.00"}], "currency": "EUR", "total": 178, "url": "https://air.example/t", "image": "http://air.example/x.png"},
		"actions": [{"label": "Cancel them", "tool": "cancel_booking", "inputs": {"booking": "b_1", "other": 1}}, {"label": "Fly", "tool": "rocket"}]}`
	h.fake.Answer(func(registry.Call) (registry.Result, *registry.Error) {
		return registry.Result{Outputs: []registry.Output{registrytest.Text("result", answer)}}, nil
	})
	v := h.reader()
	run := h.started(v, "book", url.Values{"place": {"Lisbon"}})
	page := v.page("/run/" + run.ID)
	t.Run("C10 the page of a run shows an answer as what it is", func(t *testing.T) {
		has(t, page, "Receipt · &lt;b&gt;Two&lt;/b&gt; tickets", `2 × Ticket <span class="count">89.00 EUR</span>`, "178 EUR", `href="https://air.example/t"`, ">air.example</a>")
		if strings.Contains(page, `"http://air.example`) {
			t.Error("an address that is not https is linked")
		}
	})
	t.Run("C10 a follow-up leads to its tool's form, filled in, and starts nothing", func(t *testing.T) {
		link := "/tool/cancel_booking?follow=" + run.ID + ".0"
		if !strings.Contains(page, `href="`+link+`">Cancel them</a>`) {
			t.Fatalf("the page lacks %s", link)
		}
		has(t, v.page(link), `value="b_1"`)
		if n := len(h.fake.Calls()); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
	})
	t.Run("C10 a follow-up to no tool says so, and to another tool fills nothing", func(t *testing.T) {
		for _, path := range []string{"/tool/rocket?follow=" + run.ID + ".1", "/tool/book?follow=" + run.ID + ".0", "/tool/book?follow=" + run.ID + ".7"} {
			if res := v.do("GET", path, "", nil); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s: status %d", path, res.StatusCode)
			}
		}
	})
	t.Run("C10 nobody else's answers fill a form", func(t *testing.T) {
		if res := h.developer("ben").do("GET", "/tool/cancel_booking?follow="+run.ID+".0", "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", res.StatusCode)
		}
	})
}
