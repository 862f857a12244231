package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// questionCard is what a run's service asks its owner, as a form.
type questionCard struct {
	runs.OpenQuestion
	Host   string // of the page to open
	Fields []questionField
}

type questionField struct {
	formField
	Chosen map[string]bool // of a field that takes several
}

// fieldName is the name of a question's field in the form: the service's own could be one of the page's.
func fieldName(i int) string { return "answer" + strconv.Itoa(i) }

// question shows a run's question, filled with what was typed before.
func (s views) question(voice i18n.Voice, run runs.Run, fill prefill) *questionCard {
	if run.Question == nil {
		return nil
	}
	card := &questionCard{OpenQuestion: *run.Question}
	if u, err := url.Parse(card.URL); err == nil {
		card.Host = u.Host
	}
	asked := runs.Bound{Run: runs.Run{Inputs: map[string]any{}}}
	for i, f := range run.Question.Fields {
		own := f.Name
		f.DisplayName, f.Name = f.Label(), fieldName(i)
		asked.Inputs[f.Name] = f.Default
		shown := fill
		if fill.problem != nil && fill.problem.Field == own {
			shown.problem = &problem.Problem{Field: f.Name, Detail: fill.problem.Detail}
		}
		field := questionField{formField: s.field(voice, f, asked, shown), Chosen: map[string]bool{}}
		switch {
		case f.Multiple && len(f.Choices) > 0:
			field.Control, field.Allowed = "checks", ""
			chosen, typed := fill.typed[f.Name].([]any)
			if !typed {
				chosen, _ = f.Default.([]any)
			}
			for _, value := range chosen {
				field.Chosen[plain(value)] = true
			}
		case field.Control == "segments" && !f.Required: // which can't be left out once one is chosen
			field.Control = "select"
		case field.Control == "slider": // without the script of tools' forms
			field.Control = "number"
		case field.Control == "area" && !f.Multiple:
			field.Control = "text"
		}
		card.Fields = append(card.Fields, field)
	}
	return card
}

// answerValues reads the answer to a question from its form: by the question's names, and as it stands in the form.
func answerValues(q registry.Question, form url.Values) (values, typed map[string]any) {
	values, typed = map[string]any{}, map[string]any{}
	for i, f := range q.Fields {
		name := fieldName(i)
		given := form[name]
		switch {
		case f.Type == registry.TypeBoolean:
			values[f.Name] = len(given) > 0 && given[0] != "false"
		case f.Multiple && len(f.Choices) > 0:
			chosen := []any{}
			for _, value := range given {
				chosen = append(chosen, value)
			}
			values[f.Name] = chosen
		case len(given) > 0 && given[0] != "":
			values[f.Name] = given[0]
		default:
			typed[name] = ""
			continue
		}
		typed[name] = values[f.Name]
	}
	return values, typed
}

// answer gives the owner's answer to what a run's service asks.
func (s *runPages) answer(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.callers.Own(r.Context(), a, r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := request.MayApprove(r); err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return door.TooLargeOr(err, "the form can't be read")
	}
	id, reply, typed := r.PostForm.Get("question"), registry.Reply{Action: registry.Action(r.PostForm.Get("action"))}, map[string]any{}
	if run.Question != nil && run.Question.ID == id {
		reply.Values, typed = answerValues(run.Question.Question, r.PostForm)
	}
	_, err = s.runs.Answer(r.Context(), run.ID, a.ID, id, reply)
	var bad *registry.Error
	switch {
	case err == nil:
		http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
		return nil
	case errors.As(err, &bad) && bad.Code == registry.CodeInvalidInput, errors.Is(err, runs.ErrNoQuestion):
		p := s.render.Explain(r, a, err)
		if run.Question != nil && p.Field != "" {
			p.Detail = inWords(s.render.Voice(r, a), registry.Tool{InputSchema: run.Question.Fields}, problem.Explain(err))
		}
		return s.drawAs(w, r, a, p.Status, run, render.View{Problem: p.Detail}, prefill{typed: typed, problem: &p})
	}
	return err
}
