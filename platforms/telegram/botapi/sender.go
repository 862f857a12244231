package botapi

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/clock"
)

// Limits are the rates a Sender keeps to. The service publishes no exact numbers; these are what its
// documentation recommends.
type Limits struct {
	// Global is messages a second over all chats, Chat messages a second in one chat with ChatBurst at
	// once, Group messages a minute in one group.
	Global    float64
	Chat      float64
	ChatBurst int
	Group     float64
}

// DefaultLimits are the documented rates, a little below where refusals begin.
func DefaultLimits() Limits { return Limits{Global: 28, Chat: 1, ChatBurst: 3, Group: 20} }

// Class says how urgent a message is.
type Class int

// The classes, the more urgent first.
const (
	// Answer is something a person waits for: it is never dropped.
	Answer Class = iota
	// Progress is worth showing only while it is true: it never waits.
	Progress
)

// Job is one message or edit to send.
type Job struct {
	ChatID int64
	Class  Class
	// Key names the message the job is about. Jobs with one key run one after the other, so that what is
	// shown last is what was asked for last.
	Key string
	// Count is how many messages the service counts, for albums; 0 means one.
	Count int
	// Repeatable says that doing it twice shows it once, as with edits. Only such jobs are repeated when
	// it is uncertain whether the service carried them out.
	Repeatable bool
	// Run makes the call.
	Run func(ctx context.Context) error
}

const (
	MaxAttempts   = 5 // of a job
	firstPause    = 500 * time.Millisecond
	longestPause  = 30 * time.Second
	manyChats     = 3               // so many chats limited within manyWindow: the whole bot is
	manyWindow    = 5 * time.Second //
	globalReserve = 5               // tokens of the shared bucket that progress leaves to answers
	groupReserve  = 2               // likewise of a group's
	idleChats     = 4096            // above this many chats the idle ones are forgotten
	sharedOutIn   = time.Second     // how often who has no share of the rates looks again
)

// Sender runs jobs within the service's rates: answers in the order they came, with 429 waited out and
// failures repeated where that is safe; progress when it need not wait. Its goroutines are its callers';
// there is nothing to stop. It is safe for concurrent use.
type Sender struct {
	clock  clock.Clock
	limits Limits
	jitter func() float64

	mu      sync.Mutex
	shares  int // that the rates are divided into
	held    int // of them, by this process
	global  *rate.Limiter
	blocked time.Time // nobody sends before
	limited map[int64]time.Time
	chats   map[int64]*chatQueue
}

// chatQueue is one chat: its rate, its punishment and who waits.
type chatQueue struct {
	rate    *rate.Limiter
	group   *rate.Limiter // nil in private chats
	blocked time.Time
	waiting []*waiter
	running map[string]bool // keys of jobs under way
	changed chan struct{}   // closed and replaced when the queue or the punishment changes
}

// waiter is a waiting job.
type waiter struct {
	job *Job
}

// NewSender makes a Sender. jitter returns numbers in [0, 1) that spread repeats.
func NewSender(clock clock.Clock, limits Limits, jitter func() float64) *Sender {
	return &Sender{
		clock: clock, limits: limits, jitter: jitter, chats: map[int64]*chatQueue{}, limited: map[int64]time.Time{},
		shares: 1, held: 1, global: rate.NewLimiter(bucket(limits.Global, time.Second)),
	}
}

// bucket is the rate and burst of a limiter that never lets more than count through in any window: a quarter at once, the
// rest spread over it.
func bucket(count float64, window time.Duration) (rate.Limit, int) {
	burst := max(1, int(count/4))
	return rate.Limit(max(count-float64(burst), count/2) / window.Seconds()), burst
}

// ShareOut divides the rates into shares, which processes that send for one bot hold; this one has none yet, and sends nothing.
func (s *Sender) ShareOut(shares int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares, s.held = shares, 0
}

// Hold gives this process more shares of the rates, or takes some from it.
func (s *Sender) Hold(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += change
	now := s.clock.Now()
	adjust := func(l *rate.Limiter, limit rate.Limit, burst int) {
		l.SetLimitAt(now, limit)
		l.SetBurstAt(now, burst)
	}
	limit, burst := bucket(s.part(s.limits.Global), time.Second)
	adjust(s.global, limit, burst)
	for _, l := range s.chats {
		limit, burst := s.chat()
		adjust(l.rate, limit, burst)
		if l.group != nil {
			limit, burst := bucket(s.part(s.limits.Group), time.Minute)
			adjust(l.group, limit, burst)
		}
		l.signal()
	}
}

