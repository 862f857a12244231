package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/test/bench/meter"
	"github.com/signalbox/signalbox/test/bench/program"
)

// startTime bounds a start with tools that the database does not know yet.
const startTime = 30 * time.Minute

// tries is how often each thing is asked for.
const tries = 31

// read is something that people open.
type read struct {
	name string
	do   func(ctx context.Context, h *house) error
}

func reads() []read {
	history := func(f runs.Filter, who int) func(context.Context, *house) error {
		return func(ctx context.Context, h *house) error {
			if who >= 0 {
				f.AccountID = h.people[who]
			}
			_, err := h.List(ctx, f)
			return err
		}
	}
	wall := func(q gallery.Query, who int) func(context.Context, *house) error {
		return func(ctx context.Context, h *house) error {
			q.AccountID, q.Limit = h.people[who], 60
			_, err := gallery.New(h.pool).List(ctx, q)
			return err
		}
	}
	figures := func(length, step time.Duration) func(context.Context, *house) error { // as the console asks
		return func(ctx context.Context, h *house) error {
			to := time.Now().UTC().Truncate(step).Add(step)
			_, err := h.Stats(ctx, to.Add(-length), to, step)
			return err
		}
	}
	const busiest, quiet, everybody = 0, 60, -1
	return []read{
		{"history of the busiest", history(runs.Filter{Limit: 50}, busiest)},
		{"history of somebody", history(runs.Filter{Limit: 50}, quiet)},
		{"history of the busiest, one tool", history(runs.Filter{Limit: 50, ToolID: toolID(7)}, busiest)},
		{"history of the busiest, failed", history(runs.Filter{Limit: 50, Status: runs.StatusFailed}, busiest)},
		{"history of the busiest, a tool never used", history(runs.Filter{Limit: 50, ToolID: toolID(9999)}, busiest)},
		{"history of the busiest, a text that is nowhere", history(runs.Filter{Limit: 50, Text: "nowhere"}, busiest)},
		{"history of all", history(runs.Filter{Limit: 50}, everybody)},
		{"history of all, failed", history(runs.Filter{Limit: 50, Status: runs.StatusFailed}, everybody)},
		{"history of all, a rare tool", history(runs.Filter{Limit: 50, ToolID: toolID(9000)}, everybody)},
		{"history of all, timed out", history(runs.Filter{Limit: 50, Status: runs.StatusTimedOut}, everybody)},
		{"history of all, waiting", history(runs.Filter{Limit: 50, Status: runs.StatusQueued}, everybody)},
		{"history of all, a platform without runs", history(runs.Filter{Limit: 50, Platform: "nowhere"}, everybody)},
		{"history of all, undelivered", history(runs.Filter{Limit: 50, Undelivered: true}, everybody)},
		{"history of all, a text that is nowhere", history(runs.Filter{Limit: 50, Text: "nowhere"}, everybody)},
		{"history of all, a word of many errors", history(runs.Filter{Limit: 50, Text: "word1"}, everybody)},
		{"history of all, a few words of an error", history(runs.Filter{Limit: 50, Text: "no model word999 "}, everybody)},
		{"gallery of the busiest", wall(gallery.Query{}, busiest)},
		{"gallery of somebody", wall(gallery.Query{}, quiet)},
		{"gallery of the busiest, a common word", wall(gallery.Query{Text: "word1"}, busiest)},
		{"gallery of the busiest, a rare word", wall(gallery.Query{Text: "word999"}, busiest)},
		{"gallery of the busiest, two words", wall(gallery.Query{Text: "word12 word777"}, busiest)},
		{"gallery of the busiest, a letter and a word", wall(gallery.Query{Text: "w word777"}, busiest)},
		{"gallery of somebody, a common word", wall(gallery.Query{Text: "word1"}, quiet)},
		{"gallery of the busiest, one tool", wall(gallery.Query{ToolID: toolID(7)}, busiest)},
		{"gallery of the busiest, favorites", wall(gallery.Query{Favorites: true}, busiest)},
		{"figures of a day", figures(24*time.Hour, 30*time.Minute)},
		{"figures of a week", figures(7*24*time.Hour, 3*time.Hour)},
		{"figures of a month", figures(30*24*time.Hour, 12*time.Hour)},
		{"figures of a quarter", figures(90*24*time.Hour, 24*time.Hour)},
		{"ledger of the busiest", func(ctx context.Context, h *house) error {
			_, err := h.ledger.Transfers(ctx, billing.TransfersQuery{AccountID: h.people[busiest], Limit: 50})
			return err
		}},
	}
}

