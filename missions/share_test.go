package missions

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

const mill = cent / 10

// sharing lets owners of chains ask for a fifth, or for two cents.
func (h *house) sharing() *house {
	h.adapt = func(c *Config) {
		c.Shares = func() billing.ShareBounds { return billing.ShareBounds{Percent: "20", USD: "0.02"} }
	}
	return h
}

// shared is a chain of a user that costs two cents, and a share.
func shared(user, share string) Chain {
	c := poster(user)
	c.Visibility, c.Share = Public, share
	return c
}

func (h *house) refund(run runs.Run) {
	h.t.Helper()
	err := pgx.BeginFunc(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		_, err := h.runs.RefundIn(h.t.Context(), tx, run.ID, "sorry")
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// paints waits for the first leg of a user's only mission to be under way.
func (h *house) paints(user string) {
	h.t.Helper()
	clocktest.Until(h.t, "the first leg is under way", func() bool {
		list, err := h.List(h.t.Context(), user, "", "")
		if err != nil {
			h.t.Fatal(err)
		}
		return len(list) == 1 && list[0].Legs[0].Progress.Status == LegRunning
	})
}

func TestSharesOfChains(t *testing.T) {
	t.Parallel()
	t.Run("the price has it, the author gets it with the end of the run, and a refund takes it back", func(t *testing.T) {
		t.Parallel()
		h := chained(t).sharing().start()
		ann, bob := h.user(), h.user()
		c := h.save(shared(ann, "10%"))
		b, err := h.runs.Bind(t.Context(), runOf(bob, c.ToolID(), nil))
		if err != nil {
			t.Fatal(err)
		}
		quote, err := h.runs.Quote(t.Context(), b)
		if err != nil || quote.High != 2*cent+2*mill || quote.Share != 2*mill || quote.Held() != 2*mill {
			t.Fatalf("the price is %+v, %v", quote, err)
		}
		run, err := h.runs.AcceptBound(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		run = h.runEnds(run)
		if run.Status != runs.StatusSucceeded || run.Cost != 2*mill || run.Receipt.Share != 2*mill {
			t.Errorf("the run is %s at %s, %+v", run.Status, run.Cost, run.Receipt)
		}
		h.wantBalance(bob, billing.Dollar-2*cent-2*mill)
		h.wantBalance(ann, billing.Dollar+2*mill)
		h.refund(run)
		h.wantBalance(bob, billing.Dollar-2*cent)
		h.wantBalance(ann, billing.Dollar)
	})
	t.Run("authors pay themselves nothing", func(t *testing.T) {
		t.Parallel()
		h := chained(t).sharing().start()
		ann := h.user()
		c := h.save(shared(ann, "0.02"))
		run, err := h.runs.Accept(t.Context(), runOf(ann, c.ToolID(), nil))
		if err != nil {
			t.Fatal(err)
		}
		if run = h.runEnds(run); run.Quote.Share != 0 || run.Cost != 0 {
			t.Errorf("the run cost %s, quoted %+v", run.Cost, run.Quote)
		}
		h.wantBalance(ann, billing.Dollar-2*cent)
	})
	t.Run("what is taken back brings nothing", func(t *testing.T) {
		t.Parallel()
		h := chained(t).sharing()
		h.agency.answer = failing("paint", soldOut)
		h.start()
		ann, bob := h.user(), h.user()
		c := h.save(Chain{AccountID: ann, Name: "Trip", Command: "/trip", Visibility: Public, Share: "0.02", Legs: []DraftLeg{{Tool: "flight", Order: 1}, {Tool: "paint", Order: 2}}})
		run, err := h.runs.Accept(t.Context(), runOf(bob, c.ToolID(), nil))
		if err != nil {
			t.Fatal(err)
		}
		if run, err = h.runs.Confirm(t.Context(), run.ID, bob); err != nil {
			t.Fatal(err)
		}
		if run = h.runEnds(run); run.Status != runs.StatusFailed || run.Cost != 0 {
			t.Errorf("the run is %s at %s", run.Status, run.Cost)
		}
		h.wantCalls("flight", "paint", "cancel_flight")
		h.wantBalance(bob, billing.Dollar)
		h.wantBalance(ann, billing.Dollar)
	})
	t.Run("it goes to whom the chain belongs", func(t *testing.T) {
		t.Parallel()
		h := chained(t).sharing().start()
		ann, bob, ben := h.user(), h.user(), h.user()
		c := h.save(shared(ann, "10%"))
		if err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error { return Adopt(t.Context(), tx, ann, ben) }); err != nil {
			t.Fatal(err)
		}
		if _, err := h.tools.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		run, err := h.runs.Accept(t.Context(), runOf(bob, c.ToolID(), nil))
		if err != nil {
			t.Fatal(err)
		}
		h.runEnds(run)
		h.wantBalance(ann, billing.Dollar)
		h.wantBalance(ben, billing.Dollar+2*mill)
	})
	t.Run("a run under way ends as it was told when the owner's things are deleted", func(t *testing.T) {
		t.Parallel()
		h := chained(t).sharing()
		release := make(chan struct{})
		h.agency.block = map[string]chan struct{}{"paint": release}
		h.start()
		ann, bob := h.user(), h.user()
		c := h.save(shared(ann, "10%"))
		run, err := h.runs.Accept(t.Context(), runOf(bob, c.ToolID(), nil))
		if err != nil {
			t.Fatal(err)
		}
		h.paints(bob)
		if err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error { return Forget(t.Context(), tx, ann) }); err != nil {
			t.Fatal(err)
		}
		close(release)
		if run = h.runEnds(run); run.Status != runs.StatusSucceeded {
			t.Errorf("the run is %s, %+v", run.Status, run.Error)
		}
		h.wantBalance(bob, billing.Dollar-2*cent-2*mill)
		h.wantBalance(ann, billing.Dollar+2*mill)
	})
	t.Run("what is not allowed is refused, and what was allowed once may stay", func(t *testing.T) {
		t.Parallel()
		h := chained(t)
		bounds := billing.ShareBounds{}
		h.adapt = func(c *Config) { c.Shares = func() billing.ShareBounds { return bounds } }
		h.start()
		ann := h.user()
		refused := func(c Chain) {
			t.Helper()
			if _, err := h.SaveChain(t.Context(), c); registry.AsError(err) == nil || registry.AsError(err).Field != "share" {
				t.Errorf("a share of %q with bounds %+v: %v", c.Share, bounds, err)
			}
		}
		refused(shared(ann, "1%"))
		bounds.Percent = "20"
		for _, share := range []string{"21%", "0.01", "-1%", "much"} {
			refused(shared(ann, share))
		}
		c := h.save(shared(ann, "20%"))
		bounds.Percent = "5"
		c.Description = "as before"
		c = h.save(c)
		c.Share = "19%"
		refused(c)
	})
}

// TestCrashWithAShare lets the process die at the steps of a chain that others pay a share for: it is paid once, or not at all.
func TestCrashWithAShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step string
		bad  string // a leg that fails
	}{{"accepted", ""}, {"ended", ""}, {"finish", ""}, {"undo", "publish"}, {"undone", "publish"}, {"finish", "publish"}} {
		t.Run(fmt.Sprintf("at %s, failing %q", c.step, c.bad), func(t *testing.T) {
			t.Parallel()
			h := chained(t).sharing()
			h.agency.answer = failing(c.bad, soldOut)
			ann, bob := h.user(), h.user()
			first := h.mortal("first")
			first.diesAt(h, "first", c.step, 1)
			h.process = h.open(h.pool) // who asks lives on
			chain := h.save(Chain{AccountID: ann, Name: "Trip", Command: "/trip", Visibility: Public, Share: "10%", Legs: []DraftLeg{{Tool: "flight", Order: 1}, {Tool: "publish", Order: 2}}})
			if err := errors.Join(first.runs.Start(t.Context()), first.Start(t.Context())); err != nil {
				t.Fatal(err)
			}
			run, err := h.runs.Accept(t.Context(), runOf(bob, chain.ToolID(), nil))
			if err == nil {
				run, err = h.runs.Confirm(t.Context(), run.ID, bob)
			}
			if err != nil {
				t.Fatal(err)
			}
			<-first.gone
			h.start()
			run = h.runEnds(run)
			spent, got := 2*cent+2*mill, 2*mill
			if c.bad != "" {
				spent, got = 0, 0
			}
			if (run.Status == runs.StatusSucceeded) != (c.bad == "") {
				t.Errorf("the run is %s, %+v", run.Status, run.Error)
			}
			h.wantBalance(bob, billing.Dollar-spent)
			h.wantBalance(ann, billing.Dollar+got)
		})
	}
}

