package router

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// offered lists the tools that this person can be offered in this chat.
func (t *turn) offered() []*registry.Tool {
	return slices.DeleteFunc(slices.Clone(t.tools.Offered(t.audience())), func(tool *registry.Tool) bool {
		return input.IsAdult(tool) && !t.adultsOnly()
	})
}

// adultsOnly reports whether what is for adults may be shown in this chat, whatever its admins say.
func (t *turn) adultsOnly() bool {
	return t.in.Chat.Kind == chat.ChatPrivate || t.in.Chat.AgeRestricted
}

// barred says why this person may not use a tool here, or nil.
func (t *turn) barred(ctx context.Context, tool *registry.Tool) (chat.Text, error) {
	who := users.Subject{
		AccountID: t.account.ID, Operator: t.account.Operator, Platform: t.in.platform, ExternalID: t.in.From.ExternalID,
		Chat: t.in.Chat.Chat, Space: t.in.Chat.Space, Roles: t.in.Roles,
	}
	decision, err := t.svc.Accounts.Check(ctx, who, tool.ToolID)
	if err != nil {
		return nil, fmt.Errorf("check the access to %s: %w", tool.ToolID, err)
	}
	if !decision.Allowed {
		return t.say.Text("access."+string(decision.Reason), "tool", tool.DisplayName), nil
	}
	if !input.IsAdult(tool) || t.adultsOnly() {
		return nil, nil
	}
	allowed, err := t.adultAllowed(ctx)
	if err != nil || allowed {
		return nil, err
	}
	return t.say.Text("access.adult", "tool", tool.DisplayName), nil
}

// withChatValues adds what the chat's admins set for a draft's tool to the draft's values.
func withChatValues(ctx context.Context, t *turn, d input.Draft) (map[runs.Source]map[string]any, error) {
	tool, ok := t.tools.Resolve(d.Tool)
	if _, given := d.Values[runs.FromChat]; given || !ok || t.in.Chat.Kind == chat.ChatPrivate {
		return d.Values, nil
	}
	chat, err := t.svc.Accounts.ChatPreferences(ctx, t.in.platform, t.in.Chat.Chat, t.in.Chat.Space, *tool)
	if err != nil {
		return nil, fmt.Errorf("read the chat's settings: %w", err)
	}
	values := map[runs.Source]map[string]any{runs.FromChat: chat}
	maps.Copy(values, d.Values)
	return values, nil
}

// warned remembers which warnings people have had, so that each comes once, and until when they hold.
type warned struct{ seen sync.Map }

// prune forgets warnings that hold no more.
func (w *warned) prune(now time.Time) {
	w.seen.Range(func(key, until any) bool {
		if until.(time.Time).Before(now) {
			w.seen.Delete(key)
		}
		return true
	})
}

// warnOfLimits tells the person which of their limits are nearly used up, each once as long as it lasts.
func warnOfLimits(ctx context.Context, t *turn, run runs.Run) {
	var text chat.Text
	for _, use := range run.Warnings {
		if _, before := t.svc.Warned.seen.LoadOrStore(fmt.Sprint(run.AccountID, use.Kind, use.Limit, use.FreeAt.Unix()), use.FreeAt); !before {
			text = chat.Lines(text, chat.Plain(words.NearLimit(t.say.Voice, use)))
		}
	}
	if text == nil {
		return
	}
	t = t.Aside()
	if _, err := t.reply(ctx, text); err != nil {
		t.svc.Log.WarnContext(ctx, "a warning was not told", "run", run.ID, "error", err)
	}
}
