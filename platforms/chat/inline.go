package chat

import (
	"context"

	"github.com/signalbox/signalbox/users"
)

// Inliner answers what people type after the bot's name in any chat, before anything is sent there; the Router is one.
type Inliner interface {
	// Inline offers messages that the person can send. What it offers is for this person only, and costs nothing as such.
	Inline(ctx context.Context, platform string, q InlineQuery) (InlineAnswer, error)
}

// InlineQuery is what somebody types after the bot's name.
type InlineQuery struct {
	From users.Identity
	// Private is the id of the person's own chat with the bot.
	Private string
	Words   string
	Offset  string // InlineAnswer.Next of the answer before; empty: from the start
	Limit   int    // the most offers that the platform takes
}

// InlineAnswer is what can be sent.
type InlineAnswer struct {
	Offers []InlineOffer
	Next   string // where the next answer goes on, at most 64 bytes; empty: there is no more
	// Start is the label of the button that leads to the person's own chat with the bot, and Parameter what /start gets.
	Start, Parameter string
}

// InlineOffer is a message that the person can choose. Its Message has a text, or one file; files that the platform has not
// got yet are offered by their URL where it takes that, and else left out.
type InlineOffer struct {
	ID          string // at most 64 bytes, unique in its answer
	Title       string
	Description string
	URL         string // public address of the file; empty: none
	Message     Message
}

// Inline is where a message of inline mode stands. Such a chat has this one message: sending there replaces what it shows.
type Inline struct {
	// Private is the id of its sender's own chat with the bot, for what is meant for them alone.
	Private string `json:"private"`
	// Stands is the chat that it stands in, where the bot was told: the rules of that chat hold. Empty: unknown.
	Stands string `json:"stands,omitempty"`
}

// Rules is the id of the chat whose rules hold.
func (c Chat) Rules() string {
	if c.Inline != nil && c.Inline.Stands != "" {
		return c.Inline.Stands
	}
	return c.Chat
}
