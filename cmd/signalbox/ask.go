package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic"
	"github.com/signalbox/signalbox/agent/openai"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/asking"
	"github.com/signalbox/signalbox/cmd/signalbox/talk"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat/dialogue"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/askapi"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/providers/knowledge"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// agents are the models that work with the tools.
type agents struct {
	*house
	guidance atomic.Pointer[agent.Guidance] // hints for tools
}

// handler is the agent over HTTP, with the models that the configuration names. A key alone is not enough: what models
// charge is the operator's, and the key may be there for pictures.
func (a *agents) handler() (http.Handler, error) {
	agents, err := a.each(agent.Config{})
	if err == nil {
		err = a.readGuidance()
	}
	if err != nil {
		return nil, err
	}
	asking.WarnOfUnpriced(a.cfg.ServiceSettings, a.cfg.Rates, a.log)
	first := openai.Provider
	if agents[anthropic.Provider] != nil {
		first = anthropic.Provider
	}
	a.Background("questions", a.questions.Run)
	return askapi.Handler(askapi.Config{
		Agents: agents, Default: first, Registry: a.registry, Users: a.users, Caller: web.Caller, Budget: web.Budget, ByAgent: web.ByAgent,
		Conversations: a.conversations, Logger: a.log.With("component", "agent"),
	}), nil
}

// each makes an agent for each service of models, and, under no name, one that asks all models in their order: the
// next one when one is in trouble.
func (a *agents) each(cfg agent.Config) (map[string]*agent.Agent, error) {
	models, err := asking.Models(a.cfg.ServiceSettings, a.cfg.Rates)
	if err != nil || len(models) == 0 {
		return nil, err
	}
	agents := map[string]*agent.Agent{}
	add := func(name, provider string, models ...agent.Model) {
		cfg.Model, cfg.Provider = agent.NewReliable(agent.Patience{}, models...), provider
		agents[name] = agent.New(cfg)
	}
	cfg.Registry, cfg.Runs, cfg.Logger = a.registry, a.runs, a.log.With("component", "agent")
	if cfg.File == nil {
		cfg.File = a.toldFile
	}
	cfg.Near = a.near
	cfg.Conversations, cfg.Account, cfg.Guidance, cfg.Journal = a.conversations, a.conversations, a.hints, a.questions
	cfg.Bounds.Money = cmp.Or(cfg.Bounds.Money, a.cfg.AskPerQuestion)
	var all []agent.Model
	of := map[string][]agent.Model{}
	for _, m := range models {
		of[m.Provider], all = append(of[m.Provider], m.Model), append(all, m.Model)
	}
	for provider, own := range of {
		add(provider, provider, own...)
	}
	add("", models[0].Provider, all...)
	return agents, nil
}

// inChats is the agent in chats, with all models in their order; nil: no model is connected.
func (a *agents) inChats() (turn.Agent, error) {
	agents, err := a.each(agent.Config{Instructions: talk.Instructions, File: talk.File})
	if err != nil || len(agents) == 0 {
		return nil, err
	}
	return dialogue.New(dialogue.Config{Agent: agents[""], Conversations: a.conversations, Takes: talk.Takes}), nil
}

// team makes tools of the agents in AGENTS_DIR, and of those that come with the program where there is a model to ask. They are asked when the program runs: by then there is all that they need.
func (a *agents) team() *agent.Team {
	cfg := agent.TeamConfig{Dir: a.cfg.AgentsDir, Store: a.templates, Ask: a.askAs, Bound: a.boundAs, Quote: a.quoteAs, May: a.mayUse, Snapshot: func() *catalog.Snapshot {
		if a.registry == nil {
			return catalog.NewSnapshot(nil, time.Time{}) // the first catalogue is being made
		}
		return a.registry.Snapshot()
	}}
	if a.connected() {
		cfg.Bundled = agent.BundledTeam()
	}
	return agent.NewTeam(cfg)
}

// specialistBounds are those of an agent that another one calls, well inside those of a question.
var specialistBounds = agent.Bounds{Rounds: 6, Calls: 20, Tokens: 150_000}

