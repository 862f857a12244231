// Package stripe takes payments by Stripe Checkout and Payment Links (https://docs.stripe.com/api), by the official library and in the version
// of the API that it pins.
//
// Webhooks are taken as hints only: whatever one tells of is read again from Stripe before it counts. So neither their order nor the version
// of their contents matters, and a notice that cannot be worked on yet is refused, so that Stripe repeats it.
package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/form"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
)

const (
	orderKey = "order"          // of metadata
	oneTry   = 20 * time.Second // for one answer of Stripe; the library tries three times

	sessions, refunds = "/v1/checkout/sessions", "/v1/refunds"
)

// Config is what a Till works with. Store, Key and Logger are required.
type Config struct {
	Store   *payments.Store
	Key     string // sk_... or rk_...
	BaseURL string // empty: Stripe's own
	// Secrets are those of the webhook's endpoint, whsec_...: the present one and, while it is replaced, the one before. Without
	// any all webhooks are refused.
	Secrets []string
	// Paid is told of each payment once, after it was credited; nil: nobody is. It may be told again after a crash.
	Paid   func(context.Context, payments.Payment)
	Logger *slog.Logger
}

// Till is one account at Stripe.
type Till struct {
	cfg    Config
	stripe api.Backend
}

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Till, error) {
	if !strings.HasPrefix(cfg.Key, "sk_") && !strings.HasPrefix(cfg.Key, "rk_") {
		return nil, errors.New("the key of Stripe begins with sk_ or rk_: copy the secret key from the dashboard, Developers, API keys")
	}
	for _, secret := range cfg.Secrets {
		if !strings.HasPrefix(secret, "whsec_") || len(secret) < 16 {
			return nil, errors.New("the secret of a webhook of Stripe begins with whsec_: copy it from the dashboard, Developers, Webhooks")
		}
	}
	cfg.BaseURL = cmp.Or(cfg.BaseURL, api.APIURL)
	if cfg.Paid == nil {
		cfg.Paid = func(context.Context, payments.Payment) {}
	}
	return &Till{cfg, api.GetBackendWithConfig(api.APIBackend, &api.BackendConfig{
		URL: &cfg.BaseURL, HTTPClient: &http.Client{Timeout: oneTry}, EnableTelemetry: new(false),
		LeveledLogger: &api.LeveledLogger{Level: api.LevelNull}, // what goes wrong is returned
	})}, nil
}

// get, list and post ask Stripe by the library's backend and types: its api.Client brings all services of Stripe into the program, which are
// 9 MB of it, for the four kinds of objects that a till needs. params of get and post name their context.
func (t *Till) get(path string, params api.ParamsContainer, answer api.LastResponseSetter) error {
	return t.stripe.Call(http.MethodGet, path, t.cfg.Key, params, answer)
}

func (t *Till) list(ctx context.Context, path string, params any, answer api.LastResponseSetter) error {
	var query form.Values
	form.AppendTo(&query, params)
	return t.stripe.CallRaw(http.MethodGet, path, t.cfg.Key, []byte(query.Encode()), &api.Params{Context: ctx}, answer)
}

func (t *Till) post(path string, params api.ParamsContainer, answer api.LastResponseSetter) error {
	return t.stripe.Call(http.MethodPost, path, t.cfg.Key, params, answer)
}

// live says whether the key moves real money.
func (t *Till) live() bool { return strings.Contains(t.cfg.Key, "_live_") }

