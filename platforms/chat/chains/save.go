package chains

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/results"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// SaveCommand makes a command of the person's own of what the message replied to shows, else of what was run last in this chat, with the
// runs that it goes on with. Without a name it lists what was saved.
func SaveCommand(ctx context.Context, t *turn.Turn) error {
	name := strings.TrimSpace(t.In.Text)
	if name == "" {
		return list(ctx, t)
	}
	run, ok, err := results.LastHere(ctx, t, runs.StatusSucceeded)
	if err != nil {
		return err
	}
	if !ok {
		return t.Tell(ctx, "save.none")
	}
	if run.Tool.Kind == missions.ChainKind {
		return t.Tell(ctx, "save.chain", "command", run.Tool.CommandName)
	}
	line, err := lineOf(ctx, t, run)
	if err != nil {
		return err
	}
	c := chainOf(line)
	c.AccountID, c.Name, c.Command, c.Visibility = t.Account.ID, strings.TrimPrefix(name, "/"), commandOf(name), missions.Private
	if err := asBefore(ctx, t, &c); err != nil {
		return err
	}
	if c, err = t.Services.Missions.SaveChain(ctx, c); err != nil {
		return t.Refused(ctx, err)
	}
	m, err := saved(ctx, t, t.Keyboard(store.KeyboardState{Chain: c.ID}), c)
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}

// commandOf makes a command of a name: "poster-of-the-day" is /poster_of_the_day.
func commandOf(name string) string {
	name = strings.ToLower(strings.Trim(name, "/ "))
	return "/" + strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return r
	}, name)
}

// asBefore makes a chain a new version of the person's own of that command, if there is one: it stays shared where it was, and asks for what it asked for.
func asBefore(ctx context.Context, t *turn.Turn, c *missions.Chain) error {
	own, err := t.Services.Missions.Chains(ctx, t.Account.ID)
	for _, before := range own {
		if before.Command == c.Command {
			c.ID, c.Visibility, c.Share = before.ID, before.Visibility, before.Share
		}
	}
	return err
}

