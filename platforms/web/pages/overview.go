package pages

import (
	"context"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs"
)

// Lists lists an account's runs: runner.Service.
type Lists interface {
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
	Usual(ctx context.Context, tools []string) (map[string]billing.NanoUSD, error)
}

// overview are the pages of all tools and of all runs.
type overview struct {
	shared
	runs      Lists
	sharing   *sharing
	strangers Landing
	buying    Buying
}
