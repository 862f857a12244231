// Package store reads runs, each as a Record, and tells watchers here and in other processes of their changes. Env is what all parts
// of the service share.
package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/group"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Store reads runs and the tools that they were accepted with.
type Store struct {
	*Env
	tools      toolCache
	loads      *group.Group[load]
	thumbnails *assets.Thumbnails
	files      *assets.Total
	positions  queuePositions
	written    written
	ahead      func() map[string]int // runs that a service has and has not begun

	turns   map[string]string // the account that was served last, by service
	turning sync.Mutex        // guards turns
}

// NewStore makes a Store.
func NewStore(e *Env) *Store {
	s := &Store{Env: e, thumbnails: assets.NewThumbnails(e.Config.Pool), files: assets.NewTotal(e.Config.Pool), turns: make(map[string]string)}
	s.loads = group.New(GroupSize, s.flushLoads, group.Lane{}, group.Lane{})
	s.loads.Place = func(l *load) (lane int, id string) { return Spread(l.id, s.loads.Lanes()), l.id }
	return s
}

const runColumns = `r.id::text, r.account_id::text, r.tool_id, r.tool_version, r.status, r.waiting, r.fraction, r.stage, r.queue_position,
	convert_to(r.inputs::text, 'UTF8'), convert_to(r.sources::text, 'UTF8'), convert_to(r.quote::text, 'UTF8'), convert_to(r.outputs::text, 'UTF8'), r.cost, convert_to(r.receipt::text, 'UTF8'), convert_to(r.error::text, 'UTF8'),
	r.platform, convert_to(r.target::text, 'UTF8'), r.deliverable, coalesce(r.parent::text, ''), r.attempt, convert_to(r.ticket::text, 'UTF8'), r.timeout_ms,
	r.created_at, r.started_at, r.ended_at, r.delivered_at, r.refunded_at, r.confirmed_at, convert_to(r.context::text, 'UTF8'),
	r.files_deleted_at, r.deleted_at, r.notice, r.expected_at, r.granted, convert_to(r.preview::text, 'UTF8'), coalesce(r.group_id::text, ''), coalesce(r.payer::text, ''), coalesce(r.budget, ''), r.engine_deaths, ` + questionSQL

// stored is a row before its parts are decoded.
type stored struct {
	Record
	toolID, version                                           string
	inputs, sources, quote, outputs, receipt, failure, ticket []byte
	target, context, question, preview                        []byte
	timeoutMs                                                 int64
}

func scanRun(row pgx.CollectableRow) (stored, error) {
	var s stored
	err := row.Scan(&s.ID, &s.AccountID, &s.toolID, &s.version, &s.Status, &s.Waiting, &s.Fraction, &s.Stage, &s.QueuePosition,
		&s.inputs, &s.sources, &s.quote, &s.outputs, &s.Cost, &s.receipt, &s.failure,
		&s.Origin.Platform, &s.target, &s.Deliverable, &s.Parent, &s.Attempt, &s.ticket, &s.timeoutMs,
		&s.CreatedAt, &s.StartedAt, &s.EndedAt, &s.DeliveredAt, &s.RefundedAt, &s.ConfirmedAt, &s.context,
		&s.FilesDeletedAt, &s.DeletedAt, &s.Notice, &s.ExpectedAt, &s.Granted, &s.preview, &s.Group, &s.Payer, &s.Budget, &s.Deaths, &s.question)
	return s, err
}

