package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// newMarket is a house with a tool whose service names the price of each run.
func newMarket(t *testing.T, options ...option) *house {
	t.Helper()
	h := newHouse(t, options...)
	h.fakes.Set(registrytest.Tool("market", func(c *registry.Tool) {
		c.OutputSchema = registry.OutputSchema{{Name: "story", Type: "text"}}
		c.CostingModel = &registry.CostingModel{Rate: "0.01", Unit: registry.UnitRequest, RateSource: registry.RateAPI}
	}))
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.fake.SetPrice(registry.Price{CostUSD: "0.02"})
	return h
}

// hidden is the value of a hidden field of a page.
func hidden(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `name="`+name+`"`)
	_, rest, _ = strings.Cut(rest, `value="`)
	value, _, ended := strings.Cut(rest, `"`)
	if !found || !ended || value == "" {
		t.Fatalf("the page has no %s", name)
	}
	return value
}

func TestThePriceShownIsThePriceHeld(t *testing.T) {
	t.Parallel()
	t.Run("a quote of the API is accepted exactly so, by whom it was made for", func(t *testing.T) {
		t.Parallel()
		h := newMarket(t)
		dev := h.developer("dev")
		var quote struct {
			Quote        string
			ExpiresAt    string
			QuoteNanoUsd struct{ Low, High int64 }
		}
		if status := dev.call("POST", "/api/quote/market", ask("a pier"), &quote); status != http.StatusOK || quote.QuoteNanoUsd.High != 20_000_000 || quote.ExpiresAt == "" {
			t.Fatalf("%d %+v", status, quote)
		}
		h.fake.SetPrice(registry.Price{CostUSD: "0.3"})
		var run apiRun
		if status := dev.call("POST", "/api/run/market", ask("a pier"), &run, "X-Quote", quote.Quote); status != http.StatusAccepted || run.QuoteNanoUsd.High != 20_000_000 {
			t.Errorf("%d, held %+v", status, run.QuoteNanoUsd)
		}
		for who, c := range map[string]struct {
			client *client
			prompt string
			quote  string
			code   string
		}{
			"a stranger with it":     {h.developer("eve"), "a pier", quote.Quote, "quote-unknown"},
			"a forged one":           {dev, "a pier", quote.Quote[:len(quote.Quote)-6] + "AAAAAA", "quote-unknown"},
			"one for something else": {dev, "a castle", quote.Quote, "quote-changed"},
		} {
			var p struct{ Code string }
			if status := c.client.call("POST", "/api/run/market", ask(c.prompt), &p, "X-Quote", c.quote); status != http.StatusConflict || p.Code != c.code {
				t.Errorf("%s: %d %s, want %s", who, status, p.Code, c.code)
			}
		}
	})
	t.Run("a form holds the price that stood beside it, and asks again where what was chosen costs more", func(t *testing.T) {
		t.Parallel()
		h := newMarket(t)
		v := h.visitor()
		page := v.page("/tool/market")
		has(t, page, "$0.02")
		var told struct{ Price, Quote string }
		if status := v.call("POST", "/tool/market/price", ask("a pier"), &told); status != http.StatusOK || told.Quote == "" {
			t.Fatalf("%d %+v", status, told)
		}
		h.fake.SetPrice(registry.Price{CostUSD: "0.3"})
		held := func(res *http.Response) int64 {
			id := strings.TrimPrefix(res.Header.Get("Location"), "/run/")
			run, err := h.runs.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return int64(run.Quote.High)
		}
		if got := held(v.form("/tool/market", url.Values{"prompt": {"a pier"}, "quote__shown": {told.Quote}})); got != 20_000_000 {
			t.Errorf("held %d", got)
		}
		res := v.form("/tool/market", url.Values{"prompt": {"a castle"}, "quote__shown": {told.Quote}})
		again := readAll(t, res.Body)
		if res.StatusCode != http.StatusConflict {
			t.Errorf("%d", res.StatusCode)
		}
		has(t, again, "$0.3", "costs more than the price shown", "a castle")
		if got := held(v.form("/tool/market", url.Values{"prompt": {"a castle"}, "quote__shown": {hidden(t, again, "quote__shown")}})); got != 300_000_000 {
			t.Errorf("held %d after it was shown", got)
		}
	})
	t.Run("B26 a read that has a price waits for a model, unless its key has a limit", func(t *testing.T) {
		t.Parallel()
		h := newMarket(t)
		h.fakes.Set(registrytest.Tool("news", func(c *registry.Tool) {
			c.Capability, c.OutputSchema = registry.CapabilityRead, registry.OutputSchema{{Name: "story", Type: "text"}}
			c.CostingModel = &registry.CostingModel{Rate: "0.02", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
		}))
		if _, err := h.reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		dev := h.developer("dev")
		var made struct{ Key string }
		if status := dev.call("POST", "/api/keys", `{"label":"budget","agent":true,"spendLimitUsd":"0.05"}`, &made); status != http.StatusCreated {
			t.Fatalf("%d", status)
		}
		limited := *dev
		limited.key = made.Key
		var p struct {
			Code string
			Run  struct{ Status string }
		}
		if status := dev.call("POST", "/api/run/news", ask("today"), &p, "X-Planner-Provider", "anthropic"); status != http.StatusForbidden || p.Code != "tool_requires_approval" || p.Run.Status != "awaiting_confirmation" {
			t.Errorf("a planner: %d %+v", status, p)
		}
		if status := dev.call("POST", "/api/run/news", ask("today"), &p); status != http.StatusAccepted {
			t.Errorf("the owner's program: %d %+v", status, p)
		}
		var run apiRun
		if status := limited.call("POST", "/api/run/news", ask("today"), &run); status != http.StatusAccepted || run.Status == "awaiting_confirmation" {
			t.Errorf("an agent with a budget: %d %+v", status, run.Status)
		}
	})
}
