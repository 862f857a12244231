package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/missionapi"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// startMissions goes on with the missions that are under way.
func (a *app) startMissions(ctx context.Context) (err error) {
	a.missions, err = missions.New(missions.Config{
		Pool: a.db.Pool, Registry: a.registry, Runs: a.runs, Ledger: a.ledger, Providers: a.runs.Config.Providers, Media: a.media, May: a.mayUse,
		Tell: a.tellOwner, MaxBatch: func() int { return a.rules.Number(houserules.BatchRuns) },
		Logger: a.log, Metrics: a.metrics,
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

// mayUse says as what an account may use a tool, or why not.
func (a *app) mayUse(ctx context.Context, accountID, toolID string) (registry.Audience, error) {
	account, err := a.users.ByID(ctx, accountID)
	if err != nil {
		return registry.Everyone, err
	}
	decision, err := a.users.CheckAccount(ctx, account, web.Platform, toolID)
	if err == nil {
		err = decision.Err()
	}
	return request.Audience(account), err
}

// tellOwner tells the owner of a mission what waits for their word, or how it ended: in the chat that it was asked for in. Of one that a
// program has planned they hear what they have to see to themselves, in the page's chat and on Telegram.
func (a *app) tellOwner(ctx context.Context, m missions.Mission, waits *missions.Leg) error {
	if len(m.Origin.Target) > 0 {
		where, err := store.TargetOf(runs.Run{ID: m.ID, Origin: m.Origin})
		if err != nil {
			return err
		}
		return a.chat.deliverer.TellMission(ctx, a.runs, m.Origin.Platform, where, m, waits)
	}
	if waits == nil && m.Status != missions.RollbackIncomplete {
		return nil
	}
	account, err := a.users.ByID(ctx, m.AccountID)
	if err != nil {
		return err
	}
	tell := func(platform, place string) error {
		where := store.Target{Chat: chat.Chat{Place: chat.Place{Chat: place}, Kind: chat.ChatPrivate}, Language: account.Language}
		return a.chat.deliverer.TellMission(ctx, a.runs, platform, where, m, waits)
	}
	failed := tell(web.Platform, account.ID)
	identities, err := a.users.Identities(ctx, account.ID)
	for _, who := range identities {
		if who.Platform == telegram.Platform {
			failed = errors.Join(failed, tell(telegram.Platform, who.ExternalID))
		}
	}
	return errors.Join(failed, err)
}

// newMissionAPI gives missions over HTTP to those whose they are.
func (a *app) newMissionAPI() http.Handler {
	return missionapi.Handler(missionapi.Config{
		Missions: a.missions, Registry: a.registry, Files: request.Reader{Media: a.runs}, Caller: web.Caller, Logger: a.log.With("component", "missions"),
	})
}

// missionSection shows operators the missions that could not be taken back whole.
func (a *app) missionSection() console.Section {
	return console.Section{
		Path: "missions", Title: "Missions",
		Table: func(ctx context.Context, _ string) (console.Table, error) {
			t := console.Table{
				Lead:    "What missions did and could not take back, newest first. Somebody has to see to each with its service; its owner was told.",
				Columns: []string{"Ended", "Mission", "Leg", "Run", "Reference", "Why", "Trouble", "Turn to"}, Empty: "Everything that had to be taken back was.",
			}
			list, err := a.missions.Incomplete(ctx)
			for _, m := range list {
				for _, leg := range m.Unresolved() {
					p := leg.Progress
					t.Rows = append(t.Rows, console.Row{Cells: []console.Cell{
						{Text: m.EndedAt.UTC().Format(time.DateTime)}, {Text: m.Title}, {Text: leg.Summary}, {Text: leg.Tool.ID, Run: p.RunID}, {Text: p.Reference},
						{Text: string(p.Undo)}, {Text: p.UndoError}, {Text: m.EscalationURL},
					}})
				}
			}
			return t, err
		},
		Alarm: func(ctx context.Context) (string, error) {
			list, err := a.missions.Incomplete(ctx)
			recent := 0
			for _, m := range list {
				if time.Since(*m.EndedAt) < alarmFor {
					recent++
				}
			}
			if err != nil || recent == 0 {
				return "", err
			}
			return fmt.Sprintf("missions of the last days that could not be taken back: %d", recent), nil
		},
	}
}

// alarmFor is how long the overview tells of a mission that could not be taken back.
const alarmFor = 7 * 24 * time.Hour
