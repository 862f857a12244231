package telegramtest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"
	"unicode"
)

// apiError is a refusal as the Bot API words it.
type apiError struct {
	code        int
	description string
	retryAfter  int
	migrateTo   int64
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.code, e.description) }

// badRequest makes a 400 with the server's rule for the first letter: it is lowered unless the text is
// a code in capitals.
func badRequest(format string, args ...any) *apiError {
	return &apiError{code: 400, description: "Bad Request: " + lowerFirst(fmt.Sprintf(format, args...))}
}

func forbidden(text string) *apiError {
	return &apiError{code: 403, description: "Forbidden: " + text}
}

func conflict(text string) *apiError {
	return &apiError{code: 409, description: "Conflict: " + text}
}

// tooMany makes a 429 for the time left until end.
func tooMany(left time.Duration) *apiError {
	seconds := max(1, int(math.Ceil(left.Seconds())))
	return &apiError{code: 429, description: fmt.Sprintf("Too Many Requests: retry after %d", seconds), retryAfter: seconds}
}

func lowerFirst(s string) string {
	r := []rune(s)
	if len(r) == 0 || len(r) > 1 && (unicode.IsUpper(r[1]) || r[1] == '_') {
		return s
	}
	r[0] = unicode.ToLower(r[0])
	return string(r)
}

func writeError(w http.ResponseWriter, e *apiError) {
	body := map[string]any{"ok": false, "error_code": e.code, "description": e.description}
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(e.retryAfter))
		body["parameters"] = map[string]any{"retry_after": e.retryAfter}
	}
	if e.migrateTo != 0 {
		body["parameters"] = map[string]any{"migrate_to_chat_id": e.migrateTo}
	}
	writeJSON(w, e.code, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
