package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

// script is a model that says what a test wants, and keeps what it was told.
type script struct {
	say  func(c agent.Conversation) (agent.Turn, error)
	last agent.Conversation
}

func (s *script) Answer(_ context.Context, c agent.Conversation) (agent.Turn, error) {
	s.last = c
	return s.say(c)
}

// calls is a model that makes these calls at once and then tells what it heard.
func calls(list ...agent.Call) *script {
	return &script{say: func(c agent.Conversation) (agent.Turn, error) {
		last := c.Turns[len(c.Turns)-1]
		if last.By == agent.Person {
			return agent.Turn{By: agent.Asked, Calls: list}, nil
		}
		var heard []string
		for _, r := range last.Results {
			heard = append(heard, r.CallID+" "+r.Text)
		}
		return agent.Turn{By: agent.Asked, Text: strings.Join(heard, "\n")}, nil
	}}
}

type house struct {
	service  *runner.Service
	registry *catalog.Registry
	provider *runstest.Provider
	account  string
}

func newHouse(t *testing.T, more ...registry.Tool) *house {
	t.Helper()
	pool := postgrestest.New(t)
	ledger := billing.NewLedger(pool)
	people := users.New(pool, users.Config{OnCreate: func(ctx context.Context, tx pgx.Tx, a users.Account) error {
		return ledger.EnsureWallet(ctx, tx, a.ID)
	}})
	tool := func(id string, capability registry.Capability) registry.Tool {
		return registrytest.Tool(id, func(t *registry.Tool) {
			t.CommandName, t.Service, t.Capability, t.CostingModel = "", "fake", capability, nil
			t.OutputSchema = registry.OutputSchema{{Name: "result", Type: "text"}}
			if capability == registry.CapabilityWrite {
				t.IntentTags = []string{"buying"}
			}
		})
	}
	h := &house{provider: &runstest.Provider{}}
	var several *missions.Service
	chains := missions.NewChains(pool, func() *missions.Service { return several })
	h.registry = registrytest.Registry(t, chains, registrytest.NewLoader("tools", append(more, tool("shop.look", registry.CapabilityRead), tool("shop.order", registry.CapabilityWrite))...))
	providers := map[string]runs.Provider{"fake": {Submitter: h.provider}, missions.ChainService: {Submitter: chains}}
	var err error
	h.service, err = runner.New(runs.Config{
		Pool: pool, Registry: h.registry, Ledger: ledger, Users: people, Limits: people, Assets: &runstest.Assets{}, Providers: providers,
	})
	if err == nil {
		several, err = missions.New(missions.Config{
			Pool: pool, Registry: h.registry, Runs: h.service, Ledger: ledger, Providers: providers,
			May: func(context.Context, string, string, string) (registry.Audience, error) {
				return registry.Everyone, nil
			},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	housetest.Begin(t, h.service)
	housetest.Begin(t, several)
	ann, err := people.Identify(t.Context(), users.Identity{Platform: "web", ExternalID: "ann", Name: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	h.account = ann.ID
	return h
}

func (h *house) agent(m agent.Model, change ...func(*agent.Config)) *agent.Agent {
	cfg := agent.Config{Registry: h.registry, Runs: h.service, Model: m, Provider: "demo", File: func(_ runs.Run, o runs.Output) any { return o.Media }}
	for _, c := range change {
		c(&cfg)
	}
	return agent.New(cfg)
}

func (h *house) ask(t *testing.T, m agent.Model, change ...func(*agent.Config)) agent.Answer {
	t.Helper()
	answer, err := h.agent(m, change...).Ask(t.Context(), agent.Question{Text: "help me", AccountID: h.account})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func namesOf(shown []agent.Tool) string {
	var names []string
	for _, t := range shown {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// registered are the tools of the registry among those that a model was shown.
func registered(shown []agent.Tool) []agent.Tool {
	var tools []agent.Tool
	for _, t := range shown {
		if strings.Contains(t.Name, ".") {
			tools = append(tools, t)
		}
	}
	return tools
}

// countedRuns counts the runs that are read whole.
type countedRuns struct {
	agent.Runs
	whole int
}

func (c *countedRuns) Get(ctx context.Context, id string) (runs.Run, error) {
	c.whole++
	return c.Runs.Get(ctx, id)
}

func TestAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	look := agent.Call{ID: "1", Tool: "shop.look", Arguments: `{"prompt":"mugs"}`}

	t.Run("B18 B26 what reads runs, and the run names the model", func(t *testing.T) {
		answer := h.ask(t, calls(look))
		if len(answer.Steps) != 1 || !answer.Steps[0].Result.OK || answer.Stop != agent.StopAnswered || answer.Rounds != 2 || !strings.Contains(answer.Text, `"ok":true,"data"`) {
			t.Fatalf("got %+v", answer)
		}
		run, err := h.service.Get(t.Context(), answer.Steps[0].RunID)
		if err != nil || run.Context != answer.Context || run.Context.PlannerProvider != "demo" || run.Context.TraceID == "" || run.Context.SessionID == "" {
			t.Errorf("the run's context is %+v, %v", run.Context, err)
		}
	})
	t.Run("A7 A57 the model is sent each tool's description", func(t *testing.T) {
		m := calls()
		h.ask(t, m)
		for _, offered := range registered(m.last.Tools) {
			tool, _ := h.registry.Snapshot().ByID(offered.Name)
			if tool == nil || tool.Description == "" || !strings.Contains(offered.Description, tool.Description) {
				t.Errorf("%s is described as %q", offered.Name, offered.Description)
			}
		}
		if offered := registered(m.last.Tools); len(offered) != 2 {
			t.Errorf("%d tools were offered", len(offered))
		}
	})
	t.Run("C16 intents narrow what the model can choose from, but hide no tool that is named", func(t *testing.T) {
		for _, c := range []struct {
			text    string
			intents []string
			want    string
		}{
			{"help me", []string{"Buying"}, "shop.order"},
			{"help me with shop.look", []string{"buying"}, "shop.look shop.order"},
			{"help me", []string{"flying"}, "shop.look shop.order"}, // a wrong guess leaves all
			{"help me", nil, "shop.look shop.order"},
		} {
			m := calls()
			if _, err := h.agent(m).Ask(t.Context(), agent.Question{Text: c.text, Intents: c.intents, AccountID: h.account}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tool := range registered(m.last.Tools) {
				got = append(got, tool.Name)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q about %v: %v, want %s", c.text, c.intents, got, c.want)
			}
		}
	})
	t.Run("B27 what changes something waits, and the model and the asker are told so", func(t *testing.T) {
		before := len(h.provider.Handles())
		answer := h.ask(t, calls(agent.Call{ID: "1", Tool: "shop.order", Arguments: `{"prompt":"mugs"}`}))
		step := answer.Steps[0]
		if step.Result.OK || step.Result.Error.Code != runs.ToolRequiresApproval || step.Result.Attempts != 0 || !strings.Contains(answer.Text, "tool_requires_approval") {
			t.Fatalf("got %+v", answer)
		}
		if run, err := h.service.Get(t.Context(), step.RunID); err != nil || run.Status != runs.StatusAwaitingConfirmation {
			t.Errorf("the run is %s, %v", run.Status, err)
		}
		if after := len(h.provider.Handles()); after != before {
			t.Errorf("%d executions", after-before)
		}
	})
	t.Run("what became of a call that waited is told with the next question of the conversation", func(t *testing.T) {
		kept := notes{}
		reads := &countedRuns{Runs: h.service}
		remember := func(c *agent.Config) { c.Conversations, c.Runs = kept, reads }
		ask := func(m agent.Model) agent.Answer {
			answer, err := h.agent(m, remember).Ask(t.Context(), agent.Question{Text: "help me", AccountID: h.account, Conversation: "c"})
			if err != nil {
				t.Fatal(err)
			}
			return answer
		}
		step := ask(calls(agent.Call{ID: "1", Tool: "shop.order", Arguments: `{"prompt":"two mugs"}`})).Steps[0]
		if step.Card == nil || step.Card.Hash == "" || step.Card.RunID != step.RunID {
			t.Fatalf("got %+v", step)
		}
		again := calls()
		ask(again)
		if opening := again.last.Turns[len(again.last.Turns)-1].Text; strings.Contains(opening, "since-then") {
			t.Errorf("it still waits, and the model heard %q", opening)
		}
		if reads.whole > 0 {
			t.Errorf("of what waits %d runs were read whole", reads.whole)
		}
		run, err := h.service.ConfirmSummary(t.Context(), step.RunID, h.account, step.Card.Hash, nil)
		if err == nil {
			_, err = runs.Await(t.Context(), h.service, run, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		ask(again)
		if opening := again.last.Turns[len(again.last.Turns)-1].Text; !strings.Contains(opening, "<since-then>shop.order: {\"ok\":true") {
			t.Errorf("the model heard %q", opening)
		}
	})
	t.Run("B32 several calls of one turn are carried out, and what is wrong with one is told of it alone", func(t *testing.T) {
		answer := h.ask(t, calls(look, agent.Call{ID: "2", Tool: "shop.fly", Arguments: `{}`}, agent.Call{ID: "3", Tool: "shop.look", Arguments: `{"prompt":`},
			agent.Call{ID: "4", Tool: "shop.look", Arguments: `{"prompt":"a"} {}`}, agent.Call{ID: "5", Tool: "shop.look", Arguments: `{"prompt":"cups"}`}))
		var got []string
		for _, s := range answer.Steps {
			code := "ok"
			if s.Result.Error != nil {
				code = string(s.Result.Error.Code)
			}
			got = append(got, code)
		}
		if want := "ok tool_not_found invalid_tool_input invalid_tool_input ok"; strings.Join(got, " ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if lines := strings.Split(answer.Text, "\n"); len(lines) != 5 || !strings.HasPrefix(lines[1], `2 {"ok":false`) {
			t.Errorf("the model heard %q", lines)
		}
	})
	t.Run("a tool that the account may not use is refused", func(t *testing.T) {
		answer, err := h.agent(calls(look)).Ask(t.Context(), agent.Question{Text: "help me", AccountID: h.account, May: func(_ context.Context, tool string) error {
			return registry.Errorf(registry.CodeUnauthorized, "%s is not for you", tool)
		}})
		if err != nil || answer.Steps[0].Result.OK || answer.Steps[0].RunID != "" || !strings.Contains(answer.Text, "shop.look is not for you") {
			t.Errorf("got %+v, %v", answer, err)
		}
	})
	t.Run("C42 several steps are one card with all of them, and each has to be allowed", func(t *testing.T) {
		two := agent.Call{ID: "1", Tool: missions.StepsTool, Arguments: `{"steps":[{"tool":"shop.order","inputs":{"prompt":"mugs"}},{"tool":"shop.order","inputs":{"prompt":"cups"}}]}`}
		before := len(h.provider.Handles())
		step := h.ask(t, calls(two)).Steps[0]
		if step.Card == nil || len(step.Card.Summary.Preview.Parts) != 2 || step.Result.Error.Code != runs.ToolRequiresApproval {
			t.Fatalf("got %+v", step)
		}
		answer, err := h.agent(calls(two)).Ask(t.Context(), agent.Question{Text: "help me", AccountID: h.account, May: func(_ context.Context, tool string) error {
			if tool == "shop.order" {
				return registry.Errorf(registry.CodeUnauthorized, "%s is not for you", tool)
			}
			return nil
		}})
		if err != nil || answer.Steps[0].RunID != "" || !strings.Contains(answer.Text, "shop.order is not for you") {
			t.Errorf("got %+v, %v", answer, err)
		}
		m := calls(two)
		if answer := h.ask(t, m, func(c *agent.Config) { c.Only = []string{"shop.look"} }); answer.Steps[0].RunID != "" || strings.Contains(namesOf(m.last.Tools), missions.StepsTool) {
			t.Errorf("an agent with tools of its own goes beyond them: %+v", answer)
		}
		if n := len(h.provider.Handles()); n != before {
			t.Errorf("%d executions", n-before)
		}
	})
	t.Run("there is a bound on rounds, and it is reported", func(t *testing.T) {
		endless := &script{say: func(agent.Conversation) (agent.Turn, error) {
			return agent.Turn{By: agent.Asked, Text: "once more", Calls: []agent.Call{look}}, nil
		}}
		answer := h.ask(t, endless, func(c *agent.Config) { c.Bounds.Rounds = 3 })
		if answer.Stop != agent.StopRounds || answer.Rounds != 3 || len(answer.Steps) != 3 || len(endless.last.Turns) != 5 {
			t.Errorf("got %+v", answer)
		}
	})
	t.Run("an error of the model is the asker's, with what was done before", func(t *testing.T) {
		broken := errors.New("broken")
		m := calls(look)
		first := m.say
		m.say = func(c agent.Conversation) (agent.Turn, error) {
			if len(c.Turns) > 1 {
				return agent.Turn{}, broken
			}
			return first(c)
		}
		answer, err := h.agent(m).Ask(t.Context(), agent.Question{Text: "help me", AccountID: h.account})
		if !errors.Is(err, broken) || len(answer.Steps) != 1 {
			t.Errorf("got %+v, %v", answer, err)
		}
	})
	t.Run("who gives up cancels the run", func(t *testing.T) {
		ctx, giveUp := context.WithCancel(t.Context())
		h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome {
			giveUp()
			return &runstest.Outcome{Manual: true}
		}
		answer, err := h.agent(calls(look)).Ask(ctx, agent.Question{Text: "help me", AccountID: h.account})
		if !errors.Is(err, context.Canceled) || len(answer.Steps) != 1 {
			t.Fatalf("got %+v, %v", answer, err)
		}
		if run, err := h.service.Get(t.Context(), answer.Steps[0].RunID); err != nil || run.Status != runs.StatusCanceled {
			t.Errorf("the run is %s, %v", run.Status, err)
		}
	})
}
