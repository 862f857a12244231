package pages

import (
	"context"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/runs"
)

// Lists lists an account's runs: runner.Service.
type Lists interface {
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
}

// overview are the pages of all tools and of all runs.
type overview struct {
	shared
	runs Lists
}

func (s *overview) routes() []door.Route {
	return []door.Route{
		door.ForPeople("GET /{$}", door.Read, s.home),
		door.ForPeople("GET /history", door.Read, s.history),
		door.ForPeople("GET /prices", door.Read, s.prices),
		door.ForPeople("GET /developers", door.Read, s.developers),
		door.ForAll("GET /llms.txt", s.llms),
	}
}
