package chains

import (
	"context"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/results"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// AgainCommand does what the button Again does, with what the message replied to shows, else with what was run last in this chat. A number
// asks for it so many times, each with a seed of its own: then the total is shown first.
func AgainCommand(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	times := 1
	if typed := strings.TrimSpace(t.In.Text); typed != "" {
		var err error
		if times, err = strconv.Atoi(typed); err != nil || times < 1 {
			return turn.Nothing, t.Tell(ctx, "again.times")
		}
	}
	run, ok, err := results.LastHere(ctx, t, "")
	if err != nil {
		return turn.Nothing, err
	}
	if !ok {
		return turn.Nothing, t.Tell(ctx, "again.none")
	}
	tool, ok := t.Tools.Resolve(run.Tool.ToolID)
	if !ok {
		return turn.Nothing, t.Tell(ctx, "tool.gone")
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return turn.Nothing, err
	}
	if times == 1 {
		d := anew(t, run, tool)
		input.RedrawSeeds(&d, run)
		if err := start.Begin(ctx, t, &d); err != nil {
			return turn.Nothing, err
		}
		return start.Proceed(ctx, t, d)
	}
	if hint := tooMany(t, times); hint != nil {
		return turn.Nothing, start.HintOr(ctx, t, hint, nil)
	}
	drafts := make([]input.Draft, times)
	for i := range drafts {
		drafts[i] = anew(t, run, tool)
		input.FreshSeed(&drafts[i], tool.InputSchema)
	}
	return propose(ctx, t, tool, drafts)
}

// anew is a draft of what an earlier run was made of.
func anew(t *turn.Turn, run runs.Run, tool *registry.Tool) input.Draft {
	asked := start.NewDraft(t, tool)
	d := input.Repeat(run, asked.Asked, asked.IdempotencyKey)
	d.Notes = asked.Notes
	d.DropLost(tool.InputSchema)
	return d
}
