package door

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/registry"
)

// limiter bounds how often each key may do something. Its zero value lets everything through.
type limiter struct {
	rate  rate.Limit // a second
	burst int
	now   func() time.Time

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// maxBuckets is from how many keys on the ones that have all their tokens are forgotten.
const maxBuckets = 10_000

// allow takes one token of key, or gives the error that says how long to wait.
func (l *limiter) allow(key string) error {
	if l.burst == 0 {
		return nil
	}
	now := l.now()
	if l.take(key, now) {
		return nil
	}
	return tooMany(l.wait(key, now))
}

// check is allow without taking a token.
func (l *limiter) check(key string) error {
	if l.burst == 0 {
		return nil
	}
	if wait := l.wait(key, l.now()); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

func (l *limiter) take(key string, now time.Time) bool {
	if l.burst == 0 {
		return true
	}
	return l.bucket(key, now).AllowN(now, 1)
}

// wait is how long it takes until key has a token.
func (l *limiter) wait(key string, now time.Time) time.Duration {
	l.mu.Lock()
	b := l.buckets[key]
	l.mu.Unlock()
	if b == nil {
		return 0
	}
	lack := 1 - b.TokensAt(now)
	if lack <= 0 {
		return 0
	}
	return time.Duration(lack / float64(l.rate) * float64(time.Second))
}

func (l *limiter) bucket(key string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.buckets[key]; b != nil {
		return b
	}
	if len(l.buckets) >= maxBuckets {
		for k, b := range l.buckets {
			if b.TokensAt(now) >= float64(l.burst) {
				delete(l.buckets, k)
			}
		}
	}
	if l.buckets == nil {
		l.buckets = map[string]*rate.Limiter{}
	}
	b := rate.NewLimiter(l.rate, l.burst)
	l.buckets[key] = b
	return b
}

// tooMany is the error of requests that come too often.
func tooMany(wait time.Duration) error {
	e := registry.Errorf(registry.CodeRateLimited, "too many requests; try again in %d s", int(wait.Seconds())+1)
	e.Retryable, e.RetryAfter = true, wait
	return e
}
