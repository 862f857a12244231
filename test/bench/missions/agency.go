package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// document describes the agency: three things to book, each with what takes it back.
func document(address string) string {
	text := "openapi: 3.1.0\ninfo: {title: Agency, version: '1'}\nservers: [{url: 'http://" + address + "'}]\npaths:\n"
	for _, what := range kinds {
		text += fmt.Sprintf(`  /%[1]s:
    post:
      operationId: %[1]s_book
      summary: Book a %[1]s
      x-orchet-tool: true
      x-orchet-requires-confirmation: structured-booking
      x-orchet-cancels: %[1]s_cancel
      x-orchet-reversibility: compensating
      x-orchet-compensating-inputs-template: {booking_id: "{{outputs.booking.id}}"}
      parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {where: {type: string, description: Where to}}}}}}
      responses: {"200": {description: The booking}}
  /%[1]s/cancel:
    post:
      operationId: %[1]s_cancel
      summary: Cancel a %[1]s
      x-orchet-tool: true
      x-orchet-requires-confirmation: false
      x-orchet-cancel-for: %[1]s_book
      x-orchet-compensation-kind: perfect
      parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, required: [booking_id], properties: {booking_id: {type: string, description: The booking}}}}}}
      responses: {"200": {description: Done}}
`, what)
	}
	return text
}

var kinds = []string{"flight", "hotel", "car"}

// agency makes bookings and takes them back over HTTP. What comes with a key that it knows counts once; a car is never to be had, and a
// third of all cancellations fails for the moment.
type agency struct {
	net.Listener

	mu       sync.Mutex
	byKey    map[string]string // answers
	canceled map[string]int    // effective cancellations, by booking
	stumbled map[string]int    // cancellations that failed, by booking
	early    int               // cancellations of what was never booked
}

func startAgency() (*agency, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &agency{Listener: listener, byKey: map[string]string{}, canceled: map[string]int{}, stumbled: map[string]int{}}
	mux := http.NewServeMux()
	for _, what := range kinds {
		mux.HandleFunc("POST /"+what, func(w http.ResponseWriter, r *http.Request) { a.book(w, r, what) })
		mux.HandleFunc("POST /"+what+"/cancel", a.cancel)
	}
	go func() { _ = http.Serve(listener, mux) }() // it ends with the program
	return a, nil
}

// slow is how long the agency takes for anything, so that a kill finds it at work.
const slow = 150 * time.Millisecond

func (a *agency) book(w http.ResponseWriter, r *http.Request, what string) {
	time.Sleep(rand.N(slow))
	a.mu.Lock()
	key := r.Header.Get("Idempotency-Key")
	answer := a.byKey[key]
	switch {
	case what == "car":
		a.mu.Unlock()
		http.Error(w, `{"message":"no car is left"}`, http.StatusConflict)
		return
	case answer == "":
		id := fmt.Sprintf("%s-%d", what, len(a.canceled)+1)
		a.canceled[id] = 0
		answer = fmt.Sprintf(`{"booking":{"id":%q}}`, id)
		a.byKey[key] = answer
	}
	a.mu.Unlock()
	time.Sleep(rand.N(slow)) // carried out, and not yet told
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}

func (a *agency) cancel(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ID string `json:"booking_id"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || a.stumbles(body.ID) {
		http.Error(w, "come back later", http.StatusServiceUnavailable)
		return
	}
	time.Sleep(rand.N(slow))
	status := a.take(body.ID, r.Header.Get("Idempotency-Key"))
	time.Sleep(rand.N(slow))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, `{"status":"canceled"}`)
}

// stumbles reports whether the agency can't cancel a booking for the moment: at most twice, since the third attempt is the last.
func (a *agency) stumbles(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if rand.N(3) > 0 || a.stumbled[id] == 2 {
		return false
	}
	a.stumbled[id]++
	return true
}

// take cancels a booking, and gives the status to answer with.
func (a *agency) take(id, key string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	times, booked := a.canceled[id]
	switch {
	case !booked:
		a.early++
		return http.StatusNotFound
	case a.byKey[key] != "":
		return http.StatusOK
	case times > 0:
		return http.StatusConflict
	}
	a.canceled[id]++
	a.byKey[key] = "canceled"
	return http.StatusOK
}

// left counts the bookings, and those that were not taken back exactly once.
func (a *agency) left() (bookings, wrong int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, times := range a.canceled {
		if times != 1 {
			wrong++
		}
	}
	return len(a.canceled), wrong + a.early
}
