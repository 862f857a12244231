package selling

import (
	"net/url"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/stripe"
)

// starsTaken is the way in for Stars, which nobody uses here.
type starsTaken struct{ Stars }

func TestElsewhere(t *testing.T) {
	t.Parallel()
	products := payments.Products{{ID: "small", Prices: map[string]int64{payments.XTR: 100}}}
	s := &Seller{cfg: Config{Store: payments.New(payments.Config{Products: products}), Page: &url.URL{Scheme: "https", Host: "bot.example"}}, stars: starsTaken{}}
	check := func(platform string, want ...string) {
		t.Helper()
		if got := s.Elsewhere(platform); !slices.Equal(got, want) {
			t.Errorf("besides %s: %q, want %q", platform, got, want)
		}
	}
	check("web", "Telegram")
	check("discord", "Telegram")
	check("telegram")
	s.till, products[0].Prices["EUR"] = &stripe.Till{}, 499
	check("telegram", "https://bot.example/buy")
	check("discord", "Telegram", "https://bot.example/buy")
}
