package render

import (
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// detailIn says in the reader's language what p says in English of err.
func detailIn(v i18n.Voice, err error, p problem.Problem) string {
	var poor billing.ErrInsufficient
	var limit *runs.LimitError
	var typed *registry.Error
	var quote *runs.QuoteError
	var unknown *runs.UnknownToolError
	switch {
	case errors.As(err, &quote): // the form says what to do about it
		return v.Line("web."+string(quote.Reason), "n", int(runs.QuoteLife.Minutes()))
	case errors.As(err, &poor) && poor.Owed > 0:
		return v.Line("pay.owed", "amount", poor.Owed)
	case errors.As(err, &poor):
		need, have := v.Apart(poor.Need, poor.Have)
		return v.Line("start.insufficient", "need", need, "have", have) + " " + v.Line("start.more")
	case errors.As(err, &limit):
		return words.OverLimit(v, limit.LimitUse)
	case errors.As(err, &unknown) && unknown.Instead == "": // p leads programs to the API's list
		return v.Line("web.problem.unknown_tool")
	case v.Language() == i18n.Fallback:
		return p.Detail
	case errors.As(err, &typed):
		return words.Told(v, typed.Code, typed.Text())
	}
	return lineOr(v, "web.problem."+p.Code, p.Detail)
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

// toldIn is words.Told for templates. English has a service's own words.
func toldIn(v i18n.Voice) func(code string, reason said.Text) string {
	return func(code string, reason said.Text) string {
		if v.Language() == i18n.Fallback {
			return reason.String()
		}
		return words.Told(v, registry.Code(code), reason)
	}
}

// categoryIn gives the names of categories.
func categoryIn(v i18n.Voice) func(string) string {
	return func(name string) string { return words.CategoryName(v, name) }
}

// lineOr is the text of a key, or another where there is none.
func lineOr(v i18n.Voice, key, otherwise string) string {
	if v.Has(key) {
		return v.Line(key)
	}
	return otherwise
}
