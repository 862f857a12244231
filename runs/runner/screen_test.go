package runner

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func TestScreen(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.InputSchema = append(tool.InputSchema, registry.InputField{Name: "avoid", DisplayName: "Avoid", Type: registry.TypeString, Default: "noise", Description: "What not to sing."})
	h := newHouse(t, func(c *runs.Config) {
		c.Screen = func(text string) (string, bool) { return "noise", strings.Contains(text, "noise") }
	}, tool)
	h.provider.OnSubmit = manual
	h.start(t)
	user := h.user(t, billing.Dollar)
	with := func(name, value string) runs.Request {
		r := sing(user)
		r.Values[runs.FromArgument][name] = value
		return r
	}
	t.Run("a text that the house does not take is refused at its input, and nothing is written or held", func(t *testing.T) {
		_, err := h.Accept(t.Context(), with("song", "noise"))
		if refused := registry.AsError(err); refused.Code != registry.CodeInvalidInput || refused.Field != "song" || strings.Contains(refused.Message, "noise") {
			t.Errorf("got %v", err)
		}
		_, err = h.Ask(t.Context(), with("song", "noise"))
		if registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("asked by a model: %v", err)
		}
		list, err := h.List(t.Context(), runs.Filter{AccountID: user})
		if err != nil || len(list) != 0 {
			t.Errorf("%d runs were written, %v", len(list), err)
		}
		if b, err := h.ledger.Balance(t.Context(), user); err != nil || b.Available != billing.Dollar || b.Held != 0 {
			t.Errorf("the balance is %+v, %v", b, err)
		}
	})
	t.Run("what the tool has as its default is taken, also when a form sends it back", func(t *testing.T) {
		h.accept(t, sing(user))
		h.accept(t, with("avoid", "noise"))
		if _, err := h.Accept(t.Context(), with("avoid", "more noise")); registry.AsError(err).Field != "avoid" {
			t.Errorf("what somebody wrote instead: %v", err)
		}
	})
}
