package door

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Limits of what one request may bring.
const (
	MaxBody       = 64 << 20 // all files of a request together
	MaxText       = 1 << 20  // of a request without files
	MaxFormMemory = 8 << 20  // beyond it a form's files are kept on disk
)

// ReadJSON reads a small JSON object into v; an empty body leaves v as it is. Errors are for the sender: a member that nobody knows is one, since
// a restriction that is misspelled would be none.
func ReadJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if r.ContentLength == 0 {
		return nil
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxText))
	if err == nil {
		err = DecodeStrictly(data, v)
	}
	if err != nil {
		e := registry.Errorf(registry.CodeInvalidInput, "the body is not the JSON object that this takes: %s", JSONFault(err))
		e.Cause = err
		return e
	}
	return nil
}

// ReadLike reads a small JSON value that must be there into v, strictly. Errors are for the sender, and show the example.
func ReadLike(w http.ResponseWriter, r *http.Request, v any, example string) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxText))
	if err != nil {
		return TooLargeOr(err, "the body can't be read")
	}
	if err := DecodeStrictly(data, v); err != nil {
		return registry.Errorf(registry.CodeInvalidInput, "expected JSON such as %s: %s", example, JSONFault(err))
	}
	return nil
}

// DecodeStrictly takes one JSON value with known members only, each once, and nothing after it. Numbers stay exact.
func DecodeStrictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is something after it")
	}
	dec = json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return refuseRepeated(dec, reflect.TypeOf(into).Elem().Kind() == reflect.Struct)
}

// refuseRepeated reads one JSON value and fails at a key that an object has twice: one of the two values would silently be lost,
// and a run be made and charged with the other, or a key be made without its limit. The members of a struct are known in any case of their letters.
func refuseRepeated(dec *json.Decoder, anyCase bool) error {
	opening, err := dec.Token()
	if err != nil || opening != json.Delim('{') && opening != json.Delim('[') {
		return err
	}
	seen := map[string]bool{}
	for dec.More() {
		if opening == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			name := fmt.Sprint(key)
			if anyCase {
				name = strings.ToLower(strings.ToUpper(name))
			}
			if seen[name] {
				return fmt.Errorf("the key %q appears twice", key)
			}
			seen[name] = true
		}
		if err := refuseRepeated(dec, false); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
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
