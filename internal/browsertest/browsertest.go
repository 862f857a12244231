// Package browsertest looks at pages with headless Chromium, for tests. Debian's chromium-headless-shell does it with a third less work than
// its chromium.
//
// Where Chromium is missing a test is skipped, and fails where CI=true says that all has to be there.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const (
	tabLife = 4 * time.Minute  // of a test's tab
	patient = 20 * time.Second // for what a page shows by itself
)

// Window is how a tab is opened. Width and Height are in CSS pixels.
type Window struct {
	Width, Height int64
	Dark          bool // the reader likes it dark
	// Expected tells which errors the page may report, by their text and the address they are about; nil: none.
	Expected func(text, address string) bool
}

// Phone and Desktop are the windows that every page has to fit into.
var (
	Phone   = Window{Width: 390, Height: 844}
	Desktop = Window{Width: 1280, Height: 900}
)

// Step is something that is done in a tab.
type Step = chromedp.Action[chromedp.Void]

// shared is the browser of a package that has Main; nil: each tab has a browser of its own.
var shared *browser

// browser is a Chromium that is started when it is first needed.
type browser struct {
	start func() (context.Context, error)
	end   func() // nil: it was not needed
}

// Main runs a package's tests with one browser for all, in which each tab has cookies and storage of its own. It is for TestMain, and gives
// the exit code.
func Main(m *testing.M) int {
	shared = newBrowser()
	defer shared.stop()
	return m.Run()
}

func newBrowser() *browser {
	b := &browser{}
	b.start = sync.OnceValues(b.open)
	return b
}

func (b *browser) open() (context.Context, error) {
	program, err := chromium()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("force-prefers-reduced-motion", true)) // pictures are taken of the end, not of a fade
	allocator, kill := chromedp.NewExecAllocator(context.Background(), options...)
	first, _ := chromedp.NewContext(allocator)
	b.end = func() {
		closing, done := context.WithTimeout(first, 10*time.Second)
		defer done()
		chromedp.Cancel(closing) // it removes its own folder beside dir only where it is not killed
		kill()
		os.RemoveAll(dir)
	}
	return first, chromedp.Do(first)
}

// stop ends the browser and removes what it has written.
func (b *browser) stop() {
	if b.end != nil {
		b.end()
	}
}

// tab opens a tab that knows nothing of the others.
func (b *browser) tab(t testing.TB) (tab context.Context, closeTab func()) {
	t.Helper()
	first, err := b.start()
	if errors.Is(err, errNoChromium) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return chromedp.NewContext(first, chromedp.WithNewBrowserContext())
}

// Open opens a tab for the length of a test. What a page in it logs as an error, such as something that the content
// security policy forbids, fails the test.
func Open(t testing.TB, w Window) context.Context {
	t.Helper()
	b := shared
	if b == nil {
		b = newBrowser()
		t.Cleanup(b.stop)
	}
	tab, closeTab := b.tab(t)
	var reading sync.WaitGroup
	t.Cleanup(func() {
		closeTab()
		reading.Wait()
	})
	steps := []Step{chromedp.EmulateViewport(w.Width, w.Height)}
	if w.Dark {
		steps = append(steps, Dark())
	}
	Do(t, tab, steps...)
	console := chromedp.Console(tab)
	reading.Go(func() {
		for m, err := range console {
			fault := err == nil && (m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException)
			if fault && (w.Expected == nil || !w.Expected(m.Text, m.URL)) {
				t.Errorf("the page reports: %s (%s)", m.Text, m.URL)
			}
		}
	})
	ctx, cancel := context.WithTimeout(tab, tabLife)
	t.Cleanup(cancel)
	return ctx
}

var errNoChromium = errors.New("no Chromium on this machine; install the package chromium-headless-shell")

// chromium finds the program.
func chromium() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", errNoChromium
}

// Dark lets pages believe that the reader likes it dark.
func Dark() Step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		return err
	})
}

// WithoutScript switches JavaScript off for the pages that are opened from now on. Scripts of the test still run.
func WithoutScript() Step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// Do takes steps in a tab, one after the other.
func Do(t testing.TB, ctx context.Context, steps ...Step) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// Text is what the first element that fits a CSS selector says.
func Text(t testing.TB, ctx context.Context, selector string) string {
	t.Helper()
	s, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		t.Fatalf("%s: %v", selector, err)
	}
	return s
}

// Is tells whether a script is true on the page as it stands.
func Is(t testing.TB, ctx context.Context, script string) bool {
	t.Helper()
	ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return ok
}

// Leave runs a script that leads away from the page. It runs once the page has answered: a page that is left meanwhile never does.
func Leave(t testing.TB, ctx context.Context, script string) {
	t.Helper()
	Is(t, ctx, "setTimeout(() => { "+script+" }), true")
}

// Becomes waits until a script is true, on whatever page is there by then. What a page was asked that was left meanwhile may never be
// answered, and a script may fail on a page that lacks what it looks at: it is asked anew.
func Becomes(t testing.TB, ctx context.Context, script string) {
	t.Helper()
	wait, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		is, err := asked(wait, script)
		if is {
			return
		}
		if wait.Err() != nil {
			said, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
			t.Fatalf("%s did not become true: %v\n%s", script, err, said)
		}
		select {
		case <-again.C:
		case <-wait.Done():
		}
	}
}

// lookEvery is how often a page is asked. A page would ask itself without delay, but one that comes back from Chromium's cache of pages may do so no more.
const lookEvery = 50 * time.Millisecond

// asked asks the page that is there now; what it does not have yet is not true.
func asked(ctx context.Context, script string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean((`+script+`))`))
}

// Fits is a script that tells whether nothing of the page sticks out sideways.
const Fits = `document.documentElement.scrollWidth <= window.innerWidth`

// Shot keeps a picture of the whole page where SCREENSHOTS_DIR says, for people to look at.
func Shot(t testing.TB, ctx context.Context, name string) {
	t.Helper()
	keep(t, ctx, name, chromedp.FullScreenshot(100))
}

// WindowShot keeps a picture of what is in the window.
func WindowShot(t testing.TB, ctx context.Context, name string) {
	t.Helper()
	keep(t, ctx, name, chromedp.CaptureScreenshot())
}

func keep(t testing.TB, ctx context.Context, name string, take chromedp.Action[[]byte]) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS_DIR")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(ctx, take)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		t.Fatalf("the picture %s: %v", name, err)
	}
}

// Accessible lets axe-core judge the page as it stands: no violation of WCAG 2.2 A and AA, nor of its best practices.
func Accessible(t testing.TB, ctx context.Context, page string) {
	t.Helper()
	script := axe(t)
	if script == "" {
		return
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script+"; true")); err != nil {
		t.Fatalf("axe on %s: %v", page, err)
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

// axe reads axe-core from the folder where npm puts it.
func axe(t testing.TB) string {
	t.Helper()
	const folder = "platforms/web/testdata/axe"
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(folder), "node_modules", "axe-core", "axe.min.js"))
	if err == nil {
		return string(script)
	}
	advice := fmt.Sprintf("axe-core is not there; run npm ci in %s", folder)
	if os.Getenv("CI") == "true" {
		t.Fatal(advice)
	}
	t.Log(advice + ": accessibility is not judged")
	return ""
}

// moduleRoot is the nearest folder, from the test's upwards, with a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above the test's folder")
		}
	}
	return "", err
}
