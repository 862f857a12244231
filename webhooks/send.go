package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/signature"
)

const (
	// SendTimeout is how long an endpoint may take to answer.
	SendTimeout = 15 * time.Second

	maxPayload    = 20 << 10
	maxAnswer     = 64 << 10 // that is read, so that the connection can be used again
	keepAnswer    = 1 << 10
	maxRetryAfter = 24 * time.Hour
	disableAfter  = 120 * time.Hour
	pauseBase     = 5 * time.Second // doubling, to
	pauseMax      = 5 * time.Minute
)

// retries are the pauses after the first attempt, the second, and so on: ten attempts in about three days.
var retries = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// target is an endpoint as it is needed for sending.
type target struct {
	ID, AccountID uuid.UUID
	URL           string
	Secret, Old   []byte
	OldUntil      *time.Time
	FailingSince  *time.Time
	Pauses        int
}

// outcome is the result of one attempt.
type outcome struct {
	at         time.Time
	took       time.Duration
	status     int // 0: no answer
	answer     string
	err        error
	retryAfter time.Duration
}

// delivered tells whether the endpoint has taken the message. Redirects are not followed, so they are failures.
func (r outcome) delivered() bool { return r.err == nil && r.status >= 200 && r.status <= 299 }

// busyThere tells whether it is the endpoint as a whole that is in trouble.
func (r outcome) busyThere() bool {
	return r.status == 0 || r.status == http.StatusTooManyRequests || r.status == http.StatusBadGateway || r.status == http.StatusGatewayTimeout
}

// sendQueue sends messages to one endpoint at the same time. In ordered mode no two are of one subject.
func (o *Outbox) sendQueue(ctx context.Context, endpoint uuid.UUID, queue []message) {
	to, err := o.target(ctx, endpoint)
	if err != nil {
		if ctx.Err() == nil {
			o.cfg.Logger.ErrorContext(ctx, "an endpoint can't be sent to", "endpoint", endpoint, "error", err)
		}
		return // due again when the claim is over
	}
	var all sync.WaitGroup
	for _, m := range queue {
		all.Go(func() {
			if err := o.send(ctx, to, m); err != nil && ctx.Err() == nil {
				o.cfg.Logger.ErrorContext(ctx, "sending a message failed on our side; it is tried again", "endpoint", endpoint, "message", m.ID, "error", err)
			}
		})
	}
	all.Wait()
}

func (o *Outbox) target(ctx context.Context, id uuid.UUID) (target, error) {
	rows, _ := o.cfg.Pool.Query(ctx, `SELECT id, account_id, url, secret, old_secret, old_until, failing_since, pauses FROM webhook_endpoints WHERE id = $1`, id)
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[target])
}

