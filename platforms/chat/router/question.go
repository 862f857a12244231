package router

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// answerRepliedQuestion takes a reply to the question of a run as its answer.
func answerRepliedQuestion(ctx context.Context, t *turn.Turn) (bool, error) {
	if t.In.ReplyTo == nil || !t.In.ReplyTo.Own {
		return false, nil
	}
	answered, over, err := answerTyped(ctx, t, func(q store.Question) bool { return q.MessageID == t.In.ReplyTo.Ref.ID })
	if over && err == nil {
		return true, t.Tell(ctx, "question.over")
	}
	return answered, err
}

// answerQuestion takes a message in private as the answer to what a run's service asked last.
func answerQuestion(ctx context.Context, t *turn.Turn) (bool, error) {
	if t.In.Chat.Kind != chat.ChatPrivate || t.In.ReplyTo != nil {
		return false, nil
	}
	answered, _, err := answerTyped(ctx, t, func(q store.Question) bool { return q.Until.After(time.Now()) })
	return answered, err
}

// answerTyped takes the text of a message as the answer to the latest of this person's questions here. It stays open when the text
// does not fit. over says that there is none any more.
func answerTyped(ctx context.Context, t *turn.Turn, meant func(store.Question) bool) (answered, over bool, err error) {
	found, err := t.Services.Store.Questions.OfPerson(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID)
	for _, q := range found {
		if !meant(q) {
			continue
		}
		var run runs.Run
		if run, err = askingRun(ctx, t, q); errors.Is(err, runs.ErrNoQuestion) { // its process died with it
			if _, _, err = t.Services.Store.Questions.Close(ctx, q.RunID, q.ID); err != nil {
				return true, false, err
			}
			t.Services.Deliverer.ShowQuestionOver(ctx, t.Out, q)
			over = true
			continue
		}
		if err != nil {
			return true, false, err
		}
		answered, err = takeAnswer(ctx, t, q, run)
		if errors.Is(err, runs.ErrNoQuestion) {
			return false, true, nil
		}
		return answered, false, err
	}
	return false, over, err
}

func takeAnswer(ctx context.Context, t *turn.Turn, q store.Question, run runs.Run) (bool, error) {
	if len(run.Question.Fields) == 0 {
		if run.Question.URL != "" || !runs.Affirms(t.In.Text) {
			return false, nil // there are buttons for that
		}
		return true, concludeQuestion(ctx, t, q, run, registry.ActionAccept)
	}
	f := run.Question.Fields[q.Field]
	text := strings.TrimSpace(t.In.Text)
	if text == "" {
		return true, start.HintOr(ctx, t, chat.Lines(t.WrongKind(f), t.Say.Text("ask.again")), nil)
	}
	value, bad := registry.ParseAnswer(f, text)
	if bad != nil {
		return true, start.HintOr(ctx, t, chat.Lines(t.WrongValue(f, bad), t.Say.Text("ask.again")), nil)
	}
	return true, giveValues(ctx, t, q, run, map[string]any{f.Name: value}, q.Field+1)
}

// askingRun is the run of a question, as long as it asks.
func askingRun(ctx context.Context, t *turn.Turn, q store.Question) (runs.Run, error) {
	run, err := t.Services.Runs.Get(ctx, q.RunID)
	if err == nil && (run.AccountID != t.Account.ID || run.Question == nil || run.Question.ID != q.ID || q.Field > max(0, len(run.Question.Fields)-1)) {
		err = runs.ErrNoQuestion
	}
	if errors.Is(err, runs.ErrNotFound) {
		err = runs.ErrNoQuestion
	}
	return t.Say.Read(run), err
}

// giveValues keeps the values of some fields and asks for the next one, or gives the whole answer.
func giveValues(ctx context.Context, t *turn.Turn, q store.Question, run runs.Run, values map[string]any, next int) error {
	from := q.Field
	if q.State.Values == nil {
		q.State.Values = map[string]any{}
	}
	for name, value := range values {
		if value != nil {
			q.State.Values[name] = value
		}
	}
	if next >= len(run.Question.Fields) {
		return concludeQuestion(ctx, t, q, run, registry.ActionAccept)
	}
	before := q
	q.Field, q.MessageID = next, ""
	answered, moved, err := t.Services.Store.Questions.Move(ctx, q, from)
	if err != nil || !moved {
		return errors.Join(err, overUnless(moved || err != nil))
	}
	if err := t.Services.Deliverer.AskField(ctx, t.Out, t.Say, run, &q, &t.In.Incoming); err != nil {
		_, _, back := t.Services.Store.Questions.Move(context.WithoutCancel(ctx), store.Question{RunID: q.RunID, ID: q.ID, MessageID: before.MessageID, Field: from, State: before.State}, next)
		return errors.Join(err, back)
	}
	t.Services.Deliverer.NoButtons(ctx, t.Out, answered)
	return nil
}

func overUnless(ok bool) error {
	if ok {
		return nil
	}
	return runs.ErrNoQuestion
}

