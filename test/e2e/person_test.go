//go:build unix

package e2e

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

// guest is a browser at the program's page.
type guest struct {
	t     testing.TB
	p     *program
	http  http.Client
	token string
	sent  int
}

// visit opens the page in a new browser.
func (p *program) visit() *guest {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	g := &guest{t: p.t, p: p, http: http.Client{Jar: jar}}
	found := regexp.MustCompile(`name="csrf__token" value="([^"]+)"`).FindStringSubmatch(g.get("/chat"))
	if found == nil {
		p.t.Fatal("the conversation's page has no form")
	}
	g.token = found[1]
	return g
}

func (g *guest) get(path string) string {
	g.t.Helper()
	res, err := g.http.Get(g.p.page + path)
	return g.read(path, res, err)
}

// post sends a form as the page's script does.
func (g *guest) post(path string, pairs ...string) string {
	g.t.Helper()
	g.sent++
	form := url.Values{"csrf__token": {g.token}, "nonce__": {"nonce" + strconv.Itoa(g.sent)}}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.p.page+path, strings.NewReader(form.Encode()))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	res, err := g.http.Do(req)
	return g.read(path, res, err)
}

func (g *guest) read(path string, res *http.Response, err error) string {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil || res.StatusCode != http.StatusOK {
		g.t.Fatalf("%s: %s, %v: %.300s", path, res.Status, err, body)
	}
	return string(body)
}

// awaitPage waits until the conversation's page matches, and gives what matched.
func (g *guest) awaitPage(what, pattern string) []string {
	g.t.Helper()
	want, page := regexp.MustCompile(pattern), ""
	await(g.t, what, func() bool {
		page = g.get("/chat")
		return want.MatchString(page)
	}, func() string { return page + g.p.said() })
	return want.FindStringSubmatch(page)
}

// press presses the button with that label under the newest message that has it.
func (g *guest) press(label string) {
	g.t.Helper()
	id := ""
	key := regexp.MustCompile(`name="message__" value="(\d+)"|name="data" value="([^"]+)"[^>]*>` + regexp.QuoteMeta(label) + `<`)
	g.awaitPage("the button "+label, regexp.QuoteMeta(">"+label+"<"))
	data := ""
	for _, m := range key.FindAllStringSubmatch(g.get("/chat"), -1) {
		if m[2] == "" && data == "" {
			id = m[1]
		} else if m[2] != "" {
			data = m[2]
		}
	}
	g.post("/chat/press", "message__", id, "data", data)
}

// TestOnePersonOnTwoPlatforms starts on Telegram, goes on at the page, and receives in both.
func TestOnePersonOnTwoPlatforms(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	tg := telegramtest.New(t, telegramtest.Options{Patience: hang})
	s := spec{dir: seededDir(t), env: []string{"TELEGRAM_BOT_TOKEN=" + tg.Token, "TELEGRAM_API_URL=" + tg.URL, "COMFYUI_URLS=" + startEngine(t), "LOG_LEVEL=warn"}}
	p := start(t, s)
	ann := tg.User("Ann")
	says := func(text string, parts ...string) telegramtest.Message {
		t.Helper()
		ann.Send(ann.Private(), text)
		return tg.WaitMessage(t.Context(), ann.Private(), func(m telegramtest.Message) bool {
			for _, part := range parts {
				if !strings.Contains(m.Text, part) {
					return false
				}
			}
			return m.From == nil
		})
	}
	pictures := func(width int) int {
		n := 0
		for _, m := range tg.History(ann.Private()) {
			if m.Media != nil && m.Media.Width == width {
				n++
			}
		}
		return n
	}

	ann.Send(ann.Private(), "/wallpaper width=96 height=64")
	await(t, "the picture on Telegram", func() bool { return pictures(96) == 1 }, func() string { return tg.Transcript(ann.Private()) })
	code := regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}`).FindString(says("/link", "10 minutes").Text)

	page := p.visit()
	page.post("/chat/say", "text", "/balance")
	page.awaitPage("the balance", `You have`)
	if r := run(t, spec{dir: s.dir, args: []string{"grant", "web:local", "5"}, env: s.env}); r.code != 0 {
		t.Fatalf("grant: %s", r.stderr)
	}
	page.post("/chat/say", "text", "/link "+code)
	page.press("Join them")
	page.press("Yes, join them")
	page.awaitPage("the joined person", "you are one person now")

	t.Run("the wallets are one", func(t *testing.T) {
		if shown := says("/balance", "You have").Text; !strings.Contains(shown, "$5.99") { // one sign-up credit, less a little, and what was granted
			t.Errorf("the balance on Telegram reads %q", shown)
		}
		await(t, "the balance on the page", func() bool {
			return strings.Contains(page.get("/api/balance"), `"balanceNanoUsd":5999`)
		}, func() string { return page.get("/api/balance") })
	})
	t.Run("what was set on the page holds on both, and each gets its results", func(t *testing.T) {
		page.post("/tool/wallpaper/settings", "width", "128", "height", "80")
		page.post("/chat/say", "text", "/wallpaper")
		page.awaitPage("the picture on the page", `<img [^>]*width="128" height="80"`)
		if pictures(128) != 0 {
			t.Error("Telegram shows what was asked for on the page")
		}
		ann.Send(ann.Private(), "/wallpaper")
		await(t, "the picture on Telegram", func() bool { return pictures(128) == 1 }, func() string { return tg.Transcript(ann.Private()) })
		says("/why", "Width: 128", "your settings")
	})
	t.Run("the history is one", func(t *testing.T) {
		m := says("/history", "Your runs")
		if n := strings.Count(m.Text, "Wallpaper"); n != 3 {
			t.Errorf("%d runs on Telegram:\n%s", n, m.Text)
		}
		if n := strings.Count(page.get("/history"), `class="runcard"`); n != 3 {
			t.Errorf("%d runs on the page", n)
		}
	})
}
