package discord

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/internal/clock"
)

const (
	defaultBase   = "https://discord.com"
	callTimeout   = 20 * time.Second
	uploadTimeout = 5 * time.Minute
	maxAnswer     = 32 << 20 // bytes of an answer that are read
	maxAttempts   = 4        // of a call that fails for the moment
	firstPause    = 500 * time.Millisecond
	uploadsAtOnce = 4 // each is in memory as a whole
)

// Config is what a Client works with. Token is required.
type Config struct {
	Token string
	// AppID is the application's id; empty: the one that the token names.
	AppID string
	// BaseURL is Discord's address; empty: defaultBase.
	BaseURL   string
	Transport http.RoundTripper // nil: http.DefaultTransport
	Clock     clock.Clock       // nil: the system's
	// Observe is told of every call.
	Observe func(CallInfo)
}

// CallInfo is a finished call, for metrics.
type CallInfo struct {
	Call   string // the method and the route, without ids
	Status int    // 0: no answer
	Took   time.Duration
}

// Client calls Discord's API. It makes its requests through github.com/bwmarrin/discordgo, with its own
// limits: the library's waits know no context and its repeats no end. The library never learns the bot's
// token, so that no error or log of it can show it. It is safe for concurrent use.
type Client struct {
	session *discordgo.Session
	base    string
	app     string
	plain   *http.Client // without token, for files
	clock   clock.Clock
	limits  *limiter
	observe func(CallInfo)
	uploads chan struct{}
	refused atomic.Bool // the token: nothing is called any more
	token   secret
}

// secret is a text that no formatting shows.
type secret struct{ text string }

func (secret) String() string   { return "[token]" }
func (secret) GoString() string { return "[token]" }

// NewClient makes a Client. It calls nobody.
func NewClient(cfg Config) (*Client, error) {
	app := cfg.AppID
	if app == "" {
		app = appOf(cfg.Token)
	}
	if cfg.Token == "" || app == "" {
		return nil, errors.New("discord: a bot token and the application's id are needed")
	}
	session, err := discordgo.New("")
	if err != nil {
		return nil, fmt.Errorf("discord: make a session of the library: %w", err)
	}
	c := &Client{
		session: session, base: defaultBase, app: app, clock: clock.System{}, token: secret{cfg.Token},
		observe: func(CallInfo) {}, uploads: make(chan struct{}, uploadsAtOnce),
	}
	if cfg.BaseURL != "" {
		c.base = strings.TrimRight(cfg.BaseURL, "/")
	}
	if cfg.Clock != nil {
		c.clock = cfg.Clock
	}
	if cfg.Observe != nil {
		c.observe = cfg.Observe
	}
	transport := http.DefaultTransport
	if cfg.Transport != nil {
		transport = cfg.Transport
	}
	c.limits = newLimiter(c.clock)
	session.StateEnabled, session.State = false, nil
	session.MaxRestRetries, session.ShouldRetryOnRateLimit = 0, false
	session.LogLevel = -1 // it writes to the program's standard logger
	session.UserAgent = "DiscordBot (https://github.com/signalbox/signalbox, 1)"
	// Redirects are not followed: they would carry the token elsewhere.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	session.Client = &http.Client{Transport: &wire{c, transport}, CheckRedirect: stay}
	c.plain = &http.Client{Transport: transport, CheckRedirect: stay}
	return c, nil
}

// appOf reads the id of a bot, which is its application's, from the first part of its token; "" where it is no token.
func appOf(token string) string {
	first, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(first, "="))
	if _, number := strconv.ParseUint(string(raw), 10, 64); err != nil || number != nil {
		return ""
	}
	return string(raw)
}

// AppID gives the application's id.
func (c *Client) AppID() string { return c.app }

// call is one request.
type call struct {
	method string
	// path is below the version; route is path with ids left out, resource the one whose limit it counts for.
	path, route, resource string
	query                 url.Values
	body                  any // JSON; nil: none
	files                 []file
	// droppable calls never wait; repeatable ones do no harm when they are made twice.
	droppable, repeatable bool
	// apart calls are those to interactions: they need no token and are outside of the global limit.
	apart bool
}

