// Package upstream is how providers talk to the services behind them: one Client for a service and the
// account at it, with limits on time, size and rate, a circuit breaker, and errors that are safe to show.
//
// A Client makes each request once. Retries are the business of runs, which knows the tool's policy and
// what may be repeated: a failure in which nothing reached the service is retryable, one after which
// nobody knows whether a call was carried out is not (see Do).
package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/outbound"
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

// ErrUnconfirmed is in the chain of an error after which nobody knows whether a call was carried out.
var ErrUnconfirmed = errors.New("the service did not confirm the call")

// errHandshake is in the chain of an error of a connection whose encryption was not agreed on.
var errHandshake = errors.New("no encrypted connection came about")

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
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Limit == 0 {
		cfg.Limit = defaultLimit
	}
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

// newBreaker opens after failures in a row that tell of the service's trouble, not of the request's. opened is set to when it does.
func newBreaker(name string, opened *atomic.Int64) *gobreaker.CircuitBreaker[Response] {
	return gobreaker.NewCircuitBreaker[Response](gobreaker.Settings{
		Name: name, Timeout: openFor,
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				opened.Store(time.Now().UnixNano())
			}
		},
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
		IsSuccessful: func(err error) bool { return !isTrouble(err) },
		// A caller that gave up says nothing about the service.
		IsExcluded: func(err error) bool {
			return !isTrouble(err) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
		},
	})
}

// Request is one request. Path is appended to the base address; it may have a query of its own.
type Request struct {
	Method string // empty: GET
	Path   string
	Query  url.Values
	Header http.Header
	// Body is sent as it is, with ContentType; JSON is sent as JSON instead. At most one is set.
	Body        io.Reader
	ContentType string
	JSON        any
	// Repeatable says that the service carries the request out once however often it comes, so that it
	// may be sent again when nobody knows what became of it. GET and HEAD are.
	Repeatable bool
	// Begins says that the request begins work that goes on by itself: once sent, its answer is waited for although the
	// context has ended, see registry.Beginning.
	Begins bool
	// Within is how long this request may take with its answer; zero: Config.Timeout.
	Within time.Duration
	// Events is told the events of an answer that is a stream of them, whose Response then has no Body. A service may
	// answer with a whole body all the same. Nil: the answer is not read as a stream.
	Events func(Event) error
	// Words reads the service's own words for why it refuses, which are added where Config.Failure has nothing to say.
	Words func(body []byte) string
}

func (r Request) repeatable() bool {
	return r.Repeatable || r.Method == "" || r.Method == http.MethodGet || r.Method == http.MethodHead
}

// Response is an answer of status 200 to 299; in Config.Failure it is any other.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Get asks for path and decodes the JSON answer into out, unless that is nil.
func (c *Client) Get(ctx context.Context, path string, query url.Values, out any) error {
	return c.exchange(ctx, Request{Path: path, Query: query}, out)
}

// Post sends in as JSON to path and decodes the JSON answer into out, unless that is nil.
func (c *Client) Post(ctx context.Context, path string, in, out any) error {
	return c.exchange(ctx, Request{Method: http.MethodPost, Path: path, JSON: in}, out)
}

// Begin is Post for a request that begins work which goes on by itself, see Request.
func (c *Client) Begin(ctx context.Context, path string, in, out any) error {
	return c.exchange(ctx, Request{Method: http.MethodPost, Path: path, JSON: in, Begins: true}, out)
}

func (c *Client) exchange(ctx context.Context, r Request, out any) error {
	answer, err := c.Do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	return c.Decode(answer, out)
}

// Decode reads a JSON answer. Numbers without a type of their own become json.Number.
func (c *Client) Decode(answer Response, out any) error {
	d := json.NewDecoder(bytes.NewReader(answer.Body))
	d.UseNumber()
	if err := d.Decode(out); err != nil {
		failure := registry.Say(registry.CodeProvider, said.AnswerUnreadable, "service", c.name)
		failure.Cause = fmt.Errorf("decode: %w", err)
		return failure
	}
	return nil
}

// Do sends a request and reads the answer. An error is a *registry.Error or that of ctx:
//
//   - Nothing reached the service (no connection, or the breaker is open): unavailable, retryable.
//   - The answer is lost, or a gateway in between gives up, and the request is not Repeatable: CodeLost,
//     not retryable, since repeating it could do it twice, with ErrUnconfirmed in its chain. Else:
//     unavailable or timeout, retryable.
//   - The service refused: as Config.Failure says, else by the status. Too many requests and a
//     service in trouble are retryable after the time it asks for.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	if err := c.limiter.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		return Response{}, registry.Say(registry.CodeRateLimited, said.ServiceQueue, "service", c.name).Again().Because(err)
	}
	if r.Begins {
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		lasting, done := registry.Beginning(ctx)
		defer done()
		ctx = lasting
	}
	answer, err := c.breaker.Execute(func() (Response, error) { return c.once(ctx, r) })
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		left := time.Until(time.Unix(0, c.opened.Load()).Add(openFor))
		return Response{}, registry.Say(registry.CodeUnavailable, said.ServiceDown, "service", c.name).After(max(left, 0) + 100*time.Millisecond).Because(err)
	case errors.Is(err, gobreaker.ErrTooManyRequests):
		return Response{}, registry.Say(registry.CodeUnavailable, said.ServiceDown, "service", c.name).After(probeFor).Because(err)
	}
	if trouble := new(troubleError); errors.As(err, &trouble) {
		err = trouble.error
	}
	return answer, err
}

