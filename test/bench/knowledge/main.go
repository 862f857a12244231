// Command knowledge measures the search in documents: how well it answers questions whose right answers are known, and how fast it reads documents
// and answers.
//
//	go run ./test/bench/knowledge [-documents DIR -questions FILE [-beat FILE] [-answers FILE]] [-sections 5000,20000] [-searches 200] [-rounds 5] [-dimension 1536]
//
// How well stands beside plain BM25 over the same sections, and beside a table of figures that a text states (-beat); -answers keeps what was found, as
// JSON lines. How fast is measured on made documents: with the word vectors that come with the program,
// and with vectors of a dimension as services make them. Beside it stands a baseline of the same round, a table of the same sections with an index of
// Postgres' own full text search; the machine's mood is in both. Figures are medians of the rounds. The database is one of its own, or -database.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/providers/knowledge"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
)

type options struct {
	documents, questions, beat, answers, sections, database string
	searches, rounds, dimension                             int
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	var o options
	flag.StringVar(&o.documents, "documents", "", "folder of documents that the questions are about")
	flag.StringVar(&o.questions, "questions", "", "file of questions with their right answers")
	flag.StringVar(&o.beat, "beat", "", "text with a table of figures to stand beside ours")
	flag.StringVar(&o.answers, "answers", "", "file for what was found, a line of JSON for each question")
	flag.StringVar(&o.sections, "sections", "5000,20000", "numbers of sections of made documents, one measurement for each")
	flag.StringVar(&o.database, "database", "", "empty database to use; empty: one of its own")
	flag.IntVar(&o.searches, "searches", 200, "searches of each kind in each measurement")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each measurement is made")
	flag.IntVar(&o.dimension, "dimension", 1536, "of the vectors that a service would make")
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
	sizes, err := numbers(o.sections)
	if err != nil {
		return err
	}
	return speed(ctx, pool, sizes, dir, o, out)
}

// numbers reads a list of numbers of sections; an empty one measures no speed.
func numbers(list string) (sizes []int, err error) {
	for text := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-sections: found %q, expected numbers of sections, separated by commas", text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// house is what reads documents of a folder and finds in them.
type house struct {
	*index.Index
	provider *knowledge.Provider
}

func newHouse(pool *pgxpool.Pool, dir string, embedder index.Embedder) (house, error) {
	texts, err := i18n.Load()
	if err != nil {
		return house{}, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	x := index.New(index.Config{Pool: pool, Embedder: embedder, Dictionary: wordvec.New(), Logger: log})
	p, err := knowledge.New(knowledge.Config{Index: x, Texts: texts, Dir: dir, Logger: log})
	return house{x, p}, err
}

// empty removes all documents.
func (h house) empty(ctx context.Context) error {
	sources, err := h.All(ctx)
	for _, s := range sources {
		err = errors.Join(err, h.Remove(ctx, s.ID))
	}
	return err
}