// file is a file to upload.
type file struct {
	name, mime string
	data       []byte
}

func (c call) name() string { return c.method + " " + c.route }

// exchange is what the transport sees of one attempt.
type exchange struct {
	status int
	header http.Header
	token  bool
}

type exchangeKey struct{}

// wire is the library's way to the network: it adds the token, bounds the answer and notes what the library
// does not tell.
type wire struct {
	client *Client
	next   http.RoundTripper
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if x != nil && x.token {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bot "+w.client.token.text)
	}
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if x != nil {
		x.status, x.header = resp.StatusCode, resp.Header
	}
	resp.Body = &boundedBody{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	return resp, nil
}

type boundedBody struct {
	io.Reader
	io.Closer
}

// do makes a call, keeps to the limits, and repeats what failed for the moment as far as that is safe and fits ctx.
// into, where not nil, gets the answer.
func (c *Client) do(ctx context.Context, q call, into any) error {
	body, contentType, done, err := c.encode(ctx, q)
	if err != nil {
		return err
	}
	defer done()
	for attempt := 1; ; attempt++ {
		if c.refused.Load() && !q.apart {
			return &Error{Call: q.name(), Status: http.StatusUnauthorized, Message: "the token was refused before"}
		}
		if err := c.limits.turn(ctx, q.place(), !q.droppable); err != nil {
			return err
		}
		raw, err := c.attempt(ctx, q, body, contentType)
		if err == nil {
			return decode(q, raw, into)
		}
		pause, again := c.pause(q, err, attempt)
		if !again || !fits(ctx, pause) {
			return err
		}
		select {
		case <-c.clock.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func (q call) place() place { return place{route: q.name(), resource: q.resource, apart: q.apart} }

func decode(q call, raw []byte, into any) error {
	if into == nil || len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &Error{Call: q.name(), Status: http.StatusOK, Message: "the answer is not as expected", Uncertain: true, err: err}
	}
	return nil
}

// pause tells whether a failed call is made again, and when.
func (c *Client) pause(q call, err error, attempt int) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) || attempt >= maxAttempts {
		return 0, false
	}
	switch reasonOf(err) {
	case rateLimited:
		return e.RetryAfter, !q.droppable && e.Status == http.StatusTooManyRequests
	case temporary:
		return firstPause << (attempt - 1), !q.droppable && (q.repeatable || !e.Uncertain) && !errors.Is(err, context.Canceled)
	}
	return 0, false
}

// attempt makes one request. The library's own limiter is given a bucket of no other use.
func (c *Client) attempt(ctx context.Context, q call, body []byte, contentType string) ([]byte, error) {
	timeout := callTimeout
	if len(q.files) > 0 {
		timeout = uploadTimeout
	}
	x := &exchange{token: !q.apart}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, exchangeKey{}, x), timeout)
	defer cancel()
	address := c.base + "/api/v10" + q.path
	if len(q.query) > 0 {
		address += "?" + q.query.Encode()
	}
	start := c.clock.Now()
	raw, err := c.session.RequestWithLockedBucket(q.method, address, contentType, body, lockedBucket(), 0, discordgo.WithContext(ctx))
	c.observe(CallInfo{Call: q.name(), Status: x.status, Took: c.clock.Now().Sub(start)})
	if x.status != 0 {
		c.limits.learn(q.place(), x.status, x.header)
	}
	if err == nil {
		return raw, nil
	}
	return nil, c.failure(q, x, err)
}

// lockedBucket makes a bucket as the library wants it: held, and released by it.
func lockedBucket() *discordgo.Bucket {
	b := &discordgo.Bucket{}
	b.Lock()
	return b
}

// refusal is Discord's body of an error.
type refusal struct {
	Code       int             `json:"code"`
	Message    string          `json:"message"`
	Errors     json.RawMessage `json:"errors"`
	RetryAfter float64         `json:"retry_after"`
	Global     bool            `json:"global"`
}

