package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic/anthropictest"
)

// atHome is the person at the machine, in a browser.
type atHome struct {
	t    *testing.T
	page string
	http *http.Client
	csrf string
}

func newAtHome(t *testing.T, page string) *atHome {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &atHome{t: t, page: page, http: &http.Client{Jar: jar}}
	body := a.do("GET", "/", "", "")
	found := regexp.MustCompile(`name="csrf-token" content="([^"]+)"`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("the page has no token against forged requests:\n%s", body)
	}
	a.csrf = found[1]
	return a
}

// do sends a request and gives the answer, which has to be a good one.
func (a *atHome) do(method, path, kind, body string) string {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.page+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("X-CSRF-Token", a.csrf)
	req.Header.Set("X-Session-Id", "poster")
	req.Header.Set("Prefer", "wait=60")
	res, err := a.http.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		a.t.Fatalf("%s %s: %s %s, %v", method, path, res.Status, raw, err)
	}
	return string(raw)
}

// ended is a run that is over.
type ended struct {
	RunID, Status string
	Outputs       []struct{ Name, Type, Text string }
	Error         any
}

// run runs a tool to its end, and says yes where it asks.
func (a *atHome) run(tool string, inputs map[string]any) ended {
	a.t.Helper()
	body, err := json.Marshal(map[string]any{"inputs": inputs})
	if err != nil {
		a.t.Fatal(err)
	}
	said := a.do("POST", "/api/run/"+tool, "application/json", string(body))
	look := time.NewTicker(250 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-look.C {
		var r ended
		if err := json.Unmarshal([]byte(said), &r); err != nil {
			a.t.Fatal(err)
		}
		switch r.Status {
		case "succeeded":
			return r
		case "failed", "canceled", "timed_out":
			a.t.Fatalf("%s: %s", tool, said)
		case "awaiting_confirmation":
			a.do("POST", "/api/runs/"+r.RunID+"/confirm", "application/json", "{}")
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("%s does not end: %s", tool, said)
		}
		said = a.do("GET", "/api/runs/"+r.RunID, "", "")
	}
}

// answer is what a tool said as data.
func (r ended) answer(t *testing.T) (a struct {
	Scene, BoardID string
	Payload        map[string]any
}) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Outputs[0].Text), &a); err != nil {
		t.Fatalf("%s: %v", r.Outputs[0].Text, err)
	}
	return a
}

// code is a new code of /link.
func (a *atHome) code() string {
	a.t.Helper()
	code := regexp.MustCompile(`/link ([A-Za-z0-9-]+)<`).FindStringSubmatch(a.do("POST", "/account/code", "application/x-www-form-urlencoded", ""))
	if code == nil {
		a.t.Fatal("the account's page gives no code")
	}
	return code[1]
}

// fakePenpot is a plugin that is paired by a code, and notes what it is to draw.
type fakePenpot struct {
	mu       sync.Mutex
	drawn    []map[string]any
	pictures map[string]any
	uploads  int
}

func (f *fakePenpot) connect(t *testing.T, page, code string) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(page, "http", "ws", 1)+"/penpot/socket?code="+url.QueryEscape(code), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(-1) // as browsers have none
	go func() {
		for {
			var m struct {
				Source, MessageID, Type string
				Payload                 struct {
					Shapes   []map[string]any
					Pictures map[string]any
				}
			}
			if wsjson.Read(context.Background(), conn, &m) != nil {
				return
			}
			answer := map[string]any{"source": "penpotWizardPlugin", "messageId": m.MessageID, "success": m.Source == "penpotWizardClient"}
			f.mu.Lock()
			switch m.Type {
			case "GET_FILE":
				answer["payload"] = map[string]any{"id": "file"}
			case "UPLOAD_PICTURE":
				f.uploads++
				answer["payload"] = map[string]any{"id": "media"}
			default:
				f.drawn, f.pictures = m.Payload.Shapes, m.Payload.Pictures
				ids := map[string]string{}
				for i, s := range f.drawn {
					ids[fmt.Sprint(s["id"])] = fmt.Sprint("p", i)
				}
				answer["payload"] = map[string]any{"ids": ids}
			}
			f.mu.Unlock()
			if wsjson.Write(context.Background(), conn, answer) != nil {
				return
			}
		}
	}()
}

func (f *fakePenpot) uploaded() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.uploads
}

