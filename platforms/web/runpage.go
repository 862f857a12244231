package web

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// runPage is the page of one run: its progress, or its results and what can be made of them.
type runPage struct {
	runView
	FormID   string
	Vary     bool
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

// runView is a run as a page shows it.
type runView struct {
	runs.Run
	Results   []result
	Percent   string // empty while no real figure is known
	RestWords string // how long it will go on, or ""
	Given     []givenValue
	Usual     bool   // some of them are as the tool has them
	Cover     result // the first result that can be looked at
	Price     string
}

// result is one output on a page.
type result struct {
	runs.Output
	Label string
	URL   string
	Thumb string // a small version of a picture
	Size  string
	Uses  []useLink // tools that take it
}

// useLink leads to a tool's form with a result filled in.
type useLink struct {
	Name, URL string
}

type givenValue struct {
	Label, Value string
	Source       runs.Source
	Files        []keptFile
	Usual        bool // an advanced input as the tool has it
}

// comparison is two pictures to look at side by side, or one over the other.
type comparison struct {
	Title, Before, After string
}

func (s *Server) runView(voice i18n.Voice, run runs.Run) runView {
	v := runView{Run: run, Price: priceWords(voice, run.Quote).Price}
	for _, o := range run.Outputs {
		v.Results = append(v.Results, s.result(run, o))
	}
	for _, o := range v.Results {
		if v.Cover.Type == "" || v.Cover.Type != string(registry.TypeImage) && o.Type == string(registry.TypeImage) {
			v.Cover = o
		}
	}
	v.RestWords = voice.Rest(run.Rest(time.Now()))
	if run.Fraction != nil {
		v.Percent = fmt.Sprintf("%.0f", *run.Fraction*100)
	}
	for _, f := range run.Tool.InputSchema.Ordered() {
		if value, ok := run.Inputs[f.Name]; ok {
			g := s.given(voice, run.AccountID, f, value, run.Sources[f.Name])
			v.Given, v.Usual = append(v.Given, g), v.Usual || g.Usual
		}
	}
	return v
}

func (s *Server) result(run runs.Run, o runs.Output) result {
	out := result{Output: o, Label: o.Name}
	for _, f := range run.Tool.OutputSchema {
		if f.Name == o.Name && f.Description != "" && len(f.Description) <= 40 {
			out.Label = f.Description
		}
	}
	if o.Media != "" {
		out.URL = s.FilePath(run.AccountID, o.Media, o.FileName)
		if o.Type == string(registry.TypeImage) {
			out.Thumb = s.ThumbPath(run.AccountID, o.Media)
		}
	}
	if o.Width > 0 {
		out.Size = fmt.Sprintf("%d × %d", o.Width, o.Height)
	}
	return out
}

func (s *Server) given(voice i18n.Voice, owner string, f registry.InputField, value any, from runs.Source) givenValue {
	g := givenValue{Label: f.Label(), Source: from, Usual: f.Advanced && plain(value) == plain(f.Default)}
	if f.Type.IsMedia() {
		g.Files = s.keptFiles(owner, f, value)
		return g
	}
	g.Value = plain(value)
	if f.Type == registry.TypeBoolean {
		g.Value = voice.Line(map[bool]string{true: "value.yes", false: "value.no"}[value == true])
	}
	for _, c := range f.Choices {
		if plain(c.Value) == g.Value {
			g.Value = c.Text()
		}
	}
	return g
}

func (s *Server) run(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.ownRun(r, a)
	if err != nil {
		return err
	}
	return s.showRun(w, r, a, run, view{})
}

func (s *Server) showRun(w http.ResponseWriter, r *http.Request, a users.Account, run runs.Run, v view) error {
	return s.showRunAs(w, r, a, http.StatusOK, run, v, prefill{})
}

// showRunAs shows a run's page with an answer's status; fill is what was answered to its question before.
func (s *Server) showRunAs(w http.ResponseWriter, r *http.Request, a users.Account, status int, run runs.Run, v view, fill prefill) error {
	voice := s.voice(r, a)
	page := runPage{runView: s.runView(voice, run), FormID: rand.Text(), Confirm: cardOf(run), Own: run.AccountID == a.ID}
	if page.Own && !ByAgent(r.Context()) {
		page.Question = s.questionOf(voice, run, fill)
	}
	for _, f := range run.Tool.InputSchema {
		page.Vary = page.Vary || f.Seed
	}
	_, gone := s.visibleTool(run.Tool.ToolID, a)
	page.ToolGone = gone != nil
	var err error
	if page.CanShare = s.cfg.Shares != nil && run.AccountID == a.ID && run.Status == runs.StatusSucceeded; page.CanShare {
		if page.Share, err = s.shareLink(r, run.ID); err != nil {
			return err
		}
	}
	if run.Status.Final() {
		s.addUses(a, &page)
		page.Compares = s.comparisons(r, voice, a, page.runView)
	}
	v.Title, v.Place, v.Run, v.Scripts = run.Tool.DisplayName, "history", &page, []string{"run.js"}
	return s.showAs(w, r, a, status, "run", v)
}

// manyUses is how many tools a result's menu offers at most.
const manyUses = 12

// addUses finds for each result the tools that can go on with it.
func (s *Server) addUses(a users.Account, page *runPage) {
	offered := s.cfg.Registry.Snapshot().Offered(audience(a))
	for i, o := range page.Results {
		for _, t := range offered {
			if _, ok := inputFor(*t, o.Output); ok && t.State() == registry.StateActive && len(page.Results[i].Uses) < manyUses {
				link := useLink{Name: t.DisplayName, URL: fmt.Sprintf("/tool/%s?use=%s.%d", t.ToolID, page.ID, i)}
				page.Results[i].Uses = append(page.Results[i].Uses, link)
			}
		}
	}
}

// comparisons pairs the first picture of the result with the picture that went in, and with the one of the run
// that this one varies.
func (s *Server) comparisons(r *http.Request, voice i18n.Voice, a users.Account, v runView) []comparison {
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
	if parent, err := s.runOf(r, a, v.Parent); err == nil {
		if before := lastPicture(s.runView(voice, parent).Results); before != "" && before != after {
			list = append(list, comparison{Title: voice.Line("web.compare.parent"), Before: before, After: after})
		}
	}
	return list
}

// lastPicture is the picture that a tool gives last: what comes before it are steps on the way.
func lastPicture(results []result) string {
	found := ""
	for _, o := range results {
		if o.Type == string(registry.TypeImage) && o.URL != "" {
			found = o.URL
		}
	}
	return found
}

func (s *Server) cancelFromPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.ownRun(r, a); err != nil {
		return err
	}
	if _, err := s.cfg.Runs.Cancel(r.Context(), r.PathValue("id"), a.ID); err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+r.PathValue("id"), http.StatusSeeOther)
	return nil
}

