// Package askapi is the agent over HTTP: POST /api/ask puts a question to a model, which works with the asker's tools.
package askapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Platform is the name under which the runs of questions are kept.
const Platform = "agent"

// AtOnce is how many questions of one account may be answered at the same time: what models charge is the operator's bill.
const AtOnce = 4

// maxBody bounds a request, in bytes.
const maxBody = 1 << 20

// Users is what the handler needs of users.Store.
type Users interface {
	CheckAccount(ctx context.Context, a users.Account, platform, toolID string) (users.Decision, error)
}

// Config wires a Handler; all but Agents and Logger are required.
type Config struct {
	Agents  map[string]*agent.Agent // by the name of their model's service; none: nobody can be asked
	Default string                  // who is asked when a request names nobody
	Users   Users
	// Caller is who sent the request of ctx, Budget what its runs draw on.
	Caller func(ctx context.Context) (users.Account, bool)
	Budget func(ctx context.Context) runs.Budget
	Logger *slog.Logger
}

type server struct{ Config }

// Handler serves the route.
func Handler(cfg Config) http.Handler {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return http.HandlerFunc(server{cfg}.ask)
}

type askBody struct {
	Question string   `json:"question"`
	Model    string   `json:"model"`
	Intents  []string `json:"intents"`
}

type answerBody struct {
	Answer  string     `json:"answer"`
	Model   string     `json:"model"`
	Stop    agent.Stop `json:"stop"`
	Rounds  int        `json:"rounds"`
	Calls   []callBody `json:"calls"`
	TraceID string     `json:"traceId"`
}

type callBody struct {
	Round     int             `json:"round"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // missing where the model wrote no JSON
	RunID     string          `json:"runId,omitempty"`
	Result    runs.Envelope   `json:"result"`
}

func (s server) ask(w http.ResponseWriter, r *http.Request) {
	var body askBody
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		s.fail(w, r, registry.Errorf(registry.CodeInvalidInput, `expected JSON such as {"question":"find the oak chair"}`))
		return
	}
	name, model, err := s.model(body.Model)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	account, _ := s.Caller(r.Context())
	decision, err := s.Users.CheckAccount(r.Context(), account, Platform, "")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if refusal := decision.Err(); refusal != nil {
		tell(w, http.StatusForbidden, registry.CodeUnauthorized, registry.AsError(refusal).Message, false)
		return
	}
	question := agent.Question{
		Text: body.Question, Intents: body.Intents, AccountID: account.ID, Audience: registry.Everyone, Origin: runs.Origin{Platform: Platform}, Budget: s.Budget(r.Context()),
		May: func(ctx context.Context, toolID string) error {
			decision, err := s.Users.CheckAccount(ctx, account, Platform, toolID)
			if err != nil {
				return err
			}
			return decision.Err()
		},
	}
	if account.Operator {
		question.Audience = registry.Insiders
	}
	question.Context.TraceID, _ = registry.TraceOf(r.Header.Get("Traceparent"))
	answer, err := model.Ask(r.Context(), question)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, "application/json", http.StatusOK, bodyOf(answer, name))
}

// model is who is asked.
func (s server) model(name string) (string, *agent.Agent, error) {
	if len(s.Agents) == 0 {
		return "", nil, registry.Errorf(registry.CodeUnavailable, "there is no model to ask; the operator can name one in ANTHROPIC_MODEL or OPENAI_MODEL")
	}
	if name == "" {
		name = s.Default
	}
	model, there := s.Agents[name]
	if !there {
		return "", nil, registry.Errorf(registry.CodeInvalidInput, "model: found %.40q, expected one of %s", name, strings.Join(slices.Sorted(maps.Keys(s.Agents)), ", "))
	}
	return name, model, nil
}

func bodyOf(a agent.Answer, model string) answerBody {
	body := answerBody{Answer: a.Text, Model: model, Stop: a.Stop, Rounds: a.Rounds, Calls: []callBody{}, TraceID: a.Context.TraceID}
	for _, s := range a.Steps {
		call := callBody{Round: s.Round, Tool: s.Tool, RunID: s.RunID, Result: s.Result}
		if json.Valid([]byte(s.Arguments)) {
			call.Arguments = json.RawMessage(s.Arguments)
		}
		body.Calls = append(body.Calls, call)
	}
	return body
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
	status, code, detail, retryable := http.StatusInternalServerError, registry.CodeInternal, "Something went wrong on our side.", false
	var typed *registry.Error
	if errors.As(err, &typed) {
		status, code, detail, retryable = http.StatusBadGateway, typed.Code, typed.Message, typed.Retryable
		if known, there := statuses[typed.Code]; there {
			status = known
		}
	}
	if status == http.StatusInternalServerError || status == http.StatusBadGateway {
		s.Logger.ErrorContext(r.Context(), "a question could not be answered", "error", err)
	}
	tell(w, status, code, detail, retryable)
}

func tell(w http.ResponseWriter, status int, code registry.Code, detail string, retryable bool) {
	write(w, "application/problem+json", status, map[string]any{
		"type": "about:blank", "title": http.StatusText(status), "status": status, "code": code, "detail": detail, "retryable": retryable,
	})
}

func write(w http.ResponseWriter, contentType string, status int, body any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}
