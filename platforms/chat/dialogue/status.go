package dialogue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// stopAction is what the button that ends a question does.
const stopAction = "askstop"

// status is the message that shows how far a question is.
type status struct {
	t       *turn.Turn
	q       *question
	ref     chat.MessageRef
	shown   string // what the message says
	buttons store.Keyboard
	since   time.Time

	mu      sync.Mutex
	waits   bool
	said    string
	steps   []*step
	changed chan struct{}
}

// step is a call of a tool as people see it.
type step struct {
	of    *agent.Step
	tool  string
	sign  string
	found int
}

func newStatus(t *turn.Turn, q *question) *status {
	return &status{
		t: t, q: q, buttons: t.Keyboard(store.KeyboardState{Prompt: t.In.IDs[0]}), since: time.Now(),
		waits: q.before != nil, changed: make(chan struct{}, 1),
	}
}

// begun tells that it is the question's turn.
func (s *status) begun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = false
	s.touch()
}

// told takes what happens, see agent.Question.
func (s *status) told(e agent.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Kind == agent.EventText && e.Text != "":
		s.said = e.Text
	case e.Step != nil:
		s.note(e.Step)
	}
	s.touch()
}

// note keeps where a step stands. Of the agent's own tools only its search is work that people wait for.
func (s *status) note(of *agent.Step) {
	tool, known := s.t.Tools.Resolve(of.Tool)
	if !known {
		return
	}
	var at *step
	for _, one := range s.steps {
		if one.of == of {
			at = one
		}
	}
	if at == nil {
		at = &step{of: of, tool: tool.DisplayName}
		s.steps = append(s.steps, at)
	}
	switch {
	case of.Card != nil:
		at.sign = "✋"
	case of.Result.OK:
		at.sign, at.found = "✓", count(of.Result.Data)
	case of.Over():
		at.sign = "✗"
	default:
		at.sign = "…"
	}
}

// count is how many things a result has, where it is a list.
func count(data any) int {
	switch data := data.(type) {
	case []any:
		return len(data)
	case map[string][]any:
		if len(data) == 1 {
			for _, list := range data {
				return len(list)
			}
		}
	}
	return 0
}

func (s *status) touch() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// stepsShown is how many steps, of the latest, are shown.
const stepsShown = 4

// message draws where the question stands.
func (s *status) message() chat.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.t.Say
	var steps chat.Text
	for _, one := range s.steps[max(0, len(s.steps)-stepsShown):] {
		line := one.sign + " " + one.tool
		if one.found > 1 {
			line += fmt.Sprintf(" (%d)", one.found)
		}
		steps = chat.Lines(steps, chat.Plain(line))
	}
	text := written(s.said)
	switch {
	case s.waits:
		text = v.Text("asked.waits")
	case text.Len() == 0 && steps == nil:
		text = v.Text("asked.thinking")
	}
	m := s.t.Answering(chat.Join("\n\n", text.Cut(max(100, s.t.Out.Caps.TextLimit-steps.Len()-2)), steps))
	m.Buttons = [][]chat.Button{{{Label: v.Line("button.stop"), Data: s.buttons.Data(stopAction)}}}
	return m
}

// looksEvery is how often it is looked whether the question was stopped in another process.
const looksEvery = time.Second

// follow edits the message when something has changed, at the platform's pace, the first time at once. It ends with ctx; stop is called
// when the person wants the question ended.
func (s *status) follow(ctx context.Context, stop func()) {
	look := time.NewTicker(looksEvery)
	defer look.Stop()
	work := time.NewTicker(max(time.Second, s.t.Out.Caps.WorkingFor-time.Second))
	defer work.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	<-due.C
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.q.stopped:
			stop()
			return
		case <-look.C:
			if k, err := s.t.Services.Store.Keyboards.Find(ctx, s.t.In.Platform, s.buttons.ID); err == nil && k.Used[stopAction] != "" {
				s.q.stop()
			}
		case <-work.C:
			s.t.Working(ctx, chat.ActivityTyping)
		case <-s.changed:
			due.Reset(time.Until(next))
		case <-due.C:
			m := s.message()
			if m.Text.String() == s.shown {
				continue
			}
			wait, ok := s.edit(ctx, m)
			if ok {
				s.shown = m.Text.String()
			} else {
				due.Reset(wait)
			}
			next = time.Now().Add(wait)
		}
	}
}

// edit shows how far the question is, and gives how long the next edit has to wait; ok is false where this one has to come again.
func (s *status) edit(ctx context.Context, m chat.Message) (wait time.Duration, ok bool) {
	out := s.t.Out
	wait = out.Caps.ProgressInterval(s.t.In.Chat.Kind)
	if s.ref.IsZero() || !out.Caps.Edit {
		return wait, true
	}
	m.Droppable = true
	_, err := out.Edit(ctx, s.ref, out.Fit(m))
	var refused *registry.Error
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		return max(refused.RetryAfter, wait), false
	}
	if err != nil {
		s.t.Services.Log.DebugContext(ctx, "what a model does was not shown", "error", err)
	}
	return wait, err == nil || errors.Is(err, chat.ErrGone)
}
