package botapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// DefaultBaseURL is Telegram's own server.
const DefaultBaseURL = "https://api.telegram.org"

const (
	defaultTimeout       = 30 * time.Second
	defaultUploadTimeout = 5 * time.Minute
	pollMargin           = 10 * time.Second // the server may answer a little after the poll's own timeout
	maxAnswer            = 16 << 20
)

// Config is what a Client needs; only Token is required.
type Config struct {
	Token string
	// BaseURL is the server, without a slash at the end; empty: DefaultBaseURL.
	BaseURL string
	// Transport carries the requests; nil: a transport of the client's own.
	Transport http.RoundTripper
	// Timeout bounds calls without uploads, UploadTimeout those with; 0: 30 s and 5 min. Long polls get
	// their own timeout and some seconds more.
	Timeout       time.Duration
	UploadTimeout time.Duration
	// Observe is told of every finished call; nil: nobody is.
	Observe func(CallInfo)
}

// CallInfo describes a finished call for metrics.
type CallInfo struct {
	Method string
	// Code is the HTTP status, 0 when there was no answer.
	Code int
	Took time.Duration
}

// Client calls the Bot API. It is safe for use by several goroutines; making one needs no network.
type Client struct {
	base          string
	token         secret
	transport     http.RoundTripper
	timeout       time.Duration
	uploadTimeout time.Duration
	observe       func(CallInfo)
}

// secret hides its text from every kind of printing.
type secret struct{ reveal func() string }

var tokenShape = regexp.MustCompile(`^[1-9][0-9]{2,18}:[A-Za-z0-9_-]{20,64}$`)

// NewClient checks the configuration and returns a client. It does not talk to the server.
func NewClient(cfg Config) (*Client, error) {
	if !tokenShape.MatchString(cfg.Token) {
		return nil, errors.New("the Telegram token is not of the form 123456789:AA... that BotFather gives out; copy it again without spaces")
	}
	cfg.BaseURL = cmp.Or(cfg.BaseURL, DefaultBaseURL)
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("the Telegram server address %q is not an http or https address", cfg.BaseURL)
	}
	c := &Client{
		base: strings.TrimRight(cfg.BaseURL, "/"), token: secret{func() string { return cfg.Token }}, transport: cfg.Transport,
		timeout: cfg.Timeout, uploadTimeout: cfg.UploadTimeout, observe: cfg.Observe,
	}
	if c.transport == nil {
		c.transport = newTransport()
	}
	c.timeout = cmp.Or(c.timeout, defaultTimeout)
	c.uploadTimeout = cmp.Or(c.uploadTimeout, defaultUploadTimeout)
	if c.observe == nil {
		c.observe = func(CallInfo) {}
	}
	return c, nil
}

// newTransport makes a transport that drops idle connections before the server does: a request on one that
// is just being closed fails in a way that leaves open whether it was carried out. Until then it keeps as
// many as a busy bot uses at once, since all go to one host.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = 30 * time.Second
	t.MaxIdleConnsPerHost = t.MaxIdleConns
	return t
}

// BotID returns the bot's own identifier, which is a part of its token.
func (c *Client) BotID() int64 {
	var id int64
	_, _ = fmt.Sscanf(c.token.reveal(), "%d:", &id)
	return id
}

// placeholder stands for the token in everything the library sees.
const placeholder = "TOKEN"

// call runs a method through the library and decodes its result into result, which may be nil. params is
// anything that is a JSON object; files are uploaded beside it.
func (c *Client) call(ctx context.Context, method string, params, result any, files ...upload) error {
	form, err := formOf(params)
	if err != nil {
		return fmt.Errorf("telegram: %s: parameters: %w", method, err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeoutFor(form, files))
	defer cancel()
	parts, closeAll, err := openAll(files)
	defer closeAll()
	if err != nil {
		return fmt.Errorf("telegram: %s: %w", method, err)
	}
	x := &exchange{client: c, ctx: ctx, method: method}
	bot := &tgbotapi.BotAPI{Token: placeholder, Client: x}
	bot.SetAPIEndpoint("http://telegram.invalid/%s/%s")
	start := time.Now()
	var resp *tgbotapi.APIResponse
	if len(parts) > 0 {
		resp, err = bot.UploadFiles(method, form, parts)
	} else {
		resp, err = bot.MakeRequest(method, form)
	}
	c.observe(CallInfo{Method: method, Code: x.status, Took: time.Since(start)})
	if err != nil {
		return c.failure(x, resp, err)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(resp.Result, result); err != nil {
		return &Error{Method: method, Code: x.status, Description: "the result is not of the expected form", Uncertain: true, err: err}
	}
	return nil
}

// do calls a method and returns its result.
func do[T any](ctx context.Context, c *Client, method string, params any, files ...upload) (T, error) {
	var result T
	err := c.call(ctx, method, params, &result, files...)
	return result, err
}

// timeoutFor chooses the deadline of a call; a long poll names its own timeout.
func (c *Client) timeoutFor(form tgbotapi.Params, files []upload) time.Duration {
	if len(files) > 0 {
		return c.uploadTimeout
	}
	if poll, err := strconv.Atoi(form["timeout"]); err == nil && poll > 0 {
		return max(c.timeout, time.Duration(poll)*time.Second+pollMargin)
	}
	return c.timeout
}

// exchange is the HTTP client the library is given for one call: it carries the context, puts the real
// address in, and remembers the status.
type exchange struct {
	client *Client
	ctx    context.Context // one call long: the library has no other way to pass it
	method string
	status int
}

// Do sends the library's request. It goes to the transport directly: redirects are not followed, since
// they would carry the token elsewhere.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	u, err := url.Parse(x.client.base + "/bot" + x.client.token.reveal() + "/" + x.method)
	if err != nil {
		return nil, errors.New("the address cannot be put together")
	}
	req = req.WithContext(x.ctx)
	req.URL, req.Host = u, u.Host
	resp, err := x.client.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.status = resp.StatusCode
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	return resp, nil
}

// formOf turns a JSON object into form fields: texts stay bare, everything nested is JSON.
func formOf(params any) (tgbotapi.Params, error) {
	form := tgbotapi.Params{}
	if params == nil {
		return form, nil
	}
	data, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for name, raw := range fields {
		var text string
		if raw[0] == '"' {
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, err
			}
		} else if text = string(raw); text == "null" {
			continue
		}
		form[name] = text
	}
	return form, nil
}

// String names the bot without its token, whatever way the client is printed.
func (c *Client) String() string { return fmt.Sprintf("Telegram client of bot %d", c.BotID()) }

// GoString does as String.
func (c *Client) GoString() string { return c.String() }
