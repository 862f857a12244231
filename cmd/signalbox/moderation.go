package main

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/cmd/signalbox/sections"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/moderation/checks"
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
	if err == nil && a.moderated != nil {
		close(a.moderated)
	}
	return err
}

// resultChecks look at what was made, by RESULT_CHECKS_URL; nil: nothing is looked at. Runs begin before reports can be taken, and wait for that here.
func (a *app) resultChecks() (func(ctx context.Context, run runs.Run) error, error) {
	if a.cfg.ResultChecksURL == "" {
		return nil, nil
	}
	service, err := checks.New(checks.Config{URL: a.cfg.ResultChecksURL, Model: a.cfg.ResultChecksModel, Key: a.cfg.ResultChecksKey})
	if err != nil {
		return nil, err
	}
	c := moderation.Checks{Look: service.Look, Media: a.media, At: a.cfg.ChecksAt, Strict: a.cfg.ResultChecksDown == "hold"}
	a.moderated = make(chan struct{})
	return func(ctx context.Context, run runs.Run) error {
		select {
		case <-a.moderated:
			return a.moderation.Check(ctx, c, run)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, nil
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
