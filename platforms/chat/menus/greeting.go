package menus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/settings"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// StartCommand greets, or goes straight to the tool of a deep link.
func StartCommand(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	if words := strings.TrimSpace(t.In.Text); words != "" {
		if name, ok := strings.CutPrefix(words, "settings-"); ok {
			t.In.Text = name
			return turn.Nothing, settings.Command(ctx, t)
		}
		if words == linkWord {
			t.In.Text = ""
			return turn.Nothing, LinkCommand(ctx, t)
		}
		if tool, ok := t.FindTool(words); ok {
			return start.Tool(ctx, t, tool, "")
		}
	}
	return turn.Nothing, greet(ctx, t)
}

// greet says what the bot is for, with a tried example and its picture, and the tools that most people use.
func greet(ctx context.Context, t *turn.Turn) error {
	tools, err := popular(ctx, t, 3)
	if err != nil {
		return err
	}
	m := t.Answering(t.Say.Text("start.greeting"))
	k := t.Keyboard(store.KeyboardState{Asked: t.In.Message})
	if err := addExample(ctx, t, &m, &k); err != nil {
		return err
	}
	var buttons []chat.Button
	for _, tool := range tools {
		buttons = append(buttons, chat.Button{Label: tool.DisplayName, Data: k.Data(fmt.Sprint("tool", len(k.State.Tools)))})
		k.State.Tools = append(k.State.Tools, tool.ToolID)
	}
	m.Buttons = append(m.Buttons, show.RowsOf(buttons, 2)...)
	m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("button.language"), Data: k.Data("langs")}})
	m.Text = chat.Lines(m.Text, waiting(t))
	if terms := t.Services.Operator.Terms.Now(); terms != "" {
		m.Text = chat.Lines(m.Text, t.Say.Text("start.terms", "terms", terms))
	}
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	_, err = t.Post(ctx, m)
	return err
}

// addExample adds the example, its picture, and the button that runs it with its price.
func addExample(ctx context.Context, t *turn.Turn, m *chat.Message, k *store.Keyboard) error {
	if t.Services.Example == nil {
		return nil
	}
	example, err := t.Services.Example(t.Say.Language())
	if err != nil {
		return fmt.Errorf("read the example: %w", err)
	}
	tool, ok := t.FindTool(example.Tool)
	if !ok || tool.Refusal(t.Audience()) != nil {
		return nil
	}
	k.State.Query, k.State.Tools = example.Words, []string{tool.ToolID}
	m.Text = chat.Lines(m.Text, t.Say.Text("start.example", "words", example.Words))
	m.Buttons = append(m.Buttons, []chat.Button{{Label: start.RunLabel(ctx, t, tool, example.Words), Data: k.Data("said0"), Style: chat.ButtonPrimary}})
	if t.Out.Caps.Uploads[chat.KindPhoto] >= int64(len(example.Picture)) && t.Out.Caps.CaptionLimit > 0 {
		m.Media = []chat.Media{photo(example)}
	}
	return nil
}

func photo(example turn.Example) chat.Media {
	sum := sha256.Sum256(example.Picture)
	return chat.Media{
		Kind: chat.KindPhoto, Ref: "asset:" + hex.EncodeToString(sum[:]), FileName: "example.png", MIMEType: "image/png", Bytes: int64(len(example.Picture)), Alt: example.Words,
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(example.Picture)), nil
		},
	}
}

// waiting says that there are tools which can't run until somebody connects what they need.
func waiting(t *turn.Turn) chat.Text {
	for _, tool := range t.Tools.Listed(t.Audience()) {
		if tool.State() == registry.StateUnavailable && tool.InMenus() {
			return t.Say.Text("help.waiting", "tool", tool.DisplayName)
		}
	}
	return nil
}
