package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// keepAlive is how often an idle event stream says that it is still there, below the usual idle limits
// of proxies.
const keepAlive = 15 * time.Second

// apiEvents streams a run as server-sent events named "run" until it is final. Each event holds the
// whole run, so a client that reconnects has missed nothing; with Last-Event-ID it is not told again what it
// knows. One that knows the end gets 204, upon which browsers stop asking.
func (s *Server) apiEvents(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.ownRun(r, a); err != nil {
		return err
	}
	leave, err := s.enterStream(r.Context(), a)
	if err != nil {
		return err
	}
	defer leave()
	updates, cancel := s.cfg.Runs.Subscribe(r.PathValue("id"))
	defer cancel()
	run, err := s.cfg.Runs.Get(r.Context(), r.PathValue("id")) // after subscribing, so that nothing falls between
	if err != nil {
		return err
	}
	known := r.Header.Get("Last-Event-ID")
	if run.Status.Final() && known != "" && strings.HasSuffix(known, finalMark) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	stream := eventStream{w: w, control: http.NewResponseController(w), known: known}
	stream.open()
	s.follow(r, &stream, run, updates)
	return nil
}

// enterStream counts one more event stream of an account until leave is called. Each takes memory and a connection for
// as long as somebody wants.
func (s *Server) enterStream(ctx context.Context, a users.Account) (leave func(), err error) {
	most, err := s.cfg.Users.StreamsOf(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	leave, ok := s.streams.enter(a.ID, most)
	if !ok {
		e := registry.Errorf(registry.CodeRateLimited, "%d event streams of this account are open, which is the limit: close one, or ask for the run now and then instead", most)
		e.Retryable, e.RetryAfter = true, keepAlive
		return nil, e
	}
	return leave, nil
}

// follow sends a run at each change until it is over or the client is gone.
func (s *Server) follow(r *http.Request, stream *eventStream, run runs.Run, updates <-chan runs.Run) {
	idle := time.NewTicker(keepAlive)
	defer idle.Stop()
	var figure *float64 // the last real one, with what was left then: a change of another kind does not take it back
	var expected *time.Time
	for {
		if run.Fraction == nil && run.Status == runs.StatusRunning {
			run.Fraction, run.ExpectedAt = figure, expected
		}
		figure, expected = run.Fraction, run.ExpectedAt
		if err := stream.send(s.runBody(r, run)); err != nil || run.Status.Final() {
			return
		}
		for waiting := true; waiting; {
			select {
			case <-r.Context().Done():
				return
			case <-idle.C:
				if stream.comment("still here") != nil {
					return
				}
			case next, ok := <-updates:
				if !ok {
					return
				}
				run, waiting = next, false
			}
		}
	}
}

// eventStream writes server-sent events.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	known   string // id of the last event the client has
}

// finalMark ends the id of the event that ends a run.
const finalMark = "-end"

func (e *eventStream) open() {
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
}

// send tells a run, unless the client knows it so. An event's id is drawn from what it says, so that it holds
// on every machine.
func (e *eventStream) send(body runBody) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:8])
	if body.Status.Final() {
		id += finalMark
	}
	if id == e.known {
		return nil
	}
	e.known = id
	if _, err := fmt.Fprintf(e.w, "id: %s\nevent: run\ndata: %s\n\n", id, data); err != nil {
		return err
	}
	return e.control.Flush()
}

func (e *eventStream) comment(text string) error {
	if _, err := fmt.Fprintf(e.w, ": %s\n\n", text); err != nil {
		return err
	}
	return e.control.Flush()
}
