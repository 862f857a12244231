package web_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// makes has somebody make a scene, and gives the run.
func (c *client) makes(prompt string, tool ...string) apiRun {
	c.t.Helper()
	var begun struct{ RunID string }
	if status := c.call("POST", "/api/run/"+append(tool, "studio")[0], fmt.Sprintf(`{"inputs":{"prompt":%q,"seed":7}}`, prompt), &begun); status >= 300 {
		c.t.Fatalf("start: %d", status)
	}
	run := c.finished(begun.RunID)
	if run.Status != "succeeded" {
		c.t.Fatalf("the run: %+v", run.Error)
	}
	return run
}

type galleryAnswer struct {
	Results []struct {
		RunID, ToolID, Prompt, ThumbnailURL string
		N, Rating                           int
		Favorite                            bool
		Output                              struct{ Type, URL string }
	}
	Next string
}

// gallery lists what somebody made, as kinds and prompts.
func (c *client) gallery(query string) (list []string, next string) {
	c.t.Helper()
	var answer galleryAnswer
	if status := c.call("GET", "/api/gallery"+query, "", &answer); status != http.StatusOK {
		c.t.Fatalf("GET /api/gallery%s: %d", query, status)
	}
	for _, r := range answer.Results {
		list = append(list, r.Output.Type+" "+r.Prompt)
	}
	return list, answer.Next
}

func TestGallery(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	ann, ben := h.reader(), h.developer("ben")
	harbor, lamp := ann.makes("a harbor in fog"), ann.makes("a red lamp")
	ben.makes("a secret")
	const withHarbor, withLamp = "a harbor in fog", "a red lamp"
	expect := func(query string, want ...string) {
		t.Helper()
		if got, _ := ann.gallery(query); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	t.Run("the API lists, searches, filters and goes on", func(t *testing.T) {
		expect("", "image "+withLamp, "video "+withLamp, "audio "+withLamp, "image "+withHarbor, "video "+withHarbor, "audio "+withHarbor)
		expect("?q=harb", "image "+withHarbor, "video "+withHarbor, "audio "+withHarbor)
		expect("?toolId=nothing")
		expect("?day=2001-01-01")
		first, next := ann.gallery("?limit=4")
		rest, _ := ann.gallery("?limit=4&before=" + next)
		if len(first) != 4 || len(rest) != 2 {
			t.Errorf("pages of 4 have %d and %d", len(first), len(rest))
		}
		for _, wrong := range []string{"?day=today", "?rating=4", "?limit=0", "?limit=201", "?before=x"} {
			if status := ann.call("GET", "/api/gallery"+wrong, "", nil); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
				t.Errorf("%s: %d", wrong, status)
			}
		}
	})
	t.Run("favorites and ratings are their owner's", func(t *testing.T) {
		path := "/api/runs/" + harbor.RunID + "/outputs/0/"
		if status := ben.call("PUT", path+"favorite", `{"favorite":true}`, nil); status != http.StatusNotFound {
			t.Errorf("somebody else marks it: %d", status)
		}
		if status := ann.call("PUT", path+"favorite", `{"favorite":true}`, nil); status != http.StatusNoContent {
			t.Errorf("favorite: %d", status)
		}
		if status := ann.call("PUT", path+"rating", `{"rating":3}`, nil); status != http.StatusNoContent {
			t.Errorf("rating: %d", status)
		}
		if status := ann.call("PUT", path+"rating", `{"rating":9}`, nil); status < 400 || status >= 500 {
			t.Errorf("a rating of 9: %d", status)
		}
		expect("?favorites=true", "image "+withHarbor)
		expect("?rating=3", "image "+withHarbor)
		expect("?rating=1")
	})
	t.Run("the pages do the same without a script", func(t *testing.T) {
		wall := ann.page("/gallery")
		has(t, wall, `alt="a red lamp"`, `loading="lazy"`, `width="480" height="320"`, `/thumbs/`, "<video", `aria-pressed="true"`)
		if strings.Contains(wall, "a secret") {
			t.Error("somebody else's result is shown")
		}
		if page := ann.page("/gallery?q=harbor&favorites=1"); strings.Contains(page, "red lamp") || !strings.Contains(page, "a harbor") {
			t.Error("the search finds the wrong ones")
		}
		page := ann.page("/gallery/" + lamp.RunID + "/0")
		has(t, page, "a red lamp", "Studio", `<dd>7</dd>`, "$0.02", "/tool/studio?run="+lamp.RunID, "/run/"+lamp.RunID+"/share", `rel="next" href="/gallery/`+lamp.RunID+`/1"`)
		has(t, ann.page("/gallery/"+lamp.RunID+"/1"), `rel="prev"`, "<video")
		res := ann.form("/gallery/"+lamp.RunID+"/2/mark", url.Values{"favorite": {"yes"}, "rating": {"1"}, "back": {"/gallery?q=lamp"}})
		if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/gallery?q=lamp" {
			t.Errorf("marking leads with %d to %q", res.StatusCode, res.Header.Get("Location"))
		}
		expect("?rating=1", "audio "+withLamp)
		if to := ann.form("/gallery/"+lamp.RunID+"/2/mark", url.Values{"rating": {"0"}, "back": {"//evil.example/gallery"}}).Header.Get("Location"); to != "/gallery/"+lamp.RunID+"/2" {
			t.Errorf("a foreign way back leads to %q", to)
		}
		for _, path := range []string{"/gallery/" + lamp.RunID + "/9", "/gallery/" + lamp.RunID + "/x", "/gallery/x/0"} {
			if res := ann.do("GET", path, "", nil); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		}
		if res := ben.do("GET", "/gallery/"+lamp.RunID+"/0", "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("somebody else's page: %d", res.StatusCode)
		}
	})
	t.Run("the chosen ones come in a zip, with names of their own", func(t *testing.T) {
		res := ann.form("/gallery/zip", url.Values{"item": {lamp.RunID + ".0", harbor.RunID + ".0", lamp.RunID + ".2", lamp.RunID + ".0"}})
		data, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%d: %.200s, %v", res.StatusCode, data, err)
		}
		files := unzipped(t, data)
		if len(files) != 3 || !bytes.Equal(files[0].content, scene(t, 480, 320, 3)) || !bytes.Equal(files[2].content, tone()) || files[0].name == files[1].name || !strings.HasSuffix(files[2].name, ".wav") {
			t.Errorf("the zip has %d files", len(files))
		}
		for _, wrong := range []url.Values{{}, {"item": {"x"}}, {"item": {harbor.RunID + ".7"}}, {"item": make([]string, 201)}} {
			if res := ann.form("/gallery/zip", wrong); res.StatusCode < 400 || res.StatusCode >= 500 {
				t.Errorf("%v: %d", wrong, res.StatusCode)
			}
		}
	})
	t.Run("the chosen ones are deleted, with their files and thumbnails", func(t *testing.T) {
		if res := ann.form("/gallery/delete", url.Values{"item": {lamp.RunID + ".0", lamp.RunID + ".1"}, "back": {"/gallery?q=lamp"}}); res.Header.Get("Location") != "/gallery?q=lamp" {
			t.Errorf("%d to %q", res.StatusCode, res.Header.Get("Location"))
		}
		expect("?q=lamp", "audio "+withLamp)
		if status := ann.call("DELETE", "/api/runs/"+harbor.RunID, "", nil); status != http.StatusNoContent {
			t.Fatalf("DELETE: %d", status)
		}
		expect("", "audio "+withLamp)
	})
}

