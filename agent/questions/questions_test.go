package questions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/questions"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// house is a database with a store of questions and people who have money.
type house struct {
	*testing.T
	pool   *pgxpool.Pool
	ledger *billing.Ledger
	store  *questions.Store
}

func newHouse(t *testing.T, change ...func(*questions.Config)) house {
	t.Helper()
	pool := postgrestest.New(t)
	ledger := billing.NewLedger(pool)
	cfg := questions.Config{Pool: pool, Ledger: ledger}
	for _, c := range change {
		c(&cfg)
	}
	return house{t, pool, ledger, questions.New(cfg)}
}

func (h house) person(has billing.NanoUSD) string {
	h.Helper()
	id := uuid.NewString()
	h.inTx(func(tx pgx.Tx) error {
		return errors.Join(h.ledger.EnsureWallet(h.Context(), tx, id), h.ledger.Grant(h.Context(), tx, id, has, id, ""))
	})
	return id
}

func (h house) inTx(do func(tx pgx.Tx) error) {
	h.Helper()
	if err := pgx.BeginFunc(h.Context(), h.pool, do); err != nil {
		h.Fatal(err)
	}
}

func opening(account string, quote, least billing.NanoUSD) agent.Opening {
	return agent.Opening{
		ID: uuid.Must(uuid.NewV7()).String(), Question: agent.Question{Text: "a chair", AccountID: account, Context: registry.CallContext{TraceID: "trace"}},
		Quote: quote, Least: least, Tokens: 1000,
	}
}

func (h house) open(o agent.Opening) agent.Entry {
	h.Helper()
	e, err := h.store.Open(h.Context(), o)
	if err != nil {
		h.Fatal(err)
	}
	return e
}

func (h house) uses(e agent.Entry, place int, cost billing.NanoUSD) {
	h.Helper()
	if err := e.Used(h.Context(), []agent.Spent{{Place: place, Model: "m", Usage: agent.Usage{Input: 10, Output: 1, Cost: cost}}}); err != nil {
		h.Fatal(err)
	}
}

func (h house) closes(e agent.Entry) {
	h.Helper()
	if _, err := e.Close(h.Context(), agent.Answer{Text: "here it is", Stop: agent.StopAnswered}, nil); err != nil {
		h.Fatal(err)
	}
}

// has checks an account's balance, and that the books are in order.
func (h house) has(account string, available, held billing.NanoUSD) {
	h.Helper()
	b, err := h.ledger.Balance(h.Context(), account)
	if err != nil {
		h.Fatal(err)
	}
	if b.Available != available || b.Held != held {
		h.Errorf("there are %s and %s are held, want %s and %s", b.Available, b.Held, available, held)
	}
	if report, err := h.ledger.Check(h.Context()); err != nil || !report.OK() {
		h.Errorf("the books: %v %v", report, err)
	}
}

// TestNobodyAsked has the house ask for itself.
func TestNobodyAsked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *questions.Config) { c.PerDay = 10 })
	for range 2 { // for more than a day of one account has room for
		o := opening(uuid.Nil.String(), 60, 10)
		o.Question.House, o.Question.Origin.Platform = true, "site"
		e := h.open(o)
		h.uses(e, 1, 9)
		h.closes(e)
	}
	begun := make(chan error)
	for range 8 { // as processes do which find a picture each
		go func() {
			o := opening(uuid.Nil.String(), 0, 0)
			o.Question.House, o.Question.HouseDay, o.Question.Origin.Platform = true, 5, "site"
			_, err := h.store.Open(t.Context(), o)
			begun <- err
		}()
	}
	refused := 0
	for range 8 {
		var bound *agent.BoundError
		switch err := <-begun; {
		case errors.As(err, &bound) && bound.Stop == agent.StopDay:
			refused++
		case err != nil:
			t.Error(err)
		}
	}
	if refused != 5 {
		t.Errorf("of 8 that begin at once where 2 of 5 have been, %d are refused", refused)
	}
	days, err := h.store.Days(t.Context(), 1)
	if err != nil || len(days) != 1 || days[0].Cost != 18 || days[0].House != 18 {
		t.Errorf("got %+v, %v", days, err)
	}
}

// crash lets the process that had all open questions be gone for long, and another one come.
func (h house) crash() {
	h.Helper()
	if _, err := h.pool.Exec(h.Context(), `UPDATE agent_questions SET alive_at = now() - interval '1 hour'`); err != nil {
		h.Fatal(err)
	}
	if err := questions.New(questions.Config{Pool: h.pool, Ledger: h.ledger}).Tend(h.Context()); err != nil {
		h.Fatal(err)
	}
}

