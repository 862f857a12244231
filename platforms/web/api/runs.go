package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Runs is what owners do with their runs: runner.Service.
type Runs interface {
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
	ConfirmSummary(ctx context.Context, runID, accountID, hash string, granted []string) (runs.Run, error)
	Answer(ctx context.Context, runID, accountID, questionID string, reply registry.Reply) (runs.Run, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
	Delete(ctx context.Context, runID, accountID string) error
	DeleteOutput(ctx context.Context, runID, accountID string, output int) (runs.Run, error)
}

// runsAPI is the part of the API about runs that are there.
type runsAPI struct {
	runs    Runs
	callers request.Callers
	tell    teller
	now     func() time.Time
	results cache.Cache[resultKey, toldRun]
}

// own finds the run that the address names, of this account.
func (a *runsAPI) own(r *http.Request, who users.Account) (runs.Run, error) {
	return a.callers.Own(r.Context(), who, r.PathValue("id"))
}

func (a *runsAPI) list(w http.ResponseWriter, r *http.Request, who users.Account) error {
	q := r.URL.Query()
	f := runs.Filter{AccountID: who.ID, Budget: who.Runs, ToolID: q.Get("toolId"), Status: runs.Status(q.Get("status")), Before: q.Get("before"), Limit: 50}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 200 {
			return registry.Errorf(registry.CodeInvalidInput, "limit must be a number from 1 to 200")
		}
		f.Limit = n
	}
	if err := request.CheckFilter(f); err != nil {
		return err
	}
	list, err := a.runs.List(r.Context(), f)
	if err != nil {
		return err
	}
	bodies := []runBody{}
	for _, run := range list {
		bodies = append(bodies, a.tell.run(r, run))
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"runs": bodies})
	return nil
}

// resultKey names a run as it is told to a client: addresses in it depend on how the client reached us.
type resultKey struct{ runID, host string }

// toldRun is a run that is over, as it is told to its owner.
type toldRun struct {
	owner, budget string
	body          encoded
}

// maxResult bounds what is kept of one run.
const maxResult = 64 << 10

// get tells one run. One that is over is kept for a moment, since clients ask for it again and
// again.
func (a *runsAPI) get(w http.ResponseWriter, r *http.Request, who users.Account) error {
	key, now := resultKey{r.PathValue("id"), r.Host}, a.now()
	if known, ok := a.results.Get(key, now); ok && (known.owner == who.ID || who.Operator) && who.Sees(known.budget) {
		known.body.serve(w, r)
		return nil
	}
	run, err := a.own(r, who)
	if err != nil {
		return err
	}
	body, err := encode(a.tell.run(r, run))
	if err != nil {
		return err
	}
	if run.Status.Final() && len(body.raw) <= maxResult {
		a.results.Put(key, toldRun{run.AccountID, run.Budget, body}, now)
	}
	body.serve(w, r)
	return nil
}

func (a *runsAPI) cancel(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if _, err := a.own(r, who); err != nil {
		return err
	}
	run, err := a.runs.Cancel(r.Context(), r.PathValue("id"), who.ID)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusOK, a.tell.run(r, run))
	return nil
}

// confirm lets a run go ahead that waits for its owner's word. {"summaryHash": "..."} says what the owner was shown: anything else
// is refused; "granted" which of its personal data may go to the service.
func (a *runsAPI) confirm(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if _, err := a.own(r, who); err != nil {
		return err
	}
	var body struct {
		Hash    string   `json:"summaryHash"`
		Granted []string `json:"granted"` // absent: all
	}
	if err := door.ReadJSON(w, r, &body); err != nil {
		return err
	}
	if err := request.MayApprove(r); err != nil {
		return err
	}
	run, err := a.runs.ConfirmSummary(r.Context(), r.PathValue("id"), who.ID, body.Hash, body.Granted)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusAccepted, a.tell.run(r, run))
	return nil
}

// answer gives the owner's answer to the question that a run has.
func (a *runsAPI) answer(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if _, err := a.own(r, who); err != nil {
		return err
	}
	var body struct {
		Question string          `json:"question"`
		Action   registry.Action `json:"action"`
		Values   map[string]any  `json:"values"`
	}
	if err := door.ReadJSON(w, r, &body); err != nil {
		return err
	}
	if err := request.MayApprove(r); err != nil {
		return err
	}
	run, err := a.runs.Answer(r.Context(), r.PathValue("id"), who.ID, body.Question, registry.Reply{Action: body.Action, Values: body.Values})
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusAccepted, a.tell.run(r, run))
	return nil
}

// envelope tells a run as a planner's program wants it: {ok, data | error, latencyMs, attempts, traceId}. While the run is under way
// it answers 202 with the run.
func (a *runsAPI) envelope(w http.ResponseWriter, r *http.Request, who users.Account) error {
	run, err := a.own(r, who)
	if err != nil {
		return err
	}
	envelope, over := run.Envelope(run.DataOf(func(o runs.Output) any { return a.tell.output(r, run.AccountID, o) }))
	if !over {
		door.WriteJSON(w, http.StatusAccepted, a.tell.run(r, run))
		return nil
	}
	door.WriteJSON(w, http.StatusOK, envelope)
	return nil
}

// deleteRun deletes a run, or one of its outputs, for its owner.
func (a *runsAPI) deleteRun(r *http.Request, who users.Account) error {
	text := r.PathValue("n")
	if text == "" {
		defer a.forget(who)
		return a.runs.Delete(r.Context(), r.PathValue("id"), who.ID)
	}
	output, err := strconv.Atoi(text)
	if err != nil {
		return runs.ErrNotFound
	}
	return a.deleteOutput(r.Context(), who, r.PathValue("id"), output)
}

func (a *runsAPI) deleteOutput(ctx context.Context, who users.Account, runID string, output int) error {
	defer a.forget(who)
	_, err := a.runs.DeleteOutput(ctx, runID, who.ID, output)
	return err
}

// forget has the account's runs read anew.
func (a *runsAPI) forget(who users.Account) {
	a.results.Drop(func(told toldRun) bool { return told.owner == who.ID })
}

func (a *runsAPI) delete(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if err := a.deleteRun(r, who); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
