// Package selling joins what is sold with where it is paid: Telegram's Stars, Stripe and Discord's store, which know nothing of each other.
package selling

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/stripe"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/discord/sales"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
	"github.com/signalbox/signalbox/users"
)

// Users finds who pays: users.Store.
type Users interface {
	Identify(ctx context.Context, identity users.Identity) (users.Account, error)
	ByID(ctx context.Context, accountID string) (users.Account, error)
}

// Stars is Telegram: its adapter.
type Stars interface {
	InvoiceLink(ctx context.Context, o payments.Order, language string) (string, error)
	RefundStars(ctx context.Context, p payments.Payment, by string) (payments.Change, error)
	EndSubscription(ctx context.Context, e payments.Ending) error
}

// Store is Discord: its adapter, which tells who bought something there that it has arrived.
type Store interface {
	Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error)
}

// Config wires a Seller. What may be nil says so.
type Config struct {
	Store  *payments.Store
	Users  Users
	Ledger *billing.Ledger
	Texts  *i18n.Catalogue
	Page   *url.URL        // where people reach the page; nil: nothing is sold there
	Stripe stripe.Config   // without a Key nothing is sold on the page
	Seller []string        // the operator's lines on receipts
	Fonts  *typeset.Setter // of receipts
	Tell   func(ctx context.Context, accountID, text string) error
	Logger *slog.Logger
}

// Seller sells credit: words.Seller for chats and pages, and telegram.Payments and sales.Payments for what comes in from there.
type Seller struct {
	cfg   Config
	till  *stripe.Till // nil: none
	stars Stars        // nil: none
	store Store        // Discord's; nil: none
	// patience is how long anyone waits at a button for the address where they pay, or on coming back from there.
	patience time.Duration
}

const patience = 10 * time.Second

var (
	_ words.Seller      = (*Seller)(nil)
	_ telegram.Payments = (*Seller)(nil)
	_ sales.Payments    = (*Seller)(nil)
)

// New makes a seller.
func New(cfg Config) (*Seller, error) {
	s := &Seller{cfg: cfg, patience: patience}
	if cfg.Stripe.Key == "" || cfg.Page == nil {
		return s, nil
	}
	cfg.Stripe.Store, cfg.Stripe.Logger, cfg.Stripe.Paid = cfg.Store, cfg.Logger, s.thank
	var err error
	s.till, err = stripe.New(cfg.Stripe)
	return s, err
}

// Till is the account at Stripe, which takes its webhooks; nil: there is none.
func (s *Seller) Till() *stripe.Till { return s.till }

// TakeStars has what is sold be paid in Stars, too. It comes after Telegram's adapter was made, which knows the seller.
func (s *Seller) TakeStars(stars Stars) { s.stars = stars }

// TakeStore has what is sold be bought in Discord's store, too. It comes after Discord's adapter was made, which knows the seller.
func (s *Seller) TakeStore(store Store) { s.store = store }

// Products are what is sold.
func (s *Seller) Products() payments.Products { return s.cfg.Store.Products() }

// Offers are what is sold on a platform: for Stars on Telegram, as SKUs on Discord, and for money on the page.
func (s *Seller) Offers(platform, language string) []words.Offer {
	var offers []words.Offer
	for _, p := range s.cfg.Store.Products() {
		o := words.Offer{Product: p.ID, Name: p.Name.In(language), Text: p.Text.In(language), Credit: p.Credit, Monthly: p.Kind == payments.Subscription}
		for _, currency := range slices.Sorted(maps.Keys(p.Prices)) {
			if s.sells(platform, currency) {
				o.Currency, o.Price = currency, payments.Price(p.Prices[currency], currency)
				offers = append(offers, o)
			}
		}
		if platform == discord.Platform && s.store != nil && len(p.Discord) > 0 {
			o.Currency, o.Price, o.SKU = "", "", p.Discord[0]
			offers = append(offers, o)
		}
	}
	return offers
}

// Elsewhere names where else than on a platform something is sold: others, and the page by its address.
func (s *Seller) Elsewhere(platform string) (names []string) {
	for _, other := range []struct{ platform, name string }{{telegram.Platform, "Telegram"}, {discord.Platform, "Discord"}, {web.Platform, ""}} {
		if other.platform == platform || len(s.Offers(other.platform, "")) == 0 {
			continue
		}
		if other.name == "" {
			other.name = s.cfg.Page.JoinPath("buy").String()
		}
		names = append(names, other.name)
	}
	return names
}

func (s *Seller) sells(platform, currency string) bool {
	if currency == payments.XTR {
		return platform == telegram.Platform && s.stars != nil
	}
	return platform == web.Platform && s.till != nil
}

// Checkout orders a product and gives the address where it is paid.
func (s *Seller) Checkout(ctx context.Context, accountID, platform, language string, offer words.Offer) (string, error) {
	if !s.sells(platform, offer.Currency) {
		return "", payments.ErrNoProduct
	}
	source := billing.Stripe
	if offer.Currency == payments.XTR {
		source = billing.Stars
	}
	o, err := s.cfg.Store.Order(ctx, accountID, source, offer.Product, offer.Currency)
	if err != nil {
		return "", err
	}
	address, err := s.addressOf(ctx, o, language)
	if ctx.Err() != nil { // who ordered has gone
		return "", ctx.Err()
	}
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "somebody could not pay what they ordered", "error", err)
		return "", payments.ErrAway
	}
	return address, nil
}

