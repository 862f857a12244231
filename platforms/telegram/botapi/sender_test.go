package botapi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

// journal notes what was sent and when, in seconds since its start.
type journal struct {
	mu    sync.Mutex
	start time.Time
	lines []string
	times []float64
}

func newJournal() *journal { return &journal{start: time.Now()} }

func (j *journal) note(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, text)
	j.times = append(j.times, time.Since(j.start).Seconds())
}

// job sends text; errs are returned by its first attempts.
func (j *journal) job(chat int64, text string, errs ...error) Job {
	return Job{ChatID: chat, Run: func(context.Context) error {
		j.note(text)
		if len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}}
}

// most is how many messages of a text, or of any, were sent within some seconds.
func most(j *journal, text string, seconds float64) (n int) {
	var at []float64
	for i, line := range j.lines {
		if text == "" || line == text {
			at = append(at, j.times[i])
		}
	}
	for i := range at {
		k := i
		for k < len(at) && at[k]-at[i] < seconds {
			k++
		}
		n = max(n, k-i)
	}
	return n
}

func newTestSender() *Sender {
	return NewSender(clock.System{}, DefaultLimits(), func() float64 { return 0.5 })
}

// inBubble runs a test on synthetic time.
func inBubble(t *testing.T, name string, f func(t *testing.T, s *Sender, j *journal)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { f(t, newTestSender(), newJournal()) })
	})
}

