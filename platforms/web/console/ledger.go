package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/users"
)

// checked keeps the last recomputation of the books that somebody asked for here, and their last sums.
type checked struct {
	mu     sync.Mutex
	report *billing.CheckReport
	at     time.Time

	sums cache.Latest[billing.Books]
}

// sumsFor is how long sums are shown: with many people they take longer to add up than all else on a page that is asked for again and again.
const sumsFor = 10 * time.Second

// sums gives the sums of the books, and when they were so.
func (c *Console) sums(ctx context.Context) (billing.Books, time.Time, error) {
	return c.books.sums.Get(c.cfg.Now(), func() (billing.Books, error) { return c.cfg.Ledger.Books(ctx) })
}

func (b *checked) keep(r billing.CheckReport, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report, b.at = &r, at
}

func (b *checked) last() (*billing.CheckReport, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.report, b.at
}

var transferKinds = []string{"grant", "hold", "capture", "release", "refund", "merge_out", "merge_in", "takeback",
	"purchase", "return", "return_undone", "dispute", "dispute_undone", "debt_paid", "debt_out", "debt_in", "gift_out", "gift_in", "share", "share_back"}

// bookNames says in words what is in the accounts of a kind.
var bookNames = map[string]string{
	"wallet":   "People can spend",
	"hold":     "Held for running work",
	"revenue":  "Earned",
	"absorbed": "Absorbed beyond promised prices",
	"transit":  "On the way between wallets",
	"credit":   "Credit given out",
	"debt":     "Owed after disputes and refunds",
	"stars":    "Bought with Stars",
	"stripe":   "Bought by Stripe",
	"discord":  "Bought at Discord",
	"voucher":  "Given out as vouchers",
}

// ledgerView is the page of the books.
type ledgerView struct {
	Books     billing.Books
	AddedAt   time.Time // when the books were so
	Names     map[string]string
	Report    *billing.CheckReport
	CheckedAt time.Time
	Kinds     []string
	Kind      string
	Text      string      // an account's or a run's id
	Shares    []incomeRow // of authors, lately
	Transfers []transferRow
	Older     string
}

type transferRow struct {
	billing.Transfer
	Name string
}

type incomeRow struct {
	billing.Income
	Name string
}

const transfersPage = 50

func (c *Console) ledger(w http.ResponseWriter, r *http.Request, who users.Account) error {
	ctx, q := r.Context(), r.URL.Query()
	v := ledgerView{Names: bookNames, Kinds: transferKinds, Kind: q.Get("kind"), Text: q.Get("q")}
	v.Report, v.CheckedAt = c.books.last()
	before, err := number(q, "before", 64)
	if err != nil {
		return err
	}
	if v.Books, v.AddedAt, err = c.sums(ctx); err != nil {
		return err
	}
	income, err := c.cfg.Ledger.Income(ctx, "", c.cfg.Now().Add(-billing.IncomeShown))
	if err != nil {
		return err
	}
	name := c.names(ctx)
	for _, one := range income {
		v.Shares = append(v.Shares, incomeRow{one, name(one.AccountID)})
	}
	transfers, err := c.transfers(ctx, v.Text, billing.TransfersQuery{Kind: v.Kind, Before: before, Limit: transfersPage})
	if err != nil {
		return err
	}
	v.Transfers = transferRows(name, transfers)
	if n := len(transfers); n == transfersPage {
		v.Older = Root + "ledger?" + url.Values{"kind": {v.Kind}, "q": {v.Text}, "before": {strconv.FormatInt(transfers[n-1].ID, 10)}}.Encode()
	}
	return c.show(w, r, who, "ledger", view{Title: "Ledger", Place: "ledger", Live: before == 0, Data: v})
}

// transfers finds the transfers of an id, which may be an account's or a run's.
func (c *Console) transfers(ctx context.Context, id string, q billing.TransfersQuery) ([]billing.Transfer, error) {
	q.AccountID = id
	found, err := c.cfg.Ledger.Transfers(ctx, q)
	if err != nil || id == "" || len(found) > 0 {
		return found, err
	}
	q.AccountID, q.RunID = "", id
	return c.cfg.Ledger.Transfers(ctx, q)
}

func transferRows(name func(accountID string) string, list []billing.Transfer) []transferRow {
	rows := make([]transferRow, len(list))
	for i, t := range list {
		rows[i] = transferRow{t, name(t.AccountID)}
	}
	return rows
}

// checkLimit bounds a recomputation that somebody waits for.
const checkLimit = 30 * time.Second

func (c *Console) ledgerDeeds() []deed {
	return []deed{{path: "ledger/check", place: "ledger", plan: planCheck, do: c.checkBooks}}
}

func planCheck(context.Context, string) (plan, error) {
	return plan{
		Title: "Recompute the books", Button: "Recompute", Back: Root + "ledger",
		Says: []string{
			"Every balance is added up anew from all entries ever written, and every hold is followed to its end.",
			"It changes nothing and holds up nobody. The effort grows with the ledger; after 30 seconds it is given up.",
		},
	}, nil
}

func (c *Console) checkBooks(ctx context.Context, _ order) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	report, err := c.cfg.Ledger.Check(ctx)
	if err != nil {
		return outcome{}, err
	}
	c.books.keep(report, c.cfg.Now())
	return outcome{Action: "check ledger", Says: sentence(report.String()), To: Root + "ledger"}, nil
}

// sentence begins a line for a log with a capital and ends it with a stop.
func sentence(line string) string {
	runes := []rune(line)
	if len(runes) > 0 && runes[0] >= 'a' && runes[0] <= 'z' {
		runes[0] -= 'a' - 'A'
	}
	return string(runes) + "."
}

// deeds is everything an operator can do.
func (c *Console) deeds() []deed {
	return slices.Concat(runDeeds{c}.list(), toolDeeds{c}.list(), c.ledgerDeeds(), peopleDeeds{c}.list(), accessDeeds{c}.list(), invitationDeeds{c}.list(), settingDeeds{c}.list(), c.engineDeeds(), c.sectionDeeds())
}

// grantKey makes sending one form twice one grant.
func grantKey(form string) string { return fmt.Sprintf("console:%s", form) }
