// Package stripe takes payments by Stripe Checkout and Payment Links (https://docs.stripe.com/api), in a version of its API that is pinned.
//
// It is a client of its own for seven calls: the official library was measured to add 1.8 MB to a program for the same.
//
// Webhooks are taken as hints only: whatever one tells of is read again from Stripe before it counts. So neither their order nor the version
// of their contents matters, and a notice that cannot be worked on yet is refused, so that Stripe repeats it.
package stripe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/payments"
)

const (
	// DefaultURL is Stripe's API.
	DefaultURL = "https://api.stripe.com"

	version  = "2026-03-25.dahlia"
	orderKey = "order" // of metadata
	perPage  = 100
)

// Config is what a Till works with. Store, Key and Logger are required.
type Config struct {
	Store   *payments.Store
	Key     string // sk_... or rk_...
	BaseURL string // empty: DefaultURL
	// Secrets are those of the webhook's endpoint, whsec_...: the present one and, while it is replaced, the one before. Without
	// any all webhooks are refused.
	Secrets []string
	// Paid is told of each payment once, after it was credited; nil: nobody is. It may be told again after a crash.
	Paid   func(context.Context, payments.Payment)
	Logger *slog.Logger
	Now    func() time.Time // nil: time.Now
}

// Till is one account at Stripe.
type Till struct {
	cfg    Config
	client *upstream.Client
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
	cfg.BaseURL = cmp.Or(cfg.BaseURL, DefaultURL)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Paid == nil {
		cfg.Paid = func(context.Context, payments.Payment) {}
	}
	client, err := upstream.New(upstream.Config{
		Name: "Stripe", BaseURL: cfg.BaseURL, Secrets: append([]string{cfg.Key}, cfg.Secrets...),
		Authorize: func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+cfg.Key)
			r.Header.Set("Stripe-Version", version)
		},
	})
	if err != nil {
		return nil, err
	}
	return &Till{cfg, client}, nil
}

// live says whether the key moves real money.
func (t *Till) live() bool { return strings.Contains(t.cfg.Key, "_live_") }

// Checkout gives the page of Stripe where an order is paid. back is where Stripe sends people from there; with "{CHECKOUT_SESSION_ID}" in
// it Stripe puts the session's id, for Look.
func (t *Till) Checkout(ctx context.Context, o payments.Order, language string, back string) (string, error) {
	if o.Product.Link != "" {
		return o.Product.Link + "?" + url.Values{"client_reference_id": {o.ID}}.Encode(), nil
	}
	form := url.Values{
		"client_reference_id":                           {o.ID},
		"metadata[" + orderKey + "]":                    {o.ID},
		"success_url":                                   {back},
		"cancel_url":                                    {strings.SplitN(back, "?", 2)[0]},
		"adaptive_pricing[enabled]":                     {"false"}, // what is paid is what was ordered
		"line_items[0][quantity]":                       {"1"},
		"line_items[0][price_data][currency]":           {strings.ToLower(o.Currency)},
		"line_items[0][price_data][unit_amount]":        {strconv.FormatInt(o.Amount, 10)},
		"line_items[0][price_data][product_data][name]": {o.Product.Name.In(language)},
	}
	if text := o.Product.Text.In(language); text != "" {
		form.Set("line_items[0][price_data][product_data][description]", text)
	}
	if o.Product.Kind == payments.Subscription {
		form.Set("mode", "subscription")
		form.Set("line_items[0][price_data][recurring][interval]", "month")
		form.Set("subscription_data[metadata]["+orderKey+"]", o.ID)
	} else {
		form.Set("mode", "payment")
		form.Set("payment_intent_data[metadata]["+orderKey+"]", o.ID)
	}
	var made session
	if err := t.post(ctx, "/v1/checkout/sessions", form, "order:"+o.ID, &made); err != nil {
		return "", fmt.Errorf("ask Stripe for a page to pay order %s: %w", o.ID, err)
	}
	return made.URL, nil
}

