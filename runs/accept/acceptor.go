package accept

import (
	"github.com/signalbox/signalbox/runs/price"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/work"
	"github.com/signalbox/signalbox/runs/write"
)

// Acceptor takes requests on.
type Acceptor struct {
	*store.Env
	store   *store.Store
	hub     *store.Hub
	limiter *write.Limiter
	pricer  *price.Pricer
	writer  *write.Writer
	worker  *work.Worker
}

// NewAcceptor makes an Acceptor with the parts that a Worker has.
func NewAcceptor(e *store.Env, l *write.Limiter, w *work.Worker) *Acceptor {
	return &Acceptor{Env: e, store: w.Store, hub: w.Hub, limiter: l, pricer: w.Pricer, writer: w.Writer, worker: w}
}
