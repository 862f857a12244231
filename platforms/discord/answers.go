package discord

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
)

const (
	// answerLife is how long an interaction's token is used: Discord takes it for 15 minutes.
	answerLife = 14*time.Minute + 30*time.Second
	// firstAnswerBy is when a first answer must have been given; Discord shows a failure after 3 s.
	firstAnswerBy = 3 * time.Second
	// deferCommand and deferPress are how long the handling may take before Discord is told that the answer
	// comes later. A press may be answered by a form, which must be the first answer.
	deferCommand = 700 * time.Millisecond
	deferPress   = 900 * time.Millisecond
)

// answers are the interactions that this process is answering.
type answers struct {
	mu    sync.Mutex
	open  map[string]*answering
	last  map[string]time.Time // by channel: when the latest came
	swept time.Time
}

// sweepEvery is how often those that can't be answered any more are forgotten.
const sweepEvery = 10 * time.Second

// answering is one interaction that can be answered. mu is held while something about it is decided.
type answering struct {
	mu sync.Mutex
	ticket
	over bool // Discord does not take answers any more

	foreign      bool // in a place where the bot can't write by itself
	locale       string
	progress     *body // of the first message, while it shows that something goes on
	progressText chat.Text
}

func newAnswers() *answers {
	return &answers{open: map[string]*answering{}, last: map[string]time.Time{}}
}

// put adds an interaction; now and then it forgets those that can't be answered any more.
func (a *answers) put(t ticket, now time.Time) *answering {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.swept) > sweepEvery {
		a.swept = now
		maps.DeleteFunc(a.open, func(_ string, old *answering) bool { return now.Sub(old.created) > answerLife })
		maps.DeleteFunc(a.last, func(_ string, at time.Time) bool { return now.Sub(at) > typingFor })
	}
	if t.created.After(a.last[t.channel]) {
		a.last[t.channel] = t.created
	}
	if there, ok := a.open[t.id]; ok {
		return there
	}
	a.open[t.id] = &answering{ticket: t}
	return a.open[t.id]
}

// fresh reports whether an interaction in a channel came so lately that its waiting sign is still shown.
func (a *answers) fresh(channel string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.last[channel]
	return ok && now.Sub(at) < typingFor
}

// noted remembers an answer that says that the interaction's token is good no more: each further call with it
// would count against the bot. It gives err back, and needs s.mu.
func (s *answering) noted(err error) error {
	s.over = s.over || reasonOf(err) == tokenOver
	return err
}

// answering finds an interaction that can still be answered; nil where it can't.
func (a *Adapter) answering(ctx context.Context, id string) (*answering, error) {
	now := a.clock.Now()
	a.answers.mu.Lock()
	s := a.answers.open[id]
	a.answers.mu.Unlock()
	if s == nil {
		t, ok, err := a.storage.ticket(ctx, id)
		if err != nil || !ok {
			return nil, err
		}
		s = a.answers.put(t, now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || now.Sub(s.created) > answerLife || !s.answered && now.Sub(s.created) > firstAnswerBy {
		return nil, nil
	}
	return s, nil
}

// callback is the first answer to an interaction.
type callback struct {
	Type discordgo.InteractionResponseType `json:"type"`
	Data any                               `json:"data,omitempty"`
}

// callbackResult is what Discord tells of the first answer.
type callbackResult struct {
	Resource struct {
		Message struct {
			ID string `json:"id"`
		} `json:"message"`
	} `json:"resource"`
}

// acknowledge tells Discord that the answer comes later, unless something was answered before. It needs s.mu.
func (a *Adapter) acknowledge(ctx context.Context, s *answering) error {
	c := callback{Type: discordgo.InteractionResponseDeferredMessageUpdate}
	if s.kind == discordgo.InteractionApplicationCommand {
		c.Type = discordgo.InteractionResponseDeferredChannelMessageWithSource
		if s.ephemeral {
			c.Data = map[string]any{"flags": discordgo.MessageFlagsEphemeral}
		}
	}
	return a.firstAnswer(ctx, s, c)
}

// firstAnswer gives the first answer, unless there was one. It needs s.mu.
func (a *Adapter) firstAnswer(ctx context.Context, s *answering, c callback) error {
	if s.answered || s.over {
		return nil
	}
	var r callbackResult
	err := a.client.do(ctx, call{
		method: http.MethodPost, path: "/interactions/" + s.id + "/" + s.token + "/callback", query: url.Values{"with_response": {"true"}},
		route: "/interactions/{}/{}/callback", resource: s.id, body: c, apart: true, repeatable: true,
	}, &r)
	if reasonOf(err) == alreadyAnswered { // by another process, or by a call whose answer was lost
		err = nil
	}
	if s.noted(err) != nil {
		return err
	}
	s.answered = true
	keep := context.WithoutCancel(ctx)
	if err := a.storage.update(keep, s.ticket); err != nil {
		return err
	}
	if r.Resource.Message.ID == "" {
		return nil
	}
	return a.storage.addMessage(keep, r.Resource.Message.ID, s.id, true)
}

// AnswerPress answers the press of a button, a choice, or a form sent in. Texts are for the one who pressed.
func (a *Adapter) AnswerPress(ctx context.Context, p chat.Press, answer chat.PressAnswer) error {
	s, err := a.answering(ctx, p.ID)
	if err != nil || s == nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer.Form != nil {
		if s.answered {
			return chat.ErrLateForm // it must be the first answer, and Discord was told already that the answer comes later
		}
		err = a.firstAnswer(ctx, s, callback{Type: discordgo.InteractionResponseModal, Data: modalOf(*answer.Form)})
		return pressed(err)
	}
	if err := a.acknowledge(ctx, s); err != nil || answer.Text == "" {
		return pressed(err)
	}
	o := &outgoing{text: chat.Plain(answer.Text), ephemeral: true}
	_, err = a.followUp(ctx, s, o)
	return pressed(err)
}

// pressed makes the refusal of an answer that comes too late no error.
func pressed(err error) error {
	if r := reasonOf(err); r == tokenOver || r == alreadyAnswered {
		return nil
	}
	return contract(err)
}
