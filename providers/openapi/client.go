package openapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

const (
	callTimeout = 3 * time.Minute
	answerLimit = 64 << 20
	// tokenMargin is how long before its end a token is fetched anew.
	tokenMargin = 30 * time.Second
	// tokenLife is that of tokens that don't say.
	tokenLife = 10 * time.Minute
)

// clients are those of the documents' services: one for each account, whose tools share its breaker.
type clients struct {
	cfg Config

	mu    sync.Mutex
	known map[string]*account
}

// account is a service with the secrets that open it.
type account struct {
	client  *upstream.Client
	secrets []string

	mu      sync.Mutex // held while a token is fetched, so that only one is
	token   string
	expires time.Time
}

// open adds what opens an operation to its request and gives the client that sends it.
func (c *clients) open(ctx context.Context, s spec, r *upstream.Request) (*upstream.Client, error) {
	var secrets []string
	for _, a := range s.Auth {
		if given, _ := c.cfg.Lookup(a.Secret); a.Optional && given == "" {
			continue
		}
		secret, err := c.secretOf(ctx, s, a)
		if err != nil {
			return nil, err
		}
		c.put(a, secret, r)
		secrets = append(secrets, secret, url.QueryEscape(secret))
	}
	found, err := c.account(s, s.Auth)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if found.client == nil || !slices.Equal(found.secrets, secrets) {
		client, err := upstream.New(upstream.Config{
			Name: s.Name, BaseURL: s.BaseURL, Secrets: secrets, HTTP: c.cfg.Guard, Timeout: callTimeout, Limit: answerLimit, Failure: failure(s.Name), Now: c.cfg.Now,
		})
		if err != nil {
			return nil, err
		}
		found.client, found.secrets = client, secrets
	}
	return found.client, nil
}

func (c *clients) account(s spec, auth []auth) (*account, error) {
	key, err := json.Marshal([]any{s.Name, s.BaseURL, auth})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[string(key)] == nil {
		c.known[string(key)] = &account{}
	}
	return c.known[string(key)], nil
}

// put adds a secret where its scheme wants it.
func (c *clients) put(a auth, secret string, r *upstream.Request) {
	switch a.Kind {
	case "header":
		r.Header.Set(a.Name, secret)
	case "query":
		r.Query.Set(a.Name, secret)
	case "cookie":
		cookie := http.Cookie{Name: a.Name, Value: secret}
		addCookie(r.Header, cookie.String())
	case "basic":
		user, _ := c.cfg.Lookup(a.User)
		sample := http.Request{Header: r.Header}
		sample.SetBasicAuth(user, secret)
	default:
		r.Header.Set("Authorization", "Bearer "+secret)
	}
}

func (c *clients) secretOf(ctx context.Context, s spec, a auth) (string, error) {
	secret, set := c.cfg.Lookup(a.Secret)
	if !set || secret == "" {
		return "", registry.Say(registry.CodeUnavailable, said.OperatorMust, "name", a.Secret)
	}
	if a.Kind != "client" {
		return secret, nil
	}
	found, err := c.account(spec{Name: "tokens", BaseURL: s.BaseURL}, []auth{a})
	if err != nil {
		return "", err
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	if found.token == "" || !c.cfg.Now().Before(found.expires) {
		if err := c.fetchToken(ctx, found, s, a, secret); err != nil {
			return "", err
		}
	}
	return found.token, nil
}

// forget lets go of the tokens by which an operation was called, such as one that was taken back before its time. It reports whether
// there are any.
func (c *clients) forget(s spec) bool {
	forgot := false
	for _, a := range s.Auth {
		if found, err := c.account(spec{Name: "tokens", BaseURL: s.BaseURL}, []auth{a}); err == nil && a.Kind == "client" {
			found.mu.Lock()
			found.token, forgot = "", true
			found.mu.Unlock()
		}
	}
	return forgot
}

// fetchToken gets a token by the client credentials flow (RFC 6749, 4.4).
func (c *clients) fetchToken(ctx context.Context, into *account, s spec, a auth, secret string) error {
	id, _ := c.cfg.Lookup(a.User)
	at, err := tokenAddress(s.BaseURL, a.TokenURL)
	if err != nil {
		return err
	}
	client, err := upstream.New(upstream.Config{
		Name: s.Name + " (sign-in)", BaseURL: at.Scheme + "://" + at.Host, Secrets: []string{secret, url.QueryEscape(secret)}, HTTP: c.cfg.Guard, Limit: 1 << 20, Now: c.cfg.Now,
		Authorize: func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret)) },
	})
	if err != nil {
		return err
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	if a.Scope != "" {
		form.Set("scope", a.Scope)
	}
	answer, err := client.Do(ctx, upstream.Request{
		Method: http.MethodPost, Path: at.EscapedPath(), Query: at.Query(), Body: strings.NewReader(form.Encode()), ContentType: formEncoded, Repeatable: true,
	})
	if err != nil {
		return err
	}
	var token struct {
		AccessToken string      `json:"access_token"`
		ExpiresIn   json.Number `json:"expires_in"`
	}
	if err := client.Decode(answer, &token); err != nil {
		return err
	}
	if token.AccessToken == "" {
		return registry.Say(registry.CodeProvider, said.ServiceNoToken, "service", s.Name)
	}
	life := tokenLife
	if seconds, err := token.ExpiresIn.Int64(); err == nil && seconds > 0 {
		life = time.Duration(min(seconds, 86_400)) * time.Second
	}
	into.token, into.expires = token.AccessToken, c.cfg.Now().Add(life-tokenMargin)
	return nil
}

