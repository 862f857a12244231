package door

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Limits of what one request may bring.
const (
	MaxBody       = 64 << 20 // all files of a request together
	MaxText       = 1 << 20  // of a request without files
	MaxFormMemory = 8 << 20  // beyond it a form's files are kept on disk
)

// ReadJSON reads a small JSON object into v; an empty body leaves v as it is. Errors are for the sender.
func ReadJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if r.ContentLength == 0 {
		return nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxText)
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		e := registry.Errorf(registry.CodeInvalidInput, "the body is not the JSON object that this takes: %s", JSONFault(err))
		e.Cause = err
		return e
	}
	return nil
}

// WriteJSON answers with a JSON value that nobody keeps.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// JSONFault keeps of a decoder's error what tells where the fault is, never the body.
func JSONFault(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("a syntax error at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("%s is of the wrong type (%s)", cmp.Or(kind.Field, "the whole"), kind.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// TooLargeOr tells the sender that a body is larger than its limit; of other errors it keeps a typed one, and says otherwise of
// the rest.
func TooLargeOr(err error, otherwise string) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return registry.Errorf(registry.CodeInvalidInput, "the request is larger than %d MiB", large.Limit>>20)
	}
	var said *registry.Error
	if errors.As(err, &said) {
		return said
	}
	e := registry.Errorf(registry.CodeInvalidInput, "%s", otherwise)
	e.Cause = err
	return e
}
