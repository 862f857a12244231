package runs

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
)

// record is a run as it is stored: what everybody sees and what only its steps need.
type record struct {
	Run
	waiting     bool
	deliverable bool
	ticket      *registry.Ticket
	sending     *registry.Ticket // of a request that was about to leave; nobody knows whether it did
	timeout     time.Duration
}

const runColumns = `r.id::text, r.account_id::text, r.tool_id, r.tool_version, r.status, r.waiting, r.fraction, r.stage, r.queue_position,
	convert_to(r.inputs::text, 'UTF8'), convert_to(r.sources::text, 'UTF8'), convert_to(r.quote::text, 'UTF8'), convert_to(r.outputs::text, 'UTF8'), r.cost, convert_to(r.receipt::text, 'UTF8'), convert_to(r.error::text, 'UTF8'),
	r.platform, convert_to(r.target::text, 'UTF8'), r.deliverable, coalesce(r.parent::text, ''), r.attempt, convert_to(r.ticket::text, 'UTF8'), r.timeout_ms,
	r.created_at, r.started_at, r.ended_at, r.delivered_at, r.refunded_at, r.confirmed_at, convert_to(r.context::text, 'UTF8'),
	r.files_deleted_at, r.deleted_at, r.notice, r.expected_at, r.granted, ` + questionSQL

// stored is a row before its parts are decoded.
type stored struct {
	record
	toolID, version                                           string
	inputs, sources, quote, outputs, receipt, failure, ticket []byte
	target, context, question                                 []byte
	timeoutMs                                                 int64
}

func scanRun(row pgx.CollectableRow) (stored, error) {
	var s stored
	err := row.Scan(&s.ID, &s.AccountID, &s.toolID, &s.version, &s.Status, &s.waiting, &s.Fraction, &s.Stage, &s.QueuePosition,
		&s.inputs, &s.sources, &s.quote, &s.outputs, &s.Cost, &s.receipt, &s.failure,
		&s.Origin.Platform, &s.target, &s.deliverable, &s.Parent, &s.Attempt, &s.ticket, &s.timeoutMs,
		&s.CreatedAt, &s.StartedAt, &s.EndedAt, &s.DeliveredAt, &s.RefundedAt, &s.ConfirmedAt, &s.context,
		&s.FilesDeletedAt, &s.DeletedAt, &s.Notice, &s.ExpectedAt, &s.Granted, &s.question)
	return s, err
}

