package web

import (
	"crypto/rand"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// formPage is the page of a tool: its form, its price, and what the reader made with it before.
type formPage struct {
	Tool     registry.Tool
	ID       string // makes sending one form twice one run
	Action   string // where the form is sent
	InChat   bool   // the form is one of the conversation
	Fields   []formField
	Advanced []formField
	Open     bool // the advanced fields are unfolded
	Notice   string
	Price    priceView
	CanRun   bool
	Latest   []runView
	Parent   string // the run whose inputs these are
	Presets  []users.Preset
	Preset   string // the one the form is filled from
	Settings bool   // some value is the account's own setting
}

// formField is an input as the form shows it.
type formField struct {
	registry.InputField
	Control string // how it is drawn: file, switch, segments, select, slider, seed, number, area, text
	Value   string // what stands in the field at first
	Default string
	Source  runs.Source // where that value comes from; empty: typed
	Kept    []keptFile  // files that are there already
	Step    string      // of the slider
	Allowed string      // which values it takes, in words
	Error   string
}

// keptFile is a stored file that stands in a form.
type keptFile struct {
	Ref, URL string
	Thumb    string // a small version of a picture
	Picture  bool
}

// priceView is a price in words.
type priceView struct {
	Price        string `json:"price"`
	Basis        string `json:"basis"`
	BillCanceled bool   `json:"-"`
	Quote        string `json:"quote,omitempty"` // sealed, for the run that is started at this price
}

// prefill is what a form is filled with before its settings and defaults.
type prefill struct {
	typed   map[string]any // by input name; overrides all
	values  values         // bound like the values of a run
	parent  string
	preset  string
	action  string // where the form is sent; empty: it makes a run on the page
	problem *problemBody
}

func (s *Server) tool(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.visibleTool(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	fill, err := s.prefilled(r, a, t)
	if err != nil {
		return err
	}
	return s.toolPage(w, r, a, t, fill)
}

// visibleTool finds a tool that the account may see.
func (s *Server) visibleTool(id string, a users.Account) (registry.Tool, error) {
	t, ok := s.cfg.Registry.Snapshot().Resolve(id)
	if !ok || !t.KnownTo(audience(a)) {
		return registry.Tool{}, runs.UnknownTool(s.cfg.Registry, id)
	}
	return t.Clone(), nil
}

// prefilled reads what the address asks to fill in: ?preset= a preset, ?run= the inputs of a run, ?use= a result
// of one, ?follow= a follow-up action of one.
func (s *Server) prefilled(r *http.Request, a users.Account, t registry.Tool) (prefill, error) {
	fill := prefill{typed: map[string]any{}}
	if name := r.URL.Query().Get("preset"); name != "" {
		preset, err := s.cfg.Users.Preset(r.Context(), a.ID, t, name)
		if err != nil {
			return fill, err
		}
		fill.preset, fill.values = preset.Name, values{runs.FromPreset: preset.Values}
	}
	if id := r.URL.Query().Get("run"); id != "" {
		run, err := s.runOf(r, a, id)
		if err != nil {
			return fill, err
		}
		fill.parent = run.ID
		for name, value := range run.Inputs {
			if f, ok := t.InputSchema.Get(name); ok && !f.Seed {
				fill.typed[name] = value
			}
		}
	}
	if use := r.URL.Query().Get("use"); use != "" {
		id, index, _ := strings.Cut(use, ".")
		run, err := s.runOf(r, a, id)
		if err != nil {
			return fill, err
		}
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(run.Outputs) {
			return fill, runs.ErrNotFound
		}
		useOutput(fill.typed, t, run.Outputs[i])
	}
	if action := r.URL.Query().Get("follow"); action != "" {
		if err := s.followUp(r, a, t, action, fill.typed); err != nil {
			return fill, err
		}
	}
	return fill, nil
}

// useOutput puts a result into the first input of its kind.
func useOutput(typed map[string]any, t registry.Tool, o runs.Output) {
	f, ok := inputFor(t, o)
	switch {
	case !ok:
	case o.Media == "":
		typed[f.Name] = o.Text
	case f.Multiple:
		typed[f.Name] = []any{o.Media}
	default:
		typed[f.Name] = o.Media
	}
}

// inputFor finds the first input of a tool that a result fits into.
func inputFor(t registry.Tool, o runs.Output) (registry.InputField, bool) {
	for _, f := range t.InputSchema.Ordered() {
		if o.Media == "" {
			if f.Type == registry.TypeString && len(f.Choices) == 0 && !f.Advanced {
				return f, true
			}
		} else if string(f.Type) == o.Type || f.Type == registry.TypeFile {
			return f, true
		}
	}
	return registry.InputField{}, false
}

// toolPage shows a tool's form, filled with what was typed before, else with presets, settings and defaults.
func (s *Server) toolPage(w http.ResponseWriter, r *http.Request, a users.Account, t registry.Tool, fill prefill) error {
	voice := s.voice(r, a)
	if fill.problem != nil {
		fill.problem.Detail = inWords(voice, t, *fill.problem)
	}
	page := formPage{
		Tool: t, ID: rand.Text(), Action: formAction(t, fill), InChat: fill.action != "",
		Notice: noticeOf(voice, t, s.cfg.Registry.Snapshot()), CanRun: t.State() != registry.StateUnavailable, Parent: fill.parent, Preset: fill.preset,
	}
	bound := s.boundForForm(r, a, t, fill)
	for _, f := range t.InputSchema.Ordered() {
		field := s.formField(voice, f, bound, fill)
		page.Settings = page.Settings || bound.Sources[f.Name] == runs.FromPreference
		if f.Advanced {
			page.Advanced = append(page.Advanced, field)
			page.Open = page.Open || field.Error != ""
		} else {
			page.Fields = append(page.Fields, field)
		}
	}
	page.Price = s.formPrice(r, voice, s.boundAsTyped(r, a, t, fill, bound))
	var err error
	if page.Presets, err = s.cfg.Users.Presets(r.Context(), a.ID, t); err != nil {
		return err
	}
	latest, err := s.cfg.Runs.List(r.Context(), runs.Filter{AccountID: a.ID, ToolID: t.ToolID, Limit: 9})
	if err != nil {
		return err
	}
	for _, run := range latest {
		page.Latest = append(page.Latest, s.runView(voice, run))
	}
	v := view{Title: t.DisplayName, Place: "tools", Form: &page, Scripts: []string{"form.js"}}
	if page.InChat {
		v.Place = "chat"
	}
	if fill.problem == nil {
		return s.show(w, r, a, "tool", v)
	}
	v.Problem = fill.problem.Detail
	return s.showAs(w, r, a, fill.problem.Status, "tool", v)
}

// inWords says in the reader's language what is wrong with a form. English has the registry's own words, which say more.
func inWords(v i18n.Voice, t registry.Tool, p problemBody) string {
	if v.Language() == i18n.Fallback {
		return p.Detail
	}
	var missing []string
	for _, f := range t.InputSchema.Ordered() {
		if f.Name == p.Field && p.Code == string(registry.CodeInvalidInput) {
			return chat.WrongValue(v, f).String()
		}
		if slices.Contains(p.Missing, f.Name) {
			missing = append(missing, f.Label())
		}
	}
	if len(missing) > 0 {
		return v.Line("ask.input", "tool", t.DisplayName, "input", strings.Join(missing, ", "))
	}
	return p.Detail
}

// boundForForm asks what each input would be if nothing were typed. A tool that can't be run now is shown with
// its defaults.
func (s *Server) boundForForm(r *http.Request, a users.Account, t registry.Tool, fill prefill) runs.Bound {
	bound, err := s.cfg.Runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: fill.values, Audience: audience(a)})
	if err == nil {
		return bound
	}
	bound = runs.Bound{Request: runs.Request{AccountID: a.ID}, Tool: t, Inputs: map[string]any{}, Sources: map[string]runs.Source{}}
	for _, f := range t.InputSchema {
		if f.Default != nil {
			bound.Inputs[f.Name], bound.Sources[f.Name] = f.Default, runs.FromDefault
		}
	}
	return bound
}

