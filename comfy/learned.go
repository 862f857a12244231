package comfy

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

// Learned keeps what runs have shown: how long the nodes of a tool take, and what output nodes give that nobody knows. It
// is safe for concurrent use.
type Learned struct {
	pool    *pgxpool.Pool
	log     *slog.Logger
	changed func()

	mu    sync.Mutex
	times map[string]map[string]float64 // seconds, by tool and node
	kinds map[string]string             // by class; nil: not read yet
}

// maxLearnedTools bounds the tools whose times are kept in memory.
const maxLearnedTools = 1000

// learnedWait bounds each question to the database: progress and tools go on without an answer.
const learnedWait = 3 * time.Second

// NewLearned keeps it in Postgres; without a pool it is forgotten with the process. changed is called when the definitions of
// tools have become others by it, and may be nil.
func NewLearned(pool *pgxpool.Pool, log *slog.Logger, changed func()) *Learned {
	return &Learned{pool: pool, log: log, changed: changed, times: map[string]map[string]float64{}}
}

// nodeKey names a node for good: a number that another class has now is another node.
func nodeKey(pl plan, id string) string { return id + " " + pl.Classes[id] }

// usual gives the seconds that the nodes of a plan usually take, by their ids, or nil where no run was seen.
func (l *Learned) usual(ctx context.Context, pl plan) map[string]float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.timesOf(ctx, pl.Tool)
	var usual map[string]float64
	for id := range pl.Titles {
		if seconds, ok := known[nodeKey(pl, id)]; ok {
			if usual == nil {
				usual = map[string]float64{}
			}
			usual[id] = seconds
		}
	}
	return usual
}

// timesOf is called with mu held.
func (l *Learned) timesOf(ctx context.Context, tool string) map[string]float64 {
	if known, ok := l.times[tool]; ok || tool == "" {
		return known
	}
	known := map[string]float64{}
	if l.pool != nil {
		ctx, cancel := context.WithTimeout(ctx, learnedWait)
		defer cancel()
		if err := l.readPairs(ctx, `SELECT node, seconds FROM comfy_node_times WHERE tool_id = $1`, func(node string, seconds float64) { known[node] = seconds }, tool); err != nil {
			l.log.WarnContext(ctx, "how long nodes take is not known", "tool", tool, "error", err)
			return nil
		}
	}
	if len(l.times) >= maxLearnedTools {
		clear(l.times)
	}
	l.times[tool] = known
	return known
}

func (l *Learned) readPairs(ctx context.Context, sql string, take func(string, float64), args ...any) error {
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

// took takes the times of a run. Only what changes the picture is written.
func (l *Learned) took(ctx context.Context, pl plan, timings map[string]time.Duration) {
	if pl.Tool == "" {
		return
	}
	l.mu.Lock()
	known := l.timesOf(ctx, pl.Tool)
	if known == nil {
		l.mu.Unlock()
		return
	}
	var nodes []string
	var seconds []float64
	for id, d := range timings {
		if pl.Classes[id] == "" {
			continue
		}
		key, now := nodeKey(pl, id), d.Seconds()
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnedWait)
	defer cancel()
	if _, err := l.pool.Exec(ctx, `
		INSERT INTO comfy_node_times (tool_id, node, seconds) SELECT $1, * FROM unnest($2::text[], $3::float8[])
		ON CONFLICT (tool_id, node) DO UPDATE SET seconds = excluded.seconds`, pl.Tool, nodes, seconds); err != nil {
		l.log.WarnContext(ctx, "how long nodes took is forgotten at the next start", "tool", pl.Tool, "error", err)
	}
}

// returned tells what classes gave that nobody knows: image, video, audio, text or file.
func (l *Learned) returned(ctx context.Context) map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.kindsOf(ctx))
}

// kindsOf is called with mu held.
func (l *Learned) kindsOf(ctx context.Context) map[string]string {
	if l.kinds != nil {
		return l.kinds
	}
	kinds := map[string]string{}
	if l.pool != nil {
		ctx, cancel := context.WithTimeout(ctx, learnedWait)
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

// gave takes what an output node gave, if nobody knows its class.
func (l *Learned) gave(ctx context.Context, class string, results []api.NodeOutput) {
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
		writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnedWait)
		defer cancel()
		if _, err := l.pool.Exec(writing, `INSERT INTO comfy_output_kinds (class, kind) VALUES ($1, $2) ON CONFLICT (class) DO UPDATE SET kind = excluded.kind`, class, kind); err != nil {
			l.log.WarnContext(ctx, "what a node gave is forgotten at the next start", "class", class, "error", err)
		}
	}
	if l.changed != nil {
		l.changed()
	}
}
