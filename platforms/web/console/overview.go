package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	store "github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/disk"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// overviewView is the first page: what needs somebody, the figures of a day, what runs now.
type overviewView struct {
	Alarms  []alarm
	Span    span
	Plots   []plot
	Buckets []runs.Bucket
	Total   runs.Figures
	Counts  map[runs.Status]int64
	Active  []runRow // not over
	Failed  []runRow // lately
	Ready   int      // tools in menus that can be run now
	Waiting int      // tools in menus that lack what they need
	Engines []Engine
	Space   store.Space // what all files take
	Room    int64       // bytes that are left; negative: nobody knows
}

// Left is how much room there is, in words.
func (v overviewView) Left() string { return store.Words(v.Room) }

// Size is what all files take, in words.
func (v overviewView) Size() string { return store.Words(v.Space.Bytes) }

// Running is how many runs are being worked on.
func (v overviewView) Running() int64 {
	return v.Counts[runs.StatusRunning] + v.Counts[runs.StatusSubmitted]
}

// Queued is how many runs wait for their turn.
func (v overviewView) Queued() int64 { return v.Counts[runs.StatusQueued] }

// room is how many bytes are left; -1 where nobody knows.
func (c *Console) room() int64 {
	if c.cfg.Room == nil {
		return -1
	}
	n, err := c.cfg.Room()
	if err != nil {
		c.cfg.Logger.Warn("how much room is left can't be read", "error", err)
		return -1
	}
	return n
}

// alarm is something that needs an operator.
type alarm struct {
	Text, Path string // the page where more of it is; empty: there is none
	Bad        bool   // else it can wait
}

func (c *Console) overview(w http.ResponseWriter, r *http.Request, who users.Account) error {
	ctx := r.Context()
	v := overviewView{Span: spanOr("24h", ""), Plots: allPlots[:1]}
	stats, err := c.stats(ctx, v.Span)
	if err != nil {
		return err
	}
	v.Buckets, v.Total = stats.Buckets, sum(stats.Buckets)
	if v.Counts, err = c.cfg.Runs.CountByState(ctx); err != nil {
		return err
	}
	if v.Space, err = c.cfg.Runs.Space(ctx); err != nil {
		return err
	}
	if v.Active, err = c.active(ctx); err != nil {
		return err
	}
	failed, err := c.cfg.Runs.List(ctx, runs.Filter{Status: runs.StatusFailed, Since: c.cfg.Now().Add(-day), Limit: 5})
	if err != nil {
		return err
	}
	v.Failed = c.rows(ctx, failed)
	v.Ready, v.Waiting = c.cfg.Registry.Snapshot().Menu(registry.Everyone)
	v.Engines = c.enginesNow(ctx)
	v.Room = c.room()
	v.Alarms = c.alarms(ctx, v)
	return c.show(w, r, who, "overview", view{Title: "Overview", Live: true, Data: v})
}

// active lists some of the runs that are not over, those that run first.
func (c *Console) active(ctx context.Context) ([]runRow, error) {
	const most = 8
	var list []runs.Run
	for _, state := range []runs.Status{runs.StatusRunning, runs.StatusSubmitted, runs.StatusQueued} {
		if len(list) >= most {
			break
		}
		more, err := c.cfg.Runs.List(ctx, runs.Filter{Status: state, Limit: most - len(list)})
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return c.rows(ctx, list), nil
}

// alarmShare is from how many failures in a hundred on, and over how many runs, the day is worth a look.
const (
	alarmShare = 10
	alarmRuns  = 10
)

func (c *Console) alarms(ctx context.Context, v overviewView) []alarm {
	var list []alarm
	if v.Room >= 0 && v.Room < disk.Low {
		list = append(list, alarm{fmt.Sprintf("The disk is nearly full (%s left): once it is, nothing is accepted. Make room there; what waits goes on by itself.", v.Left()), "", true})
	}
	for _, e := range v.Engines {
		if !e.Up && e.Order != "draining" { // which its operator expects
			list = append(list, alarm{fmt.Sprintf("Engine %s is down: %s", e.Name, e.Error), "engines", true})
		}
	}
	for _, s := range c.troubledLoaders() {
		if s.LastError != "" {
			list = append(list, alarm{fmt.Sprintf("The source %s could not be read: %s", s.Name, s.LastError), "errors", true})
		}
	}
	if n := len(c.cfg.Registry.Snapshot().Problems()); n > 0 {
		list = append(list, alarm{fmt.Sprintf("%d definitions were refused or lost a command to another tool", n), "errors", false})
	}
	if share := failureShare(v.Total); share >= alarmShare && v.Total.Succeeded+v.Total.Failed >= alarmRuns {
		list = append(list, alarm{fmt.Sprintf("%.0f %% of the runs of the last 24 hours failed", share), "errors", true})
	}
	list = append(list, c.stopAlarms(ctx)...)
	list = append(list, c.sectionAlarms(ctx)...)
	return append(list, c.bookAlarms(ctx)...)
}

// stopAlarms tells of runs that ended here and may go on at their services.
func (c *Console) stopAlarms(ctx context.Context) (list []alarm) {
	left, err := c.cfg.Runs.Unstopped(ctx)
	if err != nil {
		return []alarm{{"What could not be stopped can't be read: " + err.Error(), "runs", true}}
	}
	for _, u := range left {
		id := "of an id that is not known"
		if u.ProviderID != "" {
			id = u.ProviderID
		}
		list = append(list, alarm{fmt.Sprintf("A run that ended here may go on at %s, where it costs money: job %s (%s)", u.Service, id, u.Why), "runs/" + u.RunID, true})
	}
	return list
}

// bookAlarms tells of a ledger that does not balance.
func (c *Console) bookAlarms(ctx context.Context) []alarm {
	books, _, err := c.sums(ctx)
	if err != nil {
		return []alarm{{"The ledger can't be read: " + err.Error(), "ledger", true}}
	}
	if books.Sum() != 0 {
		return []alarm{{fmt.Sprintf("The ledger does not balance: all accounts come to %s instead of nothing", books.Sum()), "ledger", true}}
	}
	if last, _ := c.books.last(); last != nil && !last.OK() {
		return []alarm{{"The ledger does not balance: " + strings.Join(last.Problems, "; "), "ledger", true}}
	}
	return nil
}

func (c *Console) enginesNow(ctx context.Context) []Engine {
	if c.cfg.Engines == nil {
		return nil
	}
	return c.cfg.Engines(ctx)
}

type enginesView struct {
	Engines []Engine
	Orders  bool // they can be ordered about
	Lacks   []Lack
	More    int // that are not in Lacks
}

// lacksShown is how many rows of what engines lack are shown: each is on its tool's page, too.
const lacksShown = 200

// lacks tells why engines can't run a tool; empty: any tool.
func (c *Console) lacks(tool string) (list []Lack) {
	if c.cfg.Lacks == nil {
		return nil
	}
	for _, l := range c.cfg.Lacks() {
		if tool == "" || l.ToolID == tool {
			list = append(list, l)
		}
	}
	return list
}

func (c *Console) engines(w http.ResponseWriter, r *http.Request, who users.Account) error {
	v := enginesView{Engines: c.enginesNow(r.Context()), Orders: c.cfg.OrderEngine != nil, Lacks: c.lacks("")}
	if n := len(v.Lacks) - lacksShown; n > 0 {
		v.Lacks, v.More = v.Lacks[:lacksShown], n
	}
	return c.show(w, r, who, "engines", view{Title: "Engines", Place: "engines", Live: true, Data: v})
}
