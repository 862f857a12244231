package webchat_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/platforms/chat/chattest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/test/housetest"
)

// formHouse is a house whose pages know the tools and runs of its conversation.
func formHouse(t *testing.T) (*harness, *chattest.World) {
	t.Helper()
	h := newHarness(t)
	w := chattest.NewWorld(t, oneHouse{h}, chattest.Tools()...)
	h.serve(t, w.Registry, houseRuns{w.Runs, h.files, h.pool})
	return h, w
}

// oneHouse is a harness whose pages and conversation have the same accounts, for what goes from one to the other: a sealed price.
type oneHouse struct{ *harness }

func (h oneHouse) House() *pgxpool.Pool { return h.pool }

// houseRuns are the runs of the conversation, with the files of the pages.
type houseRuns struct {
	*runner.Service
	files housetest.Files
	pool  *pgxpool.Pool
}

func (r houseRuns) PutMedia(ctx context.Context, accountID string, content io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
	return r.files.Keep(ctx, content, assets.Meta{Name: name, Owner: accountID, Kind: assets.Upload})
}

func (r houseRuns) OwnersOf(ctx context.Context, ref registry.Media, reader assets.Reader) ([]string, error) {
	return assets.Owners(ctx, r.pool, assets.Ref(ref), reader)
}

func (r houseRuns) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	return r.files.OpenMedia(ctx, ref)
}

func TestFormsOfCommands(t *testing.T) {
	t.Parallel()
	h, w := formHouse(t)
	anna := chattest.Person{ID: "1001", Name: "Anna", Language: "en"}
	room, b := h.Private(anna), h.browser(anna)
	send := func(tool string, files []chattest.File, pairs ...string) (path, page string) {
		t.Helper()
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		check(form.WriteField("csrf__token", b.csrf(t)))
		for i := 0; i < len(pairs); i += 2 {
			check(form.WriteField(pairs[i], pairs[i+1]))
		}
		for _, f := range files {
			part, err := form.CreateFormFile("images", f.Name)
			check(err)
			part.Write(f.Data)
		}
		check(form.Close())
		req, err := http.NewRequest(http.MethodPost, h.server.URL+"/chat/use/"+tool, &body)
		check(err)
		req.Header.Set("Content-Type", form.FormDataContentType())
		req.Header.Set("Accept", "text/html")
		res, err := b.http.Do(req)
		check(err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		check(err)
		return res.Request.URL.Path, string(text)
	}
	t.Run("tools can be chosen without typing", func(t *testing.T) {
		page := string(b.get(t, "/chat/use", "text/html"))
		if !strings.Contains(page, `href="/chat/use/painter"`) || strings.Contains(page, `href="/chat/use/fresco"`) {
			t.Errorf("the page is\n%s", page)
		}
	})
	t.Run("the form has the tool's inputs, basic ones first, and what was typed", func(t *testing.T) {
		page := string(b.get(t, "/chat/use/painter?text="+url.QueryEscape("a <red> bicycle"), "text/html"))
		basic, advanced, folded := strings.Cut(page, `<details class="fold"`)
		if !folded || !strings.Contains(basic, `name="steps"`) || !strings.Contains(basic, `type="range"`) || !strings.Contains(basic, "a &lt;red&gt; bicycle") || !strings.Contains(advanced, `name="negative"`) {
			t.Errorf("the page is\n%s", page)
		}
		if !strings.Contains(page, `href="/chat" aria-current="page"`) || !strings.Contains(page, `action="/chat/use/painter"`) || strings.Contains(page, "newpreset__name") {
			t.Errorf("the form is sent elsewhere, or keeps settings:\n%s", page)
		}
	})
	t.Run("A70 what is filled in is a command with typed options, once for each form", func(t *testing.T) {
		for range 2 {
			path, page := send("painter", nil, "form__id", "one", "prompt", "a bicycle seed=5", "steps", "7", "style", "oil", "tiled__shown", "1")
			if path != "/chat" || !strings.Contains(page, "/painter a bicycle seed=5 steps=7") {
				t.Errorf("%s shows\n%s", path, page)
			}
		}
		c := w.Call(0)
		if c.Inputs["prompt"] != "a bicycle seed=5" || fmt.Sprint(c.Inputs["steps"]) != "7" {
			t.Errorf("the tool was given %+v", c.Inputs)
		}
		w.Succeed(c, chattest.PictureOutput("picture"))
		w.AwaitMedia(room, "Painter")
		w.Idle()
		if n := w.CountRuns(); n != 1 {
			t.Errorf("one form made %d runs", n)
		}
		if run := w.LastRun(); run.Sources["style"] != "default" || run.Sources["steps"] != "argument" {
			t.Errorf("values come from %v", run.Sources)
		}
	})
	t.Run("several files go to their input", func(t *testing.T) {
		files := []chattest.File{
			{Name: "red.png", Data: chattest.Picture(8, 8, color.NRGBA{R: 255, A: 255})}, {Name: "blue.png", Data: chattest.Picture(8, 8, color.NRGBA{B: 255, A: 255})},
		}
		if path, page := send("collage", files); path != "/chat" {
			t.Fatalf("%s shows\n%s", path, page)
		}
		if images, _ := w.Call(1).Inputs["images"].([]any); len(images) != 2 {
			t.Errorf("the tool was given %+v", w.Call(1).Inputs)
		}
	})
	t.Run("a file of somebody else is not taken for knowing its name", func(t *testing.T) {
		ben := h.browser(chattest.Person{ID: "1002", Name: "Ben", Language: "en"}).account.ID
		ref, _, err := h.files.Keep(t.Context(), bytes.NewReader(chattest.Picture(9, 9, color.NRGBA{G: 255, A: 255})), assets.Meta{Name: "his.png", Owner: ben, Kind: assets.Upload})
		check(err)
		if path, page := send("collage", nil, "images", string(ref)); path != "/chat/use/collage" || !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s shows\n%s", path, page)
		}
	})
	t.Run("a value that does not fit comes back with its reason, and nothing is said", func(t *testing.T) {
		path, page := send("painter", nil, "prompt", "a cat", "steps", "500")
		if path != "/chat/use/painter" || !strings.Contains(page, `role="alert"`) || !strings.Contains(page, `value="500"`) || !strings.Contains(page, "a cat") {
			t.Errorf("%s shows\n%s", path, page)
		}
	})
	t.Run("a price that was shown and does not hold starts nothing", func(t *testing.T) {
		before := w.CountRuns()
		send("painter", nil, "form__id", "stale", "prompt", "a dog", "quote__shown", "none-of-ours")
		w.AwaitText(room, "does not hold any more")
		if n := w.CountRuns() - before; n != 0 {
			t.Errorf("%d runs were started", n)
		}
	})
	t.Run("what has no command has no form", func(t *testing.T) {
		if path, page := send("nothing", nil); path != "/chat/use/nothing" || strings.Contains(page, "<form class=\"inputs\"") {
			t.Errorf("%s shows\n%s", path, page)
		}
	})
	t.Run("offers of tools lead to their forms, those of the house do not", func(t *testing.T) {
		var offers []struct{ Label, Form string }
		if err := json.Unmarshal(b.get(t, "/chat/offers?text=%2Fp", "application/json"), &offers); err != nil {
			t.Fatal(err)
		}
		for _, o := range offers {
			if o.Form != map[string]string{"/painter": "/chat/use/painter", "/poem": "/chat/use/poem"}[o.Label] {
				t.Errorf("%+v", o)
			}
		}
	})
}