// compareReads prints how long each thing takes in both houses.
func compareReads(ctx context.Context, out io.Writer, o options, short, long *house) error {
	for _, h := range []*house{short, long} {
		began := time.Now()
		for done := false; !done; {
			var err error
			if done, err = h.CountFigures(ctx, time.Second); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%s: the figures of the last months were counted in %v\n", h.name, time.Since(began).Round(100*time.Millisecond))
	}
	fmt.Fprintf(out, "\n%-42s %10s %10s\n", "median of "+fmt.Sprint(tries), "short", "long")
	for _, r := range reads() {
		var took [2]time.Duration
		for i, h := range []*house{short, long} {
			var err error
			if took[i], err = median(func() error { return r.do(ctx, h) }); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		fmt.Fprintf(out, "%-42s %10s %10s\n", r.name, ms(took[0]), ms(took[1]))
		if !o.plans {
			continue
		}
		if err := long.explain(ctx, out, r); err != nil {
			return fmt.Errorf("plan of %s: %w", r.name, err)
		}
	}
	return nil
}

func median(do func() error) (time.Duration, error) {
	half, _, err := spread(do)
	return half, err
}

// spread gives how long half of the tries and 95 of 100 took at most.
func spread(do func() error) (half, most time.Duration, err error) {
	var took []time.Duration
	for range tries {
		began := time.Now()
		if err := do(); err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(began))
		if time.Since(began) > time.Second && len(took) >= 3 {
			break // there is no doubt about it
		}
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*95/100], nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// tracer keeps the statements of a pool while it is on.
type tracer struct {
	mu   sync.Mutex
	on   bool
	seen []pgx.TraceQueryStartData
}

// TraceQueryStart keeps a statement.
func (t *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on {
		t.seen = append(t.seen, data)
	}
	return ctx
}

// TraceQueryEnd has nothing to do.
func (t *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (t *tracer) turn(on bool) (seen []pgx.TraceQueryStartData) {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen, t.seen, t.on = t.seen, nil, on
	return seen
}

// explain prints the plans of what a read asks the database.
func (h *house) explain(ctx context.Context, out io.Writer, r read) error {
	h.traced.turn(true)
	err := r.do(ctx, h)
	seen := h.traced.turn(false)
	if err != nil {
		return err
	}
	for _, s := range seen {
		if !strings.HasPrefix(strings.TrimSpace(s.SQL), "SELECT") {
			continue
		}
		rows, err := h.pool.Query(ctx, `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) `+s.SQL, s.Args...)
		if err != nil {
			return err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "    %s\n", strings.Join(lines, "\n    "))
	}
	return nil
}

// pages are what measurePages opens, as the person with most runs, and those of the console as the operator.
var pages = []string{
	"/", "/?q=poster", "/history", "/history?tool=" + toolID(7), "/history?tool=" + toolID(9999), "/history?status=failed", "/history?q=nowhere", "/history?q=word999",
	"/gallery", "/gallery?q=word1", "/gallery?q=word999", "/gallery?q=word12+word777", "/gallery?tool=" + toolID(7), "/account", "/tool/many00000", "/prices", "/api/tools", "/api/tools?q=poster",
	"/operator/", "/operator/runs", "/operator/runs?state=failed", "/operator/runs?state=timed_out", "/operator/runs?state=queued", "/operator/runs?state=undelivered",
	"/operator/runs?q=nowhere", "/operator/runs?q=word1", "/operator/runs?q=word999", "/operator/runs?platform=" + service, "/operator/runs?platform=telegram", "/operator/runs?tool=" + toolID(9000),
	"/operator/errors", "/operator/errors?span=30d", "/operator/plots?span=1h", "/operator/plots?span=24h", "/operator/plots?span=7d", "/operator/plots?span=30d", "/operator/plots?span=90d",
	"/operator/people", "/operator/people?q=person+77", "/operator/people?q=person+77123", "/operator/people?q=nobody", "/operator/tools", "/operator/tools?q=999", "/operator/ledger", "/operator/changes", "/operator/access", "/operator/audit",
}

// measurePages starts the program on the house's database, with as many workflows as there are tools, and measures its pages for the
// person with most runs.
func measurePages(ctx context.Context, out io.Writer, o options, dir string, h *house) (err error) {
	began := time.Now()
	p, err := startProgram(ctx, o, dir, h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	fmt.Fprintf(out, "\nthe program with %d workflows and the long history was ready after %v\n%-42s %10s %10s %10s\n", o.tools, time.Since(began).Round(100*time.Millisecond), "page, for the busiest", "median", "p95", "processor")
	if err := p.BooksChecked(ctx); err != nil {
		return err
	}
	secret, err := h.session(ctx, h.people[0])
	if err != nil {
		return err
	}
	for _, path := range pages {
		size, n, cookie := 0, 0, secret
		if strings.HasPrefix(path, "/operator/") {
			cookie = ""
		}
		before, err := meter.ServerCPU(ctx, h.pool)
		if err != nil {
			return err
		}
		before += meter.ProcessCPU(p.PID())
		took, most, err := spread(func() (err error) {
			n++
			size, err = get(ctx, "http://"+p.Address+path, cookie)
			return err
		})
		if err != nil {
			return err
		}
		after, err := meter.ServerCPU(ctx, h.pool)
		if err != nil {
			return err
		}
		cpu := (after + meter.ProcessCPU(p.PID()) - before) / time.Duration(n)
		fmt.Fprintf(out, "%-42s %10s %10s %10s %9d bytes\n", path, ms(took), ms(most), ms(cpu), size)
	}
	return nil
}

// startProgram starts the program and waits until it is ready.
func startProgram(ctx context.Context, o options, dir string, h *house) (p *program.Process, err error) {
	binary := o.program
	if binary == "" {
		if binary, err = program.Build(ctx, ".", dir); err != nil {
			return nil, err
		}
	}
	flows := filepath.Join(dir, "workflows")
	if err := manyWorkflows(flows, o.tools); err != nil {
		return nil, err
	}
	database, err := url.Parse(h.pool.Config().ConnString())
	if err != nil {
		return nil, err
	}
	database.Path = "/" + h.name
	address, err := program.FreeAddress()
	if err != nil {
		return nil, err
	}
	p = &program.Process{Binary: binary, Dir: filepath.Join(dir, "data"), Address: address, Env: []string{
		"DATABASE_URL=" + database.String(), "WORKFLOWS_DIR=" + flows, "LOG_LEVEL=warn", "HOUSE_KEY=" + strings.Repeat("ab", 32), // as the database may know from before
	}}
	over, err := p.Start()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	go func() {
		select {
		case <-over: // what has ended will never be ready
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := p.Ready(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// get opens a page with the secret of a session, or without one as the operator.
func get(ctx context.Context, address, secret string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	if secret != "" {
		req.AddCookie(&http.Cookie{Name: "signalbox", Value: secret})
	} else {
		req.Header.Set("Authorization", "Bearer "+program.AdminToken)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, res.Status)
	}
	return len(body), err
}

// manyWorkflows writes copies of those that come with the program.
func manyWorkflows(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var sources [][]byte
	for _, name := range []string{"wallpaper", "poster", "sticker", "filmlook"} {
		data, err := os.ReadFile(filepath.Join("workflows", name+".json"))
		if err != nil {
			return err
		}
		sources = append(sources, data)
	}
	var errs []error
	for i := range n {
		own := strings.ReplaceAll(string(sources[i%len(sources)]), "**Inputs:**", fmt.Sprintf("Number %d of many. **Inputs:**", i))
		errs = append(errs, os.WriteFile(filepath.Join(dir, fmt.Sprintf("many%05d.json", i)), []byte(own), 0o644))
	}
	return errors.Join(errs...)
}
