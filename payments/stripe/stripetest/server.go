// Package stripetest is a strict imitation of what Stripe's API does with sessions, invoices, refunds and disputes. It keeps state, refuses
// parameters that it does not know, answers a repeated Idempotency-Key as it did first, and signs events, which a test delivers in any order and
// as often as it likes.
package stripetest

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the API key that the server takes.
const Key = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"

// Secret signs the events.
const Secret = "whsec_stripetest0123456789"

type object = map[string]any

// Server is one account at Stripe.
type Server struct {
	*httptest.Server
	mu      sync.Mutex
	number  int
	objects map[string]object // by id
	answers map[string]answer // by Idempotency-Key
	events  []object
	broken  bool
}

type answer struct {
	form string
	body object
	code int
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{objects: map[string]object{}, answers: map[string]answer{}}
	s.Server = httptest.NewServer(s.routes())
	t.Cleanup(s.Close)
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/checkout/sessions", s.changes(s.newSession))
	mux.HandleFunc("POST /v1/refunds", s.changes(s.newRefund))
	mux.HandleFunc("GET /v1/checkout/sessions", s.reads(func(q url.Values) any { return s.list("cs_", "subscription", q) }))
	mux.HandleFunc("GET /v1/refunds", s.reads(func(q url.Values) any { return s.list("re_", "payment_intent", q) }))
	mux.HandleFunc("DELETE /v1/subscriptions/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.reads(func(url.Values) any { return s.cancel(r.PathValue("id")) })(w, r)
	})
	for _, path := range []string{"/v1/checkout/sessions/{id}", "/v1/invoices/{id}", "/v1/disputes/{id}"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			s.reads(func(url.Values) any {
				if found, ok := s.objects[r.PathValue("id")]; ok {
					return found
				}
				return nil
			})(w, r)
		})
	}
	return mux
}

// Break has every request answered with 500 until it is mended.
func (s *Server) Break(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

func (s *Server) admits(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case s.broken:
		refuse(w, http.StatusInternalServerError, "api_error", "An unknown error occurred.")
	case r.Header.Get("Authorization") != "Bearer "+Key:
		refuse(w, http.StatusUnauthorized, "invalid_request_error", "Invalid API Key provided.")
	case r.Header.Get("Stripe-Version") == "":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "The version is not pinned.")
	default:
		return true
	}
	return false
}

func (s *Server) reads(find func(url.Values) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.admits(w, r) {
			return
		}
		found := find(r.URL.Query())
		if found == nil {
			refuse(w, http.StatusNotFound, "invalid_request_error", "No such object.")
			return
		}
		write(w, http.StatusOK, found)
	}
}

// listPage is how many objects a list gives, the latest first.
const listPage = 10

func (s *Server) list(prefix, field string, q url.Values) any {
	var ids []string
	for id, one := range s.objects {
		if strings.HasPrefix(id, prefix) && q.Get(field) != "" && one[field] == q.Get(field) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(b, a)) }) // they are numbered
	if after := slices.Index(ids, q.Get("starting_after")); after >= 0 {
		ids = ids[after+1:]
	}
	data := []object{}
	for _, id := range ids[:min(len(ids), listPage)] {
		data = append(data, s.objects[id])
	}
	return object{"object": "list", "data": data, "has_more": len(ids) > listPage}
}

func (s *Server) changes(do func(url.Values) (object, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.admits(w, r) {
			return
		}
		if err := r.ParseForm(); err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			refuse(w, http.StatusBadRequest, "invalid_request_error", "The body is no form.")
			return
		}
		key := r.Header.Get("Idempotency-Key")
		if key == "" || len(key) > 255 {
			refuse(w, http.StatusBadRequest, "idempotency_error", "The Idempotency-Key is missing or too long.")
			return
		}
		if first, ok := s.answers[key]; ok {
			if first.form != r.PostForm.Encode() {
				refuse(w, http.StatusBadRequest, "idempotency_error", "Keys for idempotent requests can only be used with the same parameters.")
				return
			}
			write(w, first.code, first.body)
			return
		}
		made, wrong := do(r.PostForm)
		if wrong != "" { // nothing is kept of what does not pass
			refuse(w, http.StatusBadRequest, "invalid_request_error", wrong)
			return
		}
		s.answers[key] = answer{r.PostForm.Encode(), made, http.StatusOK}
		write(w, http.StatusOK, made)
	}
}

func refuse(w http.ResponseWriter, code int, kind, message string) {
	write(w, code, object{"error": object{"type": kind, "message": message}})
}

