package telegramtest

import (
	"context"
	"fmt"
	"time"
)

const checkoutTime = 10 * time.Second // to answer a pre-checkout query

// money is what is bought in Stars. Guarded by Server.mu.
type money struct {
	invoices  map[string]invoice   // by link
	checkouts map[string]*checkout // by query
	charges   map[string]*charge
}

type invoice struct {
	title, payload string
	stars          int64
	monthly        bool
}

type checkout struct {
	at       time.Time
	answered bool
	refusal  string
}

type charge struct {
	payer    *User
	paid     wPayment
	refunded bool
	canceled bool // a subscription: it is not renewed any more
}

type wPayment struct {
	Currency    string `json:"currency"`
	TotalAmount int64  `json:"total_amount"`
	Payload     string `json:"invoice_payload"`
	Charge      string `json:"telegram_payment_charge_id"`
	Provider    string `json:"provider_payment_charge_id"`
	Recurring   bool   `json:"is_recurring,omitempty"`
	First       bool   `json:"is_first_recurring,omitempty"`
	Until       int64  `json:"subscription_expiration_date,omitempty"`
}

func (s *Server) createInvoiceLink(req *request) (any, *apiError) {
	var prices []struct {
		Label  string `json:"label"`
		Amount int64  `json:"amount"`
	}
	if err := req.decode("prices", &prices); err != nil {
		return nil, err
	}
	period := req.int("subscription_period")
	switch {
	case req.params["currency"] != "XTR":
		return nil, badRequest("CURRENCY_INVALID")
	case req.params["provider_token"] != "":
		return nil, badRequest("PAYMENT_PROVIDER_INVALID")
	case len(prices) != 1 || prices[0].Label == "" || prices[0].Amount <= 0:
		return nil, badRequest("CURRENCY_TOTAL_AMOUNT_INVALID")
	case req.has("subscription_period") && period != 2592000:
		return nil, badRequest("SUBSCRIPTION_PERIOD_INVALID")
	case period != 0 && prices[0].Amount > 10000:
		return nil, badRequest("SUBSCRIPTION_PRICE_INVALID")
	}
	if s.money.invoices == nil {
		s.money = money{map[string]invoice{}, map[string]*checkout{}, map[string]*charge{}}
	}
	link := fmt.Sprintf("https://t.me/$invoice%d", s.nextSeq())
	s.money.invoices[link] = invoice{req.params["title"], req.params["payload"], prices[0].Amount, period != 0}
	return link, nil
}

func (s *Server) answerPreCheckout(req *request) (any, *apiError) {
	c := s.money.checkouts[req.params["pre_checkout_query_id"]]
	switch {
	case c == nil || c.answered || s.now().Sub(c.at) > checkoutTime:
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	case !req.bool("ok") && !req.has("error_message"):
		return nil, badRequest("BOT_PRECHECKOUT_TEXT_EMPTY")
	}
	c.answered, c.refusal = true, req.params["error_message"]
	s.signal()
	return true, nil
}

func (s *Server) refundStars(req *request) (any, *apiError) {
	c := s.money.charges[req.params["telegram_payment_charge_id"]]
	switch {
	case c == nil || c.payer.id != req.int64("user_id"):
		return nil, badRequest("CHARGE_NOT_FOUND")
	case c.refunded:
		return nil, badRequest("CHARGE_ALREADY_REFUNDED")
	}
	s.giveBack(c)
	return true, nil
}

// editSubscription takes the charge of a subscription's first payment only.
func (s *Server) editSubscription(req *request) (any, *apiError) {
	c := s.money.charges[req.params["telegram_payment_charge_id"]]
	switch {
	case !req.has("is_canceled"):
		return nil, badRequest("parameter \"is_canceled\" is required")
	case c == nil || !c.paid.First:
		return nil, badRequest("CHARGE_ID_INVALID")
	case c.payer.id != req.int64("user_id"):
		return nil, badRequest("USER_ID_INVALID")
	}
	c.canceled = req.bool("is_canceled")
	return true, nil
}

// Canceled tells whether the subscription that a charge began is not renewed any more.
func (s *Server) Canceled(charge string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.money.charges[charge]
	return c != nil && c.canceled
}

// giveBack needs s.mu.
func (s *Server) giveBack(c *charge) {
	c.refunded = true
	back := c.paid
	s.enqueue("message", s.service(c.payer, func(m *wMessage) { m.RefundedPayment = &back }))
}

// service makes a message of the service in a person's private chat. It needs s.mu.
func (s *Server) service(u *User, fill func(*wMessage)) wMessage {
	from := u.wire()
	u.private.nextID++
	m := wMessage{MessageID: u.private.nextID, From: &from, Date: s.now().Unix(), Chat: wChat{ID: u.private.id, Type: "private", FirstName: u.name}}
	fill(&m)
	return m
}

// Pays has the person pay what a link asks for. It waits for the bot's word on it; refusal is what the bot said where they may not.
func (u *User) Pays(ctx context.Context, link string) (charge, refusal string) {
	s := u.s
	s.t.Helper()
	s.mu.Lock()
	i, ok := s.money.invoices[link]
	if !ok {
		s.mu.Unlock()
		s.t.Fatalf("telegramtest: %s pays an invoice that is not there: %q", u.name, link)
	}
	id := fmt.Sprint(s.nextSeq())
	asked := &checkout{at: s.now()}
	s.money.checkouts[id] = asked
	s.enqueue("pre_checkout_query", map[string]any{"id": id, "from": u.wire(), "currency": "XTR", "total_amount": i.stars, "invoice_payload": i.payload})
	s.mu.Unlock()
	s.Await(ctx, "the answer to a pre-checkout query", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return asked.answered
	}, func() string { return "none" })
	s.mu.Lock()
	defer s.mu.Unlock()
	if asked.refusal != "" {
		return "", asked.refusal
	}
	return s.pay(u, i, true), ""
}

// Renews pays the next period of a subscription that a link began.
func (u *User) Renews(link string) (charge string) {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	return u.s.pay(u, u.s.money.invoices[link], false)
}

// pay needs s.mu.
func (s *Server) pay(u *User, i invoice, first bool) string {
	paid := wPayment{Currency: "XTR", TotalAmount: i.stars, Payload: i.payload, Charge: fmt.Sprintf("stx%d", s.nextSeq()), Provider: fmt.Sprint(u.id)}
	if i.monthly {
		paid.Recurring, paid.First, paid.Until = true, first, s.now().Add(2592000*time.Second).Unix()
	}
	s.money.charges[paid.Charge] = &charge{payer: u, paid: paid}
	s.enqueue("message", s.service(u, func(m *wMessage) { m.SuccessfulPayment = &paid }))
	return paid.Charge
}

// RefundsStars gives a payment back without the bot having asked for it.
func (s *Server) RefundsStars(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.money.charges[id]; c != nil && !c.refunded {
		s.giveBack(c)
	}
}
