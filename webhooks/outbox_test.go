package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/registry"
)

// office is an outbox with all that it needs.
type office struct {
	*Outbox
	pool    *pgxpool.Pool
	clock   *clocktest.Manual
	log     *transcript
	account uuid.UUID

	mu   sync.Mutex
	told []string
}

func newOffice(t *testing.T, pool *pgxpool.Pool) *office {
	t.Helper()
	if pool == nil {
		pool = postgrestest.New(t)
	}
	f := &office{pool: pool, clock: newClock(), log: &transcript{}, account: uuid.New()}
	f.Outbox = f.open(t)
	return f
}

// open makes another outbox on the same database, as a restart or another machine does.
func (f *office) open(t *testing.T) *Outbox {
	t.Helper()
	o, err := NewOutbox(OutboxConfig{
		Pool: f.pool, Key: bytes.Repeat([]byte{9}, 32), Hooks: outbound.NewHooks([]string{"127.0.0.1"}, time.Minute), Now: f.clock.Now, Poll: 5 * time.Millisecond,
		Data: func(_ context.Context, run string) (json.RawMessage, error) {
			return json.Marshal(map[string]any{"runId": run, "status": "succeeded"})
		},
		Tell: func(_ context.Context, account, text string) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.told = append(f.told, account+" "+text)
			return nil
		},
		Logger: slog.New(slog.NewTextHandler(f.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (f *office) start(t *testing.T) *office {
	t.Helper()
	begin(t, f.Outbox)
	return f
}

func begin(t *testing.T, o *Outbox) {
	t.Helper()
	if err := o.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Stop(context.Background()) })
}

// program is an endpoint that remembers what it got.
type program struct {
	*httptest.Server
	mu     sync.Mutex
	got    []delivery
	answer func(w http.ResponseWriter, r *http.Request, n int)
}

type delivery struct {
	header http.Header
	body   []byte
	at     time.Time
}

// newProgram answers 204 unless answer, with the number of the request from 1, says otherwise.
func newProgram(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) *program {
	t.Helper()
	p := &program{answer: answer}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.got = append(p.got, delivery{r.Header, body, time.Now()})
		n := len(p.got)
		p.mu.Unlock()
		if p.answer != nil {
			p.answer(w, r, n)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(func() {
		p.CloseClientConnections() // who hangs would wait for the outbox to give up
		p.Close()
	})
	return p
}

func (p *program) all() []delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

func status(code int) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(code) }
}

func (f *office) endpoint(t *testing.T, address string, adapt func(*Endpoint)) (id, secret string) {
	t.Helper()
	e := Endpoint{AccountID: f.account, URL: address}
	if adapt != nil {
		adapt(&e)
	}
	made, secret, err := f.Create(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID.String(), secret
}

// tell adds a message to an endpoint as the change of a run does.
func (f *office) tell(t *testing.T, endpoint, subject string, sequence int) string {
	t.Helper()
	var id string
	err := f.pool.QueryRow(t.Context(), `INSERT INTO webhook_messages (endpoint_id, type, subject, sequence, created_at, next_at) VALUES ($1, $2, $3, $4, $5, $5) RETURNING id::text`,
		endpoint, EventFinished, subject, sequence, f.clock.Now()).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (f *office) messages(t *testing.T, endpoint, status string) []Message {
	t.Helper()
	list, err := f.Messages(t.Context(), f.account.String(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(m Message) bool { return status != "" && m.Status != status })
}

func (f *office) get(t *testing.T, endpoint string) Endpoint {
	t.Helper()
	e, err := f.Endpoint(t.Context(), f.account.String(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (f *office) tried(t *testing.T, endpoint, message string, n int) []Attempt {
	t.Helper()
	var list []Attempt
	clocktest.Until(t, fmt.Sprintf("%d attempts", n), func() bool {
		var err error
		list, err = f.Attempts(t.Context(), f.account.String(), endpoint, message)
		return err == nil && len(list) >= n
	})
	return list
}

func TestSend(t *testing.T) {
	t.Parallel()
	t.Run("W21 A92 the headers and body are those of Standard Webhooks", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		p := newProgram(t, func(w http.ResponseWriter, _ *http.Request, n int) { w.WriteHeader([]int{500, 204}[min(n-1, 1)]) })
		id, secret := f.endpoint(t, p.URL, nil)
		message := f.tell(t, id, "run-1", 1)
		f.tried(t, id, message, 1)
		f.clock.Advance(10 * time.Second)
		f.tried(t, id, message, 2)
		got := p.all()
		key, err := signature.ParseSecret(secret)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range got {
			msg, err := signature.Standard(d.header, d.body, f.clock.Now(), [][]byte{key})
			if err != nil {
				t.Error(err)
			}
			ids = append(ids, msg)
		}
		if len(ids) != 2 || ids[0] != ids[1] || got[0].header.Get("Webhook-Timestamp") == got[1].header.Get("Webhook-Timestamp") {
			t.Errorf("ids %v, first headers %v", ids, got[0].header)
		}
		var body struct {
			Type, Timestamp string
			Sequence        int
			Data            map[string]any
		}
		if err := json.Unmarshal(got[0].body, &body); err != nil || body.Type != "run.finished" || body.Sequence != 1 || body.Data["runId"] != "run-1" || !bytes.Equal(got[0].body, got[1].body) {
			t.Errorf("%s (%v)", got[0].body, err)
		}
		if _, err := time.Parse(time.RFC3339Nano, body.Timestamp); err != nil {
			t.Error(err)
		}
	})
	t.Run("W21 what is larger than 20 KiB is told in short", func(t *testing.T) {
		t.Parallel()
		long, err := json.Marshal(map[string]any{"runId": "r", "status": "succeeded", "inputs": strings.Repeat("x", 30<<10)})
		if err != nil {
			t.Fatal(err)
		}
		f := newOffice(t, nil)
		f.cfg.Data = func(context.Context, string) (json.RawMessage, error) { return long, nil }
		f.start(t)
		p := newProgram(t, nil)
		id, _ := f.endpoint(t, p.URL, nil)
		f.tell(t, id, "run-1", 1)
		clocktest.Until(t, "it is told", func() bool { return len(p.all()) == 1 })
		if body := p.all()[0].body; len(body) > maxPayload || !bytes.Contains(body, []byte(`"shortened":true`)) || !bytes.Contains(body, []byte(`"runId":"r"`)) {
			t.Errorf("%.300s", body)
		}
	})
	t.Run("W22 a secret is made by us, told once, kept encrypted, and of one endpoint only", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		one, first := f.endpoint(t, "https://example.com/1", nil)
		_, second := f.endpoint(t, "https://example.com/2", nil)
		raw, err := signature.ParseSecret(first)
		if err != nil || len(raw) != 32 || first == second {
			t.Errorf("%s, %s, %v", first, second, err)
		}
		var sealed []byte
		if err := f.pool.QueryRow(t.Context(), `SELECT secret FROM webhook_endpoints WHERE id = $1`, one).Scan(&sealed); err != nil || bytes.Contains(sealed, raw) {
			t.Errorf("the secret is stored as it is (%v)", err)
		}
		if _, err := f.seal.Open(sealed, uuid.NewString()); err == nil {
			t.Error("another endpoint's secret can be opened")
		}
		if strings.Contains(fmt.Sprintf("%+v", f.get(t, one)), first) || strings.Contains(f.log.String(), first) {
			t.Error("the secret is told again")
		}
	})
	t.Run("W5 W21 while a secret is replaced both sign, for a day", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		p := newProgram(t, nil)
		id, first := f.endpoint(t, p.URL, nil)
		second, err := f.Rotate(t.Context(), f.account.String(), id)
		if err != nil {
			t.Fatal(err)
		}
		signedBy := func(d delivery, secret string) bool {
			key, _ := signature.ParseSecret(secret)
			_, err := signature.Standard(d.header, d.body, f.clock.Now(), [][]byte{key})
			return err == nil
		}
		f.tell(t, id, "run-1", 1)
		clocktest.Until(t, "it is told", func() bool { return len(p.all()) == 1 })
		if d := p.all()[0]; !signedBy(d, first) || !signedBy(d, second) {
			t.Errorf("signed as %v", d.header)
		}
		f.clock.Advance(overlap)
		f.tell(t, id, "run-2", 1)
		clocktest.Until(t, "it is told", func() bool { return len(p.all()) == 2 })
		if d := p.all()[1]; signedBy(d, first) || !signedBy(d, second) {
			t.Errorf("signed as %v", d.header)
		}
	})
	t.Run("W23 only 2xx is success, redirects are not followed, and of the answer the first kilobyte is kept", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		other := newProgram(t, nil)
		for _, code := range []int{http.StatusOK, http.StatusAccepted, http.StatusFound, http.StatusTemporaryRedirect, http.StatusNotFound, http.StatusInternalServerError} {
			p := newProgram(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Location", other.URL)
				w.WriteHeader(code)
				io.WriteString(w, strings.Repeat("é", 100<<10))
			})
			id, _ := f.endpoint(t, p.URL, nil)
			a := f.tried(t, id, f.tell(t, id, "run", 1), 1)[0]
			if delivered := len(f.messages(t, id, "delivered")) == 1; delivered != (code < 300) || a.Status != code || (a.Error == "") != (code < 300) || len(a.Answer) != 1024 {
				t.Errorf("%d: delivered %v, %d %q, %d bytes", code, delivered, a.Status, a.Error, len(a.Answer))
			}
			if err := f.Delete(t.Context(), f.account.String(), id); err != nil {
				t.Error(err)
			}
		}
		if len(other.all()) != 0 {
			t.Error("a redirect was followed")
		}
	})
	t.Run("W24 an endpoint that does not answer in time has failed", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		f.cfg.Hooks = outbound.NewHooks([]string{"127.0.0.1"}, 300*time.Millisecond) // here only: a slow machine's answers take longer, too
		f.start(t)
		p := newProgram(t, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
		id, _ := f.endpoint(t, p.URL, nil)
		a := f.tried(t, id, f.tell(t, id, "run", 1), 1)[0]
		if a.Status != 0 || a.TookMs > 5000 || strings.Contains(a.Error, p.URL) {
			t.Errorf("%+v", a)
		}
		if SendTimeout != 15*time.Second {
			t.Errorf("by default %s", SendTimeout)
		}
	})
	t.Run("W27 an address that leads inside is refused when it is given and when it is sent to", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		_, _, err := f.Create(t.Context(), Endpoint{AccountID: f.account, URL: "https://169.254.169.254/latest"})
		var refused *registry.Error
		if !errors.As(err, &refused) || refused.Code != registry.CodeInvalidInput || refused.Field != "url" {
			t.Errorf("%v", err)
		}
		id, _ := f.endpoint(t, "https://example.com/", nil)
		if _, err := f.pool.Exec(t.Context(), `UPDATE webhook_endpoints SET url = 'https://10.0.0.1/'`); err != nil {
			t.Fatal(err)
		}
		if a := f.tried(t, id, f.tell(t, id, "run", 1), 1)[0]; a.Status != 0 || !strings.Contains(a.Error, "not public") {
			t.Errorf("%+v", a)
		}
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	t.Run("W25 ten attempts over three days, with jitter, also across restarts", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		p := newProgram(t, status(http.StatusInternalServerError))
		id, _ := f.endpoint(t, p.URL, nil)
		message := f.tell(t, id, "run", 1)
		total := time.Duration(0)
		for n := 1; n <= 10; n++ {
			o := f.open(t) // each attempt by a program that was started anew
			begin(t, o)
			f.tried(t, id, message, n)
			o.Stop(t.Context())
			if n == 10 {
				break
			}
			m := f.messages(t, id, "pending")[0]
			pause, want := m.NextAt.Sub(f.clock.Now()), retries[n-1]
			if pause < want*9/10-time.Millisecond || pause > want*11/10+time.Millisecond {
				t.Errorf("after attempt %d it waits %s, want about %s", n, pause, want)
			}
			total += want
			f.clock.Advance(pause)
		}
		if m := f.messages(t, id, "failed"); len(m) != 1 || total != 75*time.Hour+35*time.Minute+5*time.Second {
			t.Errorf("in the end %+v after %s", f.messages(t, id, ""), total)
		}
	})
	t.Run("W25 what a program was sending when it ended is sent by the next one within half a minute", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		gone := f.open(t)
		p := newProgram(t, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				go gone.Stop(context.Background()) // it gives up without a word, as one that is killed
				<-r.Context().Done()
			}
		})
		id, _ := f.endpoint(t, p.URL, nil)
		f.tell(t, id, "run", 1)
		begin(t, gone)
		clocktest.Until(t, "it has ended in the middle", func() bool { return len(p.all()) == 1 && gone.room() == endpointsAtOnce })
		f.start(t).clock.Advance(30 * time.Second)
		clocktest.Until(t, "it is told", func() bool { return len(f.messages(t, id, "delivered")) == 1 })
	})
	t.Run("W25 Retry-After wins when it is later, up to a day", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		now := f.clock.Now()
		for value, want := range map[string]time.Duration{
			"120": 2 * time.Minute, "1": 5 * time.Second, "": 5 * time.Second, "nonsense": 5 * time.Second, "-5": 5 * time.Second, "999999999": 24 * time.Hour,
			now.Add(time.Hour).UTC().Format(http.TimeFormat): time.Hour, now.Add(-time.Hour).UTC().Format(http.TimeFormat): 5 * time.Second,
		} {
			p := newProgram(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Retry-After", value)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			id, _ := f.endpoint(t, p.URL, nil)
			f.tell(t, id, "run", 1)
			if err := f.sendDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.work.Wait()
			if wait := f.messages(t, id, "pending")[0].NextAt.Sub(now); wait < want*9/10-time.Second || wait > want*11/10+time.Second {
				t.Errorf("Retry-After %q: it waits %s, want about %s", value, wait, want)
			}
			if err := f.Delete(t.Context(), f.account.String(), id); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("W26 410 disables an endpoint at once, its owner is told, and what comes meanwhile is kept", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		p := newProgram(t, func(w http.ResponseWriter, _ *http.Request, n int) { w.WriteHeader([]int{410, 204}[min(n-1, 1)]) })
		id, _ := f.endpoint(t, p.URL, nil)
		f.tell(t, id, "run-1", 1)
		clocktest.Until(t, "it is disabled", func() bool { return f.get(t, id).DisabledAt != nil })
		clocktest.Until(t, "the owner is told", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.told) == 1 })
		if !strings.HasPrefix(f.told[0], f.account.String()) || !strings.Contains(f.told[0], "410") {
			t.Error(f.told)
		}
		f.tell(t, id, "run-2", 1)
		f.clock.Advance(time.Hour)
		other := f.open(t) // another process: the first looks by itself at the same time
		err := other.sendDue(t.Context())
		other.work.Wait()
		if err != nil || len(p.all()) != 1 {
			t.Errorf("a disabled endpoint got %d (%v)", len(p.all()), err)
		}
		if err := f.Enable(t.Context(), f.account.String(), id); err != nil {
			t.Fatal(err)
		}
		clocktest.Until(t, "it gets what it missed", func() bool { return len(f.messages(t, id, "delivered")) == 2 })
	})
	t.Run("W26 an endpoint that its owner has paused is told nothing, and then what it missed", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		p := newProgram(t, nil)
		id, _ := f.endpoint(t, p.URL, nil)
		pass := func() {
			if err := f.sendDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.work.Wait()
		}
		if err := f.Disable(t.Context(), f.account.String(), id); err != nil {
			t.Fatal(err)
		}
		f.tell(t, id, "run-1", 1)
		pass()
		if e := f.get(t, id); len(p.all()) != 0 || e.DisabledAt == nil || e.DisabledReason != DisabledByOwner {
			t.Errorf("%d messages came; the endpoint is %+v", len(p.all()), e)
		}
		if err := f.Enable(t.Context(), f.account.String(), id); err != nil {
			t.Fatal(err)
		}
		pass()
		if len(p.all()) != 1 || f.get(t, id).DisabledAt != nil {
			t.Errorf("%d messages came after it", len(p.all()))
		}
		if _, err := f.pool.Exec(t.Context(), `UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'it answered 410 Gone'`); err != nil {
			t.Fatal(err)
		}
		if err := f.Disable(t.Context(), f.account.String(), id); err != nil || f.get(t, id).DisabledReason != "it answered 410 Gone" {
			t.Errorf("the reason is lost: %+v, %v", f.get(t, id), err)
		}
		if err := f.Disable(t.Context(), uuid.NewString(), id); !errors.Is(err, ErrNoEndpoint) {
			t.Errorf("somebody else's: %v", err)
		}
	})
	t.Run("W26 so do 120 hours in which nothing gets through", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		p := newProgram(t, status(http.StatusInternalServerError))
		id, _ := f.endpoint(t, p.URL, nil)
		f.tried(t, id, f.tell(t, id, "run-1", 1), 1)
		f.clock.Advance(disableAfter - time.Hour)
		f.tried(t, id, f.tell(t, id, "run-2", 1), 1)
		if f.get(t, id).DisabledAt != nil {
			t.Error("disabled too early")
		}
		f.clock.Advance(time.Hour)
		f.tell(t, id, "run-3", 1)
		clocktest.Until(t, "it is disabled", func() bool { return f.get(t, id).DisabledAt != nil })
		clocktest.Until(t, "the owner is told", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.told) == 1 })
	})
	t.Run("W26 an endpoint that is overwhelmed is left alone for a while", func(t *testing.T) {
		t.Parallel()
		for _, code := range []int{429, 502, 504} {
			f := newOffice(t, nil)
			p := newProgram(t, status(code))
			id, _ := f.endpoint(t, p.URL, nil)
			pass := func() {
				if err := f.sendDue(t.Context()); err != nil {
					t.Fatal(err)
				}
				f.work.Wait()
			}
			f.tell(t, id, "run-1", 1)
			pass()
			f.tell(t, id, "run-2", 1)
			pass()
			if n := len(p.all()); n != 1 {
				t.Errorf("%d: it got %d requests at once", code, n)
			}
			f.clock.Advance(pauseBase)
			pass()
			if n := len(p.all()); n < 2 {
				t.Errorf("%d: it got %d requests after the pause", code, n)
			}
		}
	})
	t.Run("W26 dead endpoints hold up no others", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		dead := newProgram(t, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
		live := newProgram(t, nil)
		var sick []string
		for range 5 {
			id, _ := f.endpoint(t, dead.URL, nil)
			sick = append(sick, id)
		}
		well, _ := f.endpoint(t, live.URL, nil)
		var sent []time.Time
		round := func() (late int) {
			before := len(sent)
			for n := before; n < before+100; n++ {
				for _, id := range sick {
					f.tell(t, id, fmt.Sprint("run-", n), 1)
				}
				sent = append(sent, time.Now())
				f.tell(t, well, fmt.Sprint("run-", n), 1)
			}
			clocktest.Until(t, "all are told", func() bool { return len(live.all()) == len(sent) })
			for _, d := range live.all() {
				var body struct{ Data struct{ RunID string } }
				var n int
				if err := json.Unmarshal(d.body, &body); err != nil {
					t.Fatal(err)
				}
				fmt.Sscanf(body.Data.RunID, "run-%d", &n)
				if n >= before && d.at.Sub(sent[n]) > time.Second {
					late++
				}
			}
			return late
		}
		// More than once only where the machine itself stood still for a second; a queue that waits for the dead is late each time.
		late := round()
		for tries := 1; tries < 3 && late > 1; tries++ {
			late = round()
		}
		if late > 1 {
			t.Errorf("%d of 100 came more than a second late", late)
		}
	})
}

