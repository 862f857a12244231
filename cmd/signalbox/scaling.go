package main

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/scaling"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/schedule"
	"github.com/signalbox/signalbox/runs/store"
)

// scalingJobs are those that tell FLEET_HOOK how much the engines have to do; none without it.
func (a *app) scalingJobs() []schedule.Job {
	if a.cfg.FleetHook == "" {
		return nil
	}
	send := scaling.ToCommand(a.cfg.FleetHook)
	if strings.Contains(a.cfg.FleetHook, "://") {
		send = scaling.ToURL(outbound.NewHooks(a.cfg.Allow, time.Minute), a.cfg.FleetHook, a.cfg.FleetSecret)
	}
	s := scaling.New(scaling.Config{Load: a.fleetLoad, Send: send, BusyAt: a.cfg.FleetBusyAt, BusyAfter: a.cfg.FleetBusyAfter, IdleAfter: a.cfg.FleetIdleAfter})
	return []schedule.Job{{
		Name: "tell how much engines have to do", Spec: "@every 10s", Timeout: time.Minute,
		Do: func(ctx context.Context, tx pgx.Tx, _ time.Time) error { return s.Look(ctx, tx, time.Now()) },
	}}
}

// fleetLoad is what the servers have to do. Serverless endpoints scale by themselves.
func (a *app) fleetLoad(ctx context.Context) (scaling.Load, error) {
	load := scaling.Load{Down: []string{}}
	var err error
	if load.Waiting, err = store.Unbegun(ctx, a.db.Pool, comfy.Service); err != nil {
		return load, err
	}
	queues := a.fleet.Queues(ctx)
	for i, s := range a.fleet.Status() {
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
