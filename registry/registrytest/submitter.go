package registrytest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// nobody is an id that no service has given.
const nobody = "00000000-0000-4000-8000-00000000dead"

// SubmitterSetup makes what TestSubmitter tests. The first three members are needed, the others where the
// provider and its simulator can; what is nil is left out.
type SubmitterSetup struct {
	Submitter registry.Submitter
	// Call makes a fresh valid call, with its own run id and handle, of a tool that succeeds by itself
	// or when Finish is called.
	Call func() registry.Call
	// Received counts how many runs the provider has taken.
	Received func() int
	// Finish lets the run of a ticket succeed; nil where it does so by itself.
	Finish func(registry.Ticket)

	// Line is between provider and service. The first request of Submit must be the one that begins the run.
	Line *Line
	// OwnEngines says that the service is no account of ours but engines, of which another takes over when one
	// refuses: how it refuses is for tests of its own.
	OwnEngines bool
	// Secret is the account's key, which must appear in no error.
	Secret string
	// Restart gives a provider that knows nothing of what was before.
	Restart func() registry.Submitter

	// What the service can be made to report of a run: that it is at work, that it failed, a word that nobody
	// knows, success without a result, and success with a result that has expired.
	Work, Fail, Puzzle, Hollow, Expire func(registry.Ticket)
	// Report is an authentic webhook about a run; for a registry.CallbackVerifier.
	Report func(registry.Ticket) registry.CallbackRequest
}

// Jobs are those of a simulator of a service, by their ids; see upstreamtest.Jobs.
type Jobs interface {
	Jobs() []string
	Work(id string)
	Finish(id string)
	Puzzle(id string)
	Hollow(id string)
	Expire(id string)
}

// Of is the setup with what the simulator of its service does, and with calls like an example.
func (s SubmitterSetup) Of(jobs Jobs, example registry.Call) SubmitterSetup {
	of := func(do func(id string)) func(registry.Ticket) {
		return func(ticket registry.Ticket) { do(ticket.ProviderID) }
	}
	s.Work, s.Finish, s.Puzzle, s.Hollow, s.Expire = of(jobs.Work), of(jobs.Finish), of(jobs.Puzzle), of(jobs.Hollow), of(jobs.Expire)
	s.Received = func() int { return len(jobs.Jobs()) }
	n := 0
	s.Call = func() registry.Call {
		n++
		example.RunID, example.Handle = "run-"+strconv.Itoa(n), "handle-"+strconv.Itoa(n)
		return example
	}
	return s
}

// TestSubmitter is what every Submitter must pass, with what the optional extras it has promise. setup
// is called for each part.
func TestSubmitter(t *testing.T, setup func(t *testing.T) SubmitterSetup) {
	t.Helper()
	part := func(name string, test func(*testing.T, SubmitterSetup)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t))
		})
	}
	part("a run is submitted and ends with the outputs that were declared", succeeds)
	part("submitting a run again does not run it twice", submitsOnce)
	part("an unknown run is lost", losesStrangers)
	part("a context that has ended stops everything", honoursContext)
	part("cancelling may be repeated and concerns unknown runs too", cancels)
	part("watching ends with the run", watches)
	part("many at once are as many runs", submitsMany)
	part("A82 a ticket finds its run after a restart", survivesRestart)
	part("progress is real or not there", reportsProgress)
	part("a failed run says so in words for people", reportsFailure)
	part("a status that nobody knows means that the run goes on", reportsPuzzle)
	part("A11 success without a result is none", reportsHollow)
	part("a result that has expired is an error of the fetch", reportsExpired)
	part("a price is named without running anything", func(t *testing.T, s SubmitterSetup) {
		namesPrice(t, s.Submitter, s.Call(), s.Received)
	})
	part("a callback is believed when it is authentic", verifies)
	for _, trouble := range refusals() {
		part("refused: "+trouble.name, func(t *testing.T, s SubmitterSetup) { refused(t, s, trouble) })
	}
	for name, fault := range lostAnswers() {
		part("an answer lost by "+name+" makes no second run", func(t *testing.T, s SubmitterSetup) { loses(t, s, fault) })
	}
	for name, fault := range passing() {
		part("asking after a run outlives "+name, func(t *testing.T, s SubmitterSetup) { outlives(t, s, fault) })
	}
	part("a service that does not answer is left when the time is over", func(t *testing.T, s SubmitterSetup) {
		ticket := submit(t, s, s.Call())
		leaves(t, s.Line, func(ctx context.Context) error {
			_, err := s.Submitter.Poll(ctx, ticket)
			return err
		})
	})
	part("the id of a run that nobody wants any more is waited for", waitsForID)
	part("no error shows the key", func(t *testing.T, s SubmitterSetup) {
		hides(t, s.Line, s.Secret, func() error {
			_, err := s.Submitter.Submit(t.Context(), s.Call())
			return err
		})
	})
}

