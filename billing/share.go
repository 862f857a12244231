package billing

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
)

// shareKey and shareBackKey are the idempotency keys of what an author gets of a run, and of taking that back.
func shareKey(runID string) string     { return kindShare + ":" + runID }
func shareBackKey(runID string) string { return kindShareBack + ":" + runID }

// share is what an author gets of a run of which so much was taken from the payer; of amount zero where that is nothing. An author who has
// no wallet gets none: it stays with the house. The transfer names no run, which is somebody else's.
func (b books) share(s Settlement, taken NanoUSD) transfer {
	amount := min(s.Share, taken)
	if amount <= 0 {
		return transfer{}
	}
	author, err := b.user(s.Author)
	if err != nil {
		return transfer{}
	}
	author.available += amount
	return transfer{
		key: shareKey(s.RunID), kind: kindShare, owner: s.Author, amount: amount, note: s.ShareNote,
		legs: []leg{{author.wallet, amount}, {systemTransit, -amount}},
	}
}

// openAuthorsDebt makes sure that who got a share of a run, if anybody did, can owe it.
func openAuthorsDebt(ctx context.Context, tx pgx.Tx, runID string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO ledger_accounts (owner, kind) SELECT owner, 'debt' FROM ledger_transfers WHERE key = $1
		ON CONFLICT (owner, kind) DO NOTHING`, shareKey(runID))
	return errs.Wrap(err, "open the debt of the author")
}

// takeShareBack takes the share of a refunded run from its author, or from whom that one became part of. What was spent is owed, as after a
// dispute: nothing that costs runs until what comes in has paid it.
func (b books) takeShareBack(ctx context.Context, tx pgx.Tx, share transfer, runID string) error {
	author, err := b.user(share.owner)
	if err != nil {
		return err
	}
	back := transfer{
		key: shareBackKey(runID), kind: kindShareBack, owner: share.owner, amount: share.amount, note: share.note,
		legs: []leg{{author.debt, -share.amount}, {systemTransit, share.amount}},
	}
	if err := post(ctx, tx, []transfer{back}); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		SELECT CASE WHEN merged_root IS NULL THEN ledger_pay_debt(owner)::text ELSE ledger_merge_debt(owner, merged_root)::text END
		FROM ledger_accounts WHERE owner = $1 AND kind = 'wallet'`, share.owner)
	return errs.Wrap(err, "pay the debt of %s", share.owner)
}

// Income is what an author got of the runs of one tool on one day, in UTC.
type Income struct {
	Day       time.Time
	AccountID string // whose transfers they are; of accounts that became one, the one that they came to
	Of        string // what the tool was called
	Runs      int    // that brought a share
	Earned    NanoUSD
	TakenBack NanoUSD // with refunds, on that day
}

// maxIncome bounds a list of incomes. IncomeShown is how far back people are shown theirs; their archive has all.
const (
	maxIncome   = 1000
	IncomeShown = 30 * 24 * time.Hour
)

// incomeSQL tells tools apart by the note of their shares, which is copied to what is taken back of them. %s is whose they are: an author's are
// found by an index of their own.
const incomeSQL = `
	SELECT date_trunc('day', created_at, 'UTC') AS day, owner::text, note, count(*) FILTER (WHERE kind = 'share')::int,
		coalesce(sum(amount) FILTER (WHERE kind = 'share'), 0)::bigint, coalesce(sum(amount) FILTER (WHERE kind = 'share_back'), 0)::bigint
	FROM ledger_transfers
	WHERE kind IN ('share', 'share_back') AND created_at >= $2 AND %s
	GROUP BY 1, 2, 3 ORDER BY 1 DESC, 5 DESC, 3, 2 LIMIT $3`

// Income lists what an author got since a time, or without an account all authors, by day and tool, the latest first, at most a thousand lines.
func (l *Ledger) Income(ctx context.Context, accountID string, since time.Time) ([]Income, error) {
	account, ok := uuidOrNull(accountID)
	if !ok {
		return nil, nil
	}
	whose := `$1::uuid IS NULL`
	if accountID != "" {
		whose = `owner = ANY (ARRAY(SELECT ledger_group($1)))`
	}
	// A plan for any time that is kept reads all shares.
	rows, _ := l.pool.Query(ctx, fmt.Sprintf(incomeSQL, whose), pgx.QueryExecModeCacheDescribe, account, since, maxIncome)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Income])
	return list, errs.Wrap(err, "list shares")
}

