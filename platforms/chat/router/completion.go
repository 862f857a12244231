package router

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

var _ chat.Completer = (*Router)(nil)

// Complete offers values for an option that is being typed: tools where a tool is asked for, an input's choices, or
// what the person gave for it lately. It reads memory only; what a person did before this program started is fetched
// when they first type, and offered from the next letter on.
func (r *Router) Complete(ctx context.Context, platform string, q chat.Completion, n int) []chat.Choice {
	if r.services.Deliverer.Platform(platform) == nil || n <= 0 {
		return nil
	}
	if r.services.Recents.Claim(q.From) {
		r.learnRecents(ctx, q.From)
	}
	t := r.turn(&turn.Update{Platform: platform, Incoming: chat.Incoming{From: q.From, Chat: q.Chat}}, r.services.Tools.Snapshot())
	if _, ours := r.services.Commands.Find(q.Command); ours && q.Option == toolInput {
		return completeTool(t, q.Typed, r.services.Recents.Tools(q.From), n)
	}
	tool, ok := t.Tools.ByCommand(q.Command)
	if !ok {
		return nil
	}
	f, ok := tool.InputSchema.Get(q.Option)
	if !ok {
		return nil
	}
	return input.Complete(f, q.Typed, r.services.Recents.Values(q.From, tool.ToolID, f.Name), n)
}

// completeTool offers tools that menus show: without a word those used lately, then all; with one those whose command begins so, then
// those that a search finds.
func completeTool(t *turn.Turn, typed string, recent []string, n int) []chat.Choice {
	typed = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(typed), "/"))
	var list []*registry.Tool
	for _, id := range recent {
		if tool, ok := t.Tools.Resolve(id); ok && tool.Refusal(t.Audience()) == nil && tool.InMenus() {
			list = append(list, tool)
		}
	}
	offered := t.Offered()
	list = append(list, offered...)
	chosen := input.NewChoices(n)
	for _, tool := range list {
		if input.Begins(tool, typed) {
			chosen.Add(input.ToolChoice(tool))
		}
	}
	if typed != "" {
		for _, m := range t.Tools.Search(typed, catalog.SearchOptions{People: true, Audience: t.Audience(), Limit: n}) { // by words alone: it is asked at each letter
			if slices.Contains(offered, m.Tool) {
				chosen.Add(input.ToolChoice(m.Tool))
			}
		}
	}
	return chosen.List
}

// learnWait bounds the reading of what somebody did before.
const learnWait = 10 * time.Second

// learnRecents reads what a person ran before, without making anybody wait for it.
func (r *Router) learnRecents(ctx context.Context, who users.Identity) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnWait)
	r.wg.Go(func() {
		defer cancel()
		account, err := r.services.Accounts.Identify(ctx, who)
		if err != nil {
			r.services.Log.WarnContext(ctx, "nothing is known of who types", "error", err)
			return
		}
		list, err := r.services.Runs.List(ctx, runs.Filter{AccountID: account.ID, Limit: input.RecentRuns})
		if err != nil {
			r.services.Log.WarnContext(ctx, "earlier runs of who types are not known", "error", err)
			return
		}
		for i := range list {
			r.services.Recents.Note(who, list[len(list)-1-i])
		}
	})
}
