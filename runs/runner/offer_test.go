package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// fickle is a provider whose price rises by a cent each time it is asked.
type fickle struct {
	*runstest.Provider
	mu    sync.Mutex
	asked int
}

func (f *fickle) Price(_ context.Context, c registry.Call) (registry.Price, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	cents := int64(f.asked)
	if n, ok := c.Inputs["size"].(json.Number); ok && n == "64" {
		cents *= 64
	}
	return registry.Price{CostUSD: "0." + string([]byte{'0' + byte(cents/10%10), '0' + byte(cents%10)})}, nil
}

func (f *fickle) times() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// priced is a tool whose provider names the price of each run.
func priced() registry.Tool {
	tool := perSecond()
	tool.CostingModel = &registry.CostingModel{Rate: "0.01", Unit: registry.UnitRequest, RateSource: registry.RateAPI}
	tool.InputSchema = append(tool.InputSchema, registry.InputField{Name: "size", Type: registry.TypeNumber, Default: json.Number("1")})
	return tool
}

func wantQuoteError(t *testing.T, err error, want runs.QuoteReason) {
	t.Helper()
	var quote *runs.QuoteError
	if !errors.As(err, &quote) || quote.Reason != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestThePriceShownIsThePriceHeld(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	newOffice := func(t *testing.T, tools ...registry.Tool) (*house, *fickle, *time.Time) {
		t.Helper()
		f, clock := &fickle{Provider: &runstest.Provider{}}, now
		if tools == nil {
			tools = []registry.Tool{priced()}
		}
		h := newHouse(t, func(c *runs.Config) {
			c.Providers, c.Now = map[string]runs.Provider{"choir": {Submitter: f}}, func() time.Time { return clock }
		}, tools...)
		return h, f, &clock
	}
	bindAnd := func(t *testing.T, h *house, r runs.Request) (runs.Bound, runs.Offer) {
		t.Helper()
		b, err := h.Bind(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		offer, err := h.Offer(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return b, offer
	}
	t.Run("what was bound carries its quote, and the provider is asked once", func(t *testing.T) {
		t.Parallel()
		h, f, _ := newOffice(t)
		b, err := h.Bind(t.Context(), sing(h.user(t, billing.Dollar)))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := h.Quote(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		run, err := h.AcceptBound(t.Context(), b)
		if err != nil || run.Quote != shown || shown.High != billing.Dollar/100 || f.times() != 1 {
			t.Errorf("shown %v, held %v after %d questions, %v", shown, run.Quote, f.times(), err)
		}
		h.wantBalance(t, run.AccountID, billing.Dollar-shown.High, shown.High)
	})
	t.Run("a sealed quote is accepted exactly so until its time is over", func(t *testing.T) {
		t.Parallel()
		h, f, clock := newOffice(t)
		r := sing(h.user(t, billing.Dollar))
		_, offer := bindAnd(t, h, r)
		*clock = now.Add(runs.QuoteLife - time.Second)
		r.Quote = offer.Sealed
		run, err := h.Accept(t.Context(), r)
		if err != nil || run.Quote != offer.Quote || f.times() != 1 || !offer.Until.Equal(now.Add(runs.QuoteLife)) {
			t.Errorf("offered %+v, held %v after %d questions, %v", offer, run.Quote, f.times(), err)
		}
		*clock = now.Add(runs.QuoteLife)
		_, err = h.Accept(t.Context(), r)
		wantQuoteError(t, err, runs.QuoteExpired)
	})
	t.Run("a forged quote, and that of somebody else, is none", func(t *testing.T) {
		t.Parallel()
		h, _, _ := newOffice(t)
		r := sing(h.user(t, billing.Dollar))
		_, offer := bindAnd(t, h, r)
		stranger := sing(h.user(t, billing.Dollar))
		for _, forged := range []string{"x", offer.Sealed[1:], offer.Sealed[:len(offer.Sealed)-8] + "AAAAAAAA", strings.Repeat("A", 200)} {
			r.Quote = forged
			_, err := h.Accept(t.Context(), r)
			wantQuoteError(t, err, runs.QuoteUnknown)
		}
		stranger.Quote = offer.Sealed
		_, err := h.Accept(t.Context(), stranger)
		wantQuoteError(t, err, runs.QuoteUnknown)
		h.wantBalance(t, r.AccountID, billing.Dollar, 0)
	})
	t.Run("a quote for small inputs buys no large ones, and one for large ones is no excuse to take more for small ones", func(t *testing.T) {
		t.Parallel()
		h, _, _ := newOffice(t)
		small := sing(h.user(t, billing.Dollar))
		large := small
		large.Values = map[runs.Source]map[string]any{runs.FromArgument: {"song": "la", "size": json.Number("64")}}
		_, cheap := bindAnd(t, h, small)
		large.Quote = cheap.Sealed
		_, err := h.Accept(t.Context(), large)
		wantQuoteError(t, err, runs.QuoteChanged)
		large.Quote = ""
		_, dear := bindAnd(t, h, large)
		small.Quote = dear.Sealed
		if run, err := h.Accept(t.Context(), small); err != nil || run.Quote.High >= dear.Quote.High {
			t.Errorf("held %v where %v was shown for more, %v", run.Quote, dear.Quote, err)
		}
	})
	t.Run("a quote for a tool that changed does not hold", func(t *testing.T) {
		t.Parallel()
		h, _, _ := newOffice(t)
		r := sing(h.user(t, billing.Dollar))
		_, offer := bindAnd(t, h, r)
		dearer := priced()
		dearer.CostingModel.RateSource, dearer.CostingModel.Rate = registry.RateStatic, "0.5"
		b, err := h.BindAs(t.Context(), dearer, r)
		if err != nil {
			t.Fatal(err)
		}
		b.Request.Quote = offer.Sealed
		_, err = h.AcceptBound(t.Context(), b)
		wantQuoteError(t, err, runs.QuoteChanged)
	})
	t.Run("a repeated request finds its run whatever became of its quote", func(t *testing.T) {
		t.Parallel()
		h, f, clock := newOffice(t)
		r := sing(h.user(t, billing.Dollar))
		_, offer := bindAnd(t, h, r)
		r.Quote, r.IdempotencyKey = offer.Sealed, "once"
		first := h.accept(t, r)
		*clock = now.Add(time.Hour)
		if again := h.accept(t, r); again.ID != first.ID || f.times() != 1 {
			t.Errorf("runs %s and %s after %d questions", first.ID, again.ID, f.times())
		}
	})
}

func TestAQuoteFollowsTheInputs(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.InputSchema = append(tool.InputSchema, registry.InputField{Name: "batch_size", Type: registry.TypeNumber, Integer: true, Default: json.Number("1"), Min: "1", Max: "64"})
	h := newHouse(t, nil, tool)
	h.provider.OnSubmit = func(c registry.Call, _ int) *runstest.Outcome {
		n, _ := c.Inputs["batch_size"].(json.Number).Int64()
		return &runstest.Outcome{Usage: registry.Usage{RunTime: time.Second + time.Duration(n)*2*time.Second}}
	}
	h.start(t)
	user := h.user(t, 10*billing.Dollar)
	of := func(batch string) runs.Request {
		r := sing(user)
		r.Values = map[runs.Source]map[string]any{runs.FromArgument: {"song": "la", "batch_size": json.Number(batch)}}
		return r
	}
	quote := func(batch string) billing.Quote {
		b, err := h.Bind(t.Context(), of(batch))
		if err != nil {
			t.Fatal(err)
		}
		q, err := h.Quote(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	if one, many := quote("1"), quote("64"); many.High <= one.High {
		t.Errorf("before anything was learned: %s and %s", one, many)
	}
	for _, batch := range []string{"1", "2", "4", "1", "2", "4"} {
		if run, err := runs.Await(t.Context(), h, h.accept(t, of(batch)), nil); err != nil || run.Status != runs.StatusSucceeded {
			t.Fatalf("%s, %v", run.Status, err)
		}
	}
	// Each run counted when its end was told, not after the twenty seconds for which lessons are kept.
	one, eight := quote("1"), quote("8")
	if one.High > 10_000_000 || one.Low > 3_000_000 || eight.Low > 17_000_000 || eight.High < 17_000_000 || eight.High > 60_000_000 || one.Basis != "learned from the last 6 runs" {
		t.Errorf("3 s cost %+v, 17 s %+v", one, eight)
	}
}

// A tool whose runs consume nothing that is counted would have its past read again for each quote, for ever.
func TestARunThatTeachesNothingIsNoNews(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil, perSecond())
	h.provider.OnSubmit = func(registry.Call, int) *runstest.Outcome { return &runstest.Outcome{} }
	h.start(t)
	user := h.user(t, billing.Dollar)
	first := h.accept(t, sing(user))
	h.delivered(t, first.ID)
	exec(t, h, `UPDATE runs SET nano_units = 1000000000, machine = 'late'`)
	if second := h.accept(t, sing(user)); second.Quote != first.Quote {
		t.Errorf("a run that came to nothing made the past of its tool be read again: %v after %v", second.Quote, first.Quote)
	}
}
