package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content/site"
)

func TestAskInTheTerminal(t *testing.T) {
	t.Parallel()
	events := `event: text
data: {"round":1,"text":"Let me "}

event: text
data: {"round":1,"text":"see."}

event: step
data: {"round":1,"tool":"wallpaper"}

event: card
data: {"round":1,"tool":"wallpaper","runId":"r1","card":{"runId":"r1","summary":{"toolId":"wallpaper","promiseNanoUsd":40440000}}}

event: step
data: {"round":1,"tool":"look","result":{"ok":false,"error":{"message":"there is no such tool"}}}

event: text
data: {"round":2,"text":"It waits.","replace":true}

event: done
data: {"answer":"It waits.","notice":"Enough for today."}

`
	heard := make(chan string, 4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"detail":"the key is not known"}`)
			return
		}
		var body bytes.Buffer
		body.ReadFrom(r.Body)
		heard <- body.String()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, events)
	}))
	t.Cleanup(server.Close)
	askIn := func(language, key string) (int, string, string) {
		var out, err bytes.Buffer
		code := run(t.Context(), []string{"ask", "--server", server.URL, "--language", language, "--key", key, "make", "me", "one"}, &out, &err)
		return code, out.String(), err.String()
	}
	ask := func(key string) (int, string, string) { return askIn("C.UTF-8", key) }
	t.Run("the answer is printed as it comes, with what waits and its price", func(t *testing.T) {
		code, out, _ := ask("k")
		want := "Let me see.\n  wallpaper ...\n  wallpaper waits for you, at most $0.041: " + server.URL + "/run/r1\n  look: there is no such tool\nIt waits.\nEnough for today.\n"
		if code != 0 || out != want {
			t.Errorf("exit %d, printed:\n%s", code, out)
		}
		if body := <-heard; !strings.Contains(body, `"question":"make me one"`) {
			t.Errorf("sent %s", body)
		}
	})
	t.Run("what waits is told in the reader's language, with its price as it is written there", func(t *testing.T) {
		_, out, _ := askIn("de_DE.UTF-8", "k")
		<-heard
		if want := "wallpaper wartet auf dich, höchstens 0,041\u00a0$: " + server.URL + "/run/r1"; !strings.Contains(out, want) {
			t.Errorf("printed:\n%s\nwant %s", out, want)
		}
	})
	t.Run("a refusal is told in the program's words", func(t *testing.T) {
		if code, _, err := ask("wrong"); code == 0 || !strings.Contains(err, "the key is not known") {
			t.Errorf("exit %d: %s", code, err)
		}
	})
}

func TestSiteTheme(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "own")
	var out, problems bytes.Buffer
	theme := func() int { return run(t.Context(), []string{"site", "theme", "--out", dir}, &out, &problems) }
	if code := theme(); code != 0 || !strings.Contains(out.String(), "CONTENT_DIR="+dir) {
		t.Fatalf("%d %s%s", code, &out, &problems)
	}
	style := filepath.Join(dir, "theme", "style.css")
	if err := os.WriteFile(style, []byte("body {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := &url.URL{Scheme: "https", Host: "bot.example", Path: "/site"}
	if _, err := site.New(site.Config{Base: base, Theme: os.DirFS(dir)}); err != nil {
		t.Errorf("what was written is no theme: %v", err)
	}
	if code := theme(); code == 0 {
		t.Error("a second time it is taken over")
	}
	if kept, err := os.ReadFile(style); err != nil || string(kept) != "body {}" {
		t.Errorf("the own style is %s, %v", kept, err)
	}
}
