package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/platforms/discord/discordtest/apitable"
)

// The error codes that this server answers with.
const (
	codeUnknownApplication = 10002
	codeUnknownChannel     = 10003
	codeUnknownGuild       = 10004
	codeUnknownMessage     = 10008
	codeUnknownUser        = 10013
	codeUnknownWebhook     = 10015
	codeUnknownSKU         = 10027
	codeUnknownEntitlement = 10029
	codeUnknownInteraction = 10062
	codeUnknownCommand     = 10063
	codeTooManyCommands    = 30032
	codeTooManyCreates     = 30034
	codeOldEdits           = 30046
	codeTooLarge           = 40005
	codeNotConsumable      = 40018
	codeAcknowledged       = 40060
	codeFollowups          = 40094
	codeCloudflare         = 40333
	codeNoAccess           = 50001
	codeForeignAuthor      = 50005
	codeEmptyMessage       = 50006
	codeNoDM               = 50007
	codeMissingPermissions = 50013
	codeInvalidToken       = 50027
	codeInvalidForm        = 50035
	codeNoMutualGuilds     = 50278
	codeArchivedThread     = 50083
	codeThreadLocked       = 160005
)

// apiError is a refusal as the REST API words it.
type apiError struct {
	status, code int
	message      string
	faults       []apitable.Fault
	retryAfter   float64
	global       bool
	scope        string
}

func refuse(status, code int, message string) *apiError {
	return &apiError{status: status, code: code, message: message}
}

func unknown(code int, what string) *apiError {
	return refuse(http.StatusNotFound, code, "Unknown "+what)
}

// invalid makes the refusal of a form with one fault.
func invalid(path, code, format string, args ...any) *apiError {
	f := apitable.Fault{Code: code, Text: fmt.Sprintf(format, args...)}
	if path != "" {
		f.Path = strings.Split(path, "/")
	}
	return invalidForm([]apitable.Fault{f})
}

func invalidForm(faults []apitable.Fault) *apiError {
	return &apiError{status: http.StatusBadRequest, code: codeInvalidForm, message: "Invalid Form Body", faults: faults}
}

// String shows the refusal in one line.
func (e *apiError) String() string {
	parts := []string{fmt.Sprintf("%d %d %s", e.status, e.code, e.message)}
	for _, f := range e.faults {
		parts = append(parts, fmt.Sprintf("%s: %s (%s)", strings.Join(f.Path, "."), f.Text, f.Code))
	}
	return strings.Join(parts, "; ")
}

func (e *apiError) body() map[string]any {
	body := map[string]any{"message": e.message, "code": e.code}
	if len(e.faults) > 0 {
		body["errors"] = faultTree(e.faults)
	}
	if e.status == http.StatusTooManyRequests {
		body = map[string]any{"message": e.message, "retry_after": e.retryAfter, "global": e.global}
	}
	return body
}

// faultTree nests the faults by their paths, with the list "_errors" at each end.
func faultTree(faults []apitable.Fault) map[string]any {
	root := map[string]any{}
	for _, f := range faults {
		at := root
		for _, step := range f.Path {
			next, ok := at[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
		list, _ := at["_errors"].([]any)
		at["_errors"] = append(list, map[string]any{"code": f.Code, "message": f.Text})
	}
	return root
}

func writeError(w http.ResponseWriter, e *apiError) {
	writeJSON(w, e.status, e.body())
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
