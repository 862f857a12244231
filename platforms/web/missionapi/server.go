package missionapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
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

// answer is h, with the error for missions and chains that are not there.
func (s server) answer(h door.Handler) http.HandlerFunc {
	return door.Answering(s.Caller, s.Logger, func(w http.ResponseWriter, r *http.Request, a users.Account) error {
		err := h(w, r, a)
		if errors.Is(err, missions.ErrNotFound) {
			return problem.ErrNothingThere
		}
		return err
	})
}
