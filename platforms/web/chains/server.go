package chains

import (
	"context"
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/users"
)

// Path is the list; what is built and the missions lie below.
const Path = "/chains"

// Missions is missions.Service.
type Missions interface {
	Confirm(ctx context.Context, missionID, accountID, hash string) (missions.Mission, error)
	Cancel(ctx context.Context, missionID, accountID string) (missions.Mission, error)
	Get(ctx context.Context, missionID, accountID string) (missions.Mission, error)
	List(ctx context.Context, accountID, budget, before string) ([]missions.Mission, error)
	ShareBounds() billing.ShareBounds
	SaveChain(ctx context.Context, c missions.Chain) (missions.Chain, error)
	DeleteChain(ctx context.Context, chainID, accountID string) error
	Chain(ctx context.Context, chainID, accountID string) (missions.Chain, error)
	Chains(ctx context.Context, accountID string) ([]missions.Chain, error)
}

// Config wires the pages; all is required.
type Config struct {
	Render   *render.Renderer
	Registry *catalog.Registry
	Missions Missions
}

type server struct {
	Config
	pages *render.Pages
}

type page = func(w http.ResponseWriter, r *http.Request, a users.Account) error

// told says of what is not there, or is another's, that there is nothing.
func (s server) told(p page) page {
	return func(w http.ResponseWriter, r *http.Request, a users.Account) error {
		err := p(w, r, a)
		if errors.Is(err, missions.ErrNotFound) {
			return problem.ErrNothingThere
		}
		return err
	}
}

// tool gives a tool by its id; of one that is gone only the id is known.
func (s server) tool(id string) registry.Tool {
	if found, ok := s.Registry.Snapshot().Resolve(id); ok {
		return *found
	}
	return registry.Tool{ToolID: id, DisplayName: id}
}

func (s server) show(w http.ResponseWriter, r *http.Request, a users.Account, name, title, wrong string, data any) error {
	status := http.StatusOK
	if wrong != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.pages.ShowAs(w, r, a, status, name, render.View{
		Title: s.Render.Voice(r, a).Line(title), Place: "tools", Scripts: []string{"mission.js"}, Problem: wrong, Data: data,
	})
}
