// Package askapi is the agent over HTTP: POST /api/ask puts a question to a model, which works with the asker's tools, POST /api/improve has
// a prompt rewritten, and DELETE /api/conversations/{id} forgets what was said.
package askapi

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
)

// AtOnce is how many questions of one account may be answered at the same time: what models charge is the operator's bill.
const AtOnce = 4

// Handler serves POST /api/ask, POST /api/improve and DELETE /api/conversations/{id}.
func Handler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := server{cfg}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete:
			s.forget(w, r)
		case r.URL.Path == ImprovePath:
			s.improve(w, r)
		default:
			s.ask(w, r)
		}
	})
}

func (s server) ask(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	name, model, err := s.model(body.Model)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	account, err := s.allowed(r)
	if err == nil {
		err = s.mayTalk(r, body.Conversation)
	}
	if name := named(account, body.Conversation); err == nil && len(name) > maxConversation {
		err = registry.Errorf(registry.CodeInvalidInput, "conversation: expected a name of at most %d bytes", maxConversation-len(name)+len(body.Conversation))
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	question, err := s.question(r, account, body)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if wantsEvents(r) {
		s.stream(w, r, model, question, name, body.Conversation)
		return
	}
	answer, err := model.Ask(r.Context(), question)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	door.WriteJSON(w, http.StatusOK, bodyOf(answer, name, body.Conversation))
}

func (s server) forget(w http.ResponseWriter, r *http.Request) {
	account, _ := s.Caller(r.Context())
	if err := s.mayTalk(r, r.PathValue("id")); err != nil {
		s.fail(w, r, err)
		return
	}
	there, err := s.Conversations.ForgetConversation(r.Context(), account.ID, named(account, r.PathValue("id")))
	switch {
	case err != nil:
		s.fail(w, r, err)
	case !there:
		problem.Write(w, problem.Problem{Status: http.StatusNotFound, Code: string(registry.CodeInvalidInput), Detail: "There is no such conversation."})
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
