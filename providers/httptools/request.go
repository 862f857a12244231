package httptools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// maxClients bounds how many services and accounts are remembered: answers may name any address.
const maxClients = 1000

// account is a service with the keys that it gets.
type account struct {
	*signer
	client  *upstream.Client
	address *url.URL
}

// account gives the client of a spec's service and account. Tools of one account share it, so that they share
// its breaker and its rate.
func (t *Tools) account(s spec) (account, error) {
	key, err := json.Marshal([]any{s.BaseURL, s.Headers, s.Query, s.JWT, s.PerSecond, s.variables()})
	if err != nil {
		return account{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, there := t.accounts[string(key)]; there {
		return known, nil
	}
	address, err := url.Parse(s.BaseURL)
	if err != nil {
		return account{}, err
	}
	var secrets []string
	for _, name := range s.variables() {
		secret, _ := t.secretOf(name)
		secrets = append(secrets, secret)
	}
	keys := &signer{tools: t, spec: s}
	client, err := upstream.New(upstream.Config{
		Name: hostOf(s.BaseURL), BaseURL: s.BaseURL, Secrets: secrets, Hide: keys.hide, HTTP: t.cfg.Guard, Timeout: callTimeout, Limit: answerLimit,
		PerSecond: s.PerSecond, Burst: int(s.PerSecond) + 1, Authorize: keys.authorize, Now: t.cfg.Now,
	})
	if err != nil {
		return account{}, err
	}
	if len(t.accounts) >= maxClients {
		clear(t.accounts)
	}
	t.accounts[string(key)] = account{keys, client, address}
	return t.accounts[string(key)], nil
}

// at is the account for an address that an answer named: the spec's own at hosts that get its key, else nobody's.
func (s spec) at(address *url.URL) spec {
	there := spec{PerSecond: s.PerSecond}
	if s.trusts(address) {
		there = s
	}
	there.BaseURL = address.Scheme + "://" + address.Host
	return there
}

// trusts reports whether the account's key may go to an address: to the service's own host and those in Hosts, by no worse a
// protocol than that of BaseURL.
func (s spec) trusts(address *url.URL) bool {
	own, err := url.Parse(s.BaseURL)
	if err != nil || address.User != nil || address.Scheme != own.Scheme && address.Scheme != "https" {
		return false
	}
	host := strings.ToLower(address.Host)
	return host == strings.ToLower(own.Host) || slices.ContainsFunc(s.Hosts, func(listed string) bool {
		listed = strings.ToLower(listed)
		if below, ok := strings.CutPrefix(listed, "*"); ok {
			return strings.HasSuffix(host, below)
		}
		return host == listed
	})
}

// where is the account and the path of a request.
func (t *Tools) where(s spec, r request, sc scope) (account, string, error) {
	if r.URL == "" {
		own, err := t.account(s)
		if err != nil {
			return own, "", err
		}
		path, err := sc.inPath(r.Path)
		return own, path, err
	}
	found, _, err := sc.replace(r.URL)
	if err != nil {
		return account{}, "", err
	}
	address, err := url.Parse(plain(found))
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return account{}, "", registry.Say(registry.CodeProvider, said.AnswerPath, "path", r.URL)
	}
	there, err := t.account(s.at(address))
	return there, address.EscapedPath() + "?" + address.RawQuery, err
}

// send makes a request of values; out is what is certain of it without the file.
func (t *Tools) send(ctx context.Context, s spec, r request, out upstream.Request, sc scope) (upstream.Response, error) {
	to, path, err := t.where(s, r, sc)
	if err != nil {
		return upstream.Response{}, err
	}
	sc.secret = to.secret
	if !s.trusts(to.address) {
		sc.secret = func(name string) (string, error) {
			failure := registry.Say(registry.CodeUnavailable, said.SecretHost, "service", upstream.Named(hostOf(s.BaseURL)), "host", to.address.Host)
			return "", failure.Because(fmt.Errorf("the request has ${%s}", name))
		}
	}
	out.Method, out.Path, out.Query, out.Header = cmp.Or(strings.ToUpper(r.Method), out.Method), path, url.Values{}, http.Header{}
	set := func(to map[string]string, put func(name, value string)) error {
		for name, text := range to {
			value, there, err := sc.replace(text)
			if err != nil {
				return err
			}
			if there {
				put(name, plain(value))
			}
		}
		return nil
	}
	if err := set(r.Query, out.Query.Set); err != nil {
		return upstream.Response{}, err
	}
	if err := set(r.Headers, out.Header.Set); err != nil {
		return upstream.Response{}, err
	}
	if err := r.encode(&out, sc); err != nil {
		return upstream.Response{}, err
	}
	return to.client.Do(ctx, out)
}

// encode puts the body into a request: as JSON, as a form, or in parts.
func (r request) encode(out *upstream.Request, sc scope) error {
	if len(r.Body) == 0 {
		return nil
	}
	if r.Multipart {
		sc.media = "file"
	}
	body, err := sc.inBody(r.Body)
	if err != nil {
		return err
	}
	fields, _ := body.(map[string]any)
	switch {
	case r.Multipart:
		out.Body, out.ContentType, err = inParts(fields)
	case r.Form:
		form := url.Values{}
		for name, value := range fields {
			form.Set(name, plain(value))
		}
		out.Body, out.ContentType = strings.NewReader(form.Encode()), "application/x-www-form-urlencoded"
	default:
		out.JSON = body
	}
	return err
}

// inParts writes a multipart/form-data body (RFC 7578): lists as several parts of one name, objects as JSON, and last the files
// as they are, since some take no field after them.
func inParts(fields map[string]any) (*bytes.Reader, string, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	names := slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		return cmp.Or(cmp.Compare(isLast(fields[a]), isLast(fields[b])), cmp.Compare(a, b))
	})
	for _, name := range names {
		values, several := fields[name].([]any)
		if !several {
			values = []any{fields[name]}
		}
		for _, value := range values {
			if err := writePart(w, name, value); err != nil {
				return nil, "", fmt.Errorf("write the part %s: %w", name, err)
			}
		}
	}
	err := w.Close()
	return bytes.NewReader(body.Bytes()), w.FormDataContentType(), err
}

