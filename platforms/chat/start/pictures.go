package start

import (
	"context"
	"strconv"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// setAside takes the pictures out of several files where order does not tell which input each is for, and gives the
// others. Proceed asks about them.
func setAside(ctx context.Context, t *turn.Turn, d *input.Draft, from runs.Source, tool *registry.Tool, files []chat.Attachment) (others []chat.Attachment, err error) {
	var pictures []chat.Attachment
	one := registry.InputSchema{{Name: "picture", Type: registry.TypeImage}}
	for _, file := range files {
		if fit, _ := input.Assign(one, []chat.Attachment{file}, nil); len(fit) > 0 {
			pictures = append(pictures, file)
		} else {
			others = append(others, file)
		}
	}
	if _, unclear := input.Unclear(tool.InputSchema, len(pictures), d.Has, nil); !unclear || len(pictures) < 2 {
		return files, nil
	}
	for i, picture := range pictures {
		ref, err := KeepFile(ctx, t, picture)
		if err != nil {
			return nil, err
		}
		d.Pictures = append(d.Pictures, input.Picture{Number: i + 1, Ref: ref})
	}
	d.PicturesFrom = from
	return others, nil
}

// askPicture asks which of the pictures that were sent an input is to get, and shows them small with their numbers.
func askPicture(ctx context.Context, t *turn.Turn, d input.Draft, tool *registry.Tool, f registry.InputField) (turn.Outcome, error) {
	text := t.Say.Text("ask.picture", "tool", tool.DisplayName, "input", f.Label())
	return ask(ctx, t, d, f, text, store.KeyboardState{}, func(m *chat.Message, k store.Keyboard) {
		var numbers []chat.Button
		for _, p := range d.Pictures {
			numbers = append(numbers, chat.Button{Label: strconv.Itoa(p.Number), Data: k.Data("pic" + strconv.Itoa(p.Number))})
		}
		m.Buttons = show.RowsOf(numbers, 5)
		last := []chat.Button{{Label: t.Say.Line("button.cancel"), Data: k.Data("no")}}
		if !f.Required {
			last = append([]chat.Button{{Label: t.Say.Line("button.none"), Data: k.Data("pic0")}}, last...)
		}
		m.Buttons = append(m.Buttons, last)
		m.OnlyFor = ""
		if sheet, ok := t.Services.Deliverer.Sheet(ctx, t.Out, t.Say, d.Pictures); ok {
			m.Media = []chat.Media{sheet}
		}
	})
}

// PressPicture gives the chosen picture to the input that was asked about; 0 is none of them.
func PressPicture(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	p, tool, err := openQuestion(ctx, t, k)
	if err != nil || tool == nil {
		return err
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	d := *p.State.Draft
	if !d.Choose(p.State.Field, n) {
		return nil // pressed twice
	}
	return continueDraft(ctx, t, p, d)
}

// AskAnew asks for an input of a draft once more and shows what it was or, where it was nothing, says that it is for the result at hand.
func AskAnew(ctx context.Context, t *turn.Turn, d input.Draft, tool *registry.Tool, f registry.InputField, was string) error {
	d.Drop(f.Name)
	text := t.Say.Text("ask.forResult", "tool", tool.DisplayName, "input", f.Label())
	if was != "" {
		text = chat.Lines(t.Say.Text("ask.change", "tool", tool.DisplayName, "input", f.Label()), chat.Text{{Style: chat.StyleCode, Text: was}})
	}
	about := store.KeyboardState{Fields: t.Out.TypedTogether([]registry.InputField{f})}
	_, err := ask(ctx, t, d, f, text, about, func(m *chat.Message, k store.Keyboard) { askFor(t, m, f, k) })
	return err
}
