package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// excerptLength bounds what errors repeat of an answer.
const excerptLength = 200

// refused is the error behind an answer other than 2xx.
func (c *Client) refused(r Request, answer Response) error {
	var failure *registry.Error
	if c.cfg.Failure != nil {
		failure = c.cfg.Failure(answer)
	}
	if failure == nil {
		failure = byStatus(c.name, answer.Status)
		if gaveUp := answer.Status == http.StatusBadGateway || answer.Status == http.StatusGatewayTimeout; gaveUp && !r.repeatable() {
			failure = c.unconfirmed(nil)
		}
		if words := c.words(r, answer); words != "" {
			failure.Reword(said.WithWords.With("text", failure.Text(), "words", words))
		}
	}
	failure.Map(c.hide)
	refusal := &registry.StatusError{Status: answer.Status, Answer: c.Excerpt(answer.Body)}
	if failure.Cause == nil {
		failure.Cause = refusal
	} else {
		failure.Cause = errors.Join(failure.Cause, refusal)
	}
	if wait := c.retryAfter(answer.Header); failure.Retryable && failure.RetryAfter == 0 {
		failure.RetryAfter = wait
	}
	if answer.Status >= 500 {
		return &troubleError{failure}
	}
	return failure
}

// words are those of a service that refuses values.
func (c *Client) words(r Request, answer Response) string {
	if r.Words == nil || answer.Status < 400 || answer.Status >= 500 {
		return ""
	}
	return c.Excerpt([]byte(r.Words(answer.Body)))
}

// byStatus is what a status says where the service's words say nothing.
func byStatus(name said.Text, status int) *registry.Error {
	switch {
	case status == http.StatusTooManyRequests:
		return registry.Say(registry.CodeRateLimited, said.ServiceBusy, "service", name).Again()
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return registry.Say(registry.CodeUnauthorized, said.KeyRefused, "service", name)
	case status == http.StatusPaymentRequired:
		return registry.Say(registry.CodeUnavailable, said.ServiceNoMoney, "service", name)
	case status == http.StatusNotFound, status == http.StatusGone:
		return registry.Say(registry.CodeLost, said.ServiceUnknown, "service", name)
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return registry.Say(registry.CodeUnavailable, said.ServiceNotNow, "service", name).Again()
	case status >= 500:
		return registry.Say(registry.CodeProvider, said.ServiceProblem, "service", name).Again()
	case status >= 400:
		return registry.Say(registry.CodeInvalidInput, said.ServiceValues, "service", name)
	}
	return registry.Say(registry.CodeProvider, said.AnswerStatus, "service", name, "status", status)
}

// retryAfter is how long the service wants to be left alone: seconds or a date (RFC 9110, 10.2.3), a day at
// most; zero where it does not say.
func (c *Client) retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(c.cfg.Now()), 0), maxWait)
	}
	return 0
}

// Excerpt is the beginning of an answer in one line, without secrets, for logs and messages.
func (c *Client) Excerpt(body []byte) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 4*excerptLength)]), "")), " ")
	text = c.hide(text)
	if runes := []rune(text); len(runes) > excerptLength {
		text = string(runes[:excerptLength])
	}
	return text
}

// Stopped judges the answer of a service that was told to stop a run: one that it does not know, or that is over, needs no stop. A
// service that refuses to stop one is believed only when the run is over.
func Stopped(ctx context.Context, err error, p registry.Submitter, t registry.Ticket) error {
	switch failure := registry.AsError(err); {
	case failure == nil || failure.Code == registry.CodeLost:
		return nil
	case failure.Code == registry.CodeInvalidInput:
		if now, asked := p.Poll(ctx, t); asked == nil && now.State.Terminal() || asked != nil && registry.AsError(asked).Code == registry.CodeLost {
			return nil
		}
	}
	return err
}

// ErrUnconfirmed is in the chain of an error after which nobody knows whether a call was carried out.
var ErrUnconfirmed = errors.New("the service did not confirm the call")

// errHandshake is in the chain of an error of a connection whose encryption was not agreed on.
var errHandshake = errors.New("no encrypted connection came about")

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