// boundAsTyped is what the form as it is shown would run; bound is without what was typed before.
func (s *Server) boundAsTyped(r *http.Request, a users.Account, t registry.Tool, fill prefill, bound runs.Bound) runs.Bound {
	if len(fill.typed) == 0 {
		return bound
	}
	all := values{runs.FromArgument: fill.typed}
	for source, v := range fill.values {
		if source != runs.FromArgument {
			all[source] = v
		}
	}
	typed, err := s.cfg.Runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: all, Audience: audience(a)})
	if err != nil {
		return bound // its reason stands beside the field
	}
	return typed
}

func (s *Server) formField(v i18n.Voice, f registry.InputField, bound runs.Bound, fill prefill) formField {
	field := formField{InputField: f, Control: control(f), Default: plain(f.Default), Step: sliderStep(f), Allowed: allowed(v, f)}
	if f.Seed {
		field.Default = "" // an empty seed is a fresh one
	}
	value, typed := fill.typed[f.Name]
	if !typed && bound.Sources[f.Name] != runs.FromRandom {
		value, field.Source = bound.Inputs[f.Name], bound.Sources[f.Name]
	}
	switch {
	case f.Type.IsMedia():
		field.Kept = s.keptFiles(bound.Request.AccountID, f, value)
	case f.Seed && plain(value) == registry.RandomSeed.String():
	default:
		field.Value = plain(value)
	}
	if p := fill.problem; p != nil && (p.Field == f.Name || slices.Contains(p.Missing, f.Name)) {
		field.Error = p.Detail
	}
	return field
}

