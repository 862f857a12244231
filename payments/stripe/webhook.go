package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/payments"
)

// WebhookPath is where Stripe's events come in.
const WebhookPath = "/stripe/webhook"

const (
	maxEvent     = 1 << 20
	answerWithin = 25 * time.Second // Stripe waits for thirty
)

// event is what a webhook brings; of the object only its id and payment count.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Live bool   `json:"livemode"`
	Data struct {
		Object struct {
			ID            string          `json:"id"`
			PaymentIntent json.RawMessage `json:"payment_intent"` // an id, or an object where the endpoint expands it
		} `json:"object"`
	} `json:"data"`
}

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
	secrets := make([][]byte, len(t.cfg.Secrets))
	for i, secret := range t.cfg.Secrets {
		secrets[i] = []byte(secret)
	}
	if err := signature.Stamped(r.Header.Get("Stripe-Signature"), "v1", body, t.cfg.Now(), signature.Tolerance, secrets); err != nil {
		t.cfg.Logger.WarnContext(ctx, "an event of Stripe was refused", "error", err)
		http.Error(w, "the signature is missing or wrong", http.StatusBadRequest)
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil || e.ID == "" {
		http.Error(w, "the body is no event", http.StatusBadRequest)
		return
	}
	if err := t.take(ctx, e); err != nil {
		t.cfg.Logger.ErrorContext(ctx, "an event of Stripe was not worked on; it will be repeated", "event", e.ID, "type", e.Type, "error", err)
		http.Error(w, "not worked on yet", http.StatusServiceUnavailable)
	}
}

// take works on an event, once by its id.
func (t *Till) take(ctx context.Context, e event) error {
	if e.Live != t.live() {
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

// work does what the type of an event asks for; other types are passed over.
func (t *Till) work(ctx context.Context, e event) error {
	object := e.Data.Object
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
		return t.checkRefunds(ctx, idOf(object.PaymentIntent))
	case "charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated":
		return t.checkDispute(ctx, object.ID)
	}
	return nil
}

// idOf reads the id of what may be expanded.
func idOf(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var object struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &object) // else there is none
	return object.ID
}

// checkSession credits a session that is paid. Subscriptions are credited by their invoices.
func (t *Till) checkSession(ctx context.Context, id string) error {
	var s session
	if err := t.client.Get(ctx, "/v1/checkout/sessions/"+id, nil, &s); err != nil {
		return fmt.Errorf("read session %s: %w", id, err)
	}
	if s.Mode != "payment" || s.PaymentStatus == "unpaid" {
		return nil
	}
	ref := s.PaymentIntent
	if ref == "" {
		ref = s.ID // nothing was to pay
	}
	return t.pay(ctx, payments.Paid{Ref: ref, OrderID: s.Reference, Currency: s.Currency, Amount: s.Total, Price: s.Subtotal})
}

// checkInvoice credits a period of a subscription that is paid.
func (t *Till) checkInvoice(ctx context.Context, id string) error {
	var i invoice
	if err := t.client.Get(ctx, "/v1/invoices/"+id, url.Values{"expand[]": {"payments"}}, &i); err != nil {
		return fmt.Errorf("read invoice %s: %w", id, err)
	}
	subscription := i.Parent.Subscription
	if i.Status != "paid" || subscription.ID == "" {
		return nil
	}
	paid := payments.Paid{Ref: i.ID, OrderID: subscription.Metadata[orderKey], Currency: i.Currency, Amount: i.Paid, Price: i.Subtotal, Subscription: subscription.ID}
	for _, p := range i.Payments.Data {
		if p.Payment.Intent != "" {
			paid.Ref = p.Payment.Intent
		}
	}
	if paid.OrderID == "" { // by a Payment Link: only its session knows the order
		var list struct{ Data []session }
		if err := t.client.Get(ctx, "/v1/checkout/sessions", url.Values{"subscription": {subscription.ID}}, &list); err != nil {
			return fmt.Errorf("read the session of subscription %s: %w", subscription.ID, err)
		}
		if len(list.Data) > 0 {
			paid.OrderID = list.Data[0].Reference
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
	var list struct{ Data []refund }
	if err := t.client.Get(ctx, "/v1/refunds", url.Values{"payment_intent": {intent}, "limit": {strconv.Itoa(perPage)}}, &list); err != nil {
		return fmt.Errorf("read the refunds of %s: %w", intent, err)
	}
	for _, r := range list.Data {
		if _, err := t.cfg.Store.Change(ctx, r.change("")); err != nil {
			return err
		}
	}
	return nil
}

// checkDispute reads a dispute. An inquiry (warning_...) moves no money.
func (t *Till) checkDispute(ctx context.Context, id string) error {
	var d dispute
	if err := t.client.Get(ctx, "/v1/disputes/"+id, nil, &d); err != nil {
		return fmt.Errorf("read dispute %s: %w", id, err)
	}
	state := payments.Open
	switch {
	case d.Status == "won", d.Status == "prevented", d.Status == "warning_closed":
		state = payments.Undone
	case d.Status == "lost":
		state = payments.Done
	case strings.HasPrefix(d.Status, "warning_"):
		return nil
	}
	if !identifier(d.PaymentIntent) {
		return nil
	}
	_, err := t.cfg.Store.Change(ctx, payments.Change{
		Source: billing.Stripe, Ref: d.ID, Payment: d.PaymentIntent, Kind: payments.Dispute, Amount: d.Amount, Currency: d.Currency, State: state,
	})
	return err
}
