package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/runs/work"
)

// curious is a provider that asks in the midst of its calls, and tells what it heard.
type curious struct {
	questions []registry.Question
	limit     time.Duration // of a call; 0: none
	together  bool          // it does not wait for an answer before it asks the next

	mu    sync.Mutex
	heard []string
}

func (c *curious) Call(ctx context.Context, call registry.Call) (registry.Result, error) {
	if c.limit > 0 {
		limited, cancel := context.WithTimeout(ctx, c.limit)
		defer cancel()
		ctx = limited
	}
	var all sync.WaitGroup
	for _, q := range c.questions {
		ask := func() {
			reply := call.Ask(ctx, q)
			values, _ := json.Marshal(reply.Values)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.heard = append(c.heard, fmt.Sprintf("%s %s %s", q.Message, reply.Action, values))
		}
		if c.together {
			all.Go(ask)
		} else {
			ask()
		}
	}
	all.Wait()
	return registry.Result{Outputs: []registry.Output{runstest.Text("result", "la")}}, ctx.Err()
}

func (c *curious) told() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.heard)
}

// asked is a platform that is told of questions.
type asked struct {
	inbox
	words []string
}

func (a *asked) say(words string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.words = append(a.words, words)
	return nil
}

func (a *asked) Ask(_ context.Context, run runs.Run) error { return a.say("asks " + run.Question.ID) }

func (a *asked) Asked(_ context.Context, _ runs.Run, questionID string) error {
	return a.say("over " + questionID)
}

func (a *asked) said() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.words)
}

var (
	whichShelf = registry.Question{Message: "Which shelf?", Fields: []registry.InputField{{Name: "shelf", Type: registry.TypeNumber, Integer: true, Required: true}}}
	howMany    = registry.Question{Message: "How many?", Fields: []registry.InputField{{Name: "n", Type: registry.TypeNumber, Required: true}}}
)

func shelf(n any) registry.Reply {
	return registry.Reply{Action: registry.ActionAccept, Values: map[string]any{"shelf": n}}
}

// asks makes a house whose provider is curious.
func asks(t *testing.T, c *curious, adapt func(*runs.Config), tool registry.Tool) *house {
	t.Helper()
	h := newHouse(t, func(config *runs.Config) {
		config.Providers = map[string]runs.Provider{"choir": {Caller: c}}
		if adapt != nil {
			adapt(config)
		}
	}, tool)
	return h
}

