package comfytest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
)

// Always is for On: as long as the test lasts.
const Always = -1

// Action answers a call in place of the engine, which is behind next.
type Action func(w http.ResponseWriter, r *http.Request, next http.Handler)

type rule struct {
	route string
	left  int // negative: for ever
	do    Action
}

// On has the next calls to a route, such as "POST /prompt" or "GET /history/", answered by do, as often as times says. The
// latest rule counts first. The function given back takes the rule away.
func (s *Server) On(route string, times int, do Action) (clear func()) {
	r := &rule{route: route, left: times, do: do}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append([]*rule{r}, s.rules...)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		r.left = 0
	}
}

// Cut breaks the connection before the call is carried out.
func Cut(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// CutAfter carries the call out and breaks the connection instead of answering.
func CutAfter(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// CutMidAnswer breaks the connection after half of the answer.
func CutMidAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body := answerOf(r, next)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body[:len(body)/2])
	flush(w)
	panic(http.ErrAbortHandler)
}

// BrokenJSON gives half of the answer as if it were all.
func BrokenJSON(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body := answerOf(r, next)
	_, _ = w.Write(body[:len(body)/2])
}

// flush sends what was written; without it the client would see no answer at all and might ask again.
func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func answerOf(r *http.Request, next http.Handler) []byte {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	return rec.Body.Bytes()
}

// Answer gives a fixed answer; the call is not carried out.
func Answer(status int, body string) Action {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// Declare announces a body of that many bytes and breaks off after the first.
func Declare(size int64) Action {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		_, _ = w.Write([]byte{0})
		flush(w)
		panic(http.ErrAbortHandler)
	}
}

// Edit changes the body of the engine's answer.
func Edit(change func(body []byte) []byte) Action {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		w.WriteHeader(rec.Code)
		_, _ = w.Write(change(rec.Body.Bytes()))
	}
}

// Replace changes a text in the engine's answer wherever it occurs.
func Replace(old, new string) Action {
	return Edit(func(body []byte) []byte { return bytes.ReplaceAll(body, []byte(old), []byte(new)) })
}

// Hang never answers; it ends when the client gives up or the server ends.
func (s *Server) Hang(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	select {
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
	panic(http.ErrAbortHandler)
}