// keptFiles shows files that a form holds already, so that they need not be sent again.
func (s *Server) keptFiles(owner string, f registry.InputField, value any) []keptFile {
	list, many := value.([]any)
	if !many && value != nil {
		list = []any{value}
	}
	var kept []keptFile
	for _, item := range list {
		if ref, ok := item.(string); ok && strings.HasPrefix(ref, assetScheme) {
			kept = append(kept, keptFile{Ref: ref, URL: s.FilePath(owner, ref, f.Name), Thumb: s.thumbPath(owner, ref, tileSide), Picture: f.Type == registry.TypeImage})
		}
	}
	return kept
}

// manySegments is up to how many short choices stand side by side instead of in a list.
const manySegments = 4

// control decides how an input is drawn.
func control(f registry.InputField) string {
	switch {
	case f.Type.IsMedia():
		return "file"
	case f.Type == registry.TypeBoolean:
		return "switch"
	case len(f.Choices) > 0 && !f.Multiple:
		return choiceControl(f)
	case f.Seed:
		return "seed"
	case f.Type == registry.TypeNumber && slides(f):
		return "slider"
	case f.Type == registry.TypeNumber:
		return "number"
	case f.Multiline || f.Multiple || len(f.Schema) > 0:
		return "area"
	}
	return "text"
}

func choiceControl(f registry.InputField) string {
	letters := 0
	for _, c := range f.Choices {
		letters += len([]rune(c.Text()))
	}
	if len(f.Choices) <= manySegments && letters <= 36 {
		return "segments"
	}
	return "select"
}

// slides reports whether a number has a range that a hand can choose from.
func slides(f registry.InputField) bool {
	low, high, ok := bounds(f)
	return ok && high > low && (!f.Integer || high-low <= 10_000)
}

func bounds(f registry.InputField) (low, high float64, ok bool) {
	low, errLow := f.Min.Float64()
	high, errHigh := f.Max.Float64()
	return low, high, errLow == nil && errHigh == nil
}

// sliderStep is the input's own step or, where it has none, a round hundredth of its range. It is for the hand
// only: the box beside takes every value.
func sliderStep(f registry.InputField) string {
	if f.Step != "" {
		return f.Step.String()
	}
	low, high, ok := bounds(f)
	if f.Integer || !ok || high <= low {
		return "1"
	}
	return strconv.FormatFloat(math.Pow(10, math.Floor(math.Log10((high-low)/50))), 'f', -1, 64)
}

// allowed says which values an input takes; a seed's range is of no use to anybody, choices are seen,
// and a field for files says itself what it takes.
func allowed(v i18n.Voice, f registry.InputField) string {
	if f.Seed || f.Type.IsMedia() || len(f.Choices) > 0 {
		return ""
	}
	var parts []string
	switch {
	case f.Min != "" && f.Max != "":
		parts = append(parts, v.Line("web.allowed.range", "low", f.Min.String(), "high", f.Max.String()))
	case f.Min != "":
		parts = append(parts, v.Line("web.allowed.low", "low", f.Min.String()))
	case f.Max != "":
		parts = append(parts, v.Line("web.allowed.high", "high", f.Max.String()))
	}
	if f.Step != "" {
		parts = append(parts, v.Line("web.allowed.step", "step", f.Step.String()))
	} else if f.Integer {
		parts = append(parts, v.Line("web.allowed.whole"))
	}
	if f.Multiple {
		parts = append(parts, v.Line("web.allowed.several"))
	}
	return strings.Join(parts, ", ")
}

