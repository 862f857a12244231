package stripe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	api "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
)

// WebhookPath is where Stripe's events come in.
const WebhookPath = "/stripe/webhook"

const (
	maxEvent     = 1 << 20
	answerWithin = 25 * time.Second // Stripe waits for thirty
)

// ServeHTTP takes one event. 200 says that it was worked on, or before; whatever else has Stripe repeat it for three days.
func (t *Till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
	defer cancel()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		http.Error(w, "the event cannot be read", http.StatusBadRequest)
		return
	}
	if len(t.cfg.Secrets) == 0 {
		http.Error(w, "no events are expected here", http.StatusNotFound) // an empty secret is everybody's
		return
	}
	if err := t.signed(body, r.Header.Get("Stripe-Signature")); err != nil {
		t.cfg.Logger.WarnContext(ctx, "an event of Stripe was refused", "error", err)
		http.Error(w, "the signature is missing or wrong", http.StatusBadRequest)
		return
	}
	var e api.Event
	if err := json.Unmarshal(body, &e); err != nil || e.ID == "" || e.Data == nil {
		http.Error(w, "the body is no event", http.StatusBadRequest)
		return
	}
	if err := t.take(ctx, e); err != nil {
		t.cfg.Logger.ErrorContext(ctx, "an event of Stripe was not worked on; it will be repeated", "event", e.ID, "type", e.Type, "error", err)
		http.Error(w, "not worked on yet", http.StatusServiceUnavailable)
	}
}

// signed refuses what was not signed by one of the secrets, or longer than five minutes ago.
func (t *Till) signed(body []byte, header string) (err error) {
	for _, secret := range t.cfg.Secrets {
		if err = webhook.ValidatePayload(body, header, secret); err == nil {
			return nil
		}
	}
	return err
}

// take works on an event, once by its id.
func (t *Till) take(ctx context.Context, e api.Event) error {
	if e.Livemode != t.live() {
		t.cfg.Logger.WarnContext(ctx, "an event of Stripe's other mode (live or test) was passed over", "event", e.ID)
		return nil
	}
	seen, err := t.cfg.Store.Seen(ctx, billing.Stripe, e.ID)
	if err != nil || seen {
		return err
	}
	if err := t.work(ctx, e); err != nil {
		return err
	}
	return t.cfg.Store.Saw(ctx, billing.Stripe, e.ID)
}

// work does what the type of an event asks for; other types are passed over. Of what it brings only the id and the payment count.
func (t *Till) work(ctx context.Context, e api.Event) error {
	var object struct {
		ID            string             `json:"id"`
		PaymentIntent *api.PaymentIntent `json:"payment_intent"` // an id, or an object where the endpoint expands it
	}
	if err := json.Unmarshal(e.Data.Raw, &object); err != nil {
		return fmt.Errorf("read what it is about: %w", err)
	}
	if !identifier(object.ID) {
		return nil
	}
	switch e.Type {
	case "checkout.session.completed", "checkout.session.async_payment_succeeded":
		return t.checkSession(ctx, object.ID)
	case "checkout.session.async_payment_failed", "checkout.session.expired":
		t.cfg.Logger.InfoContext(ctx, "a checkout came to nothing", "session", object.ID, "type", e.Type)
		return nil
	case "invoice.paid":
		return t.checkInvoice(ctx, object.ID)
	case "charge.refunded", "refund.created", "refund.updated", "refund.failed":
		return t.checkRefunds(ctx, intentOf(object.PaymentIntent))
	case "charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated":
		return t.checkDispute(ctx, object.ID)
	}
	return nil
}

// checkSession credits a session that is paid. Subscriptions are credited by their invoices.
func (t *Till) checkSession(ctx context.Context, id string) error {
	var s api.CheckoutSession
	if err := t.get(sessions+"/"+id, &api.CheckoutSessionRetrieveParams{Params: api.Params{Context: ctx}}, &s); err != nil {
		return fmt.Errorf("read session %s: %w", id, told(err))
	}
	if s.Mode != api.CheckoutSessionModePayment || s.PaymentStatus == api.CheckoutSessionPaymentStatusUnpaid {
		return nil
	}
	ref := cmp.Or(intentOf(s.PaymentIntent), s.ID) // where nothing was to pay there is no intent
	return t.pay(ctx, payments.Paid{Ref: ref, OrderID: s.ClientReferenceID, Currency: string(s.Currency), Amount: s.AmountTotal, Price: s.AmountSubtotal})
}