func submit(t *testing.T, s SubmitterSetup, c registry.Call) registry.Ticket {
	t.Helper()
	ticket, err := s.Submitter.Submit(t.Context(), c)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	return ticket
}

func (s SubmitterSetup) finish(ticket registry.Ticket) {
	if s.Finish != nil {
		s.Finish(ticket)
	}
}

func succeeds(t *testing.T, s SubmitterSetup) {
	c := s.Call()
	ticket := submit(t, s, c)
	if ticket.RunID != c.RunID || ticket.Service == "" || ticket.ProviderID == "" {
		t.Errorf("the ticket %+v does not tell run, service and provider's id", ticket)
	}
	s.finish(ticket)
	progress := awaitEnd(t, s.Submitter, ticket)
	if progress.State != registry.RunSucceeded || progress.Result == nil {
		t.Fatalf("ended as %+v", progress)
	}
	wantOutputs(t, c.Tool, progress.Result.Outputs)
	wantUsage(t, c.Tool, progress.Result.Usage)
}

func submitsOnce(t *testing.T, s SubmitterSetup) {
	c := s.Call()
	before := s.Received()
	first := submit(t, s, c)
	c.Repeated = true
	second, err := s.Submitter.Submit(t.Context(), c)
	if failure := registry.AsError(err); failure != nil && (failure.Code != registry.CodeLost || failure.Retryable) {
		t.Errorf("the second time gives %v; expected the same run or, where it can't be found, %s for good", err, registry.CodeLost)
	}
	if err == nil && first.ProviderID != second.ProviderID || s.Received() != before+1 {
		t.Errorf("tickets %s and %s; the provider has %d runs more", first.ProviderID, second.ProviderID, s.Received()-before)
	}
}

func losesStrangers(t *testing.T, s SubmitterSetup) {
	ticket := submit(t, s, s.Call())
	ticket.ProviderID = nobody
	if _, err := s.Submitter.Poll(t.Context(), ticket); err == nil || registry.AsError(err).Code != registry.CodeLost {
		t.Errorf("got %v, want code %s", err, registry.CodeLost)
	}
}

func honoursContext(t *testing.T, s SubmitterSetup) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := s.Received()
	if _, err := s.Submitter.Submit(ctx, s.Call()); err == nil || s.Received() != before {
		t.Errorf("submit gives %v, and %d runs", err, s.Received()-before)
	}
}

// waitsForID lets a context end while the request that begins a run is under way.
func waitsForID(t *testing.T, s SubmitterSetup) {
	if s.Line == nil {
		t.Log("nothing is between it and its service")
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Line.Next(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		cancel()
		return next.RoundTrip(r)
	})
	ticket, err := s.Submitter.Submit(ctx, s.Call())
	if err != nil || ticket.ProviderID == "" {
		t.Errorf("submit gives %+v, %v", ticket, err)
	}
	met(t, s.Line)
}

