package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

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
	// Command says a command in the account's conversation. An error is for whoever sent the form.
	Command(r *http.Request, a users.Account, c ChatCommand) error
}

// conversation adds the chat, and the forms by which commands are given in it.
func (s *Server) conversation(t *routes) {
	t.page("GET "+ChatPath, Person, s.chat)
	t.page("GET "+ChatPath+"/", Person, s.chat)
	t.page("POST "+ChatPath+"/", Person, s.chat)
	commander, ok := s.cfg.Conversation.(Commander)
	if !ok {
		return
	}
	t.page("GET "+ChatPath+"/use", Person, s.chatTools)
	t.page("GET "+ChatPath+"/use/{id}", Person, s.chatForm)
	t.page("POST "+ChatPath+"/use/{id}", Person, func(w http.ResponseWriter, r *http.Request, a users.Account) error {
		return s.chatCommand(w, r, a, commander)
	})
}

// chatTools lists the tools that have a command, for those who choose one without typing.
func (s *Server) chatTools(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var tools []*registry.Tool
	for _, t := range s.cfg.Registry.Snapshot().Offered(audience(a)) {
		if t.CommandName != "" {
			tools = append(tools, t)
		}
	}
	return s.show(w, r, a, "chattools", view{Title: s.voice(r, a).Line("webchat.forms"), Place: "chat", ChatTools: tools})
}

// commandTool finds a tool that the account may use by a command.
func (s *Server) commandTool(r *http.Request, a users.Account) (registry.Tool, error) {
	t, err := s.visibleTool(r.PathValue("id"), a)
	if err == nil && t.CommandName == "" {
		err = runs.ErrUnknownTool
	}
	return t, err
}

// chatForm is the form of a tool's command. What was typed so far, ?text=, is put into its first input for text.
func (s *Server) chatForm(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.commandTool(r, a)
	if err != nil {
		return err
	}
	fill, err := s.prefilled(r, a, t)
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(r.URL.Query().Get("text")); text != "" {
		useOutput(fill.typed, t, runs.Output{Text: text})
	}
	fill.action = chatFormPath(t)
	return s.toolPage(w, r, a, t, fill)
}

func chatFormPath(t registry.Tool) string { return ChatPath + "/use/" + url.PathEscape(t.ToolID) }

// chatCommand takes the form of a tool's command and says the command. Values that can't be are told in the form.
func (s *Server) chatCommand(w http.ResponseWriter, r *http.Request, a users.Account, to Commander) error {
	t, err := s.commandTool(r, a)
	if err != nil {
		return err
	}
	given, err := s.readInputs(w, r, a, t)
	if err == nil {
		_, err = s.cfg.Runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: given, Audience: audience(a)})
	}
	if err == nil {
		request := s.unchanged(r, runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: given, Audience: audience(a)})
		err = to.Command(r, a, ChatCommand{Tool: t, Options: optionsOf(request.Values), Quote: r.PostFormValue(quoteField), Form: formKey(r)})
	}
	if err == nil {
		http.Redirect(w, r, ChatPath+"#composer", http.StatusSeeOther)
		return nil
	}
	p := explain(err)
	if p.ours() {
		return err
	}
	p.Detail = detailIn(s.voice(r, a), err, p)
	fill := prefill{typed: optionsOf(given), problem: &p, action: chatFormPath(t)}
	return s.toolPage(w, r, a, t, fill)
}

// optionsOf are the values of a form by name, wherever they came from.
func optionsOf(v values) map[string]any {
	options := map[string]any{}
	for _, from := range []runs.Source{runs.FromArgument, runs.FromAttachment} {
		for name, value := range v[from] {
			options[name] = value
		}
	}
	return options
}

// formAction is where a tool's form is sent.
func formAction(t registry.Tool, fill prefill) string {
	if fill.action != "" {
		return fill.action
	}
	return fmt.Sprintf("/tool/%s", t.ToolID)
}
