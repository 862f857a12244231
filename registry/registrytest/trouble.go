package registrytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
)

// trouble is a way in which a service refuses, and the error that has to come of it.
type trouble struct {
	name      string
	fault     LineFault
	code      registry.Code
	retryable bool
	wait      time.Duration
}

// refusals are answers after which nothing was done.
func refusals() []trouble {
	return []trouble{
		{"no connection", Unreachable, registry.CodeUnavailable, true, 0},
		{"too many requests", Answer(http.StatusTooManyRequests, "Retry-After: 7", "{}"), registry.CodeRateLimited, true, 7 * time.Second},
		{"out of service", Answer(http.StatusServiceUnavailable, "", "{}"), registry.CodeUnavailable, true, 0},
		{"broken", Answer(http.StatusInternalServerError, "", "{}"), registry.CodeProvider, true, 0},
		{"the key", Answer(http.StatusUnauthorized, "", "{}"), registry.CodeUnauthorized, false, 0},
		{"no money left", Answer(http.StatusPaymentRequired, "", "{}"), registry.CodeUnavailable, false, 0},
		{"the values", Answer(http.StatusBadRequest, "", "{}"), registry.CodeInvalidInput, false, 0},
		{"sent elsewhere", Answer(http.StatusTemporaryRedirect, "Location: http://127.0.0.1:1/", ""), registry.CodeProvider, false, 0},
		{"a page instead of data", Answer(http.StatusOK, "", "<html>"), registry.CodeProvider, false, 0},
	}
}

// lostAnswers are faults after which nobody knows what became of a request.
func lostAnswers() map[string]LineFault {
	return map[string]LineFault{
		"a broken line": LoseAnswer, "a line that breaks in its middle": CutAnswer,
		"a gateway":           after502(http.StatusBadGateway),
		"a gateway too early": after502(http.StatusGatewayTimeout),
	}
}

// after502 is a gateway that gives up on a service which goes on.
func after502(status int) LineFault {
	return func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		res, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		_ = res.Body.Close()
		return Answer(status, "", "<html>")(&http.Request{URL: r.URL}, next)
	}
}

// passing are faults that must not end a run which is under way.
func passing() map[string]LineFault {
	faults := lostAnswers()
	for _, trouble := range refusals() {
		if trouble.retryable {
			faults["a refusal: "+trouble.name] = trouble.fault
		}
	}
	return faults
}

// check compares an error with what it has to be.
func (want trouble) check(t *testing.T, err error, secret string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	got := registry.AsError(err)
	if got.Code != want.code || got.Retryable != want.retryable || got.RetryAfter != want.wait {
		t.Errorf("got %v (retryable %v, after %s), expected %s (retryable %v, after %s)", err, got.Retryable, got.RetryAfter, want.code, want.retryable, want.wait)
	}
	wantSafe(t, got, secret)
}

// met reports whether the line's faults were met, so that a test has tested something.
func met(t *testing.T, line *Line) {
	t.Helper()
	if left := line.Clear(); left > 0 {
		t.Errorf("%d faults were not met: nothing was sent", left)
	}
}

func refused(t *testing.T, s SubmitterSetup, trouble trouble) {
	if s.Line == nil || s.OwnEngines {
		t.Log("it has no account that could be refused")
		return
	}
	c, before := s.Call(), s.Received()
	s.Line.Next(trouble.fault)
	trips := s.Line.Trips()
	_, err := s.Submitter.Submit(t.Context(), c)
	trouble.check(t, err, s.Secret)
	met(t, s.Line)
	if s.Received() != before || s.Line.Trips() != trips+1 {
		t.Errorf("%d runs and %d requests, expected none and one", s.Received()-before, s.Line.Trips()-trips)
	}
	if !trouble.retryable {
		return
	}
	c.Repeated = true
	if ticket := submit(t, s, c); ticket.ProviderID == "" || s.Received() != before+1 {
		t.Errorf("tried again: %+v, with %d runs", ticket, s.Received()-before)
	}
}

func loses(t *testing.T, s SubmitterSetup, fault LineFault) {
	if s.Line == nil {
		t.Log("nothing is between it and its service")
		return
	}
	c, before := s.Call(), s.Received()
	s.Line.Next(fault)
	_, err := s.Submitter.Submit(t.Context(), c)
	met(t, s.Line)
	failure := registry.AsError(err)
	switch {
	case failure == nil: // it asked at once
	case failure.Retryable:
		c.Repeated = true
		submit(t, s, c)
	case failure.Code != registry.CodeLost:
		t.Errorf("got %v, expected %s, since nobody knows", err, registry.CodeLost)
	}
	if got := s.Received() - before; got != 1 {
		t.Errorf("%d runs, expected one", got)
	}
}

