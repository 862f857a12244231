package ask

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// card is what waits for the word of who asks.
type card struct {
	RunID   string `json:"runId"`
	Hash    string `json:"hash"`
	Summary struct {
		Promise billing.NanoUSD `json:"promiseNanoUsd"`
		Preview struct {
			Message string            `json:"message"`
			Said    said.Text         `json:"said"`
			Touches []registry.Touch  `json:"touches"`
			Changes []registry.Change `json:"changes"`
			Untold  int               `json:"untold"`
			Link    string            `json:"link"`
			Parts   []part            `json:"parts"`
		} `json:"preview"`
	} `json:"summary"`
}

// part is one step of a call that has several.
type part struct {
	Name    string `json:"name"`
	CostUSD string `json:"costUsd"`
	Inputs  []struct {
		Label, Type, Value string
		From               int
	} `json:"inputs"`
}

// cost is the most that the step can cost.
func (p part) cost() billing.NanoUSD {
	most, _ := billing.ParseUSD(p.CostUSD) // the program wrote it
	return most
}

// show tells what a call would do, where its provider says so.
func (t *printer) show(c card) {
	if asked := words.Asked(t.say, registry.Preview{Message: c.Summary.Preview.Message, Said: c.Summary.Preview.Said}); asked != "" {
		fmt.Fprintf(t.out, "    %s\n", asked)
	}
	for _, touched := range c.Summary.Preview.Touches {
		fmt.Fprintf(t.out, "    • %q\n", touched.Label()) // quoted: a model's words move no cursor
	}
	for _, change := range c.Summary.Preview.Changes {
		fmt.Fprintf(t.out, "      %q: %q\n", change.Field, words.Marked(change.Pieces))
	}
	if n := c.Summary.Preview.Untold; n > 0 {
		fmt.Fprintln(t.out, "      "+t.say.Line("confirm.more", "n", n))
	}
	if link := c.Summary.Preview.Link; link != "" {
		fmt.Fprintln(t.out, "      "+t.say.Line("confirm.look")+": "+link)
	}
	for i, part := range c.Summary.Preview.Parts {
		fmt.Fprintln(t.out, "    "+t.say.Line("ask.part", "n", i+1, "tool", part.Name, "price", t.say.AtMost(part.cost())))
		for _, in := range part.Inputs {
			value := in.Value
			switch {
			case in.From > 0:
				value = t.say.Line("asked.stepFrom", "n", in.From)
			case value == "":
				value = in.Type
			}
			fmt.Fprintf(t.out, "       %s: %q\n", in.Label, value)
		}
	}
}

// settle asks once for all cards, and follows what goes ahead.
func (c client) settle(ctx context.Context, t *printer, yes io.Reader) error {
	if yes == nil {
		return nil
	}
	var total billing.NanoUSD
	for _, one := range t.cards {
		total += one.Summary.Promise
	}
	fmt.Fprint(t.out, t.say.Line("ask.goAhead", "price", t.say.AtMost(total))+" ")
	line, err := bufio.NewReader(yes).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !runs.Affirms(line) {
		fmt.Fprintln(t.out, t.say.Line("ask.left"))
		return nil
	}
	for _, one := range t.cards {
		if err := c.call(ctx, http.MethodPost, "/api/runs/"+one.RunID+"/confirm", map[string]string{"summaryHash": one.Hash}, nil); err != nil {
			return err
		}
	}
	var failed error
	for _, one := range t.cards {
		failed = errors.Join(failed, c.result(ctx, t.out, one.RunID))
	}
	return failed
}

// looksEvery is how often it is looked whether a run is over.
const looksEvery = 500 * time.Millisecond

// result waits for the end of a run and prints what it made.
func (c client) result(ctx context.Context, w io.Writer, runID string) error {
	look := time.NewTicker(looksEvery)
	defer look.Stop()
	for {
		var run struct {
			Status  runs.Status
			Cost    billing.NanoUSD              `json:"costNanoUsd"`
			Outputs []struct{ URL, Text string } `json:"outputs"`
			Error   struct{ Message string }
		}
		if err := c.call(ctx, http.MethodGet, "/api/runs/"+runID, nil, &run); err != nil {
			return err
		}
		if !run.Status.Final() {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-look.C:
			}
			continue
		}
		if run.Status != runs.StatusSucceeded {
			return fmt.Errorf("run %s %s: %s", runID, run.Status, run.Error.Message)
		}
		for _, o := range run.Outputs {
			fmt.Fprintln(w, o.URL+o.Text)
		}
		return nil
	}
}
