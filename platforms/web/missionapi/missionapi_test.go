package missionapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/users"
)

// book has one mission, m1, which is ann's.
type book struct {
	Missions // nil: the rest is not called
	mu       sync.Mutex
	m        missions.Mission
	drafts   []missions.Draft
}

func newBook() *book {
	ended := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	return &book{m: missions.Mission{
		ID: "m1", AccountID: "ann", Status: missions.AwaitingConfirmation, Hash: "h", Version: 1, Promised: 2 * billing.Dollar / 100,
		Document: missions.Document{Title: "Trip", Currency: "EUR", EscalationURL: "https://agency.example/help", Totals: map[string]string{"USD": "0.02"}, Legs: []missions.Leg{
			{Order: 1, Tool: missions.ToolRef{ID: "flight"}, Summary: "Flight", Inputs: map[string]any{"seed": json.Number("18446744073709551615")}, Quote: billing.Quote{Low: 1, High: 2},
				Progress: missions.LegProgress{Status: missions.LegDone, Undo: missions.UndoExhausted, Reference: "QX7K2P", EndedAt: &ended}},
		}},
	}}
}

func (b *book) Get(_ context.Context, id, account string) (missions.Mission, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id != b.m.ID || account != b.m.AccountID {
		return missions.Mission{}, missions.ErrNotFound
	}
	return b.m, nil
}

func (b *book) List(ctx context.Context, account, _, _ string) ([]missions.Mission, error) {
	if m, err := b.Get(ctx, "m1", account); err == nil {
		return []missions.Mission{m}, nil
	}
	return nil, nil
}

func (b *book) Plan(_ context.Context, _, _ string, d missions.Draft) (missions.Mission, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drafts = append(b.drafts, d)
	return b.m, nil
}

func (b *book) Confirm(ctx context.Context, id, account, hash string) (missions.Mission, error) {
	m, err := b.Get(ctx, id, account)
	if err == nil && hash != m.Hash {
		err = &runs.GateError{Reason: runs.SummaryHashMismatch}
	}
	if err != nil {
		return m, err
	}
	return b.becomes(missions.Running), nil
}

func (b *book) Cancel(ctx context.Context, id, account string) (missions.Mission, error) {
	if m, err := b.Get(ctx, id, account); err != nil {
		return m, err
	}
	return b.becomes(missions.Canceled), nil
}

func (b *book) becomes(s missions.Status) missions.Mission {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.m.Status, b.m.Version = s, b.m.Version+1
	return b.m
}

// serve serves the book; the header X-Caller says who asks.
func serve(t *testing.T, b *book) string {
	t.Helper()
	catalogue, err := runstest.Registry(registry.Tool{ToolID: "look", Service: "s", DisplayName: "Look", InputSchema: registry.InputSchema{{Name: "image", Type: registry.TypeImage}}})
	if err != nil {
		t.Fatal(err)
	}
	type key struct{}
	handler := Handler(Config{
		Missions: b, Registry: catalogue, Files: request.Reader{Media: files{}}, Budget: func(context.Context) runs.Budget { return runs.Budget{} },
		Caller: func(ctx context.Context) (users.Account, bool) {
			name, _ := ctx.Value(key{}).(string)
			return users.Account{ID: name}, name != ""
		},
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, r.Header.Get("X-Caller"))))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// files has none.
type files struct{}

func (files) OpenMedia(context.Context, registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	return nil, registry.MediaInfo{}, errors.New("not there")
}

func (files) OwnFiles(context.Context, string, registry.Tool, registry.InputField, any) error {
	return nil
}

func (files) PutMedia(context.Context, string, io.Reader, string) (registry.Media, registry.MediaInfo, error) {
	return "", registry.MediaInfo{}, errors.New("not there")
}

