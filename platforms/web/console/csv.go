package console

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// sheet is a table of the console as CSV: all of its rows that fit the page's address, not one page of them.
type sheet struct {
	columns []string
	// rows gives each row to put, which fails when nobody reads any more.
	rows func(ctx context.Context, q url.Values, put putRow) error
}

type putRow func(cells ...any) error

// workbook draws the tables of the console as CSV.
type workbook struct{ console *Console }

// sheets are all tables, by the place of the navigation that they stand at.
func (b workbook) sheets() map[string]sheet {
	all := map[string]sheet{
		"runs":    {[]string{"run", "state", "tool", "account", "name", "platform", "accepted", "ended", "seconds", "usd", "quote", "error", "refunded"}, b.runSheet},
		"errors":  {[]string{"tool", "code", "count", "people", "last", "example"}, b.errorSheet},
		"plots":   {[]string{"from", "runs", "succeeded", "failed", "median_seconds", "p95_seconds", "revenue_usd", "cost_usd", "engine_seconds"}, b.figureSheet},
		"tools":   {[]string{"tool", "name", "command", "service", "category", "state", "version", "price", "findings"}, b.toolSheet},
		"changes": {[]string{"time", "what", "tool", "field", "was", "is"}, b.changeSheet},
		"engines": {[]string{"engine", "up", "version", "gpus", "running", "waiting", "order", "error"}, b.engineSheet},
		"ledger":  {[]string{"transfer", "time", "kind", "account", "name", "usd", "entries", "run", "note"}, b.transferSheet},
		"people":  {[]string{"account", "name", "platforms", "since", "available_usd", "held_usd", "operator", "blocked"}, b.peopleSheet},
		"access":  {[]string{"rule", "whom", "name", "may", "where", "set", "by", "why"}, b.accessSheet},
		"audit":   {[]string{"time", "who", "did", "account", "about", "effect", "why"}, b.auditSheet},
	}
	if b.console.cfg.Invitations != nil {
		all["invitations"] = sheet{[]string{"invitation", "for", "state", "usd", "made", "by", "until", "used_by"}, b.invitationSheet}
	}
	if b.console.cfg.Settings != nil {
		all["settings"] = sheet{[]string{"setting", "value", "from", "variable", "by", "set"}, b.settingSheet}
	}
	for _, s := range b.console.cfg.Sections {
		all[s.Path] = sheet{nil, b.sectionSheet(s)}
	}
	return all
}

