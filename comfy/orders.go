package comfy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/placement"
	"github.com/signalbox/signalbox/internal/errs"
)

// Order is what an operator wants of an engine. Whatever it is, no new run goes there.
type Order string

// The orders.
const (
	OrderNone     Order = ""
	OrderCordoned Order = "cordoned" // no new runs
	OrderDraining Order = "draining" // those there finish, then it may be turned off: nobody misses it
	OrderReleased Order = "released" // those there are given back, and go to other engines
)

// Orders keeps orders in Postgres, for all processes of a house. Without a pool they last as long as the process.
type Orders struct{ Pool *pgxpool.Pool }

// All gives the orders by engine.
func (o Orders) All(ctx context.Context) (map[string]Order, error) {
	all := make(map[string]Order)
	if o.Pool == nil {
		return all, nil
	}
	rows, err := o.Pool.Query(ctx, `SELECT engine, mode FROM engine_orders`)
	if err == nil {
		var engine string
		var order Order
		_, err = pgx.ForEachRow(rows, []any{&engine, &order}, func() error { all[engine] = order; return nil })
	}
	if err != nil {
		return nil, fmt.Errorf("read the orders about engines: %w", err)
	}
	return all, nil
}

func (o Orders) set(ctx context.Context, engine string, order Order) (err error) {
	switch {
	case o.Pool == nil:
	case order == OrderNone:
		_, err = o.Pool.Exec(ctx, `DELETE FROM engine_orders WHERE engine = $1`, engine)
	default:
		_, err = o.Pool.Exec(ctx, `INSERT INTO engine_orders (engine, mode) VALUES ($1, $2) ON CONFLICT (engine) DO UPDATE SET mode = $2, since = now()`, engine, string(order))
	}
	return errs.Wrap(err, "write the order about engine %s", engine)
}

// Order tells an engine, by its name, what is wanted of it, here at once and in other processes within seconds.
func (f *Fleet) Order(ctx context.Context, engine string, order Order) error {
	if !slices.Contains([]Order{OrderNone, OrderCordoned, OrderDraining, OrderReleased}, order) {
		return fmt.Errorf("an engine can be cordoned, draining or released, not %.40q", string(order))
	}
	e, ok := f.engine(engine)
	if !ok {
		return fmt.Errorf("no engine is called %.80q", engine)
	}
	if err := f.cfg.Orders.set(ctx, engine, order); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.order = order
	return nil
}

// readOrders takes over what was ordered in any process. Orders stay as they were while the database is away.
func (f *Fleet) readOrders(ctx context.Context) {
	all, err := f.cfg.Orders.All(ctx)
	if err != nil {
		f.cfg.Logger.Warn("orders about engines can't be read", "error", err)
		return
	}
	if f.cfg.Orders.Pool == nil {
		return
	}
	for _, e := range f.engines {
		e.mu.Lock()
		e.order = all[e.Name]
		e.mu.Unlock()
	}
}

func (e *Engine) ordered() Order {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.order
}

func (f *Fleet) isReleased(e *Engine) bool { return e.ordered() == OrderReleased }

// mustLeave tells whether a run that an engine has must go on elsewhere: that engine is gone for too long while another could
// do the work, or it was released.
func (f *Fleet) mustLeave(e *Engine, j placement.Job) bool {
	if f.isReleased(e) {
		return true
	}
	k := e.knowledge()
	if k.err == nil || f.cfg.Now().Sub(k.downSince) < f.cfg.GoneAfter {
		return false
	}
	_, err := f.able(j, map[*Engine]error{e: k.err})
	return err == nil
}

// withheldFor is how long runs of a tool go to other engines after one did not hand out a result.
const withheldFor = 10 * time.Minute

func (f *Fleet) withholds(e *Engine, tool string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return f.cfg.Now().Sub(e.withheld[tool]) < withheldFor
}

// withhold notes that an engine does not hand out a result, and tells whether one that does could make it.
func (f *Fleet) withhold(e *Engine, j placement.Job) bool {
	e.mu.Lock()
	e.withheld[j.Tool] = f.cfg.Now()
	e.mu.Unlock()
	others, err := f.able(j, map[*Engine]error{e: api.ErrPage})
	return err == nil && !f.withholds(others[0], j.Tool)
}