// TestAToolsAuthorIsPaidPerLeg has a leg whose tool has an author: taking it back takes the share back.
func TestAToolsAuthorIsPaidPerLeg(t *testing.T) {
	t.Parallel()
	ann := uuid.NewString()
	byAnn := func(t *registry.Tool) { t.CostingModel.Share = &registry.Share{Author: ann, Percent: "20"} }
	h := newHouse(t, append(travel(), tool("cruise", byAnn, books(nil)), cancels("cruise", "perfect"))...)
	if err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error { return h.ledger.EnsureWallet(t.Context(), tx, ann) }); err != nil {
		t.Fatal(err)
	}
	bob := h.user()
	release := make(chan struct{})
	h.agency.block = map[string]chan struct{}{"hotel": release}
	h.agency.answer = failing("hotel", soldOut)
	h.start()
	m := h.goes(bob, trip("cruise", "hotel"))
	if m.Promised != 2*cent+2*mill {
		t.Errorf("promised are %s", m.Promised)
	}
	h.until(m, "the cruise is booked", func(m Mission) bool { return m.Legs[0].Progress.Status == LegDone })
	if b, err := h.ledger.Balance(t.Context(), ann); err != nil || b.Available != 2*mill {
		t.Errorf("the author has %+v, %v", b, err)
	}
	close(release)
	h.ends(m, RolledBack)
	h.wantBalance(bob, billing.Dollar)
	h.wantBalance(ann, 0)
}
