package start

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// inlineOffered is how many tools are offered for the words of inline mode.
const inlineOffered = 6

// OfferInline offers to send a message from which a tool runs: those whose name is being typed, then for these words the one
// that this person uses for words, then those that a search finds. Only tools that need nothing more are among them, and only
// those that the person may use. Each message tells the price, and waits for its sender's press.
func OfferInline(ctx context.Context, t *turn.Turn, words string) ([]chat.InlineOffer, error) {
	if strings.TrimSpace(words) == "" {
		return nil, nil
	}
	tools, rest, err := inlineTools(ctx, t, words)
	if err != nil {
		return nil, err
	}
	var offers []chat.InlineOffer
	if rest == words { // no command is spelled out yet
		begun := slices.DeleteFunc(t.Offered(), func(tool *registry.Tool) bool { return !input.Begins(tool, words) })
		if offers, err = offerReady(ctx, t, begun, "", nil); err != nil {
			return nil, err
		}
	}
	return offerReady(ctx, t, tools, rest, offers)
}

// offerReady adds offers of the tools that have all they need in these words, while there is room.
func offerReady(ctx context.Context, t *turn.Turn, tools []*registry.Tool, words string, offers []chat.InlineOffer) ([]chat.InlineOffer, error) {
	k := t.Keyboard(store.KeyboardState{Query: words})
	for _, tool := range tools {
		if len(offers) == inlineOffered {
			break
		}
		quote, ready, err := readyQuote(ctx, t, tool, words)
		if err != nil {
			return nil, err
		}
		if ready {
			k.State.Tools = append(k.State.Tools, tool.ToolID)
			offers = append(offers, inlineOffer(t, k, len(offers), tool, quote))
		}
	}
	if len(k.State.Tools) == 0 {
		return offers, nil
	}
	return offers, t.Services.Store.Keyboards.Save(ctx, k)
}

// inlineTools are the tools that words may be meant for, most likely first, and the words without a tool's name.
func inlineTools(ctx context.Context, t *turn.Turn, words string) ([]*registry.Tool, string, error) {
	usual, rest, ok := withoutSlash(t, strings.TrimPrefix(strings.TrimSpace(words), "/"))
	if ok {
		return []*registry.Tool{usual}, rest, nil
	}
	usual, ok, err := usualTool(ctx, t)
	if err != nil {
		return nil, words, err
	}
	tools := fitting(ctx, t, words, nil)
	if ok {
		tools = slices.DeleteFunc(tools, func(tool *registry.Tool) bool { return tool.ToolID == usual.ToolID })
		tools = append([]*registry.Tool{usual}, tools...)
	}
	return tools, words, nil
}

// inlineOffer is the nth message, which runs the last tool of the keyboard once its sender presses its button.
func inlineOffer(t *turn.Turn, k store.Keyboard, n int, tool *registry.Tool, quote billing.Quote) chat.InlineOffer {
	text := chat.Text{{Style: chat.StyleBold, Text: tool.DisplayName}}
	if k.State.Query != "" {
		text = chat.Lines(text, chat.Text{{Style: chat.StyleItalic, Text: chat.Brief(k.State.Query, 200)}})
	}
	price := t.Say.Price(*tool, quote)
	return chat.InlineOffer{
		ID: "run" + strconv.Itoa(n), Title: priced(t, tool, quote), Description: chat.FirstSentence(tool.Description),
		Message: chat.Message{
			Text:    chat.Lines(text, price, t.Say.Text("inline.waits", "name", t.In.From.Name)),
			Buttons: [][]chat.Button{{{Label: priced(t, tool, quote), Data: k.Data("inline" + strconv.Itoa(len(k.State.Tools)-1)), Style: chat.ButtonPrimary}}},
		},
	}
}

// readyQuote prices a tool that has all it needs in these words, and may be used by this person here; else it is not ready.
func readyQuote(ctx context.Context, t *turn.Turn, tool *registry.Tool, words string) (q billing.Quote, ready bool, err error) {
	if barred, err := t.Barred(ctx, tool); barred != nil || err != nil || tool.Refusal(t.Audience()) != nil {
		return q, false, err
	}
	d := NewDraft(t, tool)
	if d.Read(tool, words, nil) != nil {
		return q, false, nil
	}
	bound, err := Bind(ctx, t, d)
	var bad *registry.Error
	if errors.As(err, &bad) && bad.Code != registry.CodeInternal {
		return q, false, nil // such words are no value of its inputs
	}
	if err != nil {
		return q, false, err
	}
	if _, unsaid := input.Unsaid(bound, d); unsaid || len(bound.Missing) > 0 {
		return q, false, nil
	}
	if q, err = t.Services.Runs.Quote(ctx, bound); err != nil {
		return q, false, fmt.Errorf("quote %s: %w", d.ToolID, err)
	}
	return q, true, nil
}

// PressInline runs the tool of a message of inline mode. Its sender presses, and pays. Files get into such a message by way of
// the person's own chat with the bot, so that nothing is begun before that is open.
func PressInline(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	inline := t.In.Chat.Inline
	if inline == nil {
		return t.Alert(ctx, "press.tooOld")
	}
	here := *inline
	here.Stands = k.State.Stands
	t.In.Chat.Inline = &here
	err := t.Out.Working(ctx, chat.Place{Chat: here.Private}, chat.ActivityTyping)
	if errors.Is(err, chat.ErrUnreachable) {
		return errors.Join(t.Alert(ctx, "inline.closed"), turn.ErrNotDone)
	}
	if err != nil { // a sign of work only
		t.Services.Log.DebugContext(ctx, "no sign of work", "error", err)
	}
	return PressSaid(ctx, t, k, n)
}