// failure turns what the library returned into an Error, and learns from it.
func (c *Client) failure(q call, x *exchange, err error) error {
	e := &Error{Call: q.name(), Status: x.status}
	var rest *discordgo.RESTError
	var many *discordgo.RateLimitError
	switch {
	case errors.As(err, &many):
		c.tooMany(q, x, e, many.RetryAfter, many.Message)
	case x.status == http.StatusTooManyRequests: // not JSON: from a proxy in between
		c.tooMany(q, x, e, 0, "too many requests")
	case errors.As(err, &rest):
		var r refusal
		if json.Unmarshal(rest.ResponseBody, &r) != nil || r.Message == "" {
			r.Message = http.StatusText(x.status)
		}
		e.Code, e.Message = r.Code, strings.TrimSpace(r.Message+" "+brief(r.Errors))
		e.RetryAfter = time.Duration(r.RetryAfter * float64(time.Second))
		e.Uncertain = x.status >= 500
	case x.status != 0:
		e.Message, e.Uncertain = "the answer is broken ("+http.StatusText(x.status)+")", x.status < 400 || x.status >= 500
	default:
		e.Message, e.err = "no answer", withoutAddress(err)
		var op *net.OpError
		e.Uncertain = !errors.As(err, &op) || op.Op != "dial"
	}
	if e.Status == http.StatusUnauthorized && !q.apart {
		c.refused.Store(true)
	}
	return e
}

func (c *Client) tooMany(q call, x *exchange, e *Error, wait time.Duration, message string) {
	if after, err := strconv.ParseFloat(x.header.Get("Retry-After"), 64); err == nil {
		wait = max(wait, time.Duration(after*float64(time.Second)))
	}
	e.RetryAfter, e.Message = max(wait, 10*time.Millisecond), message
	c.limits.punish(q.place(), e.RetryAfter, x.header.Get("X-RateLimit-Global") != "" || x.header.Get("X-RateLimit-Bucket") == "" && x.header.Get("X-RateLimit-Scope") == "global")
}

// brief bounds what Discord complains about, for logs.
func brief(raw json.RawMessage) string {
	const most = 600
	if len(raw) > most {
		return string(raw[:most]) + "…"
	}
	return string(raw)
}

// withoutAddress drops the address from an error of net/http: it may hold an interaction's token.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// encode makes the body of a call. done must be called once the call is over: it lets the next upload begin.
func (c *Client) encode(ctx context.Context, q call) (body []byte, contentType string, done func(), err error) {
	done = func() {}
	if q.body == nil {
		return nil, "", done, nil
	}
	if body, err = json.Marshal(q.body); err != nil {
		return nil, "", done, fmt.Errorf("discord: %s: %w", q.name(), err)
	}
	if len(q.files) == 0 {
		return body, "application/json", done, nil
	}
	select {
	case c.uploads <- struct{}{}:
		done = func() { <-c.uploads }
	case <-ctx.Done():
		return nil, "", done, context.Cause(ctx)
	}
	files := make([]*discordgo.File, len(q.files))
	for i, f := range q.files {
		files[i] = &discordgo.File{Name: f.name, ContentType: f.mime, Reader: bytes.NewReader(f.data)}
	}
	contentType, body, err = discordgo.MultipartBodyWithJSON(json.RawMessage(body), files)
	if err != nil {
		return nil, "", done, fmt.Errorf("discord: %s: %w", q.name(), err)
	}
	return body, contentType, done, nil
}

// Application is what Discord tells of the token's application.
type Application struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	PublicKey string `json:"verify_key"`
}

// Application asks whose the token is.
func (c *Client) Application(ctx context.Context) (Application, error) {
	var app Application
	err := c.do(ctx, call{method: http.MethodGet, path: "/applications/@me", route: "/applications/@me", repeatable: true}, &app)
	return app, err
}
