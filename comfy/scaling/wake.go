package scaling

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/signature"
)

const (
	wakeCalls  = 4                // of an address that takes them, while the engine does not come
	wakeRetry  = 15 * time.Second // after the first call that was not taken; longer after each further one
	wakeRest   = 5 * time.Minute  // after an engine was given up
	maxUnkept  = 128 << 20        // bytes of declarations, as comfy/graph reads
	wakeSignal = "engine.wake"
)

// Wake is what an engine's address is told, as JSON.
type Wake struct {
	ID     string    `json:"id"`
	Type   string    `json:"type"` // engine.wake
	At     time.Time `json:"at"`
	Engine string    `json:"engine"`
}

// Waker wakes engines that sleep. What was called stands in Postgres, so that all processes of a house call together no more often than one would.
type Waker struct {
	Pool *pgxpool.Pool
	Send func(ctx context.Context, address string, w Wake) error
	For  time.Duration // how long an engine may take to wake, until it is given up
}

// Wake calls the address of an engine that a run waits for, unless it was called a short while ago. Where the engine has not come within For it is given
// up: tired is how long it is left in peace from now on. An error says that the address did not take the call, which is made again later.
func (w *Waker) Wake(ctx context.Context, engine, address string) (tired time.Duration, err error) {
	var calls int
	err = w.Pool.QueryRow(ctx, `
		INSERT INTO engine_wakes AS w (engine, since, next_at, calls) VALUES ($1, now(), now() + $2, 1)
		ON CONFLICT (engine) DO UPDATE SET next_at = now() + $2,
			since = CASE WHEN w.since + $4 <= now() THEN now() ELSE w.since END, calls = CASE WHEN w.since + $4 <= now() THEN 1 ELSE w.calls + 1 END
		WHERE w.next_at <= now() AND w.since + $3 > now() OR w.since + $4 <= now()
		RETURNING calls`, engine, w.For/wakeCalls, w.For, w.For+wakeRest).Scan(&calls)
	if errors.Is(err, pgx.ErrNoRows) {
		return w.rest(ctx, engine)
	}
	if err != nil {
		return 0, fmt.Errorf("note that %s is woken: %w", engine, err)
	}
	if err := w.Send(ctx, address, Wake{ID: uuid.NewString(), Type: wakeSignal, At: time.Now().UTC(), Engine: engine}); err != nil {
		_, noted := w.Pool.Exec(ctx, `UPDATE engine_wakes SET next_at = now() + $2 WHERE engine = $1`, engine, wakeRetry*time.Duration(calls))
		return 0, errors.Join(fmt.Errorf("wake %s, call %d: %w", engine, calls, err), noted)
	}
	return 0, nil
}

// rest is how long an engine that was given up is left in peace; zero: it was not.
func (w *Waker) rest(ctx context.Context, engine string) (time.Duration, error) {
	var seconds float64
	err := w.Pool.QueryRow(ctx, `SELECT CASE WHEN since + $2 <= now() THEN extract(epoch FROM since + $3 - now())::float8 ELSE 0 END FROM engine_wakes WHERE engine = $1`,
		engine, w.For, w.For+wakeRest).Scan(&seconds)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) { // it came meanwhile
		return 0, fmt.Errorf("see whether %s is being woken: %w", engine, err)
	}
	return max(0, time.Duration(seconds*float64(time.Second))), nil
}

// Awake notes that an engine is up.
func (w *Waker) Awake(ctx context.Context, engine string) error {
	_, err := w.Pool.Exec(ctx, `DELETE FROM engine_wakes WHERE engine = $1`, engine)
	return errs.Wrap(err, "note that %s is awake", engine)
}

// Keep keeps what an engine declares, for the time when it sleeps.
func (w *Waker) Keep(ctx context.Context, engine string, declarations []byte) error {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(declarations)
	if err = errors.Join(err, z.Close()); err == nil {
		_, err = w.Pool.Exec(ctx, `INSERT INTO engine_declarations (engine, declarations) VALUES ($1, $2) ON CONFLICT (engine) DO UPDATE SET declarations = $2`, engine, packed.Bytes())
	}
	return errs.Wrap(err, "keep what %s declares", engine)
}

// Kept is what an engine declared when it was up; nil: nobody knows.
func (w *Waker) Kept(ctx context.Context, engine string) (declarations []byte, err error) {
	var packed []byte
	err = w.Pool.QueryRow(ctx, `SELECT declarations FROM engine_declarations WHERE engine = $1`, engine).Scan(&packed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(packed)); err == nil {
			declarations, err = io.ReadAll(io.LimitReader(z, maxUnkept))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s declared: %w", engine, err)
	}
	return declarations, nil
}

// ToAddresses calls addresses by POST, with the headers of each by host and path, and signed as signals are where there is a secret. Errors show no address,
// which may have a key in it.
func ToAddresses(hooks *outbound.Hooks, headers map[string]http.Header, secret []byte) func(ctx context.Context, address string, w Wake) error {
	return func(ctx context.Context, address string, w Wake) error {
		u, err := url.Parse(address)
		if err != nil {
			return errors.New("its address is none")
		}
		data, err := json.Marshal(w)
		if err != nil {
			return err
		}
		err = post(ctx, hooks, address, data, func(h http.Header) {
			maps.Copy(h, headers[u.Host+u.Path])
			if secret != nil {
				signature.Sign(h, w.ID, w.At, data, secret)
			}
		})
		var failed *url.Error
		if errors.As(err, &failed) {
			return fmt.Errorf("no answer from %s: %w", u.Host, failed.Err)
		}
		return err
	}
}