// decode makes a record of the row, but for its tool.
func (s *stored) decode() error {
	s.timeout = time.Duration(s.timeoutMs) * time.Millisecond
	s.Origin.Target = s.target
	var failure storedFailure
	for _, part := range []struct {
		raw  []byte
		into any
	}{
		{s.inputs, &s.Inputs}, {s.sources, &s.Sources}, {s.quote, &s.Quote}, {s.outputs, &s.Outputs},
		{s.receipt, &s.Receipt}, {s.failure, &failure}, {s.ticket, &s.record.ticket}, {s.context, &s.Context},
	} {
		if part.raw == nil {
			continue
		}
		if err := decodeStored(part.raw, part.into); err != nil {
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
	if s.Status == StatusQueued {
		s.sending, s.record.ticket = s.record.ticket, nil
	}
	for i := range s.Outputs {
		if o := &s.Outputs[i]; o.Media != "" { // of before each file had a name
			o.FileName = o.fileName()
		}
	}
	if s.FilesDeletedAt != nil {
		s.withoutFiles()
	}
	return nil
}

// decodeStored reads stored JSON with its numbers as they are: a 64-bit seed must not become a float.
func decodeStored(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// query reads runs; where says which and in what order.
func (s *Service) query(ctx context.Context, where string, args ...any) ([]record, error) {
	return s.queryOn(ctx, s.config.Pool, where, args...)
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (s *Service) queryOn(ctx context.Context, q querier, where string, args ...any) ([]record, error) {
	rows, err := q.Query(ctx, `SELECT `+runColumns+` FROM runs r `+where, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, scanRun)
	if err != nil {
		return nil, err
	}
	records := make([]record, len(found))
	for i := range found {
		if err := found[i].decode(); err != nil {
			return nil, err
		}
		if found[i].Tool, err = s.toolOf(ctx, q, toolKey{found[i].toolID, found[i].version}); err != nil {
			return nil, fmt.Errorf("run %s: %w", found[i].ID, err)
		}
		records[i] = found[i].record
		records[i].strict = s.config.Approval == ApproveAll
	}
	return records, nil
}

// load is a request of a run, gathered with others.
type load struct {
	id    string
	found *record
}

func (s *Service) flushLoads(ctx context.Context, loads []*load) error {
	ids := make([]string, len(loads))
	for i, l := range loads {
		ids[i] = l.id
	}
	where, which := `WHERE r.id = ANY ($1::uuid[])`, any(ids)
	if len(ids) == 1 {
		where, which = `WHERE r.id = $1`, ids[0] // its plan is kept
	}
	records, err := s.query(ctx, where, which)
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

// load reads one run, or gives ErrNotFound.
func (s *Service) load(ctx context.Context, runID string) (record, error) {
	id, err := uuid.Parse(runID)
	if err != nil {
		return record{}, fmt.Errorf("run %q: %w", runID, ErrNotFound)
	}
	l := load{id: id.String()}
	if err := s.loads.Do(ctx, &l); err != nil {
		return record{}, fmt.Errorf("read run %s: %w", runID, err)
	}
	if l.found == nil {
		return record{}, fmt.Errorf("run %s: %w", runID, ErrNotFound)
	}
	return *l.found, nil
}

// Get gives a run, or ErrNotFound, also for one that its owner deleted.
func (s *Service) Get(ctx context.Context, runID string) (Run, error) {
	r, err := s.load(ctx, runID)
	if err == nil && r.DeletedAt != nil {
		return Run{}, fmt.Errorf("run %s: %w", runID, ErrNotFound)
	}
	found := []record{r}
	s.tellPlaces(ctx, found)
	return found[0].Run, err
}

// Look is Get for operators, who see what stays of deleted runs.
func (s *Service) Look(ctx context.Context, runID string) (Run, error) {
	r, err := s.load(ctx, runID)
	return r.Run, err
}

// Filter chooses runs; empty members choose all.
type Filter struct {
	AccountID   string // the runs of its history: without deleted ones
	ToolID      string
	Status      Status
	Platform    string
	Undelivered bool      // over, meant to be delivered, and not delivered yet
	Text        string    // part of the run's, account's or tool's id or of the error; case does not matter; at most 200 bytes
	Since       time.Time // accepted then or later
	Until       time.Time // accepted before
	Before      string    // a run id: only older ones, for paging
	Limit       int       // 1 to 200; 0 means 50
}

const (
	defaultPage = 50
	maxPage     = 200
	maxSearch   = 200 // bytes of a text to find
)

// List gives runs, newest first.
func (s *Service) List(ctx context.Context, f Filter) ([]Run, error) {
	where := []string{"true"}
	var args []any
	add := func(condition string, value string) {
		if value != "" {
			args = append(args, value)
			where = append(where, condition+" $"+strconv.Itoa(len(args)))
		}
	}
	add("r.account_id =", f.AccountID)
	if f.AccountID != "" {
		where = append(where, "r.deleted_at IS NULL")
	}
	add("r.tool_id =", f.ToolID)
	add("r.status =", string(f.Status))
	add("r.platform =", f.Platform)
	add("r.id <", f.Before)
	if !f.Since.IsZero() {
		add("r.id >=", firstID(f.Since))
	}
	if !f.Until.IsZero() {
		add("r.id <", firstID(f.Until))
	}
	if f.Text != "" {
		args = append(args, strings.ToLower(cleanSearch(f.Text)))
		where = append(where, `(strpos(concat_ws(' ', r.id, r.account_id, lower(r.tool_id), lower(r.error ->> 'code'), lower(r.error ->> 'message')), $`+strconv.Itoa(len(args))+`) > 0)`)
	}
	if f.Undelivered {
		where = append(where, "r.deliverable AND r.ended_at IS NOT NULL AND r.delivered_at IS NULL")
	}
	limit := min(f.Limit, maxPage)
	if limit <= 0 {
		limit = defaultPage
	}
	records, err := s.query(ctx, "WHERE "+strings.Join(where, " AND ")+" ORDER BY r.id DESC LIMIT "+strconv.Itoa(limit), args...)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	s.tellPlaces(ctx, records)
	runs := make([]Run, len(records))
	for i := range records {
		runs[i] = records[i].Run
	}
	return runs, nil
}

// cleanSearch bounds what is searched for, and takes out what Postgres takes for no text.
func cleanSearch(text string) string {
	return storable(text[:min(len(text), maxSearch)])
}

// firstID is the smallest id of a run that was accepted at t: ids begin with their time.
func firstID(t time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(max(t.UnixMilli(), 0))<<16)
	return id.String()
}

// toolKey names one version of a tool.
type toolKey struct{ id, version string }

// toolCache keeps the tools that runs were accepted with. Versions never change, so what is in the cache
// stays right.
type toolCache struct {
	mu    sync.Mutex
	known map[toolKey]registry.Tool
}

// maxCachedTools bounds the cache; when it is full it starts anew.
const maxCachedTools = 4096

func (c *toolCache) find(key toolKey) (registry.Tool, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tool, ok := c.known[key]
	return tool, ok
}

func (c *toolCache) put(key toolKey, tool registry.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCachedTools {
		c.known = make(map[toolKey]registry.Tool)
	}
	c.known[key] = tool
}

func (c *toolCache) get(ctx context.Context, q querier, key toolKey) (registry.Tool, error) {
	if tool, ok := c.find(key); ok {
		return tool, nil
	}
	rows, err := q.Query(ctx, `SELECT convert_to(definition::text, 'UTF8') FROM run_tools WHERE tool_id = $1 AND version = $2`, key.id, key.version)
	if err != nil {
		return registry.Tool{}, err
	}
	raw, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]byte])
	if errors.Is(err, pgx.ErrNoRows) {
		return registry.Tool{}, fmt.Errorf("%w: there is no version %s of %s", errUnreadable, key.version, key.id)
	}
	if err != nil {
		return registry.Tool{}, fmt.Errorf("tool %s version %s: %w", key.id, key.version, err)
	}
	tool, err := registry.DecodeTool(raw)
	if err != nil {
		return registry.Tool{}, fmt.Errorf("%w: %s version %s: %w", errUnreadable, key.id, key.version, err)
	}
	c.put(key, tool)
	return tool, nil
}

// errUnreadable says that a tool as it was accepted is no tool by today's rules, or not there.
var errUnreadable = errors.New("the tool as it was accepted can't be read")

// toolOf is tools.get, with what little is certain in place of a tool that can't be read: one such run must
// not hide an account's history, and it has to come to an end that releases its hold.
func (s *Service) toolOf(ctx context.Context, q querier, key toolKey) (registry.Tool, error) {
	tool, err := s.tools.get(ctx, q, key)
	if !errors.Is(err, errUnreadable) {
		return tool, err
	}
	s.log.ErrorContext(ctx, "a tool of stored runs can't be read", "tool", key.id, "version", key.version, "error", err)
	tool = registry.Tool{ToolID: key.id, Version: key.version, DisplayName: key.id}
	s.tools.put(key, tool)
	return tool, nil
}

// keepTool stores the tool's version, once for each process and version.
func (s *Service) keepTool(ctx context.Context, tool registry.Tool) (toolKey, error) {
	if tool.Version == "" {
		if err := tool.Seal(); err != nil {
			return toolKey{}, err
		}
	}
	key := toolKey{tool.ToolID, tool.Version}
	if _, ok := s.tools.find(key); ok {
		return key, nil
	}
	definition, err := registry.Encode(tool)
	if err != nil {
		return toolKey{}, err
	}
	_, err = s.config.Pool.Exec(ctx, `INSERT INTO run_tools (tool_id, version, definition) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		key.id, key.version, definition)
	if err != nil {
		return toolKey{}, err
	}
	s.tools.put(key, tool)
	return key, nil
}

// errGone says that a run was ended by somebody else.
var errGone = errors.New("the run is over")
