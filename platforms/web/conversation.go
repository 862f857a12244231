package web

import (
	"html/template"
	"net/http"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// ChatPath is the page of the conversation; what it consists of lies below.
const ChatPath = "/chat"

// Conversation is the web as a chat platform.
type Conversation interface {
	// Serve answers a request under ChatPath. It gives the main part of the page that is the answer, or
	// nothing when it has answered otherwise.
	Serve(w http.ResponseWriter, r *http.Request, a users.Account) (template.HTML, error)
}

// chat serves the conversation inside the pages' frame.
func (s *Server) chat(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if ByAgent(r.Context()) { // what is typed there is taken for a person's word
		s.failAs(w, r, errAgentsKey)
		return nil
	}
	if Budget(r.Context()).Limit > 0 { // what is asked for in the conversation is the account's, not the key's
		s.failAs(w, r, registry.Errorf(registry.CodeUnauthorized, "a key with a spending limit can't use the conversation"))
		return nil
	}
	main, err := s.cfg.Conversation.Serve(w, r, a)
	if err != nil {
		s.failTold(w, r, a, err)
		return nil
	}
	if main == "" {
		return nil
	}
	return s.show(w, r, a, "chat", view{Title: s.voice(r, a).Line("webchat.title"), Place: "chat", Scripts: []string{"chat.js"}, Chat: main})
}
