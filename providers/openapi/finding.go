package openapi

import (
	"fmt"

	"github.com/signalbox/signalbox/registry"
)

// Finding is what a document's author or the operator should know about an operation.
type Finding struct {
	Document  string `json:"document"`
	Operation string `json:"operation,omitempty"` // operationId, or method and path; empty: the whole document
	Refused   bool   `json:"refused,omitempty"`   // there is no tool because of it
	Message   string `json:"message"`
}

// String gives one line.
func (f Finding) String() string {
	if f.Operation == "" {
		return fmt.Sprintf("%s: %s", f.Document, f.Message)
	}
	return fmt.Sprintf("%s: %s: %s", f.Document, f.Operation, f.Message)
}

// problem is a finding as loaders report it.
func (f Finding) problem(source string) registry.Problem {
	return registry.Problem{Source: source, ToolID: f.Operation, Message: f.Message}
}
