package show

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// RunReader reads runs; runner.Service is one.
type RunReader interface {
	Get(ctx context.Context, runID string) (runs.Run, error)
}

// TellMission tells the owner of a mission in a chat that it is over or, with a leg, that this leg waits for a word of its own. A chat that
// can't be reached is no error: there is nobody to tell.
func (d *Deliverer) TellMission(ctx context.Context, from RunReader, platform string, where store.Target, m missions.Mission, waits *missions.Leg) error {
	out := d.platforms[platform]
	if out == nil {
		return nil
	}
	say := d.Voice(where.Language)
	var message chat.Message
	var err error
	if waits != nil {
		message, err = d.legWaits(ctx, from, say, platform, m, *waits)
	} else {
		message, err = d.missionOver(ctx, from, say, platform, where, m)
	}
	if err != nil {
		return fmt.Errorf("tell of mission %s: %w", m.ID, err)
	}
	message.To, message.ReplyTo = where.Chat.Place, where.Request
	if where.Chat.Kind != chat.ChatPrivate {
		message.Ping = where.Person
	}
	_, err = out.In(where.Chat).Post(ctx, message)
	switch {
	case errors.Is(err, chat.ErrUnreachable), errors.Is(err, chat.ErrNoRight):
		d.log.InfoContext(ctx, "the owner of a mission can't be told", "mission", m.ID, "error", err)
		return nil
	case errors.Is(err, chat.ErrUncertain): // it may be there: better once than twice
		return nil
	}
	return err
}

// legWaits asks for the word that a leg waits for.
func (d *Deliverer) legWaits(ctx context.Context, from RunReader, say Voice, platform string, m missions.Mission, leg missions.Leg) (chat.Message, error) {
	run, err := from.Get(ctx, leg.Progress.RunID)
	if err != nil {
		return chat.Message{}, err
	}
	k := store.Keyboard{ID: store.NewID(), Platform: platform, AccountID: m.AccountID, State: store.KeyboardState{Run: run.ID, Tool: run.Tool.ToolID, Mission: m.ID}}
	if err := d.store.Keyboards.Save(ctx, k); err != nil {
		return chat.Message{}, err
	}
	return chat.Message{
		Text: chat.Join("\n\n", say.Text("mission.waits", "title", m.Title), say.Proposal(run), say.Text("confirm.life", "n", int(runs.SummaryLife.Minutes()))),
		Buttons: [][]chat.Button{{
			{Label: say.Line("button.confirm"), Data: k.Data("legyes"), Style: chat.ButtonPrimary}, {Label: say.Line("button.cancel"), Data: k.Data("legno")},
		}},
	}, nil
}

// missionOver tells how a mission has ended, and what it cost.
func (d *Deliverer) missionOver(ctx context.Context, from RunReader, say Voice, platform string, where store.Target, m missions.Mission) (chat.Message, error) {
	cost, err := costOf(ctx, from, m)
	if err != nil {
		return chat.Message{}, err
	}
	message := chat.Message{Text: say.missionEnd(m, where.Chat.Kind)}
	if cost > 0 {
		message.Text = chat.Lines(message.Text, say.Text("mission.cost", "price", say.Exact(cost)))
	} else {
		message.Text = chat.Lines(message.Text, say.Text("nothing.charged"))
	}
	if !m.Independent || m.CanceledBy || m.Done() == len(m.Legs) {
		return message, nil
	}
	k := store.Keyboard{ID: store.NewID(), Platform: platform, AccountID: m.AccountID, State: store.KeyboardState{Mission: m.ID}}
	message.Buttons = [][]chat.Button{{{Label: say.Line("button.failedAgain"), Data: k.Data("mfailed")}}}
	return message, d.store.Keyboards.Save(ctx, k)
}

