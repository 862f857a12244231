package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Household is what the account's pages need of users.Store.
type Household interface {
	Identities(ctx context.Context, accountID string) ([]users.LinkedIdentity, error)
	NewLinkCode(ctx context.Context, accountID string) (users.LinkCode, error)
	Unlink(ctx context.Context, accountID, platform, externalID string) (users.Account, error)
	Erase(ctx context.Context, accountID, by string) error
	SetLanguage(ctx context.Context, accountID, language string) error
	LimitSettings(ctx context.Context, accountID string) (users.LimitSettings, error)
	SetOwnLimits(ctx context.Context, accountID string, limits users.Limits) error
	Sessions(ctx context.Context, accountID string) ([]users.Session, error)
	Keys(ctx context.Context, accountID string) ([]users.Key, error)
	RevokeKey(ctx context.Context, accountID string, id int64, exceptSession string) error
	SetPreference(ctx context.Context, accountID, toolID, field string, value any) error
	ResetPreference(ctx context.Context, accountID, toolID, field string) error
	ResetPreferences(ctx context.Context, accountID, toolID string) error
	Presets(ctx context.Context, accountID string, tool registry.Tool) ([]users.Preset, error)
	Preset(ctx context.Context, accountID string, tool registry.Tool, name string) (users.Preset, error)
	SavePreset(ctx context.Context, accountID, toolID, name string, values map[string]any) error
	DeletePreset(ctx context.Context, accountID, toolID, name string) error
}

// accountPage is everything that belongs to a person and to no tool.
type accountPage struct {
	Identities []users.LinkedIdentity
	Code       *users.LinkCode // just made
	Language   string
	Languages  []languageChoice
	Keys       []users.Key
	NewKey     string // just made, shown once
	Usage      runs.Usage
	Meters     []meter
	DayCap     string // the person's own, as typed
	MonthCap   string
	Ways       []way // to link another platform by signing in there
	Sessions   []users.Session
	Here       string // the session that asks
	Hooks      bool   // programs can be told of runs
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

func (s *Server) accountPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.showAccount(w, r, a, accountPage{}, view{})
}

func (s *Server) showAccount(w http.ResponseWriter, r *http.Request, a users.Account, page accountPage, v view) error {
	var err error
	if page.Identities, err = s.cfg.Users.Identities(r.Context(), a.ID); err != nil {
		return err
	}
	if page.Keys, err = s.cfg.Users.Keys(r.Context(), a.ID); err != nil {
		return err
	}
	if page.Sessions, err = s.cfg.Users.Sessions(r.Context(), a.ID); err != nil {
		return err
	}
	if err := s.addLimits(r, a, &page); err != nil {
		return err
	}
	page.Ways, page.Here, page.Hooks = s.ways(), SessionID(r.Context()), s.cfg.Hooks != nil
	page.Language = a.Language
	for _, tag := range s.texts.Languages() {
		page.Languages = append(page.Languages, languageChoice{tag, display.Self.Name(language.Make(tag))})
	}
	v.Title, v.Place, v.Account = s.voice(r, a).Line("web.account"), "account", &page
	return s.show(w, r, a, "account", v)
}

// addLimits adds what the account has spent, and how near that is to its limits.
func (s *Server) addLimits(r *http.Request, a users.Account, page *accountPage) error {
	settings, err := s.cfg.Users.LimitSettings(r.Context(), a.ID)
	if err != nil {
		return err
	}
	page.DayCap, page.MonthCap = capText(settings.Own.DayCap), capText(settings.Own.MonthCap)
	if page.Usage, err = s.cfg.Runs.Usage(r.Context(), a.ID); err != nil {
		return err
	}
	u := page.Usage
	for _, m := range []meter{
		{Kind: "day", Used: int64(u.SpentDay), Limit: u.Limits.DayCap, Text: about(u.SpentDay) + " / " + billing.NanoUSD(u.Limits.DayCap).String()},
		{Kind: "month", Used: int64(u.SpentMonth), Limit: u.Limits.MonthCap, Text: about(u.SpentMonth) + " / " + billing.NanoUSD(u.Limits.MonthCap).String()},
		{Kind: "runs", Used: int64(u.Today), Limit: int64(u.Limits.PerDay), Text: fmt.Sprintf("%d / %d", u.Today, u.Limits.PerDay)},
		{Kind: "atonce", Used: int64(u.AtOnce), Limit: int64(u.Limits.AtOnce), Text: fmt.Sprintf("%d / %d", u.AtOnce, u.Limits.AtOnce)},
	} {
		if m.Limit > 0 {
			page.Meters = append(page.Meters, m)
		}
	}
	return nil
}

