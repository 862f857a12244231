package dialogue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// errStopped is the cause of what ends because the person wants it to.
var errStopped = errors.New("the person has stopped it")

// ask puts a question to the model and shows what comes. When ctx ends, the program stops: the question is taken up again at
// the next start.
func (d *Dialogue) ask(ctx context.Context, t *turn.Turn, q *question, s *status, tool *registry.Tool) error {
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.follow(asking, func() { stop(errStopped) })
	}()
	answer, err := d.put(asking, t, q, s, tool)
	stop(nil)
	<-done // no edit comes after the answer
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if q.wasStopped() {
		err = errStopped
	}
	return d.show(ctx, t, s, answer, err)
}

// put asks when it is the question's turn.
func (d *Dialogue) put(ctx context.Context, t *turn.Turn, q *question, s *status, tool *registry.Tool) (agent.Answer, error) {
	if err := d.wait(ctx, q); err != nil {
		return agent.Answer{}, err
	}
	defer func() { <-d.slots }()
	s.begun()
	asked, err := compose(ctx, t, tool)
	if err != nil {
		return agent.Answer{}, err
	}
	asked.Told = s.told
	return d.cfg.Agent.Ask(ctx, asked)
}

const (
	maxQuoted  = 4000 // of a message replied to
	maxEarlier = 4    // files
)

// compose makes the question of a message: its words, its files and those of the message that it replies to, as references, and
// what the person got last in this chat.
func compose(ctx context.Context, t *turn.Turn, tool *registry.Tool) (agent.Question, error) {
	where := store.Target{Chat: t.In.Chat, Request: t.In.Answers(), Language: t.Language(), Person: t.In.From.ExternalID, Asked: t.In.IDs[0]}
	site, err := start.CallContext(ctx, t)
	if err != nil {
		return agent.Question{}, fmt.Errorf("find the site of a chat: %w", err)
	}
	wallet, _, err := t.GroupWallet(ctx)
	if err != nil {
		return agent.Question{}, err
	}
	q := agent.Question{
		Group: wallet.ID, Spoken: true,
		Text: strings.TrimSpace(t.In.Text), AccountID: t.Account.ID, Audience: t.Audience(), Conversation: conversation(t), Language: t.Language(), Context: site,
		Origin: runs.Origin{Platform: t.In.Platform, Target: where.Encode()}, May: may(t),
	}
	if tool != nil {
		q.Intents = tool.IntentTags
	}
	files := t.In.Attachments
	if reply := t.In.ReplyTo; reply != nil {
		files, q.Quoted = append(files[:len(files):len(files)], reply.Attachments...), chat.Shorten(reply.Text, maxQuoted)
	}
	for _, f := range files {
		ref, err := start.KeepFile(ctx, t, f)
		if err != nil {
			return q, err
		}
		f.Ref = ref
		q.Attachments = append(q.Attachments, attachment(f))
	}
	run, ok, err := start.LastResult(ctx, t)
	if err != nil || !ok {
		return q, err
	}
	if asked, err := store.TargetOf(run); err == nil && asked.Chat.Chat == t.In.Chat.Chat { // what was made elsewhere is no business of those here
		earlier := show.ResultFiles(run)
		for _, f := range earlier[:min(len(earlier), maxEarlier)] {
			q.Earlier = append(q.Earlier, attachment(f))
		}
	}
	return q, nil
}

// attachment is a file of our store as a model is told of it.
func attachment(f chat.Attachment) agent.Attachment {
	kind := registry.TypeFile
	if kinds := input.KindsOf([]chat.Attachment{f}); len(kinds) > 0 {
		kind = kinds[0]
	}
	return agent.Attachment{Kind: kind, Ref: f.Ref, Name: f.Name}
}

// may refuses tools that the person can't use in this chat.
func may(t *turn.Turn) func(context.Context, string) error {
	return func(ctx context.Context, toolID string) error {
		tool, ok := t.Tools.Resolve(toolID)
		if !ok {
			return nil // that there is none is told anyway
		}
		refused, err := t.Barred(ctx, tool)
		if err != nil || refused == nil {
			return err
		}
		return registry.Errorf(registry.CodeUnauthorized, "%s", refused.String())
	}
}
