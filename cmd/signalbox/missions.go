package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/missionapi"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
)

// startMissions goes on with the missions that are under way.
func (a *app) startMissions(ctx context.Context) error {
	texts, err := i18n.Load()
	if err != nil {
		return err
	}
	a.missions, err = missions.New(missions.Config{
		Pool: a.db.Pool, Registry: a.registry, Runs: a.runs, Ledger: a.ledger, Providers: a.runs.Config.Providers, Media: a.media, May: a.mayUse,
		Tell:   func(ctx context.Context, m missions.Mission) error { return a.tellUnresolved(ctx, texts, m) },
		Logger: a.log, Metrics: a.metrics,
	})
	if err != nil {
		return err
	}
	if err := a.missions.Start(ctx); err != nil {
		return err
	}
	a.onStop("missions", a.missions.Stop)
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

// tellUnresolved tells the owner of a mission what could not be taken back.
func (a *app) tellUnresolved(ctx context.Context, texts *i18n.Catalogue, m missions.Mission) error {
	account, err := a.users.ByID(ctx, m.AccountID)
	if err != nil {
		return err
	}
	voice := texts.Voice(account.Language)
	lines := []string{voice.Line("mission.unresolved", "title", m.Title)}
	for _, leg := range m.Unresolved() {
		lines = append(lines, voice.Line("mission.unresolved.leg", "summary", leg.Summary, "reference", leg.Progress.Reference))
	}
	if m.EscalationURL != "" {
		lines = append(lines, voice.Line("mission.unresolved.turn", "address", m.EscalationURL))
	}
	return a.tellPerson(ctx, account.ID, strings.Join(lines, "\n"))
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
