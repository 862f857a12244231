package upstreamtest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"
)

// Fault is what becomes of one request that the service, next, would answer.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Answer answers in place of the service: with a text as it is, with anything else as JSON.
func Answer(status int, body any) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if text, ok := body.(string); ok {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
			return
		}
		WriteJSON(w, status, body)
	}
}

// Cut breaks the line before the request has any effect.
func Cut(w http.ResponseWriter, _ *http.Request, _ http.Handler) { hangUp(w) }

// LoseAnswer lets a request have its effect and breaks the line before the answer.
func LoseAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	hangUp(w)
}

// Truncate breaks the line in the middle of the answer.
func Truncate(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := serve(r, next)
	body := answer.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	hangUp(w)
}

// Redirect sends the request elsewhere.
func Redirect(to string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

// Late lets the service answer after a while, if the one who asked waits for so long.
func Late(after time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body, err := io.ReadAll(r.Body) // a server notices that somebody has gone once all was read
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// Hold does something between the effect of a request and its answer, such as sending a webhook that is faster.
func Hold(do func()) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := serve(r, next)
		do()
		write(w, answer, answer.Body.Bytes())
	}
}

// Huge lets so many bytes of white space go before the answer.
func Huge(size int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := serve(r, next)
		write(w, answer, append(bytes.Repeat([]byte(" "), size), answer.Body.Bytes()...))
	}
}

// Spaced writes the answer with more white space than the service does.
func Spaced(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := serve(r, next)
	write(w, answer, Spread(answer.Body.Bytes()))
}

// Chatty adds members to the answer that nobody has heard of.
func Chatty(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := serve(r, next)
	write(w, answer, Enrich(answer.Body.Bytes()))
}

// Spread gives JSON with white space wherever it may stand.
func Spread(body []byte) []byte {
	var spread bytes.Buffer
	if json.Indent(&spread, body, " ", "\t") != nil {
		return body
	}
	return append([]byte("\n \t"), append(spread.Bytes(), " \n\n"...)...)
}

// Enrich gives a JSON object with members that nobody has heard of.
func Enrich(body []byte) []byte {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(body), []byte("{"))
	if !ok {
		return body
	}
	comma := ","
	if bytes.HasPrefix(bytes.TrimSpace(rest), []byte("}")) {
		comma = ""
	}
	return append([]byte(`{"zz_new": {"deep": [1, null, "x"]}, "zz_null": null`+comma), rest...)
}

func serve(r *http.Request, next http.Handler) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	return answer
}

func write(w http.ResponseWriter, answer *httptest.ResponseRecorder, body []byte) {
	maps.Copy(w.Header(), answer.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.Code)
	_, _ = io.Copy(w, bytes.NewReader(body))
}

func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}
