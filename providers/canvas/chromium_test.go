package canvas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	imagedraw "image/draw"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/providers/canvas/draw"
)

// TestChromiumDrawsTheSame compares our pixels with Chromium's picture of our SVG: the mean difference is under 1 % without text, under 3 % with text.
func TestChromiumDrawsTheSame(t *testing.T) {
	t.Parallel()
	dir := scenes(t)
	pages := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Trim(r.URL.Path, "/")
		if svg, ok := strings.CutSuffix(name, ".svg"); ok {
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = w.Write(pages[svg])
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><style>body{margin:0;background:#fff}img{display:block}</style><img src="/%s.svg">`, name)
	}))
	defer server.Close()
	tab := browsertest.Open(t, browsertest.Window{Width: 700, Height: 700})
	worst := 0.0
	paths, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	own, _ := filepath.Glob("testdata/scenes/*.json")
	for _, path := range append(paths, own...) {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if name == "bad" || name == "responsive" {
			continue
		}
		var c corpusScene
		readJSON(t, path, &c)
		b := newBench(t)
		b.drawScene(t, c, dir)
		board := b.done[c.Picture.Call].id
		pages[name] = b.picture(t, board, draw.SVG).Content
		ours := onWhite(decode(t, b.picture(t, board, draw.PNG).Content))
		judgePixels(t, ours, c)
		browsertest.Do(t, tab, chromedp.EmulateViewport(int64(c.Picture.Width), int64(c.Picture.Height)), chromedp.Navigate(server.URL+"/"+name))
		shot, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		theirs := decode(t, shot)
		limit := 0.01 * 255
		if words, _ := json.Marshal(c); bytes.Contains(words, []byte(`"fontFamily"`)) {
			limit = 0.03 * 255
		}
		d := meanDifference(ours, theirs)
		worst = max(worst, d)
		if d > limit {
			t.Errorf("%s: the mean difference is %.2f, at most %.2f is allowed", name, d, limit)
		}
		judgePixels(t, theirs, c)
	}
	t.Logf("the largest mean difference is %.2f of 255", worst)
}

func onWhite(img *image.RGBA) *image.RGBA {
	out := image.NewRGBA(img.Rect)
	imagedraw.Draw(out, out.Rect, image.NewUniform(color.White), image.Point{}, imagedraw.Src)
	imagedraw.Draw(out, out.Rect, img, image.Point{}, imagedraw.Over)
	return out
}