// formPrice is what the form as it stands would cost, or by which rate it is counted.
func (s *Server) formPrice(r *http.Request, v i18n.Voice, b runs.Bound) priceView {
	offer, err := s.cfg.Runs.Offer(r.Context(), b)
	if err != nil {
		return priceView{Price: priceOf(v, b.Tool)}
	}
	price := priceWords(v, offer.Quote)
	price.Quote, price.BillCanceled = offer.Sealed, offer.Quote.BillCanceled
	return price
}

// priceWords tells a quote in the reader's language.
func priceWords(v i18n.Voice, q billing.Quote) priceView {
	switch {
	case q.High == 0:
		return priceView{Price: v.Line("web.price.free")}
	case q.Exact():
		return priceView{Price: v.Value(q.High), Basis: v.Line("web.price.exact")}
	}
	basis := "web.price.estimate"
	if strings.HasPrefix(q.Basis, "learned") {
		basis = "web.price.learned"
	}
	return priceView{Price: v.Line("web.price.range", "low", digits(q.Low, false), "high", digits(q.High, true)), Basis: v.Line(basis)}
}

// toolPrice answers the form's script with the price of what the form holds.
func (s *Server) toolPrice(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.visibleTool(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	given, err := s.readInputs(w, r, a, t)
	var bound runs.Bound
	if err == nil {
		bound, err = s.cfg.Runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: given, Audience: audience(a)})
	}
	if err != nil {
		s.fail(w, r, err) // the script reads the field's name and the reason
		return nil
	}
	writeJSON(w, http.StatusOK, s.formPrice(r, s.voice(r, a), bound))
	return nil
}

// start takes the form of a tool.
func (s *Server) start(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.visibleTool(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	v, err := s.readInputs(w, r, a, t)
	var run runs.Run
	if err == nil {
		run, err = s.accept(r.Context(), a, s.unchanged(r, s.formRequest(r, a, t, v)))
	}
	if err == nil {
		http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
		return nil
	}
	p := explain(err)
	if p.ours() {
		return err
	}
	p.Detail = detailIn(s.voice(r, a), err, p)
	fill := prefill{typed: map[string]any{}, parent: r.PostFormValue(parentField), preset: r.PostFormValue(presetField), problem: &p}
	for _, from := range []runs.Source{runs.FromArgument, runs.FromAttachment} {
		for name, value := range v[from] {
			fill.typed[name] = value
		}
	}
	return s.toolPage(w, r, a, t, fill)
}

// formRequest is the run that a form asks for.
func (s *Server) formRequest(r *http.Request, a users.Account, t registry.Tool, v values) runs.Request {
	if preset, err := s.cfg.Users.Preset(r.Context(), a.ID, t, r.PostFormValue(presetField)); err == nil {
		v[runs.FromPreset] = preset.Values
	}
	return runs.Request{
		AccountID: a.ID, ToolID: t.ToolID, Values: v, Origin: runs.Origin{Platform: Platform},
		Parent: s.ownParent(r, a), Audience: audience(a), IdempotencyKey: formKey(r), Context: PersonContext(r), Quote: r.PostFormValue(quoteField),
	}
}

// ownParent is the run whose inputs were changed in this form, when it is the account's own.
func (s *Server) ownParent(r *http.Request, a users.Account) string {
	run, err := s.runOf(r, a, r.PostFormValue(parentField))
	if err != nil {
		return ""
	}
	return run.ID
}

// formKey makes sending one form twice one run.
func formKey(r *http.Request) string {
	if id := r.PostFormValue("form" + formIDSuffix); id != "" {
		return "form:" + id
	}
	return ""
}

// runOf finds a run of this account; the runs of others do not exist for it.
func (s *Server) runOf(r *http.Request, a users.Account, id string) (runs.Run, error) {
	if id == "" {
		return runs.Run{}, runs.ErrNotFound
	}
	run, err := s.cfg.Runs.Get(r.Context(), id)
	if err == nil && run.AccountID != a.ID && !a.Operator {
		err = runs.ErrNotFound
	}
	if err != nil && !errors.Is(err, runs.ErrNotFound) {
		return runs.Run{}, err
	}
	return run, err
}
