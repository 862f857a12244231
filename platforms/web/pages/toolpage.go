package pages

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// The hidden fields of a tool's form.
const (
	formIDField = "form__id"     // makes a double submit one run
	quoteField  = "quote__shown" // the sealed price beside the form
	parentField = "parent__run"  // the run whose inputs the form began with
	presetField = "preset__name" // the preset that the form was filled from
)

// Binds tells what a form would run, and its price: runner.Service.
type Binds interface {
	Bind(ctx context.Context, r runs.Request) (runs.Bound, error)
	Offer(ctx context.Context, b runs.Bound) (runs.Offer, error)
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
}

// Presets are forms that people have filled and kept: users.Store.
type Presets interface {
	Presets(ctx context.Context, accountID string, tool registry.Tool) ([]users.Preset, error)
	Preset(ctx context.Context, accountID string, tool registry.Tool, name string) (users.Preset, error)
}

// forms are the pages of tools.
type forms struct {
	improves bool // prompts can be improved
	shared
	spending
	runs    Binds
	callers request.Callers
	reader  request.Reader
	presets Presets
}

func (s *forms) routes() []door.Route {
	return []door.Route{
		door.ForPeople("GET /tool/{id}", door.View, s.page),
		door.ForPeople("POST /tool/{id}", door.Person, s.start),
		door.ForPeople("POST /tool/{id}/price", door.Person, s.price),
	}
}

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
	Shown    string // the run that stands beside the form: that one, or the latest that went well
	Presets  []users.Preset
	Preset   string // the one the form is filled from
	Settings bool   // some value is the account's own setting
	Example  string // the address of a picture that the tool made; "" where there is none
	Code     []snippet
	Masks    bool // some input is a mask that can be painted
}

func (s *forms) page(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.tools.visible(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	fill, err := s.prefilled(r, a, t)
	if err != nil {
		return err
	}
	return s.draw(w, r, a, t, fill)
}

// add puts a field among those of its kind.
func (p *formPage) add(f formField, advanced bool) {
	p.Masks = p.Masks || f.Marks != ""
	if !advanced {
		p.Fields = append(p.Fields, f)
		return
	}
	p.Advanced = append(p.Advanced, f)
	p.Open = p.Open || f.Error != ""
}

// view is the page with the scripts that it needs; improves says that prompts can be improved.
func (p *formPage) view(improves bool) render.View {
	v := render.View{Title: p.Tool.DisplayName, Place: "tools", Data: p, Scripts: []string{"form.js", "play.js"}}
	if p.InChat {
		v.Place, v.Scripts = "chat", []string{"form.js"}
	}
	if p.Masks {
		v.Scripts = append(v.Scripts, "mask.js")
	}
	if improves {
		v.Scripts = append(v.Scripts, "improve.js")
	}
	return v
}

// manyTries is how many of the latest runs stand below a tool's result.
const manyTries = 24

// draw shows a tool's form, filled with what was typed before, else with presets, settings and defaults.
func (s *forms) draw(w http.ResponseWriter, r *http.Request, a users.Account, t registry.Tool, fill prefill) error {
	voice := s.render.Voice(r, a)
	t = *t.In(voice.Language())
	if fill.problem != nil {
		fill.problem.Detail = inWords(voice, t, *fill.problem)
	}
	page := formPage{
		Tool: t, ID: rand.Text(), Action: formAction(t, fill), InChat: fill.action != "",
		Notice: noticeOf(voice, t, s.tools.snapshot()), CanRun: t.State() != registry.StateUnavailable, Parent: fill.parent, Preset: fill.preset, Example: s.examples.address(t.ToolID),
	}
	bound := s.boundForForm(r, a, t, fill)
	earlier, err := s.prompts(r.Context(), a)
	if err != nil {
		return err
	}
	for _, f := range t.InputSchema.Ordered() {
		field := s.views.field(voice, f, bound, fill)
		switch f.Name {
		case "width":
			field.Shapes = shapes(t.InputSchema)
		case promptOf(t.InputSchema):
			field.Earlier, field.Improve = earlier, s.improves
		}
		page.Settings = page.Settings || bound.Sources[f.Name] == runs.FromPreference
		page.add(field, f.Advanced)
	}
	typed := s.boundAsTyped(r, a, t, fill, bound)
	page.Price, page.Code = s.formPrice(r, voice, typed), s.code(r, typed)
	if page.Presets, err = s.presets.Presets(r.Context(), a.ID, t); err != nil {
		return err
	}
	latest, err := s.runs.List(r.Context(), runs.Filter{AccountID: a.ID, ToolID: t.ToolID, Limit: manyTries})
	if err != nil {
		return err
	}
	page.Shown = fill.parent
	for _, run := range latest {
		if page.Shown == "" && run.Status == runs.StatusSucceeded {
			page.Shown = run.ID
		}
		page.Latest = append(page.Latest, s.views.run(voice, run))
	}
	v := page.view(s.improves)
	if fill.problem == nil {
		return s.pages.Show(w, r, a, "tool", v)
	}
	v.Problem = fill.problem.Detail
	return s.pages.ShowAs(w, r, a, fill.problem.Status, "tool", v)
}

// boundForForm asks what each input would be if nothing were typed. A tool that can't be run now is shown with
// its defaults.
func (s *forms) boundForForm(r *http.Request, a users.Account, t registry.Tool, fill prefill) runs.Bound {
	bound, err := s.runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: fill.values, Audience: request.Audience(a)})
	if err == nil {
		return bound
	}
	bound = runs.NewBound(runs.Request{AccountID: a.ID}, t)
	for _, f := range t.InputSchema {
		if f.Default != nil {
			bound.Inputs[f.Name], bound.Sources[f.Name] = f.Default, runs.FromDefault
		}
	}
	return bound
}

