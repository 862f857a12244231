package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/workflows/workflowstest"
)

// output collects what the program prints and tells when the page's address is there.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	page  chan string
	found bool
}

var pageLine = regexp.MustCompile(`Page +(http://\S+)`)

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if m := pageLine.FindSubmatch(o.text.Bytes()); m != nil && !o.found {
		o.found = true
		o.page <- string(m[1])
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start runs the program in this process, on the tests' Postgres and with small pictures, until the test ends, and gives the page's address.
func start(t *testing.T, args ...string) (page string) {
	t.Helper()
	out := &output{page: make(chan string, 1)}
	logs := &output{page: make(chan string, 1)}
	ctx, stop := context.WithCancel(context.Background())
	code := make(chan int, 1)
	args = append([]string{"up", "--data-dir", t.TempDir(), "--listen-addr", "127.0.0.1:0",
		"--database-url", postgrestest.DSN(postgrestest.New(t)), "--workflows-dir", workflowstest.SmallDir(t)}, args...)
	go func() { code <- run(ctx, args, out, logs) }()
	ended := false
	t.Cleanup(func() {
		stop()
		if ended {
			return
		}
		select {
		case c := <-code:
			if c != 0 {
				t.Errorf("the program ended with %d:\n%s", c, logs)
			}
		case <-time.After(2 * time.Minute):
			t.Errorf("the program does not stop:\n%s", logs)
		}
	})
	select {
	case page = <-out.page:
	case c := <-code:
		ended = true
		t.Fatalf("the program ended with %d:\n%s", c, logs)
	case <-time.After(5 * time.Minute):
		t.Fatalf("the program does not start:\n%s\n%s", out, logs)
	}
	if lines := strings.Count(strings.TrimSpace(out.String()), "\n"); lines != 4 {
		t.Errorf("the banner is not five lines:\n%s", out)
	}
	return page
}

func portrait(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 480, 360))
	for y := range 360 {
		for x := range 480 {
			dx, dy := x-300, y-150
			c := color.RGBA{R: uint8(60 + y/3), G: uint8(110 + y/4), B: uint8(230 - y/3), A: 255}
			switch {
			case dx*dx+dy*dy < 70*70:
				c = color.RGBA{R: 250, G: 190, B: 60, A: 255}
			case y > 230+int(30*float64(x%160)/160):
				c = color.RGBA{R: 40, G: uint8(90 + x/8), B: 60, A: 255}
			}
			img.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 92}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFirstFiveMinutes is what a new user of the bot does, through the whole program.
func TestFirstFiveMinutes(t *testing.T) {
	t.Parallel()
	tg := telegramtest.New(t, telegramtest.Options{})
	page := start(t, "--telegram-bot-token", tg.Token, "--telegram-api-url", tg.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ann := tg.User("Ann")
	chat := ann.Private()

	ann.Start("")
	tg.WaitMessage(ctx, chat, telegramtest.Has("command"))

	t.Run("A8 A30 a command gives a picture with its price and buttons", func(t *testing.T) {
		ann.Send(chat, "/wallpaper colors=5 width=320 height=200")
		m := tg.WaitMessage(ctx, chat, func(m telegramtest.Message) bool {
			return telegramtest.HasMedia("photo")(m) && telegramtest.Has("Wallpaper")(m)
		})
		if !strings.Contains(m.Text, "$") {
			t.Errorf("the caption reads %q", m.Text)
		}
		for _, label := range []string{"Again", "Settings", "Delete"} {
			if _, ok := m.Button(label); !ok {
				t.Errorf("no button %s among %v", label, m.Labels())
			}
		}
	})
	t.Run("A37 a photo with the command as its caption is worked on", func(t *testing.T) {
		photos := len(sentFiles(tg, chat))
		ann.SendPhoto(chat, portrait(t), "/poster inks=6")
		tg.Await(ctx, "the poster", func() bool { return len(sentFiles(tg, chat)) >= photos+2 }, func() string { return tg.Transcript(chat) })
	})
	t.Run("A47 the command list equals the registry's commands", func(t *testing.T) {
		tg.Await(ctx, "the menu", func() bool { return len(ann.Menu(chat)) > 0 }, func() string { return "empty" })
		names := map[string]bool{}
		for _, c := range ann.Menu(chat) {
			names[c.Command] = true
		}
		for _, want := range []string{"wallpaper", "poster", "sticker", "beforeafter", "contactsheet", "filmlook", "help", "settings"} {
			if !names[want] {
				t.Errorf("/%s is not in the menu %v", want, ann.Menu(chat))
			}
		}
	})
	t.Run("the page and the probes answer beside it", func(t *testing.T) {
		for _, path := range []string{"/", "/healthz", "/readyz", "/metrics"} {
			res, err := http.Get(page + path)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		}
	})
	t.Run("the status and the console tell of the engines, and what could be better in the workflows", func(t *testing.T) {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		browser := &http.Client{Jar: jar}
		var status struct {
			Engines []struct{ Up bool }
			Lint    map[string][]struct{ Code, Message string }
		}
		for _, path := range []string{"/", "/api/status"} {
			res, err := browser.Get(page + path)
			if err != nil {
				t.Fatal(err)
			}
			if path == "/api/status" {
				err = json.NewDecoder(res.Body).Decode(&status)
			}
			res.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(status.Engines) != 1 || !status.Engines[0].Up || len(status.Lint["fluxgeneral"]) == 0 {
			t.Errorf("the status is %+v", status)
		}
		for path, want := range map[string]string{"": "Nothing needs you", "tools/fluxgeneral": "What could be better", "tools?state=findings": "fluxgeneral", "engines": `href="/operator/tools/fluxgeneral"`, "plots": "plot-gpu", "ledger": "The books balance"} {
			res, err := browser.Get(page + "/operator/" + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
				t.Errorf("the console's page %q: %d (%v), expected %q in\n%s", path, res.StatusCode, err, want, body)
			}
		}
	})
	drawChat(t, tg, chat)
}

func sentFiles(tg *telegramtest.Server, c *telegramtest.Chat) []telegramtest.Message {
	var found []telegramtest.Message
	for _, m := range tg.History(c) {
		if m.Media != nil && !m.Deleted {
			found = append(found, m)
		}
	}
	return found
}

// drawChat draws the chat as the server holds it, where SCREENSHOTS_DIR says.
func drawChat(t *testing.T, tg *telegramtest.Server, c *telegramtest.Chat) {
	t.Helper()
	if os.Getenv("SCREENSHOTS_DIR") == "" {
		return
	}
	var b strings.Builder
	b.WriteString(`<!doctype html><meta charset=utf-8><style>body{margin:0;padding:14px;width:520px;background:#d7e3ec;font:15px/1.4 system-ui,sans-serif;display:flex;flex-direction:column;gap:8px}
.m{max-width:420px;border-radius:14px;padding:8px 12px;background:#fff;white-space:pre-wrap;overflow-wrap:anywhere}.me{align-self:flex-end;background:#e4fcd0}.m img{width:100%;border-radius:8px;display:block;margin-bottom:6px}
.k{display:flex;gap:4px;margin-top:4px;max-width:444px}.k span{flex:1;text-align:center;background:#7d9db5;color:#fff;border-radius:8px;padding:7px 4px;font-size:14px}</style>`)
	for _, m := range tg.History(c) {
		if m.Deleted {
			continue
		}
		class := "m"
		if m.From != nil {
			class = "m me"
		}
		fmt.Fprintf(&b, `<div class="%s">`, class)
		if m.Media != nil {
			fmt.Fprintf(&b, `<img src="data:image/png;base64,%s">`, base64.StdEncoding.EncodeToString(m.Media.Bytes))
		}
		b.WriteString(html.EscapeString(m.Text) + "</div>")
		for _, row := range m.Keyboard {
			b.WriteString(`<div class=k>`)
			for _, k := range row {
				fmt.Fprintf(&b, "<span>%s</span>", html.EscapeString(k.Text))
			}
			b.WriteString(`</div>`)
		}
	}
	page := filepath.Join(t.TempDir(), "chat.html")
	if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	tab := browsertest.Open(t, browsertest.Window{Width: 548, Height: 1800})
	browsertest.Do(t, tab, chromedp.Navigate("file://"+page))
	browsertest.Shot(t, tab, "chat")
}
