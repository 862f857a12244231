//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/test/bench/program"
)

// check counts what became of everything that was ordered, and prints it. Its errors tell what was lost, doubled or is wrong in the books.
func (h *house) check(ctx context.Context, c *crowd, out io.Writer) error {
	fmt.Fprintf(out, "rest took %v; missing last: %.300s\n", c.rested.Round(time.Millisecond), c.last)
	return errors.Join(h.checkRuns(ctx, c, out), h.checkChats(ctx, c, out), h.checkOrders(ctx, c, out), h.checkBooks(ctx, out), h.tellProcesses(out))
}

// checkRuns expects a run for each order, and that those which failed say why.
func (h *house) checkRuns(ctx context.Context, c *crowd, out io.Writer) error {
	rows, err := h.pool.Query(ctx, `SELECT platform, status, coalesce(error->>'code', '') AS code, coalesce(max(error->>'message'), '') AS message, count(*) AS n,
		count(*) FILTER (WHERE attempt > 1) AS again FROM runs GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)
	if err != nil {
		return err
	}
	type group struct {
		Platform, Status, Code, Message string
		N, Again                        int
	}
	groups, err := pgx.CollectRows(rows, pgx.RowToStructByName[group])
	if err != nil {
		return err
	}
	var wrong error
	sums := map[string]int{}
	for _, g := range groups {
		sums[g.Platform] += g.N
		fmt.Fprintf(out, "runs: %-9s %-10s %6d, %d of them after another attempt %s %s\n", g.Platform, g.Status, g.N, g.Again, g.Code, g.Message)
		if g.Status != "succeeded" && g.Message == "" {
			wrong = errors.Join(wrong, fmt.Errorf("%d runs are %s and do not say why", g.N, g.Status))
		}
	}
	ordered := 0
	for _, k := range c.customers {
		ordered += len(k.orders)
	}
	if sums["api"] != ordered {
		wrong = errors.Join(wrong, fmt.Errorf("%d orders became %d runs", ordered, sums["api"]))
	}
	return wrong
}

// checkChats expects one answer for each command: the result, an offer to show it again where a kill cut its sending off, or why there is none.
func (h *house) checkChats(ctx context.Context, c *crowd, out io.Writer) (wrong error) {
	var commands, pictures, offers, refused, sorry, beside int
	var why []string
	var waited time.Duration
	for _, p := range c.people {
		succeeded, all, err := h.runsOf(ctx, p)
		if err != nil {
			return err
		}
		shown := 0
		answered := answersIn(h.telegram, p.user.Private())
		for _, m := range p.commands {
			a := answered[m.ID]
			if a == nil {
				continue // apologised for, or crowd.end says so
			}
			waited = max(waited, a.first.Sub(m.Date))
			switch {
			case a.pictures > 1:
				wrong = errors.Join(wrong, fmt.Errorf("%v has %d results", m, a.pictures))
			case a.pictures+a.offers == 0:
				refused++
				why = append(why, a.texts...)
			}
			if a.pictures+a.offers > 0 {
				shown++
				beside += len(a.texts)
				why = append(why, a.texts...)
			}
			pictures, offers = pictures+a.pictures, offers+a.offers
		}
		commands += len(p.commands)
		sorry += apologies(h.telegram, p.user.Private())
		if all > len(p.commands) || shown < succeeded {
			wrong = errors.Join(wrong, fmt.Errorf("%d commands of %s became %d runs, %d of them succeeded and %d were shown:\n%s", len(p.commands), p.user.Name(), all, succeeded, shown,
				h.telegram.Transcript(p.user.Private())))
		}
	}
	fmt.Fprintf(out, "Telegram: %d commands, %d pictures, %d offers to see a result again, %d told why not, %d apologies; %d texts stand beside a result; the longest wait for a first answer was %v\n",
		commands, pictures, offers, refused, sorry, beside, waited.Round(time.Millisecond))
	for _, text := range why[:min(len(why), 3)] {
		fmt.Fprintf(out, "  such as %.300s\n", text)
	}
	return wrong
}

func (h *house) runsOf(ctx context.Context, p *person) (succeeded, all int, err error) {
	err = h.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE r.status = 'succeeded'), count(*) FROM runs r JOIN user_identities i ON i.user_id = r.account_id
		WHERE i.platform = 'telegram' AND i.external_id = $1`, fmt.Sprint(p.user.ID())).Scan(&succeeded, &all)
	return succeeded, all, err
}

