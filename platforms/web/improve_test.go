package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/askapi"
)

// TestImproveOnTheForm takes a style where there is no model: what would change is shown, and the text is the old one until it is taken.
func TestImproveOnTheForm(t *testing.T) {
	t.Parallel()
	h := newMarket(t, func(c *web.Config) {
		c.Mounts = append(c.Mounts, web.Mount{Path: "POST " + askapi.ImprovePath, Use: web.Run, Handler: askapi.Handler(askapi.Config{
			Registry: c.Registry, Users: c.Users, Caller: web.Caller, Budget: web.Budget, ByAgent: web.ByAgent,
		})})
	})
	ctx := browsertest.Open(t, browsertest.Desktop)
	browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/market"), chromedp.WaitVisible(chromedp.CSS("[data-improve]")))
	press := func(selector string) {
		t.Helper()
		until(t, ctx, `(() => { const b = document.querySelector("`+selector+`"); if (!b || b.disabled) return false; b.click(); return true; })()`)
	}
	until(t, ctx, value("prompt", "a pier."))
	press("[data-improve]")
	press(".better .actions button")
	browsertest.Becomes(t, ctx, `document.querySelector(".better ins")?.textContent.includes("photograph") && document.querySelector("#inputs [name=prompt]").value === "a pier."`)
	browsertest.WindowShot(t, ctx, "improve")
	press(".better .actions button")
	browsertest.Becomes(t, ctx, `document.querySelector("#inputs [name=prompt]").value.startsWith("a pier, photograph") && document.querySelector(".better").hidden`)
	if n := len(h.fake.Calls()); n != 0 {
		t.Errorf("%d calls that nobody asked for", n)
	}
}
