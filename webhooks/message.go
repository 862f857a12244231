package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Message is what an endpoint was told or is to be told.
type Message struct {
	ID        uuid.UUID
	Type      string
	Subject   string // the run
	Sequence  int64  // of what is told of the subject, from 1
	Status    string // pending, delivered, failed
	Attempts  int
	CreatedAt time.Time
	NextAt    time.Time // when it is tried next, while it is pending
	EndedAt   *time.Time
}

// Attempt is one try to tell it.
type Attempt struct {
	At     time.Time
	Status int // HTTP; 0: no answer
	TookMs int
	Error  string
	Answer string // its first kilobyte
}

const maxLog = 200 // messages in a list

// Messages lists what an endpoint was told, newest first, at most 200.
func (o *Outbox) Messages(ctx context.Context, accountID, endpoint string) ([]Message, error) {
	return o.latest(ctx, accountID, endpoint, maxLog)
}

func (o *Outbox) latest(ctx context.Context, accountID, endpoint string, limit int) ([]Message, error) {
	if _, err := o.Endpoint(ctx, accountID, endpoint); err != nil {
		return nil, err
	}
	rows, _ := o.cfg.Pool.Query(ctx, `
		SELECT id, type, subject, sequence, status, attempts, created_at, next_at, ended_at FROM webhook_messages
		WHERE endpoint_id = $1 ORDER BY created_at DESC, sequence DESC LIMIT $2`, endpoint, limit)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Message])
	return list, errs.Wrap(err, "list the messages of endpoint %s", endpoint)
}

// ofAccount limits a statement to a message of an endpoint of an account: $1, $2 and $3 are account, endpoint and
// message.
const ofAccount = ` m.id::text = $3 AND m.endpoint_id = (SELECT id FROM webhook_endpoints WHERE account_id = $1 AND id::text = $2)`

// Attempts lists the tries to tell a message, oldest first. One that there is not, or that is somebody else's, is ErrNoEndpoint.
func (o *Outbox) Attempts(ctx context.Context, accountID, endpoint, id string) ([]Attempt, error) {
	rows, _ := o.cfg.Pool.Query(ctx, `
		SELECT a.at, a.status, a.took_ms, a.error, a.answer FROM webhook_messages m JOIN webhook_attempts a ON a.message_id = m.id
		WHERE`+ofAccount+` ORDER BY a.id`, accountID, endpoint, id)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Attempt])
	if err != nil {
		return nil, fmt.Errorf("list the attempts of message %s: %w", id, err)
	}
	there := len(list) > 0
	if !there { // it may not have been tried yet
		err = o.cfg.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM webhook_messages m WHERE`+ofAccount+`)`, accountID, endpoint, id).Scan(&there)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("list the attempts of message %s: %w", id, err)
	case !there:
		return nil, ErrNoEndpoint
	}
	return list, nil
}

// Delivery is a message with the latest tries to tell it, oldest first.
type Delivery struct {
	Message
	Tries []Attempt
}

const triesShown = 5 // of a message among many

// Deliveries lists the latest messages of an endpoint, newest first, at most limit, each with its last five attempts.
func (o *Outbox) Deliveries(ctx context.Context, accountID, endpoint string, limit int) ([]Delivery, error) {
	messages, err := o.latest(ctx, accountID, endpoint, min(limit, maxLog))
	if err != nil {
		return nil, err
	}
	list, places := make([]Delivery, len(messages)), make(map[uuid.UUID]int, len(messages))
	ids := make([]uuid.UUID, len(messages))
	for i, m := range messages {
		list[i].Message, places[m.ID], ids[i] = m, i, m.ID
	}
	rows, _ := o.cfg.Pool.Query(ctx, `
		SELECT m.id, a.at, a.status, a.took_ms, a.error, a.answer FROM unnest($1::uuid[]) AS m (id) CROSS JOIN LATERAL (
			SELECT t.id, t.at, t.status, t.took_ms, t.error, t.answer FROM webhook_attempts t WHERE t.message_id = m.id ORDER BY t.id DESC LIMIT $2) a
		ORDER BY a.id`, ids, triesShown)
	var of uuid.UUID
	var try Attempt
	_, err = pgx.ForEachRow(rows, []any{&of, &try.At, &try.Status, &try.TookMs, &try.Error, &try.Answer}, func() error {
		at := &list[places[of]]
		at.Tries = append(at.Tries, try)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the attempts of endpoint %s: %w", endpoint, err)
	}
	return list, nil
}

// Test has an endpoint told something harmless.
func (o *Outbox) Test(ctx context.Context, accountID, endpoint string) (messageID string, err error) {
	rows, _ := o.cfg.Pool.Query(ctx, `
		INSERT INTO webhook_messages (endpoint_id, type, subject, sequence, data, created_at, next_at)
		SELECT id, $3, $5, 1, '{"text": "This is a test."}', $4, $4 FROM webhook_endpoints WHERE account_id = $1 AND id::text = $2
		RETURNING id::text`, accountID, endpoint, EventTest, o.cfg.Now(), "test-"+uuid.NewString())
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("test endpoint %s: %w", endpoint, err)
	}
	if len(ids) == 0 {
		return "", ErrNoEndpoint
	}
	o.look()
	return ids[0], nil
}

// again has messages told again, under their ids and with all attempts before them.
const again = `UPDATE webhook_messages m SET status = 'pending', ended_at = NULL, attempts = 0, next_at = $4 WHERE`

// Resend sends a message again under its old id, whatever its state.
func (o *Outbox) Resend(ctx context.Context, accountID, endpoint, id string) error {
	tag, err := o.cfg.Pool.Exec(ctx, again+ofAccount, accountID, endpoint, id, o.cfg.Now())
	if err != nil {
		return fmt.Errorf("send message %s again: %w", id, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoEndpoint
	}
	o.look()
	return nil
}

// Recover tells everything again that an endpoint missed since a time, and tells how much that is.
func (o *Outbox) Recover(ctx context.Context, accountID, endpoint string, since time.Time) (int64, error) {
	if _, err := o.Endpoint(ctx, accountID, endpoint); err != nil {
		return 0, err
	}
	tag, err := o.cfg.Pool.Exec(ctx, again+` m.endpoint_id::text = $2 AND m.created_at >= $3 AND m.status = 'failed' AND $1 <> ''`, accountID, endpoint, since, o.cfg.Now())
	if err != nil {
		return 0, fmt.Errorf("recover endpoint %s: %w", endpoint, err)
	}
	o.look()
	return tag.RowsAffected(), nil
}