// addressOf is where an order is paid.
func (s *Seller) addressOf(ctx context.Context, o payments.Order, language string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	if o.Currency == payments.XTR {
		return s.stars.InvoiceLink(ctx, o, language)
	}
	return s.till.Checkout(ctx, o, language, s.cfg.Page.JoinPath("buy").String()+"?session={CHECKOUT_SESSION_ID}")
}

// Redeem gives a voucher's credit to an account.
func (s *Seller) Redeem(ctx context.Context, accountID, code string) (billing.NanoUSD, error) {
	p, err := s.cfg.Store.Redeem(ctx, accountID, code)
	return p.Credit, err
}

// shownPayments is how many payments of their own people see.
const shownPayments = 50

// Bought are the last payments of an account.
func (s *Seller) Bought(ctx context.Context, accountID string) ([]payments.Payment, error) {
	return s.cfg.Store.List(ctx, payments.Query{AccountID: accountID, Limit: shownPayments})
}

// Look credits what was paid on a page of Stripe.
func (s *Seller) Look(ctx context.Context, session string) error {
	if s.till == nil {
		return payments.ErrNoPayment
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	return s.till.Look(ctx, session)
}

// MayPay says why somebody may not pay an order in Stars.
func (s *Seller) MayPay(ctx context.Context, from users.Identity, p payments.Paid) (refusal string, err error) {
	account, err := s.cfg.Users.Identify(ctx, from)
	if err != nil {
		return "", err
	}
	p.AccountID = account.ID
	err = s.cfg.Store.Check(ctx, p)
	if key := words.BuyingProblem(err); key != "" {
		return s.cfg.Texts.Voice(account.Language).Line(key), nil
	}
	return "", err
}

// Paid records and credits what was paid in Stars or in Discord's store.
func (s *Seller) Paid(ctx context.Context, from users.Identity, p payments.Paid) error {
	account, err := s.cfg.Users.Identify(ctx, from)
	if err != nil {
		return err
	}
	p.AccountID = account.ID
	paid, fresh, err := s.cfg.Store.Pay(ctx, p)
	if err == nil && fresh {
		s.thank(ctx, paid)
	}
	return err
}

// Refunded records what was given back there.
func (s *Seller) Refunded(ctx context.Context, c payments.Change) error {
	_, err := s.cfg.Store.Change(ctx, c)
	return err
}

// LastPaid is the last payment of a subscription, by its reference; "" for none.
func (s *Seller) LastPaid(ctx context.Context, source billing.Source, subscription string) (string, error) {
	return s.cfg.Store.LastPaid(ctx, source, subscription)
}

// thank tells who paid that it has arrived, and what there is now. The money is booked already: what fails is logged.
func (s *Seller) thank(ctx context.Context, p payments.Payment) {
	if p.Gone {
		s.cfg.Logger.ErrorContext(ctx, "somebody paid for an account that was deleted; refund it where it was paid", "receipt", p.Receipt(), "source", p.Source, "payment", p.Ref)
		return
	}
	account, err := s.cfg.Users.ByID(ctx, p.AccountID)
	if err == nil {
		var b billing.Balance
		if b, err = s.cfg.Ledger.Balance(ctx, account.ID); err == nil {
			voice := s.cfg.Texts.Voice(account.Language)
			text := voice.Line("pay.paid", "amount", voice.AtLeast(p.Credit), "balance", voice.AtLeast(b.Available), "receipt", p.Receipt())
			if p.Credit == 0 {
				text = voice.Line("pay.mismatch", "receipt", p.Receipt())
			}
			err = s.cfg.Tell(ctx, account.ID, text)
			if p.Source == billing.Discord && s.store != nil {
				_, failed := s.store.Send(ctx, chat.Message{OnlyFor: p.Payer, Text: chat.Plain(text)})
				err = errors.Join(err, failed)
			}
		}
	}
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "somebody who paid was not told", "receipt", p.Receipt(), "error", err)
	}
}

// Refund gives a payment back as a whole, on behalf of an operator: where some of its credit was spent only when forced, and the
// operator bears that part.
func (s *Seller) Refund(ctx context.Context, number int64, forced bool, by string) (payments.Payment, error) {
	p, err := s.cfg.Store.ByNumber(ctx, number)
	if err == nil {
		err = s.cfg.Store.MayRefund(ctx, p, forced)
	}
	if err != nil {
		return p, err
	}
	switch {
	case p.Source == billing.Vouchers:
		return s.cfg.Store.Change(ctx, payments.Change{
			Source: p.Source, Ref: "refund:" + p.Ref, Payment: p.Ref, Kind: payments.Refund, State: payments.Done, By: by,
		})
	case p.Source == billing.Stars && s.stars != nil:
		c, err := s.stars.RefundStars(ctx, p, by)
		if err != nil {
			return p, err
		}
		return s.cfg.Store.Change(ctx, c)
	case p.Source == billing.Stripe && s.till != nil:
		return s.till.Refund(ctx, p, 0, by)
	}
	return p, fmt.Errorf("refund of %s: it was paid at %s, which is not connected or refunds by itself", p.Receipt(), p.Source)
}
