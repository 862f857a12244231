// Package upstream is how providers talk to the services behind them: one Client for a service and the
// account at it, with limits on time, size and rate, a circuit breaker, and errors that are safe to show.
//
// A Client makes each request once. Retries are the business of runs, which knows the tool's policy and
// what may be repeated: a failure in which nothing reached the service is retryable, one after which
// nobody knows whether a call was carried out is not (see Do).
package upstream

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	defaultTimeout = 30 * time.Second
	defaultLimit   = 8 << 20 // bytes of an answer
	tripAfter      = 5       // failures in a row
	openFor        = 30 * time.Second
	probeFor       = 2 * time.Second // until another look, while one request tries whether the service is back
	maxWait        = 24 * time.Hour  // of a Retry-After that is believed
)

// Config describes a service and the account at it. BaseURL is required.
type Config struct {
	Name    string // as people know it, for messages: "Vidu"; see Named
	BaseURL string // http or https; paths of requests are appended to it
	// Authorize adds the account's key to a request.
	Authorize func(*http.Request)
	// Secrets never appear in errors, even where the service repeats them.
	Secrets []string
	// Hide takes further secrets out of a text, such as a token that changes; nil: there are none.
	Hide func(text string) string
	// HTTP sends the requests; nil is a client for an address that the operator set. Addresses that
	// people or models can influence need one of internal/outbound. Redirects are not followed either way.
	HTTP    *http.Client
	Timeout time.Duration // of one request with its answer; zero means 30 s
	Limit   int64         // largest answer in bytes; zero means 8 MiB
	// PerSecond and Burst bound the rate of requests, which wait for their turn; zero means unbounded.
	PerSecond float64
	Burst     int
	// Failure reads the service's own words for what went wrong. Nil, or a nil result, judges by the
	// status alone. Its Message must be fit for people.
	Failure func(Response) *registry.Error
	Now     func() time.Time // nil: time.Now
}

// Client talks to one service with one account. It is safe for concurrent use.
type Client struct {
	cfg     Config
	name    said.Text
	base    *url.URL
	limiter *rate.Limiter
	breaker *gobreaker.CircuitBreaker[Response]
	opened  atomic.Int64 // when the breaker did so last, in Unix nanoseconds
}

// Named is how messages name a service. One without a name, such as one inside the operator's network, is the service.
func Named(name string) said.Text {
	if name == "" {
		return said.TheService.With()
	}
	return said.Text{Words: name}
}

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") || base.User != nil {
		return nil, fmt.Errorf("the address of %s is no http or https address without a user: set one like https://api.example.com", Named(cfg.Name))
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	client := *cfg.HTTP
	// A key sent to one host must not follow a redirect to another.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	patient(&client)
	cfg.HTTP = &client
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	cfg.Limit = cmp.Or(cfg.Limit, defaultLimit)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	limit := rate.Inf
	if cfg.PerSecond > 0 {
		limit = rate.Limit(cfg.PerSecond)
	}
	c := &Client{cfg: cfg, name: Named(cfg.Name), base: base, limiter: rate.NewLimiter(limit, max(cfg.Burst, 1))}
	c.breaker = newBreaker(cfg.Name, &c.opened)
	return c, nil
}

// patient takes a client's own limits of time away, such as those for fetching files: Config.Timeout is the one
// that counts, and services that answer at once may need minutes for it.
func patient(client *http.Client) {
	client.Timeout = 0
	if transport, ok := client.Transport.(*http.Transport); ok && transport.ResponseHeaderTimeout > 0 {
		transport = transport.Clone()
		transport.ResponseHeaderTimeout = 0
		client.Transport = transport
	}
}
