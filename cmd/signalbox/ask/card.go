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
	"github.com/signalbox/signalbox/runs"
)

// card is what waits for the word of who asks.
type card struct {
	RunID   string `json:"runId"`
	Hash    string `json:"hash"`
	Summary struct {
		Promise billing.NanoUSD `json:"promiseNanoUsd"`
		Preview struct {
			Message string `json:"message"`
			Parts   []struct {
				Name    string `json:"name"`
				CostUSD string `json:"costUsd"`
				Inputs  []struct {
					Label, Type, Value string
					From               int
				} `json:"inputs"`
			} `json:"parts"`
		} `json:"preview"`
	} `json:"summary"`
}

// print tells what the call would do, where its provider says so.
func (c card) print(w io.Writer) {
	if c.Summary.Preview.Message != "" {
		fmt.Fprintf(w, "    %s\n", c.Summary.Preview.Message)
	}
	for i, part := range c.Summary.Preview.Parts {
		fmt.Fprintf(w, "    %d. %s, $%s at most\n", i+1, part.Name, part.CostUSD)
		for _, in := range part.Inputs {
			value := in.Value
			switch {
			case in.From > 0:
				value = fmt.Sprintf("what step %d makes", in.From)
			case value == "":
				value = in.Type
			}
			fmt.Fprintf(w, "       %s: %q\n", in.Label, value) // quoted: a model's words move no cursor
		}
	}
}

// settle asks once for all cards, and follows what goes ahead.
func (c client) settle(ctx context.Context, w io.Writer, yes io.Reader, cards []card) error {
	if yes == nil {
		return nil
	}
	var total billing.NanoUSD
	for _, one := range cards {
		total += one.Summary.Promise
	}
	fmt.Fprintf(w, "Go ahead for %s at most? [y/N] ", total)
	line, err := bufio.NewReader(yes).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !runs.Affirms(line) {
		fmt.Fprintln(w, "Nothing was done. It waits on its page for ten minutes.")
		return nil
	}
	for _, one := range cards {
		if err := c.call(ctx, http.MethodPost, "/api/runs/"+one.RunID+"/confirm", map[string]string{"summaryHash": one.Hash}, nil); err != nil {
			return err
		}
	}
	var failed error
	for _, one := range cards {
		failed = errors.Join(failed, c.result(ctx, w, one.RunID))
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
