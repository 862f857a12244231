package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/users"
)

// Payments are what becomes of Stars. All may be told the same again.
type Payments interface {
	// MayPay says why somebody may not pay, in their language; empty: they may. It is answered while they wait.
	MayPay(ctx context.Context, from users.Identity, p payments.Paid) (refusal string, err error)
	// Paid takes a payment into safe keeping. After an error it is told again.
	Paid(ctx context.Context, from users.Identity, p payments.Paid) error
	// Refunded does so with a payment that was given back, by whomever.
	Refunded(ctx context.Context, c payments.Change) error
}

// checkoutWithin is how long a question whether somebody may pay is thought over: Telegram waits for ten seconds.
const checkoutWithin = 8 * time.Second

// takeMoney does what an update about money asks for. It is done before the update is confirmed: after an error Telegram tells it again.
func (a *Adapter) takeMoney(ctx context.Context, u botapi.Update) error {
	switch m := u.Message; {
	case u.PreCheckout != nil:
		a.checkOut(ctx, *u.PreCheckout)
	case m == nil || a.payments == nil:
	case m.Paid != nil && m.From != nil:
		return a.payments.Paid(ctx, person(*m.From), paidOf(*m.Paid, m.From.ID))
	case m.Refunded != nil:
		return a.payments.Refunded(ctx, payments.Change{
			Source: billing.Stars, Ref: refundRef(m.Refunded.Charge), Payment: m.Refunded.Charge, Kind: payments.Refund, State: payments.Done,
		})
	}
	return nil
}

func paidOf(p botapi.StarPayment, payer int64) payments.Paid {
	paid := payments.Paid{
		Source: billing.Stars, Ref: p.Charge, OrderID: clean(p.Payload), Currency: p.Currency, Amount: p.Amount, Price: p.Amount, Payer: idText(payer),
	}
	if p.Recurring {
		paid.Subscription = paid.OrderID
	}
	return paid
}

// refundRef is the id of the one refund that a payment in Stars can have.
func refundRef(charge string) string { return "refund:" + charge }

// checkOut answers whether somebody may pay. Without an answer in time Telegram refuses by itself.
func (a *Adapter) checkOut(ctx context.Context, q botapi.PreCheckout) {
	ctx, cancel := context.WithTimeout(ctx, checkoutWithin)
	defer cancel()
	refusal, err := "Nothing is sold here.", error(nil)
	if a.payments != nil {
		refusal, err = a.payments.MayPay(ctx, person(q.From), payments.Paid{
			Source: billing.Stars, OrderID: clean(q.Payload), Currency: q.Currency, Amount: q.Amount, Price: q.Amount,
		})
	}
	if err != nil {
		a.log.ErrorContext(ctx, "somebody could not pay: the order was not found out", "error", err)
		return
	}
	if err := a.client.AnswerPreCheckout(ctx, q.ID, refusal); err != nil {
		a.log.ErrorContext(ctx, "somebody could not pay: Telegram did not take the answer", "error", err)
	}
}

// InvoiceLink makes a link by which an order is paid in Stars.
func (a *Adapter) InvoiceLink(ctx context.Context, o payments.Order, language string) (string, error) {
	name, text := o.Product.Name.In(language), o.Product.Text.In(language)
	text = cmp.Or(text, name)
	i := botapi.Invoice{
		Title: name, Description: text, Payload: o.ID, Currency: botapi.Stars, Prices: []botapi.Price{{Label: name, Amount: o.Amount}},
	}
	if o.Product.Kind == payments.Subscription {
		i.Period = botapi.SubscriptionPeriod
	}
	var link string
	err := a.patiently(ctx, func(ctx context.Context) (err error) {
		link, err = a.client.CreateInvoiceLink(ctx, i)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("ask Telegram for an invoice of order %s: %w", o.ID, err)
	}
	return link, nil
}

// RefundStars gives a payment back as a whole, and says what is to be recorded of it. One that was given back before is no error.
func (a *Adapter) RefundStars(ctx context.Context, p payments.Payment, by string) (payments.Change, error) {
	payer, err := strconv.ParseInt(p.Payer, 10, 64)
	if err == nil {
		err = a.patiently(ctx, func(ctx context.Context) error { return a.client.RefundStars(ctx, payer, p.Ref) })
	}
	if err != nil && !strings.Contains(err.Error(), "CHARGE_ALREADY_REFUNDED") {
		return payments.Change{}, fmt.Errorf("ask Telegram to refund %s: %w", p.Receipt(), err)
	}
	return payments.Change{Source: billing.Stars, Ref: refundRef(p.Ref), Payment: p.Ref, Kind: payments.Refund, State: payments.Done, By: by}, nil
}

// EndSubscription has a subscription not be renewed any more. Telegram takes the charge of its first payment and refuses those of renewals;
// as an order may be paid again while it lasts, each of its payments may be a first one.
func (a *Adapter) EndSubscription(ctx context.Context, e payments.Ending) error {
	payer, err := strconv.ParseInt(e.Payer, 10, 64)
	if err != nil {
		return fmt.Errorf("subscription %s: who pays it is not known: %w", e.Subscription, payments.ErrCannotEnd)
	}
	ended, refused := false, error(nil)
	for _, charge := range e.Refs {
		err := a.patiently(ctx, func(ctx context.Context) error { return a.client.CancelSubscription(ctx, payer, charge) })
		var answer *botapi.Error
		switch {
		case err == nil:
			ended = true
		case errors.As(err, &answer) && answer.Code == http.StatusBadRequest:
			refused = err
		default:
			return fmt.Errorf("ask Telegram to end subscription %s: %w", e.Subscription, err)
		}
	}
	if !ended {
		return fmt.Errorf("ask Telegram to end subscription %s: %w: %w", e.Subscription, payments.ErrCannotEnd, refused)
	}
	return nil
}