// memberOf is the model of an agent of the team, with the agent's own tools only.
func (a *agents) memberOf(d agent.Definition) (*agent.Agent, error) {
	agents, err := a.each(agent.Config{Instructions: d.Instructions, Only: d.Tools(), Bounds: specialistBounds})
	if err != nil {
		return nil, err
	}
	one := agents[d.Model]
	if one == nil {
		return nil, registry.Errorf(registry.CodeUnavailable, "%s: there is no model %q to ask; the operator names them in ANTHROPIC_MODEL and OPENAI_MODEL", d.ID, d.Model)
	}
	return one, nil
}

// askAs has an agent of the team answer. What its calls cost draws on the budget of its run.
func (a *agents) askAs(ctx context.Context, d agent.Definition, q agent.Question) (agent.Answer, error) {
	one, err := a.memberOf(d)
	if err != nil {
		return agent.Answer{}, err
	}
	account, err := a.users.ByID(ctx, q.AccountID)
	if err != nil {
		return agent.Answer{}, err
	}
	if account, q.Key, err = a.withKey(ctx, account, q.Key.Name); err != nil {
		return agent.Answer{}, err
	}
	q.Budget, q.Audience = q.Key, account.Tools
	q.Origin = runs.Origin{Platform: askapi.Platform}
	q.May = askapi.May(a.users, account)
	return one.Ask(ctx, q)
}

// boundAs is what an answer of an agent of the team costs at most. One whose model there is not costs nothing: it answers nobody.
func (a *agents) boundAs(d agent.Definition) (billing.NanoUSD, error) {
	if a.cfg.AskPaidBy == asking.ByHouse {
		return 0, nil
	}
	agents, err := a.each(agent.Config{Bounds: specialistBounds})
	if one := agents[d.Model]; one != nil {
		return one.Most(), nil
	}
	return 0, err
}

// quoteAs is what a question to an agent of the team costs who asks it: nothing where it is a part of another one, which pays for it.
func (a *agents) quoteAs(ctx context.Context, d agent.Definition, q agent.Question) (least, most billing.NanoUSD, err error) {
	if a.cfg.AskPaidBy == asking.ByHouse {
		return 0, 0, nil
	}
	if q.Key, err = a.pot(ctx, q.AccountID, q.Key.Name); err != nil {
		return 0, 0, err
	}
	if covered, err := a.questions.Covers(ctx, q); err != nil || covered {
		return 0, 0, err
	}
	one, err := a.memberOf(d)
	if err != nil {
		return 0, 0, err
	}
	return one.Quote(ctx, q)
}

// pot is the budget that a run draws on, by its name: see withKey.
func (a *house) pot(ctx context.Context, accountID, name string) (runs.Budget, error) {
	_, budget, err := a.withKey(ctx, users.Account{ID: accountID}, name)
	return budget, err
}

// withKey is what an API key leaves of an account, with the budget of its runs, by the name of this. The budget of a question bounds the calls for it
// alone, and is none here. A key that was revoked or has ended does nothing any more.
func (a *house) withKey(ctx context.Context, account users.Account, name string) (users.Account, runs.Budget, error) {
	if !users.IsKeyBudget(name) {
		return account, runs.Budget{}, nil
	}
	key, err := a.users.KeyOfBudget(ctx, account.ID, name)
	if errors.Is(err, users.ErrNotFound) {
		return account, runs.Budget{}, registry.Say(registry.CodeUnauthorized, said.KeyRevoked)
	}
	return key.Narrow(account), runs.Budget{Name: name, Limit: billing.NanoUSD(key.SpendLimit)}, err
}

// connected reports whether there is a model to ask.
func (a *agents) connected() bool { return a.cfg.AnthropicModel != "" || a.cfg.OpenAIModel != "" }

// A translation is one turn of few words, at a cent at most.
const (
	translationTokens = 6_000
	translationMoney  = billing.Dollar / 100
)

// translator puts questions to documents into their language; nil: there is no model.
func (a *agents) translator() knowledge.Translator {
	if !a.connected() {
		return nil
	}
	return &translator{a, sync.OnceValues(a.translators)}
}