// export sends a table as CSV, row by row as it is read. Should it fail before, that is a page; in the midst, the connection breaks: nobody takes half of it for all.
func (c *Console) export(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	name := r.PathValue("table")
	s, ok := (workbook{c}).sheets()[name]
	if !ok {
		return errNoPage
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	h.Set("Cache-Control", "no-store")
	sent := &bodyWriter{Writer: w}
	out := csv.NewWriter(sent)
	put := func(cells ...any) error {
		line := make([]string, len(cells))
		for i, cell := range cells {
			line[i] = cellText(cell)
		}
		return out.Write(line)
	}
	var err error
	if s.columns != nil {
		err = out.Write(s.columns)
	}
	if err == nil {
		err = s.rows(r.Context(), r.URL.Query(), put)
	}
	if err != nil && !sent.begun {
		h.Del("Content-Disposition")
		return err
	}
	if out.Flush(); err == nil {
		err = out.Error()
	}
	if err != nil {
		c.cfg.Logger.Warn("a table as CSV broke", "table", name, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// bodyWriter remembers that something was written.
type bodyWriter struct {
	io.Writer
	begun bool
}

func (b *bodyWriter) Write(p []byte) (int, error) {
	b.begun = true
	return b.Writer.Write(p)
}

// cellText is a value as programs that calculate read it. What a person wrote must not be a formula there: such texts begin with an
// apostrophe, which these programs hide.
func cellText(cell any) string {
	switch v := cell.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case *time.Time:
		if v == nil {
			return ""
		}
		return cellText(*v)
	case billing.NanoUSD:
		return strings.Replace(v.String(), "$", "", 1)
	case time.Duration:
		return strconv.FormatFloat(v.Seconds(), 'f', 3, 64)
	case string:
		if v != "" && strings.ContainsRune("=+-@\t\r\n", rune(v[0])) {
			return "'" + v
		}
		return v
	}
	return fmt.Sprint(cell)
}

func (b workbook) runSheet(ctx context.Context, q url.Values, put putRow) error {
	wanted, err := readRunFilter(q)
	if err != nil {
		return err
	}
	f := wanted.filter(b.console.cfg.Now())
	for {
		list, err := b.console.findRuns(ctx, f)
		if err != nil {
			return err
		}
		for _, r := range b.console.rows(ctx, list) {
			failure := runs.Failure{}
			if r.Error != nil {
				failure = *r.Error
			}
			if err := put(r.ID, string(r.Status), r.Tool.ToolID, r.AccountID, r.Name, r.Origin.Platform, r.CreatedAt, r.EndedAt, r.Took, r.Cost, r.Quote.String(), failure.Message, r.RefundedAt); err != nil {
				return err
			}
		}
		if len(list) < f.Limit {
			return nil
		}
		f.Before = list[len(list)-1].ID
	}
}

func (b workbook) errorSheet(ctx context.Context, q url.Values, put putRow) error {
	failed, _, err := b.console.failures(ctx, spanOr(q.Get("span"), "7d"))
	for _, g := range groupFailures(failed) {
		if err == nil {
			err = put(g.Tool.ToolID, g.Code, g.Count, g.People, g.Last.CreatedAt, g.Example)
		}
	}
	return err
}

func (b workbook) figureSheet(ctx context.Context, q url.Values, put putRow) error {
	stats, err := b.console.stats(ctx, spanOr(q.Get("span"), "24h"))
	for _, s := range stats.Buckets {
		if err == nil {
			err = put(s.From, s.Runs, s.Succeeded, s.Failed, s.P50, s.P95, s.Revenue, s.Cost, s.EngineSeconds)
		}
	}
	return err
}

func (b workbook) toolSheet(_ context.Context, q url.Values, put putRow) error {
	for _, t := range b.console.toolRows(strings.TrimSpace(q.Get("q")), q.Get("state")) {
		if err := put(t.ToolID, t.DisplayName, t.CommandName, t.Service, t.Category, string(t.State()), t.Version, t.CostingModel.Summary(), len(t.Findings)); err != nil {
			return err
		}
	}
	return nil
}

func (b workbook) changeSheet(ctx context.Context, _ url.Values, put putRow) error {
	for before := int64(0); ; {
		list, err := b.console.cfg.Catalogue.Changes(ctx, history.ChangesQuery{Before: before, Limit: changesPage})
		if err != nil {
			return err
		}
		for _, change := range list {
			if err := putChange(change, put); err != nil {
				return err
			}
			before = change.ID
		}
		if len(list) < changesPage {
			return nil
		}
	}
}

func putChange(change history.Change, put putRow) (err error) {
	line := func(cells ...any) {
		if err == nil {
			err = put(append([]any{change.At}, cells...)...)
		}
	}
	for _, t := range change.Diff.Renamed {
		line("renamed", t.To, "toolId", t.From, t.To)
	}
	for _, t := range change.Diff.Added {
		line("added", t.ToolID, "", "", "")
	}
	for _, t := range change.Diff.Removed {
		line("removed", t.ToolID, "", "", "")
	}
	for _, t := range change.Diff.Changed {
		for _, f := range t.Fields {
			line("changed", t.ToolID, f.Path, f.Old, f.New)
		}
	}
	return err
}

func (b workbook) engineSheet(ctx context.Context, _ url.Values, put putRow) error {
	for _, e := range b.console.enginesNow(ctx) {
		if err := put(e.Name, e.Up, e.Version, strings.Join(e.GPUs, ", "), len(e.Running), len(e.Waiting), e.Order, e.Error); err != nil {
			return err
		}
	}
	return nil
}

func (b workbook) transferSheet(ctx context.Context, q url.Values, put putRow) error {
	query, name := billing.TransfersQuery{Kind: q.Get("kind"), Limit: transfersPage}, b.console.names(ctx)
	for {
		list, err := b.console.transfers(ctx, q.Get("q"), query)
		if err != nil {
			return err
		}
		for _, t := range transferRows(name, list) {
			entries := ""
			for _, leg := range t.Legs {
				entries += fmt.Sprintf("%s %s; ", leg.Account, cellText(leg.Amount))
			}
			if err := put(t.ID, t.Time, t.Kind, t.AccountID, t.Name, t.Amount, strings.TrimSuffix(entries, "; "), t.RunID, t.Note); err != nil {
				return err
			}
			query.Before = t.ID
		}
		if len(list) < transfersPage {
			return nil
		}
	}
}

func (b workbook) peopleSheet(ctx context.Context, q url.Values, put putRow) error {
	query := readPeopleQuery(q)
	for {
		list, err := b.console.cfg.People.People(ctx, query)
		if err != nil {
			return err
		}
		for _, p := range list {
			balance, err := b.console.cfg.Ledger.Balance(ctx, p.ID)
			if err != nil {
				return err
			}
			var platforms []string
			for _, i := range p.Identities {
				platforms = append(platforms, i.Platform)
			}
			if err := put(p.ID, p.DisplayName, strings.Join(platforms, " "), p.CreatedAt, balance.Available, balance.Held, p.Operator, p.Blocked); err != nil {
				return err
			}
			query.Before = p.ID
		}
		if len(list) < query.Limit {
			return nil
		}
	}
}

func (b workbook) accessSheet(ctx context.Context, _ url.Values, put putRow) error {
	name := b.console.names(ctx)
	rules, err := b.console.cfg.People.Rules(ctx, users.Place{})
	for _, r := range rules {
		if err == nil {
			err = put(r.ID, r.Whom(), r.Name, r.Allow, whereOf(r), r.At, name(r.By), r.Note)
		}
	}
	return err
}

func (b workbook) auditSheet(ctx context.Context, _ url.Values, put putRow) error {
	query, name := users.AuditQuery{Limit: auditPage}, b.console.names(ctx)
	for {
		list, err := b.console.cfg.People.Audit(ctx, query)
		if err != nil {
			return err
		}
		for _, e := range auditRows(name, list) {
			if err := put(e.At, e.ByName, e.Action, e.AccountID, e.About, e.Detail, e.Note); err != nil {
				return err
			}
			query.Before = e.ID
		}
		if len(list) < auditPage {
			return nil
		}
	}
}

func (b workbook) invitationSheet(ctx context.Context, _ url.Values, put putRow) error {
	rows, err := b.console.invitationRows(ctx)
	for _, v := range rows {
		if err == nil {
			err = put(v.ID, v.Note, v.State, v.Credit, v.CreatedAt, v.ByName, v.ExpiresAt, v.UsedBy)
		}
	}
	return err
}

func (b workbook) settingSheet(ctx context.Context, _ url.Values, put putRow) error {
	for _, s := range b.console.settingRows(ctx) {
		var at *time.Time
		if !s.At.IsZero() {
			at = &s.At
		}
		if err := put(s.Name, s.Value, string(s.Source), s.Variable, s.ByName, at); err != nil {
			return err
		}
	}
	return nil
}

// sectionSheet is the table of a page that another room fills, as it shows it.
func (b workbook) sectionSheet(s Section) func(context.Context, url.Values, putRow) error {
	return func(ctx context.Context, q url.Values, put putRow) error {
		table, err := s.Table(ctx, s.chosen(q.Get("view")))
		if err != nil {
			return err
		}
		head := make([]any, len(table.Columns))
		for i, column := range table.Columns {
			head[i] = column
		}
		err = put(head...)
		for _, row := range table.Rows {
			cells := make([]any, len(row.Cells))
			for i, cell := range row.Cells {
				cells[i] = cell.Text + cell.Run
			}
			if err == nil {
				err = put(cells...)
			}
		}
		return err
	}
}
