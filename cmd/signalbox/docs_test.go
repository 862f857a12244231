package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic/anthropictest"
	"github.com/signalbox/signalbox/agent/openai/openaitest"
	"github.com/signalbox/signalbox/internal/browsertest"
)

// boards is a document of the house.
const boards = "---\ntitle: Boards\n---\n# Boards\nBoards are layers that hold other layers.\n\n## Create a board {#create}\nPress B, and draw a rectangle.\n"

// TestDocsWithAModel asks the documents in chat and over the API, in their language and in another one.
func TestDocsWithAModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rates := filepath.Join(dir, "rates.json")
	for name, text := range map[string]string{
		"docs/guide/source.yaml": "title: The guide\nurl: https://help.example\n", "docs/guide/boards.md": boards,
		"rates.json": `{"models": {"claude-test": [{"input": "1", "output": "10"}], "gpt-test": [{"input": "1", "output": "10"}]}}`,
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, connect := range map[string]func(t *testing.T, script anthropictest.Script) (settings []string, down func()){
		"anthropic": func(t *testing.T, script anthropictest.Script) ([]string, func()) {
			s := anthropictest.New(t, script)
			return []string{"--anthropic-api-key", anthropictest.Key, "--anthropic-base-url", s.URL, "--anthropic-model", anthropictest.Model}, func() {
				s.Fail(anthropictest.Refuse(http.StatusInternalServerError, "api_error", "down"), anthropictest.Refuse(http.StatusInternalServerError, "api_error", "down"), anthropictest.Refuse(http.StatusInternalServerError, "api_error", "down"))
			}
		},
		"openai": func(t *testing.T, script anthropictest.Script) ([]string, func()) {
			s := openaitest.New(t, openaitest.Script(script))
			return []string{"--openai-api-key", openaitest.Key, "--openai-base-url", s.BaseURL(), "--openai-model", openaitest.Model}, func() {
				s.Fail(openaitest.Refuse(http.StatusInternalServerError, "server_error", "", "down"), openaitest.Refuse(http.StatusInternalServerError, "server_error", "", "down"), openaitest.Refuse(http.StatusInternalServerError, "server_error", "", "down"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var next atomic.Pointer[func(heard []agent.Result) agent.Turn]
			says := func(do func(heard []agent.Result) agent.Turn) { next.Store(&do) }
			settings, down := connect(t, func(heard []agent.Result) agent.Turn { return (*next.Load())(heard) })
			page := start(t, append(settings, "--knowledge-dir", filepath.Join(dir, "docs"), "--outbound-allow", "127.0.0.1", "--model-rates-file", rates)...)
			h := docsHouse{t, page, nil}
			tab, stop := context.WithTimeout(browsertest.Open(t, browsertest.Window{Width: 1000, Height: 900}), 90*time.Second)
			defer stop()
			h.tab = tab
			browsertest.Do(t, tab, chromedp.Navigate(page+"/chat"), chromedp.WaitVisible(chromedp.CSS("#say")))
			// The documents are read beside what the house begins with.
			browsertest.Becomes(t, tab, `(fetch("/api/tools").then((r) => r.text()).then((list) => { document.reads = list.includes('"guideRag"'); }), document.reads)`)

			for _, tool := range []string{"docs", "guideRag"} {
				t.Run("an answer in chat has its sources with numbers, and is paid: "+tool, func(t *testing.T) {
					input := map[string]string{"docs": "question", "guideRag": "query"}[tool]
					says(func(heard []agent.Result) agent.Turn {
						if heard == nil {
							return agent.Turn{Calls: []agent.Call{{Tool: tool, Arguments: fmt.Sprintf(`{%q:"create a board"}`, input)}}}
						}
						if !strings.Contains(heard[0].Text, "Press B") {
							return agent.Turn{Text: "I was told " + heard[0].Text}
						}
						return agent.Turn{Text: "By " + tool + ": press B [1]."}
					})
					before := h.balance()
					h.say("/docs how do I make a board?")
					browsertest.Becomes(t, tab, fmt.Sprintf(`[...document.querySelectorAll("main *")].some((e) => e.textContent.includes("By %s: press B [1].") && e.textContent.includes("[1] Boards https://help.example/boards/#create"))`, tool))
					if h.balance() >= before {
						t.Error("the model's words were free")
					}
				})
			}
			t.Run("E29 E83 a question in another language is translated, and paid once", func(t *testing.T) {
				says(func([]agent.Result) agent.Turn { return agent.Turn{Text: "How do I create a board?"} })
				before := h.balance()
				for range 2 {
					if said := h.docs("Wie lege ich eine neue Zeichenfläche an?"); !strings.Contains(said, "Press B") || !strings.Contains(said, "Searched for: How do I create a board?") {
						t.Error(said)
					}
				}
				if paid := before - h.balance(); paid <= 0 || paid > 10_000_000 {
					t.Errorf("it cost %d", paid)
				}
			})
			t.Run("E83 with a model that is down, or talks nonsense, there is the hint", func(t *testing.T) {
				says(func([]agent.Result) agent.Turn {
					return agent.Turn{Text: "Las tortugas son como las casas de los que no las tienen."}
				})
				if said := h.docs("Wie mache ich das mit der Farbe?"); !strings.Contains(said, "Ask in that language") {
					t.Error(said)
				}
				down()
				before := h.balance()
				if said := h.docs("Wie mache ich das mit dem Licht?"); !strings.Contains(said, "Ask in that language") || h.balance() != before {
					t.Error(said)
				}
			})
		})
	}
}

// docsHouse is a person at the page.
type docsHouse struct {
	t    *testing.T
	page string
	tab  context.Context
}

func (h docsHouse) say(text string) {
	h.t.Helper()
	browsertest.Do(h.t, h.tab, chromedp.SendKeys(chromedp.CSS("#say"), text), chromedp.Click(chromedp.CSS("#send")))
}

// docs asks the documents over the API, and gives the answer.
func (h docsHouse) docs(question string) string {
	h.t.Helper()
	said, err := chromedp.Run(h.tab, chromedp.Evaluate[string](fmt.Sprintf(`(async () => {
		const headers = {"Content-Type": "application/json", "X-CSRF-Token": document.querySelector('meta[name="csrf-token"]').content};
		const run = await (await fetch("/api/run/docs", {method: "POST", headers, body: JSON.stringify({inputs: {question: %q}})})).json();
		await (await fetch("/api/runs/" + run.runId + "/events")).text(); // to their end
		return (await fetch("/api/runs/" + run.runId)).text();
	})()`, question), chromedp.EvalAwaitPromise))
	if err != nil {
		h.t.Fatal(err)
	}
	return said
}

func (h docsHouse) balance() int64 {
	h.t.Helper()
	left, err := chromedp.Run(h.tab, chromedp.Evaluate[int64](`(async () => (await (await fetch("/api/balance")).json()).balanceNanoUsd)()`, chromedp.EvalAwaitPromise))
	if err != nil {
		h.t.Fatal(err)
	}
	return left
}
