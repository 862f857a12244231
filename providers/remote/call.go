package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// resultName is the output of tools that name no others: the data as a whole.
const resultName = "result"

// maxMessage bounds an error's message, in characters.
const maxMessage = 240

// noPlanner is told where no model plans.
const noPlanner = "none"

// line leads to one endpoint: how a tool is called, ready for use.
type line struct {
	spec    spec
	headers map[string]string
	client  *upstream.Client
	input   *registry.Schema
	output  *registry.Schema
}

// request is what an endpoint gets.
type request struct {
	ToolName  string         `json:"toolName"`
	Arguments map[string]any `json:"arguments"`
	Context   callContext    `json:"context"`
}

type callContext struct {
	SiteID          string `json:"siteId"`
	SessionID       string `json:"sessionId"`
	UserID          string `json:"userId,omitempty"`
	TraceID         string `json:"traceId"`
	PlannerProvider string `json:"plannerProvider"`
}

func (p *Provider) contextOf(c registry.Call) callContext {
	return callContext{
		SiteID: cmp.Or(c.Context.SiteID, p.cfg.SiteID), SessionID: cmp.Or(c.Context.SessionID, c.RunID), UserID: c.UserID,
		TraceID: cmp.Or(c.Context.TraceID, c.RunID), PlannerProvider: cmp.Or(c.Context.PlannerProvider, noPlanner),
	}
}

// Call makes one attempt.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	began := p.cfg.Now()
	r := request{ToolName: c.Tool.ToolID, Arguments: c.Inputs, Context: p.contextOf(c)}
	if r.Arguments == nil {
		r.Arguments = map[string]any{}
	}
	data, remembered, err := p.answer(ctx, c, r)
	took := p.cfg.Now().Sub(began)
	code := ""
	if err != nil {
		failure := registry.AsError(err)
		code, err = string(failure.Code), failure.Map(cut)
	}
	p.cfg.Logger.InfoContext(ctx, "remote call", "tool", r.ToolName, "ok", err == nil, "latencyMs", took.Milliseconds(), "errorCode", code, "remembered", remembered,
		"traceId", r.Context.TraceID, "sessionId", r.Context.SessionID, "siteId", r.Context.SiteID, "plannerProvider", r.Context.PlannerProvider)
	if err != nil {
		return registry.Result{}, err
	}
	outputs, err := p.outputs(c.Tool.OutputSchema, data)
	return registry.Result{Outputs: outputs, Usage: registry.Usage{RunTime: took}}, err
}

func cut(text string) string {
	if runes := []rune(text); len(runes) > maxMessage {
		return string(runes[:maxMessage-1]) + "…"
	}
	return text
}

// answer gives the data, remembered or fresh.
func (p *Provider) answer(ctx context.Context, c registry.Call, r request) (data json.RawMessage, remembered bool, err error) {
	l, err := p.lineOf(ctx, c.Tool)
	if err != nil {
		return nil, false, err
	}
	if err := l.input.Check(r.Arguments); err != nil {
		return nil, false, registry.Errorf(registry.CodeInvalidInput, "%s", err)
	}
	key, err := resultKey(r)
	if err != nil {
		return nil, false, err
	}
	if l.spec.Manifest.Idempotent {
		if data, err = p.db.recall(ctx, key, p.cfg.Now()); err != nil || data != nil {
			return data, data != nil, err
		}
	}
	if data, err = l.call(ctx, r); err != nil {
		return nil, false, err
	}
	if l.spec.Manifest.Idempotent {
		now := p.cfg.Now()
		if err := p.db.remember(ctx, key, data, now, now.Add(p.cfg.Lifetime)); err != nil {
			// The call was made and is repeatable: its result counts.
			p.cfg.Logger.WarnContext(ctx, "a result is not remembered", "tool", r.ToolName, "error", err)
		}
	}
	return data, false, nil
}

