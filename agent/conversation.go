package agent

import (
	"context"
	"encoding/json"
)

// Model is a language model behind some service.
type Model interface {
	// Answer gives the model's next turn. An error is a *registry.Error or that of ctx.
	Answer(ctx context.Context, c Conversation) (Turn, error)
}

// Conversation is all that a model is told.
type Conversation struct {
	System string // what holds for the whole conversation
	Tools  []Tool
	Turns  []Turn
}

// Tool is a tool as models see it.
type Tool struct {
	Name        string // the registry's id, which a service may know by another name, see Names
	Description string
	Input       json.RawMessage // JSON Schema of an object
}

// Speaker says whose turn it is.
type Speaker string

// The speakers.
const (
	Person Speaker = "person"
	Asked  Speaker = "model"
	Tools  Speaker = "tools"
)

// Turn is what one side says. Of a person's turn Text is set, of the model's Text, Calls and Native, of the tools' Results:
// one for each call of the turn before, in their order.
type Turn struct {
	By      Speaker
	Text    string
	Calls   []Call
	Results []Result
	// Native is the turn as the model's service wrote it, where the service wants it back unchanged. It is for the adapter
	// that made it.
	Native json.RawMessage
}

// Call is what a model asks a tool to do.
type Call struct {
	ID        string // the service's, unique in the conversation
	Tool      string // the registry's id, or the name as it came where there is no such tool
	Arguments string // JSON as the model wrote it, which may be none
}

// Result is what came of a call: data for the model, not instructions.
type Result struct {
	CallID string
	Text   string // JSON: {"ok":true,"data":...} or {"ok":false,"error":...}
	Failed bool
}
