package main

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/missionapi"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
)

// startMissions goes on with the missions that are under way.
func (a *app) startMissions(ctx context.Context) (err error) {
	a.missions, err = missions.New(missions.Config{
		Pool: a.db.Pool, Registry: a.registry, Runs: a.runs, Ledger: a.ledger, Providers: a.runs.Config.Providers, Media: a.media, May: a.mayUse,
		Tell: func(ctx context.Context, m missions.Mission, waits *missions.Leg) error {
			return a.chat.tell.Mission(ctx, a.runs, m, waits)
		},
		MaxBatch: func() int { return a.rules.Number(houserules.BatchRuns) },
		Shares:   a.rules.Shares,
		Logger:   a.log, Metrics: a.metrics, Now: a.clock.Now,
	})
	if err != nil {
		return err
	}
	if err := a.missions.Start(ctx); err != nil {
		return err
	}
	a.OnStop("missions", a.missions.Stop)
	return nil
}

// mayUse says as what an account may use a tool, or why not. With the budget of a limited or an agent's key it is no operator's.
func (a *house) mayUse(ctx context.Context, accountID, toolID, budget string) (registry.Audience, error) {
	account, err := a.users.ByID(ctx, accountID)
	if err != nil {
		return registry.Everyone, err
	}
	if account, _, err = a.withKey(ctx, account, budget); err != nil {
		return registry.Everyone, err
	}
	decision, err := a.users.CheckAccount(ctx, account, web.Platform, toolID)
	if err == nil {
		err = decision.Err()
	}
	if err == nil {
		err = a.users.MayRun(ctx, accountID)
	}
	return request.Audience(account), err
}

// newMissionAPI gives missions over HTTP to those whose they are.
func (a *app) newMissionAPI() http.Handler {
	return missionapi.Handler(missionapi.Config{
		Missions: a.missions, Registry: a.registry, Files: request.Reader{Media: a.runs}, Caller: web.Caller, Budget: web.Budget, Logger: a.log.With("component", "missions"),
	})
}
