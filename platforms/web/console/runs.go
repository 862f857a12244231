package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// runsPage is how many runs a page of the list has.
const runsPage = 50

// searchLimit bounds a search: words that are in no run are looked for in all of them.
const searchLimit = 10 * time.Second

// runRow is a run in a list.
type runRow struct {
	runs.Run
	Name    string // of the account
	Percent string // empty while no real figure is known
	Took    time.Duration
}

// runFilter is the form over the list of runs, as it was sent.
type runFilter struct {
	Text, State, Tool, Platform, Account, Span string
}

var runStates = []runs.Status{runs.StatusAwaitingConfirmation, runs.StatusQueued, runs.StatusSubmitted, runs.StatusRunning,
	runs.StatusSucceeded, runs.StatusFailed, runs.StatusCanceled, runs.StatusTimedOut}

// undelivered stands in place of a state for runs whose results could not be brought to anybody.
const undelivered = "undelivered"

func readRunFilter(q url.Values) (f runFilter, err error) {
	f = runFilter{Text: strings.TrimSpace(q.Get("q")), State: q.Get("state"), Tool: q.Get("tool"), Platform: q.Get("platform"), Span: q.Get("span")}
	f.Account, err = identifier(q, "account")
	return f, err
}

// query is the filter as part of an address.
func (f runFilter) query() string {
	q := url.Values{}
	for name, value := range map[string]string{"q": f.Text, "state": f.State, "tool": f.Tool, "platform": f.Platform, "account": f.Account, "span": f.Span} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q.Encode()
}

func (f runFilter) filter(now time.Time) runs.Filter {
	filter := runs.Filter{Text: f.Text, Status: runs.Status(f.State), ToolID: f.Tool, Platform: f.Platform, AccountID: f.Account, Limit: runsPage}
	if f.State == undelivered {
		filter.Status, filter.Undelivered = "", true
	}
	if s, ok := spanNamed(f.Span); ok {
		filter.Since = now.Add(-s.Length)
	}
	return filter
}

// runListView is the page of runs.
type runListView struct {
	runFilter
	Rows      []runRow
	States    []runs.Status
	Platforms []string
	Spans     []span
	Counts    map[runs.Status]int64 // of those that are not over
	Older     string                // the next page
	First     bool                  // this is the first page
}

// Query is the filter as part of an address.
func (v runListView) Query() string { return v.query() }

// Filtered tells whether the list shows less than all.
func (v runListView) Filtered() bool { return v.query() != "" }

func (c *Console) runList(w http.ResponseWriter, r *http.Request, who users.Account) error {
	q := r.URL.Query()
	f, err := readRunFilter(q)
	if err != nil {
		return err
	}
	filter := f.filter(c.cfg.Now())
	if filter.Before, err = identifier(q, "before"); err != nil {
		return err
	}
	list, err := c.findRuns(r.Context(), filter)
	if err != nil {
		return err
	}
	v := runListView{runFilter: f, Rows: c.rows(r.Context(), list), States: runStates, Platforms: []string{"telegram", "discord", "web", "api"},
		Spans: spans, First: filter.Before == ""}
	if v.Counts, err = c.cfg.Runs.CountByState(r.Context()); err != nil {
		return err
	}
	if len(list) == runsPage {
		v.Older = Root + "runs?" + joinQuery(f.query(), "before="+url.QueryEscape(list[len(list)-1].ID))
	}
	return c.show(w, r, who, "runs", view{Title: "Runs", Place: "runs", Live: v.First, Data: v})
}

// findRuns lists runs, or gives up a search that takes too long.
func (c *Console) findRuns(ctx context.Context, f runs.Filter) ([]runs.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, searchLimit)
	defer cancel()
	return c.cfg.Runs.List(ctx, f)
}

func joinQuery(a, b string) string {
	if a == "" {
		return b
	}
	return a + "&" + b
}