// part is what this process may send of a count. It needs s.mu.
func (s *Sender) part(count float64) float64 { return count * float64(s.held) / float64(s.shares) }

// chat is the rate and burst of a chat. It needs s.mu.
func (s *Sender) chat() (rate.Limit, int) {
	return rate.Limit(s.part(s.limits.Chat)), max(1, int(math.Ceil(s.part(float64(s.limits.ChatBurst)))))
}

// Do waits for the job's turn, runs it, and repeats it as far as that helps and is safe. It returns nil, the
// context's error, or the last error of the call; NotModified counts as success. A job whose wait does not
// fit the context's deadline, and progress that would have to wait at all, is refused at once with a
// RateLimited error that says how long the wait would be.
func (s *Sender) Do(ctx context.Context, job Job) error {
	job.Count = max(1, job.Count)
	for attempt := 1; ; attempt++ {
		if err := s.turn(ctx, &job); err != nil {
			return err
		}
		err := job.Run(ctx)
		s.finished(&job)
		switch ReasonOf(err) {
		case NotModified:
			return nil
		case RateLimited:
			wait := s.punish(job.ChatID, err)
			if job.Class == Progress || !Fits(ctx, wait) {
				return err
			}
			attempt-- // a wait, not a failure
			continue
		case Temporary:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !mayRepeat(&job, err) || attempt == MaxAttempts {
				return err
			}
		default:
			return err
		}
		select {
		case <-s.clock.After(s.Pause(attempt)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mayRepeat tells whether repeating cannot show a message twice.
func mayRepeat(job *Job, err error) bool {
	var e *Error
	return job.Class == Answer && (job.Repeatable || errors.As(err, &e) && !e.Uncertain)
}

// Pause grows with each attempt and is spread over half its length.
func (s *Sender) Pause(attempt int) time.Duration {
	d := min(firstPause<<(attempt-1), longestPause)
	return d/2 + time.Duration(s.jitter()*float64(d))
}

// Fits tells whether a wait ends before the context does.
func Fits(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > wait
}

// BlockedFor is how long a chat must be left alone after a 429.
func (s *Sender) BlockedFor(chatID int64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	return max(s.queueOf(chatID).blocked.Sub(now), s.blocked.Sub(now), 0)
}

// TooSoon refuses a job that would have to wait.
func TooSoon(wait time.Duration) error {
	return &Error{Method: "sender", Description: "the rate of messages does not allow it yet", RetryAfter: wait}
}

// punish remembers a 429 and returns the wait it asks for. When several chats get one, it is the whole bot
// that is too fast.
func (s *Sender) punish(chatID int64, err error) time.Duration {
	wait := time.Second
	var e *Error
	if errors.As(err, &e) {
		wait = max(wait, e.RetryAfter)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	until := now.Add(wait)
	l := s.queueOf(chatID)
	l.blocked = later(l.blocked, until)
	s.limited[chatID] = now
	for id, at := range s.limited {
		if now.Sub(at) > manyWindow {
			delete(s.limited, id)
		}
	}
	if len(s.limited) >= manyChats {
		s.blocked = later(s.blocked, until)
	}
	l.signal()
	return wait
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// queueOf finds or makes the queue of a chat; it needs s.mu.
func (s *Sender) queueOf(chatID int64) *chatQueue {
	if l, ok := s.chats[chatID]; ok {
		return l
	}
	s.forgetIdle()
	l := &chatQueue{rate: rate.NewLimiter(s.chat()), running: map[string]bool{}, changed: make(chan struct{})}
	if chatID < 0 {
		l.group = rate.NewLimiter(bucket(s.part(s.limits.Group), time.Minute))
	}
	s.chats[chatID] = l
	return l
}

// forgetIdle drops chats that nobody waits for and whose rates have recovered.
func (s *Sender) forgetIdle() {
	if len(s.chats) < idleChats {
		return
	}
	now := s.clock.Now()
	for id, l := range s.chats {
		rested := len(l.running) == 0 && l.rate.TokensAt(now) >= float64(l.rate.Burst()) && (l.group == nil || l.group.TokensAt(now) >= float64(l.group.Burst()))
		if len(l.waiting) == 0 && rested && l.blocked.Before(now) {
			delete(s.chats, id)
		}
	}
}

func (l *chatQueue) signal() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// enter puts a job at the end of the queue.
func (l *chatQueue) enter(t *waiter) {
	l.waiting = append(l.waiting, t)
	l.signal()
}

func (l *chatQueue) leave(t *waiter) {
	l.waiting = slices.DeleteFunc(l.waiting, func(x *waiter) bool { return x == t })
	l.signal()
}

// next is the first job that no running job holds up.
func (l *chatQueue) next() *waiter {
	for _, t := range l.waiting {
		if !l.running[t.job.Key] {
			return t
		}
	}
	return nil
}

// finished lets the next job with the same key run.
func (s *Sender) finished(job *Job) {
	if job.Key == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.queueOf(job.ChatID)
	delete(l.running, job.Key)
	l.signal()
}

// turn waits until the job may go and takes its share of the rates.
func (s *Sender) turn(ctx context.Context, job *Job) error {
	s.mu.Lock()
	l := s.queueOf(job.ChatID)
	if job.Class == Progress {
		defer s.mu.Unlock()
		return s.goNow(l, job)
	}
	t := &waiter{job: job}
	l.enter(t)
	s.mu.Unlock()
	for {
		s.mu.Lock()
		wait := time.Duration(-1) // until the queue moves
		if l.next() == t {
			if wait = s.ready(l, job); wait == 0 {
				s.take(l, job)
				l.leave(t)
				s.mu.Unlock()
				return nil
			}
		}
		changed := l.changed
		s.mu.Unlock()
		err := TooSoon(wait)
		if Fits(ctx, wait) {
			err = s.sleep(ctx, wait, changed)
		}
		if err != nil {
			s.mu.Lock()
			l.leave(t)
			s.mu.Unlock()
			return err
		}
	}
}

// goNow lets progress go if nobody else waits and the rates allow it. It needs s.mu.
func (s *Sender) goNow(l *chatQueue, job *Job) error {
	wait := s.ready(l, job)
	if wait == 0 && (len(l.waiting) > 0 || job.Key != "" && l.running[job.Key]) {
		wait = time.Duration(float64(time.Second) / s.limits.Chat)
	}
	if wait > 0 {
		return TooSoon(wait)
	}
	s.take(l, job)
	return nil
}

// sleep waits for the time, where there is one, for a change, or for the end of ctx.
func (s *Sender) sleep(ctx context.Context, wait time.Duration, changed <-chan struct{}) error {
	var timer <-chan time.Time
	if wait > 0 {
		timer = s.clock.After(wait)
	}
	select {
	case <-timer:
	case <-changed:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// ready returns how long the job must wait still; 0 is now. It needs s.mu.
func (s *Sender) ready(l *chatQueue, job *Job) time.Duration {
	if s.held == 0 {
		return sharedOutIn
	}
	now := s.clock.Now()
	wait := max(l.blocked.Sub(now), s.blocked.Sub(now), 0)
	reserve := func(n int) int {
		if job.Class == Progress {
			return n
		}
		return 0
	}
	wait = max(wait, untilTokens(l.rate, now, min(job.Count, l.rate.Burst())))
	wait = max(wait, untilTokens(s.global, now, min(job.Count+reserve(globalReserve), s.global.Burst())))
	if l.group != nil {
		wait = max(wait, untilTokens(l.group, now, min(job.Count+reserve(groupReserve), l.group.Burst())))
	}
	return wait
}

// untilTokens returns how long until the bucket holds n tokens.
func untilTokens(l *rate.Limiter, now time.Time, n int) time.Duration {
	lacking := float64(n) - l.TokensAt(now)
	if lacking <= 1e-6 {
		return 0
	}
	return max(time.Duration(lacking/float64(l.Limit())*float64(time.Second)), time.Millisecond)
}

// take uses up the job's share and marks it as running. An album larger than a bucket leaves it in debt.
func (s *Sender) take(l *chatQueue, job *Job) {
	if job.Key != "" {
		l.running[job.Key] = true
	}
	now := s.clock.Now()
	for _, b := range []*rate.Limiter{l.rate, s.global, l.group} {
		if b == nil {
			continue
		}
		for left := job.Count; left > 0; left -= b.Burst() {
			b.ReserveN(now, min(left, b.Burst()))
		}
	}
}
