package webhooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/seal"
)

// OutboxConfig is what an Outbox works with. Pool, Key, Hooks and Data are needed.
type OutboxConfig struct {
	Pool  *pgxpool.Pool
	Key   []byte          // 32 bytes that the endpoints' secrets are encrypted with, the same on all machines
	Hooks *outbound.Hooks // how endpoints are reached, and which may be
	// Data tells of a run that is over, as JSON.
	Data func(ctx context.Context, runID string) (json.RawMessage, error)
	// Tell lets the owner of an endpoint know by another way than the endpoint; nil: only the log and the list of
	// endpoints say it.
	Tell func(ctx context.Context, accountID, text string) error

	Logger  *slog.Logger          // nil: nothing is logged
	Metrics prometheus.Registerer // nil: not exported
	Now     func() time.Time      // nil: time.Now
	Random  io.Reader             // of secrets; nil: the system's cryptographic source
	Poll    time.Duration         // how often it looks for messages while anybody has an endpoint; 0: 250 ms
}

const (
	endpointsAtOnce = 64              // that are sent to at a time
	perEndpoint     = 8               // messages of one endpoint at a time
	sendFor         = 2 * SendTimeout // what a process that is gone was at is sent by another after that
	keepMessages    = 30 * 24 * time.Hour
	restEvery       = 2 * time.Second // a look where nobody has an endpoint
)

// Outbox sends programs of our users the states of their runs, signed by Standard Webhooks. Any number of processes
// may share one database.
type Outbox struct {
	cfg  OutboxConfig
	seal seal.Sealer
	sent *prometheus.CounterVec

	hasEndpoints bool // somebody had one at the last look

	mu   sync.Mutex
	busy map[string]bool // endpoints that are being sent to by this process
	end  context.CancelFunc
	work sync.WaitGroup
	wake chan struct{}
}

// NewOutbox makes an Outbox. It manages endpoints; Start lets it send.
func NewOutbox(cfg OutboxConfig) (*Outbox, error) {
	if cfg.Pool == nil || cfg.Hooks == nil || cfg.Data == nil {
		return nil, errors.New("webhooks: OutboxConfig needs Pool, Hooks and Data")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Random = cmp.Or(cfg.Random, rand.Reader)
	if cfg.Poll <= 0 {
		cfg.Poll = 250 * time.Millisecond
	}
	secrets, err := seal.New(cfg.Key)
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	o := &Outbox{cfg: cfg, seal: secrets, busy: map[string]bool{}, wake: make(chan struct{}, 1), sent: prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "signalbox", Subsystem: "webhooks", Name: "sent_total", Help: "Attempts to send messages to endpoints, by outcome: delivered, refused, no_answer.",
	}, []string{"outcome"})}
	if err := cfg.Metrics.Register(o.sent); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return o, nil
}

// Start begins to send.
func (o *Outbox) Start(context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end != nil {
		return errors.New("webhooks: the outbox was started before")
	}
	ctx, end := context.WithCancel(context.Background())
	o.end = end
	o.work.Go(func() { o.sendAll(ctx) })
	return nil
}

// Stop gives up what is being sent; it is sent again at the next start, or elsewhere.
func (o *Outbox) Stop(context.Context) error {
	o.mu.Lock()
	end := o.end
	o.mu.Unlock()
	if end != nil {
		end()
		o.work.Wait()
	}
	return nil
}

func (o *Outbox) sendAll(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	var pruned time.Time
	for ctx.Err() == nil {
		err := o.sendDue(ctx)
		next.Reset(o.pause())
		if now := o.cfg.Now(); err == nil && now.Sub(pruned) > pruneEvery {
			pruned, err = now, o.prune(ctx)
		}
		if err != nil && ctx.Err() == nil {
			o.cfg.Logger.ErrorContext(ctx, "sending to endpoints failed; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-o.wake:
		case <-next.C:
		}
	}
}

// pause is how long it takes until the next look.
func (o *Outbox) pause() time.Duration {
	if o.hasEndpoints {
		return o.cfg.Poll
	}
	return max(o.cfg.Poll, restEvery)
}

// look makes the outbox look for messages now.
func (o *Outbox) look() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// message is one message on its way to an endpoint.
type message struct {
	ID, EndpointID uuid.UUID
	Type, Subject  string
	Sequence       int64
	Data, Payload  []byte
	Attempts       int
	CreatedAt      time.Time
	ClaimedUntil   time.Time // who has it sent again meanwhile changes this
}

// sendDue claims messages that are due, a few of each endpoint, and sends them, each endpoint's beside all others': one
// that does not answer holds up nobody else.
func (o *Outbox) sendDue(ctx context.Context) error {
	var claimed []message
	now, batch := o.cfg.Now(), &pgx.Batch{}
	batch.Queue(`SELECT EXISTS (SELECT FROM webhook_endpoints WHERE disabled_at IS NULL)`).QueryRow(func(row pgx.Row) error { return row.Scan(&o.hasEndpoints) })
	batch.Queue(`
		UPDATE webhook_messages SET next_at = $2, attempts = attempts + 1
		WHERE id = ANY (ARRAY(
			SELECT m.id FROM webhook_endpoints e CROSS JOIN LATERAL (
				SELECT p.id FROM webhook_messages p
				WHERE p.endpoint_id = e.id AND p.status = 'pending' AND p.next_at <= $1
					AND (NOT e.ordered OR NOT EXISTS (SELECT FROM webhook_messages q
						WHERE q.endpoint_id = e.id AND q.subject = p.subject AND q.sequence < p.sequence AND q.status = 'pending'))
				ORDER BY p.next_at, p.sequence LIMIT $4 FOR UPDATE SKIP LOCKED) m
			WHERE e.disabled_at IS NULL AND e.pause_until <= $1 AND e.id <> ALL ($3::uuid[]) LIMIT $5))
		RETURNING id, endpoint_id, type, subject, sequence, convert_to(data::text, 'UTF8'), payload, attempts, created_at, next_at`,
		now, now.Add(sendFor), o.busyNow(), perEndpoint, o.room()*perEndpoint).Query(func(rows pgx.Rows) (err error) {
		claimed, err = pgx.CollectRows(rows, pgx.RowToStructByPos[message])
		return err
	})
	if err := o.cfg.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("claim messages: %w", err)
	}
	queues := map[uuid.UUID][]message{}
	for _, m := range claimed {
		queues[m.EndpointID] = append(queues[m.EndpointID], m)
	}
	for id, queue := range queues {
		o.enter(id.String())
		o.work.Go(func() {
			defer o.leave(id.String())
			o.sendQueue(ctx, id, queue)
		})
	}
	return nil
}

// room is how many more endpoints may be sent to.
func (o *Outbox) room() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return max(endpointsAtOnce-len(o.busy), 0)
}

func (o *Outbox) busyNow() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.AppendSeq([]string{}, maps.Keys(o.busy)) // not nil, which is NULL
}

func (o *Outbox) enter(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.busy[id] = true
}

func (o *Outbox) leave(id string) {
	o.mu.Lock()
	delete(o.busy, id)
	o.mu.Unlock()
	o.look()
}

// prune forgets messages, with their attempts, after thirty days.
func (o *Outbox) prune(ctx context.Context) error {
	_, err := o.cfg.Pool.Exec(ctx, `DELETE FROM webhook_messages WHERE created_at < $1`, o.cfg.Now().Add(-keepMessages))
	return errs.Wrap(err, "prune messages")
}