func TestAskerPays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	t.Run("what was used is taken once, the rest comes back", func(t *testing.T) {
		ann := h.person(100)
		o := opening(ann, 60, 10)
		e := h.open(o)
		h.has(ann, 40, 60)
		h.uses(e, 1, 5)
		h.uses(e, 1, 5) // the answer to the first was lost
		h.uses(e, 2, 7)
		if money, tokens, err := e.Left(t.Context()); err != nil || money != 48 || tokens != 978 {
			t.Errorf("left are %d and %d tokens, %v", money, tokens, err)
		}
		h.closes(e)
		h.closes(e)
		h.has(ann, 88, 0)
		if _, _, err := e.Left(t.Context()); err == nil {
			t.Error("a question that is over goes on")
		}
	})
	t.Run("a question that uses nothing costs nothing", func(t *testing.T) {
		ann := h.person(100)
		h.closes(h.open(opening(ann, 60, 10)))
		h.has(ann, 100, 0)
	})
	t.Run("more than was held is the house's loss", func(t *testing.T) {
		ann := h.person(100)
		e := h.open(opening(ann, 60, 10))
		h.uses(e, 1, 75)
		h.closes(e)
		h.has(ann, 40, 0)
	})
	t.Run("a small wallet bounds the question", func(t *testing.T) {
		ann := h.person(30)
		e := h.open(opening(ann, 60, 10))
		h.has(ann, 0, 30)
		h.closes(e)
		h.has(ann, 30, 0)
	})
	t.Run("one that has too little for the first turn does not ask", func(t *testing.T) {
		ann := h.person(9)
		_, err := h.store.Open(t.Context(), opening(ann, 60, 10))
		var poor billing.ErrInsufficient
		if !errors.As(err, &poor) || poor.Need != 10 || poor.Have != 9 {
			t.Errorf("got %v", err)
		}
		h.has(ann, 9, 0)
	})
	t.Run("a limit bounds the question, too", func(t *testing.T) {
		limited := questions.New(questions.Config{Pool: h.pool, Ledger: h.ledger, Room: func(_ context.Context, _ pgx.Tx, _ string, b runs.Budget, least, most billing.NanoUSD) (billing.NanoUSD, error) {
			if least > 20 {
				return 0, &runs.LimitError{Need: int64(least)}
			}
			return min(most, 20), nil
		}})
		ann := h.person(100)
		if _, err := limited.Open(t.Context(), opening(ann, 60, 10)); err != nil {
			t.Fatal(err)
		}
		h.has(ann, 80, 20)
		var limit *runs.LimitError
		if _, err := limited.Open(t.Context(), opening(ann, 60, 21)); !errors.As(err, &limit) {
			t.Errorf("got %v", err)
		}
	})
}

func TestCrashes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, test := range map[string]struct {
		until int // steps that are done before the crash
		left  billing.NanoUSD
	}{"before the first turn": {0, 100}, "after a turn": {1, 95}, "after two": {2, 88}} {
		t.Run(name, func(t *testing.T) {
			ann := h.person(100)
			e := h.open(opening(ann, 60, 10))
			for i, cost := range []billing.NanoUSD{5, 7}[:test.until] {
				h.uses(e, i+1, cost)
			}
			h.crash()
			h.has(ann, test.left, 0)
			h.crash()
			h.uses(e, 3, 9) // who was taken to be dead lives on
			h.closes(e)
			h.has(ann, test.left, 0)
		})
	}
	t.Run("a question that its process tends is left alone", func(t *testing.T) {
		ann := h.person(100)
		e := h.open(opening(ann, 60, 10))
		if _, err := h.pool.Exec(t.Context(), `UPDATE agent_questions SET alive_at = now() - interval '1 hour'`); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := h.store.Tend(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		h.has(ann, 40, 60)
		h.closes(e)
		h.has(ann, 100, 0)
	})
}

func TestHousePays(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *questions.Config) { c.House, c.PerDay = true, 100 })
	ann := h.person(5)
	e := h.open(opening(ann, 60, 10))
	h.has(ann, 5, 0)
	h.uses(e, 1, 30)
	h.closes(e)
	h.has(ann, 5, 0)
	second := h.open(opening(ann, 90, 10))
	if money, _, err := second.Left(t.Context()); err != nil || money != 70 {
		t.Errorf("70 are left of the day, found %d, %v", money, err)
	}
	var bound *agent.BoundError
	if _, err := h.store.Open(t.Context(), opening(ann, 60, 10)); !errors.As(err, &bound) || bound.Stop != agent.StopDayMoney {
		t.Errorf("got %v", err)
	}
	if _, err := h.store.Open(t.Context(), opening(h.person(5), 60, 10)); err != nil {
		t.Errorf("another account: %v", err)
	}
}

func TestAgentsThatAreAskedPayFromTheQuestion(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann := h.person(100)
	e := h.open(opening(ann, 60, 10))
	inner := opening(ann, 500, 10)
	inner.Question.Within = true
	within := h.open(inner)
	h.has(ann, 40, 60)
	h.uses(within, 1, 20)
	for name, entry := range map[string]agent.Entry{"question": e, "agent": within} {
		if money, _, err := entry.Left(t.Context()); err != nil || money != 40 {
			t.Errorf("the %s has %d left, %v; want 40", name, money, err)
		}
	}
	h.closes(within)
	h.has(ann, 40, 60)
	h.closes(e)
	h.has(ann, 80, 0)
}

