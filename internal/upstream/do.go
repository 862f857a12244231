package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

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
