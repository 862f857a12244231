package registry

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
)

// Reading is what a callback says by a tool's WebhookConfig.
type Reading struct {
	State   RunState
	Unknown string // the service's own word, when it is neither success nor a known end
	// Result is the value at ResultPath, or the whole body where there is no path; set on success.
	Result any
	// Error is what the service says of a failure, Cost the units it names, ID its id of the run; each is
	// empty where the path is not set or leads nowhere.
	Error, ID string
	Cost      json.Number
	// Duration is the time from started to now; zero unless DurationTracking is set and the run is over.
	Duration time.Duration
}

// ends are the words by which services in the wild say that a run is over without success. Any other word
// than the success value means that it goes on: an unknown status must not end a run that is paid for.
var ends = map[string]RunState{
	"failed": RunFailed, "failure": RunFailed, "fail": RunFailed, "error": RunFailed, "errored": RunFailed, "rejected": RunFailed, "expired": RunFailed,
	"timeout": RunFailed, "timed_out": RunFailed, "timed-out": RunFailed, "banned": RunFailed, "aborted": RunCanceled,
	"cancelled": RunCanceled, "canceled": RunCanceled,
}

// Read reads the body of a callback or a status answer about a run that was started at a time. Only the
// exact success value counts as success. A body without the status field, or one that is not JSON, is an
// *Error with CodeProvider: it says nothing about the run. A success whose ResultPath leads nowhere is an
// *Error with CodeBadOutput.
func (w WebhookConfig) Read(body []byte, started, now time.Time) (Reading, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		e := Say(CodeProvider, said.BadCallback)
		e.Cause = err
		return Reading{}, e
	}
	found, ok := step(doc, w.ExpectedStatusField)
	if !ok {
		found, ok = follow(doc, strings.Split(w.ExpectedStatusField, "."))
	}
	if !ok {
		return Reading{}, Say(CodeProvider, said.BadCallbackField, "field", w.ExpectedStatusField)
	}
	status := scalarText(found)
	r := w.state(status)
	r.Error, r.ID, r.Cost = textAt(doc, w.ErrorPath), textAt(doc, w.IDPath), json.Number(textAt(doc, w.CostPath))
	if w.DurationTracking && r.State.Terminal() {
		r.Duration = now.Sub(started)
	}
	if r.State != RunSucceeded {
		return r, nil
	}
	var err error
	r.Result, err = w.result(doc)
	return r, err
}

// state is what a status means.
func (w WebhookConfig) state(status string) Reading {
	switch {
	case status == w.SuccessValue:
		return Reading{State: RunSucceeded}
	case slices.Contains(w.FailureValues, status):
		return Reading{State: RunFailed}
	case slices.Contains(w.PendingValues, status):
		return Reading{State: RunQueued}
	}
	if end, over := ends[strings.ToLower(status)]; over {
		return Reading{State: end}
	}
	return Reading{State: RunRunning, Unknown: status}
}

// follow goes a path through objects and lists.
func follow(doc any, path []string) (any, bool) {
	for _, name := range path {
		next, ok := step(doc, name)
		if !ok {
			return nil, false
		}
		doc = next
	}
	return doc, true
}

// textAt is the text or number that a path leads to, or "".
func textAt(doc any, path []string) string {
	found, ok := follow(doc, path)
	if !ok || len(path) == 0 {
		return ""
	}
	return scalarText(found)
}

// result follows ResultPath through objects and, by number, through lists.
func (w WebhookConfig) result(doc any) (any, error) {
	for i, name := range w.ResultPath {
		if list, ok := doc.([]any); ok && name == each {
			rest := w
			rest.ResultPath = w.ResultPath[i+1:]
			all := make([]any, len(list))
			for n, item := range list {
				var err error
				if all[n], err = rest.result(item); err != nil {
					return nil, err
				}
			}
			return all, nil
		}
		next, ok := step(doc, name)
		if !ok {
			return nil, Say(CodeBadOutput, said.BadOutputPath, "name", name, "n", i+1, "path", strings.Join(w.ResultPath, "."))
		}
		doc = next
	}
	return doc, nil
}

// each is the step of a ResultPath that goes through all items of a list.
const each = "*"

// Words are the service's own for what went wrong, in the body of an answer; "" where ErrorPath leads to none.
func (w WebhookConfig) Words(body []byte) string {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return ""
	}
	return textAt(doc, w.ErrorPath)
}

func step(doc any, name string) (any, bool) {
	switch d := doc.(type) {
	case map[string]any:
		v, ok := d[name]
		return v, ok
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(d) {
			return nil, false
		}
		return d[i], true
	}
	return nil, false
}

// scalarText is a status as text: services use words, numbers and booleans.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