func TestOrder(t *testing.T) {
	t.Parallel()
	t.Run("W28 in ordered mode what is later of one run waits for what is earlier, until that is given up", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		p := newProgram(t, status(http.StatusInternalServerError))
		id, _ := f.endpoint(t, p.URL, func(e *Endpoint) { e.Ordered = true })
		f.tell(t, id, "run-1", 1)
		f.tell(t, id, "run-1", 2)
		f.tell(t, id, "run-2", 1)
		pass := func() {
			if err := f.sendDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.work.Wait()
		}
		for range 10 {
			pass()
			for _, m := range f.messages(t, id, "") {
				if m.Sequence == 2 && m.Attempts > 0 {
					t.Fatalf("the second was tried before the first was done: %+v", m)
				}
			}
			f.clock.Advance(27 * time.Hour)
			if _, err := f.pool.Exec(t.Context(), `UPDATE webhook_endpoints SET failing_since = NULL, disabled_at = NULL, disabled_reason = ''`); err != nil {
				t.Fatal(err)
			}
		}
		p.answer = nil
		pass()
		if done := f.messages(t, id, "delivered"); len(done) != 1 || done[0].Sequence != 2 {
			t.Errorf("%+v", f.messages(t, id, ""))
		}
	})
	t.Run("W29 one message is told again, and all since a time, under their ids; the log lasts thirty days", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		p := newProgram(t, nil)
		id, _ := f.endpoint(t, p.URL, nil)
		account := f.account.String()
		first := f.tell(t, id, "run-1", 1)
		f.tried(t, id, first, 1)
		if err := f.Resend(t.Context(), account, id, first); err != nil {
			t.Fatal(err)
		}
		f.tried(t, id, first, 2)
		clocktest.Until(t, "it is done", func() bool { return len(f.messages(t, id, "delivered")) == 1 })
		if got := p.all(); got[0].header.Get("Webhook-Id") != got[1].header.Get("Webhook-Id") {
			t.Error("the ids differ")
		}
		since := f.clock.Now()
		second, third := f.tell(t, id, "run-2", 1), f.tell(t, id, "run-3", 1)
		f.tried(t, id, second, 1)
		f.tried(t, id, third, 1)
		if _, err := f.pool.Exec(t.Context(), `UPDATE webhook_messages SET status = 'failed', ended_at = now() WHERE id <> $1`, second); err != nil {
			t.Fatal(err)
		}
		if _, err := f.pool.Exec(t.Context(), `UPDATE webhook_messages SET created_at = created_at - interval '1 hour' WHERE id = $1`, first); err != nil {
			t.Fatal(err)
		}
		if n, err := f.Recover(t.Context(), account, id, since); n != 1 || err != nil {
			t.Errorf("%d were told again (%v)", n, err)
		}
		f.tried(t, id, third, 2)
		for what, err := range map[string]error{
			"resend":  f.Resend(t.Context(), uuid.NewString(), id, first),
			"delete":  f.Delete(t.Context(), uuid.NewString(), id),
			"enable":  f.Enable(t.Context(), account, "x"),
			"recover": func() error { _, err := f.Recover(t.Context(), uuid.NewString(), id, since); return err }(),
			"test":    func() error { _, err := f.Test(t.Context(), uuid.NewString(), id); return err }(),
			"rotate":  func() error { _, err := f.Rotate(t.Context(), uuid.NewString(), id); return err }(),
		} {
			if !errors.Is(err, ErrNoEndpoint) {
				t.Errorf("%s for a stranger gives %v", what, err)
			}
		}
		f.clock.Advance(keepMessages - time.Minute)
		if err := f.prune(t.Context()); err != nil || len(f.messages(t, id, "")) != 2 {
			t.Errorf("after less than 30 days %+v (%v)", f.messages(t, id, ""), err)
		}
		f.clock.Advance(2 * time.Minute)
		if err := f.prune(t.Context()); err != nil || len(f.messages(t, id, "")) != 0 {
			t.Errorf("after 30 days %+v (%v)", f.messages(t, id, ""), err)
		}
	})
	t.Run("W29 the latest messages come with their last five attempts, each with its own", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		p := newProgram(t, func(w http.ResponseWriter, _ *http.Request, n int) { w.WriteHeader(500 + n%7) })
		id, _ := f.endpoint(t, p.URL, nil)
		account := f.account.String()
		first := f.tell(t, id, "run-1", 1)
		for range 7 {
			if err := f.Resend(t.Context(), account, id, first); err != nil {
				t.Fatal(err)
			}
			f.clock.Advance(10 * time.Minute) // over a pause of the endpoint
			if err := f.sendDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.work.Wait()
		}
		second := f.tell(t, id, "run-2", 1)
		list, err := f.Deliveries(t.Context(), account, id, 20)
		if err != nil || len(list) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		if list[0].ID.String() != second || len(list[0].Tries) != 0 || list[1].ID.String() != first || len(list[1].Tries) != 5 {
			t.Errorf("%+v", list)
		}
		for i, try := range list[1].Tries {
			if want := 500 + (i+3)%7; try.Status != want {
				t.Errorf("attempt %d of the last five: %d, want %d", i, try.Status, want)
			}
		}
		if list, err := f.Deliveries(t.Context(), account, id, 1); err != nil || len(list) != 1 || list[0].ID.String() != second {
			t.Errorf("the latest one: %+v, %v", list, err)
		}
		if _, err := f.Deliveries(t.Context(), uuid.NewString(), id, 20); !errors.Is(err, ErrNoEndpoint) {
			t.Errorf("somebody else's: %v", err)
		}
	})
	t.Run("what is asked for again while it is being sent is sent again", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		var id, message string
		p := newProgram(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n == 1 {
				if err := f.Resend(context.Background(), f.account.String(), id, message); err != nil {
					t.Error(err)
				}
			}
			w.WriteHeader(http.StatusOK)
		})
		id, _ = f.endpoint(t, p.URL, nil)
		if err := f.pool.QueryRow(t.Context(), `INSERT INTO webhook_messages (endpoint_id, type, subject, sequence, created_at, next_at)
			VALUES ($1, 'x', 'run', 1, $2, 'infinity') RETURNING id::text`, id, f.clock.Now()).Scan(&message); err != nil {
			t.Fatal(err)
		}
		if _, err := f.pool.Exec(t.Context(), `UPDATE webhook_messages SET next_at = $1`, f.clock.Now()); err != nil {
			t.Fatal(err)
		}
		f.tried(t, id, message, 2)
		clocktest.Until(t, "it is done", func() bool { return len(f.messages(t, id, "delivered")) == 1 })
	})
	t.Run("a test, when its owner asks for one", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil).start(t)
		p := newProgram(t, nil)
		id, _ := f.endpoint(t, p.URL, nil)
		for range 2 {
			if _, err := f.Test(t.Context(), f.account.String(), id); err != nil {
				t.Fatal(err)
			}
		}
		clocktest.Until(t, "it is told", func() bool { return len(p.all()) == 2 })
	})
	t.Run("an account has at most ten endpoints, and asks for events that there are", func(t *testing.T) {
		t.Parallel()
		f := newOffice(t, nil)
		for range maxEndpoints {
			f.endpoint(t, "https://example.com", nil)
		}
		for _, e := range []Endpoint{{URL: "https://example.com"}, {URL: "https://example.com", Events: []string{"run.*"}}, {URL: "https://example.com/" + strings.Repeat("x", maxURL)}} {
			e.AccountID = f.account
			var refused *registry.Error
			if _, _, err := f.Create(t.Context(), e); !errors.As(err, &refused) {
				t.Errorf("%.50s %v: %v", e.URL, e.Events, err)
			}
		}
	})
}