// unzipped reads an archive.
func unzipped(t *testing.T, data []byte) (files []struct {
	name    string
	content []byte
}) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, struct {
			name    string
			content []byte
		}{f.Name, content})
	}
	return files
}

// variants has a painter beside the studio, each of whose pictures is another one and of another shape.
func (h *house) variants(t *testing.T) {
	painter := studio()
	painter.ToolID, painter.DisplayName, painter.CommandName, painter.OutputSchema = "painter", "Painter", "/painter", painter.OutputSchema[:1]
	h.fakes.Set(studio(), painter)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	made := 0
	h.fake.Answer(func(call registry.Call) (registry.Result, *registry.Error) {
		if call.Tool.ToolID == "studio" {
			return studioResult(t), nil
		}
		made++
		shape := [][2]int{{480, 320}, {320, 480}, {400, 400}, {560, 300}}[made%4]
		return registry.Result{Outputs: []registry.Output{
			registrytest.File("picture", "image", registry.MediaInfo{Name: "picture.png", MIMEType: "image/png"}, scene(t, shape[0], shape[1], made)),
		}}, nil
	})
}

func TestGalleryInABrowser(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	h.variants(t)
	ctx := open(t, browsertest.Desktop)
	browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/gallery"), chromedp.WaitVisible(chromedp.CSS(".empty")))
	ann := h.reader()
	for i, prompt := range []string{"a harbor in fog", "hills at dawn", "a lighthouse", "dunes", "a red lamp", "snow on the pass", "a garden", "rain over the bay", "the old pier", "a meadow", "a valley", "evening"} {
		run := ann.makes(prompt, []string{"painter", "studio"}[i%6/5])
		if i == 4 {
			ann.call("PUT", "/api/runs/"+run.RunID+"/outputs/0/favorite", `{"favorite":true}`, nil)
		}
	}
	const shown = `[...document.querySelectorAll(".shot img")].filter(i => i.getBoundingClientRect().top < innerHeight).every(i => i.complete && i.naturalWidth > 0)`
	browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/gallery"), chromedp.WaitVisible(chromedp.CSS(".wall")))
	t.Run("the wall is dense, shows thumbnails and jumps nowhere", func(t *testing.T) {
		browsertest.Becomes(t, ctx, shown)
		if !browsertest.Is(t, ctx, browsertest.Fits) || !browsertest.Is(t, ctx, `[...document.querySelectorAll(".shot img")].every(i => i.width > 0) && [...document.querySelectorAll(".shot img")].filter(i => i.naturalWidth > 0).every(i => i.currentSrc.includes("/thumbs/") && Math.max(i.naturalWidth, i.naturalHeight) <= 320)`) {
			t.Error("the wall sticks out, or shows originals")
		}
		if browsertest.Is(t, ctx, `getComputedStyle(document.querySelector(".chosen")).display !== "none"`) {
			t.Error("what is done with the chosen ones is offered although nothing is chosen")
		}
		browsertest.Accessible(t, ctx, "gallery")
		browsertest.Shot(t, ctx, "gallery")
	})
	t.Run("a heart and a face are kept at once", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(`.shot:first-child .heart`)))
		browsertest.Becomes(t, ctx, `document.querySelector(".shot:first-child .heart").getAttribute("aria-pressed") === "true"`)
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/gallery?favorites=1"), chromedp.WaitVisible(chromedp.CSS(".wall")))
		if !browsertest.Is(t, ctx, `document.querySelectorAll(".shot").length === 2`) {
			t.Error("the favorites are others")
		}
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(".shot:first-child > a")), chromedp.WaitVisible(chromedp.CSS(".face")), chromedp.Click(chromedp.CSS(`.face[data-value="3"]`)))
		browsertest.Becomes(t, ctx, `document.querySelector('.face[data-value="3"]').getAttribute("aria-pressed") === "true"`)
		browsertest.Becomes(t, ctx, loaded)
		browsertest.Accessible(t, ctx, "a result")
		browsertest.Shot(t, ctx, "gallery-result")
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/gallery?rating=3"), chromedp.WaitVisible(chromedp.CSS(".wall")))
		if !browsertest.Is(t, ctx, `document.querySelectorAll(".shot").length === 1`) {
			t.Error("the rated ones are others")
		}
	})
	t.Run("what is searched for is found, and the rest is not", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("#q"), "lamp"), chromedp.Navigate(h.url+"/gallery?q=lam"), chromedp.WaitVisible(chromedp.CSS(".wall")))
		if !browsertest.Is(t, ctx, `document.querySelectorAll(".shot").length === 1 && document.querySelector(".shot img").alt.includes("red lamp")`) {
			t.Error("the search finds others")
		}
	})
	t.Run("the chosen ones are downloaded as a zip", func(t *testing.T) {
		folder := t.TempDir()
		browsertest.Do(t, ctx, downloadsTo(folder), chromedp.Navigate(h.url+"/gallery"), chromedp.WaitVisible(chromedp.CSS(".wall")), chromedp.Click(chromedp.CSS(`.shot:nth-child(1) input`)), chromedp.Click(chromedp.CSS(`.shot:nth-child(3) input`)))
		browsertest.Becomes(t, ctx, `document.getElementById("chosen").textContent === "2"`)
		browsertest.WindowShot(t, ctx, "gallery-chosen")
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(".chosen .primary")))
		if files := unzipped(t, downloaded(t, folder)); len(files) != 2 {
			t.Errorf("the zip has %d files", len(files))
		}
	})
	for _, look := range []struct {
		name string
		w    browsertest.Window
	}{{"320", browsertest.Window{Width: 320, Height: 640}}, {"dark", browsertest.Window{Width: 1280, Height: 900, Dark: true}}} {
		t.Run("it fits on "+look.name, func(t *testing.T) {
			ctx := open(t, look.w)
			for name, path := range map[string]string{"gallery": "/gallery", "result": ""} {
				if path == "" {
					browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/gallery"), chromedp.WaitVisible(chromedp.CSS(".wall")), chromedp.Click(chromedp.CSS(".shot > a")), chromedp.WaitVisible(chromedp.CSS(".face")))
					browsertest.Becomes(t, ctx, loaded)
				} else {
					browsertest.Do(t, ctx, chromedp.Navigate(h.url+path), chromedp.WaitVisible(chromedp.CSS(".wall")))
					browsertest.Becomes(t, ctx, shown)
				}
				if !browsertest.Is(t, ctx, browsertest.Fits) {
					t.Errorf("%s is wider than the window", name)
				}
				browsertest.Accessible(t, ctx, name)
				browsertest.Shot(t, ctx, name+"-"+look.name)
			}
		})
	}
}

// downloadsTo lets the tab keep downloads in a folder.
func downloadsTo(folder string) browsertest.Step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID, DownloadPath: folder,
		})
		return err
	})
}

// downloaded waits for the zip that the browser puts into a folder, under this name once it is whole.
func downloaded(t *testing.T, folder string) []byte {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-again.C {
		found, err := filepath.Glob(filepath.Join(folder, "*.zip"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			continue
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	t.Fatal("there is no download")
	return nil
}
