package dialogue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
)

// show puts the answer in place of the status message, and below it the card of what waits. What a question has left waiting that was
// stopped or failed is canceled: nobody was shown it.
func (d *Dialogue) show(ctx context.Context, t *turn.Turn, s *status, answer agent.Answer, cause error) error {
	ids := waiting(answer)
	if cause != nil {
		if err := cancel(ctx, t, ids); err != nil {
			t.Services.Log.WarnContext(ctx, "what nobody was shown still waits", "runs", ids, "error", err)
		}
		ids = nil
	}
	if err := s.replace(ctx, d.text(ctx, t, s, answer, cause)); err != nil {
		return fmt.Errorf("show an answer: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}
	return d.propose(ctx, t, ids)
}

// text is what the person reads at the end.
func (d *Dialogue) text(ctx context.Context, t *turn.Turn, s *status, answer agent.Answer, cause error) chat.Text {
	said := answer.Text
	if cause != nil && said == "" {
		said = s.said
	}
	text := written(said)
	if refs := sources(answer); len(refs) > 0 {
		text = chat.Join("\n\n", text, chat.Lines(append([]chat.Text{t.Say.Text("asked.sources")}, refs...)...))
	}
	var end chat.Text
	switch {
	case errors.Is(cause, errStopped):
		end = t.Say.Text("asked.stopped")
	case cause != nil:
		end = d.failure(ctx, t, cause)
	case answer.Stop != agent.StopAnswered:
		end = bound(t, answer)
	case text.Len() == 0:
		end = t.Say.Text("asked.nothing")
	}
	return chat.Join("\n\n", text, end)
}

// bound says which bound ended a question.
func bound(t *turn.Turn, answer agent.Answer) chat.Text {
	if key := "asked.bound." + string(answer.Stop); t.Say.Has(key) {
		return t.Say.Text(key)
	}
	return chat.Plain(answer.Notice)
}

// failure says why there is no answer. What a model's service refuses is the operator's to mend.
func (d *Dialogue) failure(ctx context.Context, t *turn.Turn, cause error) chat.Text {
	if text := start.NoRoom(ctx, t, cause); text != nil {
		return text
	}
	var said *registry.Error
	if errors.As(cause, &said) {
		switch said.Code {
		case registry.CodeInvalidInput, registry.CodeRefused, registry.CodeUnavailable, registry.CodeRateLimited, registry.CodeTimeout:
			return chat.Plain(words.Told(t.Say.Voice, said.Code, said.Text()))
		}
	}
	if hint := start.FileHint(t, cause); hint != nil {
		return hint
	}
	code := turn.ErrorCode()
	t.Services.Log.ErrorContext(ctx, "a question could not be answered", "code", code, "error", cause)
	return t.Apology(code)
}

// replace shows the answer in place of the status message, in as many messages as it takes. Where edits notify nobody and it has taken
// long, it is a new message.
func (s *status) replace(ctx context.Context, text chat.Text) error {
	pages := split(text, s.t.Out.Caps.TextLimit)
	first := s.t.Answering(pages[0])
	late := s.t.Out.Caps.NoticedFor > 0 && time.Since(s.since) > s.t.Out.Caps.NoticedFor
	var err error
	if late {
		first.Ping = s.t.In.From.ExternalID
		if _, err = s.t.Post(ctx, first); err == nil && !s.ref.IsZero() {
			err = s.t.Out.Delete(ctx, s.ref)
		}
	} else {
		_, err = s.t.Change(ctx, s.ref, first)
	}
	for _, page := range pages[1:] {
		if err == nil {
			_, err = s.t.Reply(ctx, page)
		}
	}
	return err
}
