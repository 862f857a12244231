// Package runner puts the packages below together: the life of runs in one process. Package runs names what it gives.
package runner

import (
	"fmt"

	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/accept"
	"github.com/signalbox/signalbox/runs/price"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/work"
	"github.com/signalbox/signalbox/runs/write"
)

// Service is the life of runs in one process. Any number of processes may share one database: each accepts,
// and those that were started work.
//
// Each part has what it needs of those before it.
type Service struct {
	*store.Env
	*store.Store     // reads runs
	*store.Hub       // tells of their changes
	*write.Limiter   // counts what accounts use
	*price.Pricer    // quotes
	*write.Writer    // writes beginnings and ends together
	*work.Stopper    // stops runs at their providers
	*work.Closer     // ends runs and delivers them
	*work.Worker     // claims runs and advances them
	*accept.Acceptor // takes requests on
}

// New makes a Service. It can accept, read and cancel runs; Start lets it work on them.
func New(config runs.Config) (*Service, error) {
	config, err := config.WithDefaults()
	if err != nil {
		return nil, err
	}
	e, err := store.NewEnv(config)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	p, err := price.NewPricer(e)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	s := &Service{Env: e, Store: store.NewStore(e), Limiter: write.NewLimiter(e), Pricer: p}
	s.Hub = store.NewHub(e, s.Store)
	s.Writer = write.NewWriter(e, s.Limiter)
	s.Stopper = work.NewStopper(e, s.Store)
	s.Closer = work.NewCloser(e, s.Store, s.Hub, s.Pricer, s.Writer, s.Stopper)
	if s.Worker, err = work.NewWorker(e, s.Closer); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	s.Acceptor = accept.NewAcceptor(e, s.Limiter, s.Worker)
	return s, nil
}
