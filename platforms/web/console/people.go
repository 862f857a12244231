package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

const peoplePage = 50

// peopleView is the page of people.
type peopleView struct {
	Text, Platform, Only string
	Rows                 []personRow
	Platforms            []string
	Older                string
}

// personRow is somebody in a list.
type personRow struct {
	users.Person
	Balance billing.Balance
}

func (c *Console) people(w http.ResponseWriter, r *http.Request, who users.Account) error {
	ctx, q := r.Context(), r.URL.Query()
	v := peopleView{Text: strings.TrimSpace(q.Get("q")), Platform: q.Get("platform"), Only: q.Get("only"), Platforms: []string{"telegram", "discord", "web", "api"}}
	query := readPeopleQuery(q)
	var err error
	if query.Before, err = identifier(q, "before"); err != nil {
		return err
	}
	list, err := c.cfg.People.People(ctx, query)
	if err != nil {
		return err
	}
	for _, p := range list {
		balance, err := c.cfg.Ledger.Balance(ctx, p.ID)
		if err != nil {
			return err
		}
		v.Rows = append(v.Rows, personRow{p, balance})
	}
	if len(list) == peoplePage {
		v.Older = Root + "people?" + url.Values{"q": {v.Text}, "platform": {v.Platform}, "only": {v.Only}, "before": {list[len(list)-1].ID}}.Encode()
	}
	return c.show(w, r, who, "people", view{Title: "People", Place: "people", Data: v})
}

func readPeopleQuery(q url.Values) users.PeopleQuery {
	return users.PeopleQuery{
		Text: strings.TrimSpace(q.Get("q")), Platform: q.Get("platform"), Operators: q.Get("only") == "operators", Blocked: q.Get("only") == "blocked",
		Limit: peoplePage,
	}
}

// personView is the page of one person.
type personView struct {
	personRow
	Usage     runs.Usage
	Runs      []runRow
	Transfers []billing.Transfer
	Audit     []auditRow
}

func (c *Console) person(w http.ResponseWriter, r *http.Request, who users.Account) error {
	ctx := r.Context()
	p, err := c.cfg.People.PersonByID(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	v := personView{personRow: personRow{Person: p}}
	if v.Balance, err = c.cfg.Ledger.Balance(ctx, p.ID); err != nil {
		return err
	}
	if !p.Blocked { // who is blocked has no limits in force
		if v.Usage, err = c.cfg.Runs.Usage(ctx, p.ID); err != nil {
			return err
		}
	}
	recent, err := c.cfg.Runs.List(ctx, runs.Filter{AccountID: p.ID, Limit: 10})
	if err != nil {
		return err
	}
	v.Runs = c.rows(ctx, recent)
	if v.Transfers, err = c.cfg.Ledger.Transfers(ctx, billing.TransfersQuery{AccountID: p.ID, Limit: 10}); err != nil {
		return err
	}
	entries, err := c.cfg.People.Audit(ctx, users.AuditQuery{AccountID: p.ID, Limit: 20})
	if err != nil {
		return err
	}
	v.Audit = auditRows(c.names(ctx), entries)
	return c.show(w, r, who, "person", view{Title: nameFor(p.Account), Place: "people", Data: v})
}

func nameFor(a users.Account) string { return cmp.Or(a.DisplayName, "Account "+short(a.ID)) }

func personPage(id string) string { return Root + "people/" + id }

// peopleDeeds are what operators can do to an account.
type peopleDeeds struct{ console *Console }

func (d peopleDeeds) list() []deed {
	return []deed{
		{path: "people/{id}/credit", place: "people", plan: d.planCredit, do: d.giveCredit},
		{path: "people/{id}/limits", place: "people", plan: d.planLimits, do: d.setLimits},
		{path: "people/{id}/block", place: "people", plan: d.planBlock, do: d.block},
		{path: "people/{id}/allow", place: "people", plan: d.planAllow, do: d.allow},
		{path: "people/{id}/operator", place: "people", plan: d.planOperator, do: d.makeOperator},
		{path: "people/{id}/ordinary", place: "people", plan: d.planOrdinary, do: d.makeOrdinary},
	}
}

func (d peopleDeeds) planCredit(ctx context.Context, id string) (plan, error) {
	p, err := d.console.cfg.People.PersonByID(ctx, id)
	if err != nil {
		return plan{}, err
	}
	balance, err := d.console.cfg.Ledger.Balance(ctx, p.ID)
	return plan{
		Title: "Give credit to " + nameFor(p.Account), Button: "Give the credit", Why: true, Back: personPage(p.ID),
		Says:   []string{fmt.Sprintf("They have %s, and %s held for running work. Credit can be spent at once and can't be taken back.", balance.Available, balance.Held)},
		Fields: []field{{Name: "amount", Label: "Amount in US dollars", Hint: "For example 5 or 0.50; at most 10,000.", Required: true}},
	}, err
}

// maxCredit guards against slips of the finger: nobody means more than this.
const maxCredit = 10_000 * billing.Dollar

func (d peopleDeeds) giveCredit(ctx context.Context, o order) (outcome, error) {
	amount, err := billing.ParseUSD(strings.TrimSpace(o.Form.Get("amount")))
	if err != nil {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "The amount is not one: %v.", err)
	}
	if amount <= 0 || amount > maxCredit {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "The amount must be above $0.00 and at most %s.", maxCredit)
	}
	p, err := d.console.cfg.People.PersonByID(ctx, o.ID)
	if err != nil {
		return outcome{}, err
	}
	before, err := d.console.cfg.Ledger.Balance(ctx, p.ID)
	if err != nil {
		return outcome{}, err
	}
	if err := d.console.cfg.Grant(ctx, p.ID, amount, grantKey(o.Key), o.Why); err != nil {
		return outcome{}, err
	}
	balance, err := d.console.cfg.Ledger.Balance(ctx, p.ID)
	if balance == before {
		return outcome{Says: "This form was sent before; nothing more was given.", To: personPage(p.ID)}, err
	}
	says := fmt.Sprintf("Gave %s to %s; the wallet has %s now.", amount, nameFor(p.Account), balance.Available)
	return outcome{Account: p.ID, Action: "grant", Says: says, To: personPage(p.ID)}, err
}

