package web

import (
	"html/template"
	"net/http"

	"github.com/signalbox/signalbox/users"
)

// ChatPath is the page of the conversation; what it consists of lies below.
const ChatPath = "/chat"

// chatEvents is the conversation's event stream.
const chatEvents = ChatPath + "/events"

// Conversation is the web as a chat platform.
type Conversation interface {
	// Serve answers a request under ChatPath. It gives the main part of the page that is the answer, or
	// nothing when it has answered otherwise.
	Serve(w http.ResponseWriter, r *http.Request, a users.Account) (template.HTML, error)
}

// chat serves the conversation inside the pages' frame.
func (s *Server) chat(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if r.URL.Path == chatEvents {
		leave, err := s.enterStream(r.Context(), a)
		if err != nil {
			return err
		}
		defer leave()
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
