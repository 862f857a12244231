// Package missionapi gives missions over HTTP to their owners: POST /api/missions plans one, GET /api/missions and
// /api/missions/{id} show them, /events follows one, /confirm lets one go ahead by the hash of what was shown, /cancel ends one. /api/chains
// are missions that were written down as tools. What is another's is not found.
package missionapi

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Handler serves the routes. Who may use them is decided where it is mounted; whose a mission is, here.
func Handler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := server{cfg}
	mux := http.NewServeMux()
	for pattern, handler := range map[string]door.Handler{
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

// AtOnce is how many missions of one account are planned at the same time.
const AtOnce = 4

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 200

func (s server) plan(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var draft missions.Draft
	if err := door.ReadLike(w, r, &draft, `{"title":"A trip","currency":"EUR","legs":[{"tool":"look","inputs":{},"summary":"Look","order":1,"depends_on":[]}]}`); err != nil {
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
	if err := door.ReadLike(w, r, &body, `{"hash":"..."}, the hash of the mission as it was shown`); err != nil {
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

// look is how often a mission that somebody follows is looked at.
const look = 300 * time.Millisecond

// events tells each state of a mission as a server-sent event, the present one first, and ends with the mission.
func (s server) events(w http.ResponseWriter, r *http.Request, a users.Account) error {
	version := func(ctx context.Context) (door.Version, error) {
		m, err := s.own(ctx, r.PathValue("id"), a)
		if err != nil {
			return door.Version{}, err
		}
		return door.Version{Number: m.Version, Body: bodyOf(m), Final: m.Status.Final()}, nil
	}
	now, err := version(r.Context())
	if err != nil {
		return err
	}
	return door.Follow(w, r, "mission", look, now, version)
}
