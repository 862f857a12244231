package request

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Runs takes runs on and finds them: runner.Service.
type Runs interface {
	Accept(ctx context.Context, r runs.Request) (runs.Run, error)
	Ask(ctx context.Context, r runs.Request) (runs.Run, error)
	Get(ctx context.Context, runID string) (runs.Run, error)
}

// Access says who may use a tool: users.Store.
type Access interface {
	CheckAccount(ctx context.Context, a users.Account, platform, toolID string) (users.Decision, error)
}

// Callers are the runs of those who send requests.
type Callers struct {
	Runs   Runs
	Access Access
}

// Accept takes a run on for somebody who may use its tool, within the budget of their key. One that waits for approval comes
// with the error.
func (c Callers) Accept(ctx context.Context, a users.Account, request runs.Request) (runs.Run, error) {
	decision, err := c.Access.CheckAccount(ctx, a, door.Platform, request.ToolID)
	if err == nil {
		err = decision.Err()
	}
	if err != nil {
		return runs.Run{}, err
	}
	request.Budget = door.Budget(ctx)
	if request.Approval != runs.ApproveNothing {
		return c.Runs.Ask(ctx, request)
	}
	return c.Runs.Accept(ctx, request)
}

// ByModel reports whether a model asks, not a person or a program of theirs: what changes something waits for its owner's approval.
func ByModel(r *http.Request) bool {
	return Context(r).PlannerProvider != "" || door.ByAgent(r.Context())
}

// Own finds a run of this account; the runs of others do not exist for it, unless it is an operator's. Nor do those that its key does not see.
func (c Callers) Own(ctx context.Context, a users.Account, runID string) (runs.Run, error) {
	if runID == "" {
		return runs.Run{}, runs.ErrNotFound
	}
	run, err := c.Runs.Get(ctx, runID)
	if err != nil {
		return runs.Run{}, err
	}
	if run.AccountID != a.ID && !a.Operator || !a.Sees(run.Budget) {
		return runs.Run{}, runs.ErrNotFound
	}
	return run, nil
}

// MayApprove refuses confirmations and answers that name a model as who asks; those by an agent's key don't get here.
func MayApprove(r *http.Request) error {
	if Context(r).PlannerProvider != "" {
		return door.ErrAgentsKey
	}
	return nil
}

// Audience is whom a tool must be for, so that the account may see it.
func Audience(a users.Account) registry.Audience {
	if a.Operator {
		return registry.Insiders
	}
	return a.Tools
}

// Knows reports whether an account may know of a tool. One that somebody has made for themselves is nobody else's: its description tells all its steps. A key
// that sees only what was made by it knows of those alone that its list of tools names.
func Knows(a users.Account, t *registry.Tool) bool {
	return t.KnownTo(Audience(a)) && (!t.Private() || t.Owner == a.ID && (a.Sees("") || a.Tools != registry.Everyone))
}

// statuses are the values by which runs are listed.
var statuses = [...]runs.Status{
	runs.StatusAwaitingConfirmation, runs.StatusQueued, runs.StatusSubmitted, runs.StatusRunning,
	runs.StatusSucceeded, runs.StatusFailed, runs.StatusCanceled, runs.StatusTimedOut,
}

// CheckFilter refuses a status or a run's id that is none.
func CheckFilter(f runs.Filter) error {
	if f.Status != "" && !slices.Contains(statuses[:], f.Status) {
		return registry.Errorf(registry.CodeInvalidInput, "status: found %q, expected one of %v", f.Status, statuses)
	}
	if f.Before == "" {
		return nil
	}
	if _, err := uuid.Parse(f.Before); err != nil {
		return registry.Errorf(registry.CodeInvalidInput, "before: expected the id of a run")
	}
	return nil
}

// SameValue compares numbers by worth: the database may have written 1e3 as 1000.
func SameValue(a, b any) bool {
	na, isNumber := a.(json.Number)
	if nb, ok := b.(json.Number); ok && isNumber {
		ra, errA := decimal.Parse(na)
		rb, errB := decimal.Parse(nb)
		return errA == nil && errB == nil && ra.Cmp(rb) == 0
	}
	ja, errA := json.Marshal(a)
	jb, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(ja, jb)
}
