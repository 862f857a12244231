package lifetest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

const (
	never = time.Hour             // between polls: only reports bring news
	often = 20 * time.Millisecond // between polls: they bring the news
)

// TestReports has every service that reports its jobs do so in each of the ways that a report can go, while nobody polls.
func TestReports(t *testing.T) {
	t.Parallel()
	for name, open := range subjects {
		if name == "tripo" || name == "comfyrouter" { // they send no reports
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t).in(t, never)
			for _, c := range reports {
				t.Run(c.name, func(t *testing.T) { c.run(t, s) })
			}
			balanced(t, s.house)
		})
	}
}

// balanced checks the books once all is over.
func balanced(t *testing.T, h *house) {
	t.Helper()
	report, err := h.ledger.Check(t.Context())
	if err != nil || !report.OK() || report.OpenHolds != 0 {
		t.Errorf("the books: %v %v", report, err)
	}
}

// reports are the ways of a report, in the order in which they are tried: a secret that was renewed stays so.
var reports = []struct {
	name string
	run  func(*testing.T, *subject)
}{
	{"W8 doubled", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		r := j.report(t)
		j.send(t, http.StatusOK, r, r, r)
		j.ends(t, "", s.price)
		j.send(t, http.StatusOK, r)
		j.ends(t, "", s.price)
	}},
	{"W13 in another order", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Work(j.id)
		early, reported := s.jobs.Report(j.id)
		early.At = s.clock.Now()
		s.jobs.Finish(j.id)
		j.send(t, http.StatusOK, j.report(t))
		if reported { // fal reports the end alone
			j.send(t, http.StatusOK, early)
		}
		j.ends(t, "", s.price)
	}},
	{"W4 delayed by almost five minutes", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		j.send(t, http.StatusOK, j.report(t).Aged(280*time.Second))
		j.ends(t, "", s.price)
	}},
	{"W6 forged, then genuine", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		r := j.report(t)
		j.send(t, http.StatusUnauthorized, r.Forged())
		j.goesOn(t)
		j.send(t, http.StatusOK, r)
		j.ends(t, "", s.price)
	}},
	{"W4 signed 301 seconds ago, and in the future", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		goOn := s.clock.stop() // seconds count
		if r := j.report(t); r.Sign != nil {
			j.send(t, http.StatusUnauthorized, r.Aged(301*time.Second), r.Aged(-302*time.Second)) // times have whole seconds
			j.goesOn(t)
		}
		goOn()
		j.send(t, http.StatusOK, j.report(t))
		j.ends(t, "", s.price)
	}},
	{"cut in half", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Work(j.id)
		s.jobs.Finish(j.id)
		want := http.StatusOK // the token is good: the service is asked
		if j.report(t).Sign != nil {
			want = http.StatusUnauthorized
		}
		j.send(t, want, j.report(t).Truncated())
		j.send(t, http.StatusOK, j.report(t))
		j.ends(t, "", s.price)
	}},
	{"W2 with other white space than was signed", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		if r := j.report(t); s.signsBody {
			j.send(t, http.StatusUnauthorized, r.Respaced())
			j.goesOn(t)
			j.send(t, http.StatusOK, r)
		} else {
			j.send(t, http.StatusOK, r.Respaced())
		}
		j.ends(t, "", s.price)
	}},
	{"written with much white space and unknown fields", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		j.send(t, http.StatusOK, j.report(t).Chatty().Spaced())
		j.ends(t, "", s.price)
	}},
	{"W1 larger than a megabyte", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		j.send(t, http.StatusRequestEntityTooLarge, j.report(t).Huge(1<<20))
		j.goesOn(t)
		j.send(t, http.StatusOK, j.report(t))
		j.ends(t, "", s.price)
	}},
	{"W14 faster than the reply to the request that made the job", func(t *testing.T, s *subject) {
		before := len(s.jobs.Jobs())
		s.jobs.Fail(upstreamtest.Hold(func() {
			id := s.jobs.Jobs()[before]
			s.jobs.Finish(id)
			report, _ := s.jobs.Report(id)
			report.At = s.clock.Now()
			if got, err := report.Send(t.Context()); err != nil || got != http.StatusOK {
				t.Errorf("the report was answered %d, %v", got, err)
			}
		}))
		s.begin(t).ends(t, "", s.price)
	}},
	{"W15 in a word that nobody knows", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Puzzle(j.id)
		if report, ok := s.jobs.Report(j.id); ok {
			report.At = s.clock.Now()
			j.send(t, http.StatusOK, report)
		}
		j.goesOn(t)
		s.jobs.Finish(j.id)
		j.send(t, http.StatusOK, j.report(t))
		j.ends(t, "", s.price)
	}},
	{"A11 of success without any output", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Hollow(j.id)
		j.send(t, http.StatusOK, j.report(t))
		j.ends(t, registry.CodeBadOutput, 0)
	}},
	{"W19 a thousand times at once", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		var answers sync.Map
		var all sync.WaitGroup
		r, line := j.report(t), make(chan struct{}, 50)
		for range 1000 {
			all.Go(func() {
				line <- struct{}{}
				defer func() { <-line }()
				status, err := r.Send(t.Context())
				if answers.Store(status, true); err != nil || !slices.Contains([]int{http.StatusOK, http.StatusTooManyRequests, http.StatusServiceUnavailable}, status) {
					t.Errorf("answered %d, %v", status, err)
				}
			})
		}
		all.Wait()
		if _, some := answers.Load(http.StatusOK); !some {
			t.Error("none was taken")
		}
		j.ends(t, "", s.price)
		s.clock.ahead.Add(int64(10 * time.Second)) // there is room again
	}},
	{"W5 with a secret that was renewed", func(t *testing.T, s *subject) {
		j := s.begin(t)
		s.jobs.Finish(j.id)
		old := j.report(t)
		if s.renew != nil {
			s.renew()
			s.clock.ahead.Add(int64(61 * time.Second)) // it is asked for once a minute at most
		}
		fresh := j.report(t)
		j.send(t, http.StatusOK, fresh)
		j.ends(t, "", s.price)
		if s.renew != nil {
			j.send(t, http.StatusUnauthorized, old)
		}
	}},
}