// isLast is 1 for files.
func isLast(value any) int {
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	if _, isFile := value.(*file); isFile {
		return 1
	}
	return 0
}

func writePart(w *multipart.Writer, name string, value any) error {
	header, content := textproto.MIMEHeader{}, []byte(plain(value))
	header.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q", name))
	switch v := value.(type) {
	case *file:
		header.Set("Content-Disposition", multipart.FileContentDisposition(name, cmp.Or(v.info.Name, name)))
		header.Set("Content-Type", v.info.MIMEType)
		content = v.data
	case map[string]any:
		header.Set("Content-Type", "application/json")
	}
	part, err := w.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = part.Write(content)
	return err
}

// uploaded gives the scope with what stands for the files that are uploaded before the run's request.
func (t *Tools) uploaded(ctx context.Context, s spec, sc scope) (scope, error) {
	if s.Upload == nil {
		return sc, nil
	}
	for _, name := range s.Upload.Inputs {
		value, there := sc.lookup(name)
		if !there {
			continue
		}
		files, several := value.([]any)
		if !several {
			files = []any{value}
		}
		stands := make([]any, len(files))
		for i, item := range files {
			f, ok := item.(*file)
			if !ok {
				return sc, registry.Say(registry.CodeInvalidInput, said.FileUnopened).At(name)
			}
			var err error
			if stands[i], err = t.uploadOne(ctx, s, sc, f); err != nil {
				return sc, err
			}
		}
		sc = sc.with(name, any(stands))
		if !several {
			sc.values[name] = stands[0]
		}
	}
	return sc, nil
}

func (t *Tools) uploadOne(ctx context.Context, s spec, sc scope, f *file) (any, error) {
	if err := f.read(); err != nil {
		return nil, err
	}
	name := cmp.Or(f.info.Name, f.field)
	sc = sc.with("file", f).with("file.name", name).with("file.type", f.info.MIMEType)
	answers := map[string]any{}
	for _, step := range s.Upload.Steps {
		sc = sc.with("uploaded", answers)
		// An upload that nobody takes is no harm, so that it may be made again.
		answer, err := t.send(ctx, s, step, upstream.Request{Method: http.MethodPost, Repeatable: true}, sc)
		if err != nil {
			return nil, err
		}
		if doc, err := decode(answer.Body); err == nil {
			more, _ := doc.(map[string]any)
			maps.Copy(answers, more)
		}
	}
	value, there, err := sc.with("uploaded", answers).replace(s.Upload.As)
	if err == nil && (!there || value == "") {
		err = registry.Say(registry.CodeProvider, said.AnswerPath, "path", s.Upload.As)
	}
	return value, err
}

// hostOf is what people are told of a service's address: its name where the world knows it, and "" of the operator's own network.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	_, notIP := netip.ParseAddr(host)
	isInner := func(domain string) bool { return strings.HasSuffix(host, domain) }
	if notIP == nil || !strings.Contains(host, ".") || slices.ContainsFunc(innerDomains, isInner) {
		return ""
	}
	return host
}

// innerDomains are those that the world does not resolve: RFC 6762, RFC 8375, ICANN's of 2024, and what routers and offices use.
var innerDomains = []string{".local", ".localhost", ".internal", ".home.arpa", ".lan", ".home", ".corp", ".intranet"}
