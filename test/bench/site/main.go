// Command site measures a large site: what its visitors and the tools wait for, and how its pages are served beside a bare handler.
//
//	go run ./test/bench/site [-pages 10000]
//
// Each page has three sections of some hundred words. The figures are medians of five rounds; a page made anew is one that nobody has asked
// for since the site changed. The goals: a page by its slug within 1 ms, a search within 20 ms, the map within 1 s, and half of what a
// handler serves that has the same bytes already. The database is one of its own, or -database.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/site"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/providers/knowledge/knowledgetest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/test/bench/meter"
)

// rounds is how often each figure is measured.
const rounds = 5

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	pages := flag.Int("pages", 10_000, "pages of the site")
	database := flag.String("database", "", "empty database to use; empty: one of its own")
	flag.Parse()
	if err := run(ctx, *pages, *database, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, pages int, database string, out io.Writer) (err error) {
	if database == "" {
		dir, err := os.MkdirTemp("", "signalbox-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		server, err := postgres.Start(ctx, postgres.Config{Dir: filepath.Join(dir, "postgres"), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
		database = server.DSN()
	}
	pool, err := postgres.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := migrations.Up(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	h, err := newHouse(ctx, pool)
	if err != nil {
		return err
	}
	words, err := h.fill(ctx, pages)
	if err != nil {
		return err
	}
	if err := h.measure(ctx, pages, words, out); err != nil {
		return err
	}
	return h.compare(ctx, out)
}

// house is a site with its tools.
type house struct {
	pool  *pgxpool.Pool
	store *store.Store
	site  store.Site
	tools *content.Provider
	pages *site.Server
}

// operator is who asks the tools.
const operator = "00000000-0000-4000-8000-000000000001"

func newHouse(ctx context.Context, pool *pgxpool.Pool) (house, error) {
	h := house{pool: pool, store: store.New(pool)}
	templates, err := layout.Load(nil)
	if err != nil {
		return h, err
	}
	h.pages, err = site.New(site.Config{
		Store: h.store, Slug: store.House, Templates: templates, Base: &url.URL{Scheme: "https", Host: "bench.example", Path: "/site"}, Key: []byte("of the benchmark"), SignIn: "/signin",
		Member: func(context.Context) bool { return false },
	})
	if err != nil {
		return h, err
	}
	h.tools = content.New(content.Config{
		Store: h.store, Templates: templates, Links: func(string) content.Links { return h.pages }, Operator: func(context.Context, string) (bool, error) { return true, nil },
		Link: func(ref registry.Media, _ string) string { return ref },
	})
	h.site, err = h.store.Site(ctx, store.House)
	return h, err
}

// fill writes the pages and gives the words that they are made of, from frequent to rare.
func (h house) fill(ctx context.Context, pages int) ([]string, error) {
	const sections = 3
	files, words := knowledgetest.Documents(pages*sections, 1)
	var bodies []string
	for _, file := range files {
		bodies = append(bodies, strings.Split(string(file.Data), "\n## ")[1:]...) // before the first there is the title
	}
	_, err := h.pool.Exec(ctx, `
		WITH pages AS (
			INSERT INTO site_pages (site_id, slug, name) SELECT $1, 'page-' || n, 'Page ' || n FROM generate_series(1, $2::int) n RETURNING id, slug)
		INSERT INTO site_sections (site_id, page_id, template, content, status, position)
			SELECT $1, p.id, 'richText', jsonb_build_object('body', ($3::text[])[(substr(p.slug, 6)::int - 1) * $4 + s]), 'published', s - 1 FROM pages p, generate_series(1, $4::int) s`,
		h.site.ID, pages, bodies, sections)
	if err == nil {
		_, err = h.pool.Exec(ctx, `VACUUM ANALYZE`)
	}
	return words, err
}

// figure is something that is measured.
type figure struct {
	name string
	goal time.Duration
	do   func(ctx context.Context, i int) error
}

// measure prints how long things take.
func (h house) measure(ctx context.Context, pages int, words []string, out io.Writer) error {
	find := func(query func(i int) string) func(ctx context.Context, i int) error {
		return func(ctx context.Context, i int) error {
			_, err := h.get("/site/search?q=" + url.QueryEscape(query(i)))
			return err
		}
	}
	slug := func(i int) string { return fmt.Sprintf("page-%d", i*7919%pages+1) }
	figures := []figure{
		{"getPage by slug", time.Millisecond, func(ctx context.Context, i int) error {
			_, err := h.tools.Use(ctx, operator, "getPage", map[string]any{"slug": slug(i)}, nil)
			return err
		}},
		{"a page made anew", 0, func(_ context.Context, i int) error { _, err := h.get("/site/" + slug(i) + "?anew=1"); return err }},
		{"the map", time.Second, func(context.Context, int) error { _, err := h.get("/site/sitemap.xml?anew=1"); return err }},
		{"a search for a rare word", 20 * time.Millisecond, find(func(i int) string { return words[len(words)-1-i%1000] })},
		{"a search for two words", 20 * time.Millisecond, find(func(i int) string { return words[i%50] + " " + words[50+i%200] })},
		{"a search for the most frequent word", 20 * time.Millisecond, find(func(int) string { return words[0] })},
		{"a search for the beginning of words", 20 * time.Millisecond, find(func(i int) string { return words[i%1000][:3] })},
	}
	for _, f := range figures {
		took, err := f.median(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		goal := ""
		if f.goal > 0 {
			goal = fmt.Sprintf(" (goal: %v)", f.goal)
		}
		if _, err := fmt.Fprintf(out, "%-38s %10v%s\n", f.name, took.Round(10*time.Microsecond), goal); err != nil {
			return err
		}
	}
	return nil
}

// median is the median of the rounds, each of which does it for a fifth of a second and gives its mean.
func (f figure) median(ctx context.Context) (time.Duration, error) {
	var means []time.Duration
	n := 0
	for range rounds + 1 {
		began, before := time.Now(), n
		for time.Since(began) < time.Second/5 {
			if err := f.do(ctx, n); err != nil {
				return 0, err
			}
			n++
		}
		means = append(means, time.Since(began)/time.Duration(n-before))
	}
	means = means[1:] // the first one warms up
	slices.Sort(means)
	return means[rounds/2], ctx.Err()
}

// get asks the site without a network in between.
func (h house) get(path string) ([]byte, error) {
	w := httptest.NewRecorder()
	h.pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", path, w.Code)
	}
	return w.Body.Bytes(), nil
}

// compare prints how many requests a page answers for each that a handler does which sends the same bytes.
func (h house) compare(ctx context.Context, out io.Writer) error {
	body, err := h.get("/site/page-1")
	if err != nil {
		return err
	}
	serve := func(handler http.Handler) func() (meter.Rate, error) {
		server := httptest.NewServer(handler)
		context.AfterFunc(ctx, server.Close)
		return func() (meter.Rate, error) {
			return meter.Measure(ctx, h.pool, func() (int64, time.Duration, error) { return load(server.URL + "/site/page-1") })
		}
	}
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
	compared, err := meter.Alternate(rounds, serve(bare), serve(h.pages))
	if err != nil {
		return err
	}
	median := compared.Median()
	_, err = fmt.Fprintf(out, "%-38s %10.2f of a bare handler's rate, %.2f by processor time (%s; %.0f beside %.0f requests/s; goal: 0.50)\n",
		"a page over HTTP", median.Ratio(), median.CPURatio(), compared.Range(), median.Work.PerSecond, median.Base.PerSecond)
	return err
}
