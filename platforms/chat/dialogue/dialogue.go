// Package dialogue lets people in chats ask a language model that works with the tools, see package agent: what they say without
// a command becomes a question, what the model does is shown while it does it, and what costs or changes something waits on one
// card for their word. It decides nothing about what may run: that is done by runs, whatever a model or a text says.
package dialogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Asker answers questions; *agent.Agent is one.
type Asker interface {
	Ask(ctx context.Context, q agent.Question) (agent.Answer, error)
	Rewrite(ctx context.Context, q agent.Question, tool *registry.Tool, input registry.InputField) (agent.Answer, error)
}

// Conversations is where conversations are forgotten; *agent.Store is one.
type Conversations interface {
	ForgetConversation(ctx context.Context, accountID, conversation string) (bool, error)
}

// Config is what a Dialogue works with; Agent and Conversations are required.
type Config struct {
	Agent         Asker
	Conversations Conversations
	// Takes reports whether words after a tool's command are better asked of the model; nil: none are.
	Takes  func(tool *registry.Tool, words string) bool
	AtOnce int // questions of all people that are answered at once by this process; default 64
}

// Dialogue is the agent in all chats. It is safe for concurrent use.
type Dialogue struct {
	cfg   Config
	slots chan struct{}

	mu    sync.Mutex
	asked map[string]*question // those not over, by the update that asks
	last  map[string]*question // the last one asked in a conversation of an account, as long as it is not over
}

var _ turn.Agent = (*Dialogue)(nil)

// New makes a Dialogue.
func New(cfg Config) *Dialogue {
	if cfg.Takes == nil {
		cfg.Takes = func(*registry.Tool, string) bool { return false }
	}
	return &Dialogue{cfg: cfg, slots: make(chan struct{}, cmp.Or(cfg.AtOnce, 64)), asked: map[string]*question{}, last: map[string]*question{}}
}

// Answer takes what is said in a private chat, or to the bot in a group, as a question, unless the chat's admins have switched
// that off. It gives the first sign of life; the rest goes on beside the queue.
func (d *Dialogue) Answer(ctx context.Context, t *turn.Turn) (answered bool, err error) {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if !strings.ContainsFunc(t.In.Text, isWord) || !saidToBot(t) {
		return false, nil
	}
	if on, err := switchedOn(ctx, t); !on {
		return false, err
	}
	return true, d.take(ctx, t, nil)
}

// Command takes the words after a tool's command as a question where they are better asked.
func (d *Dialogue) Command(ctx context.Context, t *turn.Turn, tool *registry.Tool) (answered bool, err error) {
	if t.In.Text == "" {
		for _, value := range t.In.Options { // typed as an option: the tool's only words
			if text, ok := value.(string); ok && len(t.In.Options) == 1 {
				t.In.Text = text
			}
		}
	}
	if t.In.Text == "" || !d.cfg.Takes(tool, t.In.Text) {
		return false, nil
	}
	if on, err := switchedOn(ctx, t); !on {
		return false, err
	}
	return true, d.take(ctx, t, tool)
}

// saidToBot reports whether a message in a group names the bot or replies to it; in private all is said to it.
func saidToBot(t *turn.Turn) bool {
	return t.In.Chat.Kind == chat.ChatPrivate || t.In.Addressed || t.In.ReplyTo != nil && t.In.ReplyTo.Own
}

// switchedOn reports whether neither the chat's admins nor those of its space have switched the agent off.
func switchedOn(ctx context.Context, t *turn.Turn) (bool, error) {
	if t.In.Chat.Kind == chat.ChatPrivate {
		return true, nil
	}
	on, err := t.AgentIn(ctx, t.ChatPlace())
	if err != nil || !on || t.In.Chat.Space == "" {
		return on, err
	}
	return t.AgentIn(ctx, users.Place{Platform: t.In.Platform, Kind: users.PlaceSpace, ID: t.In.Chat.Space})
}

// mostOpen is how many questions of a person may be open: what models charge is the operator's bill.
const mostOpen = 4

// take answers with a status message at once and leaves the rest to what goes on.
func (d *Dialogue) take(ctx context.Context, t *turn.Turn, tool *registry.Tool) error {
	refused, err := t.Barred(ctx, &registry.Tool{})
	if err == nil && refused == nil && tool != nil {
		refused, err = t.Barred(ctx, tool)
	}
	if err != nil {
		return err
	}
	if refused != nil {
		_, err = t.Aside().Reply(ctx, refused)
		return err
	}
	if err := d.abandon(ctx, t); err != nil {
		return err
	}
	if len(d.of(t.Account.ID)) >= mostOpen {
		return t.Tell(ctx, "asked.full")
	}
	q := d.begin(t)
	s := newStatus(t, q)
	posted := s.message()
	ref, err := start.PostStatus(ctx, t, posted)
	if err == nil {
		err = t.Services.Store.Keyboards.Save(ctx, s.buttons)
	}
	if err != nil && !errors.Is(err, chat.ErrUncertain) { // what may be there is not edited; the answer is a message of its own
		d.end(q)
		return fmt.Errorf("show that a question is answered: %w", err)
	}
	s.ref, s.shown = ref, posted.Text.String()
	t.In.GoesOn = func(ctx context.Context) error {
		defer d.end(q)
		return d.ask(ctx, t, q, s, tool)
	}
	return nil
}