func TestSender(t *testing.T) {
	t.Parallel()
	inBubble(t, "processes that share a bot keep to its rates together", func(t *testing.T, s *Sender, j *journal) {
		other := newTestSender()
		for _, one := range []*Sender{s, other} {
			one.ShareOut(28)
		}
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() { _ = []*Sender{s, other}[i%2].Do(t.Context(), j.job(-1, "to a group")) })
		}
		for i := range 60 {
			wg.Go(func() { _ = []*Sender{s, other}[i%2].Do(t.Context(), j.job(int64(i+1), "to anybody")) })
		}
		time.Sleep(2 * time.Second)
		if len(j.times) > 0 {
			t.Errorf("%d were sent without a share", len(j.times))
		}
		s.Hold(14)
		other.Hold(14)
		wg.Wait()
		if most := most(j, "", 1); most > 28 {
			t.Errorf("%d messages within a second", most)
		}
		if most := most(j, "to a group", 60); most > 20 {
			t.Errorf("%d messages to a group within a minute", most)
		}
		before := len(j.times)
		other.Hold(-14)
		s.Hold(14) // the other is gone
		time.Sleep(time.Minute)
		began := time.Now()
		for i := range 84 {
			wg.Go(func() { _ = s.Do(t.Context(), j.job(int64(i+1), "x")) })
		}
		wg.Wait()
		if took := time.Since(began); took > 4*time.Second || len(j.times) != before+84 {
			t.Errorf("who is alone took %v", took)
		}
	})
	inBubble(t, "a private chat gets a burst and then one a second", func(t *testing.T, s *Sender, j *journal) {
		for i := range 6 {
			if err := s.Do(t.Context(), j.job(1, fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		if j.times[2] > 0.01 || j.times[3] < 0.99 || j.times[5] < 2.99 || j.times[5] > 3.1 {
			t.Errorf("sent at %v", j.times)
		}
	})
	inBubble(t, "a group gets twenty in any minute, albums counted in full", func(t *testing.T, s *Sender, j *journal) {
		var sent []int
		for i := range 30 {
			job := j.job(-1, "x")
			if i%10 == 5 {
				job.Count = 10
			}
			if err := s.Do(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, max(1, job.Count))
		}
		for i := range j.times {
			inMinute := 0
			for k := i; k < len(j.times) && j.times[k]-j.times[i] < 60; k++ {
				inMinute += sent[k]
			}
			if inMinute > 20+9 { // an album goes out whole when its first picture may
				t.Errorf("%d messages within a minute", inMinute)
			}
		}
		if j.times[4] > 3 {
			t.Errorf("the first messages were held up: %v", j.times[:5])
		}
	})
	inBubble(t, "all chats together stay under the shared rate", func(t *testing.T, s *Sender, j *journal) {
		var wg sync.WaitGroup
		for chat := range 84 {
			wg.Go(func() { _ = s.Do(t.Context(), j.job(int64(chat+1), "x")) })
		}
		wg.Wait()
		if first, last := j.times[6], j.times[83]; first > 0.01 || last < 3.5 || last > 4 {
			t.Errorf("the seventh message went after %v s, the 84th after %v s", first, last)
		}
	})
	inBubble(t, "progress never waits, and yields to answers", func(t *testing.T, s *Sender, j *journal) {
		progress := func(text, key string) error {
			job := j.job(1, text)
			job.Class, job.Key = Progress, key
			return s.Do(t.Context(), job)
		}
		if err := progress("10%", "m1"); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Do(t.Context(), j.job(1, "burst")), s.Do(t.Context(), j.job(1, "burst"))
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Do(t.Context(), j.job(1, "answer")) })
		synctest.Wait()
		before := time.Now()
		var refused *Error
		if err := progress("20%", "m1"); !errors.As(err, &refused) || ReasonOf(err) != RateLimited || refused.RetryAfter <= 0 {
			t.Errorf("progress beyond the rate: %v", err)
		}
		if time.Since(before) > 0 {
			t.Error("progress waited")
		}
		wg.Wait()
		time.Sleep(refused.RetryAfter)
		if err := progress("30%", "m1"); err != nil {
			t.Errorf("after the wait it asked for: %v", err)
		}
		if got := fmt.Sprint(j.lines); got != "[10% burst burst answer 30%]" {
			t.Errorf("sent %s", got)
		}
	})
	inBubble(t, "a result waits for the progress under way on its message, and newer progress does not", func(t *testing.T, s *Sender, j *journal) {
		release := make(chan struct{})
		var wg sync.WaitGroup
		slow := Job{ChatID: 1, Class: Progress, Key: "m", Run: func(context.Context) error {
			<-release
			j.note("progress shown")
			return nil
		}}
		wg.Go(func() { _ = s.Do(t.Context(), slow) })
		synctest.Wait()
		result := j.job(1, "result")
		result.Key = "m"
		wg.Go(func() { _ = s.Do(t.Context(), result) })
		synctest.Wait()
		_ = s.Do(t.Context(), j.job(1, "unrelated"))
		if err := s.Do(t.Context(), slow); ReasonOf(err) != RateLimited {
			t.Errorf("progress beside progress about one message: %v", err)
		}
		close(release)
		wg.Wait()
		if got := fmt.Sprint(j.lines); got != "[unrelated progress shown result]" {
			t.Errorf("sent %s", got)
		}
	})
	inBubble(t, "a 429 is waited out for its chat only, and repeated", func(t *testing.T, s *Sender, j *journal) {
		limited := &Error{Code: 429, RetryAfter: 7 * time.Second}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := s.Do(t.Context(), j.job(1, "limited", limited)); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		_ = s.Do(t.Context(), j.job(2, "elsewhere"))
		wg.Wait()
		if fmt.Sprint(j.lines) != "[limited elsewhere limited]" || j.times[1] > 0.01 || j.times[2] < 7 {
			t.Errorf("%v at %v", j.lines, j.times)
		}
	})
	inBubble(t, "when several chats are limited everybody waits", func(t *testing.T, s *Sender, j *journal) {
		var wg sync.WaitGroup
		for chat := range 3 {
			wg.Go(func() {
				_ = s.Do(t.Context(), j.job(int64(chat+1), "x", &Error{Code: 429, RetryAfter: 5 * time.Second}))
			})
		}
		synctest.Wait()
		_ = s.Do(t.Context(), j.job(9, "elsewhere"))
		wg.Wait()
		if j.times[3] < 5 {
			t.Errorf("sent at %v", j.times)
		}
	})
	inBubble(t, "a wait beyond the deadline is refused at once", func(t *testing.T, s *Sender, j *journal) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err := s.Do(ctx, j.job(1, "limited", &Error{Code: 429, RetryAfter: 7 * time.Second}))
		if ReasonOf(err) != RateLimited || time.Since(j.start) > 0 {
			t.Errorf("%v after %v", err, time.Since(j.start))
		}
	})
	inBubble(t, "limited progress is dropped", func(t *testing.T, s *Sender, j *journal) {
		job := j.job(1, "50%", &Error{Code: 429, RetryAfter: time.Second})
		job.Class = Progress
		if err := s.Do(t.Context(), job); ReasonOf(err) != RateLimited || len(j.lines) != 1 {
			t.Errorf("%v after %v", err, j.lines)
		}
	})
	inBubble(t, "failures are repeated with growing pauses only where that is safe", func(t *testing.T, s *Sender, j *journal) {
		broken := &Error{Code: 502, Uncertain: true}
		refused := &Error{err: errors.New("connection refused")}
		for _, test := range []struct {
			name       string
			err        error
			repeatable bool
			want       int
		}{
			{"edit after 502", broken, true, 3},
			{"send after 502", broken, false, 1},
			{"send that never left", refused, false, 3},
			{"edit refused", &Error{Code: 400, Description: "Bad Request: message to edit not found"}, true, 1},
		} {
			before := len(j.lines)
			job := j.job(1, test.name, test.err, test.err)
			job.Repeatable = test.repeatable
			err := s.Do(t.Context(), job)
			if got := len(j.lines) - before; got != test.want {
				t.Errorf("%s: %d attempts, want %d", test.name, got, test.want)
			}
			if (err == nil) != (test.want == 3) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		endless := j.job(1, "endless", broken, broken, broken, broken, broken, broken)
		endless.Repeatable = true
		if err := s.Do(t.Context(), endless); ReasonOf(err) != Temporary {
			t.Errorf("endless: %v", err)
		}
	})
	inBubble(t, "an edit that changes nothing is a success", func(t *testing.T, s *Sender, j *journal) {
		if err := s.Do(t.Context(), j.job(1, "x", &Error{Code: 400, Description: "Bad Request: message is not modified: ..."})); err != nil {
			t.Error(err)
		}
	})
	inBubble(t, "a cancelled context leaves the queue", func(t *testing.T, s *Sender, j *journal) {
		for range 3 {
			_ = s.Do(t.Context(), j.job(1, "burst"))
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(50*time.Millisecond, cancel)
		if err := s.Do(ctx, j.job(1, "late")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := s.Do(t.Context(), j.job(1, "next")); err != nil || j.times[3] > 1.1 {
			t.Errorf("%v at %v", err, j.times)
		}
	})
	inBubble(t, "idle chats are forgotten", func(t *testing.T, s *Sender, j *journal) {
		for chat := range idleChats + 10 {
			if err := s.Do(t.Context(), j.job(int64(chat+1), "x")); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(s.chats); n > idleChats {
			t.Errorf("%d chats are kept", n)
		}
	})
}

func TestSenderAgainstFloodLimits(t *testing.T) {
	t.Parallel()
	clock := clocktest.NewManual(time.Unix(1_800_000_000, 0))
	w := newWorld(t, telegramtest.Options{FloodLimits: true, Clock: clock})
	sender := NewSender(clock, DefaultLimits(), func() float64 { return 0.5 })
	chats := []int64{w.Group("Makers", w.ann).ID(), w.chat.ID()}
	for range 20 {
		u := w.User("Somebody")
		u.Start("")
		chats = append(chats, u.ID())
	}
	done := make(chan error)
	var underWay atomic.Int32 // time stands still while a request is on its way
	for _, chat := range chats {
		messages := 6
		if chat < 0 {
			messages = 24
		}
		go func() {
			for range messages {
				err := sender.Do(t.Context(), Job{ChatID: chat, Run: func(ctx context.Context) error {
					underWay.Add(1)
					defer underWay.Add(-1)
					_, err := w.client.SendText(ctx, Text{SendOptions: SendOptions{Target: Target{ChatID: chat}}, Text: "x"})
					return err
				}})
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for left := len(chats); left > 0; {
		select {
		case err := <-done:
			if left--; err != nil {
				t.Error(err)
			}
		default:
			if clock.Waiting() > 0 && underWay.Load() == 0 {
				clock.Advance(100 * time.Millisecond)
			}
			runtime.Gosched()
		}
	}
	for _, call := range w.Calls("sendMessage") {
		if call.Code != 200 {
			t.Fatalf("the server refused with %d %s", call.Code, call.Description)
		}
	}
}
