package stripetest

import (
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"testing"
)

// Event is one event as it is sent.
type Event struct {
	ID, Type string
	Body     []byte
}

// Events gives the events since it was last asked, in the order in which they happened.
func (s *Server) Events(t testing.TB) []Event {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Event
	for _, e := range s.events {
		body, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, Event{e["id"].(string), e["type"].(string), body})
	}
	s.events = nil
	return list
}

// Completes has a customer finish the page of a session without money having come yet, as with a bank transfer.
func (s *Server) Completes(page string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.objects[path.Base(page)]
	one["status"] = "complete"
	s.tell("checkout.session.completed", one)
}

// Pays has a customer pay at the page of a session, at once or after Completes. It gives the id of the payment intent.
func (s *Server) Pays(page string) (intent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.objects[path.Base(page)]
	late := one["status"] == "complete"
	one["status"], one["payment_status"] = "complete", "paid"
	if one["mode"] == "subscription" {
		id := s.next("sub_")
		one["subscription"] = id
		s.objects[id] = object{"id": id, "object": "subscription", "status": "active"}
		intent = s.invoice(one)
		s.tell("checkout.session.completed", one)
		return intent
	}
	intent = s.intent(one["amount_total"].(int64))
	one["payment_intent"] = intent
	if late {
		s.tell("checkout.session.async_payment_succeeded", one)
	} else {
		s.tell("checkout.session.completed", one)
	}
	return intent
}

// PaysLink has a customer pay by a Payment Link at a price; address is where the customer was sent.
func (s *Server) PaysLink(t testing.TB, address, currency string, amount int64) (intent string) {
	t.Helper()
	link, err := url.Parse(address)
	reference := link.Query().Get("client_reference_id")
	if err != nil || !regexp.MustCompile(`^[\w-]{1,200}$`).MatchString(reference) {
		t.Fatalf("the address %q: %v", address, err)
	}
	s.mu.Lock()
	id := s.next("cs_test_")
	s.objects[id] = object{
		"id": id, "mode": "payment", "status": "open", "payment_status": "unpaid", "payment_link": "plink_1", "client_reference_id": reference,
		"currency": currency, "amount_total": amount, "amount_subtotal": amount, "livemode": false,
	}
	s.mu.Unlock()
	return s.Pays(id)
}

// Renews pays the next period of the subscription that a session began.
func (s *Server) Renews(page string) (intent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invoice(s.objects[path.Base(page)])
}

// Status is how the subscription stands that a session began: active or canceled.
func (s *Server) Status(page string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[s.objects[path.Base(page)]["subscription"].(string)]["status"].(string)
}

func (s *Server) intent(amount int64) string {
	id := s.next("pi_")
	s.objects[id] = object{"id": id, "amount": amount, "refunded": int64(0)}
	return id
}

func (s *Server) invoice(one object) string {
	amount := one["amount_total"].(int64)
	id, intent := s.next("in_"), s.intent(amount)
	s.objects[id] = object{
		"id": id, "object": "invoice", "status": "paid", "currency": one["currency"], "amount_paid": amount, "subtotal": amount,
		"parent":   object{"type": "subscription_details", "subscription_details": object{"subscription": one["subscription"], "metadata": object{"order": one["order"]}}},
		"payments": object{"object": "list", "data": []object{{"payment": object{"type": "payment_intent", "payment_intent": intent}}}},
	}
	s.tell("invoice.paid", s.objects[id])
	return intent
}

// Refunds gives a part of a payment back from the dashboard, with a status. It gives the refund's id.
func (s *Server) Refunds(intent string, amount int64, status string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refund(s.objects[intent], amount, status)["id"].(string)
}

// FailRefund lets a refund fail.
func (s *Server) FailRefund(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.objects[id]
	r["status"] = "failed"
	s.objects[r["payment_intent"].(string)]["refunded"] = s.objects[r["payment_intent"].(string)]["refunded"].(int64) - r["amount"].(int64)
	s.tell("refund.failed", r)
}

// Disputes has the customer's bank dispute a payment.
func (s *Server) Disputes(intent string, amount int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next("dp_")
	s.objects[id] = object{"id": id, "object": "dispute", "payment_intent": intent, "amount": amount, "currency": "usd", "status": "needs_response"}
	s.tell("charge.dispute.created", s.objects[id])
	s.tell("charge.dispute.funds_withdrawn", s.objects[id])
	return id
}

// Decides ends a dispute: won or lost.
func (s *Server) Decides(id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[id]["status"] = status
	s.tell("charge.dispute.closed", s.objects[id])
}