func outlives(t *testing.T, s SubmitterSetup, fault LineFault) {
	if s.Line == nil {
		t.Log("nothing is between it and its service")
		return
	}
	ticket := submit(t, s, s.Call())
	s.Line.Next(fault)
	_, err := s.Submitter.Poll(t.Context(), ticket)
	met(t, s.Line)
	if failure := registry.AsError(err); failure != nil && !failure.Retryable {
		t.Errorf("got %v, expected an error that may pass", err)
	}
	s.finish(ticket)
	if p := awaitEnd(t, s.Submitter, ticket); p.State != registry.RunSucceeded {
		t.Errorf("ended as %+v", p)
	}
}

// leaves checks that do ends with its context when nothing answers.
func leaves(t *testing.T, line *Line, do func(context.Context) error) {
	if line == nil {
		t.Log("nothing is between it and its service")
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	line.Next(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		cancel() // now that it is under way
		return Stall(r, next)
	})
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(conformancePatience):
		t.Error("it goes on after its context has ended")
	}
	met(t, line)
}

// hides checks that no error of do shows the key that was sent, whatever the service repeats.
func hides(t *testing.T, line *Line, secret string, do func() error) {
	if line == nil || secret == "" {
		t.Log("it has no key")
		return
	}
	line.Next(Tell)
	err := do()
	met(t, line)
	if err == nil {
		t.Fatal("no error")
	}
	wantSafe(t, registry.AsError(err), secret)
}

// wantSafe looks for what people must not see in an error, and for keys in what is logged with it.
func wantSafe(t *testing.T, failure *registry.Error, secret string) {
	t.Helper()
	if failure.Message == "" || len(failure.Message) > 300 || strings.ContainsAny(failure.Message, "\n<>{}") || strings.Contains(failure.Message, "://") {
		t.Errorf("the message %q is not fit for people", failure.Message)
	}
	for err := error(failure); err != nil && secret != ""; err = errors.Unwrap(err) {
		if strings.Contains(fmt.Sprintf("%v %+v", err, err), secret) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

// wantUsage checks that a run which succeeded can be billed by its tool's model.
func wantUsage(t *testing.T, tool registry.Tool, usage registry.Usage) {
	t.Helper()
	model := tool.CostingModel
	if model == nil {
		return
	}
	if usage.RunTime < 0 || usage.Tokens < 0 {
		t.Errorf("A24 the usage %+v is negative", usage)
	}
	if usage.CostUSD != "" {
		wantDecimal(t, usage.CostUSD)
	}
	switch {
	case model.RateSource == registry.RateAPI && usage.CostUSD == "":
		t.Error("A27 the price is the service's, and it tells none")
	case model.RateSource == registry.RateMachine && usage.Machine == "":
		t.Error("A27 the price is the machine's, and none is told")
	case model.RateSource != registry.RateAPI && model.Unit == registry.UnitSecond && usage.RunTime == 0:
		t.Error("A24 the price is by the second, and no time is told")
	case model.RateSource != registry.RateAPI && model.Unit == registry.UnitToken && usage.Tokens == 0:
		t.Error("A25 the price is by the token, and none are told")
	}
}

func wantDecimal(t *testing.T, usd string) {
	t.Helper()
	if r, err := decimal.Parse(json.Number(usd)); err != nil || r.Sign() < 0 {
		t.Errorf("%q is no exact decimal of US dollars", usd)
	}
}

// namesPrice checks a registry.Pricer.
func namesPrice(t *testing.T, provider any, c registry.Call, received func() int) {
	pricer, ok := provider.(registry.Pricer)
	if !ok || c.Tool.CostingModel == nil {
		t.Log("it names no price")
		return
	}
	before := received()
	c.RunID, c.Handle = "", "" // nothing was accepted yet
	prices := make([]registry.Price, 2)
	for i := range prices {
		var err error
		if prices[i], err = pricer.Price(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if prices[i].CostUSD != "" {
			wantDecimal(t, prices[i].CostUSD)
		}
	}
	if prices[0] != prices[1] || received() != before {
		t.Errorf("prices %+v, and %d runs", prices, received()-before)
	}
}

// errorCodes are the codes that a Caller or Submitter may use: the closed list.
func errorCodes() []registry.Code {
	return []registry.Code{
		registry.CodeInvalidInput, registry.CodeUnavailable, registry.CodeTimeout, registry.CodeRateLimited, registry.CodeRefused,
		registry.CodeUnauthorized, registry.CodeLost, registry.CodeProvider, registry.CodeBadOutput, registry.CodeCanceled, registry.CodeInternal,
	}
}

// wantTyped checks that an error is the one typed error, with a code of the list.
func wantTyped(t *testing.T, err error) {
	t.Helper()
	var failure *registry.Error
	if !errors.As(err, &failure) || !slices.Contains(errorCodes(), failure.Code) {
		t.Errorf("got %v (%T), expected a *registry.Error with a code of the list", err, err)
	}
}
