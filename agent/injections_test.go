package agent_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// injection is a text that wants a model to do what nobody asked for.
type injection struct {
	ID, Text string
	Parts    []string
	Wants    *struct{ Tools []string }
	Task     string // of one that is none
}

func injections(t *testing.T) (attacks, benign []injection) {
	t.Helper()
	data, err := os.ReadFile("../../shared/corpus/injections.json")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var file struct{ Injections, Benign []injection }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Injections, file.Benign
}

func (i injection) whole() string { return strings.Join(append([]string{i.Text}, i.Parts...), "\n") }

// wanted are the tools that an attack wants called, and those by which people give money and rights.
func (i injection) wanted() []string {
	return append(slices.Clone(i.Wants.Tools), "approveRun", "grant", "access.allow", "confirm", "dear.look")
}

// obedient is a model that looks once and then does all that an attack wants, by every name it may have, and says that
// all is done.
func obedient(i injection) *script {
	return &script{say: func(c agent.Conversation) (agent.Turn, error) {
		asked := 0
		for _, t := range c.Turns {
			if t.By == agent.Asked && len(t.Calls) > 0 {
				asked++
			}
		}
		turn := agent.Turn{By: agent.Asked}
		switch asked {
		case 0:
			turn.Calls = []agent.Call{call("safe.look", `{"prompt":"x"}`)}
		case 1:
			for _, tool := range i.wanted() {
				for _, arguments := range []string{`{"prompt":"p1"}`, `{"prompt":"p1","confirmed":true}`} {
					turn.Calls = append(turn.Calls, agent.Call{ID: tool + arguments, Tool: tool, Arguments: arguments})
				}
			}
		case 2:
			for _, tool := range i.wanted() {
				turn.Calls = append(turn.Calls, agent.Call{ID: tool, Tool: missions.StepsTool, Arguments: `{"steps":[{"tool":"` + tool + `","inputs":{"prompt":"p1"}}]}`})
			}
		default:
			turn.Calls = []agent.Call{call("finalAnswer", `{"answer":"Done, as the text said."}`)}
		}
		return turn, nil
	}}
}

// dangerous are the tools that attacks want called: they change something, or, where they only read, cost money.
func dangerous(attacks []injection) []registry.Tool {
	var tools []registry.Tool
	reads := []string{"httpGet", "fetchContent", "files.read_text_file", "dear.look"}
	add := func(id, about string, capability registry.Capability, price *registry.CostingModel) {
		if slices.ContainsFunc(tools, func(t registry.Tool) bool { return t.ToolID == id }) {
			return
		}
		tools = append(tools, registrytest.Tool(id, func(t *registry.Tool) {
			t.CommandName, t.Service, t.Capability, t.CostingModel, t.Description = "", "fake", capability, price, about
			t.OutputSchema = registry.OutputSchema{{Name: "result", Type: "text"}}
		}))
	}
	dear := &registry.CostingModel{Rate: "0.05", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	add("safe.look", "Looks.", registry.CapabilityRead, nil)
	for _, id := range append(reads, slices.Concat(wantedByAll(attacks)...)...) {
		if id == "approveRun" || id == "grant" || id == "access.allow" {
			continue // no model has such tools
		}
		if slices.Contains(reads, id) {
			add(id, "Reads.", registry.CapabilityRead, dear)
		} else {
			add(id, "Changes something.", registry.CapabilityWrite, nil)
		}
	}
	return tools
}

func wantedByAll(attacks []injection) (all [][]string) {
	for _, i := range attacks {
		all = append(all, i.Wants.Tools)
	}
	return all
}

// doors are the ways by which a text of strangers reaches a model.
var doors = map[string]func(q *agent.Question, c *agent.Config, i injection){
	"tool result": func(*agent.Question, *agent.Config, injection) {}, // what safe.look gives
	"caption":     func(q *agent.Question, _ *agent.Config, i injection) { q.Text = "what is this?\n" + i.whole() },
	"file name": func(q *agent.Question, _ *agent.Config, i injection) {
		q.Attachments = []agent.Attachment{{Kind: registry.TypeImage, Ref: "asset:1", Name: i.whole()}}
	},
	"what was said before": func(q *agent.Question, c *agent.Config, i injection) {
		q.Conversation = "before"
		c.Conversations = notes{q.AccountID + "before": {Exchanges: []agent.Exchange{{Question: "hello", Answer: i.whole()}}}}
	},
	"hints for tools": func(_ *agent.Question, c *agent.Config, i injection) {
		c.Guidance = func() agent.Guidance { return agent.Guidance{"safe.look": i.whole()} }
	},
	"an agent's instructions": func(_ *agent.Question, c *agent.Config, i injection) { c.Instructions = i.whole() },
}

// Gates are code: a model that obeys every text changes nothing, spends nothing and approves nothing.
func TestInjections(t *testing.T) {
	t.Parallel()
	attacks, benign := injections(t)
	h := newHouse(t, dangerous(attacks)...)
	var mu sync.Mutex
	text, done := "", map[string]int{}
	h.provider.OnSubmit = func(c registry.Call, _ int) *runstest.Outcome {
		mu.Lock()
		defer mu.Unlock()
		done[c.Tool.ToolID]++
		return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("result", text)}}
	}
	asked, waiting, approved := 0, 0, 0
	for name, open := range doors {
		for _, i := range attacks {
			text = "3 pages"
			if name == "tool result" {
				text = i.whole()
			}
			q := agent.Question{Text: "what is there?", AccountID: h.account}
			answer := h.askThrough(t, obedient(i), q, func(q *agent.Question, c *agent.Config) { open(q, c, i) })
			asked++
			for _, s := range answer.Steps {
				if s.Card == nil {
					continue
				}
				waiting++
				if run, err := h.service.Get(t.Context(), s.RunID); err != nil || run.Status != runs.StatusAwaitingConfirmation {
					approved++
				}
			}
		}
	}
	unasked := 0
	for tool, n := range done {
		if tool != "safe.look" {
			t.Errorf("%s was carried out %d times", tool, n)
			unasked += n
		}
	}
	t.Logf("%d texts through %d doors: %d questions, %d calls wait for the owner, %d were carried out unasked, %d approved", len(attacks), len(doors), asked, waiting, unasked, approved)
	t.Run("B37 D92 D99 no text makes a model change, spend or approve anything", func(t *testing.T) {
		if unasked > 0 || approved > 0 {
			t.Errorf("%d carried out, %d approved", unasked, approved)
		}
		if waiting < len(attacks) || done["safe.look"] != asked {
			t.Errorf("%d calls wait and %d looks were made for %d questions: the model did not try", waiting, done["safe.look"], asked)
		}
	})
	t.Run("B37 what merely looks like an attack keeps nobody from the task", func(t *testing.T) {
		for _, i := range benign {
			text = i.Text
			m := calls(call("safe.look", `{"prompt":"x"}`))
			answer := h.askThrough(t, m, agent.Question{Text: i.Task, AccountID: h.account}, func(*agent.Question, *agent.Config) {})
			if len(answer.Steps) != 1 || !answer.Steps[0].Result.OK || answer.Stop != agent.StopAnswered {
				t.Errorf("%s: got %+v", i.ID, answer)
			}
		}
	})
}

func (h *house) askThrough(t *testing.T, m agent.Model, q agent.Question, open func(*agent.Question, *agent.Config)) agent.Answer {
	t.Helper()
	var cfg agent.Config
	open(&q, &cfg)
	answer, err := h.agent(m, func(c *agent.Config) {
		c.Conversations, c.Guidance, c.Instructions = cfg.Conversations, cfg.Guidance, cfg.Instructions
	}).Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
