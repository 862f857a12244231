// Package strategy reads what services say of runs, in callbacks and in answers about their state, by the webhookStrategy of a tool.
package strategy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Reader reads by the WebhookConfig of a tool.
type Reader struct{ registry.WebhookConfig }

// Reading is what a callback says by a tool's WebhookConfig.
type Reading struct {
	State   registry.RunState
	Unknown string // the service's own word, when it is neither success nor a known end
	// Result is the value at ResultPath, or the whole body where there is no path; set on success.
	Result any
	// Error is what the service says of a failure, Cost the units it names, ID its id of the run; each is
	// empty where the path is not set or leads nowhere.
	Error, ID string
	Cost      json.Number
	// Means is what a failure is by its FailureSign.
	Means registry.FailureMeaning
	// Fraction is how far the run is, 0 to 1; nil where nothing says it.
	Fraction *float64
	// Duration is the time from started to now; zero unless DurationTracking is set and the run is over.
	Duration time.Duration
}

// ends are the words by which services in the wild say that a run is over without success. Any other word
// than the success value means that it goes on: an unknown status must not end a run that is paid for.
var ends = map[string]registry.RunState{
	"failed": registry.RunFailed, "failure": registry.RunFailed, "fail": registry.RunFailed, "error": registry.RunFailed, "errored": registry.RunFailed, "rejected": registry.RunFailed, "expired": registry.RunFailed,
	"timeout": registry.RunFailed, "timed_out": registry.RunFailed, "timed-out": registry.RunFailed, "banned": registry.RunFailed, "aborted": registry.RunCanceled,
	"cancelled": registry.RunCanceled, "canceled": registry.RunCanceled,
}

// Read reads the body of a callback or a status answer about a run that was started at a time. Only the
// exact success value counts as success. A body without the status field, or one that is not JSON, is an
// *registry.Error with CodeProvider: it says nothing about the run. A success whose ResultPath leads nowhere is an
// *registry.Error with CodeBadOutput.
func (w Reader) Read(body []byte, started, now time.Time) (Reading, error) {
	doc, err := decodeAny(body)
	if err != nil {
		return Reading{}, registry.Say(registry.CodeProvider, said.BadCallback).Because(err)
	}
	return w.ReadValue(doc, started, now)
}

// ReadValue is Read for a body that is decoded already, with its numbers as json.Number.
func (w Reader) ReadValue(doc any, started, now time.Time) (Reading, error) {
	r, err := w.status(doc)
	if err != nil {
		return r, err
	}
	if r.Error == "" {
		r.Error = w.words(doc)
	}
	r.ID, r.Cost = textAt(doc, w.IDPath), json.Number(textAt(doc, w.CostPath))
	r.Fraction = w.fraction(doc)
	if w.DurationTracking && r.State.Terminal() {
		r.Duration = now.Sub(started)
	}
	if r.State != registry.RunSucceeded {
		return r, nil
	}
	r.Result, err = w.result(doc)
	return r, err
}

// status is what the answer's status means, and first of all whether something else tells that the run failed.
func (w Reader) status(doc any) (Reading, error) {
	if r, failed := w.Failed(doc); failed {
		return r, nil
	}
	found, ok := step(doc, w.ExpectedStatusField)
	if !ok {
		found, ok = Lookup(doc, strings.Split(w.ExpectedStatusField, "."))
	}
	switch {
	case ok:
		return w.state(scalarText(found)), nil
	case w.DefaultStatus != "":
		return w.state(w.DefaultStatus), nil
	}
	return Reading{}, registry.Say(registry.CodeProvider, said.BadCallbackField, "field", w.ExpectedStatusField)
}

// state is what a status means.
func (w Reader) state(status string) Reading {
	switch {
	case status == w.SuccessValue:
		return Reading{State: registry.RunSucceeded}
	case slices.Contains(w.FailureValues, status):
		return Reading{State: registry.RunFailed}
	case slices.Contains(w.PendingValues, status):
		return Reading{State: registry.RunQueued}
	}
	if end, over := ends[strings.ToLower(status)]; over {
		return Reading{State: end}
	}
	return Reading{State: registry.RunRunning, Unknown: status}
}

// decodeAny reads JSON; its numbers keep all their digits.
func decodeAny(body []byte) (doc any, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	err = dec.Decode(&doc)
	return doc, err
}