func TestFormOfACommandInABrowser(t *testing.T) {
	t.Parallel()
	h, w := formHouse(t)
	page := browsertest.Open(t, browsertest.Window{Width: 390, Height: 844})
	ctx, cancel := context.WithTimeout(page, 5*time.Minute)
	t.Cleanup(cancel)
	browsertest.Do(t, ctx, chromedp.Navigate(h.server.URL+"/chat"), chromedp.WaitVisible(chromedp.CSS("#say")))
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#say")), chromedp.KeyEvent("/pain"), chromedp.WaitVisible(chromedp.CSS("#offers [role=option]")))
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#offers [role=option]")), chromedp.KeyEvent("a lighthouse"))
	browsertest.Becomes(t, ctx, `document.getElementById("form").textContent === "Fill in /painter as a form"`)
	browsertest.Accessible(t, ctx, "composer with a form")
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#form")), chromedp.WaitVisible(chromedp.CSS("#f-prompt")))
	browsertest.Becomes(t, ctx, `document.getElementById("f-prompt").value === "a lighthouse"`)
	browsertest.Becomes(t, ctx, browsertest.Fits)
	browsertest.Accessible(t, ctx, "form of a command")
	browsertest.WindowShot(t, ctx, "chat-form")
	browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("#f-steps"), "9"), chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS("#say")))
	if c := w.Call(0); c.Inputs["prompt"] != "a lighthouse" || fmt.Sprint(c.Inputs["steps"]) != "9" {
		t.Errorf("the tool was given %+v", c.Inputs)
	}
	browsertest.Becomes(t, ctx, `document.getElementById("log").innerText.includes("/painter a lighthouse steps=9")`)

	file := filepath.Join(t.TempDir(), "photo.png")
	if err := os.WriteFile(file, chattest.Picture(32, 32, color.NRGBA{G: 200, A: 255}), 0o644); err != nil {
		t.Fatal(err)
	}
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#form")), chromedp.WaitVisible(chromedp.CSS(`a[href="/chat/use/enlarge"]`)))
	browsertest.Accessible(t, ctx, "choice of tools")
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(`a[href="/chat/use/enlarge"]`)), chromedp.WaitVisible(chromedp.CSS("#start")))
	browsertest.Do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#f-image"), []string{file}), chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS("#say")))
	if c := w.Call(1); c.Tool.ToolID != "enlarge" || !registry.IsMediaRef(fmt.Sprint(c.Inputs["image"])) {
		t.Errorf("the file went to %+v", c.Inputs)
	}
}
