package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Person is what somebody is and chooses: users.Store.
type Person interface {
	Identities(ctx context.Context, accountID string) ([]users.LinkedIdentity, error)
	NewLinkCode(ctx context.Context, accountID string) (users.LinkCode, error)
	Unlink(ctx context.Context, accountID, platform, externalID string) (users.Account, error)
	SetLanguage(ctx context.Context, accountID, language string) error
	Erase(ctx context.Context, accountID, by string) error
}

// Limits are how much an account may spend: users.Store.
type Limits interface {
	LimitSettings(ctx context.Context, accountID string) (users.LimitSettings, error)
	SetOwnLimits(ctx context.Context, accountID string, limits users.Limits) error
	SetConfirmPercent(ctx context.Context, accountID string, percent int) error
}

// Spending tells what an account has spent: runner.Service.
type Spending interface {
	Usage(ctx context.Context, accountID string) (runs.Usage, error)
}

// person is the page of all that belongs to a person and to no tool.
type person struct {
	shared
	person   Person
	limits   Limits
	spending Spending
	ledger   Ledger
	keys     Keys
	registry *catalog.Registry
	sessions Sessions
	ways     []way
	hooks    bool             // programs can be told of runs
	exports  *exports.Service // nil: nobody gets an archive
}

func (s *person) routes() []door.Route {
	return []door.Route{
		door.ForPeople("GET /account", door.Person, s.show),
		door.ForPeople("POST /account/code", door.Person, s.linkCode),
		door.ForPeople("POST /account/unlink", door.Person, s.unlink),
		door.ForPeople("POST /account/language", door.Person, s.setLanguage),
		door.ForPeople("POST /account/limits", door.Person, s.setCaps),
		door.ForPeople("POST /account/confirm", door.Person, s.setConfirm),
		door.ForPeople("POST /account/keys", door.Person, s.makeKey),
		door.ForPeople("POST /account/keys/{id}/revoke", door.Person, s.revokeKey),
		door.ForPeople("POST /account/erase", door.Person, s.erase),
		door.ForPeople("POST /sessions/{id}/end", door.Person, s.endSession),
		door.ForPeople("POST /sessions/end-others", door.Person, s.endOthers),
	}
}

// personView is what the page shows.
type personView struct {
	Identities []users.LinkedIdentity
	Code       *users.LinkCode // just made
	Language   string
	Languages  []languageChoice
	Keys       []users.Key
	NewKey     string     // just made, shown once
	Wanted     wantedView // one that could not be made
	Now        time.Time
	Usage      runs.Usage
	Meters     []meter
	Income     []billing.Income // from shares, lately
	DayCap     string           // the person's own, as typed
	MonthCap   string
	Confirm    int   // above which share of the credit, in percent, the person is asked
	Shares     []int // to choose from
	Ways       []way // to link another platform by signing in there
	Sessions   []users.Session
	Here       string         // the session that asks
	Hooks      bool           // programs can be told of runs
	Exports    bool           // archives can be had
	Export     exports.Export // the last one, or the zero one
}

// meter shows how much of a limit is used.
type meter struct {
	Kind        string
	Used, Limit int64
	Text        string // both in words
}

type languageChoice struct {
	Tag, Name string
}

func (s *person) show(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.showWith(w, r, a, personView{}, render.View{})
}

func (s *person) showWith(w http.ResponseWriter, r *http.Request, a users.Account, page personView, v render.View) error {
	var err error
	if page.Identities, err = s.person.Identities(r.Context(), a.ID); err != nil {
		return err
	}
	voice := s.render.Voice(r, a)
	for i, id := range page.Identities {
		page.Identities[i].Name = words.PersonName(voice, id.Name)
	}
	if page.Keys, err = s.keys.Keys(r.Context(), a.ID); err != nil {
		return err
	}
	if page.Sessions, err = s.sessions.Sessions(r.Context(), a.ID); err != nil {
		return err
	}
	if err := s.addLimits(r, a, &page); err != nil {
		return err
	}
	if page.Income, err = s.ledger.Income(r.Context(), a.ID, s.now().Add(-billing.IncomeShown)); err != nil {
		return err
	}
	if page.Exports = s.exports != nil; page.Exports {
		if page.Export, err = s.exports.Latest(r.Context(), a.ID); err != nil {
			return err
		}
	}
	page.Ways, page.Here, page.Hooks = s.ways, door.SessionID(r.Context()), s.hooks
	page.Language, page.Now = a.Language, s.now()
	for _, tag := range s.render.Texts().Languages() {
		page.Languages = append(page.Languages, languageChoice{tag, display.Self.Name(language.Make(tag))})
	}
	v.Title, v.Place, v.Data = s.render.Voice(r, a).Line("web.account"), "account", &page
	return s.pages.Show(w, r, a, "account", v)
}