// decode makes a record of the row, but for its tool.
func (s *stored) decode() error {
	s.Timeout = time.Duration(s.timeoutMs) * time.Millisecond
	s.Origin.Target = s.target
	var failure runs.StoredFailure
	for _, part := range []struct {
		raw  []byte
		into any
	}{
		{s.inputs, &s.Inputs}, {s.sources, &s.Sources}, {s.quote, &s.Quote}, {s.outputs, &s.Outputs},
		{s.receipt, &s.Receipt}, {s.failure, &failure}, {s.ticket, &s.Record.Ticket}, {s.context, &s.Context}, {s.preview, &s.Preview},
	} {
		if part.raw == nil {
			continue
		}
		if err := decimal.Unmarshal(part.raw, part.into); err != nil {
			return fmt.Errorf("run %s: stored %T: %w", s.ID, part.into, err)
		}
	}
	if s.Error = failure.Failure; s.Error != nil {
		s.Error.Said = failure.Said
	}
	var err error
	if s.Question, err = decodeQuestion(s.question); err != nil {
		return fmt.Errorf("run %s: stored question: %w", s.ID, err)
	}
	if s.Status == runs.StatusQueued {
		s.Sending, s.Record.Ticket = s.Record.Ticket, nil
	}
	for i := range s.Outputs {
		if o := &s.Outputs[i]; o.Media != "" { // of before each file had a name
			o.FileName = o.ProperName()
		}
	}
	if s.FilesDeletedAt != nil {
		s.WithoutFiles()
	}
	return nil
}

// Query reads runs; where says which and in what order.
func (s *Store) Query(ctx context.Context, where string, args ...any) ([]Record, error) {
	return s.queryOn(ctx, s.Config.Pool, where, args...)
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (s *Store) queryOn(ctx context.Context, q querier, where string, args ...any) ([]Record, error) {
	rows, _ := q.Query(ctx, `SELECT `+runColumns+` FROM runs r `+where, args...)
	found, err := pgx.CollectRows(rows, scanRun)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(found))
	for i := range found {
		if err := found[i].decode(); err != nil {
			return nil, err
		}
		if found[i].Tool, err = s.toolOf(ctx, q, ToolKey{found[i].toolID, found[i].version}); err != nil {
			return nil, fmt.Errorf("run %s: %w", found[i].ID, err)
		}
		records[i] = found[i].Record
		records[i].Strict = s.Config.Approval == runs.ApproveAll
	}
	return records, nil
}

// load is a request of a run, gathered with others.
type load struct {
	id    string
	found *Record
}

func (s *Store) flushLoads(ctx context.Context, loads []*load) error {
	ids := make([]string, len(loads))
	for i, l := range loads {
		ids[i] = l.id
	}
	where, which := `WHERE r.id = ANY ($1::uuid[])`, any(ids)
	if len(ids) == 1 {
		where, which = `WHERE r.id = $1`, ids[0] // its plan is kept
	}
	records, err := s.Query(ctx, where, which)
	if err != nil {
		return err
	}
	for i := range records {
		for _, l := range loads {
			if l.id == records[i].ID {
				l.found = &records[i]
			}
		}
	}
	return nil
}

// Load reads one run, or gives ErrNotFound.
func (s *Store) Load(ctx context.Context, runID string) (Record, error) {
	id, err := uuid.Parse(runID)
	if err != nil {
		return Record{}, fmt.Errorf("run %q: %w", runID, runs.ErrNotFound)
	}
	l := load{id: id.String()}
	if err := s.loads.Do(ctx, &l); err != nil {
		return Record{}, fmt.Errorf("read run %s: %w", runID, err)
	}
	if l.found == nil {
		return Record{}, fmt.Errorf("run %s: %w", runID, runs.ErrNotFound)
	}
	return *l.found, nil
}

// Get gives a run, or ErrNotFound, also for one that its owner deleted.
func (s *Store) Get(ctx context.Context, runID string) (runs.Run, error) {
	r, err := s.Load(ctx, runID)
	if err == nil && r.DeletedAt != nil {
		return runs.Run{}, fmt.Errorf("run %s: %w", runID, runs.ErrNotFound)
	}
	found := []Record{r}
	s.tellPositions(ctx, found)
	return found[0].Run, err
}

// Open gives those of the ids whose runs are the account's, not over and not deleted.
func (s *Store) Open(ctx context.Context, accountID string, ids []string) ([]string, error) {
	known := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return uuid.Validate(id) != nil })
	rows, _ := s.Config.Pool.Query(ctx, `SELECT r.id::text FROM runs r WHERE r.id = ANY ($1::uuid[]) AND r.account_id = $2 AND r.deleted_at IS NULL AND `+open, known, accountID)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Look is Get for operators, who see what stays of deleted runs.
