//go:build unix

// Command processes measures what several processes on one Postgres get through, against one: complete runs a second that programs order
// over the API, the processor time of each run, and how long an order waits for its first answer at an even pace.
//
//	go run ./test/bench/processes [-processes 1,2,4] [-rounds 3] [-seconds 3] [-clients 16] [-pace 40] [-processors 1] [-pooler 20]
//
// It is called from the project's root, and builds the program. The service that does the work answers at once, and is in this program, whose
// processor time does not count. Processes share the machine's processors as containers do, by GOMAXPROCS; with -processors one process has no more of them
// than each of several, as on machines of their own. The houses take turns; what counts are the ratios to the first one of the same round, of which the median is
// printed: on two cores several processes are no faster, but they must not be dearer.
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
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/test/bench/program"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	processes     []int
	rounds        int
	time          time.Duration
	clients, pace int
	processors    int
	pooler        int
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("processes", flag.ContinueOnError)
	list := flags.String("processes", "1,2,4", "numbers of processes, the baseline first")
	seconds := flags.Float64("seconds", 3, "length of each measurement")
	flags.IntVar(&o.rounds, "rounds", 3, "measurements of each number of processes")
	flags.IntVar(&o.clients, "clients", 16, "programs for each process that order, each one thing after the other")
	flags.IntVar(&o.pace, "pace", 40, "orders a second where the first answer is measured")
	flags.IntVar(&o.processors, "processors", 0, "that each process may use; 0: its share of the machine's, so that one alone has more than each of several")
	flags.IntVar(&o.pooler, "pooler", 0, "connections of a PgBouncer in transaction mode, in front of all processes together; 0: none")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.time = time.Duration(*seconds * float64(time.Second))
	for text := range strings.SplitSeq(*list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-processes: %q is no number of processes", text)
		}
		o.processes = append(o.processes, n)
	}
	return o, nil
}

// perProcess is more than the connections of a process to the database.
const perProcess = 50

// dearest is how much more processor time a run may take with several processes than with one.
const dearest = 1.15

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := program.Folder("sbprocesses")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary, err := program.Build(ctx, ".", dir)
	if err != nil {
		return err
	}
	server, err := postgres.Start(ctx, postgres.Config{
		Dir: filepath.Join(dir, "postgres"), Logger: slog.New(slog.DiscardHandler), MaxConnections: 100 + slices.Max(o.processes)*perProcess})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	service := httptest.NewServer(http.HandlerFunc(atOnce))
	defer service.Close()
	tools := filepath.Join(dir, "tools")
	if err := errors.Join(os.Mkdir(tools, 0o755), os.WriteFile(filepath.Join(tools, "instant.tool.yaml"), fmt.Appendf(nil, instant, service.URL), 0o644)); err != nil {
		return err
	}
	b := &bench{options: o, binary: binary, dir: dir, dsn: server.DSN(), tools: tools}
	rounds := make([]map[int]measured, o.rounds)
	for i := range rounds {
		rounds[i] = map[int]measured{}
		for _, n := range o.processes {
			if rounds[i][n], err = b.measure(ctx, n); err != nil {
				return err
			}
		}
	}
	return report(o, rounds, out)
}

// measure starts a house of n processes and loads it, first as fast as it can, then at an even pace.
func (b *bench) measure(ctx context.Context, n int) (m measured, err error) {
	h, err := b.open(ctx, n)
	defer func() { err = errors.Join(err, h.close()) }()
	if err != nil {
		return m, err
	}
	if _, _, err := h.load(ctx, len(h.keys), warmUp); err != nil { // fills caches
		return m, err
	}
	if m.idle, err = h.idle(ctx); err != nil {
		return m, err
	}
	before, server, err := h.cpu(ctx)
	if err != nil {
		return m, err
	}
	pooler := h.poolerCPU()
	runs, took, err := h.load(ctx, len(h.keys), b.time)
	if err != nil {
		return m, err
	}
	after, serverAfter, err := h.cpu(ctx)
	if err != nil {
		return m, err
	}
	done := time.Duration(max(runs, 1))
	m.pooler = (h.poolerCPU() - pooler) / done
	if m.conns, err = h.connections(ctx); err != nil {
		return m, err
	}
	m.perSecond, m.cpu, m.server = float64(runs)/took.Seconds(), (after-before)/done, (serverAfter-server)/done
	waits, err := h.wait(ctx, b.pace, b.time)
	if err != nil {
		return m, err
	}
	m.half, m.most = waits[len(waits)/2], waits[len(waits)*95/100]
	return m, nil
}

// instant is a service that is done with what it is asked for when it answers.
const instant = `
tool:
  toolId: instant
  displayName: Instant
  commandName: /instant
  inputSchema:
    prompt: {type: string, required: true}
  outputSchema:
    words: {type: text}
  costingModel: {rate: 0.0001, unit: request, rateSource: static}
  webhookStrategy: {expectedStatusField: state, successValue: done, resultPath: [words], idPath: [id]}
http:
  baseURL: %s
  submit: {path: /jobs, body: {prompt: "{{prompt}}"}}
`

func atOnce(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"state":"done","id":"1","words":"here they are"}`) // who has left asks again
}

// measured is what one house got through.
type measured struct {
	perSecond  float64
	cpu        time.Duration // of each run, program and database together
	server     time.Duration // the database's part of it
	idle       time.Duration // the same in a second without runs
	half, most time.Duration // that the first answer took: of half the orders, and of 95 of 100
	conns      int           // of the database, under load
	pooler     time.Duration // processor time of PgBouncer for each run, which is in cpu
}

// report prints the medians of the rounds, and fails where a run is dearer with several processes.
func report(o options, rounds []map[int]measured, out io.Writer) error {
	fmt.Fprintf(out, "%9s %8s %10s %12s %10s %12s %12s %14s %10s %10s %12s %10s\n", "processes", "runs/s", "ratio", "run cpu us", "ratio", "database us", "idle ms/s", "answer p50 ms", "ratio", "p95 ratio", "connections", "pooler us")
	var dear error
	for _, n := range o.processes {
		of := func(f func(m, base measured) float64) float64 {
			var all []float64
			for _, r := range rounds {
				all = append(all, f(r[n], r[o.processes[0]]))
			}
			slices.Sort(all)
			return all[(len(all)-1)/2]
		}
		cpu := of(func(m, base measured) float64 { return float64(m.cpu) / float64(base.cpu) })
		fmt.Fprintf(out, "%9d %8.0f %10.2f %12.0f %10.2f %12.0f %12.1f %14.1f %10.2f %10.2f %12.0f %10.0f\n", n,
			of(func(m, _ measured) float64 { return m.perSecond }), of(func(m, base measured) float64 { return m.perSecond / base.perSecond }),
			of(func(m, _ measured) float64 { return float64(m.cpu.Microseconds()) }), cpu, of(func(m, _ measured) float64 { return float64(m.server.Microseconds()) }),
			of(func(m, _ measured) float64 { return float64(m.idle.Microseconds()) / 1000 }),
			of(func(m, _ measured) float64 { return float64(m.half.Microseconds()) / 1000 }),
			of(func(m, base measured) float64 { return float64(m.half) / float64(base.half) }),
			of(func(m, base measured) float64 { return float64(m.most) / float64(base.most) }),
			of(func(m, _ measured) float64 { return float64(m.conns) }),
			of(func(m, _ measured) float64 { return float64(m.pooler.Microseconds()) }))
		if cpu > dearest {
			dear = errors.Join(dear, fmt.Errorf("with %d processes a run takes %.2f times the processor time, above %.2f", n, cpu, dearest))
		}
	}
	return dear
}
