package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/cmd/signalbox/selling"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/stripe"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

// buying is how people get more credit: what is sold, what the operator says, and the ways there are.
func (h *house) buying() words.Buying {
	b := words.Buying{Text: h.rules.Value(houserules.Buy), Seller: h.seller}
	if h.cfg.BuyURL != "" {
		b.Ways = append(b.Ways, words.BuyingWay{URL: h.cfg.BuyURL})
	}
	return b
}

// newSeller makes what sells.
func (a *app) newSeller() error {
	sold, err := a.cfg.SoldProducts()
	if err != nil {
		return err
	}
	texts, err := i18n.Load()
	if err != nil {
		return err
	}
	a.seller, err = selling.New(selling.Config{
		Store: payments.New(payments.Config{Pool: a.db.Pool, Ledger: a.ledger, Products: sold, Now: a.clock.Now}), Users: a.users, Ledger: a.ledger, Texts: texts, Page: a.cfg.Public,
		Stripe: stripe.Config{Key: a.cfg.StripeSecretKey, BaseURL: a.cfg.StripeAPIURL, Secrets: config.List(a.cfg.StripeWebhookSecret)},
		Seller: selling.Lines(a.cfg.SellerText), Fonts: typeset.New(typeset.Config{CacheDir: filepath.Join(a.cfg.DataDir, "fonts")}),
		Tell: func(ctx context.Context, accountID, text string) error {
			return a.chat.tell.Person(ctx, accountID, text)
		},
		Logger: a.log.With("component", "payments"),
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
	return withDatabase(e, func(ctx context.Context, _ config.Config, db *database.DB, _ *slog.Logger) error {
		store := payments.New(payments.Config{Pool: db.Pool, Ledger: billing.NewLedger(db.Pool)})
		codes, err := store.NewVouchers(ctx, payments.VoucherRequest{Count: c.Count, Credit: credit, Note: c.Note, Valid: c.Valid, By: "terminal"})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(e.stdout, strings.Join(codes, "\n"))
		return err
	})
}