// accountProblem shows the account's page with what went wrong, unless it is ours to mend.
func (s *Server) accountProblem(w http.ResponseWriter, r *http.Request, a users.Account, err error) error {
	p := explain(err)
	if p.ours() {
		return err
	}
	return s.showAccount(w, r, a, accountPage{}, view{Problem: p.Detail})
}

func capText(nano int64) string {
	if nano <= 0 {
		return ""
	}
	return strings.TrimPrefix(billing.NanoUSD(nano).String(), "$")
}

// linkCode makes a code by which another platform's identity joins this account.
func (s *Server) linkCode(w http.ResponseWriter, r *http.Request, a users.Account) error {
	code, err := s.cfg.Users.NewLinkCode(r.Context(), a.ID)
	if err != nil {
		return s.accountProblem(w, r, a, err)
	}
	return s.showAccount(w, r, a, accountPage{Code: &code}, view{})
}

// unlink lets one of the account's identities go.
func (s *Server) unlink(w http.ResponseWriter, r *http.Request, a users.Account) error {
	_, err := s.cfg.Users.Unlink(r.Context(), a.ID, r.PostFormValue("platform"), r.PostFormValue("identity"))
	if errors.Is(err, users.ErrLastIdentity) {
		return s.showAccount(w, r, a, accountPage{}, view{Problem: s.voice(r, a).Line("web.account.last")})
	}
	if err != nil && !errors.Is(err, users.ErrNotFound) {
		return s.accountProblem(w, r, a, err)
	}
	s.forgetCallers(a.ID)
	return accountDone(w, r, "unlinked")
}

func (s *Server) setLanguage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	wanted := r.PostFormValue("language")
	if wanted != "" {
		wanted = s.texts.Match(wanted)
	}
	if err := s.cfg.Users.SetLanguage(r.Context(), a.ID, wanted); err != nil {
		return err
	}
	s.forgetCallers(a.ID)
	return accountDone(w, r, "language")
}

// makeKey makes a key of this account and shows it, once: only its hash is kept.
func (s *Server) makeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	label := strings.TrimSpace(r.PostFormValue("label"))
	if label == "" {
		label = s.voice(r, a).Line("web.keys.label.default")
	}
	key, err := s.cfg.Users.CreateKey(r.Context(), a.ID, label)
	if err != nil {
		return s.accountProblem(w, r, a, err)
	}
	return s.showAccount(w, r, a, accountPage{NewKey: key}, view{})
}

func (s *Server) revokeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return users.ErrNotFound
	}
	if err := s.cfg.Users.RevokeKey(r.Context(), a.ID, id, SessionID(r.Context())); err != nil && !errors.Is(err, users.ErrNotFound) {
		return err
	}
	s.forgetCallers(a.ID)
	return accountDone(w, r, "revoked")
}

// setCaps sets how much the person wants to spend at most; the operator's limits hold besides.
func (s *Server) setCaps(w http.ResponseWriter, r *http.Request, a users.Account) error {
	settings, err := s.cfg.Users.LimitSettings(r.Context(), a.ID)
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
		amount, err := billing.ParseUSD(text)
		if err != nil || amount <= 0 {
			return s.showAccount(w, r, a, accountPage{}, view{Problem: s.voice(r, a).Line("web.limits.bad", "found", text)})
		}
		*limit = int64(amount)
	}
	if err := s.cfg.Users.SetOwnLimits(r.Context(), a.ID, own); err != nil {
		return s.accountProblem(w, r, a, err)
	}
	return accountDone(w, r, "limits")
}

// eraseAccount deletes what is kept about the person. The books stay: they name no one any more.
func (s *Server) eraseAccount(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if r.PostFormValue("sure") == "" {
		return s.showAccount(w, r, a, accountPage{}, view{Problem: s.voice(r, a).Line("web.erase.unsure")})
	}
	if err := s.cfg.Users.Erase(r.Context(), a.ID, a.ID); err != nil {
		return s.accountProblem(w, r, a, err)
	}
	s.forgetCallers(a.ID)
	http.Redirect(w, r, "/?done=erased", http.StatusSeeOther)
	return nil
}

// accountDone shows the account's page with what was done.
func accountDone(w http.ResponseWriter, r *http.Request, done string) error {
	http.Redirect(w, r, "/account?done="+done, http.StatusSeeOther)
	return nil
}
