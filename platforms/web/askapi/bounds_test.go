package askapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/askapi"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// full is a journal that takes no question on.
type full struct{ why error }

func (f full) Open(context.Context, agent.Opening) (agent.Entry, error) { return nil, f.why }

func TestAQuestionBeyondALimitSaysWhich(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	limit := func(kind runs.LimitKind) error {
		return &runs.LimitError{LimitUse: runs.LimitUse{Kind: kind, Limit: int64(billing.Dollar) / 50, Used: int64(billing.Dollar) / 50, FreeAt: now.Add(time.Hour)}, Need: int64(billing.Dollar) / 100, Now: now}
	}
	for name, c := range map[string]struct {
		why    error
		status int
		words  string
	}{
		"day":     {limit(runs.LimitDayCap), http.StatusTooManyRequests, "is spent or set aside today"},
		"month":   {limit(runs.LimitMonthCap), http.StatusTooManyRequests, "is spent or set aside this month"},
		"key":     {limit(runs.LimitBudget), http.StatusTooManyRequests, "from this budget, such as the API key's"},
		"house":   {&agent.BoundError{Stop: agent.StopDayMoney}, http.StatusOK, `"notice":"`},
		"balance": {billing.ErrInsufficient{Have: 1, Need: billing.Dollar}, http.StatusPaymentRequired, "$1"},
	} {
		m := &speaker{words: []string{"ok"}}
		cfg := newConfig(t, m)
		cfg.Agents[""] = agent.New(agent.Config{Registry: registrytest.Registry(t), Model: m, Provider: "fake", Journal: full{c.why}})
		w := post(askapi.Handler(cfg), "", `{"question":"which colour?"}`)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.words) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if len(m.heard.Turns) > 0 {
			t.Errorf("%s: the model was asked", name)
		}
	}
}
