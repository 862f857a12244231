package router

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

var _ chat.Completer = (*Router)(nil)

// Complete offers values for an option that is being typed: tools where a tool is asked for, an input's choices, or
// what the person gave for it lately. It reads memory only; what a person did before this program started is fetched
// when they first type, and offered from the next letter on.
func (r *Router) Complete(ctx context.Context, platform string, q chat.Completion, n int) []chat.Choice {
	s, ok := r.surfaces[platform]
	if !ok || n <= 0 {
		return nil
	}
	if !r.recents.known(q.From) {
		r.learnRecents(ctx, q.From)
	}
	t := &turn{Router: r, surface: s, in: received{platform: platform, Incoming: chat.Incoming{From: q.From, Chat: q.Chat}}}
	if _, ours := r.houseCommand(q.Command); ours && q.Option == toolInput {
		return t.completeTool(q.Typed, r.recents.tools(q.From), n)
	}
	tool, ok := r.cfg.Tools.Snapshot().ByCommand(q.Command)
	if !ok {
		return nil
	}
	f, ok := tool.InputSchema.Get(q.Option)
	if !ok {
		return nil
	}
	return completeInput(f, q.Typed, r.recents.values(q.From, tool.ToolID, f.Name), n)
}

// completeTool offers tools: without a word those used lately, then all; with one those whose command begins so, then
// those that a search finds.
func (t *turn) completeTool(typed string, recent []string, n int) []chat.Choice {
	typed = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(typed), "/"))
	var list []*registry.Tool
	for _, id := range recent {
		if tool, ok := t.cfg.Tools.Snapshot().Resolve(id); ok && tool.Refusal(t.audience()) == nil {
			list = append(list, tool)
		}
	}
	list = append(list, t.offered()...)
	chosen := choices{most: n, seen: map[any]bool{}}
	for _, tool := range list {
		if strings.HasPrefix(strings.TrimPrefix(tool.CommandName, "/"), typed) || strings.HasPrefix(strings.ToLower(tool.DisplayName), typed) {
			chosen.add(toolChoice(tool))
		}
	}
	if typed != "" {
		for _, tool := range t.search(typed, n) {
			chosen.add(toolChoice(tool))
		}
	}
	return chosen.list
}

func toolChoice(tool *registry.Tool) chat.Choice {
	name := strings.TrimPrefix(chat.FirstNonEmpty(tool.CommandName, tool.ToolID), "/")
	return chat.Choice{Label: name + " – " + tool.DisplayName, Value: name}
}

// completeInput offers values of an input. A text that is typed is itself a value.
func completeInput(f registry.InputField, typed string, recent []any, n int) []chat.Choice {
	chosen := choices{most: n, seen: map[any]bool{}}
	if free := isTyped(f); free && strings.TrimSpace(typed) != "" {
		if value, bad := registry.ParseText(f, typed); bad == nil {
			chosen.add(chat.Choice{Label: typed, Value: value})
		}
	}
	for _, c := range registry.Complete(f, typed, recent, n) {
		chosen.add(chat.Choice{Label: c.Text(), Value: c.Value})
	}
	for _, c := range f.Choices { // one slip is forgiven
		if typed != "" && sameWord(strings.ToLower(typed), strings.ToLower(c.Text())) {
			chosen.add(chat.Choice{Label: c.Text(), Value: c.Value})
		}
	}
	return chosen.list
}

// choices are offered values, each once.
type choices struct {
	list []chat.Choice
	seen map[any]bool
	most int
}

func (c *choices) add(choice chat.Choice) {
	if key := fmt.Sprint(choice.Value); len(c.list) < c.most && !c.seen[key] && choice.Label != "" {
		c.seen[key] = true
		c.list = append(c.list, choice)
	}
}

// Bounds of what is remembered for completion.
const (
	recentPeople = 5000
	recentTools  = 10
	recentValues = 10
	recentRuns   = 30 // read for somebody who types for the first time
)

// recents remembers what people used lately, newest first.
type recents struct {
	mu     sync.Mutex
	people map[users.Identity]*recent
}

// recent is what one person used lately.
type recent struct {
	tools  []string // ids
	values map[inputKey][]any
	read   bool // what came before this program started, too
}

// inputKey names an input of a tool.
type inputKey struct{ toolID, input string }

// known reports whether what a person used before this program started was read.
func (r *recents) known(who users.Identity) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.person(who).read
}

// tools are the ids of the tools that a person used lately.
func (r *recents) tools(who users.Identity) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.person(who).tools
}

// values are what a person gave for an input of a tool lately.
func (r *recents) values(who users.Identity, toolID, input string) []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.person(who).values[inputKey{toolID, input}]
}

// personKey leaves out what changes.
func personKey(who users.Identity) users.Identity {
	return users.Identity{Platform: who.Platform, ExternalID: who.ExternalID}
}

// person gives what is known of a person, to be changed; the caller holds mu. Somebody else is forgotten where there
// are too many.
func (r *recents) person(who users.Identity) *recent {
	key := personKey(who)
	if r.people == nil {
		r.people = map[users.Identity]*recent{}
	}
	if p := r.people[key]; p != nil {
		return p
	}
	for other := range r.people {
		if len(r.people) < recentPeople {
			break
		}
		delete(r.people, other)
	}
	p := &recent{values: map[inputKey][]any{}}
	r.people[key] = p
	return p
}

// forget leaves nothing of a person.
func (r *recents) forget(who users.Identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.people, personKey(who))
}

// used notes the tool and the values of a person's run.
func (r *recents) used(who users.Identity, run runs.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.person(who)
	p.tools = first(run.Tool.ToolID, p.tools, recentTools)
	for _, f := range run.Tool.InputSchema {
		value, ok := run.Inputs[f.Name]
		if from := run.Sources[f.Name]; ok && isTyped(f) && from != runs.FromDefault && from != runs.FromRandom {
			key := inputKey{run.Tool.ToolID, f.Name}
			p.values[key] = first(value, p.values[key], recentValues)
		}
	}
}

// first puts one thing before a list, which keeps at most n and has nothing twice. The list itself stays as it is:
// readers may hold it.
func first[T any](one T, list []T, n int) []T {
	kept := []T{one}
	for _, other := range list {
		if len(kept) < n && fmt.Sprint(other) != fmt.Sprint(one) {
			kept = append(kept, other)
		}
	}
	return kept
}

// learnWait bounds the reading of what somebody did before.
const learnWait = 10 * time.Second

// learnRecents reads what a person ran before, without making anybody wait for it.
func (r *Router) learnRecents(ctx context.Context, who users.Identity) {
	r.recents.mu.Lock()
	r.recents.person(who).read = true // from now on, so that it is read once
	r.recents.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnWait)
	r.wg.Go(func() {
		defer cancel()
		account, err := r.cfg.Accounts.Identify(ctx, who)
		if err != nil {
			r.log.WarnContext(ctx, "nothing is known of who types", "error", err)
			return
		}
		list, err := r.cfg.Runs.List(ctx, runs.Filter{AccountID: account.ID, Limit: recentRuns})
		if err != nil {
			r.log.WarnContext(ctx, "earlier runs of who types are not known", "error", err)
			return
		}
		for i := range list {
			r.recents.used(who, list[len(list)-1-i])
		}
	})
}