// sharePart is what the author gets of a run that costs so much without it: its percentage rounded down to whole nano-dollars, or its
// amount. A run that costs nothing has no share.
func sharePart(model *registry.CostingModel, cost NanoUSD) NanoUSD {
	if model == nil || model.Share == nil || cost <= 0 {
		return 0
	}
	if model.Share.USD != "" {
		amount, err := ParseUSD(decimal.Plain(model.Share.USD))
		if err != nil {
			return 0
		}
		return max(amount, 0)
	}
	percent, err := parseRat(model.Share.Percent.String())
	if err != nil || percent.Sign() < 0 || percent.Cmp(big.NewRat(100, 1)) > 0 {
		return 0
	}
	part := percent.Mul(percent, big.NewRat(int64(cost), 100))
	return NanoUSD(new(big.Int).Quo(part.Num(), part.Denom()).Int64())
}

// WithShare adds the author's share to a quote for an account. Authors pay none to themselves.
func (q Quote) WithShare(model *registry.CostingModel, accountID string) Quote {
	if model == nil || model.Share == nil || model.Share.Author == accountID {
		return q
	}
	q.Share = sharePart(model, q.High)
	q.Low, q.High = plus(q.Low, sharePart(model, q.Low)), plus(q.High, q.Share)
	return q
}

// WithShare adds the author's share to the receipt of a run, at most what was quoted.
func (r Receipt) WithShare(model *registry.CostingModel, q Quote) Receipt {
	share := min(sharePart(model, r.Cost), q.Share)
	if share > 0 {
		r.Net = cmp.Or(r.Net, r.Cost)
		r.Cost, r.Share = r.Cost+share, share
	}
	return r
}

// PartsReceipt is that of a run whose parts were paid one by one and cost so many US dollars together: the author's share, if there is one.
func PartsReceipt(model *registry.CostingModel, partsUSD string, q Quote, runID string) Receipt {
	r := NoCharge(model, runID, ReasonNone)
	r.Note = "its parts were paid one by one"
	parts, err := ParseUSD(partsUSD)
	if err != nil {
		return r
	}
	if share := min(sharePart(model, parts), q.Share); share > 0 {
		r.Cost, r.Share, r.Reason = share, share, ""
		r.Units, r.Rate = "1", decimalText(big.NewRat(int64(share), int64(Dollar)))
	}
	return r
}

// ParseShare reads what a chain's owner asks for, "10%" or an amount in US dollars such as "0.01"; empty or zero is no share.
func ParseShare(text string) (*registry.Share, error) {
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	if number = strings.TrimSpace(strings.TrimPrefix(number, "$")); number == "" {
		return nil, nil
	}
	amount, err := parseRat(number)
	switch {
	case err != nil || amount.Sign() < 0 || !new(big.Rat).Mul(amount, big.NewRat(int64(Dollar), 1)).IsInt():
		return nil, fmt.Errorf("a share: found %.40q, expected a percentage such as 10%% or US dollars such as 0.01", text)
	case amount.Sign() == 0:
		return nil, nil
	case isPercent:
		return &registry.Share{Percent: json.Number(decimalText(amount))}, nil
	}
	return &registry.Share{USD: json.Number(decimalText(amount))}, nil
}

// ShareBounds are the largest shares that an operator allows, as exact decimals; empty or "0" allows none of that kind.
type ShareBounds struct{ Percent, USD string }

// None reports whether there are no shares at all.
func (b ShareBounds) None() bool { return smaller("1", b.Percent) == "0" && smaller("1", b.USD) == "0" }

// Allows says whether a share is within the bounds.
func (b ShareBounds) Allows(s *registry.Share) bool { return s == nil || *b.bounded(s) == *s }

// bounded is a share, or the largest that there may be in its place.
func (b ShareBounds) bounded(s *registry.Share) *registry.Share {
	within := *s
	within.Percent, within.USD = smaller(s.Percent, b.Percent), smaller(s.USD, b.USD)
	return &within
}

// smaller is the smaller one of two decimals; what can't be read is zero.
func smaller(given json.Number, most string) json.Number {
	if given == "" {
		return given
	}
	limit, err := parseRat(cmp.Or(most, "0"))
	if err != nil {
		return "0"
	}
	if amount, err := parseRat(given.String()); err == nil && amount.Cmp(limit) <= 0 {
		return given
	}
	return json.Number(decimalText(limit))
}

// LivingShares gives a loader's tools with no larger shares of authors than are allowed when it loads.
func LivingShares(l registry.Loader, inForce func() ShareBounds) registry.Loader {
	return shareLoader{l, inForce}
}

type shareLoader struct {
	registry.Loader
	inForce func() ShareBounds
}

// Load loads the tools. What comes beside them as an error stays.
func (l shareLoader) Load(ctx context.Context) ([]registry.Tool, error) {
	tools, err := l.Loader.Load(ctx)
	bounds := l.inForce()
	for i, t := range tools {
		if t.CostingModel == nil || t.CostingModel.Share == nil {
			continue
		}
		priced := *t.CostingModel
		if priced.Share = bounds.bounded(priced.Share); priced.Share.Percent == "0" || priced.Share.USD == "0" {
			priced.Share = nil
		}
		tools[i].CostingModel = &priced
	}
	return tools, err
}
