package chat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// offered lists the tools that this person can be offered in this chat.
func (t *turn) offered() []*registry.Tool {
	return slices.DeleteFunc(slices.Clone(t.cfg.Tools.Snapshot().Offered(t.audience())), func(tool *registry.Tool) bool {
		return isAdult(tool) && !t.adultsOnly() || tool.Metadata["menu"] == false // it is there by name; another tool's command has it in it
	})
}

// isAdult reports whether a tool's metadata say that its results are for adults.
func isAdult(tool *registry.Tool) bool {
	return tool.Metadata["adult"] == true || tool.Metadata["nsfw"] == true
}

// adultsOnly reports whether what is for adults may be shown in this chat, whatever its admins say.
func (t *turn) adultsOnly() bool {
	return t.in.Chat.Kind == ChatPrivate || t.in.Chat.AgeRestricted
}

// barred says why this person may not use a tool here, or nil.
func (t *turn) barred(ctx context.Context, tool *registry.Tool) (Text, error) {
	who := users.Subject{
		AccountID: t.account.ID, Operator: t.account.Operator, Platform: t.in.platform, ExternalID: t.in.From.ExternalID,
		Chat: t.in.Chat.Chat, Space: t.in.Chat.Space, Roles: t.in.Roles,
	}
	decision, err := t.cfg.Accounts.Check(ctx, who, tool.ToolID)
	if err != nil {
		return nil, fmt.Errorf("check the access to %s: %w", tool.ToolID, err)
	}
	if !decision.Allowed {
		return t.say("access."+string(decision.Reason), "tool", tool.DisplayName), nil
	}
	if !isAdult(tool) || t.adultsOnly() {
		return nil, nil
	}
	allowed, err := t.adultAllowed(ctx)
	if err != nil || allowed {
		return nil, err
	}
	return t.say("access.adult", "tool", tool.DisplayName), nil
}

// withChatValues adds what the chat's admins set for a draft's tool to the draft's values.
func (t *turn) withChatValues(ctx context.Context, d draft) (map[runs.Source]map[string]any, error) {
	tool, ok := t.cfg.Tools.Snapshot().Resolve(d.Tool)
	if _, given := d.Values[runs.FromChat]; given || !ok || t.in.Chat.Kind == ChatPrivate {
		return d.Values, nil
	}
	chat, err := t.cfg.Accounts.ChatPreferences(ctx, t.in.platform, t.in.Chat.Chat, t.in.Chat.Space, *tool)
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

// warn tells the person which of their limits are nearly used up, each once as long as it lasts.
func (t *turn) warn(ctx context.Context, run runs.Run) {
	var text Text
	for _, use := range run.Warnings {
		if _, before := t.warned.seen.LoadOrStore(fmt.Sprint(run.AccountID, use.Kind, use.Limit, use.FreeAt.Unix()), use.FreeAt); !before {
			text = lines(text, t.limitText("near", use))
		}
	}
	if text == nil {
		return
	}
	t.aside = true
	if _, err := t.reply(ctx, text); err != nil {
		t.log.WarnContext(ctx, "a warning was not told", "run", run.ID, "error", err)
	}
}

// OverLimit says in a language that a limit leaves no room, and how much of it is used.
func OverLimit(v i18n.Voice, use runs.LimitUse) Text { return voice{v}.limitText("over", use) }

// limitText says that a limit is nearly used up ("near") or all ("over").
func (v voice) limitText(how string, use runs.LimitUse) Text {
	return lines(v.say("limit."+how), v.limitLine(use))
}

// limitLine says how much of a limit is used, and until when that counts.
func (v voice) limitLine(use runs.LimitUse) Text {
	limit, used := any(use.Limit), any(use.Used)
	if use.Kind == runs.LimitDayCap || use.Kind == runs.LimitMonthCap {
		limit, used = billing.NanoUSD(use.Limit), billing.NanoUSD(use.Used)
	}
	if use.Kind == runs.LimitUploads || use.Kind == runs.LimitResults {
		limit, used = assets.Words(use.Limit), assets.Words(use.Used)
	}
	text := v.say("limit."+string(use.Kind), "limit", limit, "used", used)
	if !use.FreeAt.IsZero() {
		text = join(" ", text, v.say("limit.until", "time", v.Time(use.FreeAt.UTC())+" UTC"))
	}
	return text
}
