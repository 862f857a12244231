package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Follows tells how runs under way go on: runner.Service.
type Follows interface {
	Subscribe(runID string) (<-chan runs.Run, func())
	PreviewOf(runID string) []byte
}

// following is the part of the API that follows runs under way.
type following struct {
	runs    Follows
	callers request.Callers
	tell    teller
	streams *door.Streams
}

// events streams a run as server-sent events named "run" until it is final. Each event holds the
// whole run, so a client that reconnects has missed nothing; with Last-Event-ID it is not told again what it
// knows. One that knows the end gets 204, upon which browsers stop asking.
func (a *following) events(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if _, err := a.callers.Own(r.Context(), who, r.PathValue("id")); err != nil {
		return err
	}
	r, leave, err := a.streams.Enter(r, who)
	if err != nil {
		return err
	}
	defer leave()
	updates, cancel := a.runs.Subscribe(r.PathValue("id"))
	defer cancel()
	run, err := a.callers.Runs.Get(r.Context(), r.PathValue("id")) // after subscribing, so that nothing falls between
	if err != nil {
		return err
	}
	known := r.Header.Get("Last-Event-ID")
	if run.Status.Final() && known != "" && strings.HasSuffix(known, finalMark) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	stream := eventStream{w: w, control: http.NewResponseController(w), known: known}
	door.BeginEvents(w)
	a.follow(r, &stream, run, updates)
	return nil
}

// follow sends a run at each change until it is over or the client is gone.
func (a *following) follow(r *http.Request, stream *eventStream, run runs.Run, updates <-chan runs.Run) {
	idle := time.NewTicker(door.KeepAlive)
	defer idle.Stop()
	var figure *float64 // the last real one, with what was left then: a change of another kind does not take it back
	var expected *time.Time
	for {
		if run.Fraction == nil && run.Status == runs.StatusRunning {
			run.Fraction, run.ExpectedAt = figure, expected
		}
		figure, expected = run.Fraction, run.ExpectedAt
		if err := stream.send(a.tell.run(r, run)); err != nil || run.Status.Final() {
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

// preview gives a picture of how far a run is.
func (a *following) preview(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if _, err := a.callers.Own(r.Context(), who, r.PathValue("id")); err != nil {
		return err
	}
	picture := a.runs.PreviewOf(r.PathValue("id"))
	if len(picture) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Content-Type", http.DetectContentType(picture))
	w.Header().Set("Cache-Control", "no-store")
	w.Write(picture)
	return nil
}
