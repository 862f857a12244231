// Package meter tells what the work of a benchmark costs.
package meter

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Rate is how often something was done in a second, and the processor time of each.
type Rate struct {
	PerSecond float64
	CPU       time.Duration
}

// Measure gives the rate of what f does: f tells how often, and how long that took.
func Measure(ctx context.Context, pool *pgxpool.Pool, f func() (int64, time.Duration, error)) (Rate, error) {
	before, err := CPU(ctx, pool)
	if err != nil {
		return Rate{}, err
	}
	n, took, err := f()
	if err != nil {
		return Rate{}, err
	}
	after, err := CPU(ctx, pool)
	if err != nil {
		return Rate{}, err
	}
	n = max(n, 1)
	return Rate{float64(n) / took.Seconds(), (after - before) / time.Duration(n)}, nil
}

// Pair is what was measured of some work, and of the baseline right before and after it.
type Pair struct{ Base, Work Rate }

// Ratio is how often the work was done for each time that the baseline was.
func (p Pair) Ratio() float64 { return p.Work.PerSecond / p.Base.PerSecond }

// CPURatio is the same by processor time.
func (p Pair) CPURatio() float64 { return float64(p.Base.CPU) / float64(p.Work.CPU) }

// Rounds are pairs that were measured one after the other, in the order of their ratios.
type Rounds []Pair

// Alternate measures the baseline and the work by turns, the work n times: a shared machine is not equally fast all the time.
func Alternate(n int, base, work func() (Rate, error)) (Rounds, error) {
	before, err := base()
	if err != nil {
		return nil, err
	}
	var rounds Rounds
	for range n {
		rate, err := work()
		if err != nil {
			return nil, err
		}
		after, err := base()
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, Pair{Base: Rate{(before.PerSecond + after.PerSecond) / 2, (before.CPU + after.CPU) / 2}, Work: rate})
		before = after
	}
	slices.SortFunc(rounds, func(a, b Pair) int { return cmp.Compare(a.Ratio(), b.Ratio()) })
	return rounds, nil
}

// Median is the round in the middle; of two, the lower one.
func (r Rounds) Median() Pair { return r[(len(r)-1)/2] }

// Range tells the lowest and the highest ratio.
func (r Rounds) Range() string {
	return fmt.Sprintf("%.2f-%.2f", r[0].Ratio(), r[len(r)-1].Ratio())
}

// ticks is the kernel's unit of the times in /proc (sysconf CLK_TCK), which is 100 everywhere.
const ticks = 10 * time.Millisecond

// CPU is the processor time that this program and the Postgres server on this machine have used so far.
// It tells what work costs even where others use the machine too. Where there is no /proc, or the
// server is elsewhere, only the program itself counts.
func CPU(ctx context.Context, pool *pgxpool.Pool) (time.Duration, error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, fmt.Errorf("processor time: %w", err)
	}
	server, err := ServerCPU(ctx, pool)
	return time.Duration(own.Utime.Nano()+own.Stime.Nano()) + server, err
}

// ProcessCPU is the processor time that another process on this machine has used so far; 0 where there is no /proc.
func ProcessCPU(pid int) time.Duration {
	s, _ := readStat(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return s.used
}

// ServerCPU is the processor time of the Postgres server alone; 0 where there is no /proc, or the server is elsewhere.
func ServerCPU(ctx context.Context, pool *pgxpool.Pool) (total time.Duration, err error) {
	var backend string
	if err := pool.QueryRow(ctx, `SELECT pg_backend_pid()::text`).Scan(&backend); err != nil {
		return 0, err
	}
	stat, ok := readStat(filepath.Join("/proc", backend, "stat"))
	if !ok {
		return 0, nil
	}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		s, ok := readStat(file)
		if !ok {
			continue // it has ended since
		}
		if s.parent == stat.parent {
			total += s.used
		}
		if file == filepath.Join("/proc", stat.parent, "stat") {
			total += s.used + s.children // of connections that were closed
		}
	}
	return total, nil
}

type procStat struct {
	parent         string
	used, children time.Duration
}

func readStat(file string) (procStat, bool) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return procStat{}, false
	}
	// The second field is the program's name in parentheses and may hold anything.
	_, rest, ok := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')'):]), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 15 {
		return procStat{}, false
	}
	at := func(i int) time.Duration {
		n, _ := strconv.ParseInt(fields[i], 10, 64) // the kernel writes numbers there
		return time.Duration(n) * ticks
	}
	return procStat{parent: fields[1], used: at(11) + at(12), children: at(13) + at(14)}, true
}