// tokenAddress is where tokens are: beside the service unless the document has a whole address.
func tokenAddress(base, tokenURL string) (*url.URL, error) {
	at, err := url.Parse(base + "/")
	if err == nil {
		at, err = at.Parse(tokenURL)
	}
	if err != nil {
		return nil, registry.Say(registry.CodeUnavailable, said.TokenAddress)
	}
	return at, nil
}

// failure reads why a service refuses values, in its own words where it has any.
func failure(name string) func(upstream.Response) *registry.Error {
	return func(answer upstream.Response) *registry.Error {
		switch answer.Status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusUnprocessableEntity:
		default:
			return nil
		}
		text := said.ServiceValues.With("service", name)
		if answer.Status == http.StatusNotFound || answer.Status == http.StatusGone {
			text = said.ServiceLacks.With("service", name)
		}
		if reason := reasonOf(answer.Body); reason != "" {
			text = said.WithWords.With("text", text, "words", reason)
		}
		return registry.SayText(registry.CodeInvalidInput, text)
	}
}

// reasonOf looks for a service's words where services put them: problem+json (RFC 9457) and the usual members.
func reasonOf(body []byte) string {
	root, err := parseTree(body)
	if err != nil {
		return ""
	}
	var found []string
	for _, o := range []*ordered.Object{root.Object("error"), root} {
		for _, name := range []string{"detail", "message", "error_description", "title", "error"} {
			if words := sentence(o.Text(name)); words != "" && len(found) == 0 {
				found = append(found, words)
			}
		}
	}
	for _, o := range []*ordered.Object{root.Object("error"), root} {
		for _, name := range []string{"errors", "detail", "details"} {
			found = append(found, reasons(o.Get(name))...)
		}
	}
	return plain.Clip(strings.Join(found, "; "), maxReason)
}

// maxReason bounds what is told of a service's words, in runes.
const maxReason = 200

// reasons reads what is wrong with single values: a list of texts or of objects that say where and what, or an object with lists of
// texts by the names of values.
func reasons(v any) []string {
	var found []string
	say := func(where, what string) {
		if where != "" && what != "" {
			what = where + ": " + what
		}
		if what != "" {
			found = append(found, what)
		}
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			o, _ := item.(*ordered.Object)
			words, _ := item.(string)
			where := cmp.Or(o.Text("pointer"), o.Text("field"), o.Text("path"), o.Text("param"), listed(o.Get("loc"), "."), listed(o.Get("path"), "."))
			say(where, cmp.Or(words, sentence(cmp.Or(o.Text("detail"), o.Text("message"), o.Text("msg"), o.Text("title")))))
		}
	case *ordered.Object:
		for _, m := range v.Members() {
			words, _ := m.Value.(string)
			say(m.Name, cmp.Or(words, listed(m.Value, ", ")))
		}
	}
	return found
}

// listed writes a list of texts and numbers in a row.
func listed(v any, separator string) string {
	list, _ := v.([]any)
	parts := make([]string, 0, len(list))
	for _, item := range list {
		parts = append(parts, fmt.Sprint(item))
	}
	return strings.Join(parts, separator)
}
