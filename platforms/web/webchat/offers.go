package webchat

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/door"
)

// maxOffers is how many completions are shown.
const maxOffers = 8

// offer is something that could be typed.
type offer struct {
	Text  string `json:"text"` // the whole message so far
	Label string `json:"label"`
	About string `json:"about,omitempty"`
	Form  string `json:"form,omitempty"` // where the command can be filled in
}

// offers completes what is being typed: a command's name, or the first thing that follows it.
func (v *visit) offers() (template.HTML, error) {
	typed := v.r.URL.Query().Get("text")
	offered := []offer{}
	name, rest, follows := strings.Cut(strings.TrimPrefix(typed, "/"), " ")
	switch {
	case !strings.HasPrefix(typed, "/") || len(typed) > 200:
	case !follows:
		for _, c := range v.listed(strings.ToLower(name), maxOffers) {
			offered = append(offered, offer{"/" + c.Name + " ", "/" + c.Name, c.Description, c.form()})
		}
	default:
		choices, err := v.complete(strings.ToLower(name), rest)
		if err != nil {
			return "", err
		}
		for _, c := range choices {
			offered = append(offered, offer{Text: fmt.Sprintf("/%s %v ", name, c.Value), Label: c.Label})
		}
	}
	door.WriteJSON(v.w, http.StatusOK, offered)
	return "", nil
}

// listed are the commands that begin so, in the reader's language.
func (v *visit) listed(begin string, most int) []command {
	var found []command
	for _, c := range *v.commands.Load() {
		if c.OnMessages || !strings.HasPrefix(c.Name, begin) || len(found) == most {
			continue
		}
		about := c.Description
		if say := c.Localized[v.voice.Language()]; say != nil {
			about = cmp.Or(say().Description, about)
		}
		found = append(found, command{c.Name, about, c.Tool})
	}
	return found
}

// complete asks the Router what could follow a command whose first input is completed.
func (v *visit) complete(name, typed string) ([]chat.Choice, error) {
	completer, ok := v.completer()
	if !ok {
		return nil, nil
	}
	for _, c := range *v.commands.Load() {
		if c.OnMessages || c.Name != name || len(c.Completes) == 0 || len(c.Inputs) == 0 || c.Inputs[0].Name != c.Completes[0] {
			continue
		}
		in, err := v.update("", chat.KindMessage)
		if err != nil {
			return nil, err
		}
		return completer.Complete(v.r.Context(), web.Platform, chat.Completion{
			From: in.From, Chat: in.Chat, Command: name, Option: c.Completes[0], Typed: typed,
		}, maxOffers), nil
	}
	return nil, nil
}

// completer is the Router, once it is there.
func (v *visit) completer() (chat.Completer, bool) {
	select {
	case <-v.ready:
		c, ok := v.receiver.(chat.Completer)
		return c, ok
	default:
		return nil, false
	}
}
