// Package missionapi gives missions over HTTP to their owners: POST /api/missions plans one, GET /api/missions and
// /api/missions/{id} show them, /events follows one, /confirm lets one go ahead by the hash of what was shown, /cancel ends one. /api/chains
// are missions that were written down as tools. What is another's is not found.
package missionapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Missions is missions.Service.
type Missions interface {
	Plan(ctx context.Context, accountID, key string, d missions.Draft) (missions.Mission, error)
	Confirm(ctx context.Context, missionID, accountID, hash string) (missions.Mission, error)
	Cancel(ctx context.Context, missionID, accountID string) (missions.Mission, error)
	Get(ctx context.Context, missionID, accountID string) (missions.Mission, error)
	List(ctx context.Context, accountID, budget, before string) ([]missions.Mission, error)
	SaveChain(ctx context.Context, c missions.Chain) (missions.Chain, error)
	DeleteChain(ctx context.Context, chainID, accountID string) error
	Chain(ctx context.Context, chainID, accountID string) (missions.Chain, error)
	Chains(ctx context.Context, accountID string) ([]missions.Chain, error)
}

// Config wires a Handler; all but Logger are required.
type Config struct {
	Missions Missions
	Registry *catalog.Registry
	Files    request.Reader // has what inputs name there before a mission is shown
	// Caller is who sent the request of ctx.
	Caller func(ctx context.Context) (users.Account, bool)
	// Budget is what calls of that request draw on: that of its key.
	Budget func(ctx context.Context) runs.Budget
	Logger *slog.Logger
}

type server struct{ Config }

// Handler serves the routes. Who may use them is decided where it is mounted; whose a mission is, here.
func Handler(cfg Config) http.Handler {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := server{cfg}
	mux := http.NewServeMux()
	for pattern, handler := range map[string]handler{
		"POST /api/missions": s.plan, "GET /api/missions": s.list, "GET /api/missions/{id}": s.show, "GET /api/missions/{id}/events": s.events,
		"POST /api/chains": s.makeChain, "GET /api/chains": s.listChains, "GET /api/chains/{id}": s.showChain, "PUT /api/chains/{id}": s.changeChain, "DELETE /api/chains/{id}": s.deleteChain,
		"POST /api/missions/{id}/confirm": s.confirm, "POST /api/missions/{id}/cancel": s.cancel,
	} {
		mux.HandleFunc(pattern, s.answer(handler))
	}
	return mux
}

// Streams tells the requests whose answer stays open.
func Streams(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/events") }

type handler func(w http.ResponseWriter, r *http.Request, a users.Account) error

// answer finds the caller, and says what went wrong.
func (s server) answer(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		account, ok := s.Caller(r.Context())
		var err error = door.ErrSignedOut
		if ok {
			err = h(w, r, account)
		}
		if errors.Is(err, missions.ErrNotFound) {
			err = problem.ErrNothingThere
		}
		if err != nil && r.Context().Err() == nil {
			problem.Fail(w, r, s.Logger, err)
		}
	}
}

// AtOnce is how many missions of one account are planned at the same time.
const AtOnce = 4

// maxBody bounds a request, in bytes.
const maxBody = 1 << 20

// read takes one JSON value with known members only. Numbers stay exact.
func read(w http.ResponseWriter, r *http.Request, into any, example string) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return door.TooLargeOr(err, "the body can't be read")
	}
	if err := door.DecodeStrictly(data, into); err != nil {
		return registry.Errorf(registry.CodeInvalidInput, "expected JSON such as %s: %s", example, door.JSONFault(err))
	}
	return nil
}

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 200