func (d peopleDeeds) planLimits(ctx context.Context, id string) (plan, error) {
	p, err := d.console.cfg.People.PersonByID(ctx, id)
	l := p.Limits.Operator
	return plan{
		Title: "Limits of " + nameFor(p.Account), Button: "Set the limits", Why: true, Back: personPage(p.ID),
		Says: []string{"Empty leaves the house's default; the word none lifts it. What they set for themselves holds where it is stricter."},
		Fields: []field{
			{Name: "at-once", Label: "Runs at once", Value: countText(l.AtOnce)},
			{Name: "per-day", Label: "Runs a day", Value: countText(l.PerDay)},
			{Name: "streams", Label: "Event streams open at once", Value: countText(l.Streams)},
			{Name: "day-cap", Label: "US dollars a day", Value: capText(l.DayCap)},
			{Name: "month-cap", Label: "US dollars a month", Value: capText(l.MonthCap)},
			{Name: "upload-mb", Label: "Megabytes of uploads", Value: countText(megabytes(l.UploadBytes))},
			{Name: "result-mb", Label: "Megabytes of results", Value: countText(megabytes(l.ResultBytes))},
		},
	}, err
}

const (
	noLimit     = -1     // lifts a limit
	noLimitText = "none" // what an operator types for it
)

func countText(n int) string {
	switch n {
	case 0:
		return ""
	case noLimit:
		return noLimitText
	}
	return strconv.Itoa(n)
}

func capText(n int64) string {
	switch n {
	case 0:
		return ""
	case noLimit:
		return noLimitText
	}
	return strings.TrimPrefix(billing.NanoUSD(n).String(), "$")
}

func (d peopleDeeds) setLimits(ctx context.Context, o order) (outcome, error) {
	var l users.Limits
	var err error
	count := func(name, what string) (n int) {
		if err == nil {
			n, err = readCount(o.Form.Get(name), what)
		}
		return n
	}
	money := func(name, what string) (n int64) {
		if err == nil {
			n, err = readCap(o.Form.Get(name), what)
		}
		return n
	}
	l.AtOnce, l.PerDay = count("at-once", "Runs at once"), count("per-day", "Runs a day")
	l.Streams = count("streams", "Event streams open at once")
	l.DayCap, l.MonthCap = money("day-cap", "US dollars a day"), money("month-cap", "US dollars a month")
	l.UploadBytes, l.ResultBytes = bytesOf(count("upload-mb", "Megabytes of uploads")), bytesOf(count("result-mb", "Megabytes of results"))
	if err == nil {
		err = d.console.cfg.People.SetLimits(ctx, o.ID, l, o.Who.ID, o.Why)
	}
	says := fmt.Sprintf("Limits set: %s runs at once, %s a day; %s US dollars a day, %s a month.",
		orDefault(countText(l.AtOnce)), orDefault(countText(l.PerDay)), orDefault(capText(l.DayCap)), orDefault(capText(l.MonthCap)))
	return outcome{Says: says, To: personPage(o.ID)}, err
}

// megabytes and bytesOf turn a limit of files into what an operator reads and types, and back; noLimit stays what it is.
func megabytes(bytes int64) int {
	if bytes == noLimit {
		return noLimit
	}
	return int(bytes >> 20)
}

func bytesOf(megabytes int) int64 {
	if megabytes == noLimit {
		return noLimit
	}
	return int64(megabytes) << 20
}

func orDefault(text string) string { return cmp.Or(text, "default") }

func readCount(text, what string) (int, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return 0, nil
	case strings.EqualFold(text, noLimitText):
		return noLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, registry.Errorf(registry.CodeInvalidInput, "%s: %q is no number from 1 to 1000000, nor %q.", what, text, noLimitText)
	}
	return n, nil
}