// rows adds to runs whose they are.
func (c *Console) rows(ctx context.Context, list []runs.Run) []runRow {
	name := c.names(ctx)
	rows := make([]runRow, len(list))
	for i, run := range list {
		rows[i] = runRow{Run: run, Name: name(run.AccountID), Percent: percent(run.Fraction), Took: c.lasted(run)}
	}
	return rows
}

// names gives a function that names accounts, each read once.
func (c *Console) names(ctx context.Context) func(accountID string) string {
	known := map[string]string{}
	return func(accountID string) string {
		name, ok := known[accountID]
		if !ok {
			name = c.nameOf(ctx, accountID)
			known[accountID] = name
		}
		return name
	}
}

// nameOf names an account, or who is none: the system, or a part of the house. An account that cannot be read goes by its id.
func (c *Console) nameOf(ctx context.Context, accountID string) string {
	if uuid.Validate(accountID) != nil {
		return accountID
	}
	a, err := c.cfg.People.ByID(ctx, accountID)
	if err != nil {
		return short(accountID)
	}
	return cmp.Or(a.DisplayName, short(a.ID))
}

// lasted is the time from acceptance to the end, or until now.
func (c *Console) lasted(run runs.Run) time.Duration {
	if run.EndedAt != nil {
		return run.EndedAt.Sub(run.CreatedAt)
	}
	return c.cfg.Now().Sub(run.CreatedAt)
}

func percent(fraction *float64) string {
	if fraction == nil {
		return ""
	}
	return fmt.Sprintf("%.0f", *fraction*100)
}

// runDetail is the page of one run.
type runDetail struct {
	runRow
	Given     []given
	Transfers []billing.Transfer
	Balance   billing.Balance
	CanRefund bool
	CanRetry  bool
}

// given is one input of a run.
type given struct {
	Label, Value string
	Source       runs.Source
}