// Checkout gives the page of Stripe where an order is paid. back is where Stripe sends people from there; with "{CHECKOUT_SESSION_ID}" in
// it Stripe puts the session's id, for Look.
func (t *Till) Checkout(ctx context.Context, o payments.Order, language string, back string) (string, error) {
	if o.Product.Link != "" {
		return o.Product.Link + "?" + url.Values{"client_reference_id": {o.ID}}.Encode(), nil
	}
	price := &api.CheckoutSessionCreateLineItemPriceDataParams{
		Currency: new(strings.ToLower(o.Currency)), UnitAmount: &o.Amount,
		ProductData: &api.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: new(o.Product.Name.In(language))},
	}
	if text := o.Product.Text.In(language); text != "" {
		price.ProductData.Description = &text
	}
	order := map[string]string{orderKey: o.ID}
	params := &api.CheckoutSessionCreateParams{
		Params:            api.Params{Context: ctx},
		ClientReferenceID: &o.ID, SuccessURL: &back, CancelURL: new(strings.SplitN(back, "?", 2)[0]), Metadata: order,
		AdaptivePricing: &api.CheckoutSessionCreateAdaptivePricingParams{Enabled: new(false)}, // what is paid is what was ordered
		LineItems:       []*api.CheckoutSessionCreateLineItemParams{{Quantity: new(int64(1)), PriceData: price}},
	}
	if o.Product.Kind == payments.Subscription {
		params.Mode = new(string(api.CheckoutSessionModeSubscription))
		price.Recurring = &api.CheckoutSessionCreateLineItemPriceDataRecurringParams{Interval: new(string(api.PriceRecurringIntervalMonth))}
		params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{Metadata: order}
	} else {
		params.Mode = new(string(api.CheckoutSessionModePayment))
		params.PaymentIntentData = &api.CheckoutSessionCreatePaymentIntentDataParams{Metadata: order}
	}
	params.SetIdempotencyKey("order:" + o.ID)
	var made api.CheckoutSession
	if err := t.post(sessions, params, &made); err != nil {
		return "", fmt.Errorf("ask Stripe for a page to pay order %s: %w", o.ID, told(err))
	}
	return made.URL, nil
}

// Refund gives a payment back, or a part of it (0: all that is left), on behalf of an operator. Stripe does it once for what was refunded so far.
func (t *Till) Refund(ctx context.Context, p payments.Payment, amount int64, by string) (payments.Payment, error) {
	params := &api.RefundCreateParams{Params: api.Params{Context: ctx}, PaymentIntent: &p.Ref, Reason: new(string(api.RefundReasonRequestedByCustomer))}
	if amount > 0 {
		params.Amount = &amount
	}
	params.SetIdempotencyKey(fmt.Sprintf("refund:%s:%d:%d", p.ID, p.Refunded, amount))
	var made api.Refund
	if err := t.post(refunds, params, &made); err != nil {
		return p, fmt.Errorf("ask Stripe to refund %s: %w", p.Receipt(), told(err))
	}
	return t.cfg.Store.Change(ctx, change(&made, by))
}

// End ends a subscription at once: nothing more is collected for it. One that is over, or was never here, is no error.
func (t *Till) End(ctx context.Context, subscription string) error {
	if !identifier(subscription) {
		return fmt.Errorf("%.40q is no subscription of Stripe: %w", subscription, payments.ErrCannotEnd)
	}
	var ended api.Subscription
	err := t.stripe.Call(http.MethodDelete, "/v1/subscriptions/"+subscription, t.cfg.Key, &api.SubscriptionCancelParams{Params: api.Params{Context: ctx}}, &ended)
	var refused *api.Error
	if errors.As(err, &refused) && refused.HTTPStatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask Stripe to end subscription %s: %w", subscription, told(err))
	}
	return nil
}

// Look reads a checkout session and credits it where it is paid: for anyone who comes back from Stripe before its webhook does.
func (t *Till) Look(ctx context.Context, sessionID string) error {
	if !identifier(sessionID) {
		return fmt.Errorf("%.40q is no session of Stripe", sessionID)
	}
	return t.checkSession(ctx, sessionID)
}

// told puts a refusal of Stripe on one line: the library's own text is JSON.
func told(err error) error {
	var refused *api.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("it answered %d: %s", refused.HTTPStatusCode, cmp.Or(refused.Msg, string(refused.Code), "without a reason"))
	}
	return err
}

// identifier tells ids of Stripe from what else may come in their place: they go into paths.
func identifier(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return id != "" && len(id) <= 255 && strings.Trim(id, letters) == ""
}

func change(r *api.Refund, by string) payments.Change {
	state := payments.Done
	switch r.Status {
	case api.RefundStatusPending, api.RefundStatusRequiresAction:
		state = payments.Open
	case api.RefundStatusFailed, api.RefundStatusCanceled:
		state = payments.Undone
	}
	return payments.Change{Source: billing.Stripe, Ref: r.ID, Payment: intentOf(r.PaymentIntent), Kind: payments.Refund, Amount: r.Amount, State: state, By: by}
}

// intentOf is the id of what a payment moved by, "" for none.
func intentOf(p *api.PaymentIntent) string {
	if p == nil {
		return ""
	}
	return p.ID
}