func call(t *testing.T, method, url, caller, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Caller", caller)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestMissions(t *testing.T) {
	t.Parallel()
	b := newBook()
	url := serve(t, b) + "/api/missions"
	t.Run("C46 a mission shows what could not be taken back, with reference and whom to turn to", func(t *testing.T) {
		status, body := call(t, "GET", url+"/m1", "ann", "")
		for _, part := range []string{`"missionId":"m1"`, `"status":"awaiting_confirmation"`, `"hash":"h"`, `"totals":{"USD":"0.02"}`, `"seed":18446744073709551615`, `"quoteNanoUsd":{"low":1,"high":2}`,
			`"unresolved":[{"order":1,"summary":"Flight","reference":"QX7K2P","why":"exhausted","escalationUrl":"https://agency.example/help"}]`} {
			if status != http.StatusOK || !strings.Contains(body, part) {
				t.Errorf("%d, no %s in %s", status, part, body)
			}
		}
	})
	t.Run("a draft is read strictly, with its references and numbers as they are", func(t *testing.T) {
		status, body := call(t, "POST", url, "ann", `{"title":"Trip","legs":[{"tool":"look","order":1,"inputs":{"image":{"$output":{"leg":1,"name":"image"}},"n":18446744073709551615},"depends_on":[]},{"tool":"x","order":2}]}`)
		if status != http.StatusCreated || len(b.drafts) != 1 {
			t.Fatalf("%d, %s", status, body)
		}
		d := b.drafts[0]
		if d.Legs[0].DependsOn == nil || d.Legs[1].DependsOn != nil || d.Legs[0].Inputs["n"] != json.Number("18446744073709551615") {
			t.Errorf("read %+v", d)
		}
	})
	for name, c := range map[string]struct {
		method, path, caller, body string
		status                     int
		says                       string
	}{
		"nobody":                   {"GET", "/m1", "", "", 401, ""},
		"somebody else":            {"GET", "/m1", "bob", "", 404, ""},
		"else's events":            {"GET", "/m1/events", "bob", "", 404, ""},
		"else confirms":            {"POST", "/m1/confirm", "bob", `{"hash":"h"}`, 404, ""},
		"else cancels":             {"POST", "/m1/cancel", "bob", "", 404, ""},
		"another hash":             {"POST", "/m1/confirm", "ann", `{"hash":"x"}`, 409, "summary-hash-mismatch"},
		"no hash":                  {"POST", "/m1/confirm", "ann", `{}`, 409, "summary-hash-mismatch"},
		"an unknown member":        {"POST", "", "ann", `{"titel":"x"}`, 422, "titel"},
		"a file that is not there": {"POST", "", "ann", `{"title":"x","legs":[{"tool":"look","order":1,"inputs":{"image":"asset:` + strings.Repeat("a", 64) + `"}}]}`, 422, "no such file"},
	} {
		if status, body := call(t, c.method, url+c.path, c.caller, c.body); status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d, %s", name, status, body)
		}
	}
	t.Run("a request that names a model confirms nothing", func(t *testing.T) {
		if status, body := call(t, "POST", url+"/m1/confirm", "ann", `{"hash":"h"}`, "X-Planner-Provider", "anthropic"); status != http.StatusForbidden {
			t.Errorf("%d, %s", status, body)
		}
	})
	if _, body := call(t, "GET", url, "bob", ""); !strings.Contains(body, `"missions":[]`) {
		t.Errorf("bob sees %s", body)
	}
	if status, body := call(t, "POST", url+"/m1/confirm", "ann", `{"hash":"h"}`); status != http.StatusOK || !strings.Contains(body, `"status":"running"`) {
		t.Errorf("%d, %s", status, body)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	b := newBook()
	url := serve(t, b) + "/api/missions/m1/events"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Caller", "ann")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var told []string
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var m struct{ Status missions.Status }
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				t.Fatal(err)
			}
			told = append(told, string(m.Status))
			switch m.Status {
			case missions.AwaitingConfirmation:
				b.becomes(missions.Running)
			case missions.Running:
				b.becomes(missions.Succeeded)
			}
		}
	}
	if got := strings.Join(told, " "); got != "awaiting_confirmation running succeeded" {
		t.Errorf("told %q", got)
	}
}
