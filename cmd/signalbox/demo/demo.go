// Package demo fills a throw-away house with a week of simulated people, so that its console, plots and galleries can be looked at.
// Everything goes through the house's own doors: people come, get credit, have runs accepted, made by the engine and settled, cancel some
// and are given back what others cost. Only the times are moved afterwards, see backdate.
package demo

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Filled counts what was made.
type Filled struct {
	People, Runs int
}

// Fill fills the house.
func Fill(ctx context.Context, c Config) (Filled, error) {
	h := &house{Config: c, chance: rand.New(rand.NewPCG(7, 7))}
	if err := h.invite(ctx); err != nil {
		return Filled{}, err
	}
	if err := h.create(ctx); err != nil {
		return Filled{}, err
	}
	if err := h.giveBack(ctx); err != nil {
		return Filled{}, err
	}
	return Filled{len(h.people), len(h.made)}, h.backdate(ctx, h.moments(len(h.made)))
}

// create has the runs made, one after the other, as long as there is time.
func (h *house) create(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, h.AtMost)
	defer cancel()
	for i := range h.Count {
		err := h.run(limited, i)
		if limited.Err() != nil {
			return ctx.Err() // nil: the time is over, and what was made is enough
		}
		if err != nil {
			return err
		}
		h.Done()
	}
	return nil
}

// invite has the people come, and gives some of them credit.
func (h *house) invite(ctx context.Context) error {
	for _, p := range cast {
		account, err := h.Users.Identify(ctx, p.identity)
		if err != nil {
			return err
		}
		h.people = append(h.people, &person{Account: account, platform: p.identity.Platform, weight: p.weight})
		if p.credit == 0 {
			continue
		}
		err = postgres.InTx(ctx, h.Pool, func(tx pgx.Tx) error {
			return h.Ledger.Grant(ctx, tx, account.ID, p.credit, "grant:demo:"+account.ID, "paid in cash")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// moments are when n runs shall have been, oldest first: more of them by day than by night, and more lately than a week ago.
func (h *house) moments(n int) []time.Time {
	var list []time.Time
	for len(list) < n {
		back := time.Duration(h.chance.Int64N(int64(week)))
		at := h.Now.Add(-back)
		awake := at.UTC().Hour() >= 8 && at.UTC().Hour() < 23
		lately := h.chance.Int64N(int64(week)) > int64(back)/2
		if lately && (awake || h.chance.IntN(8) == 0) {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return list
}

// run has somebody make something, and waits for it.
func (h *house) run(ctx context.Context, i int) error {
	who := h.somebody()
	wish := h.wish(who, i)
	if wish.torn {
		torn, _, err := h.Runs.PutMedia(ctx, who.ID, strings.NewReader("\x89PNG\r\n\x1a\nand no more"), "torn.png")
		if err != nil {
			return err
		}
		wish.inputs["image"] = torn
	}
	accepted, err := h.Runs.Accept(ctx, runs.Request{
		AccountID: who.ID, ToolID: wish.tool, Origin: runs.Origin{Platform: who.platform},
		Values: map[runs.Source]map[string]any{runs.FromArgument: wish.inputs}, Audience: registry.Everyone,
	})
	if err != nil {
		return fmt.Errorf("%s for %s: %w", wish.tool, who.DisplayName, err)
	}
	if wish.canceled {
		if _, err := h.Runs.Cancel(ctx, accepted.ID, who.ID); err != nil {
			return err
		}
	}
	ended, err := h.await(ctx, accepted.ID)
	if err != nil {
		return err
	}
	h.made = append(h.made, ended)
	for _, o := range ended.Outputs {
		if o.Type == string(registry.TypeImage) && !strings.HasSuffix(o.FileName, ".svg") {
			who.picture = o.Media
		}
	}
	return nil
}

// await waits until a run is over.
func (h *house) await(ctx context.Context, id string) (runs.Run, error) {
	states, stop := h.Runs.Subscribe(id)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return runs.Run{}, ctx.Err()
		case state, more := <-states:
			if !more {
				return runs.Run{}, fmt.Errorf("run %s is told of no more", id)
			}
			if state.Status.Final() {
				return state, nil
			}
		}
	}
}

// somebody is one of the people, those more often who are here more.
func (h *house) somebody() *person {
	sum := 0
	for _, p := range h.people {
		sum += p.weight
	}
	n := h.chance.IntN(sum)
	for _, p := range h.people {
		if n -= p.weight; n < 0 {
			return p
		}
	}
	panic("weights do not add up")
}

// giveBack refunds the run that cost most, as an operator does.
func (h *house) giveBack(ctx context.Context) error {
	if len(h.made) == 0 {
		return nil
	}
	dearest := slices.MaxFunc(h.made, func(a, b runs.Run) int { return cmp.Compare(a.Cost, b.Cost) })
	if dearest.Cost == 0 {
		return nil
	}
	_, err := h.Runs.Refund(ctx, dearest.ID, "the picture was not what was asked for")
	return err
}