// Refund gives a payment back, or a part of it (0: all that is left), on behalf of an operator. Stripe does it once for what was refunded so far.
func (t *Till) Refund(ctx context.Context, p payments.Payment, amount int64, by string) (payments.Payment, error) {
	form := url.Values{"payment_intent": {p.Ref}, "reason": {"requested_by_customer"}}
	if amount > 0 {
		form.Set("amount", strconv.FormatInt(amount, 10))
	}
	var made refund
	key := fmt.Sprintf("refund:%s:%d:%d", p.ID, p.Refunded, amount)
	if err := t.post(ctx, "/v1/refunds", form, key, &made); err != nil {
		return p, fmt.Errorf("ask Stripe to refund %s: %w", p.Receipt(), err)
	}
	return t.cfg.Store.Change(ctx, made.change(by))
}

// Look reads a checkout session and credits it where it is paid: for anyone who comes back from Stripe before its webhook does.
func (t *Till) Look(ctx context.Context, sessionID string) error {
	if !identifier(sessionID) {
		return fmt.Errorf("%.40q is no session of Stripe", sessionID)
	}
	return t.checkSession(ctx, sessionID)
}

// post sends a form. The key makes repeating it safe: Stripe answers again what it answered first.
func (t *Till) post(ctx context.Context, path string, form url.Values, key string, out any) error {
	answer, err := t.client.Do(ctx, upstream.Request{
		Method: http.MethodPost, Path: path, Body: strings.NewReader(form.Encode()), ContentType: "application/x-www-form-urlencoded",
		Header: http.Header{"Idempotency-Key": {key}}, Repeatable: true, Words: words,
	})
	if err != nil {
		return err
	}
	return t.client.Decode(answer, out)
}

// words are Stripe's own for why it refuses (https://docs.stripe.com/api/errors).
func words(body []byte) string {
	var e struct {
		Error struct{ Message string } `json:"error"`
	}
	_ = json.Unmarshal(body, &e) // else it has nothing to say
	return e.Error.Message
}

// identifier tells ids of Stripe from what else may come in their place: they go into paths.
func identifier(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return id != "" && len(id) <= 255 && strings.Trim(id, letters) == ""
}

// The objects of Stripe, as far as they are read.
type (
	session struct {
		ID            string `json:"id"`
		URL           string `json:"url"`
		Mode          string `json:"mode"`
		PaymentStatus string `json:"payment_status"`
		PaymentIntent string `json:"payment_intent"`
		Subscription  string `json:"subscription"`
		Reference     string `json:"client_reference_id"`
		Currency      string `json:"currency"`
		Total         int64  `json:"amount_total"`
		Subtotal      int64  `json:"amount_subtotal"`
	}
	invoice struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		Currency string `json:"currency"`
		Paid     int64  `json:"amount_paid"`
		Subtotal int64  `json:"subtotal"`
		Parent   struct {
			Subscription struct {
				ID       string            `json:"subscription"`
				Metadata map[string]string `json:"metadata"`
			} `json:"subscription_details"`
		} `json:"parent"`
		Payments struct {
			Data []struct {
				Payment struct {
					Intent string `json:"payment_intent"`
				} `json:"payment"`
			} `json:"data"`
		} `json:"payments"`
	}
	refund struct {
		ID            string `json:"id"`
		PaymentIntent string `json:"payment_intent"`
		Amount        int64  `json:"amount"`
		Status        string `json:"status"` // pending, requires_action, succeeded, failed, canceled
	}
	dispute struct {
		ID            string `json:"id"`
		PaymentIntent string `json:"payment_intent"`
		Amount        int64  `json:"amount"`
		Currency      string `json:"currency"`
		Status        string `json:"status"`
	}
)

func (r refund) change(by string) payments.Change {
	state := payments.Done
	switch r.Status {
	case "pending", "requires_action":
		state = payments.Open
	case "failed", "canceled":
		state = payments.Undone
	}
	return payments.Change{Source: billing.Stripe, Ref: r.ID, Payment: r.PaymentIntent, Kind: payments.Refund, Amount: r.Amount, State: state, By: by}
}