// TestPosterFromWordsToPost is a drawing's whole way: from words, changed by talk and by a model, with a generated picture behind it, to Penpot, a PDF
// and a post of the site.
func TestPosterFromWordsToPost(t *testing.T) {
	t.Parallel()
	var scene string
	claude := anthropictest.New(t, func(heard []agent.Result) agent.Turn {
		if len(heard) == 0 {
			return agent.Turn{Calls: []agent.Call{{Tool: "draw", Arguments: fmt.Sprintf(`{"text": "title white", "scene": %q}`, scene)}}}
		}
		return agent.Turn{Text: "The title is white now."}
	})
	page := start(t, "--anthropic-api-key", anthropictest.Key, "--anthropic-base-url", claude.URL, "--anthropic-model", anthropictest.Model)
	me := newAtHome(t, page)
	svg := func() string { return me.do("GET", "/api/scenes/"+scene+".svg", "", "") }
	type shape struct {
		ID, Type, Name string
		Text           string
		Parent         *string
		Fills          []struct {
			FillColor string
			FillImage *struct{ ID string }
		}
	}
	shapes := func() (list []shape) {
		t.Helper()
		var export struct{ Shapes []shape }
		if err := json.Unmarshal([]byte(me.do("GET", "/api/scenes/"+scene+".json", "", "")), &export); err != nil {
			t.Fatal(err)
		}
		return export.Shapes
	}

	me.run("draw", map[string]any{"text": "a poster for Friday: Summer party, 8 pm, garden"})
	var drawings struct{ Scenes []struct{ ID string } }
	if err := json.Unmarshal([]byte(me.do("GET", "/api/scenes", "", "")), &drawings); err != nil || len(drawings.Scenes) != 1 {
		t.Fatalf("the drawings are %+v, %v", drawings, err)
	}
	scene = drawings.Scenes[0].ID
	first := svg()

	me.run("draw", map[string]any{"text": "make it blue"})
	blue := svg()
	if blue == first || !strings.Contains(blue, "#1D6FB8") {
		t.Error("the poster is not blue after it was said")
	}
	if said := me.do("POST", "/api/ask", "application/json", `{"question": "the title should be white", "model": "anthropic"}`); !strings.Contains(said, "white now") {
		t.Fatalf("the model answers %s", said)
	}
	board := shapes()[0]
	title := shape{}
	for _, s := range shapes() {
		if s.Text == "Summer party" {
			title = s
		}
	}
	if board.Type != "board" || len(title.Fills) == 0 || title.Fills[0].FillColor != "#FFFFFF" {
		t.Fatalf("the board is %+v, the title %+v", board, title)
	}

	made := me.run("generate-image", map[string]any{"scene": scene, "shapeId": board.ID, "imagePrompt": "a garden at dusk"})
	if b := shapes()[0]; len(b.Fills) == 0 || b.Fills[0].FillImage == nil {
		t.Fatalf("after %+v the board has %+v", made.Outputs, b.Fills)
	}
	if with := svg(); !strings.Contains(with, "<image") {
		t.Error("the picture is not behind the poster")
	}

	var there fakePenpot
	there.connect(t, page, me.code())
	if listed := me.do("GET", "/account", "", ""); !strings.Contains(listed, "<span>Penpot<br>") {
		t.Errorf("a Penpot that is paired is not listed where its account is signed in: %s", listed)
	}
	sent := me.run("send-to-penpot", map[string]any{"scene": scene}).answer(t)
	there.mu.Lock()
	got, pictures, uploads := there.drawn, there.pictures, there.uploads
	there.mu.Unlock()
	if len(got) != len(shapes()) || len(sent.Payload["ids"].(map[string]any)) != len(got) || got[0]["type"] != "board" {
		t.Errorf("Penpot drew %d shapes of %d: %v", len(got), len(shapes()), sent.Payload)
	}
	if len(pictures) != 1 || pictures[shapes()[0].Fills[0].FillImage.ID] == nil || uploads == 0 {
		t.Errorf("pictures %v came along to Penpot in %d parts", pictures, uploads)
	}
	if me.run("send-to-penpot", map[string]any{"scene": scene}); there.uploaded() != uploads {
		t.Errorf("sent again, its picture was uploaded again: %d parts, then %d", uploads, there.uploaded())
	}

	if pdf := me.do("GET", "/api/scenes/"+scene+".pdf", "", ""); !strings.HasPrefix(pdf, "%PDF-") || !strings.HasSuffix(strings.TrimSpace(pdf), "%%EOF") {
		t.Errorf("the PDF has %d bytes and begins with %.10q", len(pdf), pdf)
	}

	png := me.do("GET", "/api/scenes/"+scene+".png", "", "")
	var image struct{ ImageID, URL string }
	kept := me.run("createImage", map[string]any{"filename": "summer-party.png", "buffer": "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(png))})
	if err := json.Unmarshal([]byte(kept.Outputs[0].Text), &image); err != nil || image.URL == "" {
		t.Fatalf("the image is %s, %v", kept.Outputs[0].Text, err)
	}
	me.run("createPost", map[string]any{"collectionSlug": "blog", "slug": "summer-party", "title": "Summer party", "content": map[string]any{"body": "8 pm, in the garden.", "cover": map[string]any{"url": image.URL, "alt": "The poster"}}})
	published := me.run("updatePost", map[string]any{"slug": "summer-party", "status": "published", "confirmed": true})
	visitor := &http.Client{Timeout: 30 * time.Second}
	res, err := visitor.Get(page + "/site/blog/summer-party")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	public, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(public), "8 pm, in the garden.") || !strings.Contains(string(public), `alt="The poster"`) {
		t.Errorf("visitors see %s after %+v:\n%s", res.Status, published.Outputs, public)
	}

	// Who guesses codes has a few tries, whichever connections they come by. Where the right one comes after them it pairs nobody.
	for _, code := range append(slices.Repeat([]string{"WRONG-ONE"}, 5), me.code()) {
		guess, err := visitor.Get(page + "/penpot/socket?code=" + code)
		if err != nil {
			t.Fatal(err)
		}
		guess.Body.Close()
		visitor.CloseIdleConnections()
		if guess.StatusCode != http.StatusForbidden {
			t.Errorf("code %s: %s", code, guess.Status)
		}
	}
}
