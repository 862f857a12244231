package botapi

import "context"

// Stars is the currency of what is bought in Telegram.
const Stars = "XTR"

// SubscriptionPeriod is how many seconds a subscription in Stars lasts; the Bot API takes no other.
const SubscriptionPeriod = 30 * 24 * 60 * 60

// PreCheckout asks whether somebody may pay; it is to be answered within ten seconds. It proves nothing.
type PreCheckout struct {
	ID       string `json:"id"`
	From     User   `json:"from"`
	Currency string `json:"currency"`
	Amount   int64  `json:"total_amount"`
	Payload  string `json:"invoice_payload"`
}

// StarPayment is a payment that was made, or given back. A renewal of a subscription has the payload of the first payment and a charge of
// its own.
type StarPayment struct {
	Currency  string `json:"currency"`
	Amount    int64  `json:"total_amount"`
	Payload   string `json:"invoice_payload"`
	Charge    string `json:"telegram_payment_charge_id"`
	Recurring bool   `json:"is_recurring"`
}

// Invoice is what is asked for in Stars. Title has at most 32 characters, Description 1 to 255, Payload at most 128 bytes.
type Invoice struct {
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Payload     string  `json:"payload"`
	Token       string  `json:"provider_token"` // empty for Stars
	Currency    string  `json:"currency"`
	Prices      []Price `json:"prices"` // exactly one
	Period      int     `json:"subscription_period,omitempty"`
}

// Price is a part of the price, in whole Stars.
type Price struct {
	Label  string `json:"label"`
	Amount int64  `json:"amount"`
}

// CreateInvoiceLink makes a link that opens the payment of an invoice, wherever it is pressed.
func (c *Client) CreateInvoiceLink(ctx context.Context, i Invoice) (string, error) {
	return do[string](ctx, c, "createInvoiceLink", i)
}

// AnswerPreCheckout lets somebody pay, or tells them why not where refusal is not empty.
func (c *Client) AnswerPreCheckout(ctx context.Context, id, refusal string) error {
	return c.call(ctx, "answerPreCheckoutQuery", struct {
		ID      string `json:"pre_checkout_query_id"`
		OK      bool   `json:"ok"`
		Refusal string `json:"error_message,omitempty"`
	}{id, refusal == "", refusal}, nil)
}

// RefundStars gives a whole payment back; Stars have no partial refunds.
func (c *Client) RefundStars(ctx context.Context, userID int64, charge string) error {
	return c.call(ctx, "refundStarPayment", struct {
		UserID int64  `json:"user_id"`
		Charge string `json:"telegram_payment_charge_id"`
	}{userID, charge}, nil)
}

// CancelSubscription has a subscription in Stars not be renewed any more; it lasts until the end of what is paid. charge is that of its
// first payment.
func (c *Client) CancelSubscription(ctx context.Context, userID int64, charge string) error {
	return c.call(ctx, "editUserStarSubscription", struct {
		UserID   int64  `json:"user_id"`
		Charge   string `json:"telegram_payment_charge_id"`
		Canceled bool   `json:"is_canceled"`
	}{userID, charge, true}, nil)
}