func cancels(t *testing.T, s SubmitterSetup) {
	canceler, ok := s.Submitter.(registry.Canceler)
	if !ok {
		t.Log("it cannot cancel")
		return
	}
	ticket := submit(t, s, s.Call())
	for i := range 2 {
		if err := canceler.Cancel(t.Context(), ticket); err != nil {
			t.Errorf("cancel %d: %v", i+1, err)
		}
	}
	ticket.ProviderID = nobody
	if err := canceler.Cancel(t.Context(), ticket); err != nil {
		t.Errorf("cancel an unknown run: %v", err)
	}
}

func watches(t *testing.T, s SubmitterSetup) {
	watcher, ok := s.Submitter.(registry.Progresser)
	if !ok {
		t.Log("it cannot be watched")
		return
	}
	ticket := submit(t, s, s.Call())
	ctx, cancel := context.WithTimeout(t.Context(), conformancePatience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- watcher.Watch(ctx, ticket, func(registry.Progress) {}) }()
	s.finish(ticket)
	if err := <-ended; err != nil {
		t.Errorf("watch: %v", err)
	}
	if p := awaitEnd(t, s.Submitter, ticket); p.State != registry.RunSucceeded {
		t.Errorf("ended as %+v", p)
	}
}

func submitsMany(t *testing.T, s SubmitterSetup) {
	const many = 6
	before := s.Received()
	calls := make([]registry.Call, many)
	for i := range calls {
		calls[i] = s.Call()
	}
	var all sync.WaitGroup
	var ids sync.Map
	for _, c := range calls {
		all.Go(func() {
			ticket, err := s.Submitter.Submit(t.Context(), c)
			if _, taken := ids.LoadOrStore(ticket.ProviderID, true); err != nil || taken || ticket.RunID != c.RunID {
				t.Errorf("run %s: ticket %+v (taken %v), %v", c.RunID, ticket, taken, err)
			}
		})
	}
	all.Wait()
	if got := s.Received() - before; got != many {
		t.Errorf("the provider has %d runs more, expected %d", got, many)
	}
}

func survivesRestart(t *testing.T, s SubmitterSetup) {
	ticket := submit(t, s, s.Call())
	raw, err := json.Marshal(ticket)
	if err != nil {
		t.Fatal(err)
	}
	var kept registry.Ticket
	if err := json.Unmarshal(raw, &kept); err != nil {
		t.Fatal(err)
	}
	s.finish(ticket)
	later := s.Submitter
	if s.Restart != nil {
		later = s.Restart()
	}
	if p := awaitEnd(t, later, kept); p.State != registry.RunSucceeded || p.Result == nil || len(p.Result.Outputs) == 0 {
		t.Errorf("ended as %+v", p)
	}
}

// after gives a run's state once the service was made to report something, unless it can't be.
func after(t *testing.T, s SubmitterSetup, report func(registry.Ticket)) (registry.Progress, bool) {
	t.Helper()
	if report == nil {
		t.Log("it can't be made to report this")
		return registry.Progress{}, false
	}
	ticket := submit(t, s, s.Call())
	report(ticket)
	p, err := s.Submitter.Poll(t.Context(), ticket)
	if err != nil {
		t.Fatalf("poll: %v", err)
	}
	return p, true
}

func reportsProgress(t *testing.T, s SubmitterSetup) {
	p, ok := after(t, s, s.Work)
	if ok && (p.State != registry.RunRunning || p.Unknown != "" || p.Fraction < 0 || p.Fraction > 1 || !p.HasFraction && p.Fraction != 0) {
		t.Errorf("got %+v, expected a run at work", p)
	}
}

func reportsFailure(t *testing.T, s SubmitterSetup) {
	if p, ok := after(t, s, s.Fail); ok {
		if p.State != registry.RunFailed || p.Err == nil {
			t.Fatalf("got %+v, expected a failure", p)
		}
		wantSafe(t, p.Err, s.Secret)
	}
}

