package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// accessible lets axe-core judge the page as it stands: no violation of WCAG 2.2 A and AA, nor of its best
// practices.
func accessible(t *testing.T, ctx context.Context, page string) {
	t.Helper()
	script := axeScript(t)
	if script == "" {
		return
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script+"; true")); err != nil {
		t.Fatal(err)
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.flatMap(v =>
		v.nodes.map(n => v.id + ": " + v.help + " at " + n.target.join(" ") + " " + n.html.slice(0, 160) + " " + n.any.map(a => a.message).join("; "))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("axe on %s: %v", page, err)
	}
	if len(found) > 0 {
		t.Errorf("%s: %s", page, strings.Join(found, "\n\t"))
	}
}

// axeScript reads axe-core, which .ci/run fetches.
func axeScript(t *testing.T) string {
	t.Helper()
	name := filepath.Join("testdata", "axe", "node_modules", "axe-core", "axe.min.js")
	script, err := os.ReadFile(name)
	if err == nil {
		return string(script)
	}
	advice := fmt.Sprintf("no %s; run npm ci in %s", name, filepath.Join("testdata", "axe"))
	if os.Getenv("CI") == "true" {
		t.Fatal(advice)
	}
	t.Log(advice + ": accessibility is not judged")
	return ""
}

// dark lets the pages believe that the reader likes it dark.
func dark() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		return err
	})
}