// concludeQuestion gives the whole answer to the run. It is closed here first, so that nobody is told that it is over who has just answered it.
func concludeQuestion(ctx context.Context, t *turn.Turn, q store.Question, run runs.Run, action registry.Action) error {
	closed, open, err := t.Services.Store.Questions.Close(ctx, q.RunID, q.ID)
	if err != nil || !open {
		return errors.Join(err, overUnless(open || err != nil))
	}
	_, err = t.Services.Runs.Answer(ctx, run.ID, t.Account.ID, q.ID, registry.Reply{Action: action, Values: q.State.Values})
	var bad *registry.Error
	if errors.As(err, &bad) && bad.Code == registry.CodeInvalidInput {
		// All fields fitted one by one: the field that does not is asked for once more.
		q.Field = max(0, slices.IndexFunc(run.Question.Fields, func(f registry.InputField) bool { return f.Name == bad.Field }))
		delete(q.State.Values, bad.Field)
		if _, err := t.Services.Store.Questions.Open(ctx, q); err != nil {
			return err
		}
		return t.Services.Deliverer.AskField(ctx, t.Out, t.Say, run, &q, &t.In.Incoming)
	}
	if err != nil && !errors.Is(err, runs.ErrNoQuestion) {
		_, back := t.Services.Store.Questions.Open(context.WithoutCancel(ctx), q)
		return errors.Join(err, back)
	}
	if action == registry.ActionAccept || err != nil {
		t.Services.Deliverer.NoButtons(ctx, t.Out, closed.State.Asked) // which may be known since a moment
	}
	return err
}

// onQuestion does something with the question that buttons belong to. who pressed what is over is told.
func onQuestion(ctx context.Context, t *turn.Turn, k store.Keyboard, do func(store.Question, runs.Run) error) error {
	found, err := t.Services.Store.Questions.OfRun(ctx, k.State.Run)
	if err != nil {
		return err
	}
	err = runs.ErrNoQuestion
	i := slices.IndexFunc(found, func(q store.Question) bool { return q.ID == k.State.Prompt && q.Field == k.State.Page })
	if i >= 0 {
		var run runs.Run
		if run, err = askingRun(ctx, t, found[i]); err == nil {
			err = do(found[i], run)
		}
	}
	if errors.Is(err, runs.ErrNoQuestion) {
		return t.Alert(ctx, "question.over")
	}
	return err
}

// pressQuestionChoice answers a field by one of its choices.
func pressQuestionChoice(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	return onQuestion(ctx, t, k, func(q store.Question, run runs.Run) error {
		if n < 0 || n >= len(k.State.Values) || len(run.Question.Fields) == 0 {
			return t.Alert(ctx, "press.tooOld")
		}
		return answerByPress(ctx, t, q, run, map[string]any{run.Question.Fields[q.Field].Name: k.State.Values[n]}, q.Field+1)
	})
}

// answerByPress gives an answer by a press, which is acknowledged first.
func answerByPress(ctx context.Context, t *turn.Turn, q store.Question, run runs.Run, values map[string]any, next int) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	return giveValues(ctx, t, q, run, values, next)
}

func pressSkip(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onQuestion(ctx, t, k, func(q store.Question, run runs.Run) error { return answerByPress(ctx, t, q, run, nil, q.Field+1) })
}

// pressAgree accepts a question that asks for nothing else.
func pressAgree(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onQuestion(ctx, t, k, func(q store.Question, run runs.Run) error {
		if len(run.Question.Fields) > 0 {
			return runs.ErrNoQuestion
		}
		return answerByPress(ctx, t, q, run, nil, 1)
	})
}

// pressDecline tells the service no, whatever was answered until then.
func pressDecline(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onQuestion(ctx, t, k, func(q store.Question, run runs.Run) error {
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		if err := concludeQuestion(ctx, t, q, run, registry.ActionDecline); err != nil {
			return err
		}
		_, err := t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("question.declined")})
		return err
	})
}

// pressQuestionForm opens a dialog for the fields that are typed.
func pressQuestionForm(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onQuestion(ctx, t, k, func(_ store.Question, run runs.Run) error {
		form := chat.Form{Title: run.Tool.DisplayName, Data: k.Data("qanswer")}
		for _, name := range k.State.Fields {
			if f, ok := run.Question.Field(name); ok {
				field := t.Say.FormField(f, f.Default, f.Required)
				field.Name = fieldKey(len(form.Fields)) // a service's own may be longer than platforms take
				form.Fields = append(form.Fields, field)
			}
		}
		return t.OpenForm(ctx, form)
	})
}

// fieldKey is the name of a dialog's field.
func fieldKey(i int) string { return "answer" + strconv.Itoa(i) }

// questionFilled takes the values of a dialog.
func questionFilled(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onQuestion(ctx, t, k, func(q store.Question, run runs.Run) error {
		values := map[string]any{}
		for i, name := range k.State.Fields {
			f, _ := run.Question.Field(name)
			text, _ := t.In.Options[fieldKey(i)].(string)
			if text = strings.TrimSpace(text); text == "" && !f.Required {
				continue
			}
			value, bad := registry.ParseAnswer(f, text)
			if bad != nil {
				return t.Answer(ctx, t.WrongValue(f, bad).String(), true)
			}
			values[name] = value
		}
		return answerByPress(ctx, t, q, run, values, q.Field+len(k.State.Fields))
	})
}
