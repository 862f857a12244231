package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/selling"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/stripe"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

// maxBuyText bounds what /buy says, so that it fits into a message of every chat with the rest.
const maxBuyText = 1000

// buying is how people get more credit: what is sold, what the operator says, and the ways there are.
func (h *house) buying() words.Buying {
	b := words.Buying{Text: h.rules.value(buySetting), Seller: h.seller}
	if h.cfg.BuyURL != "" {
		b.Ways = append(b.Ways, words.BuyingWay{URL: h.cfg.BuyURL})
	}
	return b
}

// products are what is sold; without a file nothing.
func products(c Config) (payments.Products, error) {
	if c.ProductsFile == "" {
		return nil, nil
	}
	return fromFile("PRODUCTS_FILE", c.ProductsFile, payments.ParseProducts)
}

// newSeller makes what sells.
func (a *app) newSeller() error {
	sold, err := products(a.cfg)
	if err != nil {
		return err
	}
	texts, err := i18n.Load()
	if err != nil {
		return err
	}
	a.seller, err = selling.New(selling.Config{
		Store: payments.New(payments.Config{Pool: a.db.pool, Ledger: a.ledger, Products: sold}), Users: a.users, Ledger: a.ledger, Texts: texts, Page: a.cfg.Public,
		Stripe: stripe.Config{Key: a.cfg.StripeSecretKey, BaseURL: a.cfg.StripeAPIURL, Secrets: splitList(a.cfg.StripeWebhookSecret)},
		Seller: selling.Lines(a.cfg.SellerText), Fonts: typeset.New(typeset.Config{CacheDir: filepath.Join(a.cfg.DataDir, "fonts")}),
		Tell: a.tellPerson, Logger: a.log.With("component", "payments"),
	})
	return err
}

type voucherCommand struct {
	Credit string        `arg:"" help:"What each code is worth, US dollars, for example 5."`
	Count  int           `default:"1" help:"How many codes, at most 1000."`
	Valid  time.Duration `placeholder:"DURATION" help:"How long they can be redeemed, such as 720h. Empty: for ever."`
	Note   string        `help:"What they are for; it stands on the receipt."`
}

// Run makes gift codes and prints them: they are shown only here.
func (c voucherCommand) Run(e env) error {
	credit, err := billing.ParseUSD(c.Credit)
	if err != nil || credit <= 0 {
		return fmt.Errorf("credit: found %q, expected US dollars above zero, for example 5 or 0.25", c.Credit)
	}
	return withDatabase(e, func(ctx context.Context, _ Config, db *database, _ *slog.Logger) error {
		store := payments.New(payments.Config{Pool: db.pool, Ledger: billing.NewLedger(db.pool)})
		codes, err := store.NewVouchers(ctx, payments.VoucherRequest{Count: c.Count, Credit: credit, Note: c.Note, Valid: c.Valid, By: "terminal"})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(e.stdout, strings.Join(codes, "\n"))
		return err
	})
}