// addLimits adds what the account has spent, and how near that is to its limits.
func (s *person) addLimits(r *http.Request, a users.Account, page *personView) error {
	settings, err := s.limits.LimitSettings(r.Context(), a.ID)
	if err != nil {
		return err
	}
	page.Confirm, page.Shares = settings.Own.ConfirmShare(), users.ConfirmChoices()
	page.DayCap, page.MonthCap = capText(settings.Own.DayCap), capText(settings.Own.MonthCap)
	if page.Usage, err = s.spending.Usage(r.Context(), a.ID); err != nil {
		return err
	}
	u := page.Usage
	v := s.render.Voice(r, a)
	spent := func(of billing.NanoUSD, limit int64) string {
		return v.Amount(of) + " / " + v.Amount(billing.NanoUSD(limit))
	}
	for _, m := range []meter{
		{Kind: "day", Used: int64(u.SpentDay), Limit: u.Limits.DayCap, Text: spent(u.SpentDay, u.Limits.DayCap)},
		{Kind: "month", Used: int64(u.SpentMonth), Limit: u.Limits.MonthCap, Text: spent(u.SpentMonth, u.Limits.MonthCap)},
		{Kind: "runs", Used: int64(u.Today), Limit: int64(u.Limits.PerDay), Text: fmt.Sprintf("%d / %d", u.Today, u.Limits.PerDay)},
		{Kind: "atonce", Used: int64(u.AtOnce), Limit: int64(u.Limits.AtOnce), Text: fmt.Sprintf("%d / %d", u.AtOnce, u.Limits.AtOnce)},
	} {
		if m.Limit > 0 {
			page.Meters = append(page.Meters, m)
		}
	}
	return nil
}

// showProblem shows the account's page with what went wrong, unless it is ours to mend.
func (s *person) showProblem(w http.ResponseWriter, r *http.Request, a users.Account, err error) error {
	p := problem.Explain(err)
	if p.Ours() {
		return err
	}
	return s.showWith(w, r, a, personView{}, render.View{Problem: p.Detail})
}

func capText(nano int64) string {
	if nano <= 0 {
		return ""
	}
	return strings.TrimPrefix(billing.NanoUSD(nano).String(), "$")
}

// linkCode makes a code by which another platform's identity joins this account.
func (s *person) linkCode(w http.ResponseWriter, r *http.Request, a users.Account) error {
	code, err := s.person.NewLinkCode(r.Context(), a.ID)
	if err != nil {
		return s.showProblem(w, r, a, err)
	}
	return s.showWith(w, r, a, personView{Code: &code}, render.View{})
}

// unlink lets one of the account's identities go.
func (s *person) unlink(w http.ResponseWriter, r *http.Request, a users.Account) error {
	_, err := s.person.Unlink(r.Context(), a.ID, r.PostFormValue("platform"), r.PostFormValue("identity"))
	if errors.Is(err, users.ErrLastIdentity) {
		return s.showWith(w, r, a, personView{}, render.View{Problem: s.render.Voice(r, a).Line("web.account.last")})
	}
	if err != nil && !errors.Is(err, users.ErrNotFound) {
		return s.showProblem(w, r, a, err)
	}
	s.door.Forget(a.ID)
	return done(w, r, "unlinked")
}

func (s *person) setLanguage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	wanted := r.PostFormValue("language")
	if wanted != "" {
		wanted = s.render.Texts().Match(wanted)
	}
	if err := s.person.SetLanguage(r.Context(), a.ID, wanted); err != nil {
		return err
	}
	s.door.Forget(a.ID)
	return done(w, r, "language")
}

// setCaps sets how much the person wants to spend at most; the operator's limits hold besides.
func (s *person) setCaps(w http.ResponseWriter, r *http.Request, a users.Account) error {
	settings, err := s.limits.LimitSettings(r.Context(), a.ID)
	if err != nil {
		return err
	}
	own := settings.Own
	for field, limit := range map[string]*int64{"day": &own.DayCap, "month": &own.MonthCap} {
		*limit = 0
		text := strings.TrimSpace(r.PostFormValue(field))
		if text == "" {
			continue
		}
		decimal := text
		if s.render.Voice(r, a).Line("format.decimal") == "," {
			decimal = strings.Replace(text, ",", ".", 1)
		}
		amount, err := billing.ParseUSD(decimal)
		if err != nil || amount <= 0 {
			return s.showWith(w, r, a, personView{}, render.View{Problem: s.render.Voice(r, a).Line("web.limits.bad", "found", text)})
		}
		*limit = int64(amount)
	}
	if err := s.limits.SetOwnLimits(r.Context(), a.ID, own); err != nil {
		return s.showProblem(w, r, a, err)
	}
	return done(w, r, "limits")
}

// setConfirm sets above which share of their credit the person is asked before a run.
func (s *person) setConfirm(w http.ResponseWriter, r *http.Request, a users.Account) error {
	percent, err := strconv.Atoi(r.PostFormValue("percent"))
	if err != nil {
		err = registry.Errorf(registry.CodeInvalidInput, "percent: found %q, expected a whole number", r.PostFormValue("percent"))
	} else {
		err = s.limits.SetConfirmPercent(r.Context(), a.ID, percent)
	}
	if err != nil {
		return s.showProblem(w, r, a, err)
	}
	return done(w, r, "limits")
}

// erase deletes what is kept about the person. The books stay: they name no one any more.
func (s *person) erase(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if r.PostFormValue("sure") == "" {
		return s.showWith(w, r, a, personView{}, render.View{Problem: s.render.Voice(r, a).Line("web.erase.unsure")})
	}
	if err := s.person.Erase(r.Context(), a.ID, a.ID); err != nil {
		return s.showProblem(w, r, a, err)
	}
	s.door.Forget(a.ID)
	http.Redirect(w, r, "/?done=erased", http.StatusSeeOther)
	return nil
}

// done shows the account's page with what was done.
func done(w http.ResponseWriter, r *http.Request, done string) error {
	http.Redirect(w, r, "/account?done="+done, http.StatusSeeOther)
	return nil
}
