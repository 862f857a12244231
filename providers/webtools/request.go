package webtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// maxAnswer bounds the body that httpGet and httpPost tell, in bytes.
const maxAnswer = 256 << 10

// answered is what httpGet and httpPost answer.
type answered struct {
	Success   bool              `json:"success"` // the status says that it went well
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers"`
	Body      string            `json:"body"`
	Cut       bool              `json:"cut,omitempty"` // there is more of it
	Untrusted bool              `json:"untrusted"`
}

// asked is what httpPost answers that was not confirmed.
type asked struct {
	Success              bool             `json:"success"`
	RequiresConfirmation bool             `json:"requiresConfirmation"`
	Message              string           `json:"message"`
	Items                []map[string]any `json:"items"`
}

// post is a request that changes something elsewhere.
type post struct {
	url     *url.URL
	body    string
	kind    string // Content-Type
	headers http.Header
}

func (r post) question() said.Text { return said.WebSend.With("host", r.url.Host) }

// ownHeaders are those that the connection has by itself, and those that say who asks.
var ownHeaders = []string{"Host", "Content-Length", "Connection", "Transfer-Encoding", "Upgrade", "Te", "Trailer", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Forwarded", "X-Forwarded-For"}

// headersOf reads the headers of a request.
func headersOf(inputs map[string]any) (http.Header, error) {
	headers := http.Header{}
	given, _ := inputs["headers"].(map[string]any)
	for name, value := range given {
		text, ok := value.(string)
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if !ok || slices.Contains(ownHeaders, canonical) || strings.ContainsAny(name+text, "\r\n") || strings.ContainsAny(name, " :") || name == "" {
			return nil, registry.Say(registry.CodeInvalidInput, said.WebHeader, "name", shortened(name)).At("headers")
		}
		headers.Set(canonical, text)
	}
	if headers.Get("User-Agent") == "" {
		headers.Set("User-Agent", agentName)
	}
	return headers, nil
}

// addressOf reads the address of a request.
func addressOf(inputs map[string]any) (*url.URL, error) {
	u, err := webAddress(textOf(inputs, "url"))
	if err != nil {
		return nil, &registry.Error{Code: registry.CodeInvalidInput, Field: "url", Message: err.Error()}
	}
	return u, nil
}

func (p *Provider) httpGet(ctx context.Context, inputs map[string]any) (any, error) {
	u, err := addressOf(inputs)
	if err != nil {
		return nil, err
	}
	headers, err := headersOf(inputs)
	if err != nil {
		return nil, err
	}
	return p.send(ctx, p.cfg.Guard, http.MethodGet, u, headers, nil)
}

// newPost reads what httpPost is to send.
func newPost(inputs map[string]any) (post, error) {
	var r post
	var err error
	if r.url, err = addressOf(inputs); err != nil {
		return r, err
	}
	if r.headers, err = headersOf(inputs); err != nil {
		return r, err
	}
	text, isText := inputs["body"].(string)
	if r.body, r.kind = text, "text/plain; charset=utf-8"; !isText {
		encoded, err := json.Marshal(inputs["body"])
		if err != nil {
			return r, err
		}
		r.body, r.kind = string(encoded), "application/json"
	}
	if isText && json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{") {
		r.kind = "application/json"
	}
	if r.headers.Get("Content-Type") == "" {
		r.headers.Set("Content-Type", r.kind)
	}
	return r, nil
}

// httpPost shows what it would send, or sends it, once.
func (p *Provider) httpPost(ctx context.Context, inputs map[string]any) (any, error) {
	r, err := newPost(inputs)
	if err != nil {
		return nil, err
	}
	if inputs["confirmed"] != true {
		names := map[string]string{}
		for name := range r.headers {
			names[name] = r.headers.Get(name)
		}
		return asked{Success: true, RequiresConfirmation: true, Message: r.question().String(), Items: []map[string]any{
			{"method": http.MethodPost, "host": r.url.Host, "url": r.url.String(), "headers": names, "body": r.body},
		}}, nil
	}
	once := *p.cfg.Guard
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // it is sent to where was said, and nowhere else
	return p.send(ctx, &once, http.MethodPost, r.url, r.headers, strings.NewReader(r.body))
}

// send makes one request.
func (p *Provider) send(ctx context.Context, client *http.Client, method string, u *url.URL, headers http.Header, body io.Reader) (any, error) {
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, registry.Say(registry.CodeInvalidInput, said.WebNoAddress).At("url").Because(err)
	}
	r.Header = headers
	answer, err := client.Do(r)
	if err != nil {
		e := registry.Say(registry.CodeProvider, said.ServiceFailedWhy, "service", "the request", "words", unreached(err).Error()).Because(err)
		if errors.Is(unreached(err), errRefused) {
			e.Code, e.Field = registry.CodeInvalidInput, "url"
		}
		return nil, e
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return nil, registry.Say(registry.CodeProvider, said.WebBroke).Because(err)
	}
	told := answered{Success: answer.StatusCode < http.StatusBadRequest, Status: answer.StatusCode, Headers: map[string]string{}, Untrusted: true}
	for name := range answer.Header {
		told.Headers[name] = answer.Header.Get(name)
	}
	if len(raw) > maxAnswer {
		raw, told.Cut = raw[:maxAnswer], true
	}
	told.Body = strings.ToValidUTF8(string(raw), "�")
	if !utf8.Valid(raw) && strings.Count(told.Body, "�") > len(raw)/10 {
		told.Body = fmt.Sprintf("(%d bytes that are no text)", len(raw))
	}
	return told, nil
}

// numberText is a number as its digits.
func numberText(value any) string {
	if n, ok := value.(json.Number); ok {
		return n.String()
	}
	return ""
}
