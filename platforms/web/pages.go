package web

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/*
var staticFiles embed.FS

// view is what every page gets; pages read the members they need.
type view struct {
	Title    string
	Problem  string
	SignedIn bool
	Local    bool
	Name     string
	Balance  *billing.Balance
	Groups   []toolGroup
	Waiting  []registry.Tool // tools that nobody can run now
	Query    string
	Tool     *registry.Tool
	Fields   []formField
	Advanced []formField
	Price    string
	Notice   string
	FormID   string
	Run      *runView
	Runs     []runView
	More     string // the page's next link
	Tools    []registry.Tool
	Base     string // address of the API
	Key      string // a key that was just made
	Operator bool
	Changes  []changeView
	Loaders  []registry.LoaderStatus
}

type toolGroup struct {
	Name  string
	Tools []registry.Tool
}

// split parts the tools that can be run now from those that wait for an engine.
func split(tools []registry.Tool) (ready, waiting []registry.Tool) {
	for _, t := range tools {
		if t.State() == registry.StateUnavailable {
			waiting = append(waiting, t)
		} else {
			ready = append(ready, t)
		}
	}
	return ready, waiting
}

// formField is an input as the form shows it.
type formField struct {
	registry.InputField
	Value  string // what stands in the field at first
	Source string // where that value comes from: your setting, or the tool's default
	Error  string
}

// runView is a run as a page shows it.
type runView struct {
	runs.Run
	Outputs []outputBody
	Percent string // empty while no real figure is known
	Given   []givenValue
}

type givenValue struct {
	Label, Value, Source string
}

func (s *Server) parsePages() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"price":  priceOf,
		"usd":    func(n billing.NanoUSD) string { return n.String() },
		"about":  about,
		"accept": acceptOf,
		"paragraphs": func(text string) []string {
			return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		},
		"first": func(list []string) []string { return list[:min(1, len(list))] },
		"plural": func(n int, one, many string) string {
			if n == 1 {
				return one
			}
			return many
		},
	}).ParseFS(templateFiles, "templates/*.html")
}

// pageHandler is a handler for a signed-in account.
type pageHandler func(w http.ResponseWriter, r *http.Request, a users.Account) error

// page finds the account, or makes the local user's session, or shows the way to sign in.
func (s *Server) page(h pageHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := s.account(r)
		if errors.Is(err, errSignedOut) {
			a, err = s.signInLocal(w, r)
		}
		if errors.Is(err, errSignedOut) {
			http.Redirect(w, r, "/signin", http.StatusSeeOther)
			return
		}
		if err == nil {
			err = h(w, r, a)
		}
		if err != nil {
			s.failPage(w, r, err)
		}
	}
}

func (s *Server) failPage(w http.ResponseWriter, r *http.Request, err error) {
	p := explain(err)
	if p.Status == http.StatusInternalServerError {
		s.cfg.Logger.Error("page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	s.render(w, r, p.Status, "problem", view{Title: http.StatusText(p.Status), Problem: p.Detail})
}

// render writes a page, or nothing but an error when the template fails: never half a page.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	v.Local = s.cfg.Public == nil
	if a, err := s.account(r); err == nil && v.Balance == nil {
		v.SignedIn = true
		if b, err := s.cfg.Ledger.Balance(r.Context(), a.ID); err == nil {
			v.Balance = &b
		}
	}
	var page bytes.Buffer
	if err := s.pages.ExecuteTemplate(&page, name+".html", v); err != nil {
		s.cfg.Logger.Error("template failed", "template", name, "error", err)
		http.Error(w, "This page is broken on our side.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	page.WriteTo(w)
}

func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

func audience(a users.Account) registry.Audience {
	if a.Operator {
		return registry.Insiders
	}
	return registry.Everyone
}

// listed are the tools that this account's lists show.
func (s *Server) listed(a users.Account) []registry.Tool {
	return deref(s.cfg.Registry.Snapshot().Listed(audience(a)))
}

func (s *Server) home(w http.ResponseWriter, r *http.Request, a users.Account) error {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	v := view{Title: "Tools", Query: query}
	if query == "" {
		var ready []registry.Tool
		ready, v.Waiting = split(s.listed(a))
		v.Groups = grouped(ready)
	} else if found := s.search(a, query); len(found) > 0 {
		v.Groups = []toolGroup{{Name: "Found", Tools: found}}
	}
	if recent, err := s.cfg.Runs.List(r.Context(), runs.Filter{AccountID: a.ID, Limit: 6}); err == nil {
		for _, run := range recent {
			v.Runs = append(v.Runs, s.runView(r, run))
		}
	}
	return s.show(w, r, a, "home", v)
}

func (s *Server) search(a users.Account, query string) []registry.Tool {
	var found []*registry.Tool
	for _, m := range s.cfg.Registry.Snapshot().Search(query, registry.SearchOptions{Audience: audience(a), Limit: 30, WithUnavailable: true}) {
		found = append(found, m.Tool)
	}
	return deref(found)
}

// deref copies the headers of tools that are only read: pages and answers do not modify them.
func deref(shared []*registry.Tool) []registry.Tool {
	tools := make([]registry.Tool, len(shared))
	for i, t := range shared {
		tools[i] = *t
	}
	return tools
}

// fewTools is up to how many tools one list is clearer than a heading for each category.
const fewTools = 12

func grouped(tools []registry.Tool) []toolGroup {
	if n := len(tools); n > 0 && n <= fewTools {
		return []toolGroup{{Name: "Ready to run", Tools: tools}}
	}
	byName := map[string][]registry.Tool{}
	for _, t := range tools {
		name := t.Category
		if name == "" {
			name = "Other"
		}
		byName[name] = append(byName[name], t)
	}
	var groups []toolGroup
	for name, tools := range byName {
		groups = append(groups, toolGroup{Name: name, Tools: tools})
	}
	slices.SortFunc(groups, func(a, b toolGroup) int { return strings.Compare(a.Name, b.Name) })
	return groups
}

// show renders a page for a known account; its balance may not be in a cookie yet.
func (s *Server) show(w http.ResponseWriter, r *http.Request, a users.Account, name string, v view) error {
	b, err := s.cfg.Ledger.Balance(r.Context(), a.ID)
	if err != nil {
		return err
	}
	v.Balance, v.SignedIn, v.Name, v.Operator = &b, true, a.DisplayName, a.Operator
	s.render(w, r, http.StatusOK, name, v)
	return nil
}

func (s *Server) tool(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, ok := s.cfg.Registry.Snapshot().ByID(r.PathValue("id"))
	if !ok || (t.Visibility == registry.VisibilityInternal && !a.Operator) {
		return runs.ErrUnknownTool
	}
	return s.toolPage(w, r, a, t.Clone(), nil, nil)
}

// toolPage shows a tool's form, filled with what was typed before, else with settings and defaults.
func (s *Server) toolPage(w http.ResponseWriter, r *http.Request, a users.Account, t registry.Tool, typed map[string]any, problem *problemBody) error {
	prefs, err := s.cfg.Users.Preferences(r.Context(), a.ID, t.ToolID)
	if err != nil {
		return err
	}
	v := view{Title: t.DisplayName, Tool: &t, Notice: t.Notice(), FormID: rand.Text(), Price: priceOf(t)}
	for _, f := range t.InputSchema.Ordered() {
		field := formField{InputField: f}
		field.Value, field.Source = firstValue(f, typed, prefs)
		if problem != nil && (problem.Field == f.Name || slices.Contains(problem.Missing, f.Name)) {
			field.Error = problem.Detail
		}
		if f.Advanced && field.Error == "" {
			v.Advanced = append(v.Advanced, field)
		} else {
			v.Fields = append(v.Fields, field)
		}
	}
	if problem != nil {
		v.Problem = problem.Detail
	}
	return s.show(w, r, a, "tool", v)
}

// firstValue is what a field shows before anything is typed, with where it comes from.
func firstValue(f registry.InputField, typed, prefs map[string]any) (value, source string) {
	if x, ok := typed[f.Name]; ok {
		return plain(x), ""
	}
	if x, ok := prefs[f.Name]; ok {
		return plain(x), "your setting"
	}
	if f.Default != nil && !f.Type.IsMedia() && !f.Seed { // an empty seed is a fresh one
		return plain(f.Default), ""
	}
	return "", ""
}

// plain is a JSON value as a person would type it.
func plain(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return fmt.Sprint(x)
	}
	data, err := json.Marshal(x)
	if err != nil {
		return ""
	}
	return string(data)
}

// start takes the form of a tool.
func (s *Server) start(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, ok := s.cfg.Registry.Snapshot().ByID(r.PathValue("id"))
	if !ok {
		return runs.ErrUnknownTool
	}
	v, err := s.readInputs(w, r, *t)
	var run runs.Run
	if err == nil {
		run, err = s.cfg.Runs.Accept(r.Context(), runs.Request{
			AccountID: a.ID, ToolID: t.ToolID, Values: v, Origin: runs.Origin{Platform: Platform},
			Audience: audience(a), IdempotencyKey: formKey(r),
		})
	}
	if err != nil {
		p := explain(err)
		if p.Status == http.StatusInternalServerError {
			return err
		}
		return s.toolPage(w, r, a, t.Clone(), v[runs.FromArgument], &p)
	}
	http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
	return nil
}

// formKey makes sending one form twice one run.
func formKey(r *http.Request) string {
	if id := r.PostFormValue("form" + formIDSuffix); id != "" {
		return "form:" + id
	}
	return ""
}

func (s *Server) run(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.ownRun(r, a)
	if err != nil {
		return err
	}
	rv := s.runView(r, run)
	return s.show(w, r, a, "run", view{Title: run.Tool.DisplayName, Run: &rv, FormID: rand.Text()})
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
	run, err := s.cfg.Runs.Accept(r.Context(), runs.Request{
		AccountID: a.ID, ToolID: old.Tool.ToolID, Values: values{runs.FromArgument: inputs},
		Origin: runs.Origin{Platform: Platform}, Audience: audience(a), Parent: old.ID, IdempotencyKey: formKey(r),
	})
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
	return nil
}

const historyPage = 24

func (s *Server) history(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.cfg.Runs.List(r.Context(), runs.Filter{AccountID: a.ID, Before: r.URL.Query().Get("before"), Limit: historyPage})
	if err != nil {
		return err
	}
	v := view{Title: "History"}
	for _, run := range list {
		v.Runs = append(v.Runs, s.runView(r, run))
	}
	if len(list) == historyPage {
		v.More = "/history?before=" + list[len(list)-1].ID
	}
	return s.show(w, r, a, "history", v)
}

func (s *Server) prices(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.show(w, r, a, "prices", view{Title: "Prices", Tools: s.listed(a)})
}

// developers explains the API and offers a key for it.
func (s *Server) developers(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.show(w, r, a, "developers", view{Title: "API", Base: s.absolute(r, "")})
}

// makeKey makes a key of this account and shows it, once: only its hash is kept.
func (s *Server) makeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	key, err := s.cfg.Users.CreateKey(r.Context(), a.ID, "made on the page")
	if err != nil {
		return err
	}
	return s.show(w, r, a, "developers", view{Title: "API", Base: s.absolute(r, ""), Key: key})
}

// changes shows operators what changed in the catalogue.
func (s *Server) changes(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.changesFor(r, a)
	if err != nil {
		return err
	}
	v := view{Title: "Changes"}
	for _, c := range list {
		v.Changes = append(v.Changes, changeView{At: c.At, Lines: c.Diff.Lines()})
	}
	v.Loaders = s.cfg.Registry.Status()
	return s.show(w, r, a, "changes", v)
}

// changeView is one change of the catalogue in words.
type changeView struct {
	At    time.Time
	Lines []string
}

func (s *Server) runView(r *http.Request, run runs.Run) runView {
	v := runView{Run: run, Outputs: s.runBody(r, run).Outputs}
	for i, o := range v.Outputs {
		if o.URL != "" {
			v.Outputs[i].URL = s.FilePath(run.Outputs[i].Media, run.Outputs[i].FileName)
		}
	}
	if run.Fraction != nil {
		v.Percent = fmt.Sprintf("%.0f", *run.Fraction*100)
	}
	for _, f := range run.Tool.InputSchema.Ordered() {
		value, ok := run.Inputs[f.Name]
		if !ok {
			continue
		}
		text := plain(value)
		if f.Type.IsMedia() {
			text = "a file"
		}
		v.Given = append(v.Given, givenValue{Label: f.Label(), Value: text, Source: string(run.Sources[f.Name])})
	}
	return v
}

// about is an amount cut to a hundredth of a cent, for places where the exact one would be noise. It never
// shows more than there is.
func about(n billing.NanoUSD) string {
	const step = billing.Dollar / 10_000
	return (n / step * step).String()
}

// priceOf says what a tool costs by its costing model.
func priceOf(t registry.Tool) string {
	m := t.CostingModel
	if m == nil {
		return "free"
	}
	switch m.RateSource {
	case registry.RateAPI:
		return "as the provider charges"
	case registry.RateMachine:
		return fmt.Sprintf("about $%s per %s, by the GPU that runs it", m.Rate, m.Unit)
	}
	return fmt.Sprintf("$%s per %s", m.Rate, m.Unit)
}

// priceText says what one run will cost.
func priceText(q billing.Quote) string {
	switch {
	case q.High == 0:
		return "free"
	case q.Low == q.High:
		return q.High.String()
	}
	return fmt.Sprintf("%s to %s", q.Low, q.High)
}

// acceptOf is the accept attribute of a file field.
func acceptOf(t registry.InputType) string {
	if t == registry.TypeFile {
		return ""
	}
	return string(t) + "/*"
}

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	data, err := staticFiles.ReadFile(path.Join("static", name))
	if err != nil {
		s.notFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "public, max-age=300")
	w.Write(data)
}