func readCap(text, what string) (int64, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return 0, nil
	case strings.EqualFold(text, noLimitText):
		return noLimit, nil
	}
	n, err := billing.ParseUSD(text)
	if err != nil || n <= 0 || n > billing.MaxAmount {
		return 0, registry.Errorf(registry.CodeInvalidInput, "%s: %q is no amount above zero, nor %q.", what, text, noLimitText)
	}
	return int64(n), nil
}

func (d peopleDeeds) planBlock(ctx context.Context, id string) (plan, error) {
	p, err := d.console.cfg.People.PersonByID(ctx, id)
	if err == nil && p.Blocked {
		err = registry.Errorf(registry.CodeInvalidInput, "%s is blocked already.", nameFor(p.Account))
	}
	return plan{
		Title: "Block " + nameFor(p.Account), Button: "Block", Danger: true, Why: true, Back: personPage(id),
		Says: []string{"They can start no run any more, on no platform. What runs goes on; their money, settings and history stay."},
	}, err
}

func (d peopleDeeds) block(ctx context.Context, o order) (outcome, error) {
	err := d.console.cfg.People.Block(ctx, o.ID, o.Who.ID, o.Why)
	return outcome{Says: d.console.nameOf(ctx, o.ID) + " is blocked.", To: personPage(o.ID)}, err
}

func (d peopleDeeds) planAllow(ctx context.Context, id string) (plan, error) {
	p, err := d.console.cfg.People.PersonByID(ctx, id)
	return plan{
		Title: "Allow " + nameFor(p.Account) + " again", Button: "Allow", Why: true, Back: personPage(id),
		Says: []string{"The block is lifted at once, on all platforms."},
	}, err
}

func (d peopleDeeds) allow(ctx context.Context, o order) (outcome, error) {
	err := d.console.cfg.People.Unblock(ctx, o.ID, o.Who.ID, o.Why)
	return outcome{Says: d.console.nameOf(ctx, o.ID) + " is allowed again.", To: personPage(o.ID)}, err
}

func (d peopleDeeds) planOperator(ctx context.Context, id string) (plan, error) {
	p, err := d.console.cfg.People.PersonByID(ctx, id)
	return plan{
		Title: "Make " + nameFor(p.Account) + " an operator", Button: "Make an operator", Danger: true, Why: true, Back: personPage(id),
		Says: []string{"Operators see everybody's runs and money, give credit and refunds, block people, and make other operators."},
	}, err
}

func (d peopleDeeds) makeOperator(ctx context.Context, o order) (outcome, error) {
	err := d.console.cfg.People.ChangeOperator(ctx, o.ID, true, o.Who.ID, o.Why)
	return outcome{Says: d.console.nameOf(ctx, o.ID) + " is an operator now.", To: personPage(o.ID)}, err
}

func (d peopleDeeds) planOrdinary(ctx context.Context, id string) (plan, error) {
	p, err := d.console.cfg.People.PersonByID(ctx, id)
	return plan{
		Title: nameFor(p.Account) + " is no operator any more", Button: "Take the console away", Danger: true, Why: true, Back: personPage(id),
		Says: []string{"They lose the console and the operator's commands at once, and stay an ordinary user."},
	}, err
}

func (d peopleDeeds) makeOrdinary(ctx context.Context, o order) (outcome, error) {
	if o.ID == o.Who.ID {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "You can't take the console from yourself: ask another operator.")
	}
	err := d.console.cfg.People.ChangeOperator(ctx, o.ID, false, o.Who.ID, o.Why)
	return outcome{Says: d.console.nameOf(ctx, o.ID) + " is no operator any more.", To: personPage(o.ID)}, err
}

// auditView is the page of what operators did.
type auditView struct {
	Rows  []auditRow
	Older string
}

// auditRow is an entry of the audit log with names.
type auditRow struct {
	users.AuditEntry
	ByName, About string
}

const auditPage = 50

func (c *Console) audit(w http.ResponseWriter, r *http.Request, who users.Account) error {
	before, err := number(r.URL.Query(), "before", 64)
	if err != nil {
		return err
	}
	entries, err := c.cfg.People.Audit(r.Context(), users.AuditQuery{Before: before, Limit: auditPage})
	if err != nil {
		return err
	}
	v := auditView{Rows: auditRows(c.names(r.Context()), entries)}
	if n := len(entries); n == auditPage {
		v.Older = fmt.Sprintf("%saudit?before=%d", Root, entries[n-1].ID)
	}
	return c.show(w, r, who, "audit", view{Title: "Audit", Place: "audit", Data: v})
}

func auditRows(name func(accountID string) string, entries []users.AuditEntry) []auditRow {
	rows := make([]auditRow, len(entries))
	for i, e := range entries {
		rows[i] = auditRow{e, name(e.By), name(e.AccountID)}
	}
	return rows
}
