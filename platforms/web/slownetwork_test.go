package web_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
)

// slow4G has a tab's requests go over what Lighthouse takes for a slow 4G connection: 150 ms from a request to its answer, 1.6 Mbit/s
// down, 750 kbit/s up. Nothing comes from the cache.
func slow4G() browsertest.Step {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		slow := &network.Conditions{Latency: 150, DownloadThroughput: 1.6e6 / 8, UploadThroughput: 750e3 / 8}
		if _, err := cdp.Call(ctx, tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{slow}}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, tab, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		return err
	})
}

// watchPictures has pages note when each picture stands in a painted frame.
func watchPictures() browsertest.Step {
	const watch = `window.painted = new Map(); document.addEventListener("load", ({target}) => {
		if (target.tagName === "IMG") requestAnimationFrame(() => requestAnimationFrame(() => painted.set(target, performance.now())));
	}, true);`
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
		return err
	})
}

// loadTimes are when a page's largest picture in the window was shown, in milliseconds from the start, and how many bytes came for all
// but pictures.
type loadTimes struct {
	Shown  float64
	Source string
	Bytes  int
}

// noted gives them once the largest picture is there, null before.
const noted = `(() => {
	const area = (i) => { const box = i.getBoundingClientRect(); return Math.max(0, Math.min(box.bottom, innerHeight) - Math.max(box.top, 0)) * box.width; };
	const largest = [...document.images].sort((a, b) => area(b) - area(a))[0];
	if (document.readyState !== "complete" || !largest || !painted.has(largest)) return null;
	const fetched = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
	const rest = fetched.filter((e) => !/\.(jpg|png|webp)$|\/thumbs\/|\/files\//.test(new URL(e.name).pathname));
	return {Shown: painted.get(largest), Source: largest.currentSrc, Bytes: rest.reduce((sum, e) => sum + e.transferSize, 0)};
})()`

func TestHomeOnASlowNetwork(t *testing.T) {
	t.Parallel()
	const (
		mostBytes = 60_000
		within    = time.Second
	)
	for name, window := range map[string]browsertest.Window{"desktop": browsertest.Desktop, "phone": browsertest.Phone} {
		for _, front := range []string{"one's own home", "a stranger's first page"} {
			t.Run(front+" on a "+name, func(t *testing.T) {
				t.Parallel()
				options := []option{withExamples(t)}
				if front != "one's own home" {
					options = append(options, public(t, "http://127.0.0.1"), toBegin)
				}
				h := newHouse(t, options...)
				ctx := open(t, window)
				browsertest.Do(t, ctx, slow4G(), watchPictures())
				var best loadTimes
				for try := range 4 { // a machine that is busy with other tests only makes it slower
					browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/"))
					now, err := chromedp.Run(ctx, chromedp.Poll[loadTimes](noted))
					if err != nil {
						t.Fatal(err)
					}
					if try == 0 || now.Shown < best.Shown {
						best = now
					}
				}
				t.Logf("%s was shown after %.0f ms; %d bytes came for all but pictures", best.Source, best.Shown, best.Bytes)
				if best.Shown >= float64(within.Milliseconds()) {
					t.Errorf("the largest picture was shown after %.0f ms, want less than %s", best.Shown, within)
				}
				if best.Bytes >= mostBytes || best.Bytes < 5_000 {
					t.Errorf("%d bytes come before pictures, want less than %d", best.Bytes, mostBytes)
				}
			})
		}
	}
}
