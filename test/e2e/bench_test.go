//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

// updateRate is the number of updates a second of BenchmarkFirstAcknowledgement.
const updateRate = 200

// BenchmarkFirstAcknowledgement sends commands to the real process at 200 a second, each from another person,
// and measures the time until the first sign of life for each has reached Telegram's server. The baseline
// is a client that does nothing but answer, at the same rate and on a server of the same kind, so that
// what the simulator itself takes shows in both.
//
//	go test -run '^$' -bench FirstAcknowledgement -benchtime 1000x ./test/e2e
func BenchmarkFirstAcknowledgement(b *testing.B) {
	echo := telegramtest.New(b, telegramtest.Options{})
	ctx, stop := context.WithCancel(b.Context())
	var echoing sync.WaitGroup
	echoing.Go(func() { answerAll(ctx, echo) })
	baseline := acknowledgements(b, echo)
	stop()
	echoing.Wait()

	// Pictures are not the matter here: the engine keeps prompts waiting.
	g := newGate(b, startEngine(b))
	defer g.hold()()
	tg := telegramtest.New(b, telegramtest.Options{})
	p := start(b, spec{env: []string{
		"TELEGRAM_BOT_TOKEN=" + tg.Token, "TELEGRAM_API_URL=" + tg.URL, "COMFYUI_URLS=" + g.URL, "LOG_LEVEL=error",
		"DATABASE_URL=" + postgrestest.DSN(postgrestest.NewEmpty(b)),
	}})
	ours := acknowledgements(b, tg)
	p.cmd.Process.Kill()

	for _, part := range []struct {
		name string
		of   int
	}{{"p50", 50}, {"p99", 99}} {
		base, own := percentile(baseline, part.of), percentile(ours, part.of)
		b.ReportMetric(ms(base), part.name+"-baseline-ms")
		b.ReportMetric(ms(own), part.name+"-ms")
		b.ReportMetric(ms(own-base), part.name+"-beyond-ms")
		b.ReportMetric(float64(own)/float64(base), part.name+"-ratio")
	}
	b.ReportMetric(0, "ns/op") // says nothing here
}

// acknowledgements sends b.N commands and gives the waiting times, sorted.
func acknowledgements(b *testing.B, tg *telegramtest.Server) []time.Duration {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	defer cancel()
	people := make([]*telegramtest.User, b.N)
	for i := range people {
		people[i] = tg.User("Somebody")
	}
	sent := map[string]time.Time{}
	tick := time.NewTicker(time.Second / updateRate)
	defer tick.Stop()
	for _, u := range people {
		<-tick.C
		sent[strconv.FormatInt(u.Private().ID(), 10)] = time.Now()
		u.Send(u.Private(), "/wallpaper")
	}
	waits := map[string]time.Duration{}
	tg.Await(ctx, "all acknowledgements", func() bool {
		for _, c := range tg.Calls("") {
			chat := c.Params["chat_id"]
			if _, known := waits[chat]; !known && !sent[chat].IsZero() {
				waits[chat] = c.At.Sub(sent[chat])
			}
		}
		return len(waits) == len(sent)
	}, func() string { return fmt.Sprintf("%d of %d", len(waits), len(sent)) })
	all := make([]time.Duration, 0, len(waits))
	for _, w := range waits {
		all = append(all, w)
	}
	slices.Sort(all)
	return all
}

func percentile(sorted []time.Duration, p int) time.Duration { return sorted[(len(sorted)-1)*p/100] }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// answerAll is the least that a bot can do: poll, and answer each message with a chat action.
func answerAll(ctx context.Context, tg *telegramtest.Server) {
	var calls sync.WaitGroup
	defer calls.Wait()
	for offset := 0; ctx.Err() == nil; {
		var updates []struct {
			UpdateID int `json:"update_id"`
			Message  struct{ Chat struct{ ID int64 } }
		}
		callTelegram(ctx, tg, "getUpdates", map[string]any{"offset": offset, "timeout": 30}, &updates)
		for _, u := range updates {
			offset = u.UpdateID + 1
			calls.Go(func() {
				callTelegram(ctx, tg, "sendChatAction", map[string]any{"chat_id": u.Message.Chat.ID, "action": "typing"}, nil)
			})
		}
	}
}

// callTelegram makes one call; what fails is left out, and missed by the one who counts.
func callTelegram(ctx context.Context, tg *telegramtest.Server, method string, params map[string]any, result any) {
	body, err := json.Marshal(params)
	if err != nil {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, tg.URL+"/bot"+tg.Token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	var answer struct{ Result json.RawMessage }
	if json.NewDecoder(res.Body).Decode(&answer) == nil && result != nil {
		_ = json.Unmarshal(answer.Result, result) // an empty list is what is left of a broken one
	}
}

// BenchmarkMemoryAtRest reports the resident memory of the program alone with a thousand tools, against
// the same program with the bundled ones.
//
//	go test -run '^$' -bench MemoryAtRest -benchtime 1x ./test/e2e
func BenchmarkMemoryAtRest(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("/proc is asked")
	}
	measure := func(flows string) float64 {
		p := start(b, spec{plain: true, env: []string{
			"DATABASE_URL=" + postgrestest.DSN(postgrestest.NewEmpty(b)), "WORKFLOWS_DIR=" + flows, "LOG_LEVEL=error",
		}})
		defer p.cmd.Process.Kill()
		return float64(residentKB(b, p.cmd.Process.Pid, "VmRSS:")) / 1024
	}
	for b.Loop() {
		bundled, many := measure(newDir(b)), measure(manyWorkflows(b, 1000))
		b.ReportMetric(bundled, "MB-bundled")
		b.ReportMetric(many, "MB-1000-tools")
		b.ReportMetric(many/bundled, "ratio")
	}
	b.ReportMetric(0, "ns/op") // says nothing here
}