// resultKey tells calls apart: the same account, site, trace, tool and input give the same key, in whatever order the
// keys of the input stand. Traces are the callers' to choose, so the account is what keeps strangers' answers apart.
func resultKey(r request) ([]byte, error) {
	raw, err := registry.CanonicalJSON([]any{r.Context.UserID, r.Context.SiteID, r.Context.TraceID, keyOf(r.ToolName), r.Arguments})
	if err != nil {
		return nil, fmt.Errorf("the input can't be written: %w", err)
	}
	sum := sha256.Sum256(raw)
	return sum[:], nil
}

// call sends one request and judges its answer.
func (l *line) call(ctx context.Context, r request) (json.RawMessage, error) {
	address, err := url.Parse(l.spec.Endpoint)
	if err != nil {
		return nil, err
	}
	answer, err := l.client.Do(ctx, upstream.Request{Method: http.MethodPost, Path: address.RequestURI(), JSON: r, Repeatable: l.spec.repeatable()})
	if err != nil {
		return nil, err
	}
	var body struct {
		Data json.RawMessage `json:"data"`
	}
	if err := l.client.Decode(answer, &body); err != nil {
		return nil, registry.Say(registry.CodeBadOutput, said.AnswerWrong, "service", r.ToolName, "words", "{\"data\": ...}")
	}
	if body.Data == nil {
		return nil, registry.Say(registry.CodeBadOutput, said.AnswerWithoutData, "service", r.ToolName)
	}
	value, err := decode(body.Data)
	if err != nil {
		return nil, err
	}
	if err := l.output.Check(value); err != nil {
		return nil, registry.Say(registry.CodeBadOutput, said.AnswerShape, "service", r.ToolName, "words", err)
	}
	return body.Data, nil
}

func decode(raw json.RawMessage) (value any, err error) {
	err = decimal.Unmarshal(raw, &value)
	return value, err
}

// repeatable reports whether a call may be made again when nobody knows what became of it.
func (s spec) repeatable() bool {
	return s.Manifest.Idempotent || s.Manifest.Capability == registry.CapabilityRead
}

// lineOf finds how a tool is called, as it was when the run was accepted. A tool that was removed or disabled
// since is called no more; one that was replaced is called as it was.
func (p *Provider) lineOf(ctx context.Context, tool registry.Tool) (*line, error) {
	current, err := p.current(ctx, tool.ToolID)
	if err != nil {
		return nil, err
	}
	if !current.enabled() {
		return nil, registry.Say(registry.CodeUnavailable, said.Removed, "tool", tool.ToolID)
	}
	ref, _ := tool.Metadata[specKey].(string)
	p.mu.Lock()
	known := p.lines[ref]
	p.mu.Unlock()
	var s spec
	switch {
	case known == nil:
		if s, err = p.earlier(ctx, ref); err != nil {
			return nil, err
		}
		if !current.leadsTo(s) { // the headers are not meant for it
			return nil, registry.Say(registry.CodeUnavailable, said.Moved, "tool", tool.ToolID)
		}
	case current.leadsTo(known.spec) && !maps.Equal(known.headers, current.StaticHeaders):
		s = known.spec
	default:
		return known, nil
	}
	l, err := p.newLine(s, current.StaticHeaders)
	if err == nil {
		p.mu.Lock()
		p.lines[ref] = l
		p.mu.Unlock()
	}
	return l, err
}

// leadsTo reports whether an entry is called where s says, so that its headers are meant for there.
func (e sourced) leadsTo(s spec) bool { return e.Endpoint == s.Endpoint && e.source == s.Source }