func (s server) plan(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var draft missions.Draft
	if err := read(w, r, &draft, `{"title":"A trip","currency":"EUR","legs":[{"tool":"look","inputs":{},"summary":"Look","order":1,"depends_on":[]}]}`); err != nil {
		return err
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxKey {
		return registry.Errorf(registry.CodeInvalidInput, "Idempotency-Key: expected at most %d bytes", maxKey)
	}
	if key != "" && a.Runs != "" { // no other's mission is found by it
		key = a.Runs + ":" + key
	}
	if err := s.settle(r, a, draft); err != nil {
		return err
	}
	draft.Budget = s.Budget(r.Context()).Name
	m, err := s.Missions.Plan(r.Context(), a.ID, key, draft)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/missions/"+m.ID)
	door.WriteJSON(w, http.StatusCreated, bodyOf(m))
	return nil
}

// settle fetches the files that legs name, so that they are what was shown.
func (s server) settle(r *http.Request, a users.Account, d missions.Draft) error {
	for i, leg := range d.Legs {
		tool, known := s.Registry.Snapshot().Resolve(leg.Tool)
		if !known || len(leg.Inputs) == 0 || !request.Knows(a, tool) {
			continue // said by Plan
		}
		v := request.Values{runs.FromArgument: leg.Inputs}
		if err := s.Files.Settle(r, a, *tool, v); err != nil {
			return fmt.Errorf("leg %d: %w", i+1, err)
		}
		d.Legs[i].Inputs = v[runs.FromArgument]
	}
	return nil
}

func (s server) list(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.Missions.List(r.Context(), a.ID, a.Runs, r.URL.Query().Get("before"))
	if err != nil {
		return err
	}
	bodies := make([]missionBody, len(list))
	for i, m := range list {
		bodies[i] = bodyOf(m)
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"missions": bodies})
	return nil
}

// own finds a mission of an account. Those that its key does not see are not there.
func (s server) own(ctx context.Context, id string, a users.Account) (missions.Mission, error) {
	m, err := s.Missions.Get(ctx, id, a.ID)
	if err == nil && !a.Sees(m.Budget) {
		err = missions.ErrNotFound
	}
	return m, err
}

func (s server) show(w http.ResponseWriter, r *http.Request, a users.Account) error {
	m, err := s.own(r.Context(), r.PathValue("id"), a)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusOK, bodyOf(m))
	return nil
}

// confirm takes the owner's word, which no request that names a model has.
func (s server) confirm(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := request.MayApprove(r); err != nil {
		return err
	}
	var body struct {
		Hash string `json:"hash"`
	}
	if err := read(w, r, &body, `{"hash":"..."}, the hash of the mission as it was shown`); err != nil {
		return err
	}
	m, err := s.Missions.Confirm(r.Context(), r.PathValue("id"), a.ID, body.Hash)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusOK, bodyOf(m))
	return nil
}

func (s server) cancel(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.own(r.Context(), r.PathValue("id"), a); err != nil {
		return err
	}
	m, err := s.Missions.Cancel(r.Context(), r.PathValue("id"), a.ID)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusOK, bodyOf(m))
	return nil
}

// look is how often a mission that somebody follows is looked at: any process may change it.
const look = 300 * time.Millisecond

// events tells each state of a mission as a server-sent event, the present one first, and ends with the mission.
func (s server) events(w http.ResponseWriter, r *http.Request, a users.Account) error {
	ctx, id := r.Context(), r.PathValue("id")
	m, err := s.own(ctx, id, a)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	tick := time.NewTicker(look)
	defer tick.Stop()
	told, said := int64(0), time.Now()
	for {
		switch {
		case m.Version != told:
			raw, err := json.Marshal(bodyOf(m))
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "id: %d\nevent: mission\ndata: %s\n\n", m.Version, raw)
			told, said = m.Version, time.Now()
		case time.Since(said) > door.KeepAlive:
			fmt.Fprint(w, ": still here\n\n")
			said = time.Now()
		}
		if control.Flush() != nil || m.Status.Final() {
			return nil // who followed has gone, or there is no more to tell
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if m, err = s.own(ctx, id, a); err != nil {
			return nil // it was deleted; a new request hears so
		}
	}
}
