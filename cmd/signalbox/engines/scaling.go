package engines

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/comfy/scaling"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/schedule"
	"github.com/signalbox/signalbox/runs/store"
)

// ScalingJobs are those that tell FLEET_HOOK how much the engines have to do; none without it.
func (d Control) ScalingJobs(c config.Config, pool *pgxpool.Pool) []schedule.Job {
	if c.FleetHook == "" {
		return nil
	}
	send := scaling.ToCommand(c.FleetHook)
	if strings.Contains(c.FleetHook, "://") {
		send = scaling.ToURL(outbound.NewHooks(c.Allow, time.Minute), c.FleetHook, c.FleetSecret)
	}
	s := scaling.New(scaling.Config{
		Load: func(ctx context.Context) (scaling.Load, error) { return d.load(ctx, pool) },
		Send: send, BusyAt: c.FleetBusyAt, BusyAfter: c.FleetBusyAfter, IdleAfter: c.FleetIdleAfter,
	})
	return []schedule.Job{{
		Name: "tell how much engines have to do", Spec: "@every 10s", Timeout: time.Minute,
		Do: func(ctx context.Context, tx pgx.Tx, _ time.Time) error { return s.Look(ctx, tx, time.Now()) },
	}}
}

// Waker wakes servers that have an address for that; nil: none has.
func Waker(c config.Config, pool *pgxpool.Pool, headers map[string]http.Header) *scaling.Waker {
	if pool == nil || !c.Wakes() {
		return nil
	}
	return &scaling.Waker{Pool: pool, Send: scaling.ToAddresses(outbound.NewHooks(c.Allow, time.Minute), headers, c.FleetSecret), For: c.WakeFor}
}

// Waiting counts the runs that wait for engines, by tool; nil without a database.
func Waiting(pool *pgxpool.Pool) func(context.Context) (map[string]int, error) {
	if pool == nil {
		return nil
	}
	return func(ctx context.Context) (map[string]int, error) { return store.Waiting(ctx, pool, loader.Service) }
}

// load is what the servers have to do. Serverless endpoints scale by themselves.
func (d Control) load(ctx context.Context, pool *pgxpool.Pool) (scaling.Load, error) {
	load := scaling.Load{Down: []string{}}
	var err error
	if load.Waiting, err = store.Unbegun(ctx, pool, loader.Service); err != nil {
		return load, err
	}
	queues := d.Fleet.Queues(ctx)
	for i, s := range d.Fleet.Status() {
		switch {
		case s.Serverless || s.Order != comfy.OrderNone:
		case !s.Up:
			load.Down = append(load.Down, s.Name)
		default:
			load.Engines++
			if len(queues[i].Running)+len(queues[i].Pending) > 0 {
				load.Working++
			}
		}
	}
	return load, nil
}