func (a *agents) translators() (map[string]*agent.Agent, error) {
	return a.each(agent.Config{Bounds: agent.Bounds{Rounds: 1, Tokens: translationTokens, Money: min(translationMoney, a.cfg.AskPerQuestion)}})
}

type translator struct {
	*agents
	models func() (map[string]*agent.Agent, error) // made when the first question comes: by then there is all that they need
}

// question is one of the account whose call it is, or a part of the one in whose course a model calls.
func (t *translator) question(ctx context.Context, c registry.Call, text string) (*agent.Agent, agent.Question, error) {
	all, err := t.models()
	if err != nil {
		return nil, agent.Question{}, err
	}
	key, err := t.pot(ctx, c.UserID, c.Budget)
	return all[""], agent.Question{
		Text: text, AccountID: c.UserID, Key: key, Origin: runs.Origin{Platform: askapi.Platform}, Context: c.Context, Within: c.Context.PlannerProvider != "",
	}, err
}

func (t *translator) Most() (string, error) {
	if t.cfg.AskPaidBy == asking.ByHouse {
		return "0", nil
	}
	all, err := t.translators() // those of the house may not be whole yet
	if err != nil {
		return "", err
	}
	return all[""].Most().Decimal(), nil
}

// Price is what can be set aside for the question; nothing within another one, which pays for it.
func (t *translator) Price(ctx context.Context, c registry.Call, text, language string) (registry.Price, error) {
	one, q, err := t.question(ctx, c, text)
	if err != nil {
		return registry.Price{}, err
	}
	if covered, err := t.questions.Covers(ctx, q); err != nil || covered {
		return registry.Price{CostUSD: "0"}, err
	}
	least, most := one.QuoteTranslation(q, language)
	room, err := t.questions.Room(ctx, agent.Opening{Question: q, Quote: most, Least: least})
	return registry.Price{CostUSD: room.Decimal(), LowUSD: "0"}, err
}

func (t *translator) Translate(ctx context.Context, c registry.Call, text, language string) (said, costUSD string, err error) {
	one, q, err := t.question(ctx, c, text)
	if err != nil {
		return "", "", err
	}
	promise := billing.NanoUSD(c.Promised)
	q.RunID, q.Promise = c.RunID, &promise
	answer, err := one.Translate(ctx, q, language)
	if err == nil && answer.Stop != agent.StopAnswered {
		err = registry.Errorf(registry.CodeUnavailable, "a bound of questions is reached: %s", answer.Stop)
	}
	return answer.Text, min(answer.Cost, promise).Decimal(), err
}

// asked are the pages of what was asked, where there is a model to ask.
func (a *agents) asked() pages.Asked {
	if !a.connected() {
		return nil
	}
	return a.questions
}

// hints are the lines for tools as they were last read.
func (a *agents) hints() agent.Guidance {
	if g := a.guidance.Load(); g != nil {
		return *g
	}
	return nil
}

// readGuidance reads the lines for tools. A file that is wrong leaves those that were read before.
func (a *agents) readGuidance() error {
	g, err := a.cfg.ToolGuidance()
	if err != nil {
		return fmt.Errorf("TOOL_GUIDANCE_FILE: %w", err)
	}
	snapshot := a.registry.Snapshot()
	if unknown := g.Unknown(func(id string) bool { _, ok := snapshot.Resolve(id); return ok }); len(unknown) > 0 {
		a.log.Warn("hints are for tools that there are not", "file", a.cfg.ToolGuidanceFile, "tools", unknown)
	}
	a.guidance.Store(&g)
	return nil
}

// toldFile is what a model is told of a stored file: where it is, and by what reference other tools take it.
func (a *agents) toldFile(run runs.Run, o runs.Output) any {
	file := map[string]any{"url": a.web.FilePath(run.AccountID, o.Media, o.FileName), "ref": o.Media, "mimeType": o.MIMEType}
	if o.Width > 0 {
		file["width"], file["height"] = o.Width, o.Height
	}
	if o.Type == string(registry.TypeImage) {
		file["imageUrl"] = file["url"]
	}
	if o.Alt != "" {
		file["alt"] = o.Alt
	}
	return file
}