func write(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the caller is gone
}

var sessionParameters = regexp.MustCompile(`^(mode|client_reference_id|success_url|cancel_url|adaptive_pricing\[enabled\]|metadata\[\w+\]|payment_intent_data\[metadata\]\[\w+\]|` +
	`subscription_data\[metadata\]\[\w+\]|line_items\[0\]\[quantity\]|line_items\[0\]\[price_data\]\[(currency|unit_amount|recurring\]\[interval|product_data\]\[(name|description))\])$`)

func (s *Server) newSession(form url.Values) (object, string) {
	for name := range form {
		if !sessionParameters.MatchString(name) {
			return nil, "Received unknown parameter: " + name
		}
	}
	price := "line_items[0][price_data]"
	amount, err := strconv.ParseInt(form.Get(price+"[unit_amount]"), 10, 64)
	mode, currency := form.Get("mode"), form.Get(price+"[currency]")
	switch {
	case err != nil || amount <= 0:
		return nil, "Invalid integer: unit_amount"
	case !regexp.MustCompile(`^[a-z]{3}$`).MatchString(currency):
		return nil, "Invalid currency: " + currency
	case form.Get(price+"[product_data][name]") == "" || form.Get("line_items[0][quantity]") != "1":
		return nil, "Missing required param: line_items"
	case mode != "payment" && mode != "subscription":
		return nil, "Invalid mode"
	case mode == "subscription" != (form.Get(price+"[recurring][interval]") == "month"):
		return nil, "You must provide at least one recurring price in `subscription` mode, and none in `payment` mode."
	case mode == "subscription" && form.Get("payment_intent_data[metadata][order]") != "":
		return nil, "You can not pass `payment_intent_data` in `subscription` mode."
	case !strings.HasPrefix(form.Get("success_url"), "http"):
		return nil, "Not a valid URL: success_url"
	}
	id := s.next("cs_test_")
	s.objects[id] = object{
		"id": id, "object": "checkout.session", "url": s.URL + "/pay/" + id, "mode": mode, "status": "open", "payment_status": "unpaid", "payment_intent": nil, "subscription": nil,
		"client_reference_id": form.Get("client_reference_id"), "currency": currency, "amount_total": amount, "amount_subtotal": amount, "livemode": false,
		"order": form.Get("subscription_data[metadata][order]"),
	}
	return maps.Clone(s.objects[id]), ""
}

func (s *Server) newRefund(form url.Values) (object, string) {
	intent := s.objects[form.Get("payment_intent")]
	if intent == nil {
		return nil, "No such payment_intent"
	}
	amount, left := intent["amount"].(int64)-intent["refunded"].(int64), int64(0)
	left = amount
	if text := form.Get("amount"); text != "" {
		var err error
		if amount, err = strconv.ParseInt(text, 10, 64); err != nil || amount <= 0 {
			return nil, "Invalid integer: amount"
		}
	}
	if left == 0 {
		return nil, "Charge has already been refunded."
	}
	if amount > left {
		return nil, fmt.Sprintf("Refund amount (%d) is greater than unrefunded amount on charge (%d)", amount, left)
	}
	return s.refund(intent, amount, "succeeded"), ""
}

func (s *Server) refund(intent object, amount int64, status string) object {
	intent["refunded"] = intent["refunded"].(int64) + amount
	id := s.next("re_")
	s.objects[id] = object{"id": id, "object": "refund", "payment_intent": intent["id"], "amount": amount, "status": status}
	s.tell("refund.created", s.objects[id])
	s.tell("charge.refunded", object{"id": s.next("ch_"), "object": "charge", "payment_intent": intent["id"], "amount_refunded": intent["refunded"]})
	return maps.Clone(s.objects[id])
}

// cancel ends a subscription; one that is over is as good as none.
func (s *Server) cancel(id string) any {
	one := s.objects[id]
	if one["object"] != "subscription" || one["status"] != "active" {
		return nil
	}
	one["status"] = "canceled"
	return maps.Clone(one)
}

func (s *Server) next(prefix string) string {
	s.number++
	return fmt.Sprintf("%s%06d", prefix, s.number)
}

// tell queues an event with the object as it is now.
func (s *Server) tell(kind string, about object) {
	s.events = append(s.events, object{
		"id": s.next("evt_"), "object": "event", "api_version": "2020-08-27", "type": kind, "livemode": false, "created": time.Now().Unix(), "data": object{"object": maps.Clone(about)},
	})
}

// Sign gives the header Stripe-Signature for a body.
func Sign(secret string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}
