package show

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Ask asks the owner of a run what its service wants to know, in the chat where the run was asked for, once. What was asked for
// on a page is answered there.
func (d *Deliverer) Ask(ctx context.Context, run runs.Run) error {
	s := d.platforms[run.Origin.Platform]
	if run.Question == nil || s == nil || len(run.Origin.Target) == 0 {
		return nil
	}
	where, err := store.TargetOf(run)
	if err != nil {
		return err
	}
	unlock := d.live.lock("question " + run.ID)
	defer unlock()
	before, err := d.store.Questions.OfRun(ctx, run.ID)
	if err != nil {
		return err
	}
	q := store.Question{
		RunID: run.ID, ID: run.Question.ID, Platform: run.Origin.Platform, Chat: where.Chat.Chat, AccountID: run.AccountID, Until: run.Question.Until,
		State: store.QuestionState{Where: where},
	}
	if mine, err := d.store.Questions.Open(ctx, q); err != nil || !mine {
		return err
	}
	for _, old := range before {
		if old.ID != q.ID {
			d.ShowQuestionOver(ctx, s, old)
		}
	}
	if err := d.AskField(ctx, s, d.Voice(where.Language), run, &q, nil); err != nil {
		_, _, closing := d.store.Questions.Close(context.WithoutCancel(ctx), q.RunID, q.ID) // it may be tried again
		return errors.Join(err, closing)
	}
	return nil
}

// Asked shows that a question needs no answer any more, unless it was answered here.
func (d *Deliverer) Asked(ctx context.Context, run runs.Run, questionID string) error {
	s := d.platforms[run.Origin.Platform]
	if s == nil {
		return nil
	}
	unlock := d.live.lock("question " + run.ID)
	defer unlock()
	q, open, err := d.store.Questions.Close(ctx, run.ID, questionID)
	if err == nil && open {
		d.ShowQuestionOver(ctx, s, q)
	}
	return err
}

// ShowQuestionOver shows in place of what was asked last that nobody waits for it any more.
func (d *Deliverer) ShowQuestionOver(ctx context.Context, s *Platform, q store.Question) {
	if q.State.Asked.IsZero() || !s.Caps.Edit {
		return
	}
	over := s.Fit(chat.Message{To: q.State.Where.Chat.Place, Text: d.Voice(q.State.Where.Language).Text("question.over")})
	_, _ = s.Edit(ctx, q.State.Asked, over) // its buttons say so as well
}

// AskField asks for the field that is due. trigger is the update that this answers, or nil.
func (d *Deliverer) AskField(ctx context.Context, s *Platform, v Voice, run runs.Run, q *store.Question, trigger *chat.Incoming) error {
	k := store.Keyboard{ID: store.NewID(), Platform: q.Platform, AccountID: run.AccountID, State: store.KeyboardState{Run: run.ID, Tool: run.Tool.ToolID, Prompt: q.ID, Page: q.Field}}
	m := s.fieldMessage(v, run, q, &k)
	if trigger != nil {
		m.Trigger = trigger
	}
	if err := d.store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	asked, err := s.Post(ctx, m)
	if err != nil {
		return fmt.Errorf("ask the question of run %s: %w", run.ID, err)
	}
	q.MessageID, q.State.Asked = asked.ID, asked
	_, moved, err := d.store.Questions.Move(context.WithoutCancel(ctx), *q, q.Field) // people see it, whatever ends meanwhile
	if err == nil && !moved {                                                        // it was answered while it was being shown
		d.NoButtons(ctx, s, asked)
	}
	return err
}

// NoButtons takes the buttons from a message that was answered.
func (d *Deliverer) NoButtons(ctx context.Context, s *Platform, answered chat.MessageRef) {
	if answered.IsZero() {
		return
	}
	if err := s.EditButtons(ctx, answered, nil); err != nil && !errors.Is(err, chat.ErrGone) {
		d.log.DebugContext(ctx, "the buttons of an answered question stay", "error", err)
	}
}

// maxButtonURL is how long the address of a button may be; Discord's is the shortest.
const maxButtonURL = 512

