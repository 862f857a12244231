package pages

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
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

// ChatCommand is a tool's command with typed options, as a form gives them.
type ChatCommand struct {
	Tool registry.Tool
	// Options are the values by input name that differ from what the tool begins with: text as it was typed, bool, files
	// as references of the store, several files as a list.
	Options map[string]any
	Quote   string // the sealed price that stood beside the form
	Form    string // names the form that was sent: sending it twice is one command
}

// Commander is a Conversation that takes commands from forms.
type Commander interface {
	// Command says a command in the account's conversation. An error is for the sender of the form.
	Command(r *http.Request, a users.Account, c ChatCommand) error
}

// chatPages are the conversation's page, and the forms by which commands are given in it.
type chatPages struct {
	shared
	conversation Conversation
	streams      *door.Streams
	forms        *forms
}

func (s *chatPages) routes() []door.Route {
	list := []door.Route{
		door.ForPeople("GET "+ChatPath, door.Person, s.page),
		door.ForPeople("GET "+ChatPath+"/", door.Person, s.page),
		door.ForPeople("POST "+ChatPath+"/", door.Person, s.page),
	}
	commander, ok := s.conversation.(Commander)
	if !ok {
		return list
	}
	return append(list,
		door.ForPeople("GET "+ChatPath+"/use", door.Person, s.chatTools),
		door.ForPeople("GET "+ChatPath+"/use/{id}", door.Person, s.chatForm),
		door.ForPeople("POST "+ChatPath+"/use/{id}", door.Person, func(w http.ResponseWriter, r *http.Request, a users.Account) error {
			return s.chatCommand(w, r, a, commander)
		}),
	)
}

// page serves the conversation inside the pages' frame.
func (s *chatPages) page(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if r.URL.Path == chatEvents {
		stream, leave, err := s.streams.Enter(r, a)
		if err != nil {
			return err
		}
		defer leave()
		r = stream
	}
	main, err := s.conversation.Serve(w, r, a)
	if err != nil {
		s.render.FailTold(w, r, a, err)
		return nil
	}
	if main == "" {
		return nil
	}
	return s.pages.Show(w, r, a, "chat", render.View{Title: s.render.Voice(r, a).Line("webchat.title"), Place: "chat", Scripts: []string{"chat.js"}, Data: main})
}

// chatTools lists the tools that have a command, for those who choose one without typing.
func (s *chatPages) chatTools(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var list []*registry.Tool
	for _, t := range s.tools.snapshot().In(s.render.Voice(r, a).Language()).Offered(request.Audience(a)) {
		if t.CommandName != "" {
			list = append(list, t)
		}
	}
	return s.pages.Show(w, r, a, "chattools", render.View{Title: s.render.Voice(r, a).Line("webchat.forms"), Place: "chat", Data: list})
}

// commandTool finds a tool that the account may use by a command.
func (s *chatPages) commandTool(r *http.Request, a users.Account) (registry.Tool, error) {
	t, err := s.tools.visible(r.PathValue("id"), a)
	if err == nil && t.CommandName == "" {
		err = runs.ErrUnknownTool
	}
	return t, err
}

// chatForm is the form of a tool's command. What was typed so far, ?text=, is put into its first input for text.
func (s *chatPages) chatForm(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.commandTool(r, a)
	if err != nil {
		return err
	}
	fill, err := s.forms.prefilled(r, a, t)
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(r.URL.Query().Get("text")); text != "" {
		useOutput(fill.typed, t, runs.Output{Text: text})
	}
	fill.action = chatFormPath(t)
	return s.forms.draw(w, r, a, t, fill)
}

func chatFormPath(t registry.Tool) string { return ChatPath + "/use/" + url.PathEscape(t.ToolID) }

// chatCommand takes the form of a tool's command and says the command. Values that can't be are told in the form.
func (s *chatPages) chatCommand(w http.ResponseWriter, r *http.Request, a users.Account, to Commander) error {
	t, err := s.commandTool(r, a)
	if err != nil {
		return err
	}
	given, err := s.forms.reader.Inputs(w, r, a, t)
	if err == nil {
		_, err = s.forms.runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: given, Audience: request.Audience(a)})
	}
	if err == nil {
		request := s.forms.unchanged(r, runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: given, Audience: request.Audience(a)})
		err = to.Command(r, a, ChatCommand{Tool: t, Options: optionsOf(request.Values), Quote: r.PostFormValue(quoteField), Form: formKey(r)})
	}
	if err == nil {
		http.Redirect(w, r, ChatPath+"#composer", http.StatusSeeOther)
		return nil
	}
	p := s.render.Explain(r, a, err)
	if p.Ours() {
		return err
	}
	return s.forms.draw(w, r, a, t, prefill{typed: optionsOf(given), problem: &p, action: chatFormPath(t)})
}
