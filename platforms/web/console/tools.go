package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/users"
)

// toolsView is the page of the registry.
type toolsView struct {
	Query, State string
	Rows         []toolRow
	Found, All   int    // how many fit, on all pages; how many there are
	Ready        int    // in menus
	Next         string // address of the next page
	Loaders      []catalog.LoaderStatus
	Problems     registry.Problems
}

// toolRow is a tool in the list.
type toolRow struct {
	*registry.Tool
	Findings []Finding
	Worst    string // severity of the worst finding
}

func (c *Console) findings() map[string][]Finding {
	if c.cfg.Findings == nil {
		return nil
	}
	return c.cfg.Findings()
}

func worst(list []Finding) string {
	for _, severity := range []string{"error", "warning", "info"} {
		if slices.ContainsFunc(list, func(f Finding) bool { return f.Severity == severity }) {
			return severity
		}
	}
	return ""
}

func (c *Console) tools(w http.ResponseWriter, r *http.Request, who users.Account) error {
	snapshot := c.cfg.Registry.Snapshot()
	v := toolsView{Query: strings.TrimSpace(r.URL.Query().Get("q")), State: r.URL.Query().Get("state"), All: snapshot.Len(),
		Loaders: c.cfg.Registry.Status(), Problems: snapshot.Problems()}
	v.Ready, _ = snapshot.Menu(registry.Everyone)
	rows := c.toolRows(v.Query, v.State)
	v.Found = len(rows)
	if after := r.URL.Query().Get("after"); after != "" { // a tool that may be gone by now
		rows = rows[sort.Search(len(rows), func(i int) bool { return rows[i].ToolID > after }):]
	}
	if v.Rows = rows[:min(len(rows), toolsPage)]; len(rows) > toolsPage {
		v.Next = Root + "tools?" + url.Values{"q": {v.Query}, "state": {v.State}, "after": {v.Rows[toolsPage-1].ToolID}}.Encode()
	}
	return c.show(w, r, who, "tools", view{Title: "Tools", Place: "tools", Data: v})
}

const toolsPage = 100

// toolRows are the tools that fit, ordered by id.
func (c *Console) toolRows(query, state string) (rows []toolRow) {
	findings := c.findings()
	for t := range c.cfg.Registry.Snapshot().Each() {
		row := toolRow{t, findings[t.ToolID], worst(findings[t.ToolID])}
		if row.matches(query) && row.in(state) {
			rows = append(rows, row)
		}
	}
	return rows
}

