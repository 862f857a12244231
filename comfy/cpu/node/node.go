// Package node is the contract between the CPU engine and the nodes it runs: how a node class is declared, what
// its run function receives and what it gives back. The engine validates prompts against the declaration, renders
// it as /object_info, and calls Run with inputs that already have the declared types.
//
// Values that travel along links are plain Go values:
//
//	IMAGE    *tensor.Image   float32 [B,H,W,C] in [0,1]
//	MASK     *tensor.Mask    float32 [B,H,W] in [0,1]
//	AUDIO    *Audio
//	STRING   string
//	INT      int64, or *big.Int beyond its range (a seed goes up to 2^64-1)
//	FLOAT    float64
//	BOOLEAN  bool
//	COMBO    string
//
// Anything else is private to the nodes that exchange it. A value must never be changed after it was returned:
// results are cached between prompts and shared by all readers.
package node

import (
	"context"
	"fmt"
)

// Node is one class: its declaration, its function, and the hooks it needs.
type Node struct {
	Spec Spec

	// Run does the work. It must stop soon after ctx is cancelled and must not keep c. An error ends the prompt with
	// an execution_error; an *Exception chooses the exception_type shown there, any other error is a RuntimeError.
	Run func(ctx context.Context, c *Call) (*Result, error)

	// Validate, if set, is asked about the inputs named in Checks, which are constant texts, before the prompt is
	// accepted; the error's text goes into a custom_validation_failed. Those inputs are not compared with their own
	// list of options or range, with or without Validate.
	Validate func(c *Call) error
	Checks   []string

	// Fingerprint, if set, tells apart runs with equal inputs: another text than last time means the cached result is
	// stale (a file was replaced, a result is random). Linked inputs are absent.
	Fingerprint func(c *Call) (string, error)

	// Lazy, if set, names the inputs marked lazy that are needed, judging by those already there. Lazy inputs not yet
	// computed are absent. It is asked again after the named ones were computed.
	Lazy func(c *Call) []string
}

// Result is what a run gives back.
type Result struct {
	// Outputs holds one value per declared output, in order. Where the output is declared as a list, the value must
	// be a []any, whose elements flow through the following nodes one by one.
	Outputs []any
	// UI is shown to clients and kept in the history, by key ("images", "text", "audio", ...). Nil: nothing to show.
	UI map[string][]any
}

// Out is a result of values only.
func Out(values ...any) *Result { return &Result{Outputs: values} }

// Show is a result with one UI entry and, optionally, output values.
func Show(key string, items []any, values ...any) *Result {
	return &Result{Outputs: values, UI: map[string][]any{key: items}}
}

// Exception is an error a node raises on purpose, shown to the client under the type name that a real server gives it.
type Exception struct {
	Type    string // "ValueError", "re.error", ...
	Message string
}

// Error is the message alone; the type travels in exception_type.
func (e *Exception) Error() string { return e.Message }

// ValueError is the exception most nodes raise for input they refuse.
func ValueError(format string, args ...any) error {
	return &Exception{Type: "ValueError", Message: fmt.Sprintf(format, args...)}
}

// Raise is an exception of a named type.
func Raise(kind, format string, args ...any) error {
	return &Exception{Type: kind, Message: fmt.Sprintf(format, args...)}
}

// Audio is a sound: Wave[batch][channel][sample], each row of equal length, nominally in [-1,1].
type Audio struct {
	Rate int // samples a second
	Wave [][][]float32
}

// Channels counts the channels of the first batch entry.
func (a *Audio) Channels() int {
	if len(a.Wave) == 0 {
		return 0
	}
	return len(a.Wave[0])
}

// Samples is the length in samples of one channel.
func (a *Audio) Samples() int {
	if a.Channels() == 0 {
		return 0
	}
	return len(a.Wave[0][0])
}
