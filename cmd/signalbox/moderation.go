package main

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/cmd/signalbox/sections"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/runs"
)

// startModeration makes what takes reports, where REPORTS says so.
func (a *app) startModeration(context.Context) (err error) {
	if a.cfg.Reports != "on" {
		return nil
	}
	a.moderation, err = moderation.New(moderation.Config{
		Pool: a.db.Pool, People: a.users, Runs: a.runs, Unshare: pages.Unshare, Desk: a.address(console.Root + sections.ReportsPath), Logger: a.log.With("component", "moderation"),
		Rule: func() moderation.Rule {
			return moderation.Rule{
				Strikes: a.rules.Number(houserules.Strikes), Within: time.Duration(a.rules.Number(houserules.StrikeDays)) * 24 * time.Hour,
				Mute: time.Duration(a.rules.Number(houserules.MuteHours)) * time.Hour,
			}
		},
		Withdraw: func(ctx context.Context, run runs.Run, from moderation.Place) error {
			return a.chat.deliverer.RemoveFrom(ctx, run, from.Chat)
		},
		Tell: func(ctx context.Context, n moderation.Notice) error {
			return a.chat.tell.Line(ctx, n.AccountID, n.Key, n.Pairs...)
		},
	})
	return err
}

// reports takes reports in chats; nil: nothing is reported.
func (a *app) reports() turn.Moderation {
	if a.moderation == nil {
		return nil
	}
	return a.moderation
}

// linkReports takes reports of shared results; nil: nothing is reported.
func (a *app) linkReports() pages.Reports {
	if a.moderation == nil {
		return nil
	}
	return a.moderation
}

// moderationSections are the operator's pages about reports; none where nothing is reported.
func (a *app) moderationSections() []console.Section {
	if a.moderation == nil {
		return nil
	}
	return sections.Moderation(a.moderation, func() time.Duration { return time.Duration(a.rules.Number(houserules.MuteHours)) * time.Hour })
}