// costOf is what the legs of a mission have cost by now: what was taken back was refunded.
func costOf(ctx context.Context, from RunReader, m missions.Mission) (cost billing.NanoUSD, err error) {
	for _, leg := range m.Legs {
		if leg.Progress.RunID == "" || leg.Progress.Undo == missions.Undone {
			continue
		}
		run, err := from.Get(ctx, leg.Progress.RunID)
		if errors.Is(err, runs.ErrNotFound) {
			continue // deleted since
		}
		if err != nil {
			return 0, err
		}
		cost += run.Cost
	}
	return cost, nil
}

// missionEnd says how a mission has ended.
func (v Voice) missionEnd(m missions.Mission, in chat.ChatKind) chat.Text {
	switch {
	case m.Independent && m.Status != missions.RollbackIncomplete:
		return chat.Lines(v.Text("batch.over", "title", m.Title, "done", m.Done(), "all", len(m.Legs)), v.failedLegs(m, in))
	case m.Status == missions.Succeeded:
		return v.Text("mission.done", "title", m.Title)
	case m.Status == missions.Canceled:
		return v.Text("mission.canceled", "title", m.Title)
	case m.Status == missions.Failed:
		return chat.Lines(v.Text("mission.failed", "title", m.Title), v.failedLegs(m, in))
	case m.Status == missions.RolledBack:
		return chat.Lines(v.Text("mission.rolledBack", "title", m.Title), v.failedLegs(m, in))
	}
	text := v.Text("mission.unresolved", "title", m.Title)
	for _, leg := range m.Unresolved() {
		text = chat.Lines(text, v.Text("mission.left", "summary", leg.Summary, "reference", leg.Progress.Reference))
	}
	if m.EscalationURL != "" {
		text = chat.Lines(text, v.Text("mission.turn", "address", m.EscalationURL))
	}
	return text
}

// failedShown is how many legs that failed are named.
const failedShown = 10

// failedLegs names the legs that failed and why. Where others read along, services' own words are left out: they may repeat what was asked for.
func (v Voice) failedLegs(m missions.Mission, in chat.ChatKind) (text chat.Text) {
	shown, more := 0, 0
	for _, leg := range m.Legs {
		failure := leg.Progress.Failure
		if failure == nil {
			continue
		}
		if shown == failedShown {
			more++
			continue
		}
		shown++
		line := fmt.Sprintf("✗ %d. %s", leg.Order, leg.Summary)
		if in == chat.ChatPrivate && failure.Message != "" {
			line += ": " + words.Told(v.Voice, registry.Code(failure.Code), failure.Text())
		}
		text = chat.Lines(text, chat.Plain(chat.Brief(line, longestShown)))
	}
	if more > 0 {
		text = chat.Lines(text, v.Text("confirm.more", "n", more))
	}
	return text
}

// Steps is a line of tools, by their names.
func (v Voice) Steps(names []string) string { return strings.Join(names, " → ") }

// legsShown is how many legs the card of a batch names.
const legsShown = 5

// BatchCard is what is confirmed of a batch: how many runs it has, of what, what each costs and all together.
func (v Voice) BatchCard(m missions.Mission) chat.Text {
	text := chat.Text{{Style: chat.StyleBold, Text: m.Title}}
	for _, leg := range m.Legs[:min(len(m.Legs), legsShown)] {
		text = chat.Lines(text, chat.Plain(fmt.Sprintf("%d. %s", leg.Order, leg.Summary)))
	}
	if more := len(m.Legs) - legsShown; more > 0 {
		text = chat.Lines(text, v.Text("confirm.more", "n", more))
	}
	if m.Promised == 0 {
		return chat.Lines(text, v.Text("price.free"), v.Text("confirm.life", "n", int(runs.SummaryLife.Minutes())))
	}
	var dearest billing.NanoUSD
	for _, leg := range m.Legs {
		dearest = max(dearest, leg.Quote.High)
	}
	return chat.Lines(text, v.Text("batch.price", "each", v.AtMost(dearest), "all", v.AtMost(m.Promised)), v.Text("confirm.life", "n", int(runs.SummaryLife.Minutes())))
}
