package turn

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/users"
)

// Turn is one update being handled.
type Turn struct {
	Services *Services
	Out      *show.Platform    // the platform it came from
	Say      show.Voice        // the language of who sent it
	Written  *catalog.Snapshot // the tools there are, the same from its beginning to its end
	Tools    *catalog.Snapshot // they as who sent it reads and calls them
	In       *Update
	Account  users.Account // who sent it
	site     *SiteHere     // that was looked up
	aside    bool          // answers are for the person only, where the platform can do that
}

// Speak answers in a language, with the tools as they are called in it.
func (t *Turn) Speak(language string) {
	t.Say = t.Services.Deliverer.Voice(language)
	t.Tools = t.Written.In(t.Say.Language()).For(t.Account.ID)
}

// Aside is the turn with answers for the person only, where the platform can do that. What does not fit into a message of
// inline mode goes to the person's own chat with the bot.
func (t *Turn) Aside() *Turn {
	aside := *t
	aside.aside = true
	if inline := t.In.Chat.Inline; inline != nil {
		in := *t.In
		in.Chat = chat.Chat{Place: chat.Place{Chat: inline.Private}, Kind: chat.ChatPrivate}
		aside.In = &in
	}
	return &aside
}

// Openly is the turn with answers for all in the chat.
func (t *Turn) Openly() *Turn {
	openly := *t
	openly.aside = false
	return &openly
}

// Outcome is the result of handling a message.
type Outcome int

// The outcomes.
const (
	Nothing  Outcome = iota // neither a run nor a question: an edit may correct the message
	Began                   // a run, or a question about one
	Answered                // it was an answer, or not meant for the bot
)

// Language is the language this person is answered in.
func (t *Turn) Language() string {
	if t.Account.Language != "" {
		return t.Account.Language
	}
	return t.In.From.Language
}

// Keyboard makes the buttons' common state for a new message to this person.
func (t *Turn) Keyboard(state store.KeyboardState) store.Keyboard {
	state.Anonymous = t.In.Anonymous
	return store.Keyboard{ID: store.NewID(), Platform: t.In.Platform, AccountID: t.Account.ID, State: state}
}

// Audience says which tools this person gets to see.
func (t *Turn) Audience() registry.Audience {
	if t.Account.Operator {
		return registry.Insiders
	}
	return registry.Everyone
}

// Working shows that the bot is at work, without making anybody wait for it.
func (t *Turn) Working(ctx context.Context, what chat.Activity) {
	t.Services.Go(func() {
		if err := t.Out.Working(ctx, t.In.Chat.Place, what); err != nil {
			t.Services.Log.DebugContext(ctx, "no sign of work", "error", err)
		}
	})
}

// Overheard reports whether a message in a group was not said to the bot: it then neither answers nor takes
// note of who spoke.
func (t *Turn) Overheard() bool {
	if t.In.Kind != chat.KindMessage || t.In.Chat.Kind == chat.ChatPrivate || t.In.Addressed {
		return false
	}
	if t.In.Command == "" {
		return t.In.ReplyTo == nil || !t.In.ReplyTo.Own
	}
	if _, ours := t.Services.Commands.Find(t.In.Command); ours {
		return false
	}
	return !t.Tools.HasCommand(t.In.Command) // whose it is shows once the sender is known
}

// IsForTool tells whether a message starts a tool. The bot's own commands are answered as quickly as a sign.
func (t *Turn) IsForTool() bool {
	if t.In.Kind != chat.KindMessage || t.In.Command == "" {
		return false
	}
	return t.Tools.HasCommand(t.In.Command) || strings.EqualFold(t.In.Command, "run")
}
