package api

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/seal"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

const (
	keepAnswers = 24 * time.Hour
	workWithin  = time.Minute // a request that was begun and has no answer by then died with its process
)

const maxIdempotencyKey = 255

var (
	// errKeyReused is the error of another request with the Idempotency-Key of an earlier one.
	errKeyReused = idempotencyProblem(http.StatusUnprocessableEntity, "idempotency_key_reused",
		registry.Errorf(registry.CodeInvalidInput, "this Idempotency-Key was used for another request; nothing was started"))
	// errInFlight answers a repeat that comes while the first is being worked on.
	errInFlight = idempotencyProblem(http.StatusConflict, "idempotency_key_in_use",
		&registry.Error{Code: registry.CodeUnavailable, Message: "a request with this Idempotency-Key is being worked on; ask again in a moment", Retryable: true, RetryAfter: time.Second})
)

func idempotencyProblem(status int, code string, e *registry.Error) *problem.Problem {
	return &problem.Problem{Status: status, Code: code, Detail: e.Message, Retryable: e.Retryable, RetryAfter: int(e.RetryAfter / time.Second), Cause: e}
}

// Answers keeps the answers to requests with an Idempotency-Key for a day, by account, path and key.
type Answers struct {
	pool *pgxpool.Pool
	seal seal.Sealer
}

// NewAnswers keeps answers in a database, encrypted with a key that follows from secret.
func NewAnswers(pool *pgxpool.Pool, secret []byte) (*Answers, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "signalbox remembered answers", 32)
	if err != nil {
		return nil, fmt.Errorf("web: answers: %w", err)
	}
	sealer, err := seal.New(key)
	return &Answers{pool, sealer}, err
}

// answerKey is what makes a request the same as another.
type answerKey struct{ account, path, key string }

func (k answerKey) owner() string { return k.account + " " + k.path + " " + k.key }

// kept is an answer that was given before.
type kept struct {
	body   []byte
	status *int
	answer []byte
	at     time.Time
}

// begin notes that a request is being worked on, or gives what was kept of an earlier one.
func (a *Answers) begin(ctx context.Context, k answerKey, body []byte, now time.Time) (*kept, error) {
	_, err := a.pool.Exec(ctx, `DELETE FROM web_answers WHERE created_at < $1 OR status IS NULL AND created_at < $2`, now.Add(-keepAnswers), now.Add(-workWithin))
	if err != nil {
		return nil, fmt.Errorf("delete old answers: %w", err)
	}
	tag, err := a.pool.Exec(ctx, `INSERT INTO web_answers (account_id, path, key, body, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		k.account, k.path, k.key, body, now)
	if err != nil || tag.RowsAffected() == 1 {
		return nil, err
	}
	var found kept
	err = a.pool.QueryRow(ctx, `SELECT body, status, answer, created_at FROM web_answers WHERE account_id = $1 AND path = $2 AND key = $3`, k.account, k.path, k.key).
		Scan(&found.body, &found.status, &found.answer, &found.at)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, errInFlight // it has failed just now; the next try is a new one
	case err != nil:
		return nil, fmt.Errorf("read a kept answer: %w", err)
	case !bytes.Equal(found.body, body):
		return nil, errKeyReused
	case found.status == nil:
		return nil, errInFlight
	}
	found.answer, err = a.seal.Open(found.answer, k.owner())
	return &found, err
}

// end keeps an answer. Trouble on our side is not kept: a repeat may do better.
func (a *Answers) end(ctx context.Context, k answerKey, status int, answer []byte) error {
	var err error
	if status >= http.StatusInternalServerError {
		_, err = a.pool.Exec(ctx, `DELETE FROM web_answers WHERE account_id = $1 AND path = $2 AND key = $3`, k.account, k.path, k.key)
	} else {
		_, err = a.pool.Exec(ctx, `UPDATE web_answers SET status = $4, answer = $5 WHERE account_id = $1 AND path = $2 AND key = $3`,
			k.account, k.path, k.key, status, a.seal.Close(answer, k.owner()))
	}
	return errs.Wrap(err, "keep an answer")
}

// onceOnly makes handlers answer a request with an Idempotency-Key once.
type onceOnly struct {
	answers *Answers // nil: they answer each repeat anew
	now     func() time.Time
	log     *slog.Logger
}

// of makes a handler of small JSON requests answer a repeat of one with an Idempotency-Key as it answered the first.
func (o onceOnly) of(h door.Handler) door.Handler {
	return func(w http.ResponseWriter, r *http.Request, who users.Account) error {
		key := r.Header.Get("Idempotency-Key")
		if key == "" || o.answers == nil {
			return h(w, r, who)
		}
		if err := checkIdempotencyKey(key); err != nil {
			return err
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, door.MaxText))
		if err != nil {
			return registry.Errorf(registry.CodeInvalidInput, "the body can't be read, or is larger than %d bytes", door.MaxText)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		sum := sha256.Sum256(body)
		k := answerKey{who.ID, r.Method + " " + r.URL.Path, key}
		before, err := o.answers.begin(r.Context(), k, sum[:], o.now())
		if err != nil {
			return err
		}
		if before != nil {
			w.Header().Set("Idempotent-Replayed", "true")
			writeAnswer(w, *before.status, before.answer)
			return nil
		}
		return o.answerAndKeep(w, r, who, k, h)
	}
}

func checkIdempotencyKey(key string) error {
	if len(key) > maxIdempotencyKey {
		return registry.Errorf(registry.CodeInvalidInput, "the Idempotency-Key has %d bytes, the limit is %d", len(key), maxIdempotencyKey)
	}
	return nil
}

// answerAndKeep works on a request and keeps its answer, also when the client has gone: it will ask again.
func (o onceOnly) answerAndKeep(w http.ResponseWriter, r *http.Request, who users.Account, k answerKey, h door.Handler) error {
	answer := &recorded{header: w.Header(), status: http.StatusOK}
	panicked := true
	defer func() {
		if panicked {
			_ = o.answers.end(context.WithoutCancel(r.Context()), k, http.StatusInternalServerError, nil) // the panic is what is told
		}
	}()
	if err := h(answer, r, who); err != nil {
		problem.Fail(answer, r, o.log, err)
	}
	panicked = false
	if err := o.answers.end(context.WithoutCancel(r.Context()), k, answer.status, answer.body.Bytes()); err != nil {
		o.log.Error("an answer could not be kept for repeats", "path", r.URL.Path, "error", err)
	}
	w.WriteHeader(answer.status)
	w.Write(answer.body.Bytes())
	return nil
}

func writeAnswer(w http.ResponseWriter, status int, body []byte) {
	kind := "application/json"
	if status >= http.StatusBadRequest {
		kind = "application/problem+json"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body)
}

// recorded is an answer that is kept before it is sent.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header gives the header of the real answer.
func (r *recorded) Header() http.Header { return r.header }

// WriteHeader notes the status.
func (r *recorded) WriteHeader(status int) { r.status = status }

// Write notes the body.
func (r *recorded) Write(p []byte) (int, error) { return r.body.Write(p) }