// checkOrders expects that each order is the run that it was answered with, that it was told of once, and that its picture can be had.
func (h *house) checkOrders(ctx context.Context, c *crowd, out io.Writer) (wrong error) {
	orders, repeats := 0, 0
	var waited time.Duration
	for _, k := range c.customers {
		waited = max(waited, k.waited)
		for once, id := range k.orders {
			var known string
			err := h.pool.QueryRow(ctx, `SELECT id::text FROM runs WHERE idempotency_key = $1`, "api:"+once).Scan(&known)
			if err != nil || known != id {
				wrong = errors.Join(wrong, fmt.Errorf("order %s was answered with run %s and is %q; %v", once, id, known, err))
				continue
			}
			orders++
			for _, n := range k.told[id] {
				repeats += n - 1
			}
			if n := len(k.told[id]); n > 1 {
				wrong = errors.Join(wrong, fmt.Errorf("of the end of run %s there were %d messages", id, n))
			}
			wrong = errors.Join(wrong, h.fetch(ctx, k, id))
		}
	}
	fmt.Fprintf(out, "API: %d orders, each told of once; %d messages came again with the same id; the longest wait for the answer to an order was %v\n",
		orders, repeats, waited.Round(time.Millisecond))
	return wrong
}

// fetch gets the picture of a run that succeeded.
func (h *house) fetch(ctx context.Context, k *customer, id string) error {
	var run struct {
		Status  string
		Outputs []struct{ URL string }
	}
	p := h.processes[len(k.orders)%len(h.processes)]
	if err := p.Call(ctx, program.Request{Path: "/api/runs/" + id, Key: k.key}, &run); err != nil || run.Status != "succeeded" {
		return err
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(run.Outputs[0].URL, "http://"), "/")
	var picture string
	if err := p.Call(ctx, program.Request{Path: "/" + path, Key: k.key}, &picture); err != nil {
		return fmt.Errorf("the picture of run %s: %w", id, err)
	}
	if !strings.HasPrefix(picture, "\x89PNG") {
		return fmt.Errorf("the picture of run %s has %d bytes and is none", id, len(picture))
	}
	return nil
}

// checkBooks expects that the ledger is sound, nothing is held, and that wallets have lost what the runs cost.
func (h *house) checkBooks(ctx context.Context, out io.Writer) error {
	report, err := billing.NewLedger(h.pool).Check(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "books:", report)
	var charged, cost, captures, captured, lost int64
	err = h.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM runs WHERE cost > 0), (SELECT coalesce(sum(cost), 0)::bigint FROM runs),
		(SELECT count(*) FROM ledger_transfers WHERE kind = 'capture'), (SELECT coalesce(sum(amount), 0)::bigint FROM ledger_transfers WHERE kind = 'capture'),
		(SELECT coalesce(sum(amount), 0)::bigint FROM ledger_transfers WHERE kind = 'grant') - (SELECT coalesce(sum(balance), 0)::bigint FROM ledger_accounts WHERE owner IS NOT NULL)`).
		Scan(&charged, &cost, &captures, &captured, &lost)
	if err != nil {
		return err
	}
	if !report.OK() || report.OpenHolds != 0 || report.Held != 0 || captures != charged || captured != cost || lost != cost {
		return fmt.Errorf("the books are wrong: %d runs cost %d nano-dollars, %d captures took %d, the wallets lost %d; %v", charged, cost, captures, captured, lost, report)
	}
	return nil
}

// tellProcesses prints how soon processes were there again, and which ended by themselves.
func (h *house) tellProcesses(out io.Writer) error {
	var took []time.Duration
	ended := map[string]int{}
	for _, p := range h.processes {
		p.mu.Lock()
		took = append(took, p.took...)
		for _, words := range p.ended {
			ended[words]++
		}
		p.mu.Unlock()
	}
	slices.Sort(took)
	if len(took) > 0 {
		at := func(percent int) time.Duration { return took[(len(took)-1)*percent/100].Round(time.Millisecond) }
		fmt.Fprintf(out, "%d kills; ready again, also while the database was away: median %v, p95 %v, worst %v\n", len(took), at(50), at(95), at(100))
	}
	for words, n := range ended {
		fmt.Fprintf(out, "%d processes ended by themselves: %.300s\n", n, words)
	}
	return nil
}
