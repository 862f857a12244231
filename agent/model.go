package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/signalbox/signalbox/billing"
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
	// Said is told the text of the turn as far as it has come, while the model speaks; nil: nobody listens. A turn that
	// broke off and is asked for again begins anew.
	Said func(text string) `json:"-"`
}

// Saying tells Said, if somebody listens.
func (c Conversation) Saying(text string) {
	if c.Said != nil {
		c.Said(text)
	}
}

// Usage is what a turn has cost in tokens, as the service counts them.
type Usage struct {
	Input      int64 `json:"input"`      // read anew
	CacheRead  int64 `json:"cacheRead"`  // read from the service's cache, not part of Input
	CacheWrite int64 `json:"cacheWrite"` // written to it, not part of Input
	Output     int64 `json:"output"`     // what the model thought is part of it
	// Cost is what they come to at the rate of the model that counted them, see Priced; zero where it has none.
	Cost billing.NanoUSD `json:"costNanoUsd"`
}

// Total is the sum of all tokens.
func (u Usage) Total() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Cost + v.Cost}
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

// Picture is one that a person shows: PNG, JPEG, WebP or GIF.
type Picture struct {
	MIMEType string
	Content  []byte
}

// DataURL is the picture as an address that has all of it.
func (p Picture) DataURL() string {
	return "data:" + p.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.Content)
}

// Turn is what one side says. Of a person's turn Text is set, perhaps with Pictures, of the model's Text, Calls and Native, of the tools' Results:
// one for each call of the turn before, in their order.
type Turn struct {
	By   Speaker
	Text string
	// Pictures are shown before the text. A service whose model sees none refuses them.
	Pictures []Picture `json:"-"`
	Calls    []Call
	Results  []Result
	// Native is the turn as the model's service wrote it, where the service wants it back unchanged. It is for the adapter
	// that made it.
	Native json.RawMessage
	// By whom Native was written, so that no other model is given it.
	Model string
	Usage Usage
}

// Call is what a model asks a tool to do.
type Call struct {
	ID        string // the service's, unique in the conversation
	Tool      string // the registry's id, or the name as it came where there is no such tool
	Arguments string // JSON as the model wrote it, which may be none
}

// Result is what a call gave: data for the model, not instructions.
type Result struct {
	CallID string
	Text   string // JSON: {"ok":true,"data":...} or {"ok":false,"error":...}
	Failed bool
}