// question waits until a run has a question that is not the one before.
func (h *house) question(t *testing.T, runID, before string) runs.OpenQuestion {
	t.Helper()
	var open runs.OpenQuestion
	clocktest.Until(t, "the run asks", func() bool {
		run, err := h.Get(t.Context(), runID)
		if err != nil || run.Status.Final() {
			t.Fatalf("the run is %s, %v", run.Status, err)
		}
		if run.Question != nil {
			open = *run.Question
		}
		return open.ID != "" && open.ID != before
	})
	return open
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	t.Run("the owner's answer goes to the provider, once", func(t *testing.T) {
		t.Parallel()
		c, platform := &curious{questions: []registry.Question{whichShelf}}, &asked{}
		h := asks(t, c, func(config *runs.Config) { config.Deliverers["post"] = platform }, perSecond())
		h.start(t)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		states, stop := h.Subscribe(run.ID)
		defer stop()
		for state := range states {
			if state.Question != nil {
				break
			}
		}
		open := h.question(t, run.ID, "")
		if now, err := h.Get(t.Context(), run.ID); err != nil || now.Status != runs.StatusRunning || open.Message != "Which shelf?" || len(open.Fields) != 1 || time.Until(open.Until) > 10*time.Minute {
			t.Errorf("the run is %s with %+v, %v", now.Status, open, err)
		}
		var bad *registry.Error
		if _, err := h.Answer(t.Context(), run.ID, run.AccountID, open.ID, shelf("top")); !errors.As(err, &bad) || bad.Field != "shelf" || bad.Code != registry.CodeInvalidInput {
			t.Errorf("a wrong type: %v", err)
		}
		if _, err := h.Answer(t.Context(), run.ID, run.AccountID, open.ID, registry.Reply{Action: "maybe"}); !errors.As(err, &bad) || bad.Code != registry.CodeInvalidInput {
			t.Errorf("a wrong action: %v", err)
		}
		if _, err := h.Answer(t.Context(), run.ID, uuid.NewString(), open.ID, shelf("3")); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("somebody else's answer: %v", err)
		}
		if _, err := h.Answer(t.Context(), run.ID, run.AccountID, uuid.NewString(), shelf("3")); !errors.Is(err, runs.ErrNoQuestion) {
			t.Errorf("the answer to another question: %v", err)
		}
		var wins, late int
		var all sync.WaitGroup
		var mu sync.Mutex
		for range 8 {
			all.Go(func() {
				_, err := h.Answer(t.Context(), run.ID, run.AccountID, open.ID, shelf("3"))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					wins++
				} else if errors.Is(err, runs.ErrNoQuestion) {
					late++
				}
			})
		}
		all.Wait()
		if wins != 1 || late != 7 {
			t.Errorf("of eight answers %d counted and %d were told that they came too late", wins, late)
		}
		if ended := h.ends(t, run.ID); ended.Status != runs.StatusSucceeded || ended.Question != nil || !slices.Equal(c.told(), []string{`Which shelf? accept {"shelf":3}`}) {
			t.Errorf("the run is %s, the provider heard %q", ended.Status, c.told())
		}
		clocktest.Until(t, "the platform knows", func() bool { return slices.Equal(platform.said(), []string{"asks " + open.ID, "over " + open.ID}) })
		var left int
		if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM run_questions`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d questions are left, %v", left, err)
		}
		h.wantBooksBalance(t)
	})
	t.Run("no is an answer, too", func(t *testing.T) {
		t.Parallel()
		c := &curious{questions: []registry.Question{whichShelf}}
		h := asks(t, c, nil, perSecond())
		h.start(t)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		open := h.question(t, run.ID, "")
		if _, err := h.Answer(t.Context(), run.ID, run.AccountID, open.ID, registry.Reply{Action: registry.ActionDecline, Values: map[string]any{"shelf": "4"}}); err != nil {
			t.Fatal(err)
		}
		if h.ends(t, run.ID); !slices.Equal(c.told(), []string{"Which shelf? decline null"}) {
			t.Errorf("the provider heard %q", c.told())
		}
	})
	t.Run("two questions come one after the other", func(t *testing.T) {
		t.Parallel()
		for _, together := range []bool{false, true} {
			c := &curious{questions: []registry.Question{whichShelf, whichShelf}, together: together}
			h := asks(t, c, nil, perSecond())
			h.start(t)
			run := h.accept(t, sing(h.user(t, billing.Dollar)))
			first := h.question(t, run.ID, "")
			if _, err := h.Answer(t.Context(), run.ID, run.AccountID, first.ID, shelf("1")); err != nil {
				t.Fatal(err)
			}
			second := h.question(t, run.ID, first.ID)
			if _, err := h.Answer(t.Context(), run.ID, run.AccountID, first.ID, shelf("7")); !errors.Is(err, runs.ErrNoQuestion) {
				t.Errorf("the first answer again: %v", err)
			}
			if _, err := h.Answer(t.Context(), run.ID, run.AccountID, second.ID, shelf("2")); err != nil {
				t.Fatal(err)
			}
			if h.ends(t, run.ID); !slices.Equal(c.told(), []string{`Which shelf? accept {"shelf":1}`, `Which shelf? accept {"shelf":2}`}) {
				t.Errorf("the provider heard %q", c.told())
			}
		}
	})
	t.Run("a service that asks without end hears no more", func(t *testing.T) {
		t.Parallel()
		c := &curious{}
		for range work.MaxQuestions + 1 {
			c.questions = append(c.questions, howMany)
		}
		h := asks(t, c, nil, perSecond())
		h.start(t)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		open := runs.OpenQuestion{}
		for range work.MaxQuestions {
			open = h.question(t, run.ID, open.ID)
			if _, err := h.Answer(t.Context(), run.ID, run.AccountID, open.ID, registry.Reply{Action: registry.ActionCancel}); err != nil {
				t.Fatal(err)
			}
		}
		if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded || len(c.told()) != work.MaxQuestions+1 {
			t.Errorf("the run is %s after %d questions", run.Status, len(c.told()))
		}
	})
	for name, adapt := range map[string]func(*curious, *runs.Config){
		"nobody answers in time":                  func(_ *curious, config *runs.Config) { config.AnswerWait = 50 * time.Millisecond },
		"the call has no time for an answer left": func(c *curious, _ *runs.Config) { c.limit = 10 * time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, platform := &curious{questions: []registry.Question{whichShelf}}, &asked{}
			h := asks(t, c, func(config *runs.Config) {
				config.Deliverers["post"] = platform
				adapt(c, config)
			}, perSecond())
			h.start(t)
			run := h.accept(t, sing(h.user(t, billing.Dollar)))
			if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded || !slices.Equal(c.told(), []string{"Which shelf? cancel null"}) {
				t.Errorf("the run is %s, the provider heard %q", run.Status, c.told())
			}
			var asked, over string // the platform keeps the question's id: the question itself may be gone before anybody looks
			clocktest.Until(t, "the platform knows that it is over", func() bool {
				said := platform.said()
				if len(said) == 2 {
					asked, over = strings.TrimPrefix(said[0], "asks "), strings.TrimPrefix(said[1], "over ")
				}
				return len(said) == 2
			})
			if _, err := h.Answer(t.Context(), run.ID, run.AccountID, asked, shelf("3")); asked != over || !errors.Is(err, runs.ErrNoQuestion) {
				t.Errorf("an answer to %q, of which %q is over, after that: %v", asked, over, err)
			}
		})
	}
	t.Run("the question of a run that is canceled is over", func(t *testing.T) {
		t.Parallel()
		c := &curious{questions: []registry.Question{whichShelf}}
		h := asks(t, c, nil, perSecond())
		h.start(t)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		open := h.question(t, run.ID, "")
		ended, err := h.Cancel(t.Context(), run.ID, run.AccountID)
		if err != nil || ended.Question != nil {
			t.Fatalf("it has %+v, %v", ended.Question, err)
		}
		if _, err := h.Answer(t.Context(), run.ID, run.AccountID, open.ID, shelf("3")); !errors.Is(err, runs.ErrNoQuestion) {
			t.Errorf("an answer after that: %v", err)
		}
		clocktest.Until(t, "the provider hears of it", func() bool { return slices.Equal(c.told(), []string{"Which shelf? cancel null"}) })
		h.free(t, ended, billing.ReasonCanceled)
	})
	t.Run("another process takes the answer", func(t *testing.T) {
		t.Parallel()
		c := &curious{questions: []registry.Question{whichShelf}}
		h := asks(t, c, nil, perSecond())
		h.start(t)
		other := h.open(t)
		h.start(t, other)
		run := h.accept(t, sing(h.user(t, billing.Dollar)))
		open := h.question(t, run.ID, "")
		if _, err := other.Answer(t.Context(), run.ID, run.AccountID, open.ID, shelf("3")); err != nil {
			t.Fatal(err)
		}
		if h.ends(t, run.ID); !slices.Equal(c.told(), []string{`Which shelf? accept {"shelf":3}`}) {
			t.Errorf("the provider heard %q", c.told())
		}
	})
	for name, reads := range map[string]bool{"a call that only reads asks anew after a restart": true, "a call that changes something is lost with its question": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := perSecond()
			if reads {
				tool.Capability = registry.CapabilityRead
			}
			c := &curious{questions: []registry.Question{whichShelf}}
			h := asks(t, c, nil, tool)
			first := h.open(t)
			if err := first.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			run, err := first.Accept(t.Context(), sing(h.user(t, billing.Dollar)))
			if err != nil {
				t.Fatal(err)
			}
			open := h.question(t, run.ID, "")
			began := time.Now()
			stop(t, first)
			if took := time.Since(began); took > h.Service.Config.SoftStop {
				t.Errorf("it took %s to stop beside a question", took)
			}
			if now, err := h.Get(t.Context(), run.ID); err != nil || now.Question != nil {
				t.Errorf("between the two it has %+v, %v", now.Question, err)
			}
			h.start(t)
			if !reads {
				if run := h.ends(t, run.ID); run.Status != runs.StatusFailed || run.Error.Code != string(registry.CodeLost) {
					t.Errorf("the run is %s, %+v", run.Status, run.Error)
				}
				return
			}
			again := h.question(t, run.ID, open.ID)
			if _, err := h.Answer(t.Context(), run.ID, run.AccountID, again.ID, shelf("3")); err != nil {
				t.Fatal(err)
			}
			if run := h.ends(t, run.ID); run.Status != runs.StatusSucceeded {
				t.Errorf("the run is %s, %+v", run.Status, run.Error)
			}
		})
	}
}