func (s *Store) Look(ctx context.Context, runID string) (runs.Run, error) {
	r, err := s.Load(ctx, runID)
	return r.Run, err
}

// FirstID is the smallest id of a run that was accepted at t: ids begin with their time.
func FirstID(t time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(max(t.UnixMilli(), 0))<<16)
	return id.String()
}

// ToolKey names one version of a tool.
type ToolKey struct{ ID, Version string }

// KeyOf names a tool as it is.
func KeyOf(t registry.Tool) ToolKey { return ToolKey{ID: t.ToolID, Version: t.Version} }

// toolCache keeps the tools that runs were accepted with. Versions never change, so what is in the cache
// stays right.
type toolCache struct {
	mu    sync.Mutex
	known map[ToolKey]registry.Tool
}

// MaxCachedTools bounds the cache; when it is full it starts anew.
const MaxCachedTools = 4096

func (c *toolCache) find(key ToolKey) (registry.Tool, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tool, ok := c.known[key]
	return tool, ok
}

func (c *toolCache) put(key ToolKey, tool registry.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= MaxCachedTools {
		c.known = make(map[ToolKey]registry.Tool)
	}
	c.known[key] = tool
}

func (c *toolCache) get(ctx context.Context, q querier, key ToolKey) (registry.Tool, error) {
	if tool, ok := c.find(key); ok {
		return tool, nil
	}
	rows, _ := q.Query(ctx, `SELECT convert_to(definition::text, 'UTF8') FROM run_tools WHERE tool_id = $1 AND version = $2`, key.ID, key.Version)
	raw, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]byte])
	if errors.Is(err, pgx.ErrNoRows) {
		return registry.Tool{}, fmt.Errorf("%w: there is no version %s of %s", errUnreadable, key.Version, key.ID)
	}
	if err != nil {
		return registry.Tool{}, fmt.Errorf("tool %s version %s: %w", key.ID, key.Version, err)
	}
	tool, err := registry.DecodeStoredTool(raw)
	if err != nil {
		return registry.Tool{}, fmt.Errorf("%w: %s version %s: %w", errUnreadable, key.ID, key.Version, err)
	}
	c.put(key, tool)
	return tool, nil
}

// errUnreadable says that a tool as it was accepted is no tool by today's rules, or not there.
var errUnreadable = errors.New("the tool as it was accepted can't be read")

// toolOf is tools.get, with what little is certain in place of a tool that can't be read: one such run must
// not hide an account's history, and it has to come to an end that releases its hold.
func (s *Store) toolOf(ctx context.Context, q querier, key ToolKey) (registry.Tool, error) {
	tool, err := s.tools.get(ctx, q, key)
	if !errors.Is(err, errUnreadable) {
		return tool, err
	}
	s.Log.ErrorContext(ctx, "a tool of stored runs can't be read", "tool", key.ID, "version", key.Version, "error", err)
	tool = registry.Tool{ToolID: key.ID, Version: key.Version, DisplayName: key.ID}
	s.tools.put(key, tool)
	return tool, nil
}

// Begun reports whether any process ever began to work on a run: of one that is over and never begun nothing was sent.
func (s *Store) Begun(ctx context.Context, runID string) (begun bool, err error) {
	if err = s.Config.Pool.QueryRow(ctx, `SELECT claims > 0 FROM runs WHERE id = $1`, runID).Scan(&begun); err != nil {
		return false, fmt.Errorf("run %s: %w", runID, err)
	}
	return begun, nil
}

// ToolAt gives a version of a tool that KeepTool has stored.
func (s *Store) ToolAt(ctx context.Context, key ToolKey) (registry.Tool, error) {
	return s.tools.get(ctx, s.Config.Pool, key)
}

