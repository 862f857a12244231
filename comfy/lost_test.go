package comfy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
)

// noted are the tickets that a caller was told before anything was sent.
type noted struct {
	mu  sync.Mutex
	all []registry.Ticket
	err error
}

func (n *noted) sending(_ context.Context, t registry.Ticket) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, t)
	return n.err
}

func TestWhereACallWent(t *testing.T) {
	t.Parallel()
	t.Run("the engine is noted before the prompt is sent, and nothing is sent without", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		c, n := w.call(tool, nil), &noted{err: context.DeadlineExceeded}
		c.Sending = n.sending
		if _, err := w.provider.Submit(t.Context(), c); err == nil || s.Runs("") != 0 {
			t.Errorf("%v, %d runs", err, s.Runs(""))
		}
		n.err = nil
		ticket := w.submit(t, c)
		if len(n.all) != 2 || n.all[1].Endpoint != s.URL().Host || n.all[1].ProviderID != ticket.ProviderID {
			t.Errorf("%+v", n.all)
		}
	})
	t.Run("only that engine is asked after a crash, though another one is down", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, a, b)
		c, n := w.call(tool, nil), &noted{}
		c.Sending = n.sending
		ticket := w.submit(t, c)
		had, other := a, b
		if ticket.Endpoint != a.URL().Host {
			had, other = b, a
		}
		other.Down()
		c.Repeated, c.Sent = true, &n.all[0]
		if again := w.submit(t, c); again.Endpoint != ticket.Endpoint || had.Runs("") != 1 {
			t.Errorf("%+v, %d runs", again, had.Runs(""))
		}
		had.Down()
		_, err := w.provider.Submit(t.Context(), c)
		if e := failure(t, err, registry.CodeUnavailable, true); !e.Wait {
			t.Error("it counts as a try")
		}
	})
	t.Run("an engine that can't be reached has nothing: another is taken, and its note goes", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, s)
		closed, _ := url.Parse("http://127.0.0.1:1") // nobody listens there
		w.fleet = comfy.NewFleet([]*url.URL{closed, s.URL()}, comfy.FleetConfig{})
		w.fleet.Refresh(t.Context())
		w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader})
		c, n := w.call(tool, nil), &noted{}
		c.Sending = n.sending
		if ticket := w.submit(t, c); ticket.Endpoint != s.URL().Host {
			t.Errorf("%+v", ticket)
		}
		lone := comfy.NewFleet([]*url.URL{closed}, comfy.FleetConfig{})
		lone.Refresh(t.Context())
		w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: lone, Workflows: w.loader})
		_, err := w.provider.Submit(t.Context(), c)
		if e := failure(t, err, registry.CodeUnavailable, true); !e.Wait {
			t.Error("it counts as a try")
		}
	})
	t.Run("encryption that can't be agreed on is no connection", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		secret := *s.URL()
		secret.Scheme = "https"
		_, err := api.New(&secret, nil).Submit(t.Context(), nil, api.SubmitOptions{PromptID: "x"})
		if err == nil || !strings.Contains(err.Error(), "can't be reached") {
			t.Error(err)
		}
	})
}

// An engine that takes the connection and never agrees on the encryption is down, and has been sent nothing.
func TestAnEngineWhoseHandshakeNeverEnds(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	transport := api.NewTransport()
	if limit := transport.TLSHandshakeTimeout; limit <= 0 || limit > 10*time.Second {
		t.Errorf("it is waited for for %s", limit)
	}
	transport.TLSHandshakeTimeout = 50 * time.Millisecond
	address := &url.URL{Scheme: "https", Host: silent.Addr().String()}
	client := &http.Client{Transport: transport}
	if _, err := api.New(address, client).Submit(t.Context(), nil, api.SubmitOptions{PromptID: "x"}); !errors.Is(err, api.ErrUnreached) {
		t.Errorf("got %v; expected that nothing was sent", err)
	}
	f := comfy.NewFleet([]*url.URL{address}, comfy.FleetConfig{HTTPClient: client})
	f.Refresh(t.Context())
	if s := f.Status()[0]; s.Up || !strings.Contains(s.Error, "handshake") || strings.Contains(s.Error, "\n") {
		t.Errorf("the operator is told %+v", s)
	}
}

// slow is a network on which every answer takes 8 s of a time that does not pass: a request whose context ends before fails.
type slow struct {
	http.RoundTripper
	mu    sync.Mutex
	spent map[time.Time]time.Duration // by the deadline of those who ask
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/ws" {
		return s.RoundTripper.RoundTrip(r)
	}
	if end, limited := r.Context().Deadline(); limited {
		s.mu.Lock()
		s.spent[end] += 8 * time.Second
		late := time.Until(end) < s.spent[end]
		s.mu.Unlock()
		if late {
			return nil, context.DeadlineExceeded
		}
	}
	return s.RoundTripper.RoundTrip(r)
}

func TestAnEngineThatAnswersLate(t *testing.T) {
	t.Parallel()
	t.Run("is up, and gets a run once, though the answer is lost", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		client := &http.Client{Transport: &slow{RoundTripper: transport, spent: map[time.Time]time.Duration{}}}
		w := newWorldBy(t, client, newFolder(map[string]string{"it.json": plainFlow}), s)
		s.On("POST /prompt", 1, comfytest.CutAfter)
		c, n := w.call(w.tools["it"], nil), &noted{}
		c.Sending = n.sending
		if p := w.poll(t, w.submit(t, c)); p.State != registry.RunSucceeded || s.Runs("") != 1 {
			t.Errorf("%+v, %d runs", p, s.Runs(""))
		}
		c.Repeated, c.Sent = true, &n.all[0]
		w.submit(t, c)
		if s.Runs("") != 1 || len(s.Calls("POST /prompt")) != 1 {
			t.Errorf("%d submissions", len(s.Calls("POST /prompt")))
		}
	})
}

