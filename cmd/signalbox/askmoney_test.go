package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	claude := anthropictest.New(t, func([]agent.Result) agent.Turn { return agent.Turn{Text: "It is red."} })
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
	if status, body := operator.do("POST", "/api/improve", `{"tool":"wallpaper","input":"none","text":"x"}`); status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", status, body)
	}
}