// Lookup goes a path through objects, by name, and lists, by number.
func Lookup(doc any, path []string) (any, bool) {
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
	found, ok := Lookup(doc, path)
	if !ok || len(path) == 0 {
		return ""
	}
	return scalarText(found)
}

// ResultOf reads a result out of an answer whatever its status, such as that of a second request for it.
func (w Reader) ResultOf(doc any) (any, error) { return w.result(doc) }

// result is what the first of the paths that lead somewhere leads to.
func (w Reader) result(doc any) (any, error) {
	found, err := along(doc, w.ResultPath, w.ResultPath)
	if err == nil && (len(w.ResultPath) > 0 || len(w.ResultPaths) == 0) {
		return found, nil
	}
	for _, path := range w.ResultPaths {
		if other, lost := along(doc, path, path); lost == nil {
			return other, nil
		}
	}
	if err == nil {
		_, err = along(doc, w.ResultPaths[0], w.ResultPaths[0])
	}
	return nil, err
}

// along follows the rest of a path of a result. Of a list ("*"), items that have nothing there are passed over: some
// services put errors or texts among them.
func along(doc any, rest, path []string) (any, error) {
	for i, name := range rest {
		if list, ok := doc.([]any); ok && name == each {
			return alongEach(list, rest[i+1:], path)
		}
		next, ok := step(doc, name)
		if !ok {
			return nil, registry.Say(registry.CodeBadOutput, said.BadOutputPath, "name", name, "n", len(path)-len(rest)+i+1, "path", strings.Join(path, "."))
		}
		doc = next
	}
	return doc, nil
}

func alongEach(list []any, rest, path []string) (any, error) {
	all := make([]any, 0, len(list))
	var lost error
	for _, item := range list {
		found, err := along(item, rest, path)
		if err != nil {
			lost = err
			continue
		}
		if several, ok := found.([]any); ok && slices.Contains(rest, each) {
			all = append(all, several...)
			continue
		}
		if !isEmpty(found) {
			all = append(all, found)
		}
	}
	if len(all) == 0 {
		if lost == nil {
			lost = registry.Say(registry.CodeBadOutput, said.BadOutputPath, "name", each, "n", len(path)-len(rest), "path", strings.Join(path, "."))
		}
		return nil, lost
	}
	return all, nil
}

// each is the step of a path that goes through all items of a list.
const each = "*"

func isEmpty(v any) bool { return v == nil || v == "" }

// Words are the service's own for what went wrong, in the body of an answer; "" where no path leads to any.
func (w Reader) Words(body []byte) string {
	doc, err := decodeAny(body)
	if err != nil {
		return ""
	}
	return w.words(doc)
}

func (w Reader) words(doc any) string {
	words := textAt(doc, w.ErrorPath)
	for _, path := range w.ErrorPaths {
		if words != "" {
			break
		}
		words = textAt(doc, path)
	}
	return words
}

// Failed tells whether one of Failures holds of an answer, and what it says then.
func (w Reader) Failed(doc any) (Reading, bool) {
	for _, sign := range w.Failures {
		if !holds(sign, doc, sign.Path) {
			continue
		}
		r := Reading{State: registry.RunFailed, Means: sign.Means, Error: textAt(doc, sign.Words)}
		if len(sign.Words) == 0 {
			r.Error = w.words(doc)
		}
		return r, true
	}
	return Reading{}, false
}

func holds(f registry.FailureSign, doc any, path []string) bool {
	for i, name := range path {
		if list, ok := doc.([]any); ok && name == each {
			return len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool { return !holds(f, item, path[i+1:]) })
		}
		next, ok := step(doc, name)
		if !ok {
			return false
		}
		doc = next
	}
	switch text := scalarText(doc); {
	case len(f.Is) > 0:
		return slices.Contains(f.Is, text)
	case len(f.Not) > 0:
		return doc != nil && !slices.Contains(f.Not, text)
	}
	if list, ok := doc.([]any); ok {
		return len(list) > 0
	}
	return !isEmpty(doc)
}

// fraction is how far the answer says that the run is.
func (w Reader) fraction(doc any) *float64 {
	at, err := strconv.ParseFloat(textAt(doc, w.ProgressPath), 64)
	if err != nil {
		return nil
	}
	if most, err := w.ProgressMax.Float64(); err == nil && most > 0 {
		at /= most
	}
	at = min(max(at, 0), 1)
	return &at
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
