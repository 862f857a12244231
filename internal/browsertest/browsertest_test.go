package browsertest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

func TestTabsOfOneBrowser(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<title>page</title><input autofocus>`))
	}))
	t.Cleanup(page.Close)
	first, second := browsertest.Open(t, browsertest.Desktop), browsertest.Open(t, browsertest.Phone)
	browsertest.Do(t, first, chromedp.Navigate(page.URL))
	browsertest.Do(t, second, chromedp.Navigate(page.URL))
	browsertest.Becomes(t, first, `localStorage.setItem("who", "ann"), document.cookie = "who=ann", true`)
	t.Run("one knows nothing of the other's cookies and storage", func(t *testing.T) {
		browsertest.Becomes(t, first, `localStorage.getItem("who") === "ann" && document.cookie === "who=ann"`)
		if !browsertest.Is(t, second, `localStorage.getItem("who") === null && document.cookie === ""`) {
			t.Error("the second tab has what the first one keeps")
		}
	})
	t.Run("what is undefined at first is asked again", func(t *testing.T) {
		browsertest.Becomes(t, first, `(document.asked = (document.asked ?? 0) + 1) > 2 ? "yes" : undefined`)
	})
	t.Run("each has the size it was opened with, is seen, and takes keys", func(t *testing.T) {
		for width, ctx := range map[string]context.Context{"1280": first, "390": second} {
			browsertest.Becomes(t, ctx, `innerWidth === `+width+` && document.visibilityState === "visible"`)
			browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("input")), chromedp.KeyEvent("hello"))
			browsertest.Becomes(t, ctx, `document.querySelector("input").value === "hello" && document.hasFocus()`)
		}
	})
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTabsOfOneBrowser$")
	again.Env = append(os.Environ(), "TMPDIR="+dir)
	if said, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		browsertest.Open(b, browsertest.Desktop)
	}
}