// TestAnswers has every service that works for a while answer in each of the ways in which an answer can go wrong, while no
// report arrives.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, open := range subjects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t).in(t, often)
			for name, fault := range map[string]upstreamtest.Fault{
				"that leads elsewhere": upstreamtest.Redirect("http://127.0.0.1:1/"), "cut in half": upstreamtest.Truncate, "lost": upstreamtest.LoseAnswer, "that is very large": upstreamtest.Huge(s.large),
				"with much white space": upstreamtest.Spaced, "with unknown fields": upstreamtest.Chatty, "of a service that is down": upstreamtest.Answer(http.StatusServiceUnavailable, "{}"),
			} {
				t.Run("an answer "+name, func(t *testing.T) {
					j := s.begin(t)
					s.jobs.Fail(fault) // before anybody can see the end
					s.jobs.Finish(j.id)
					j.ends(t, "", s.price)
				})
			}
			t.Run("W17 no report at all", func(t *testing.T) {
				j := s.begin(t)
				s.jobs.Work(j.id)
				s.jobs.Finish(j.id)
				j.ends(t, "", s.price)
			})
			t.Run("a job that the service forgets fails, or is begun once more and told of, and costs nothing", func(t *testing.T) {
				j := s.begin(t)
				s.jobs.Forget(j.id)
				j.forgetsAgain(t)
				j.house.ends(t, j.run, registry.CodeLost, 0)
			})
			t.Run("W15 a word that nobody knows is no end", func(t *testing.T) {
				j := s.begin(t)
				states, stop := s.runs.Subscribe(j.run.ID)
				defer stop()
				s.jobs.Puzzle(j.id)
				for now := range states {
					if now.Status == runs.StatusRunning { // it has been seen
						break
					}
				}
				s.jobs.Finish(j.id)
				j.ends(t, "", s.price)
			})
			t.Run("A11 success without any output is none, and costs nothing", func(t *testing.T) {
				j := s.begin(t)
				s.jobs.Hollow(j.id)
				j.ends(t, registry.CodeBadOutput, 0)
			})
			t.Run("an output whose address has expired costs nothing", func(t *testing.T) {
				j := s.begin(t)
				s.jobs.Expire(j.id)
				j.ends(t, registry.CodeProvider, 0)
			})
			t.Run("A27 where the service does not say what it cost, the tool's own rate counts", func(t *testing.T) {
				j := s.begin(t)
				s.jobs.Uncounted(j.id)
				j.ends(t, "", min(s.unsaid, j.run.Quote.High)) // what was promised is never exceeded
			})
			balanced(t, s.house)
		})
	}
}

// TestSlowAnswers has every service that works for a while take its time, in a bubble where no time passes.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	for name, open := range subjects {
		for _, wait := range []time.Duration{11 * time.Second, 16 * time.Second, 31 * time.Second} {
			t.Run(name+" answers after "+wait.String(), func(t *testing.T) {
				t.Parallel()
				s := open(t)
				synctest.Test(t, func(t *testing.T) { s.isSlow(t, wait) })
			})
		}
	}
}

// patience is what runs has with one poll.
const patience = 30 * time.Second

// isSlow polls a job that is over while the service takes its time: an answer in time is the end of the job, and one that
// comes later a failure that passes.
func (s *subject) isSlow(t *testing.T, wait time.Duration) {
	t.Helper()
	made, err := s.open(s.direct(), time.Now, &runstest.Assets{})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := made.loader.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	provider := made.provider.Submitter
	ticket, err := provider.Submit(t.Context(), registry.Call{RunID: "run-1", Handle: "handle-1", Tool: tools[0], Inputs: bound(tools[0], prompt)})
	if err != nil {
		t.Fatal(err)
	}
	s.jobs.Finish(s.jobs.Jobs()[0])
	s.jobs.Fail(upstreamtest.Late(wait))
	began := time.Now()
	asking, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	progress, err := provider.Poll(asking, ticket)
	if took := time.Since(began); took != min(wait, patience) {
		t.Errorf("it waited %s", took)
	}
	if (err != nil) != (wait > patience) || err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("after %s: %v", wait, err)
	}
	if err != nil {
		progress, err = provider.Poll(t.Context(), ticket)
	}
	if err != nil || progress.State != registry.RunSucceeded {
		t.Errorf("it is %+v, %v", progress, err)
	}
}
