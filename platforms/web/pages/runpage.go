package pages

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Steers is what an owner says of a run under way: runner.Service.
type Steers interface {
	ConfirmSummary(ctx context.Context, runID, accountID, hash string, granted []string) (runs.Run, error)
	Answer(ctx context.Context, runID, accountID, questionID string, reply registry.Reply) (runs.Run, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
}

// runPages are the pages of runs.
type runPages struct {
	shared
	spending
	runs    Steers
	callers request.Callers
	sharing *sharing
	delete  func(r *http.Request, a users.Account) error // deletes what the path values name
}

func (s *runPages) routes() []door.Route {
	return []door.Route{
		door.ForPeople("GET /run/{id}", door.View, s.page),
		door.ForPeople("POST /run/{id}/confirm", door.Person, s.confirm),
		door.ForPeople("POST /run/{id}/answer", door.Person, s.answer),
		door.ForPeople("POST /run/{id}/cancel", door.Person, s.cancel),
		door.ForPeople("POST /run/{id}/delete", door.Person, s.remove),
		door.ForPeople("POST /run/{id}/outputs/{n}/delete", door.Person, s.removeOutput),
		door.ForPeople("POST /run/{id}/again", door.Person, s.again),
	}
}

// runPage is the page of one run: its progress, or its results and what can be made of them.
type runPage struct {
	runView
	FormID   string
	Vary     bool   // the tool itself makes another like it
	Seeds    string // by input, as JSON
	Compares []comparison
	CanShare bool
	Own      bool   // the reader's: they may delete it
	Share    string // the address that shows the results to anybody; empty: they are not shared
	ToolGone bool   // the tool is no more; it can't be run again
	Confirm  *confirmCard
	Question *questionCard
}

// confirmCard is what a run's owner reads before it goes ahead.
type confirmCard struct {
	Question string   // the tool's own; empty: the usual one
	Planner  string   // the model that asks; empty: the owner did
	Personal []string // scopes of personal data that go to the service
	Hash     string   // of the summary: what is confirmed is what was shown
	Until    time.Time
	Share    int // of their credit, in percent, above which its owner is asked, where that is all it can be; 0: it is not
}

func cardOf(run runs.Run) *confirmCard {
	if run.Status != runs.StatusAwaitingConfirmation {
		return nil
	}
	said := run.Summary()
	card := &confirmCard{Planner: run.Context.PlannerProvider, Personal: said.Personal, Hash: said.Hash(), Until: run.CreatedAt.Add(runs.SummaryLife)}
	if strings.Contains(run.Tool.Confirmation, " ") { // other words are kinds of summaries
		card.Question = run.Tool.Confirmation
	}
	return card
}

// comparison is two pictures to look at side by side, or one over the other.
type comparison struct {
	Title, Before, After string
}

func (s *runPages) page(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.callers.Own(r.Context(), a, r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.draw(w, r, a, run, render.View{})
}

func (s *runPages) draw(w http.ResponseWriter, r *http.Request, a users.Account, run runs.Run, v render.View) error {
	return s.drawAs(w, r, a, http.StatusOK, run, v, prefill{})
}

// drawAs shows a run's page with an answer's status; fill is what was answered to its question before.
func (s *runPages) drawAs(w http.ResponseWriter, r *http.Request, a users.Account, status int, run runs.Run, v render.View, fill prefill) error {
	voice := s.render.Voice(r, a)
	page := runPage{runView: s.views.run(voice, run), FormID: rand.Text(), Seeds: seedsOf(run), Confirm: cardOf(run), Own: run.AccountID == a.ID}
	if c := page.Confirm; c != nil && page.Own && c.Planner == "" && run.Tool.Confirmation == "" && len(c.Personal) == 0 {
		c.Share = s.share(r.Context(), a.ID)
	}
	if page.Own && !door.ByAgent(r.Context()) {
		page.Question = s.views.question(voice, run, fill)
	}
	_, gone := s.tools.visible(run.Tool.ToolID, a)
	page.ToolGone = gone != nil
	var err error
	if page.CanShare = s.sharing.on() && run.AccountID == a.ID && run.Status == runs.StatusSucceeded; page.CanShare {
		if page.Share, err = s.sharing.link(r, run.ID); err != nil {
			return err
		}
	}
	if run.Status.Final() {
		s.addUses(voice, a, &page)
		page.Compares = s.comparisons(r, voice, a, page.runView)
	}
	v.Title, v.Place, v.Data, v.Scripts = page.Tool.DisplayName, "history", &page, []string{"run.js"}
	return s.pages.ShowAs(w, r, a, status, "run", v)
}

// manyUses is how many tools a result's menu offers at most.
const manyUses = 12

// addUses finds for each result the tools that can go on with it: those that vary, enlarge, animate or edit it by that, the
// others by their names; and how the whole is varied.
func (s *runPages) addUses(voice i18n.Voice, a users.Account, page *runPage) {
	snapshot, varied := s.tools.snapshot(), false
	for i := range page.Results {
		o := &page.Results[i]
		address := func(t *registry.Tool) string {
			return fmt.Sprintf("/tool/%s?use=%s.%d", url.PathEscape(t.ToolID), page.ID, i)
		}
		done := map[registry.Follow]bool{}
		named := map[string]bool{}
		if o.Media != "" {
			for _, f := range snapshot.Following(&page.Tool, o.Type, request.Audience(a)) {
				if !done[f.Does] {
					done[f.Does], named[f.Tool.ToolID], varied = true, true, varied || f.Does == registry.FollowVary
					o.Next = append(o.Next, useLink{Name: voice.Line("follow." + string(f.Does)), URL: address(f.Tool) + "&does=" + string(f.Does)})
				}
			}
		}
		for _, t := range snapshot.Offered(request.Audience(a)) {
			if _, ok := inputFor(*t, o.Output); ok && t.InMenus() && !named[t.ToolID] && len(o.Uses) < manyUses {
				o.Uses = append(o.Uses, useLink{Name: t.In(voice.Language()).DisplayName, URL: address(t)})
			}
		}
	}
	page.Vary = words.HowToVary(page.Run, varied, 0).Itself()
}

// comparisons pairs the first picture of the result with the picture that went in, and with the one of the run
// that this one varies.
func (s *runPages) comparisons(r *http.Request, voice i18n.Voice, a users.Account, v runView) []comparison {
	after := lastPicture(v.Results)
	if after == "" {
		return nil
	}
	var list []comparison
	for _, g := range v.Given {
		if len(g.Files) == 1 && g.Files[0].Picture {
			list = append(list, comparison{Title: voice.Line("web.compare.input", "input", g.Label), Before: g.Files[0].URL, After: after})
		}
	}
	if parent, err := s.callers.Own(r.Context(), a, v.Parent); err == nil {
		if before := lastPicture(s.views.run(voice, parent).Results); before != "" && before != after {
			list = append(list, comparison{Title: voice.Line("web.compare.parent"), Before: before, After: after})
		}
	}
	return list
}

func (s *runPages) cancel(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.callers.Own(r.Context(), a, r.PathValue("id")); err != nil {
		return err
	}
	if _, err := s.runs.Cancel(r.Context(), r.PathValue("id"), a.ID); err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+r.PathValue("id"), http.StatusSeeOther)
	return nil
}

// confirm lets a run go ahead that waits for its owner's word.
func (s *runPages) confirm(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.callers.Own(r.Context(), a, r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := request.MayApprove(r); err != nil {
		return err
	}
	hash := r.PostFormValue("summary")
	var granted []string
	if len(run.Tool.PIIRequired) > 0 {
		granted = append([]string{}, r.PostForm["grant"]...) // what is not ticked is not sent
	}
	if _, err := s.runs.ConfirmSummary(r.Context(), run.ID, a.ID, hash, granted); err != nil {
		return s.draw(w, r, a, run, render.View{Problem: problem.Explain(err).Detail})
	}
	http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
	return nil
}

// again starts a run with the inputs of another. Seeds that chance drew for what worked are drawn anew; with vary all are or, where there is one of small changes, that alone.
func (s *runPages) again(w http.ResponseWriter, r *http.Request, a users.Account) error {
	old, err := s.callers.Own(r.Context(), a, r.PathValue("id"))
	if err != nil {
		return err
	}
	inputs := map[string]any{}
	vary := r.PostFormValue("vary") != ""
	slightly := vary && words.HowToVary(old, false, 0) == words.VarySlightly
	for name, value := range old.Inputs {
		drawn := old.Sources[name] == runs.FromRandom && old.Status == runs.StatusSucceeded
		f, ok := old.Tool.InputSchema.Get(name)
		if redraw := (drawn || vary) && (!slightly || f.Role == registry.RoleVariation); ok && f.Seed && redraw {
			value = "random"
		}
		inputs[name] = value
	}
	asking, err := s.asking(r.Context(), a.ID)
	if err != nil {
		return err
	}
	run, err := s.callers.Accept(r.Context(), a, runs.Request{
		Asking:    asking,
		AccountID: a.ID, ToolID: old.Tool.ToolID, Values: request.Values{runs.FromArgument: inputs},
		Origin: runs.Origin{Platform: door.Platform}, Audience: request.Audience(a), Parent: old.ID, IdempotencyKey: formKey(r),
		Context: request.PersonContext(r),
	})
	if err != nil {
		if p := problem.Explain(err); !p.Ours() {
			return s.draw(w, r, a, old, render.View{Problem: strings.TrimSpace(p.Detail)})
		}
		return err
	}
	http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
	return nil
}
func (s *runPages) remove(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.delete(r, a); err != nil {
		return err
	}
	http.Redirect(w, r, "/history?done=deleted", http.StatusSeeOther)
	return nil
}

func (s *runPages) removeOutput(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.delete(r, a); err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+r.PathValue("id")+"?done=removed", http.StatusSeeOther)
	return nil
}