// current is the entry of a name as it stands; one that is not there is disabled.
func (p *Provider) current(ctx context.Context, name string) (sourced, error) {
	key, no := keyOf(name), false
	k, found, err := p.db.get(ctx, p.cfg.Pool, key)
	if k.unreadable != nil {
		err = registry.Say(registry.CodeUnavailable, said.HeadersUnread, "name", name).Because(k.unreadable)
	}
	if err != nil || found {
		return sourced{k.Entry, fromAPI}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, found := p.file[key]; found {
		return sourced{e, fromFile}, nil
	}
	return sourced{Entry: Entry{Enabled: &no}}, nil
}

// earlier reads how a tool was called once.
func (p *Provider) earlier(ctx context.Context, ref registry.Media) (s spec, err error) {
	body, _, err := p.cfg.Store.OpenMedia(ctx, ref)
	if err == nil {
		defer body.Close()
		err = json.NewDecoder(io.LimitReader(body, maxFile)).Decode(&s)
	}
	if err != nil {
		return s, registry.Say(registry.CodeUnavailable, said.NoWayAgain).Because(err)
	}
	return s, nil
}

func (p *Provider) newLine(s spec, headers map[string]string) (*line, error) {
	address, err := url.Parse(s.Endpoint)
	if err != nil {
		return nil, err
	}
	l := &line{spec: s, headers: headers}
	if l.input, err = registry.ParseSchema(s.Manifest.InputSchema); err != nil {
		return nil, err
	}
	if l.output, err = registry.ParseSchema(s.Manifest.OutputSchema); err != nil {
		return nil, err
	}
	cfg := upstream.Config{
		Name: s.Manifest.Name, BaseURL: address.Scheme + "://" + address.Host, Secrets: slices.Collect(maps.Values(headers)),
		Timeout: time.Duration(s.Manifest.TimeoutMs) * time.Millisecond, Failure: l.failure, Now: p.cfg.Now,
		Authorize: func(r *http.Request) {
			for name, value := range headers {
				r.Header.Set(name, value)
			}
		},
	}
	if s.Source != fromFile { // the operator's own file may name hosts inside
		cfg.HTTP = p.cfg.Guard
	}
	l.client, err = upstream.New(cfg)
	return l, err
}

// failure is the error behind an answer other than 2xx: its status and how it begins.
func (l *line) failure(answer upstream.Response) *registry.Error {
	e := registry.Say(registry.CodeProvider, said.EndpointSaid, "status", answer.Status, "words", l.client.Excerpt(answer.Body))
	switch answer.Status {
	case http.StatusTooManyRequests:
		e.Code, e.Retryable = registry.CodeRateLimited, true
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Code = registry.CodeUnauthorized
	case http.StatusRequestTimeout, http.StatusTooEarly:
		e.Retryable = true
	case http.StatusBadGateway, http.StatusGatewayTimeout: // a gateway does not know what became of the call
		e.Retryable = l.spec.repeatable()
	default:
		e.Retryable = answer.Status >= 500
	}
	return e
}

// reachable refuses an endpoint inside the house.
func (p *Provider) reachable(ctx context.Context, e Entry) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := outbound.Check(ctx, p.cfg.Guard, e.Endpoint); errors.Is(err, outbound.ErrInside) {
		return registry.Errorf(registry.CodeInvalidInput, "endpoint: %s", err)
	}
	return nil
}

// outputs draws what the tool declares from the data: members of it by name, or all of it.
func (p *Provider) outputs(schema registry.OutputSchema, data json.RawMessage) ([]registry.Output, error) {
	value, err := decode(data)
	if err != nil {
		return nil, err
	}
	members, _ := value.(map[string]any)
	var outputs []registry.Output
	for _, field := range schema {
		one, there := members[field.Name]
		if !there && field.Name == resultName {
			one, there = value, true
		}
		switch {
		case !there || one == nil:
		case field.Type == "text":
			outputs = append(outputs, registry.Output{Name: field.Name, Type: field.Type, Text: textOf(one)})
		default:
			address, ok := one.(string)
			if !ok || !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
				return nil, registry.Say(registry.CodeBadOutput, said.ResultAddressOf, "name", field.Name)
			}
			outputs = append(outputs, upstream.File(p.cfg.Guard, field.Name, field.Type, address, registry.MediaInfo{}))
		}
	}
	return outputs, nil
}

// textOf shows a value: a text as it is, anything else as JSON.
func textOf(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// Ready says why a tool has no endpoint here.
func (p *Provider) Ready(ctx context.Context, tool registry.Tool) error {
	_, err := p.lineOf(ctx, tool)
	return err
}
