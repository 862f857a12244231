package results

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// PressSingle shows one picture of a set by itself, in full size.
func PressSingle(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		if _, ok := show.Picture(run, n); !ok {
			return t.Alert(ctx, "press.tooOld")
		}
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		t.Working(ctx, chat.ActivityPhoto)
		where := store.Target{Chat: t.In.Chat, Request: t.In.Message, Language: t.Language(), Person: t.In.From.ExternalID}
		return t.Services.Deliverer.ShowOne(ctx, t.Out, t.Say, run, n, where, &t.In.Incoming)
	})
}

// PressMore shows the buttons that have no room under a set, PressFront those of its pictures.
func PressMore(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return changeButtons(ctx, t, k, t.Say.MoreButtons)
}

// PressFront is the way back from PressMore.
func PressFront(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return changeButtons(ctx, t, k, t.Say.ResultButtons)
}

func changeButtons(ctx context.Context, t *turn.Turn, k store.Keyboard, to func(runs.Run, store.Keyboard) [][]chat.Button) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		return t.Out.EditButtons(ctx, t.In.Message, t.Out.FitButtons(to(run, k), t.Out.Caps.Buttons.Rows))
	})
}

// PressVary makes another like a result, as show.HowToVary says. It can be pressed as often as one likes.
func PressVary(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return vary(ctx, t, k, k.State.Of, registry.AsFar)
}

// PressVaryOne is PressVary for the picture number n of a set.
func PressVaryOne(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	return vary(ctx, t, k, n, registry.AsFar)
}

// PressWeaker makes another that is nearer to the result, PressStronger one that is farther from it.
func PressWeaker(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return vary(ctx, t, k, max(1, k.State.Of), registry.Weaker)
}

// PressStronger is the opposite of PressWeaker.
func PressStronger(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return vary(ctx, t, k, max(1, k.State.Of), registry.Stronger)
}

// vary makes another like the picture number n of a run, or like all that it made with 0.
func vary(ctx context.Context, t *turn.Turn, k store.Keyboard, n int, how registry.Distance) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		way := show.HowToVary(run, k.State, n)
		if way != words.VaryByTool {
			return repeat(ctx, t, k, run, pressKey(t), func(d *input.Draft, tool *registry.Tool) {
				if way == words.VarySlightly && input.VaryOne(d, tool.InputSchema, run, max(1, n), how) {
					return
				}
				input.FreshSeed(d, tool.InputSchema)
				if n > 0 {
					d.Notes = append(d.Notes, t.Say.Line("vary.whole"))
				}
			})
		}
		next, _ := k.State.NextFor(registry.FollowVary)
		return goOn(ctx, t, k, run, next, n, func(d *input.Draft, tool *registry.Tool) (bool, error) {
			input.FreshSeed(d, tool.InputSchema)
			if f, ok := tool.InputSchema.Strength(); ok {
				var was any
				if tool.ToolID == run.Tool.ToolID {
					was = run.Inputs[f.Name]
				}
				d.Replace(runs.FromArgument, f.Name, f.Departing(was, how))
			}
			return false, nil
		})
	})
}

// PressNext goes on with a result by the tool of a button: at once or, where it changes what one says, by asking for that.
func PressNext(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Next) {
		return t.Alert(ctx, "press.tooOld")
	}
	next := k.State.Next[n]
	return t.WithRun(ctx, k, func(run runs.Run) error {
		return goOn(ctx, t, k, run, next, k.State.Of, func(d *input.Draft, tool *registry.Tool) (bool, error) {
			if !asksFirst(next, tool) {
				return false, nil
			}
			f, _ := input.TextInput(tool.InputSchema)
			return true, start.AskAnew(ctx, t, *d, tool, f, "")
		})
	})
}

// asksFirst reports whether a tool that goes on changes what one says, which is asked for.
func asksFirst(next store.NextTool, tool *registry.Tool) bool {
	_, ok := input.TextInput(tool.InputSchema)
	return ok && next.Does == registry.FollowEdit
}

// goOn starts a tool with the picture number n of a run or, with 0, with the first thing it made. The words of the run go
// along; change makes the draft what it is to be, and reports whether that has started or asked all there is.
func goOn(ctx context.Context, t *turn.Turn, k store.Keyboard, run runs.Run, next store.NextTool, n int, change func(*input.Draft, *registry.Tool) (bool, error)) error {
	tool, ok := t.Tools.Resolve(next.Tool)
	if !ok {
		return notFollowed(ctx, t, "tool.gone")
	}
	one, ok := show.Only(run, n)
	files := show.ResultFiles(one)
	if !ok || len(files) == 0 {
		return notFollowed(ctx, t, "press.tooOld")
	}
	f, ok := tool.ResultInput(typeOfFirst(one))
	if !ok {
		return notFollowed(ctx, t, "tool.gone")
	}
	note := func() error { return t.Note(ctx, "press.started") }
	if asksFirst(next, tool) {
		note = func() error { return t.Acknowledge(ctx) }
	}
	if err := note(); err != nil {
		return err
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return errors.Join(err, turn.ErrNotDone)
	}
	d := start.PressDraft(t, tool)
	if tool.ToolID == run.Tool.ToolID {
		d = input.Repeat(run, chat.MessageRef{}, d.IdempotencyKey)
	} else if text, ok := input.TextInput(tool.InputSchema); ok && show.PromptOf(run) != "" {
		d.Set(runs.FromReply, text.Name, show.PromptOf(run))
	}
	d.Parent, d.Asked = run.ID, start.RequestOf(t, run)
	value := any(files[0].Ref)
	if f.Multiple {
		value = []any{files[0].Ref}
	}
	d.Replace(runs.FromReply, f.Name, value)
	d.DropLost(tool.InputSchema)
	if done, err := change(&d, tool); done || err != nil {
		return err
	}
	t.Working(ctx, show.ActivityOf(*tool))
	_, err := start.Proceed(ctx, t, d)
	return err
}

// typeOfFirst is the type of the first file that a run made.
func typeOfFirst(run runs.Run) string {
	for _, o := range run.Outputs {
		if o.Media != "" {
			return o.Type
		}
	}
	return ""
}

// PressSwap runs a tool of several pictures once more, each picture in the place of the one before.
func PressSwap(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		return repeat(ctx, t, k, run, pressKey(t), func(d *input.Draft, tool *registry.Tool) { input.Swap(d, tool.InputSchema, run.Inputs) })
	})
}

// pressKey makes each press a request of its own; one that is handled twice is not.
func pressKey(t *turn.Turn) string { return t.In.Platform + ":press:" + t.In.IDs[0] }