func (t toolRow) matches(query string) bool {
	if query == "" {
		return true
	}
	text := strings.ToLower(strings.Join([]string{t.ToolID, t.DisplayName, t.CommandName, t.Service, t.Category}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func (t toolRow) in(state string) bool {
	return state == "" || state == string(t.State()) || state == "findings" && len(t.Findings) > 0
}

// toolView is the page of one tool.
type toolView struct {
	*registry.Tool
	Findings   []Finding
	Lacks      []Lack
	Versions   []history.Version
	Changes    []changeView
	Definition string
}

func (c *Console) tool(w http.ResponseWriter, r *http.Request, who users.Account) error {
	t, ok := c.cfg.Registry.Snapshot().Resolve(r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	v := toolView{Tool: t, Findings: c.findings()[t.ToolID], Lacks: c.lacks(t.ToolID)}
	var err error
	if v.Definition, err = pretty(*t); err != nil {
		return err
	}
	if v.Versions, err = c.cfg.Catalogue.Versions(r.Context(), t.ToolID); err != nil {
		return err
	}
	changes, err := c.cfg.Catalogue.Changes(r.Context(), history.ChangesQuery{ToolID: t.ToolID, Limit: 20})
	if err != nil {
		return err
	}
	v.Changes = changeViews(changes, t.ToolID)
	return c.show(w, r, who, "tool", view{Title: t.DisplayName, Place: "tools", Data: v})
}

func pretty(t registry.Tool) (string, error) {
	data, err := registry.Encode(t)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return "", err
	}
	return out.String(), nil
}

// versionView is a tool as it was.
type versionView struct {
	registry.Tool
	Definition string
	Changes    catalog.Diff // from then to now
}

func (c *Console) version(w http.ResponseWriter, r *http.Request, who users.Account) error {
	was, err := c.cfg.Catalogue.Tool(r.Context(), r.PathValue("id"), r.PathValue("version"))
	if err != nil {
		return err
	}
	v := versionView{Tool: was}
	if v.Definition, err = pretty(was); err != nil {
		return err
	}
	if is, ok := c.cfg.Registry.Snapshot().ByID(was.ToolID); ok {
		now := is.Clone()
		now.Status = nil // a recorded version has none
		at := c.cfg.Now()
		v.Changes = catalog.Compare(catalog.NewSnapshot([]registry.Tool{was}, at), catalog.NewSnapshot([]registry.Tool{now}, at))
	}
	return c.show(w, r, who, "version", view{Title: was.DisplayName + " " + was.Version, Place: "tools", Data: v})
}

// changeView is one change of the catalogue.
type changeView struct {
	history.Change
	More  int    // how many tools were left out
	Whole string // the page with all of them
}

// changeTools is how many tools of each kind of change the list shows: the first start with a large catalogue changes all of them.
const changeTools = 50

// cut leaves out what is too much for a list.
func (v *changeView) cut() {
	d := &v.Diff
	v.More = shorten(&d.Renamed) + shorten(&d.Added) + shorten(&d.Removed) + shorten(&d.Changed)
	v.Whole = fmt.Sprintf("%schanges?only=%d", Root, v.ID)
}

func shorten[T any](list *[]T) (left int) {
	most := min(len(*list), changeTools)
	left, *list = len(*list)-most, (*list)[:most]
	return left
}

// changeViews cuts changes down to one tool, or leaves them whole.
func changeViews(list []history.Change, toolID string) []changeView {
	views := make([]changeView, len(list))
	for i, change := range list {
		if toolID != "" {
			change.Diff = only(change.Diff, toolID)
		}
		views[i] = changeView{Change: change}
	}
	return views
}

func only(d catalog.Diff, toolID string) catalog.Diff {
	is := func(r catalog.ToolRef) bool { return r.ToolID == toolID }
	return catalog.Diff{
		Added: slices.DeleteFunc(d.Added, func(r catalog.ToolRef) bool { return !is(r) }), Removed: slices.DeleteFunc(d.Removed, func(r catalog.ToolRef) bool { return !is(r) }),
		Changed: slices.DeleteFunc(d.Changed, func(t catalog.ToolChange) bool { return t.ToolID != toolID }),
		Renamed: slices.DeleteFunc(d.Renamed, func(t catalog.Renamed) bool { return t.From != toolID && t.To != toolID }),
	}
}

// changesView is the page of what changed in the catalogue.
type changesView struct {
	Changes []changeView
	Older   string
}

const changesPage = 30

func (c *Console) changes(w http.ResponseWriter, r *http.Request, who users.Account) error {
	before, err := number(r.URL.Query(), "before", 31)
	only, err2 := number(r.URL.Query(), "only", 31)
	if err = cmp.Or(err, err2); err != nil {
		return err
	}
	q := history.ChangesQuery{Before: before, Limit: changesPage}
	if only > 0 {
		q = history.ChangesQuery{Before: only + 1, Limit: 1}
	}
	list, err := c.cfg.Catalogue.Changes(r.Context(), q)
	if err != nil {
		return err
	}
	v := changesView{Changes: changeViews(list, "")}
	if only > 0 {
		if len(list) == 0 || list[0].ID != only { // an older one stands in its place
			return errNoPage
		}
		return c.show(w, r, who, "changes", view{Title: "Changes", Place: "changes", Data: v})
	}
	for i := range v.Changes {
		v.Changes[i].cut()
	}
	if len(list) == changesPage {
		v.Older = fmt.Sprintf("%schanges?before=%d", Root, list[len(list)-1].ID)
	}
	return c.show(w, r, who, "changes", view{Title: "Changes", Place: "changes", Live: before == 0, Data: v})
}

// toolDeeds are what operators can do with tools.
type toolDeeds struct{ console *Console }

func (d toolDeeds) list() []deed {
	return []deed{{path: "reload", place: "tools", plan: d.planReload, do: d.reload}}
}

func (d toolDeeds) planReload(context.Context, string) (plan, error) {
	var names []string
	for _, s := range d.console.cfg.Registry.Status() {
		names = append(names, s.Name)
	}
	return plan{
		Title: "Read all sources again", Button: "Read again", Back: Root + "tools",
		Says: []string{
			"The sources are asked anew: " + strings.Join(names, ", ") + ".",
			"What is gone there is gone here. Runs under way keep the tool and the price they were accepted with.",
		},
	}, nil
}

func (d toolDeeds) reload(ctx context.Context, _ order) (outcome, error) {
	diff, err := d.console.cfg.Registry.Reload(ctx)
	says := fmt.Sprintf("All sources were read: %d tools added, %d removed, %d changed.", len(diff.Added), len(diff.Removed), len(diff.Changed))
	if err != nil {
		says += " Some could not be read or were refused; Errors has them."
	}
	return outcome{Action: "reload tools", Says: says, To: Root + "tools"}, nil
}
