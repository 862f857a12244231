package web

import (
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// detailIn says in the reader's language what p says in English of err.
func detailIn(v i18n.Voice, err error, p problemBody) string {
	var poor billing.ErrInsufficient
	var limit *runs.LimitError
	var typed *registry.Error
	var quote *runs.QuoteError
	switch {
	case errors.As(err, &quote): // the form says what to do about it
		return v.Line("web."+string(quote.Reason), "n", int(runs.QuoteLife.Minutes()))
	case v.Language() == i18n.Fallback:
		return p.Detail
	case errors.As(err, &poor):
		return v.Line("start.insufficient", "need", poor.Need, "have", poor.Have)
	case errors.As(err, &limit):
		return chat.OverLimit(v, limit.LimitUse).String()
	case errors.As(err, &typed):
		return chat.Told(v, typed.Code, typed.Text()).String()
	}
	if key := "web.problem." + p.Code; v.Has(key) {
		return v.Line(key)
	}
	return p.Detail
}

// problemTitle is the heading of the page that tells of a failure.
func problemTitle(v i18n.Voice, status int) string {
	switch {
	case v.Language() == i18n.Fallback:
		return http.StatusText(status)
	case status == http.StatusNotFound:
		return v.Line("web.problem.title.missing")
	}
	return v.Line("failure.failed")
}

// noticeOf is the line shown with a tool that is deprecated or can't be run now, in the reader's language.
func noticeOf(v i18n.Voice, t registry.Tool, s *catalog.Snapshot) string {
	var notice string
	switch state := t.State(); {
	case state == registry.StateUnavailable:
		notice = v.Line("tool.unavailable", "tool", t.DisplayName)
	case state == registry.StateDeprecated && v.Language() != i18n.Fallback:
		notice = v.Line("tool.deprecated", "tool", t.DisplayName)
	default:
		return t.Notice()
	}
	if t.Status.Reason != "" {
		notice += " " + chat.Told(v, "", t.Status.Text()).String()
	}
	if next, ok := s.ByID(t.Status.Replacement); ok {
		notice += " " + v.Line("tool.instead", "command", next.DisplayName)
	}
	return notice
}

// toldIn is chat.Told for templates.
func toldIn(v i18n.Voice) func(code string, reason said.Text) string {
	return func(code string, reason said.Text) string {
		if v.Language() == i18n.Fallback {
			return reason.String() // as it was always told on pages
		}
		return chat.Told(v, registry.Code(code), reason).String()
	}
}

// failTold answers an error of a page, or of its script, in the reader's language.
func (s *Server) failTold(w http.ResponseWriter, r *http.Request, a users.Account, err error) {
	p := explain(err)
	if wantsPage(r) || p.ours() {
		s.failAs(w, r, err)
		return
	}
	p.Detail = detailIn(s.voice(r, a), err, p)
	s.writeProblem(w, r, p)
}

// failAs answers an error as the client expects it: people get a page.
func (s *Server) failAs(w http.ResponseWriter, r *http.Request, err error) {
	if wantsPage(r) && !errors.Is(err, errSignedOut) {
		s.failPage(w, r, err)
		return
	}
	s.fail(w, r, err)
}
