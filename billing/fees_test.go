package billing

import (
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
)

func TestFees(t *testing.T) {
	t.Parallel()
	model := registry.CostingModel{Rate: "0.001", Unit: registry.UnitSecond, RateSource: registry.RateStatic, Fees: true}
	history := History{Timeout: time.Minute, Samples: []Sample{{NanoUnits: 2e9, Cost: 2_000_000, Alike: true}}}
	t.Run("they are added to what the run itself costs, before and after", func(t *testing.T) {
		t.Parallel()
		plain := model
		plain.Fees = false
		own, with := Estimate(&plain, history, registry.Price{FeesUSD: "0.06"}, RateCard{}), Estimate(&model, history, registry.Price{FeesUSD: "0.06"}, RateCard{})
		if own.Fees != 0 || with.Fees != 60_000_000 || with.Low != own.Low+60_000_000 || with.High != own.High+60_000_000 {
			t.Errorf("%+v\n%+v", own, with)
		}
		r := cost(t, &model, registry.Usage{RunTime: 2 * time.Second, FeesUSD: "0.06"})
		if r.Cost != 62_000_000 || r.Fees != 60_000_000 || r.Net != 0 || r.Note != "" {
			t.Errorf("%+v", r)
		}
		if r := cost(t, &plain, registry.Usage{RunTime: 2 * time.Second, FeesUSD: "0.06"}); r.Cost != 2_000_000 || r.Fees != 0 {
			t.Errorf("a tool without fees pays them: %+v", r)
		}
	})
	t.Run("the operator's markup is on them, the minimum is on the whole", func(t *testing.T) {
		t.Parallel()
		marked := model
		marked.Markup, marked.MinimumUSD = "0.5", "0.1"
		r := cost(t, &marked, registry.Usage{RunTime: time.Second, FeesUSD: "0.06"})
		if r.Cost != 100_000_000 || r.Fees != 90_000_000 || r.Net != 61_000_000 || r.Minimum != 100_000_000 {
			t.Errorf("%+v", r)
		}
		if q := Estimate(&marked, history, registry.Price{FeesUSD: "0.06"}, RateCard{}); q.Fees != 90_000_000 || q.High < 100_000_000 {
			t.Errorf("%+v", q)
		}
	})
	t.Run("fees that nobody knows are told, and not charged", func(t *testing.T) {
		t.Parallel()
		for _, usd := range []string{"", "much", "-1", "1e30"} {
			q := Estimate(&model, history, registry.Price{FeesUSD: usd}, RateCard{})
			r := cost(t, &model, registry.Usage{RunTime: 2 * time.Second, FeesUSD: usd})
			if q.Fees != 0 || r.Fees != 0 || r.Cost != 2_000_000 || !q.FeesUnknown || !strings.Contains(r.Note, "not known") {
				t.Errorf("%q: %+v\n%+v", usd, q, r)
			}
		}
		if q := Estimate(&model, history, registry.Price{FeesUSD: "0"}, RateCard{}); q.Fees != 0 || q.FeesUnknown {
			t.Errorf("none: %+v", q)
		}
	})
	t.Run("a canceled run pays its time only", func(t *testing.T) {
		t.Parallel()
		q := Estimate(&model, history, registry.Price{FeesUSD: "0.06"}, RateCard{})
		q.BillCanceled = true
		r, err := CanceledCost(&model, q, 2*time.Second, RateCard{}, "r")
		if err != nil || r.Cost != 2_000_000 || r.Fees != 0 || r.Note != "" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