// KeepTool stores the tool's version, once for each process and version.
func (s *Store) KeepTool(ctx context.Context, tool registry.Tool) (ToolKey, error) {
	if tool.Version == "" {
		if err := tool.Seal(); err != nil {
			return ToolKey{}, err
		}
	}
	key := KeyOf(tool)
	if _, ok := s.tools.find(key); ok {
		return key, nil
	}
	definition, err := registry.Encode(tool)
	if err != nil {
		return ToolKey{}, err
	}
	_, err = s.Config.Pool.Exec(ctx, `INSERT INTO run_tools (tool_id, version, definition) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		key.ID, key.Version, definition)
	if err != nil {
		return ToolKey{}, err
	}
	s.tools.put(key, tool)
	return key, nil
}

// ErrGone says that a run was ended by somebody else.
var ErrGone = errors.New("the run is over")

// First gives the account's run that was asked for with an idempotency key, whatever became of its tool. ErrNotFound: there is none.
func (s *Store) First(ctx context.Context, accountID, key string) (runs.Run, error) {
	if key == "" || CheckKey(key) != nil {
		return runs.Run{}, runs.ErrNotFound
	}
	records, err := s.Query(ctx, `WHERE r.account_id = $1 AND r.idempotency_key = $2`, accountID, key)
	if err == nil && len(records) == 0 {
		err = runs.ErrNotFound
	}
	if err != nil {
		return runs.Run{}, fmt.Errorf("find the run of an idempotency key: %w", err)
	}
	return records[0].Run, nil
}

// Landed reports whether a run is there although its writing failed: when a connection breaks at the commit,
// nobody hears how that went, and who is told that there is no run must not be charged for one.
func (s *Store) Landed(ctx context.Context, runID string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), landedWithin)
	defer cancel()
	_, err := s.Load(ctx, runID)
	return err == nil
}

const (
	landedWithin = 5 * time.Second
	maxKey       = 500 // bytes of an idempotency key
)

// CheckKey refuses idempotency keys that the database can't keep.
func CheckKey(key string) error {
	if len(key) > maxKey {
		return registry.Errorf(registry.CodeInvalidInput, "the idempotency key has %d bytes, the limit is %d", len(key), maxKey)
	}
	if !utf8.ValidString(key) || strings.Contains(key, "\x00") {
		return registry.Errorf(registry.CodeInvalidInput, "the idempotency key holds bytes that are no characters")
	}
	return nil
}

// LockAccounts serialises what counts runs or looks for keys of the accounts. Advisory locks come before
// the ledger's and are taken in order.
const LockAccounts = `SELECT runs_lock(a) FROM (SELECT DISTINCT unnest($1::uuid[]) AS a ORDER BY a) AS accounts`

// LockRun reads a run and locks its row. A run of somebody else is ErrNotFound, so that ids tell nothing.
func (s *Store) LockRun(ctx context.Context, tx pgx.Tx, runID, accountID string) (Record, error) {
	if _, err := uuid.Parse(runID); err != nil {
		return Record{}, runs.ErrNotFound
	}
	found, err := s.queryOn(ctx, tx, `WHERE r.id = $1 FOR UPDATE`, runID)
	if err != nil {
		return Record{}, err
	}
	if len(found) == 0 || (accountID != "" && (found[0].AccountID != accountID || found[0].DeletedAt != nil)) {
		return Record{}, runs.ErrNotFound
	}
	return found[0], nil
}

// Now is the time as Postgres keeps it, so that what was written equals what is read.
func (s *Env) Now() time.Time { return s.Config.Now().Round(time.Microsecond) }

const stopsShown = 7 * 24 * time.Hour // how long an operator is told

const stopsPage = 20 // of which an operator is told at once

// Submits reports whether a run's provider works on it by itself, once it was told to.
func (s *Env) Submits(r *Record) bool {
	return s.Config.Providers[r.Tool.Service].Submitter != nil
}

// Unstopped lists the runs of the last days that could not be stopped at their services, newest first.
func (s *Store) Unstopped(ctx context.Context) ([]runs.Unstopped, error) {
	rows, _ := s.Config.Pool.Query(ctx, `
		SELECT r.id::text, r.service, coalesce(r.provider_id, ''), s.error, s.since FROM run_stops s JOIN runs r ON r.id = s.run_id
		WHERE s.next_at IS NULL AND s.since > $1 ORDER BY s.since DESC LIMIT $2`, s.Now().Add(-stopsShown), stopsPage)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[runs.Unstopped])
	return found, errs.Wrap(err, "list runs that could not be stopped")
}
