package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic/anthropictest"
)

// TestAskIsPaid asks a model whose tokens have a price, and looks at the wallet, the page of the question and the console.
func TestAskIsPaid(t *testing.T) {
	t.Parallel()
	rates := filepath.Join(t.TempDir(), "rates.json")
	if err := os.WriteFile(rates, []byte(`{"models": {"claude-test": [{"input": "1", "cacheRead": "0.1", "cacheWrite": "2", "output": "10"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var says atomic.Value
	says.Store("It is red.")
	var calls atomic.Pointer[agent.Call] // the next turn, once
	claude := anthropictest.New(t, func([]agent.Result) agent.Turn {
		if call := calls.Swap(nil); call != nil {
			return agent.Turn{Calls: []agent.Call{*call}}
		}
		return agent.Turn{Text: says.Load().(string)}
	})
	page := start(t, "--admin-token", remoteAdmin, "--outbound-allow", "127.0.0.1", "--model-rates-file", rates,
		"--anthropic-api-key", anthropictest.Key, "--anthropic-base-url", claude.URL, "--anthropic-model", anthropictest.Model)
	operator := client{t, page, remoteAdmin}
	balance := func() int64 {
		t.Helper()
		var got struct{ BalanceNanoUSD, HeldNanoUSD int64 }
		if status, body := operator.do("GET", "/api/balance", ""); status != http.StatusOK || json.Unmarshal([]byte(body), &got) != nil || got.HeldNanoUSD != 0 {
			t.Fatalf("%d %s", status, body)
		}
		return got.BalanceNanoUSD
	}
	before := balance()
	claude.Fail(anthropictest.Cut("It")) // which is billed as far as it was reported
	status, body := operator.do("POST", "/api/ask", `{"question":"which colour?"}`)
	var got struct {
		ID, Answer string
		Usage      struct{ CostNanoUSD int64 }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got.Answer != "It is red." {
		t.Fatalf("%d %s", status, body)
	}
	// Of both streams 25 tokens were read, 100 from the cache, 7 into it; 1 was written when the first broke off, 9 in the second.
	const want = 2*(25*1000+100*100+7*2000) + (1+9)*10_000
	if paid := before - balance(); paid != want || got.Usage.CostNanoUSD != want {
		t.Errorf("it cost %d and says %d, want %d", paid, got.Usage.CostNanoUSD, want)
	}
	for path, words := range map[string][]string{
		"/history/questions/" + got.ID:    {"which colour?", "It is red.", "claude-test"},
		"/history/questions":              {"which colour?"},
		"/operator/models":                {"claude-test", "Day by day"},
		"/operator/models?view=questions": {"which colour?", "/history/questions/" + got.ID},
	} {
		status, body := operator.do("GET", path, "")
		for _, word := range words {
			if status != http.StatusOK || !strings.Contains(body, word) {
				t.Errorf("%s: %d, no %q in %.2000s", path, status, word, body)
			}
		}
	}
	t.Run("D48 a picture that comes to a site is described, and the house pays", func(t *testing.T) {
		before := balance()
		says.Store(`{"description":"A red mug on a shelf.","tags":["mug"]}`)
		var uploaded struct{ Ref string }
		if _, body := operator.do("POST", "/api/uploads?name=cup.png", string(cup(t))); json.Unmarshal([]byte(body), &uploaded) != nil || uploaded.Ref == "" {
			t.Fatal(body)
		}
		id := uploaded.Ref
		if status, body := operator.do("POST", "/api/site/media", `{"buffer":"`+id+`"}`); status != http.StatusCreated {
			t.Fatalf("%d %s", status, body)
		}
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		for deadline := time.Now().Add(time.Minute); ; <-look.C {
			_, body := operator.do("GET", "/api/site/media/"+id, "")
			if strings.Contains(body, "A red mug on a shelf.") && strings.Contains(body, `"describedBy":"model"`) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(body)
			}
		}
		if paid := before - balance(); paid != 0 {
			t.Errorf("%d were taken", paid)
		}
		if _, body := operator.do("GET", "/operator/models?view=questions", ""); !strings.Contains(body, "(the house)") || !strings.Contains(body, id) {
			t.Errorf("the report does not tell of it: %.3000s", body)
		}
	})
	t.Run("D96 what a model would change is shown as it would be, while that waits", func(t *testing.T) {
		if status, body := operator.do("POST", "/api/site/posts", `{"collectionSlug":"blog","slug":"mugs","title":"Red mugs","content":{"body":"Here they are."}}`); status != http.StatusCreated {
			t.Fatalf("%d %s", status, body)
		}
		calls.Store(&agent.Call{Tool: "updatePost", Arguments: `{"slug":"mugs","title":"Blue mugs"}`})
		_, body := operator.do("POST", "/api/ask", `{"question":"make them blue"}`)
		var got struct {
			Cards []struct {
				RunID   string
				Summary struct{ Preview struct{ Link string } }
			}
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Cards) != 1 || got.Cards[0].Summary.Preview.Link == "" {
			t.Fatal(body)
		}
		link := strings.TrimPrefix(got.Cards[0].Summary.Preview.Link, page)
		visitor := client{t, page, ""}
		if _, draft := visitor.do("GET", link, ""); !strings.Contains(draft, "Blue mugs") || strings.Contains(draft, "Red mugs") {
			t.Errorf("%s shows %.3000s", link, draft)
		}
		operator.do("POST", "/api/runs/"+got.Cards[0].RunID+"/cancel", "")
		if _, draft := visitor.do("GET", link, ""); !strings.Contains(draft, "Red mugs") || strings.Contains(draft, "Blue mugs") {
			t.Errorf("canceled, %s shows %.3000s", link, draft)
		}
	})
	if status, body := operator.do("POST", "/api/improve", `{"tool":"wallpaper","input":"none","text":"x"}`); status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", status, body)
	}
}

// TestKeysBoundModels has every way to a model's words try to spend more than the limit of an API key, one after the other and all at once.
func TestKeysBoundModels(t *testing.T) {
	t.Parallel()
	const limit = 35_000_000 // nano-dollars, $0.035
	dir := t.TempDir()
	for name, text := range map[string]string{
		"docs/guide/source.yaml": "title: The guide\nurl: https://help.example\n", "docs/guide/boards.md": boards,
		"rates.json": `{"models": {"claude-test": [{"input": "1", "cacheRead": "60", "output": "1"}]}}`,
	} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var delegate atomic.Bool // the next turn calls an agent
	claude := anthropictest.New(t, func([]agent.Result) agent.Turn {
		if delegate.CompareAndSwap(true, false) {
			return agent.Turn{Calls: []agent.Call{{Tool: "designer", Arguments: `{"query":"a poster"}`}}}
		}
		return agent.Turn{Text: "How do I create a board?"}
	})
	page := start(t, "--admin-token", remoteAdmin, "--outbound-allow", "127.0.0.1", "--knowledge-dir", filepath.Join(dir, "docs"),
		"--model-rates-file", filepath.Join(dir, "rates.json"), "--ask-usd-per-question", "0.03",
		"--anthropic-api-key", anthropictest.Key, "--anthropic-base-url", claude.URL, "--anthropic-model", anthropictest.Model)
	limited := func(usd string) client {
		var made struct{ Key string }
		if _, body := (client{t, page, remoteAdmin}).do("POST", "/api/keys", `{"name":"bounded","spendLimitUsd":"`+usd+`"}`); json.Unmarshal([]byte(body), &made) != nil || made.Key == "" {
			t.Fatal(body)
		}
		return client{t, page, made.Key}
	}
	restricted := func() client { return limited("0.035") }
	balance := func(c client) int64 {
		var got struct{ BalanceNanoUSD, HeldNanoUSD int64 }
		if status, body := c.do("GET", "/api/balance", ""); status != http.StatusOK || json.Unmarshal([]byte(body), &got) != nil || got.HeldNanoUSD != 0 {
			t.Fatalf("%d %s", status, body)
		}
		return got.BalanceNanoUSD
	}
	const turn = 6_041_000 // what a turn costs
	owner := client{t, page, remoteAdmin}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-look.C {
		if status, _ := owner.do("GET", "/api/tools/docs", ""); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the documents are not read")
		}
	}
	t.Run("an agent's tool has a price, and costs what its tokens came to", func(t *testing.T) {
		var tool struct{ CostingModel map[string]any }
		if _, body := owner.do("GET", "/api/tools/designer", ""); json.Unmarshal([]byte(body), &tool) != nil || tool.CostingModel["upTo"] != true || fmt.Sprint(tool.CostingModel["rate"]) != "0.03" {
			t.Error(body)
		}
		before := balance(owner)
		_, body := owner.do("POST", "/api/run/designer", `{"inputs":{"query":"a poster"}}`)
		var run struct {
			RunID       string
			Quote       struct{ Low, High int64 } `json:"quoteNanoUsd"`
			CostNanoUSD int64
		}
		if err := json.Unmarshal([]byte(body), &run); err != nil || run.Quote.High != 30_000_000 || run.Quote.Low <= 0 || run.Quote.Low >= run.Quote.High {
			t.Fatal(body, err)
		}
		owner.do("GET", "/api/runs/"+run.RunID+"/events", "") // to their end
		_, body = owner.do("GET", "/api/runs/"+run.RunID, "")
		if err := json.Unmarshal([]byte(body), &run); err != nil || run.CostNanoUSD != turn || before-balance(owner) != turn {
			t.Errorf("it took %d: %s", before-balance(owner), body)
		}
	})
	t.Run("within a question it is free, and the question pays", func(t *testing.T) {
		before := balance(owner)
		delegate.Store(true)
		_, body := owner.do("POST", "/api/ask", `{"question":"a poster, please"}`)
		var got struct {
			Calls []struct{ RunID string }
			Cards []any
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Calls) != 1 || got.Calls[0].RunID == "" || len(got.Cards) > 0 {
			t.Fatal(body)
		}
		if _, run := owner.do("GET", "/api/runs/"+got.Calls[0].RunID, ""); !strings.Contains(run, `"high":0`) || !strings.Contains(run, `"status":"succeeded"`) || strings.Contains(run, `"costNanoUsd":6`) {
			t.Error(run)
		}
		if paid := before - balance(owner); paid != 3*turn {
			t.Errorf("it took %d", paid)
		}
	})
	t.Run("documents say up to what a translation costs, and a question in another language that it may", func(t *testing.T) {
		const most = 6_000_000 // 6,000 tokens at a dollar for a million
		if _, body := owner.do("GET", "/api/tools/docs", ""); !strings.Contains(body, `"upTo":true`) || !strings.Contains(body, `"rate":0.006`) {
			t.Error(body)
		}
		for question, high := range map[string]int64{"How do I create a board?": 0, "Wie lege ich eine Zeichenfläche für das Plakat an?": most} {
			before := balance(owner)
			_, body := owner.do("POST", "/api/run/docs", fmt.Sprintf(`{"inputs":{"question":%q}}`, question))
			var run struct {
				RunID       string
				Quote       struct{ Low, High int64 } `json:"quoteNanoUsd"`
				CostNanoUSD int64
			}
			if err := json.Unmarshal([]byte(body), &run); err != nil || run.Quote.Low != 0 || run.Quote.High != high {
				t.Errorf("%s: %s", question, body)
			}
			owner.do("GET", "/api/runs/"+run.RunID+"/events", "") // to their end
			_, body = owner.do("GET", "/api/runs/"+run.RunID, "")
			if err := json.Unmarshal([]byte(body), &run); err != nil || run.CostNanoUSD != before-balance(owner) || run.CostNanoUSD > high || (run.CostNanoUSD > 0) != (high > 0) {
				t.Errorf("%s took %d: %s", question, before-balance(owner), body)
			}
		}
	})
	t.Run("a translation that can't be paid is none, and the documents are searched nevertheless", func(t *testing.T) {
		c := limited("0.000001")
		before := balance(c)
		_, body := c.do("POST", "/api/run/docs", `{"inputs":{"question":"Wie lege ich eine Zeichenfläche für den Flur an?"}}`)
		var run struct {
			RunID, Status string
			Quote         struct{ High int64 } `json:"quoteNanoUsd"`
		}
		if err := json.Unmarshal([]byte(body), &run); err != nil || run.RunID == "" || run.Quote.High != 0 {
			t.Fatal(body, err)
		}
		c.do("GET", "/api/runs/"+run.RunID+"/events", "") // to their end
		if _, body = c.do("GET", "/api/runs/"+run.RunID, ""); !strings.Contains(body, `"status":"succeeded"`) || balance(c) != before {
			t.Error(body)
		}
	})
	var questions atomic.Int64
	doors := map[string]func(c client){
		"a question":    func(c client) { c.do("POST", "/api/ask", `{"question":"which colour?"}`) },
		"a prompt":      func(c client) { c.do("POST", "/api/improve", `{"tool":"designer","input":"query","text":"a chair"}`) },
		"an agent":      func(c client) { c.run("designer", `{"query":"a poster"}`) },
		"agents by MCP": func(c client) { c.callMCP("designer", map[string]any{"query": "a poster"}) },
		"a translation": func(c client) {
			c.run("docs", fmt.Sprintf(`{"question":"Wie lege ich die %d. Zeichenfläche an?"}`, questions.Add(1)))
		},
	}
	const tries = 8 // which would cost more than the limit
	for name, ask := range doors {
		t.Run(name, func(t *testing.T) {
			c := restricted()
			before := balance(c)
			for range tries {
				ask(c)
			}
			if spent := before - balance(c); spent <= 0 || spent > limit {
				t.Errorf("the key spent %d nano-dollars, of %d", spent, limit)
			}
		})
	}
	t.Run("all of them at once", func(t *testing.T) {
		c := restricted()
		before := balance(c)
		var all sync.WaitGroup
		for _, ask := range doors {
			for range tries {
				all.Go(func() { ask(c) })
			}
		}
		all.Wait()
		if spent := before - balance(c); spent <= 0 || spent > limit {
			t.Errorf("the key spent %d nano-dollars, of %d", spent, limit)
		}
	})
}