// boundAsTyped is what the form as it is shown would run; bound is without what was typed before.
func (s *forms) boundAsTyped(r *http.Request, a users.Account, t registry.Tool, fill prefill, bound runs.Bound) runs.Bound {
	if len(fill.typed) == 0 {
		return bound
	}
	all := request.Values{runs.FromArgument: fill.typed}
	for source, v := range fill.values {
		if source != runs.FromArgument {
			all[source] = v
		}
	}
	typed, err := s.runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: all, Audience: request.Audience(a)})
	if err != nil {
		return bound // its reason stands beside the field
	}
	return typed
}

// formPrice is what the form as it stands would cost, or by which rate it is counted.
func (s *forms) formPrice(r *http.Request, v i18n.Voice, b runs.Bound) priceView {
	offer, err := s.runs.Offer(r.Context(), b)
	if err != nil {
		return priceView{Price: priceOf(v, b.Tool)}
	}
	price := priceWords(v, b.Tool, offer.Quote)
	if asking, err := s.asking(r.Context(), b.Request.AccountID); err == nil && asking.About(offer.Quote) {
		price.Basis = joined(price.Basis, v.Line("money.asks"))
	}
	price.Quote, price.BillCanceled = offer.Sealed, offer.Quote.BillCanceled
	return price
}

// price answers the form's script with the price of what the form holds.
func (s *forms) price(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.tools.visible(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	given, err := s.reader.Inputs(w, r, a, t)
	var bound runs.Bound
	if err == nil {
		bound, err = s.runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: given, Audience: request.Audience(a)})
	}
	if err != nil {
		problem.Fail(w, r, s.log, err) // the script reads the field's name and the reason
		return nil
	}
	price := s.formPrice(r, s.render.Voice(r, a), bound)
	price.Code = s.code(r, bound)
	door.WriteJSON(w, http.StatusOK, price)
	return nil
}

// start takes the form of a tool.
func (s *forms) start(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.tools.visible(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	v, err := s.reader.Inputs(w, r, a, t)
	var run runs.Run
	var asking runs.Asking
	if err == nil {
		asking, err = s.asking(r.Context(), a.ID)
	}
	if err == nil {
		wanted := s.unchanged(r, s.formRequest(r, a, t, v))
		wanted.Asking = asking
		run, err = s.callers.Accept(r.Context(), a, wanted)
	}
	if err == nil {
		http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther)
		return nil
	}
	p := s.render.Explain(r, a, err)
	if p.Ours() {
		return err
	}
	return s.draw(w, r, a, t, prefill{typed: optionsOf(v), parent: r.PostFormValue(parentField), preset: r.PostFormValue(presetField), problem: &p})
}

// formRequest is the run that a form asks for.
func (s *forms) formRequest(r *http.Request, a users.Account, t registry.Tool, v request.Values) runs.Request {
	if preset, err := s.presets.Preset(r.Context(), a.ID, t, r.PostFormValue(presetField)); err == nil {
		v[runs.FromPreset] = preset.Values
	}
	return runs.Request{
		AccountID: a.ID, ToolID: t.ToolID, Values: v, Origin: runs.Origin{Platform: door.Platform},
		Parent: s.ownParent(r, a), Audience: request.Audience(a), IdempotencyKey: formKey(r), Context: request.PersonContext(r), Quote: r.PostFormValue(quoteField),
	}
}

// ownParent is the run whose inputs were changed in this form, when it is the account's own.
func (s *forms) ownParent(r *http.Request, a users.Account) string {
	run, err := s.callers.Own(r.Context(), a, r.PostFormValue(parentField))
	if err != nil {
		return ""
	}
	return run.ID
}

// formKey makes sending one form twice one run.
func formKey(r *http.Request) string {
	if id := r.PostFormValue(formIDField); id != "" {
		return "form:" + id
	}
	return ""
}

// optionsOf are the values of a form by name, wherever they came from.
func optionsOf(v request.Values) map[string]any {
	options := map[string]any{}
	for _, from := range []runs.Source{runs.FromArgument, runs.FromAttachment} {
		maps.Copy(options, v[from])
	}
	return options
}

// checkedValue gives what a provider would get for a value of a form.
func checkedValue(f registry.InputField, raw any) (any, *registry.Error) {
	if text, ok := raw.(string); ok {
		return registry.ParseText(f, text)
	}
	return registry.CheckValue(f, raw)
}

// formAction is where a tool's form is sent.
func formAction(t registry.Tool, fill prefill) string {
	if fill.action != "" {
		return fill.action
	}
	return fmt.Sprintf("/tool/%s", t.ToolID)
}