// troubleError marks what counts against the service in the breaker.
type troubleError struct{ error }

func isTrouble(err error) bool { return errors.As(err, new(*troubleError)) }

// Unwrap gives what went wrong.
func (e *troubleError) Unwrap() error { return e.error }

func (c *Client) once(ctx context.Context, r Request) (Response, error) {
	limited, cancel := context.WithTimeout(ctx, c.patience(r))
	defer cancel()
	var shaking, connected atomic.Bool // the encryption was begun; a connection was had
	limited = httptrace.WithClientTrace(limited, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { shaking.Store(true) }, GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req, err := c.build(limited, r)
	if err != nil {
		return Response{}, err
	}
	res, err := c.cfg.HTTP.Do(req)
	if err != nil && shaking.Load() && !connected.Load() {
		err = fmt.Errorf("%w: %w", errHandshake, err)
	}
	if err != nil {
		return Response{}, c.broken(ctx, r, err)
	}
	defer res.Body.Close()
	if r.Events != nil && isEvents(res) {
		return Response{Status: res.StatusCode, Header: res.Header}, c.events(ctx, r, res.Body)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, c.cfg.Limit+1))
	if err != nil {
		return Response{}, c.broken(ctx, r, err)
	}
	if int64(len(body)) > c.cfg.Limit {
		return Response{}, registry.Say(registry.CodeProvider, said.AnswerTooLarge, "service", c.name, "n", c.cfg.Limit)
	}
	answer := Response{Status: res.StatusCode, Header: res.Header, Body: body}
	if answer.Status < 200 || answer.Status > 299 {
		return answer, c.refused(r, answer)
	}
	return answer, nil
}

func (c *Client) patience(r Request) time.Duration { return cmp.Or(r.Within, c.cfg.Timeout) }

func (c *Client) build(ctx context.Context, r Request) (*http.Request, error) {
	body, contentType := r.Body, r.ContentType
	if r.JSON != nil {
		raw, err := json.Marshal(r.JSON)
		if err != nil {
			return nil, fmt.Errorf("encode the request to %s: %w", c.name, err)
		}
		body, contentType = bytes.NewReader(raw), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, c.address(r), body)
	if err != nil {
		return nil, fmt.Errorf("make the request to %s: %w", c.name, c.redacted(err))
	}
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if r.Events != nil {
		req.Header.Set("Accept", "text/event-stream")
	} else if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	if c.cfg.Authorize != nil {
		c.cfg.Authorize(req)
	}
	return req, nil
}

func (c *Client) address(r Request) string {
	path, query, _ := strings.Cut(r.Path, "?")
	address := strings.TrimSuffix(c.base.String(), "/") + "/" + strings.TrimPrefix(path, "/")
	if more := r.Query.Encode(); more != "" && query != "" {
		query += "&" + more
	} else if more != "" {
		query = more
	}
	if query != "" {
		address += "?" + query
	}
	return address
}

// hide takes what is secret out of a text.
func (c *Client) hide(text string) string {
	for _, secret := range c.cfg.Secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	if c.cfg.Hide != nil {
		text = c.cfg.Hide(text)
	}
	return text
}

// redacted keeps an error's text without secrets, and its chain only where there are none in it.
func (c *Client) redacted(err error) error {
	if text := err.Error(); c.hide(text) != text {
		return errors.New(c.hide(text))
	}
	return err
}

// broken judges a request without a whole answer.
func (c *Client) broken(ctx context.Context, r Request, err error) error {
	if ctx.Err() != nil && !r.Begins {
		return ctx.Err()
	}
	failure := registry.Say(registry.CodeUnavailable, said.ServiceUnreached, "service", c.name).Again().Because(c.redacted(err))
	if errors.Is(err, outbound.ErrInside) {
		failure.Retryable = false
		return failure.Reword(said.ServiceInside.With("service", c.name))
	}
	var network *net.OpError
	switch {
	case errors.As(err, &network) && network.Op == "dial", errors.Is(err, errHandshake): // nothing was sent
	case !r.repeatable():
		failure = c.unconfirmed(failure.Cause)
	case errors.Is(err, context.DeadlineExceeded):
		failure.Reword(said.ServiceSlow.With("service", c.name, "time", c.patience(r))).Code = registry.CodeTimeout
	}
	return &troubleError{failure}
}

func (c *Client) unconfirmed(cause error) *registry.Error {
	return registry.Say(registry.CodeLost, said.LostConfirm, "service", c.name).Because(errors.Join(ErrUnconfirmed, cause))
}
