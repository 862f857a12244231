package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/providers/knowledge/knowledgetest"
	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
	"github.com/signalbox/signalbox/test/bench/meter"
)

// The bars that are to be held at 20,000 sections.
const (
	slowest      = 50 * time.Millisecond // search, p99
	leastReading = 500.0                 // sections a second
)

// figures are what one round measured of so many sections with one kind of vectors.
type figures struct {
	reading, plainReading time.Duration // of all sections: ours, and into the baseline's table
	readingCPU            time.Duration // processor time of ours
	again                 time.Duration // with nothing new
	first                 time.Duration // the first search, which reads the vectors
	kinds                 map[string]times
	baseline              times // plain questions
}

// times are those of searches, shortest first, with the processor time of each.
type times struct {
	list []time.Duration
	cpu  time.Duration
}

func (t times) at(share float64) time.Duration {
	return t.list[min(int(share*float64(len(t.list))), len(t.list)-1)]
}

// speed measures all sizes with all kinds of vectors, in rounds, and prints the medians.
func speed(ctx context.Context, pool *pgxpool.Pool, sizes []int, dir string, o options, out io.Writer) error {
	vectors := []index.Embedder{wordvec.New(), knowledgetest.Vectors{Dimension: o.dimension}}
	all := map[string][]figures{}
	for round := range o.rounds {
		for _, size := range sizes {
			files, words := knowledgetest.Documents(size, 1)
			for _, embedder := range vectors {
				f, err := measure(ctx, pool, filepath.Join(dir, fmt.Sprint(round, size, embedder.Model())), files, words, embedder, o.searches)
				if err != nil {
					return err
				}
				all[key(size, embedder)] = append(all[key(size, embedder)], f)
			}
		}
	}
	for _, embedder := range vectors {
		for _, size := range sizes {
			if err := tell(out, size, embedder.Model(), all[key(size, embedder)]); err != nil {
				return err
			}
		}
		if err := growth(out, sizes, func(size int) []figures { return all[key(size, embedder)] }); err != nil {
			return err
		}
	}
	return nil
}

func key(size int, e index.Embedder) string { return fmt.Sprint(size, " ", e.Model()) }

// measure reads made documents into an empty house, searches in them, and does the same with the baseline.
func measure(ctx context.Context, pool *pgxpool.Pool, dir string, files fstest.MapFS, words []string, embedder index.Embedder, searches int) (f figures, err error) {
	if err := os.CopyFS(filepath.Join(dir, "made"), files); err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	h, err := newHouse(pool, dir, embedder)
	if err != nil {
		return f, err
	}
	rate, err := meter.Measure(ctx, pool, func() (int64, time.Duration, error) {
		f.reading, err = took(func() error { return h.provider.Sync(ctx) })
		return 1, f.reading, err
	})
	if err != nil {
		return f, err
	}
	f.readingCPU = rate.CPU
	if f.again, err = took(func() error { return h.provider.Sync(ctx) }); err != nil {
		return f, err
	}
	questions := questionsOf(words, searches)
	find := func(text string) error {
		_, err := h.Search(ctx, index.Query{Text: text, Account: "bench"})
		return err
	}
	if f.first, err = took(func() error { return find(questions[plain][0]) }); err != nil {
		return f, err
	}
	f.kinds = map[string]times{}
	for kind, list := range questions {
		if f.kinds[kind], err = each(ctx, pool, list, find); err != nil {
			return f, err
		}
	}
	b := baseline{pool}
	if f.plainReading, err = b.read(ctx); err != nil {
		return f, err
	}
	if f.baseline, err = each(ctx, pool, questions[plain], func(text string) error { return b.find(ctx, text) }); err != nil {
		return f, err
	}
	return f, h.empty(ctx)
}

// each asks all questions, and gives how long each took.
func each(ctx context.Context, pool *pgxpool.Pool, questions []string, find func(text string) error) (t times, err error) {
	rate, err := meter.Measure(ctx, pool, func() (int64, time.Duration, error) {
		all, err := took(func() error {
			for _, text := range questions {
				one, err := took(func() error { return find(text) })
				if err != nil {
					return err
				}
				t.list = append(t.list, one)
			}
			return nil
		})
		return int64(len(questions)), all, err
	})
	slices.Sort(t.list)
	t.cpu = rate.CPU
	return t, err
}

// tell prints the medians of the rounds.
func tell(out io.Writer, size int, model string, rounds []figures) error {
	reading := median(rounds, func(f figures) float64 { return float64(size) / f.reading.Seconds() })
	ratio := median(rounds, func(f figures) float64 { return f.reading.Seconds() / f.plainReading.Seconds() })
	var b strings.Builder
	cpu := duration(rounds, func(f figures) time.Duration { return f.readingCPU }).Seconds()
	fmt.Fprintf(&b, "%d sections, %s: read at %.0f sections/s%s, %.0f in a second of processor time, %.1f times as long as the baseline; with nothing new in %v; first search %v\n", size, model, reading,
		missed(reading < leastReading), float64(size)/cpu, ratio, duration(rounds, func(f figures) time.Duration { return f.again }), duration(rounds, func(f figures) time.Duration { return f.first }))
	for _, kind := range kinds {
		p99 := duration(rounds, func(f figures) time.Duration { return f.kinds[kind].at(.99) })
		fmt.Fprintf(&b, "  %-8s p50 %v, p99 %v%s, %v of processor time\n", kind, duration(rounds, func(f figures) time.Duration { return f.kinds[kind].at(.5) }), p99, missed(p99 >= slowest),
			duration(rounds, func(f figures) time.Duration { return f.kinds[kind].cpu }))
	}
	fmt.Fprintf(&b, "  baseline, plain: p50 %v, p99 %v, %v of processor time; ours is %.2f times that at p50, %.2f times by processor time\n",
		duration(rounds, func(f figures) time.Duration { return f.baseline.at(.5) }), duration(rounds, func(f figures) time.Duration { return f.baseline.at(.99) }),
		duration(rounds, func(f figures) time.Duration { return f.baseline.cpu }),
		median(rounds, func(f figures) float64 { return f.kinds[plain].at(.5).Seconds() / f.baseline.at(.5).Seconds() }),
		median(rounds, func(f figures) float64 { return f.kinds[plain].cpu.Seconds() / f.baseline.cpu.Seconds() }))
	_, err := io.WriteString(out, b.String())
	return err
}

// growth prints how the time to read a section changes from one size to the next: 1 is linear.
func growth(out io.Writer, sizes []int, of func(size int) []figures) error {
	for i := range len(sizes) - 1 {
		one := func(size int) float64 {
			return median(of(size), func(f figures) float64 { return f.reading.Seconds() / float64(size) })
		}
		if _, err := fmt.Fprintf(out, "  from %d to %d sections, each takes %.2f times as long to read\n", sizes[i], sizes[i+1], one(sizes[i+1])/one(sizes[i])); err != nil {
			return err
		}
	}
	return nil
}

func missed(is bool) string {
	if is {
		return " (MISSED)"
	}
	return ""
}

func median[N cmp.Ordered](rounds []figures, of func(figures) N) N {
	var list []N
	for _, f := range rounds {
		list = append(list, of(f))
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

func duration(rounds []figures, of func(figures) time.Duration) time.Duration {
	return median(rounds, of).Round(100 * time.Microsecond)
}
