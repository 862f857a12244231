// Command knowledge measures the search in documents: how well it answers questions whose right answers are known, and how fast it reads documents
// and answers.
//
//	go run ./test/bench/knowledge [-documents DIR -questions FILE] [-sections 5000,20000] [-searches 500]
//
// Without documents only the speed is measured, on made ones. The database is one of its own, or -database.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/providers/knowledge"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/providers/knowledge/knowledgetest"
	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
	"github.com/signalbox/signalbox/test/bench/meter"
)

type options struct {
	documents, questions, sections, database string
	searches                                 int
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	var o options
	flag.StringVar(&o.documents, "documents", "", "folder of documents that the questions are about")
	flag.StringVar(&o.questions, "questions", "", "file of questions with their right answers")
	flag.StringVar(&o.sections, "sections", "5000,20000", "numbers of sections of made documents, one measurement for each")
	flag.StringVar(&o.database, "database", "", "empty database to use; empty: one of its own")
	flag.IntVar(&o.searches, "searches", 500, "searches of each measurement")
	flag.Parse()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.database == "" {
		server, err := postgres.Start(ctx, postgres.Config{Dir: filepath.Join(dir, "postgres"), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
		o.database = server.DSN()
	}
	pool, err := postgres.Connect(ctx, o.database)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := migrations.Up(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if o.documents != "" {
		if err := judge(ctx, pool, o, dir, out); err != nil {
			return err
		}
	}
	for text := range strings.SplitSeq(o.sections, ",") {
		sections, err := strconv.Atoi(text)
		if err != nil || sections < 1 {
			return fmt.Errorf("-sections: %q is no number of sections", text)
		}
		if err := speed(ctx, pool, filepath.Join(dir, text), sections, o.searches, out); err != nil {
			return err
		}
	}
	return nil
}

// house is what reads documents of a folder and finds in them.
type house struct {
	*index.Index
	provider *knowledge.Provider
}

func newHouse(pool *pgxpool.Pool, dir string) (house, error) {
	words := wordvec.New()
	texts, err := i18n.Load()
	if err != nil {
		return house{}, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	x := index.New(index.Config{Pool: pool, Embedder: words, Dictionary: words, Logger: log})
	p, err := knowledge.New(knowledge.Config{Index: x, Texts: texts, Dir: dir, Logger: log})
	return house{x, p}, err
}

// judge reads the documents, asks the questions and prints the figures.
func judge(ctx context.Context, pool *pgxpool.Pool, o options, dir string, out io.Writer) error {
	questions, err := knowledgetest.Questions(o.questions)
	if err != nil {
		return err
	}
	linked := filepath.Join(dir, "judged")
	documents, err := filepath.Abs(o.documents)
	if err == nil {
		err = errors.Join(os.Mkdir(linked, 0o755), os.Symlink(documents, filepath.Join(linked, "documents")))
	}
	if err != nil {
		return err
	}
	h, err := newHouse(pool, linked)
	if err != nil {
		return err
	}
	if err := h.provider.Sync(ctx); err != nil {
		return err
	}
	figures, err := knowledgetest.Judge(ctx, questions, func(ctx context.Context, text string) (knowledgetest.Found, error) {
		answer, err := h.Search(ctx, index.Query{Text: text, Account: "bench"})
		return knowledgetest.FoundIn(answer), err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(out, knowledgetest.Table(figures), "\n")
	return nil
}

// speed reads made documents and searches in them.
func speed(ctx context.Context, pool *pgxpool.Pool, dir string, sections, searches int, out io.Writer) error {
	files, words := knowledgetest.Documents(sections, 1)
	if err := os.CopyFS(filepath.Join(dir, "made"), files); err != nil {
		return err
	}
	h, err := newHouse(pool, dir)
	if err != nil {
		return err
	}
	began := time.Now()
	used, err := meter.CPU(ctx, pool)
	if err != nil {
		return err
	}
	if err := h.provider.Sync(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	reading, err := meter.CPU(ctx, pool)
	if err != nil {
		return err
	}
	began = time.Now()
	if err := h.provider.Sync(ctx); err != nil {
		return err
	}
	again := time.Since(began)
	before, err := meter.CPU(ctx, pool)
	if err != nil {
		return err
	}
	times, err := search(ctx, h, words, searches)
	if err != nil {
		return err
	}
	after, err := meter.CPU(ctx, pool)
	if err != nil {
		return err
	}
	at := func(share float64) time.Duration {
		return times[min(int(share*float64(len(times))), len(times)-1)].Round(100 * time.Microsecond)
	}
	count := 0
	err = fs.WalkDir(files, ".", func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			count++
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d sections in %d documents: read in %.1f s, %.0f sections/s (%.0f by processor time); again with nothing new in %.2f s; search p50 %v, p95 %v, p99 %v, max %v (%v of processor time)\n",
		sections, count, took.Seconds(), float64(sections)/took.Seconds(), float64(sections)/(reading-used).Seconds(), again.Seconds(), at(.5), at(.95), at(.99), times[len(times)-1],
		((after - before) / time.Duration(len(times))).Round(100*time.Microsecond))
	return err
}

// search asks questions of one to thirty words, some of them misspelt, and gives how long each took, shortest first.
func search(ctx context.Context, h house, words []string, n int) ([]time.Duration, error) {
	r := rand.New(rand.NewPCG(7, 7))
	frequent := rand.NewZipf(r, 1.1, 4, uint64(len(words)-1))
	var times []time.Duration
	for i := range n + 10 {
		var question []string
		for range 1 + r.IntN(30) {
			word := words[frequent.Uint64()]
			if r.IntN(15) == 0 {
				at := r.IntN(len(word))
				word = word[:at] + "x" + word[at:]
			}
			question = append(question, word)
		}
		began := time.Now()
		if _, err := h.Search(ctx, index.Query{Text: strings.Join(question, " "), Account: "bench"}); err != nil {
			return nil, err
		}
		if i >= 10 { // the first ones read the vectors
			times = append(times, time.Since(began))
		}
	}
	slices.Sort(times)
	return times, nil
}