func TestRunsAreTold(t *testing.T) {
	t.Parallel()
	t.Run("W28 A92 a run tells when it starts, goes on and ends, with rising sequence, in the transaction that changes it", func(t *testing.T) {
		t.Parallel()
		l := newLife(t, 5*time.Millisecond, 0)
		f := newOffice(t, l.pool).start(t)
		f.clock.Advance(time.Hour) // the database tells the time of messages
		p := newProgram(t, nil)
		run := l.accept(t)
		f.account = uuid.MustParse(run.AccountID)
		id, _ := f.endpoint(t, p.URL, func(e *Endpoint) { e.Events = []string{EventStarted, EventProgress, EventFinished} })
		l.provider.Report(run.ID, registry.Progress{State: registry.RunRunning, Fraction: 0.25, HasFraction: true})
		clocktest.Until(t, "the start is told", func() bool { return strings.Contains(fmt.Sprint(f.messages(t, id, "")), EventStarted) })
		l.provider.Report(run.ID, registry.Progress{State: registry.RunRunning, Fraction: 0.5, HasFraction: true})
		clocktest.Until(t, "progress is told", func() bool { return strings.Contains(fmt.Sprint(f.messages(t, id, "")), EventProgress) })
		l.provider.Finish(run.ID, registry.Usage{})
		clocktest.Until(t, "the end is told", func() bool { return strings.Contains(fmt.Sprint(f.messages(t, id, "delivered")), EventFinished) })
		last := int64(1 << 30)
		for _, m := range f.messages(t, id, "") { // newest first
			if m.Sequence >= last || m.Subject != run.ID {
				t.Errorf("%+v", m)
			}
			last = m.Sequence
		}
		if last != 1 {
			t.Errorf("the first has the number %d", last)
		}
		other := l.accept(t) // of an account without endpoints
		l.provider.Finish(other.ID, registry.Usage{})
		clocktest.Until(t, "it ends", func() bool { r, err := l.runs.Get(t.Context(), other.ID); return err == nil && r.Status.Final() })
		if strings.Contains(fmt.Sprint(f.messages(t, id, "")), other.ID) {
			t.Error("a stranger's run was told")
		}
	})
}

func TestRunsTellFromTheFirstEndpointOn(t *testing.T) {
	t.Parallel()
	f := newOffice(t, nil)
	listens := func() (there bool) {
		err := f.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'runs'::regclass AND tgname = 'webhook_tell')`).Scan(&there)
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	if listens() {
		t.Error("runs tell while nobody listens")
	}
	var wait sync.WaitGroup
	for n := range 6 {
		wait.Go(func() {
			if _, _, err := f.Create(t.Context(), Endpoint{AccountID: uuid.New(), URL: fmt.Sprintf("http://127.0.0.1:%d/", 9000+n)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if !listens() {
		t.Error("runs don't tell, while six listen")
	}
}
