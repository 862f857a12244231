// Package reply reads requests and writes answers as the real server does: its texts, statuses and way of writing JSON.
package reply

import (
	"errors"
	"io"
	"net/http"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// Plain answers with a text.
func Plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// Trouble is the answer to everything the real server does not expect.
func Trouble(w http.ResponseWriter) {
	Plain(w, http.StatusInternalServerError, "500 Internal Server Error\n\nServer got itself in trouble")
}

// Empty answers with a status and nothing else.
func Empty(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(status)
}

// JSON answers with a Python value as the real server writes it.
func JSON(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, err := io.WriteString(w, pyval.Dumps(v))
	if err != nil {
		return nil // the client is gone
	}
	return nil
}

// Body reads and parses a JSON body.
func Body(r *http.Request) (any, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return pyval.Parse(text)
}

// DictBody reads a body that must be a JSON object.
func DictBody(r *http.Request) (*pyval.Dict, error) {
	return Dict(r.Body)
}

// Dict reads and parses a JSON object.
func Dict(r io.Reader) (*pyval.Dict, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	v, err := pyval.Parse(text)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*pyval.Dict)
	if !ok {
		return nil, errors.New("the body is not a JSON object")
	}
	return d, nil
}

// NotFound answers that there is nothing.
func NotFound(w http.ResponseWriter, _ *http.Request) error {
	Empty(w, http.StatusNotFound)
	return nil
}

// EmptyList answers with a list of nothing.
func EmptyList(w http.ResponseWriter, _ *http.Request) error {
	return JSON(w, http.StatusOK, []any{})
}