func TestADoorThatIsShut(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusUnauthorized, http.StatusTooManyRequests} {
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, a, b)
		a.On("POST /prompt", comfytest.Always, comfytest.Answer(status, "<html>nginx</html>"))
		c, n := w.call(tool, nil), &noted{}
		c.Sending = n.sending
		if ticket := w.submit(t, c); ticket.Endpoint != b.URL().Host || n.all[len(n.all)-1].Endpoint != b.URL().Host {
			t.Errorf("%d: it went to %s", status, ticket.Endpoint)
		}
		b.On("POST /prompt", comfytest.Always, comfytest.Answer(status, ""))
		_, err := w.provider.Submit(t.Context(), w.call(tool, nil))
		failure(t, err, registry.CodeUnavailable, true)
		if n := len(a.Calls("POST /prompt")); n == 0 {
			t.Fatal("the test is wrong: the first engine was not asked")
		}
	}
	t.Run("an engine that does not tell whether it took the run keeps it", func(t *testing.T) {
		t.Parallel()
		a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
		w, tool := oneTool(t, plainFlow, a, b)
		a.On("POST /prompt", comfytest.Always, comfytest.Answer(http.StatusBadGateway, ""))
		a.On("GET /history/", comfytest.Always, comfytest.Answer(http.StatusBadGateway, ""))
		_, err := w.provider.Submit(t.Context(), w.call(tool, nil))
		failure(t, err, registry.CodeUnavailable, true)
		if len(a.Calls("POST /prompt")) != 1 || len(b.Calls("POST /prompt")) != 0 {
			t.Errorf("%d and %d were sent", len(a.Calls("POST /prompt")), len(b.Calls("POST /prompt")))
		}
	})
}

func TestARefusalOfOneEngine(t *testing.T) {
	t.Parallel()
	a, b := comfytest.New(t, comfytest.Options{Models: models()}), comfytest.New(t, comfytest.Options{Models: models()})
	w, tool := oneTool(t, modelFlow, a, b)
	var lines bytes.Buffer
	w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	a.SetModels("checkpoints") // which nobody has noticed
	c, n := w.call(tool, map[string]any{"prompt": "my secret wish"}), &noted{}
	c.Sending = n.sending
	ticket := w.submit(t, c)
	if ticket.Endpoint != b.URL().Host || n.all[len(n.all)-1].Endpoint != b.URL().Host || a.Runs("") != 0 {
		t.Errorf("it went to %s, noted %d, %d at the one that refused", ticket.Endpoint, len(n.all), a.Runs(""))
	}
	if len(a.Calls("POST /prompt")) != 1 {
		t.Fatal("the test is wrong: the first engine was not asked")
	}
	for _, want := range []string{"CheckpointLoaderSimple.ckpt_name", "value not in list", a.URL().Host} {
		if !strings.Contains(strings.ReplaceAll(lines.String(), "_", " "), strings.ReplaceAll(want, "_", " ")) {
			t.Errorf("the log does not have %q: %s", want, lines.String())
		}
	}
	if strings.Contains(lines.String(), "secret") {
		t.Errorf("the log has the prompt: %s", lines.String())
	}
	w.fleet.Refresh(t.Context())
	if len(a.Calls("GET /object_info")) != 2 {
		t.Error("the engine is not asked again what it has")
	}
	b.SetModels("checkpoints")
	_, err := w.provider.Submit(t.Context(), w.call(tool, map[string]any{"prompt": "x"}))
	failure(t, err, registry.CodeUnavailable, false)
}

func TestOrdersAboutEngines(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	a, b := comfytest.New(t, comfytest.Options{}), comfytest.New(t, comfytest.Options{})
	w, tool := oneTool(t, plainFlow, a, b)
	open := func() *comfy.Fleet {
		f := comfy.NewFleet([]*url.URL{a.URL(), b.URL()}, comfy.FleetConfig{Orders: comfy.Orders{Pool: pool}})
		f.Refresh(t.Context())
		return f
	}
	first, second := open(), open()
	w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: second, Workflows: w.loader})
	for _, order := range []comfy.Order{comfy.OrderCordoned, comfy.OrderDraining} {
		if err := first.Order(t.Context(), a.URL().Host, order); err != nil {
			t.Fatal(err)
		}
		second.Refresh(t.Context()) // another process
		for i := range 3 {
			ticket := w.submit(t, w.call(tool, map[string]any{"color": json.Number(string(rune('1' + i)))}))
			if ticket.Endpoint != b.URL().Host {
				t.Errorf("%s: a run went to %s", order, ticket.Endpoint)
			}
			w.poll(t, ticket)
		}
	}
	if third := open(); third.Status()[0].Order != comfy.OrderDraining { // after a restart
		t.Errorf("%+v", third.Status()[0])
	}
	if err := first.Order(t.Context(), b.URL().Host, comfy.OrderReleased); err != nil {
		t.Fatal(err)
	}
	second.Refresh(t.Context())
	_, err := w.provider.Submit(t.Context(), w.call(tool, nil))
	if e := failure(t, err, registry.CodeUnavailable, true); !e.Wait {
		t.Error("it counts as a try")
	}
	if err := second.Order(t.Context(), a.URL().Host, comfy.OrderNone); err != nil {
		t.Fatal(err)
	}
	w.submit(t, w.call(tool, nil))
	if first.Order(t.Context(), a.URL().Host, "burnt") == nil || first.Order(t.Context(), "nobody", comfy.OrderNone) == nil {
		t.Error("nonsense is ordered")
	}
}
