package words

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/payments"
)

// Offer is something that can be bought on a platform, at one price.
type Offer struct {
	Product  string // its id
	Currency string
	Name     string
	Text     string // what it is, in a sentence; may be empty
	Credit   billing.NanoUSD
	Price    string // "4.99 EUR", "250 Stars"; empty: the platform shows it
	SKU      string // what it is in the platform's own store, where nothing is ordered here; empty: Checkout leads to where it is paid
	Monthly  bool
}

// ID tells an offer from others of its platform.
func (o Offer) ID() string { return o.Product + " " + o.Currency }

// Label is what the button of an offer says.
func (o Offer) Label() string {
	if o.Price == "" {
		return o.Name
	}
	return o.Name + " · " + o.Price
}

// Seller sells credit; cmd/signalbox puts it together. Its errors that people can do something about are those of Problem.
type Seller interface {
	// Offers are what is sold on a platform.
	Offers(platform, language string) []Offer
	// Elsewhere names the other places where something is sold: platforms, and the page by its address.
	Elsewhere(platform string) []string
	// Checkout orders a product for an account and gives the address where it is paid.
	Checkout(ctx context.Context, accountID, platform, language string, o Offer) (address string, err error)
	// Redeem gives a voucher's credit to an account.
	Redeem(ctx context.Context, accountID, code string) (billing.NanoUSD, error)
	// Bought are the last payments of an account.
	Bought(ctx context.Context, accountID string) ([]payments.Payment, error)
	// Look credits what was paid on a page of Stripe that somebody comes back from.
	Look(ctx context.Context, session string) error
	// Invoice is a payment of the account as a PDF; payments.ErrNoPayment where it is not theirs.
	Invoice(ctx context.Context, accountID, language string, number int64) ([]byte, error)
}

// BuyingProblem is the key of the text that tells somebody why they can't buy or redeem something; "" for other errors.
func BuyingProblem(err error) string {
	for _, problem := range []struct {
		err error
		key string
	}{
		{payments.ErrNoProduct, "pay.noProduct"}, {payments.ErrNoOrder, "pay.noOrder"}, {payments.ErrOrderPaid, "pay.orderPaid"}, {payments.ErrOtherPayer, "pay.otherPayer"},
		{payments.ErrOtherPrice, "pay.otherPrice"}, {payments.ErrTooManyCodes, "pay.tooManyCodes"}, {payments.ErrNoVoucher, "pay.noVoucher"}, {payments.ErrAway, "pay.away"},
	} {
		if errors.Is(err, problem.err) {
			return problem.key
		}
	}
	return ""
}
