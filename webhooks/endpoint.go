package webhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/registry"
)

// The types of messages. EventTest is sent when its owner asks for it.
const (
	EventStarted  = "run.started"
	EventProgress = "run.progress" // a change of what is known of a run under way, at most one a second
	EventFinished = "run.finished"
	EventTest     = "endpoint.test"
)

const (
	maxEndpoints = 10 // of an account
	maxURL       = 2000
	overlap      = 24 * time.Hour // in which a secret that was replaced signs, too
)

// Endpoint is where a program wants to hear of its account's runs.
type Endpoint struct {
	ID             uuid.UUID
	AccountID      uuid.UUID
	URL            string
	Events         []string // types of messages
	Ordered        bool     // what is later of one run waits until what is earlier got through or is given up
	CreatedAt      time.Time
	DisabledAt     *time.Time // nil: it is sent to
	DisabledReason string
	FailingSince   *time.Time // nothing got through since
}

const endpointColumns = `id, account_id, url, events, ordered, created_at, disabled_at, disabled_reason, failing_since`

// ErrNoEndpoint says that there is no such endpoint or message, or that it is somebody else's.
var ErrNoEndpoint = errors.New("there is no such endpoint or message")

// Create adds an endpoint of an account. Its secret is told only now. Without events it hears of the start and the
// end of runs. An address that may not be sent to is a *registry.Error with CodeInvalidInput.
func (o *Outbox) Create(ctx context.Context, e Endpoint) (made Endpoint, secret string, err error) {
	if err := o.checkEndpoint(&e); err != nil {
		return Endpoint{}, "", err
	}
	e.ID, e.CreatedAt = uuid.New(), o.cfg.Now()
	secret, sealed, err := o.newSecret(e.ID)
	if err != nil {
		return Endpoint{}, "", err
	}
	// The limit is against floods: two at once may get past it by one.
	tag, err := o.cfg.Pool.Exec(ctx, `
		INSERT INTO webhook_endpoints (id, account_id, url, events, ordered, secret, created_at)
		SELECT $1, $2, $3, $4, $5, $6, $7 WHERE (SELECT count(*) FROM webhook_endpoints WHERE account_id = $2) < $8`,
		e.ID, e.AccountID, e.URL, e.Events, e.Ordered, sealed, e.CreatedAt, maxEndpoints)
	if err != nil {
		return Endpoint{}, "", fmt.Errorf("add an endpoint: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return Endpoint{}, "", registry.Errorf(registry.CodeInvalidInput, "there are %d endpoints already; delete one first", maxEndpoints)
	}
	o.look() // more often from now on
	return e, secret, nil
}

func (o *Outbox) checkEndpoint(e *Endpoint) error {
	problem := func(field, format string, args ...any) error {
		refused := registry.Errorf(registry.CodeInvalidInput, format, args...)
		refused.Field = field
		return refused
	}
	if len(e.URL) > maxURL {
		return problem("url", "url: it has more than %d letters", maxURL)
	}
	if err := o.cfg.Hooks.Check(e.URL); err != nil {
		return problem("url", "url: %s", err)
	}
	known := []string{EventStarted, EventProgress, EventFinished}
	for _, name := range e.Events {
		if !slices.Contains(known, name) {
			return problem("events", "events: found %.50q, expected some of %s", name, strings.Join(known, ", "))
		}
	}
	if len(e.Events) == 0 {
		e.Events = []string{EventStarted, EventFinished}
	}
	slices.Sort(e.Events)
	e.Events = slices.Compact(e.Events)
	return nil
}

func (o *Outbox) newSecret(endpoint uuid.UUID) (secret string, sealed []byte, err error) {
	raw := make([]byte, 32)
	if _, err := io.ReadFull(o.cfg.Random, raw); err != nil {
		return "", nil, fmt.Errorf("make a secret: %w", err)
	}
	if secret, err = signature.NewSecret(raw); err != nil {
		return "", nil, err
	}
	return secret, o.seal.Close(raw, endpoint.String()), nil
}

// Endpoints lists an account's endpoints, oldest first.
func (o *Outbox) Endpoints(ctx context.Context, accountID string) ([]Endpoint, error) {
	rows, _ := o.cfg.Pool.Query(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoints WHERE account_id = $1 ORDER BY created_at, id`, accountID)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Endpoint])
	return list, errs.Wrap(err, "list endpoints")
}

// Endpoint gives one of an account, or ErrNoEndpoint.
func (o *Outbox) Endpoint(ctx context.Context, accountID, id string) (Endpoint, error) {
	rows, _ := o.cfg.Pool.Query(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoints WHERE account_id = $1 AND id::text = $2`, accountID, id)
	e, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Endpoint])
	if errors.Is(err, pgx.ErrNoRows) {
		return Endpoint{}, ErrNoEndpoint
	}
	return e, err
}