func (c *Console) run(w http.ResponseWriter, r *http.Request, who users.Account) error {
	ctx := r.Context()
	run, err := c.cfg.Runs.Look(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	v := runDetail{runRow: c.rows(ctx, []runs.Run{run})[0], Given: inputsOf(run), CanRetry: retryable(run), CanRefund: refundable(run)}
	if v.Transfers, err = c.cfg.Ledger.Transfers(ctx, billing.TransfersQuery{RunID: run.ID}); err != nil {
		return err
	}
	if v.Balance, err = c.cfg.Ledger.Balance(ctx, run.AccountID); err != nil {
		return err
	}
	return c.show(w, r, who, "run", view{Title: run.Tool.DisplayName, Place: "runs", Live: !run.Status.Final(), Data: v})
}

func retryable(run runs.Run) bool {
	return run.Status == runs.StatusFailed || run.Status == runs.StatusTimedOut || run.Status == runs.StatusCanceled
}

func refundable(run runs.Run) bool { return run.Cost > 0 && run.RefundedAt == nil }

// inputsOf lists a run's inputs in the order of its tool's.
func inputsOf(run runs.Run) []given {
	var list []given
	for _, f := range run.Tool.InputSchema.Ordered() {
		if value, ok := run.Inputs[f.Name]; ok {
			list = append(list, given{f.Label(), plain(value), run.Sources[f.Name]})
		}
	}
	return list
}

// plain is a JSON value as a person would type it.
func plain(x any) string {
	if text, ok := x.(string); ok {
		return text
	}
	data, err := json.Marshal(x)
	if err != nil {
		return fmt.Sprint(x)
	}
	return string(data)
}

func runPage(id string) string { return Root + "runs/" + id }

// runDeeds are what operators can do to a run.
type runDeeds struct{ console *Console }

// runDeeds are what can be done to a run.
func (d runDeeds) list() []deed {
	return []deed{
		{path: "runs/{id}/cancel", place: "runs", plan: d.planCancel, do: d.cancelRun},
		{path: "runs/{id}/retry", place: "runs", plan: d.planRetry, do: d.retryRun},
		{path: "runs/{id}/refund", place: "runs", plan: d.planRefund, do: d.refundRun},
	}
}

func (d runDeeds) planCancel(ctx context.Context, id string) (plan, error) {
	run, err := d.console.cfg.Runs.Look(ctx, id)
	if err != nil {
		return plan{}, err
	}
	if run.Status.Final() {
		return plan{}, registry.Errorf(registry.CodeInvalidInput, "This run is over: %s.", words(run.Status))
	}
	return plan{
		Title: "Cancel this run", Button: "Cancel the run", Danger: true, Back: runPage(id),
		Says: []string{
			fmt.Sprintf("%s of %s is %s.", run.Tool.DisplayName, d.console.nameOf(ctx, run.AccountID), words(run.Status)),
			fmt.Sprintf("It ends at once and costs nothing; what is held for it, %s, goes back to the wallet.", run.Quote.High),
		},
	}, nil
}

func (d runDeeds) cancelRun(ctx context.Context, o order) (outcome, error) {
	run, err := d.console.cfg.Runs.Cancel(ctx, o.ID, "")
	says := fmt.Sprintf("Run %s is %s.", short(run.ID), words(run.Status))
	return outcome{Account: run.AccountID, Action: "cancel run", Says: says, To: runPage(o.ID)}, err
}

func (d runDeeds) planRetry(ctx context.Context, id string) (plan, error) {
	run, err := d.console.cfg.Runs.Look(ctx, id)
	if err != nil {
		return plan{}, err
	}
	if !retryable(run) {
		return plan{}, registry.Errorf(registry.CodeInvalidInput, "Only a run that failed, timed out or was canceled can be tried again. This one is %s.", words(run.Status))
	}
	balance, err := d.console.cfg.Ledger.Balance(ctx, run.AccountID)
	if err != nil {
		return plan{}, err
	}
	return plan{
		Title: "Try this run again", Button: "Try again", Back: runPage(id),
		Says: []string{
			fmt.Sprintf("A new run of %s starts for %s, with the same inputs and the tool as it is today.", run.Tool.DisplayName, d.console.nameOf(ctx, run.AccountID)),
			fmt.Sprintf("Their wallet pays for it as usual: it was quoted at %s, and they have %s.", run.Quote, balance.Available),
		},
	}, nil
}

func (d runDeeds) retryRun(ctx context.Context, o order) (outcome, error) {
	run, err := d.console.cfg.Runs.Retry(ctx, o.ID)
	says := fmt.Sprintf("Run %s was started again as %s, quoted at %s.", short(o.ID), short(run.ID), run.Quote)
	return outcome{Account: run.AccountID, Action: "retry run", Says: says, To: runPage(run.ID)}, err
}

func (d runDeeds) planRefund(ctx context.Context, id string) (plan, error) {
	run, err := d.console.cfg.Runs.Look(ctx, id)
	if err != nil {
		return plan{}, err
	}
	if run.RefundedAt != nil {
		return plan{}, registry.Errorf(registry.CodeInvalidInput, "This run was refunded already.")
	}
	if run.Cost == 0 {
		return plan{}, billing.ErrNothingCaptured
	}
	balance, err := d.console.cfg.Ledger.Balance(ctx, run.AccountID)
	if err != nil {
		return plan{}, err
	}
	name := d.console.nameOf(ctx, run.AccountID)
	return plan{
		Title: "Refund this run", Button: "Refund " + run.Cost.String(), Danger: true, Why: true, Back: runPage(id),
		Says: []string{
			fmt.Sprintf("%s goes back to %s. Their wallet goes from %s to %s.", run.Cost, name, balance.Available, balance.Available+run.Cost),
			"They keep the result. The reason is shown in their statement and on the receipt. A refund can't be undone.",
		},
	}, nil
}

func (d runDeeds) refundRun(ctx context.Context, o order) (outcome, error) {
	run, err := d.console.cfg.Runs.Refund(ctx, o.ID, o.Why)
	if err != nil {
		return outcome{}, err
	}
	balance, err := d.console.cfg.Ledger.Balance(ctx, run.AccountID)
	if err != nil {
		return outcome{}, err
	}
	says := fmt.Sprintf("Refunded %s for run %s; the wallet has %s now.", run.Cost, short(run.ID), balance.Available)
	return outcome{Account: run.AccountID, Action: "refund run", Says: says, To: runPage(o.ID)}, nil
}

func words(s runs.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// failures is the page of what went wrong lately.
type failuresView struct {
	Groups   []failureGroup
	Seen     int  // failures that were looked at
	Full     bool // there are more
	Span     span
	Spans    []span
	Loaders  []catalog.LoaderStatus // with an error or refused definitions
	Problems registry.Problems      // of the present catalogue as a whole
}

// failureGroup is the failures of one tool with one code.
type failureGroup struct {
	Tool    *registry.Tool
	Code    string
	Count   int
	People  int // accounts hit
	Last    runs.Run
	Example string
}

// failuresRead is how many of the latest failures and of the latest timeouts the page groups.
const failuresRead = 200

func (c *Console) errors(w http.ResponseWriter, r *http.Request, who users.Account) error {
	v := failuresView{Span: spanOr(r.URL.Query().Get("span"), "7d"), Spans: spans}
	failed, full, err := c.failures(r.Context(), v.Span)
	if err != nil {
		return err
	}
	v.Full = full
	v.Seen, v.Groups = len(failed), groupFailures(failed)
	v.Loaders = c.troubledLoaders()
	v.Problems = slices.DeleteFunc(c.cfg.Registry.Snapshot().Problems(), func(p registry.Problem) bool { // which a source has told
		return slices.ContainsFunc(v.Loaders, func(s catalog.LoaderStatus) bool { return slices.Contains(s.Problems, p) })
	})
	return c.show(w, r, who, "errors", view{Title: "Errors", Place: "errors", Live: true, Data: v})
}

// failures are the latest runs of a span that failed; full: there are more.
func (c *Console) failures(ctx context.Context, within span) (failed []runs.Run, full bool, err error) {
	for _, state := range []runs.Status{runs.StatusFailed, runs.StatusTimedOut} {
		list, err := c.cfg.Runs.List(ctx, runs.Filter{Status: state, Since: c.cfg.Now().Add(-within.Length), Limit: failuresRead})
		if err != nil {
			return nil, false, err
		}
		full = full || len(list) == failuresRead
		failed = append(failed, list...)
	}
	return failed, full, nil
}

func groupFailures(failed []runs.Run) []failureGroup {
	slices.SortFunc(failed, func(a, b runs.Run) int { return strings.Compare(b.ID, a.ID) })
	type key struct{ tool, code string }
	at := map[key]int{}
	people := map[key]map[string]bool{}
	var groups []failureGroup
	for i, run := range failed {
		f := runs.Failure{Code: string(run.Status)}
		if run.Error != nil {
			f = *run.Error
		}
		k := key{run.Tool.ToolID, f.Code}
		n, known := at[k]
		if !known {
			n = len(groups)
			at[k], people[k] = n, map[string]bool{}
			groups = append(groups, failureGroup{Tool: &failed[i].Tool, Code: f.Code, Last: run, Example: f.Message})
		}
		people[k][run.AccountID] = true
		groups[n].Count++
		groups[n].People = len(people[k])
	}
	slices.SortStableFunc(groups, func(a, b failureGroup) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}

func (c *Console) troubledLoaders() []catalog.LoaderStatus {
	return slices.DeleteFunc(c.cfg.Registry.Status(), func(s catalog.LoaderStatus) bool { return s.LastError == "" && len(s.Problems) == 0 })
}