// checkInvoice credits a period of a subscription that is paid.
func (t *Till) checkInvoice(ctx context.Context, id string) error {
	var i api.Invoice
	if err := t.get("/v1/invoices/"+id, &api.InvoiceRetrieveParams{Params: api.Params{Context: ctx}, Expand: []*string{new("payments")}}, &i); err != nil {
		return fmt.Errorf("read invoice %s: %w", id, told(err))
	}
	if i.Status != api.InvoiceStatusPaid || i.Parent == nil || i.Parent.SubscriptionDetails == nil || i.Parent.SubscriptionDetails.Subscription == nil {
		return nil
	}
	details := i.Parent.SubscriptionDetails
	paid := payments.Paid{
		Ref: i.ID, OrderID: details.Metadata[orderKey], Currency: string(i.Currency), Amount: i.AmountPaid, Price: i.Subtotal, Subscription: details.Subscription.ID,
	}
	if i.Payments != nil {
		for _, p := range i.Payments.Data {
			if p.Payment != nil {
				paid.Ref = cmp.Or(intentOf(p.Payment.PaymentIntent), paid.Ref)
			}
		}
	}
	if paid.OrderID == "" { // by a Payment Link: only its session knows the order
		var list api.CheckoutSessionList
		if err := t.list(ctx, sessions, &api.CheckoutSessionListParams{Subscription: &paid.Subscription}, &list); err != nil {
			return fmt.Errorf("read the session of subscription %s: %w", paid.Subscription, told(err))
		}
		if len(list.Data) > 0 {
			paid.OrderID = list.Data[0].ClientReferenceID
		}
	}
	return t.pay(ctx, paid)
}

func (t *Till) pay(ctx context.Context, paid payments.Paid) error {
	paid.Source = billing.Stripe
	p, fresh, err := t.cfg.Store.Pay(ctx, paid)
	if errors.Is(err, payments.ErrNoOrder) {
		t.cfg.Logger.WarnContext(ctx, "something was paid at Stripe that was not ordered here", "payment", paid.Ref)
		return nil
	}
	if err != nil {
		return err
	}
	if p.Credit == 0 {
		t.cfg.Logger.ErrorContext(ctx, "what was paid is not what was ordered: it has no credit; refund it in the console", "receipt", p.Receipt(), "payment", p.Ref)
	}
	if fresh {
		t.cfg.Paid(ctx, p)
	}
	return nil
}

// checkRefunds reads all refunds of a payment.
func (t *Till) checkRefunds(ctx context.Context, intent string) error {
	if !identifier(intent) {
		return nil // of a charge that no checkout made
	}
	params := &api.RefundListParams{PaymentIntent: &intent}
	for {
		var page api.RefundList
		if err := t.list(ctx, refunds, params, &page); err != nil {
			return fmt.Errorf("read the refunds of %s: %w", intent, told(err))
		}
		for _, r := range page.Data {
			if _, err := t.cfg.Store.Change(ctx, change(r, "")); err != nil {
				return err
			}
			params.StartingAfter = &r.ID
		}
		if !page.HasMore || len(page.Data) == 0 {
			return nil
		}
	}
}

// checkDispute reads a dispute. An inquiry (warning_...) moves no money.
func (t *Till) checkDispute(ctx context.Context, id string) error {
	var d api.Dispute
	if err := t.get("/v1/disputes/"+id, &api.DisputeRetrieveParams{Params: api.Params{Context: ctx}}, &d); err != nil {
		return fmt.Errorf("read dispute %s: %w", id, told(err))
	}
	state := payments.Open
	switch d.Status {
	case api.DisputeStatusWon, api.DisputeStatusPrevented, api.DisputeStatusWarningClosed:
		state = payments.Undone
	case api.DisputeStatusLost:
		state = payments.Done
	case api.DisputeStatusWarningNeedsResponse, api.DisputeStatusWarningUnderReview:
		return nil
	}
	if d.PaymentIntent == nil {
		return nil
	}
	_, err := t.cfg.Store.Change(ctx, payments.Change{
		Source: billing.Stripe, Ref: d.ID, Payment: d.PaymentIntent.ID, Kind: payments.Dispute, Amount: d.Amount, Currency: string(d.Currency), State: state,
	})
	return err
}