func TestForgetAndAdopt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann, bob := h.person(100), h.person(100)
	o := opening(ann, 60, 10)
	e := h.open(o)
	h.uses(e, 1, 5)
	if err := e.Did(t.Context(), []agent.Step{{Round: 1, Tool: "paint", Arguments: "{\"a\":\"\x00\"}"}}); err != nil {
		t.Fatal(err)
	}
	h.inTx(func(tx pgx.Tx) error { return questions.Forget(t.Context(), tx, ann) })
	h.closes(e)
	h.has(ann, 95, 0)
	q, err := h.store.Get(t.Context(), o.ID, ann)
	if !errors.Is(err, questions.ErrNotFound) {
		t.Errorf("found %+v, %v", q, err)
	}
	all, err := h.store.Get(t.Context(), o.ID, "")
	if err != nil || all.Text != "" || all.Answer != "" || len(all.Steps) != 0 || all.Charged != 5 {
		t.Errorf("for the books stays %+v, %v", all, err)
	}
	other := opening(ann, 60, 10)
	h.closes(h.open(other))
	h.inTx(func(tx pgx.Tx) error { return questions.Adopt(t.Context(), tx, ann, bob) })
	if got, err := h.store.Get(t.Context(), other.ID, bob); err != nil || got.Text != "a chair" || got.Answer != "here it is" {
		t.Errorf("got %+v, %v", got, err)
	}
	if list, err := h.store.List(t.Context(), bob, ""); err != nil || len(list) != 1 || !strings.Contains(list[0].Text, "chair") {
		t.Errorf("listed %+v, %v", list, err)
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *questions.Config) { c.PerDay = 80 })
	for has, want := range map[billing.NanoUSD]billing.NanoUSD{100: 60, 30: 30, 9: 0} {
		t.Run(fmt.Sprintf("with %d there is room for %d of what a question may cost, and nothing is set aside", has, want), func(t *testing.T) {
			ann := h.person(has)
			if room, err := h.store.Room(t.Context(), opening(ann, 60, 10)); err != nil || room != want {
				t.Errorf("got %d, %v", room, err)
			}
			h.has(ann, has, 0)
		})
	}
	t.Run("a day that is used up has none", func(t *testing.T) {
		ann := h.person(1000)
		e := h.open(opening(ann, 75, 10))
		if room, err := h.store.Room(t.Context(), opening(ann, 60, 10)); err != nil || room != 0 {
			t.Errorf("got %d, %v", room, err)
		}
		h.closes(e)
	})
}

// TestRunPays asks agents by runs, which hold for their words.
func TestRunPays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann := h.person(100)
	byRun := func(promise billing.NanoUSD, within bool, key string) agent.Opening {
		o := opening(ann, 60, 10)
		o.Question.RunID, o.Question.Promise, o.Question.Within, o.Question.Key.Name = uuid.NewString(), &promise, within, key
		return o
	}
	refused := func(t *testing.T, o agent.Opening) {
		t.Helper()
		var why *registry.Error
		if _, err := h.store.Open(t.Context(), o); !errors.As(err, &why) || why.Code != registry.CodeUnavailable {
			t.Errorf("got %v", err)
		}
	}
	t.Run("it holds nothing, has what the run promised, and tells what it cost", func(t *testing.T) {
		e := h.open(byRun(30, false, ""))
		h.has(ann, 100, 0)
		if left, _, err := e.Left(t.Context()); err != nil || left != 30 {
			t.Errorf("%s are left, %v", left, err)
		}
		h.uses(e, 1, 12)
		if cost, err := e.Close(t.Context(), agent.Answer{Stop: agent.StopAnswered}, nil); err != nil || cost != 12 {
			t.Errorf("it cost %s, %v", cost, err)
		}
		h.has(ann, 100, 0)
	})
	t.Run("its process was taken for gone meanwhile", func(t *testing.T) {
		e := h.open(byRun(30, false, ""))
		h.uses(e, 1, 12)
		h.crash()
		if cost, err := e.Close(t.Context(), agent.Answer{Stop: agent.StopAnswered}, nil); err != nil || cost != 12 {
			t.Errorf("it cost %s, %v", cost, err)
		}
	})
	t.Run("a promise that the first turn is more than asks nothing", func(t *testing.T) {
		refused(t, byRun(9, false, ""))
		refused(t, byRun(0, true, "")) // the question that would have paid is over
	})
	t.Run("an open question pays for what is asked in its course, by the same key", func(t *testing.T) {
		e := h.open(opening(ann, 60, 10))
		for key, want := range map[string]bool{"": true, "key:1": false} {
			o := byRun(0, true, key)
			if covered, err := h.store.Covers(t.Context(), o.Question); err != nil || covered != want {
				t.Errorf("%q: %v, %v", key, covered, err)
			}
			if !want {
				refused(t, o)
				continue
			}
			within := h.open(o)
			h.uses(within, 1, 5)
			h.closes(within)
		}
		if left, _, err := e.Left(t.Context()); err != nil || left != 55 {
			t.Errorf("%s are left, %v", left, err)
		}
		h.closes(e)
		h.has(ann, 95, 0)
	})
}