// change runs a statement on one endpoint, which $1 and $2 name by account and id.
func (o *Outbox) change(ctx context.Context, sql, accountID, id string, args ...any) error {
	tag, err := o.cfg.Pool.Exec(ctx, sql+` WHERE account_id = $1 AND id::text = $2`, append([]any{accountID, id}, args...)...)
	if err != nil {
		return fmt.Errorf("change endpoint %s: %w", id, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoEndpoint
	}
	o.look()
	return nil
}

// Delete removes an endpoint with all that was meant for it.
func (o *Outbox) Delete(ctx context.Context, accountID, id string) error {
	return o.change(ctx, `DELETE FROM webhook_endpoints`, accountID, id)
}

// Rotate replaces an endpoint's secret and tells the new one. For a day both sign.
func (o *Outbox) Rotate(ctx context.Context, accountID, id string) (secret string, err error) {
	e, err := o.Endpoint(ctx, accountID, id)
	if err != nil {
		return "", err
	}
	secret, sealed, err := o.newSecret(e.ID)
	if err != nil {
		return "", err
	}
	return secret, o.change(ctx, `UPDATE webhook_endpoints SET old_secret = secret, old_until = $4, secret = $3`, accountID, id, sealed, o.cfg.Now().Add(overlap))
}

// Enable has an endpoint sent to again, and that at once: what was kept for it, too.
func (o *Outbox) Enable(ctx context.Context, accountID, id string) error {
	return o.change(ctx, `UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = '', failing_since = NULL, pause_until = '-infinity', pauses = 0`, accountID, id)
}

// DisabledByOwner is the reason of an endpoint that its owner has paused.
const DisabledByOwner = "paused by its owner"

// Disable has an endpoint sent nothing until Enable. What it is to be told meanwhile is kept for it. One that is
// disabled already keeps its reason.
func (o *Outbox) Disable(ctx context.Context, accountID, id string) error {
	return o.change(ctx, `UPDATE webhook_endpoints SET disabled_at = coalesce(disabled_at, $3), disabled_reason = CASE WHEN disabled_at IS NULL THEN $4 ELSE disabled_reason END`,
		accountID, id, o.cfg.Now(), DisabledByOwner)
}

// Adopt gives the endpoints of an account to the one that it is merged into; Leave takes away those that came from it.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `
		UPDATE webhook_endpoints SET account_id = $2, joined_from = coalesce(joined_from, account_id) WHERE account_id IN ($1, $2)`, from, into)
	return errs.Wrap(err, "give the endpoints of %s to %s", from, into)
}

// Leave deletes the endpoints that an account has from another, which was merged into it and leaves again.
func Leave(ctx context.Context, tx pgx.Tx, accountID, from string) error {
	_, err := tx.Exec(ctx, `DELETE FROM webhook_endpoints WHERE account_id = $1 AND joined_from = $2`, accountID, from)
	return errs.Wrap(err, "take away the endpoints that %s has from %s", accountID, from)
}

// Forget deletes the endpoints of an account and all that was told to them.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM webhook_endpoints WHERE account_id = $1`, accountID)
	return errs.Wrap(err, "forget the endpoints of %s", accountID)
}

// Export writes where programs of an account are told of runs, without the secrets that sign it.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	return to.JSON(ctx, tx, "webhooks.json", `SELECT id, url, events, ordered, created_at, disabled_at, disabled_reason FROM webhook_endpoints WHERE account_id = $1 ORDER BY created_at`, accountID)
}
