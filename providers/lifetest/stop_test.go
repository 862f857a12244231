package lifetest

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// TestStops cancels runs at every service that works for a while. What goes on there costs the operator money.
func TestStops(t *testing.T) {
	t.Parallel()
	for name, open := range subjects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t).in(t, often)
			for when, fault := range map[string]func(cancel func()) upstreamtest.Fault{
				named: upstreamtest.Hold,
				"while the answer to the request that begins it gets lost": loseAfter,
			} {
				t.Run("a cancel "+when, func(t *testing.T) {
					before, accepted := len(s.jobs.Jobs()), make(chan runs.Run, 1)
					s.jobs.Fail(s.atBeginning(fault(func() { s.cancel(t, <-accepted) })))
					run := s.accept(t, prompt)
					accepted <- run
					s.ends(t, run, registry.CodeCanceled, 0)
					id := s.jobs.Jobs()[before]
					told := ""
					clocktest.Until(t, "the job is stopped, or the operator told", func() bool {
						told = s.unstopped(t, run)
						return s.jobs.Stopped(id) || told != ""
					})
					want := id // what the operator is told of a job that goes on
					if when != named {
						want = "?"
					}
					if goesOn := !s.jobs.Stopped(id); goesOn && (told != want || when == named && s.cancels()) {
						t.Errorf("it goes on, and the operator is told of %q", told)
					}
				})
			}
			t.Run("a cancel once it runs", func(t *testing.T) {
				j := s.begin(t)
				s.cancel(t, j.run)
				clocktest.Until(t, "the job is stopped, or the operator told its id", func() bool { return s.jobs.Stopped(j.id) || s.unstopped(t, j.run) == j.id })
				if s.cancels() && !s.jobs.Stopped(j.id) {
					t.Error("it goes on")
				}
			})
			balanced(t, s.house)
		})
	}
}

// named is when a cancel comes before the service has told the job's id, which it then does.
const named = "while the request that begins it is answered"

// cancels reports whether the service can stop a job.
func (s *subject) cancels() bool {
	_, ok := runs.Extra[registry.Canceler](s.provider)
	return ok
}

// atBeginning lets the request that begins the next job meet a fault: what is still asked about the one before does not.
func (s *subject) atBeginning(fault upstreamtest.Fault) upstreamtest.Fault {
	before := len(s.jobs.Jobs())
	var met upstreamtest.Fault
	met = func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		again := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			maps.Copy(w.Header(), answer.Header())
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes()) // who went away needs none
		})
		if len(s.jobs.Jobs()) == before {
			s.jobs.Fail(met)
			again(w, r)
			return
		}
		fault(w, r, again)
	}
	return met
}

// loseAfter lets a request have its effect, does something and breaks the line.
func loseAfter(do func()) upstreamtest.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		upstreamtest.Hold(do)(httptest.NewRecorder(), r, next)
		upstreamtest.Cut(w, r, next)
	}
}

func (h *house) cancel(t *testing.T, run runs.Run) {
	t.Helper()
	if now, err := h.runs.Cancel(t.Context(), run.ID, run.AccountID); err != nil || now.Status != runs.StatusCanceled {
		t.Errorf("it is %s, %v", now.Status, err)
	}
}

// unstopped is what the operator is told of a run that goes on at its service: its id there, "?" where that is not known, or
// nothing.
func (h *house) unstopped(t *testing.T, run runs.Run) string {
	t.Helper()
	list, err := h.runs.Unstopped(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range list {
		if u.RunID == run.ID {
			return cmp.Or(u.ProviderID, "?")
		}
	}
	return ""
}