// lineOf gives the runs that led to one, the first one first: those that made the files that it was given, and so on.
func lineOf(ctx context.Context, t *turn.Turn, run runs.Run) ([]runs.Run, error) {
	known, err := t.Services.Runs.List(ctx, runs.Filter{AccountID: t.Account.ID, Status: runs.StatusSucceeded, Limit: lookBack})
	if err != nil {
		return nil, fmt.Errorf("follow a run back: %w", err)
	}
	known = slices.DeleteFunc(known, func(r runs.Run) bool { return r.Tool.Kind == missions.ChainKind }) // no legs of chains
	line := []runs.Run{run}
	for i := 0; i < len(line); i++ {
		for _, before := range madeFor(line[i], known) {
			there := slices.ContainsFunc(line, func(r runs.Run) bool { return r.ID == before.ID })
			if !there && len(line) < missions.MaxLegs {
				line = append(line, before)
			}
		}
	}
	slices.SortStableFunc(line, func(a, b runs.Run) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return line, nil
}

// lookBack is among how many runs those are looked for that made a file.
const lookBack = 200

// list tells what the person has saved, and how to.
func list(ctx context.Context, t *turn.Turn) error {
	own, err := t.Services.Missions.Chains(ctx, t.Account.ID)
	if err != nil {
		return err
	}
	text := t.Say.Text("save.how")
	if len(own) > 0 {
		text = chat.Lines(text, t.Say.Text("save.own"))
	}
	for _, c := range own[:min(len(own), listed)] {
		text = chat.Lines(text, t.Say.Text("save.line", "command", c.Command, "steps", t.Say.Steps(stepNames(t, c))))
	}
	_, err = t.Reply(ctx, text)
	return err
}

// listed is how many chains a list names.
const listed = 30

// stepNames are the names of a chain's tools.
func stepNames(t *turn.Turn, c missions.Chain) []string {
	names := make([]string, len(c.Legs))
	for i, leg := range c.Legs {
		names[i] = leg.Tool
		if tool, ok := t.Tools.Resolve(leg.Tool); ok {
			names[i] = tool.DisplayName
		}
	}
	return names
}

// saved shows a chain to its owner: what it does, takes and costs, with buttons to share and to delete it.
func saved(ctx context.Context, t *turn.Turn, k store.Keyboard, c missions.Chain) (chat.Message, error) {
	text := t.Say.Text("save.done", "command", c.Command, "steps", t.Say.Steps(stepNames(t, c)))
	tools := t.Services.Tools.Snapshot() // it came with the turn
	tool, ok := tools.ByID(c.ToolID())
	if ok {
		var takes []string
		for _, f := range tool.InputSchema.Ordered() {
			takes = append(takes, f.Label())
		}
		if len(takes) > 0 {
			text = chat.Lines(text, t.Say.Text("save.takes", "inputs", strings.Join(takes, ", ")))
		}
		text = chat.Lines(text, t.Say.Price(*tool, price(ctx, t, tools, c)))
	}
	text = chat.Lines(text, shareOf(t, c))
	share, said := "button.share", "save.private"
	if c.Visibility == missions.Public {
		share, said = "button.unshare", "save.public"
	}
	m := chat.Message{To: t.In.Chat.Place, Text: chat.Lines(text, t.Say.Text(said)), Buttons: [][]chat.Button{{
		{Label: t.Say.Line(share), Data: k.Data("chshare")}, {Label: t.Say.Line("button.delete"), Data: k.Data("chdel")},
	}}}
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// shareOf tells what others pay its owner for a chain, or how to ask for it; nil where nobody may.
func shareOf(t *turn.Turn, c missions.Chain) chat.Text {
	switch {
	case strings.HasSuffix(c.Share, "%"):
		return t.Say.Text("share.asksPercent", "share", c.Share)
	case c.Share != "":
		return t.Say.Text("share.asks", "share", "$"+strings.TrimPrefix(c.Share, "$"))
	case t.Services.Missions.ShareBounds().None():
		return nil
	}
	return t.Say.Text("share.how", "command", strings.TrimPrefix(c.Command, "/"))
}

// price is what a chain costs as it is; nothing is known where it needs what only a run brings, such as a picture.
func price(ctx context.Context, t *turn.Turn, tools *catalog.Snapshot, c missions.Chain) billing.Quote {
	b, err := t.Services.Runs.BindIn(ctx, tools, runs.Request{AccountID: t.Account.ID, ToolID: c.ToolID(), Audience: t.Audience()})
	if err != nil || len(b.Missing) > 0 {
		return billing.Quote{}
	}
	quote, err := t.Services.Runs.Quote(ctx, b)
	if err != nil {
		t.Services.Log.DebugContext(ctx, "a chain was saved without its price", "chain", c.ID, "error", err)
	}
	return quote
}

// PressShare lets everybody run a chain, or its owner alone again.
func PressShare(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return withChain(ctx, t, k, func(c missions.Chain) error {
		if c.Visibility == missions.Public {
			c.Visibility = missions.Private
		} else {
			c.Visibility = missions.Public
		}
		c, err := t.Services.Missions.SaveChain(ctx, c)
		if err != nil {
			return errors.Join(t.Acknowledge(ctx), t.Refused(ctx, err))
		}
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		m, err := saved(ctx, t, k, c)
		if err != nil {
			return err
		}
		_, err = t.Change(ctx, t.In.Message, m)
		return err
	})
}

// PressDelete deletes a chain.
func PressDelete(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return withChain(ctx, t, k, func(c missions.Chain) error {
		if err := t.Services.Missions.DeleteChain(ctx, c.ID, t.Account.ID); err != nil {
			return err
		}
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		_, err := t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("save.deleted", "command", c.Command)})
		return err
	})
}

func withChain(ctx context.Context, t *turn.Turn, k store.Keyboard, do func(missions.Chain) error) error {
	c, err := t.Services.Missions.Chain(ctx, k.State.Chain, t.Account.ID)
	if errors.Is(err, missions.ErrNotFound) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err != nil {
		return err
	}
	return do(c)
}
