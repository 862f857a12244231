package askapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
)

// wantsEvents reports whether the answer is to be sent while it comes.
func wantsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// events sends what happens while a question is answered: text, step and card, and at the end done.
type events struct {
	w     http.ResponseWriter
	round int
	said  string
	lost  bool // nobody listens any more
}

func (s server) stream(w http.ResponseWriter, r *http.Request, model *agent.Agent, q agent.Question, name, conversation string) {
	e := &events{w: w}
	door.BeginEvents(w)
	w.WriteHeader(http.StatusOK)
	e.flush()
	q.Told = e.told
	answer, err := model.Ask(r.Context(), q)
	if r.Context().Err() != nil {
		return // nobody listens any more
	}
	done := struct {
		answerBody
		Error *problem.Problem `json:"error,omitempty"`
	}{answerBody: bodyOf(answer, name, conversation)}
	if err != nil {
		p := s.explain(r.Context(), err)
		done.Error = &p
	}
	e.send("done", done)
}

func (e *events) told(event agent.Event) {
	switch event.Kind {
	case agent.EventText:
		e.text(event)
	case agent.EventCard:
		e.send("card", callOf(*event.Step))
	case agent.EventStep:
		e.send("step", callOf(*event.Step))
	}
}

// text sends what has come since the last time. Where the text begins anew it says so.
func (e *events) text(event agent.Event) {
	more, goesOn := strings.CutPrefix(event.Text, e.said)
	if event.Round != e.round || !goesOn {
		more, goesOn = event.Text, event.Round != e.round && e.said == ""
	}
	e.round, e.said = event.Round, event.Text
	if more == "" && goesOn {
		return
	}
	e.send("text", struct {
		Round   int    `json:"round"`
		Text    string `json:"text"`
		Replace bool   `json:"replace,omitempty"`
	}{event.Round, more, !goesOn})
}

func (e *events) send(name string, body any) {
	data, err := json.Marshal(body)
	if err != nil || e.lost {
		return
	}
	_, err = fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, data)
	e.lost = err != nil
	e.flush()
}

func (e *events) flush() { _ = http.NewResponseController(e.w).Flush() } // who can't be flushed to gets it later