// fieldMessage draws the question with the field that is due, and fills in what the buttons of k are about.
func (s *Platform) fieldMessage(v Voice, run runs.Run, q *store.Question, k *store.Keyboard) chat.Message {
	asked := run.Question
	m := chat.Message{To: q.State.Where.Chat.Place}
	if q.State.Where.Chat.Kind != chat.ChatPrivate {
		m.ReplyTo = q.State.Where.Request
	}
	head := v.Text("question.asks", "tool", v.Read(run).Tool.DisplayName)
	var rest chat.Text
	var row []chat.Button
	switch {
	case asked.URL != "":
		host := ""
		if u, err := url.Parse(asked.URL); err == nil {
			host = u.Host
		}
		rest = chat.Lines(v.Text("question.page", "host", host), chat.Plain(asked.URL))
		if len(asked.URL) <= maxButtonURL {
			row = []chat.Button{{Label: v.Line("button.openPage"), URL: asked.URL}}
		}
		row = append(row, chat.Button{Label: v.Line("button.agree"), Data: k.Data("qyes"), Style: chat.ButtonPrimary})
	case len(asked.Fields) == 0:
		row = []chat.Button{{Label: v.Line("button.agree"), Data: k.Data("qyes"), Style: chat.ButtonPrimary}}
	default:
		f := asked.Fields[q.Field]
		rest = v.fieldQuestion(f, q.State.Where.Chat.Kind)
		if !f.Multiple {
			k.State.Values = s.ShownChoices(f)
			s.Offer(v, &m, *k, "q", "menu.value", s.ChoiceOptions(v, f))
		}
		if k.State.Fields = s.TypedTogether(asked.Fields[q.Field:]); len(k.State.Fields) > 0 {
			row = append(row, chat.Button{Label: v.Line("button.answer"), Data: k.Data("qform"), Style: chat.ButtonPrimary})
		}
		if !f.Required {
			row = append(row, chat.Button{Label: v.Line("button.skip"), Data: k.Data("qskip")})
		}
	}
	if q.Field == 0 {
		minutes := max(1, int(time.Until(q.Until).Round(time.Minute).Minutes()))
		head = chat.Lines(head, chat.Text{{Style: chat.StyleQuote, Text: asked.Message}}.Cut(max(300, s.Caps.TextLimit/2-len(asked.URL))))
		rest = chat.Join("\n\n", rest, chat.Join(" ", v.Text("question.goes"), v.Text("question.wait", "n", minutes)))
	}
	m.Text = chat.Join("\n\n", head, rest)
	m.Buttons = append(m.Buttons, row, []chat.Button{{Label: v.Line("button.decline"), Data: k.Data("qno")}, {Label: v.Line("button.cancelRun"), Data: k.Data("stop")}})
	return m
}

// fieldQuestion says what a field is, what it takes and an example.
func (v Voice) fieldQuestion(f registry.InputField, kind chat.ChatKind) chat.Text {
	text := v.Text("question.field", "input", f.Label())
	if f.Description != "" {
		text = chat.Lines(text, chat.Plain(chat.Brief(f.Description, 300)))
	}
	if f.Multiple && len(f.Choices) > 0 {
		labels := make([]string, len(f.Choices))
		for i, c := range f.Choices {
			labels[i] = c.Text()
		}
		text = chat.Lines(text, v.Text("question.many", "choices", chat.Brief(strings.Join(labels, ", "), 500)))
	} else {
		text = chat.Lines(text, chat.Plain(words.Wanted(v.Voice, f)))
	}
	if shown := chat.FirstNonEmpty(input.ShowValue(f, f.Default), exampleOfFormat(f)); shown != "" && len(f.Choices) == 0 && f.Type != registry.TypeBoolean {
		text = chat.Lines(text, v.Text("ask.example", "example", chat.Brief(shown, 200)))
	}
	if kind != chat.ChatPrivate {
		text = chat.Lines(text, v.Text("question.reply"))
	}
	return text
}

// exampleOfFormat shows how a text of the format in a field's schema is written, or gives "".
func exampleOfFormat(f registry.InputField) string {
	var schema struct{ Format string }
	if json.Unmarshal(f.Schema, &schema) != nil {
		return ""
	}
	return map[string]string{"email": "name@example.org", "uri": "https://example.org/", "date": "2026-11-24", "date-time": "2026-11-24T18:30:00Z"}[schema.Format]
}
