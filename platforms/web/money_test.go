package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// dearHouse is a toolHouse whose tool order costs so many dollars.
func dearHouse(t *testing.T, dollars string) *house {
	t.Helper()
	h := toolHouse(t)
	tool := h.reg.Snapshot().Public()
	for i := range tool {
		if tool[i].ToolID == "order" {
			dear := *tool[i]
			dear.CostingModel = &registry.CostingModel{Rate: json.Number(dollars), Unit: registry.UnitRequest, RateSource: registry.RateStatic}
			h.fakes.Set(dear)
		}
	}
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPricesAreAskedAbout(t *testing.T) {
	t.Parallel()
	h := dearHouse(t, "0.2")
	me := h.reader()
	send := func(t *testing.T) (runs.Run, string) {
		t.Helper()
		path := me.form("/tool/order", url.Values{"prompt": {"a chair"}}).Header.Get("Location")
		run, err := h.runs.Get(t.Context(), strings.TrimPrefix(path, "/run/"))
		if err != nil {
			t.Fatal(err)
		}
		return run, path
	}
	t.Run("bot-ux 12 a form's run above a share of the credit asks first, with price and credit", func(t *testing.T) {
		has(t, me.page("/tool/order"), "$0.20", "You have $1.00 to spend.", "You are asked to confirm it")
		run, path := send(t)
		if run.Status != runs.StatusAwaitingConfirmation {
			t.Fatalf("it is %s", run.Status)
		}
		has(t, me.page(path), "This costs $0.20. Go ahead?", "You have $1.00 to spend.", "more than 10 % of your credit")
		me.form(path+"/confirm", url.Values{})
		me.finished(run.ID)
	})
	t.Run("bot-ux 12 so does Again", func(t *testing.T) {
		list, err := h.runs.List(t.Context(), runs.Filter{Limit: 1})
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		path := me.form("/run/"+list[0].ID+"/again", url.Values{}).Header.Get("Location")
		has(t, me.page(path), "This costs $0.20. Go ahead?", "You have $0.80 to spend.")
	})
	t.Run("bot-ux 12 from which price on is chosen on the account's page", func(t *testing.T) {
		me.form("/account/confirm", url.Values{"percent": {"50"}})
		has(t, me.page("/account"), `value="50" selected`)
		run, _ := send(t)
		if run.Status == runs.StatusAwaitingConfirmation {
			t.Error("it asks all the same")
		}
		me.finished(run.ID)
		for _, wrong := range []string{"", "101", "-1"} {
			if page := readAll(t, me.form("/account/confirm", url.Values{"percent": {wrong}}).Body); !strings.Contains(page, `role="alert"`) {
				t.Errorf("%q was taken", wrong)
			}
		}
	})
	t.Run("bot-ux 12 programs are not asked", func(t *testing.T) {
		var run struct{ Status string }
		if h.developer("ann").call("POST", "/api/run/order", ask("a chair"), &run); run.Status == "awaiting_confirmation" {
			t.Error("it waits")
		}
	})
}

func TestAmountsOnPages(t *testing.T) {
	t.Parallel()
	h := dearHouse(t, "0.000615699")
	me := h.reader()
	path := me.form("/tool/order", url.Values{"prompt": {"a chair"}}).Header.Get("Location")
	me.finished(strings.TrimPrefix(path, "/run/"))
	t.Run("bot-ux 37 a receipt is short, with the exact figures one tap away", func(t *testing.T) {
		short, exact, folded := strings.Cut(me.page(path), "The exact figures")
		if has(t, short, "under $0.01", "about 1,600 runs for $1"); !folded || strings.Contains(short, "0.000615699") {
			t.Error("the exact figure comes first")
		}
		has(t, exact, "$0.000615699")
	})
	t.Run("bot-ux 34 amounts are written as in the language", func(t *testing.T) {
		page := strings.ReplaceAll(me.page(path, "Accept-Language", "de"), "\u00a0", " ")
		has(t, page, "0,062 ct", "etwa 1.600 Läufe für 1 $", "0,000615699 $", "0,99 $")
	})
	t.Run("bot-ux 34 the account's page has one precision, and fits into 320 pixels", func(t *testing.T) {
		short, _, _ := strings.Cut(me.page("/account"), "<details")
		if has(t, short, `<p class="big">$0.99</p>`); strings.Contains(short, "0.999384301") {
			t.Error("the exact figure comes first")
		}
		ctx := browsertest.Open(t, browsertest.Window{Width: 320, Height: 640})
		for _, path := range []string{"/account", "/buy", "/prices", "/tool/order", path} {
			browsertest.Do(t, ctx, chromedp.Navigate(h.url+path), chromedp.WaitVisible(chromedp.CSS("main")))
			if !browsertest.Is(t, ctx, browsertest.Fits) {
				t.Errorf("%s is wider than the window", path)
			}
		}
		if !browsertest.Is(t, ctx, `(() => {
			const places = document.querySelector(".bar nav");
			while (places.children.length < 7) places.append(places.lastElementChild.cloneNode(true));
			return places.scrollWidth <= places.clientWidth;
		})()`) {
			t.Error("seven places do not fit side by side")
		}
		browsertest.Do(t, ctx, chromedp.EmulateViewport(768, 860))
		if !browsertest.Is(t, ctx, browsertest.Fits) {
			t.Error("seven places make the page wider than a tablet")
		}
	})
}

func TestCardsTellWhatARunCostsUsually(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fakes.Set(registrytest.Tool("paint", func(c *registry.Tool) {
		c.OutputSchema = registry.OutputSchema{{Name: "story", Type: "text"}}
		c.CostingModel = &registry.CostingModel{Rate: "0.6", Unit: registry.UnitRequest, RateSource: registry.RateAPI}
	}))
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.fake.Answer(func(registry.Call) (registry.Result, *registry.Error) {
		return registry.Result{Outputs: []registry.Output{registrytest.Text("story", "done")}, Usage: registry.Usage{CostUSD: "0.05"}}, nil
	})
	me := h.reader()
	has(t, me.page("/"), "as the provider charges")
	me.form("/account/confirm", url.Values{"percent": {"100"}})
	h.started(me, "paint", url.Values{"prompt": {"a chair"}})
	has(t, me.page("/"), "usually $0.05")
}

func TestCapsAreTypedAsInTheLanguage(t *testing.T) {
	t.Parallel()
	me := newHouse(t).reader()
	me.form("/account/language", url.Values{"language": {"de"}})
	me.form("/account/limits", url.Values{"day": {"0,25"}})
	has(t, me.page("/account"), `value="0.25"`, "0,25\u00a0$")
}

func TestBuying(t *testing.T) {
	t.Parallel()
	t.Run("bot-ux 36 without a shop the page says whom to ask", func(t *testing.T) {
		t.Parallel()
		has(t, newHouse(t).reader().page("/buy"), "You have $1.00 to spend.", "can&#39;t be bought here yet", "Ask whoever runs this bot")
	})
	t.Run("bot-ux 36 it says what the operator says", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, func(c *web.Config) {
			c.Buying = pages.Buying{Offers: func() words.Buying {
				return words.Buying{Text: "Write to Ann.", Ways: []words.BuyingWay{{URL: "https://shop.example/credit"}, {Label: "By card", URL: "https://pay.example"}}}
			}}
		})
		has(t, h.reader().page("/buy"), "Write to Ann.", `href="https://shop.example/credit"`, ">shop.example</a>", ">By card</a>")
		has(t, h.reader().page("/account"), `href="/buy"`)
	})
	t.Run("what is sold elsewhere only is said with the place", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, func(c *web.Config) {
			c.Buying = pages.Buying{Offers: func() words.Buying { return words.Buying{Seller: starsOnly{}} }}
		})
		me := h.reader()
		has(t, me.page("/buy"), "More credit is sold on Telegram: send /buy there.")
		has(t, readAll(t, me.form("/buy/redeem", url.Values{"code": {"ABCD"}}).Body), "There is no such code")
	})
	t.Run("what cannot be paid now is said", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, func(c *web.Config) {
			c.Buying = pages.Buying{Offers: func() words.Buying { return words.Buying{Seller: tillAway{}} }}
		})
		res := h.reader().form("/buy", url.Values{"offer": {tillAway{}.Offers("", "")[0].ID()}})
		if res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the status is %d", res.StatusCode)
		}
		has(t, readAll(t, res.Body), "This cannot be paid right now, and nothing was.")
	})
}

// starsOnly sells on Telegram only.
type starsOnly struct{ words.Seller }

func (starsOnly) Offers(string, string) []words.Offer { return nil }

func (starsOnly) Elsewhere(string) []string { return []string{"Telegram"} }

func (starsOnly) Bought(context.Context, string) ([]payments.Payment, error) { return nil, nil }

func (starsOnly) Redeem(context.Context, string, string) (billing.NanoUSD, error) {
	return 0, payments.ErrNoVoucher
}

// tillAway sells here, but what is ordered cannot be paid.
type tillAway struct{ starsOnly }

func (tillAway) Offers(string, string) []words.Offer {
	return []words.Offer{{Product: "small", Name: "Small", Currency: "USD", Price: "5.00 USD"}}
}

func (tillAway) Checkout(context.Context, string, string, string, words.Offer) (string, error) {
	return "", payments.ErrAway
}
