// Package learned keeps what runs on engines have shown: how long the nodes of a tool take, and what output nodes give that nobody knows.
package learned

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/graph"
)

// Store keeps it. It is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	log     *slog.Logger
	changed func()

	mu    sync.Mutex
	times map[string]map[string]float64 // seconds, by tool and node
	kinds map[string]string             // by class; nil: not read yet
}

// maxTools bounds the tools whose times are kept in memory.
const maxTools = 1000

// wait bounds each question to the database: progress and tools go on without an answer.
const wait = 3 * time.Second

// New keeps it in Postgres; without a pool it is forgotten with the process. changed is called when the definitions of
// tools have become others by it, and may be nil.
func New(pool *pgxpool.Pool, log *slog.Logger, changed func()) *Store {
	return &Store{pool: pool, log: log, changed: changed, times: map[string]map[string]float64{}}
}

// nodeKey names a node for good: a number that another class has now is another node.
func nodeKey(id, class string) string { return id + " " + class }

// Usual gives the seconds that nodes of a tool usually take, by their ids, or nil where no run was seen. classes are those of the nodes.
func (l *Store) Usual(ctx context.Context, tool string, classes map[string]string) map[string]float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.timesOf(ctx, tool)
	var usual map[string]float64
	for id, class := range classes {
		if seconds, ok := known[nodeKey(id, class)]; ok {
			if usual == nil {
				usual = map[string]float64{}
			}
			usual[id] = seconds
		}
	}
	return usual
}

// timesOf is called with mu held.
func (l *Store) timesOf(ctx context.Context, tool string) map[string]float64 {
	if known, ok := l.times[tool]; ok || tool == "" {
		return known
	}
	known := map[string]float64{}
	if l.pool != nil {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if err := l.readPairs(ctx, `SELECT node, seconds FROM comfy_node_times WHERE tool_id = $1`, func(node string, seconds float64) { known[node] = seconds }, tool); err != nil {
			l.log.WarnContext(ctx, "how long nodes take is not known", "tool", tool, "error", err)
			return nil
		}
	}
	if len(l.times) >= maxTools {
		clear(l.times)
	}
	l.times[tool] = known
	return known
}

func (l *Store) readPairs(ctx context.Context, sql string, take func(string, float64), args ...any) error {
	rows, err := l.pool.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var value float64
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		take(name, value)
	}
	return rows.Err()
}

// recent is how much the latest run counts.
const recent = 0.4

// Took takes the times of a run. Only what changes the picture is written.
func (l *Store) Took(ctx context.Context, tool string, classes map[string]string, timings map[string]time.Duration) {
	if tool == "" {
		return
	}
	l.mu.Lock()
	known := l.timesOf(ctx, tool)
	if known == nil {
		l.mu.Unlock()
		return
	}
	var nodes []string
	var seconds []float64
	for id, d := range timings {
		if classes[id] == "" {
			continue
		}
		key, now := nodeKey(id, classes[id]), d.Seconds()
		before, seen := known[key]
		if seen {
			now = before + recent*(now-before)
		}
		if !seen || math.Abs(now-before) > 0.05+0.1*before {
			known[key] = now
			nodes, seconds = append(nodes, key), append(seconds, now)
		}
	}
	l.mu.Unlock()
	if l.pool == nil || len(nodes) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	if _, err := l.pool.Exec(ctx, `
		INSERT INTO comfy_node_times (tool_id, node, seconds) SELECT $1, * FROM unnest($2::text[], $3::float8[])
		ON CONFLICT (tool_id, node) DO UPDATE SET seconds = excluded.seconds`, tool, nodes, seconds); err != nil {
		l.log.WarnContext(ctx, "how long nodes took is forgotten at the next start", "tool", tool, "error", err)
	}
}

// Returned tells what classes gave that nobody knows: image, video, audio, text or file.
func (l *Store) Returned(ctx context.Context) map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.kindsOf(ctx))
}

// kindsOf is called with mu held.
func (l *Store) kindsOf(ctx context.Context) map[string]string {
	if l.kinds != nil {
		return l.kinds
	}
	kinds := map[string]string{}
	if l.pool != nil {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		rows, err := l.pool.Query(ctx, `SELECT class, kind FROM comfy_output_kinds`)
		for err == nil && rows.Next() {
			var class, kind string
			if err = rows.Scan(&class, &kind); err == nil {
				kinds[class] = kind
			}
		}
		if err == nil {
			err = rows.Err()
		}
		if err != nil {
			l.log.WarnContext(ctx, "what nodes give is not known", "error", err)
			return kinds // asked for again the next time
		}
	}
	l.kinds = kinds
	return kinds
}

// Gave takes what an output node gave, if nobody knows its class.
func (l *Store) Gave(ctx context.Context, class string, results []api.NodeOutput) {
	if class == "" || len(results) == 0 || graph.OutputKind(class) != "" {
		return
	}
	kind := results[0].Kind
	for _, r := range results { // the words beside a picture are not the result
		if kind == "text" {
			kind = r.Kind
		}
	}
	l.mu.Lock()
	kinds := l.kindsOf(ctx)
	news := kinds[class] != kind
	kinds[class] = kind
	l.mu.Unlock()
	if !news {
		return
	}
	if l.pool != nil {
		writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		defer cancel()
		if _, err := l.pool.Exec(writing, `INSERT INTO comfy_output_kinds (class, kind) VALUES ($1, $2) ON CONFLICT (class) DO UPDATE SET kind = excluded.kind`, class, kind); err != nil {
			l.log.WarnContext(ctx, "what a node gave is forgotten at the next start", "class", class, "error", err)
		}
	}
	if l.changed != nil {
		l.changed()
	}
}
