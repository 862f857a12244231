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

// Client calls Discord's API within limits of its own, which respect contexts and end: the waits of github.com/bwmarrin/discordgo know no
// context and its repeats no end. The library's are the types, the multipart bodies and the checking of signatures. No error or log can show
// the token. It is safe for concurrent use.
type Client struct {
	base    string
	app     string
	http    *http.Client // follows no redirects
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
	c := &Client{
		base: defaultBase, app: app, clock: clock.System{}, token: secret{cfg.Token},
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
	// Redirects are not followed: they would carry the token elsewhere.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &http.Client{Transport: transport, CheckRedirect: stay}
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

func (q call) place() scope { return scope{route: q.name(), resource: q.resource, apart: q.apart} }

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

// attempt makes one request.
func (c *Client) attempt(ctx context.Context, q call, body []byte, contentType string) ([]byte, error) {
	timeout := callTimeout
	if len(q.files) > 0 {
		timeout = uploadTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := c.request(ctx, q, body, contentType)
	if err != nil {
		return nil, err
	}
	start := c.clock.Now()
	resp, err := c.http.Do(r)
	var raw []byte
	info := CallInfo{Call: q.name()}
	if err == nil {
		info.Status = resp.StatusCode
		raw, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		_ = resp.Body.Close()
	}
	info.Took = c.clock.Now().Sub(start)
	c.observe(info)
	if resp == nil {
		return nil, unanswered(q, err)
	}
	c.limits.learn(q.place(), resp.StatusCode, resp.Header)
	if err == nil && resp.StatusCode/100 == 2 {
		return raw, nil
	}
	return nil, c.failure(q, resp, raw, err)
}

func (c *Client) request(ctx context.Context, q call, body []byte, contentType string) (*http.Request, error) {
	address := c.base + "/api/v10" + q.path
	if len(q.query) > 0 {
		address += "?" + q.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, q.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("discord: %s: the address is none", q.name())
	}
	r.Header.Set("User-Agent", "DiscordBot (https://github.com/signalbox/signalbox, 1)")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if !q.apart {
		r.Header.Set("Authorization", "Bot "+c.token.text)
	}
	return r, nil
}

// refusal is Discord's body of an error.
type refusal struct {
	Code       int             `json:"code"`
	Message    string          `json:"message"`
	Errors     json.RawMessage `json:"errors"`
	RetryAfter float64         `json:"retry_after"`
	Global     bool            `json:"global"`
}

// unanswered is the Error of a request without an answer.
func unanswered(q call, err error) error {
	var op *net.OpError
	dialed := !errors.As(err, &op) || op.Op != "dial"
	return &Error{Call: q.name(), Message: "no answer", Uncertain: dialed, err: withoutAddress(err)}
}

// failure turns an answer that is no success, or breaks off, into an Error, and learns from it.
func (c *Client) failure(q call, resp *http.Response, raw []byte, broken error) error {
	e := &Error{Call: q.name(), Status: resp.StatusCode}
	var r refusal
	told := json.Unmarshal(raw, &r) == nil && r.Message != ""
	wait := time.Duration(r.RetryAfter * float64(time.Second))
	switch {
	case e.Status == http.StatusTooManyRequests:
		if !told { // from a proxy in between
			r.Message = "too many requests"
		}
		c.tooMany(q, resp.Header, e, wait, r.Message)
	case broken != nil || e.Status < 400:
		e.Message, e.Uncertain = "the answer is broken ("+http.StatusText(e.Status)+")", e.Status < 400 || e.Status >= 500
	default:
		if !told {
			r.Message = http.StatusText(e.Status)
		}
		e.Code, e.Message = r.Code, strings.TrimSpace(r.Message+" "+brief(r.Errors))
		e.RetryAfter = wait
		e.Uncertain = e.Status >= 500
	}
	e.Message = strings.ReplaceAll(e.Message, c.token.text, c.token.String()) // a proxy in between may tell what it was sent
	if e.Status == http.StatusUnauthorized && !q.apart {
		c.refused.Store(true)
	}
	return e
}

func (c *Client) tooMany(q call, h http.Header, e *Error, wait time.Duration, message string) {
	if after, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		wait = max(wait, time.Duration(after*float64(time.Second)))
	}
	e.RetryAfter, e.Message = max(wait, 10*time.Millisecond), message
	c.limits.punish(q.place(), e.RetryAfter, h.Get("X-RateLimit-Global") != "" || h.Get("X-RateLimit-Bucket") == "" && h.Get("X-RateLimit-Scope") == "global")
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

	Description string `json:"description"`
}

// Application asks whose the token is.
func (c *Client) Application(ctx context.Context) (Application, error) {
	var app Application
	err := c.do(ctx, call{method: http.MethodGet, path: "/applications/@me", route: "/applications/@me", repeatable: true}, &app)
	return app, err
}