// confirmFromPage lets a run go ahead that waits for its owner's word.
func (s *Server) confirmFromPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.ownRun(r, a)
	if err != nil {
		return err
	}
	if err := s.mayApprove(r); err != nil {
		return err
	}
	hash := r.PostFormValue("summary")
	var granted []string
	if len(run.Tool.PIIRequired) > 0 {
		granted = append([]string{}, r.PostForm["grant"]...) // what is not ticked is not sent
	}
	if _, err := s.cfg.Runs.ConfirmSummary(r.Context(), run.ID, a.ID, hash, granted); err != nil {
		return s.showRun(w, r, a, run, view{Problem: explain(err).Detail})
	}
	http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
	return nil
}

// again starts a run with the inputs of another; with vary its seeds are drawn anew.
func (s *Server) again(w http.ResponseWriter, r *http.Request, a users.Account) error {
	old, err := s.ownRun(r, a)
	if err != nil {
		return err
	}
	inputs := map[string]any{}
	for name, value := range old.Inputs {
		if f, ok := old.Tool.InputSchema.Get(name); ok && f.Seed && r.PostFormValue("vary") != "" {
			value = "random"
		}
		inputs[name] = value
	}
	run, err := s.accept(r.Context(), a, runs.Request{
		AccountID: a.ID, ToolID: old.Tool.ToolID, Values: values{runs.FromArgument: inputs},
		Origin: runs.Origin{Platform: Platform}, Audience: audience(a), Parent: old.ID, IdempotencyKey: formKey(r),
		Context: PersonContext(r),
	})
	if err != nil {
		if p := explain(err); !p.ours() {
			return s.showRun(w, r, a, old, view{Problem: strings.TrimSpace(p.Detail)})
		}
		return err
	}
	http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
	return nil
}
