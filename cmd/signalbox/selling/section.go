package selling

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
)

// shownRows is how many rows operators see.
const shownRows = 500

// Sections are the operator's pages: payments, those again with the way to refund what was spent, and vouchers.
func (s *Seller) Sections() []console.Section {
	return []console.Section{
		{
			Path: "payments", Title: "Payments", Table: s.payments,
			Deed: &console.Deed{Name: "refund", Button: "Refund", Do: s.refunding(false),
				Says: "The whole payment goes back to who paid, and its credit is taken back. Where some of the credit was spent nothing happens: the page Refunds at a loss does it all the same."},
		},
		{
			Path: "losses", Title: "Refunds at a loss", Table: s.payments,
			Deed: &console.Deed{Name: "refund", Button: "Refund all the same", Do: s.refunding(true),
				Says: "The whole payment goes back to who paid. Of its credit what is left is taken back; what was spent is your loss."},
		},
		{Path: "vouchers", Title: "Vouchers", Table: s.vouchers},
	}
}

func (s *Seller) payments(ctx context.Context, _ string) (console.Table, error) {
	t := console.Table{
		Lead:    "What was paid, newest first, at most five hundred. Disputes are answered where they were opened; what was bought in Discord's store Discord refunds.",
		Columns: []string{"Receipt", "Paid", "Source", "Reference", "Account", "Product", "Price", "Credit", "Refunded", "Taken back", "Lost", "Disputed"}, Empty: "Nothing was bought yet.",
	}
	list, err := s.cfg.Store.List(ctx, payments.Query{Limit: shownRows})
	for _, p := range list {
		row := console.Row{}
		disputed := p.Disputed.String()
		if p.Open {
			disputed += ", open"
		}
		for _, text := range []string{
			p.Receipt(), p.PaidAt.UTC().Format(time.DateTime), string(p.Source), short(p.Ref), p.AccountID, p.Title, p.Price(), p.Credited.String(),
			payments.Price(p.Refunded, p.Currency), p.Returned.String(), p.Absorbed.String(), disputed,
		} {
			row.Cells = append(row.Cells, console.Cell{Text: text})
		}
		if p.Refunded == 0 && !p.Open && p.Source != billing.Discord {
			row.ID = strconv.FormatInt(p.Number, 10)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, err
}

// refunding refunds payments by their numbers.
func (s *Seller) refunding(forced bool) func(context.Context, ...string) (string, error) {
	return func(ctx context.Context, numbers ...string) (string, error) {
		said := "Nothing was refunded."
		for _, text := range numbers {
			number, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return "", registry.Errorf(registry.CodeInvalidInput, "%q is no number of a receipt", text)
			}
			p, err := s.Refund(ctx, number, forced, "operator")
			var spent payments.ErrSpent
			if errors.As(err, &spent) || errors.Is(err, payments.ErrNoPayment) {
				return "", registry.Errorf(registry.CodeInvalidInput, "%v", err)
			}
			if err != nil {
				return "", err
			}
			said = p.Receipt() + " is refunded: " + p.Returned.String() + " were taken back, " + p.Absorbed.String() + " are lost."
		}
		return said, nil
	}
}

func (s *Seller) vouchers(ctx context.Context, _ string) (console.Table, error) {
	t := console.Table{
		Lead:    "Gift codes, newest first, at most five hundred. signalbox voucher makes them; the codes are shown only there.",
		Columns: []string{"Ends in", "Made", "By", "Credit", "Note", "Valid until", "Redeemed", "Receipt"}, Empty: "There are none yet.",
	}
	list, err := s.cfg.Store.Vouchers(ctx, shownRows)
	for _, v := range list {
		row := console.Row{}
		receipt := ""
		if v.Receipt > 0 {
			receipt = payments.Payment{Number: v.Receipt}.Receipt()
		}
		for _, text := range []string{v.Hint, v.CreatedAt.UTC().Format(time.DateTime), v.By, v.Credit.String(), v.Note, moment(v.ExpiresAt), moment(v.UsedAt), receipt} {
			row.Cells = append(row.Cells, console.Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return t, err
}

func moment(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.DateTime)
}