// send tries once to tell a message, and stores the result.
func (o *Outbox) send(ctx context.Context, to target, m message) error {
	payload, err := o.payload(ctx, m)
	if err != nil {
		return err
	}
	secrets, err := o.secrets(to)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("address of endpoint %s: %w", to.ID, err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Signalbox-Webhooks/1")
	signature.Sign(r.Header, "msg_"+strings.ReplaceAll(m.ID.String(), "-", ""), o.cfg.Now(), payload, secrets...)
	result := o.post(r, to.URL)
	if ctx.Err() != nil {
		return context.Cause(ctx) // we were stopped: that is no failure of the endpoint
	}
	return o.record(ctx, to, m, result)
}

// secrets are what an endpoint's messages are signed with: while a secret is replaced, both.
func (o *Outbox) secrets(to target) ([][]byte, error) {
	secret, err := o.seal.Open(to.Secret, to.ID.String())
	if err != nil || to.Old == nil || !o.cfg.Now().Before(*to.OldUntil) {
		return [][]byte{secret}, err
	}
	old, err := o.seal.Open(to.Old, to.ID.String())
	return [][]byte{secret, old}, err
}

// post sends a request. The address is checked again, since what the operator allows may have changed.
func (o *Outbox) post(r *http.Request, address string) (result outcome) {
	began := time.Now()
	result.at = o.cfg.Now()
	defer func() { result.took = time.Since(began) }()
	if result.err = o.cfg.Hooks.Check(address); result.err != nil {
		return result
	}
	res, err := o.cfg.Hooks.Do(r)
	if err != nil {
		result.err = withoutAddress(err)
		return result
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // only for the log
	result.status = res.StatusCode
	result.answer = strings.ToValidUTF8(strings.ReplaceAll(string(answer[:min(len(answer), keepAnswer)]), "\x00", ""), "")
	result.retryAfter = retryAfter(res.Header.Get("Retry-After"), result.at)
	if !result.delivered() {
		result.err = fmt.Errorf("the answer is %s, expected 2xx", res.Status)
	}
	return result
}

// withoutAddress takes the address out of an error: it may have a secret in it.
func withoutAddress(err error) error {
	var sending *url.Error
	if errors.As(err, &sending) {
		return fmt.Errorf("no answer: %w", sending.Err)
	}
	return err
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return ""
}

// retryAfter reads seconds or a date; at most a day is waited.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter) // 31 bits
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// payload is what is sent. It is made once: who gets it again gets the same.
func (o *Outbox) payload(ctx context.Context, m message) ([]byte, error) {
	if m.Payload != nil {
		return m.Payload, nil
	}
	data := json.RawMessage(m.Data)
	if data == nil {
		var err error
		if data, err = o.cfg.Data(ctx, m.Subject); err != nil {
			return nil, fmt.Errorf("run %s: %w", m.Subject, err)
		}
	}
	payload, err := envelope(m, data)
	if err == nil && len(payload) > maxPayload {
		payload, err = envelope(m, shorten(data))
	}
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", m.ID, err)
	}
	if _, err := o.cfg.Pool.Exec(ctx, `UPDATE webhook_messages SET payload = $2 WHERE id = $1`, m.ID, payload); err != nil {
		return nil, fmt.Errorf("message %s: %w", m.ID, err)
	}
	return payload, nil
}

func envelope(m message, data json.RawMessage) ([]byte, error) {
	return json.Marshal(map[string]any{"type": m.Type, "timestamp": m.CreatedAt.UTC().Format(time.RFC3339Nano), "sequence": m.Sequence, "data": data})
}

// shorten keeps what names and ends a run; all else is asked of the API.
func shorten(data json.RawMessage) json.RawMessage {
	var whole map[string]json.RawMessage
	short := map[string]json.RawMessage{"shortened": json.RawMessage("true")}
	if json.Unmarshal(data, &whole) == nil {
		for _, name := range []string{"runId", "toolId", "toolVersion", "status", "costNanoUsd", "url", "createdAt", "startedAt", "endedAt"} {
			if value, ok := whole[name]; ok && len(value) <= keepAnswer {
				short[name] = value
			}
		}
	}
	raw, err := json.Marshal(short)
	if err != nil { // they were parts of a document
		return json.RawMessage(`{"shortened":true}`)
	}
	return raw
}

// record writes down an attempt and what follows from it for the message and its endpoint.
func (o *Outbox) record(ctx context.Context, to target, m message, r outcome) error {
	o.count(r)
	disabled := ""
	err := postgres.InTx(ctx, o.cfg.Pool, func(tx pgx.Tx) error {
		message := ""
		if r.err != nil {
			message = clean(r.err.Error())
		}
		_, err := tx.Exec(ctx, `INSERT INTO webhook_attempts (message_id, at, status, took_ms, error, answer) SELECT id, $2, $3, $4, $5, $6 FROM webhook_messages WHERE id = $1`,
			m.ID, r.at, r.status, r.took.Milliseconds(), message, r.answer)
		if err != nil {
			return err
		}
		if r.delivered() {
			return o.recordSuccess(ctx, tx, to, m, r)
		}
		disabled, err = o.recordFailure(ctx, tx, to, m, r)
		return err
	})
	if err != nil {
		return fmt.Errorf("record an attempt of message %s: %w", m.ID, err)
	}
	if disabled != "" {
		o.tellOwner(ctx, to, disabled)
	}
	return nil
}

func (o *Outbox) count(r outcome) {
	switch {
	case r.delivered():
		o.sent.WithLabelValues("delivered").Inc()
	case r.status == 0:
		o.sent.WithLabelValues("no_answer").Inc()
	default:
		o.sent.WithLabelValues("refused").Inc()
	}
}

func (o *Outbox) recordSuccess(ctx context.Context, tx pgx.Tx, to target, m message, r outcome) error {
	if _, err := tx.Exec(ctx, `UPDATE webhook_messages SET status = 'delivered', ended_at = $2 WHERE id = $1 AND next_at = $3`, m.ID, r.at, m.ClaimedUntil); err != nil {
		return err
	}
	if to.FailingSince == nil && to.Pauses == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET failing_since = NULL, pause_until = '-infinity', pauses = 0 WHERE id = $1`, to.ID)
	return err
}

// recordFailure plans the next attempt, if there is one, and decides whether the endpoint is paused or disabled.
func (o *Outbox) recordFailure(ctx context.Context, tx pgx.Tx, to target, m message, r outcome) (disabled string, err error) {
	if m.Attempts > len(retries) {
		_, err = tx.Exec(ctx, `UPDATE webhook_messages SET status = 'failed', ended_at = $2 WHERE id = $1 AND next_at = $3`, m.ID, r.at, m.ClaimedUntil)
	} else {
		_, err = tx.Exec(ctx, `UPDATE webhook_messages SET next_at = $2 WHERE id = $1 AND next_at = $3`, m.ID, r.at.Add(max(jitter(retries[m.Attempts-1]), r.retryAfter)), m.ClaimedUntil)
	}
	if err != nil {
		return "", err
	}
	switch {
	case r.status == http.StatusGone:
		disabled = "it answered 410 Gone"
	case to.FailingSince != nil && r.at.Sub(*to.FailingSince) >= disableAfter:
		disabled = fmt.Sprintf("nothing got through for %d hours; the last trouble: %s", int(disableAfter.Hours()), clean(r.err.Error()))
	}
	pause := time.Duration(0)
	if r.busyThere() {
		pause = max(min(pauseBase<<min(to.Pauses, 10), pauseMax), r.retryAfter)
	}
	tag, err := tx.Exec(ctx, `
		UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, $2), pause_until = greatest(pause_until, $3), pauses = CASE WHEN $4 THEN $5 + 1 ELSE pauses END,
			disabled_at = CASE WHEN $6 <> '' THEN $2::timestamptz END, disabled_reason = $6
		WHERE id = $1 AND disabled_at IS NULL`, to.ID, r.at, r.at.Add(pause), pause > 0, to.Pauses, disabled)
	if err == nil && tag.RowsAffected() == 0 {
		disabled = "" // somebody else has told the owner
	}
	return disabled, err
}

// jitter spreads a pause by a tenth to either side, so that what failed together does not come back together.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1)
}

// tellOwner says by another way that an endpoint is no longer sent to.
func (o *Outbox) tellOwner(ctx context.Context, to target, why string) {
	o.cfg.Logger.WarnContext(ctx, "an endpoint is disabled", "endpoint", to.ID, "account", to.AccountID, "reason", why)
	if o.cfg.Tell == nil {
		return
	}
	text := fmt.Sprintf("Your webhook endpoint %s is switched off: %s. Switch it on again when it works; what it missed is kept for 30 days.", hostOf(to.URL), why)
	if err := o.cfg.Tell(ctx, to.AccountID.String(), text); err != nil && !errors.Is(err, context.Canceled) {
		o.cfg.Logger.WarnContext(ctx, "the owner of an endpoint could not be told", "endpoint", to.ID, "error", err)
	}
}
