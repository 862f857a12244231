package askapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Platform is the name under which the runs of questions are kept.
const Platform = "agent"

// Users is what the handler needs of users.Store.
type Users interface {
	CheckAccount(ctx context.Context, a users.Account, platform, toolID string) (users.Decision, error)
}

// Conversations is what the handler needs of agent.Store.
type Conversations interface {
	ForgetConversation(ctx context.Context, accountID, conversation string) (bool, error)
}

// Config wires a Handler; all but Agents and Logger are required.
type Config struct {
	Agents  map[string]*agent.Agent // by the name of their model's service, under no name who answers if none is named; none: nobody can be asked
	Default string                  // who is asked when a request names nobody
	// Registry has the tools whose prompts are improved.
	Registry *catalog.Registry
	Users    Users
	// Caller is who sent the request of ctx, Budget what its runs draw on.
	Caller func(ctx context.Context) (users.Account, bool)
	Budget func(ctx context.Context) runs.Budget
	// ByAgent says whether the request came with an agent's key, which can't give itself a budget.
	ByAgent func(ctx context.Context) bool
	// Conversations are where what was said is forgotten.
	Conversations Conversations
	Logger        *slog.Logger
}

type server struct{ Config }

// allowed is who asks, if they may use tools.
func (s server) allowed(r *http.Request) (users.Account, error) {
	account, _ := s.Caller(r.Context())
	decision, err := s.Users.CheckAccount(r.Context(), account, Platform, "")
	if err != nil {
		return account, err
	}
	if refusal := decision.Err(); refusal != nil {
		return account, &problem.Problem{Status: http.StatusForbidden, Code: string(registry.CodeUnauthorized), Detail: registry.AsError(refusal).Message}
	}
	return account, nil
}

// named is the name under which a conversation is kept. What those say who see their own runs alone is apart from what is said by other keys.
func named(account users.Account, conversation string) string {
	if account.Runs == "" || conversation == "" {
		return conversation
	}
	return account.Runs + "/" + conversation
}

// mayTalk keeps keys with a limit and agents' keys out of what people say in chats: there it would stand as their word.
func (s server) mayTalk(r *http.Request, conversation string) error {
	if strings.HasPrefix(conversation, agent.InChats) && s.Budget(r.Context()).Name != "" {
		return &problem.Problem{Status: http.StatusForbidden, Code: string(registry.CodeUnauthorized), Detail: "conversation: " + agent.InChats + " begins the names of conversations in chats, where a restricted key and an agent's key have no part; choose another name"}
	}
	return nil
}

// model is who is asked.
func (s server) model(name string) (string, *agent.Agent, error) {
	if len(s.Agents) == 0 {
		return "", nil, registry.Errorf(registry.CodeUnavailable, "there is no model to ask; the operator can name one in ANTHROPIC_MODEL or OPENAI_MODEL")
	}
	if name == "" {
		if any := s.Agents[""]; any != nil {
			return s.Default, any, nil
		}
		name = s.Default
	}
	model, there := s.Agents[name]
	if !there {
		return "", nil, registry.Errorf(registry.CodeInvalidInput, "model: found %.40q, expected one of %s", name, strings.Join(s.names(), ", "))
	}
	return name, model, nil
}

// names are those by which a model can be asked for.
func (s server) names() []string {
	names := slices.Sorted(maps.Keys(s.Agents))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// statuses are those of errors that are the asker's business; all others are ours.
var statuses = map[registry.Code]int{
	registry.CodeInvalidInput: http.StatusUnprocessableEntity, registry.CodeRefused: http.StatusUnprocessableEntity,
	registry.CodeUnavailable: http.StatusServiceUnavailable, registry.CodeRateLimited: http.StatusServiceUnavailable,
}

func (s server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody listens any more
	}
	problem.Write(w, s.explain(r.Context(), err))
}

// explain says what went wrong, and tells the operator of what is ours to mend. What a model's service refuses is not the asker's business.
func (s server) explain(ctx context.Context, err error) problem.Problem {
	p := problem.Explain(err)
	var limit *runs.LimitError // the asker's own
	if typed := new(registry.Error); errors.As(err, &typed) && !errors.As(err, &limit) {
		p.Status = cmp.Or(statuses[typed.Code], http.StatusBadGateway)
	}
	if p.Status == http.StatusBadGateway || p.Ours() {
		s.Logger.ErrorContext(ctx, "a question could not be answered", "error", err)
	}
	if p.Status == http.StatusInternalServerError {
		p.Detail = "Something went wrong on our side." // runs of the answer may have been charged
	}
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	return p
}

// May refuses tools that an account may not use.
func May(u Users, account users.Account) func(ctx context.Context, toolID string) error {
	return func(ctx context.Context, toolID string) error {
		decision, err := u.CheckAccount(ctx, account, Platform, toolID)
		if err != nil {
			return err
		}
		return decision.Err()
	}
}

func (s server) question(r *http.Request, account users.Account, body askBody) (agent.Question, error) {
	q := agent.Question{
		Text: body.Question, Intents: body.Intents, AccountID: account.ID, Audience: request.Audience(account), Origin: runs.Origin{Platform: Platform}, Budget: s.Budget(r.Context()), Key: s.Budget(r.Context()), Language: account.Language,
		Conversation: named(account, body.Conversation), Spoken: !s.ByAgent(r.Context()), Attachments: body.attachments(), PlanSchema: body.PlanSchema,
		May: May(s.Users, account),
	}
	q.Context.TraceID, _ = request.TraceOf(r.Header.Get("Traceparent"))
	if body.Budget == 0 {
		return q, nil
	}
	if s.ByAgent(r.Context()) {
		return q, registry.Errorf(registry.CodeInvalidInput, "budgetNanoUsd: a budget is a person's word, which an agent's key can't give")
	}
	if q.Budget.Name != "" {
		return q, registry.Errorf(registry.CodeInvalidInput, "budgetNanoUsd: this key has restrictions of its own, which hold; leave the budget out")
	}
	q.Budget = runs.Budget{Name: "question:" + uuid.NewString(), Limit: body.Budget}
	return q, nil
}