// abandon cancels what an earlier attempt at the same question, which a restart broke off, has left waiting for an approval: the
// question is asked anew.
func (d *Dialogue) abandon(ctx context.Context, t *turn.Turn) error {
	if t.In.Answer.IsZero() {
		return nil
	}
	waiting, err := t.Services.Runs.List(ctx, runs.Filter{AccountID: t.Account.ID, Status: runs.StatusAwaitingConfirmation, Platform: t.In.Platform, Limit: 200})
	if err != nil {
		return fmt.Errorf("find what an earlier attempt has left: %w", err)
	}
	for _, run := range waiting {
		where, err := store.TargetOf(run)
		if err != nil || where.Asked != t.In.IDs[0] {
			continue
		}
		if _, err := t.Services.Runs.Cancel(ctx, run.ID, t.Account.ID); err != nil {
			return fmt.Errorf("cancel what an earlier attempt has left: %w", err)
		}
	}
	return nil
}

// question is one that is being answered, or waits for the one before it in the same conversation.
type question struct {
	update, account, conversation string
	before                        <-chan struct{} // closed when the one before is over; nil: there is none
	over                          chan struct{}
	stopped                       chan struct{} // closed when the person has stopped it
	once                          sync.Once
}

func (q *question) stop() { q.once.Do(func() { close(q.stopped) }) }

// wasStopped reports whether the person has stopped it.
func (q *question) wasStopped() bool {
	select {
	case <-q.stopped:
		return true
	default:
		return false
	}
}

// begin puts a question behind those of the same person in the same conversation.
func (d *Dialogue) begin(t *turn.Turn) *question {
	q := &question{
		update: t.In.Platform + " " + t.In.IDs[0], account: t.Account.ID, conversation: conversation(t),
		over: make(chan struct{}), stopped: make(chan struct{}),
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	place := q.account + " " + q.conversation
	if before := d.last[place]; before != nil {
		q.before = before.over
	}
	d.asked[q.update], d.last[place] = q, q
	return q
}

func (d *Dialogue) end(q *question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.asked, q.update)
	if place := q.account + " " + q.conversation; d.last[place] == q {
		delete(d.last, place)
	}
	close(q.over)
}

// wait waits for the question before, and for one of the places there are for all.
func (d *Dialogue) wait(ctx context.Context, q *question) error {
	if q.before != nil {
		select {
		case <-q.before:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	select {
	case d.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stop ends a question, also where another process answers it.
func (d *Dialogue) Stop(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	d.mu.Lock()
	q := d.asked[t.In.Platform+" "+k.State.Prompt]
	d.mu.Unlock()
	if q != nil {
		q.stop()
	} else if _, err := t.Services.Store.Keyboards.Use(ctx, k.ID, stopAction, t.In.IDs[0]); err != nil {
		return err
	}
	return t.Note(ctx, "asked.stopping")
}

// endsWithin is how long it is waited for that what is being answered has ended, before it is forgotten.
const endsWithin = 10 * time.Second

// Forget ends what is answered for the person, whose end would be remembered, and forgets what was said in this chat.
func (d *Dialogue) Forget(ctx context.Context, t *turn.Turn) error {
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	for _, q := range d.of(t.Account.ID) {
		q.stop()
		select {
		case <-q.over:
		case <-ctx.Done():
			return fmt.Errorf("end a question: %w", context.Cause(ctx))
		}
	}
	_, err := d.cfg.Conversations.ForgetConversation(ctx, t.Account.ID, conversation(t))
	return err
}

// of gives the questions of an account.
func (d *Dialogue) of(accountID string) []*question {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*question
	for _, q := range d.asked {
		if q.account == accountID {
			list = append(list, q)
		}
	}
	return list
}

// conversation names what the questions of a person in a chat, or in a topic of one, belong to.
func conversation(t *turn.Turn) string { return ConversationIn(t.In.Platform, t.In.Chat.Place) }

// ConversationIn is what is said to a model in a place of a platform, as its conversations are named.
func ConversationIn(platform string, place chat.Place) string {
	return agent.InChats + start.ConversationIn(platform, place)
}