func reportsPuzzle(t *testing.T, s SubmitterSetup) {
	if p, ok := after(t, s, s.Puzzle); ok && (p.State != registry.RunRunning || p.Unknown == "") {
		t.Errorf("got %+v, expected a run that goes on, with the service's word", p)
	}
}

func reportsHollow(t *testing.T, s SubmitterSetup) {
	p, ok := after(t, s, s.Hollow)
	if ok && p.State == registry.RunSucceeded && p.Result != nil && len(p.Result.Outputs) > 0 {
		t.Errorf("got %d outputs out of nothing", len(p.Result.Outputs))
	}
	if ok && p.State == registry.RunFailed && (p.Err == nil || p.Err.Code != registry.CodeBadOutput) {
		t.Errorf("got %v, expected %s", p.Err, registry.CodeBadOutput)
	}
}

func reportsExpired(t *testing.T, s SubmitterSetup) {
	p, ok := after(t, s, s.Expire)
	if !ok {
		return
	}
	if p.State != registry.RunSucceeded || p.Result == nil || len(p.Result.Outputs) == 0 || p.Result.Outputs[0].Open == nil {
		t.Fatalf("got %+v, expected a result to fetch", p)
	}
	content, err := p.Result.Outputs[0].Open(t.Context())
	if err == nil {
		_ = content.Close()
		t.Fatal("it can be fetched")
	}
	wantSafe(t, registry.AsError(err), s.Secret)
}

func verifies(t *testing.T, s SubmitterSetup) {
	verifier, ok := s.Submitter.(registry.CallbackVerifier)
	if !ok || s.Report == nil {
		t.Log("its service signs nothing")
		return
	}
	ticket := submit(t, s, s.Call())
	got, err := verifier.VerifyCallback(t.Context(), s.Report(ticket))
	if err != nil || got.ProviderID != ticket.ProviderID {
		t.Errorf("an authentic one gives %+v, %v", got, err)
	}
	for name, forge := range map[string]func(*registry.CallbackRequest){
		"301 s old":         func(r *registry.CallbackRequest) { r.At = r.At.Add(301 * time.Second) },
		"301 s early":       func(r *registry.CallbackRequest) { r.At = r.At.Add(-301 * time.Second) },
		"of another path":   func(r *registry.CallbackRequest) { r.Path += "x" },
		"without signature": func(r *registry.CallbackRequest) { r.Header = http.Header{"Date": r.Header["Date"]} },
		"without content":   func(r *registry.CallbackRequest) { r.Body = nil },
	} {
		r := s.Report(ticket)
		forge(&r)
		if got, err := verifier.VerifyCallback(t.Context(), r); err == nil {
			t.Errorf("one %s is believed: %+v", name, got)
		}
	}
}

func awaitEnd(t *testing.T, s registry.Submitter, ticket registry.Ticket) registry.Progress {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), conformancePatience)
	defer cancel()
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for {
		progress, err := s.Poll(ctx, ticket)
		var failure *registry.Error
		if err != nil && (!errors.As(err, &failure) || !failure.Retryable) {
			t.Fatalf("poll: %v", err)
		}
		if err == nil && progress.State.Terminal() {
			return progress
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			t.Fatalf("the run does not end; it is %+v", progress)
		}
	}
}

func wantOutputs(t *testing.T, tool registry.Tool, outputs []registry.Output) {
	t.Helper()
	given := make(map[string]bool)
	for i, o := range outputs {
		given[o.Name] = true
		if o.Type == "text" {
			continue
		}
		if o.Open == nil {
			t.Errorf("output %s (%s) cannot be opened", o.Name, strconv.Itoa(i))
			continue
		}
		content, err := o.Open(t.Context())
		if err != nil {
			t.Errorf("open output %s: %v", o.Name, err)
			continue
		}
		_ = content.Close()
	}
	for _, declared := range tool.OutputSchema {
		if !given[declared.Name] {
			t.Errorf("A11 the declared output %s is missing", declared.Name)
		}
	}
}
