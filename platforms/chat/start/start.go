package start

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Tool starts a tool with what came after its command, with files, and with what is replied to.
func Tool(ctx context.Context, t *turn.Turn, tool *registry.Tool, typed string) (turn.Outcome, error) {
	if refused, err := Refuse(ctx, t, tool); refused || err != nil {
		return turn.Nothing, err
	}
	d := NewDraft(t, tool)
	if err := Begin(ctx, t, &d); err != nil {
		return turn.Nothing, err
	}
	if hint, err := ReadText(ctx, t, &d, tool, typed); hint != nil || err != nil {
		return turn.Nothing, HintOr(ctx, t, hint, err)
	}
	hint, err := attachFiles(ctx, t, &d, tool)
	if hint != nil || err != nil {
		return turn.Nothing, HintOr(ctx, t, hint, err)
	}
	if err := takeReply(ctx, t, &d, tool); err != nil {
		return turn.Nothing, HintOr(ctx, t, nil, err)
	}
	return Proceed(ctx, t, d)
}

// Proceed takes a draft as far as it goes: to a question about what is missing, or to a run.
func Proceed(ctx context.Context, t *turn.Turn, d input.Draft) (turn.Outcome, error) {
	if tool, ok := t.Tools.Resolve(d.ToolID); ok && len(d.Pictures) > 0 {
		if f, unclear := input.Unclear(tool.InputSchema, len(d.Pictures), d.Has, d.Skipped); unclear {
			return askPicture(ctx, t, d, tool, f)
		}
		if rest := d.InOrder(tool.InputSchema); rest > 0 {
			d.Notes = append(d.Notes, t.Say.Line("hint.filesLeft", "tool", tool.DisplayName, "n", rest))
		}
	}
	wallet, _, err := t.GroupWallet(ctx)
	if err != nil {
		return turn.Nothing, err
	}
	d.Group, d.Origin, d.Quote, d.Shown = wallet.ID, runs.Origin{Platform: t.In.Platform}, t.In.Quote, true
	if d.Context, err = CallContext(ctx, t); err != nil {
		return turn.Nothing, fmt.Errorf("find the site of a chat: %w", err)
	}
	bound, err := Bind(ctx, t, d)
	if err != nil {
		return turn.Nothing, NotStarted(ctx, t, chat.MessageRef{}, d, err)
	}
	if len(bound.Missing) > 0 {
		return askInput(ctx, t, d, &bound.Tool, input.PrimaryFirst(&bound.Tool, bound.Missing))
	}
	if f, ok := input.Unsaid(bound, d); ok {
		return askInput(ctx, t, d, &bound.Tool, []registry.InputField{f})
	}
	quote, err := t.Services.Runs.Quote(ctx, bound)
	var stale *runs.QuoteError
	if errors.As(err, &stale) {
		return turn.Nothing, NotStarted(ctx, t, chat.MessageRef{}, d, err)
	}
	if err != nil {
		t.Services.Log.WarnContext(ctx, "no quote for a run", "tool", d.ToolID, "error", err)
	}
	payer := payerOf(ctx, t, wallet.ID, quote)
	if bound.Request.Asking, err = asking(ctx, t, payer, quote); err != nil {
		return turn.Nothing, fmt.Errorf("find out whether to ask about a price: %w", err)
	}
	return acceptRun(ctx, t, d, bound, quote, payer)
}

// CallContext says for whom and where a run is asked for, as far as the platform tells. A group that has a site asks for that.
func CallContext(ctx context.Context, t *turn.Turn) (registry.CallContext, error) {
	where := registry.CallContext{
		SessionID: Conversation(t), Region: cmp.Or(t.In.Region, registry.RegionOf(t.In.From.Language)), DeviceKind: t.In.DeviceKind, Shared: t.In.Chat.Kind != chat.ChatPrivate,
	}
	if t.SiteVisit().Group == (users.Place{}) {
		return where, nil // there is the house's only
	}
	here, err := t.Site(ctx)
	where.SiteID = here.Slug
	return where, err
}

// Conversation names the place where people speak, among those of all platforms.
func Conversation(t *turn.Turn) string { return ConversationIn(t.In.Platform, t.In.Chat.Place) }

// ConversationIn is what people say in a place of a platform, as drawings and runs name it.
func ConversationIn(platform string, place chat.Place) string {
	name := platform + ":" + place.Chat
	if place.Topic != "" {
		name += ":" + place.Topic
	}
	return name
}

// acceptRun shows the status message and asks for the run. The message comes first, so that the run knows
// from its first moment where its state is shown. payer is the fund of a group that will pay, as it looks.
func acceptRun(ctx context.Context, t *turn.Turn, d input.Draft, bound runs.Bound, quote billing.Quote, payer string) (turn.Outcome, error) {
	buttons := t.Keyboard(store.KeyboardState{Tool: d.ToolID})
	status, usual, err := showFirst(ctx, t, d, bound, quote, buttons, payer)
	if err != nil && !status.IsZero() && ctx.Err() == nil && !postgres.Away(err) {
		return turn.Nothing, NotStarted(ctx, t, status, d, err) // it is shown, but that could not be noted
	}
	if err != nil {
		return turn.Nothing, err
	}
	where := store.Target{Chat: t.In.Chat, Request: d.Asked, Status: status, Language: t.Language(), Person: t.In.From.ExternalID, Notes: d.Notes, Replaces: d.Replaces}
	bound.Request.Origin.Target = where.Encode()
	run, err := t.Services.Runs.AcceptBound(ctx, bound)
	if err != nil && (ctx.Err() != nil || postgres.Away(err)) {
		return turn.Nothing, err // asked for again, now or at the next start, with this status message: nobody knows whether there is a run
	}
	if err != nil {
		return turn.Nothing, NotStarted(ctx, t, status, d, err)
	}
	// Not before: a command that is refused leaves open what was asked.
	if d.Before != "" {
		if err := giveUpQuestion(ctx, t, d.Before); err != nil {
			t.Services.Log.WarnContext(ctx, "a question stays open", "error", err)
		}
	}
	if kept, err := store.TargetOf(run); err == nil && kept.Status.ID != status.ID {
		// The request was accepted before, and its state is shown there.
		if status.IsZero() {
			return turn.Began, nil
		}
		return turn.Began, t.Out.Delete(ctx, status)
	}
	buttons.State.Run = run.ID
	if err := t.Services.Store.Keyboards.Save(ctx, buttons); err != nil {
		t.Services.Log.WarnContext(ctx, "the buttons of a status message won't work", "run", run.ID, "error", err)
	}
	if err := t.Services.Store.Uses.Count(ctx, run.Tool.ToolID); err != nil {
		t.Services.Log.WarnContext(ctx, "the use of a tool was not counted", "error", err)
	}
	t.Services.Recents.Note(t.In.From, run)
	warnOfLimits(ctx, t, run)
	t.Services.Progress.Follow(ctx, run, where, buttons, usual)
	return turn.Began, nil
}

// showFirst posts the status message of a run that is about to be asked for, and gives the text that it has when nothing is asked. Who looks at
// the message that is going to change needs none.
func showFirst(ctx context.Context, t *turn.Turn, d input.Draft, bound runs.Bound, quote billing.Quote, buttons store.Keyboard, payer string) (status chat.MessageRef, usual string, err error) {
	asks := bound.Asks(quote)
	if !d.Replaces.IsZero() && !asks {
		return chat.MessageRef{}, "", nil
	}
	pending := bound.At(quote)
	pending.Payer = payer
	first := t.Say.StatusMessage(pending, buttons, d.Notes)
	usual = first.Text.String()
	first.Text = chat.Lines(first.Text, whyAsked(ctx, t, bound, quote))
	first.To, first.ReplyTo = t.In.Chat.Place, d.Asked
	status, err = PostStatus(ctx, t, first)
	// Without it the run is as good: the result is a message of its own. Only who has to confirm needs its buttons.
	if errors.Is(err, chat.ErrUncertain) && !asks && ctx.Err() == nil {
		t.Services.Log.WarnContext(ctx, "a run has no status message", "tool", d.ToolID, "error", err)
		return chat.MessageRef{}, usual, nil
	}
	return status, usual, errs.Wrap(err, "show the status of a run")
}

// PostStatus posts a status message. One that was posted before a crash is used again, as it is: by now it may
// show the result.
func PostStatus(ctx context.Context, t *turn.Turn, m chat.Message) (chat.MessageRef, error) {
	if !t.In.Answer.IsZero() {
		return t.In.Answer, nil
	}
	ref, err := t.Post(ctx, m)
	if err != nil {
		return ref, err
	}
	t.In.Answer = ref
	return ref, t.Services.Answered(context.WithoutCancel(ctx), t.In, ref)
}

// warnOfLimits tells the person which of their limits are nearly used up, and the group which of its own, each once as long as it lasts.
func warnOfLimits(ctx context.Context, t *turn.Turn, run runs.Run) {
	fresh, err := t.Services.Runs.Warn(ctx, run)
	if err != nil {
		t.Services.Log.WarnContext(ctx, "a warning was not told", "run", run.ID, "error", err)
	}
	var own, group chat.Text
	for _, use := range fresh {
		text := chat.Lines(t.Say.Text(words.NearKey(use)), show.Styled(words.Limit(t.Say.Voice, use)))
		if use.OfGroup() {
			group = chat.Lines(group, text)
		} else {
			own = chat.Lines(own, text)
		}
	}
	tellWarning(ctx, t.Aside(), own)
	tellWarning(ctx, t.Openly(), group)
}

func tellWarning(ctx context.Context, t *turn.Turn, text chat.Text) {
	if text == nil {
		return
	}
	if _, err := t.Reply(ctx, text); err != nil {
		t.Services.Log.WarnContext(ctx, "a warning was not told", "error", err)
	}
}

// PriceOf prices a tool with the person's settings and what a draft has of it.
func PriceOf(ctx context.Context, t *turn.Turn, d input.Draft) (billing.Quote, error) {
	bound, err := Bind(ctx, t, d)
	if err != nil {
		return billing.Quote{}, err
	}
	quote, err := t.Services.Runs.Quote(ctx, bound)
	return quote, errs.Wrap(err, "quote %s", d.ToolID)
}

// Bind gives a draft's inputs their values: those that it has, and those that the chat's admins set for its tool.
func Bind(ctx context.Context, t *turn.Turn, d input.Draft) (runs.Bound, error) {
	r := d.Request
	r.AccountID, r.Audience = t.Account.ID, t.Audience()
	tool, ok := t.Tools.Resolve(r.ToolID)
	if _, given := r.Values[runs.FromChat]; !given && ok && t.In.Chat.Kind != chat.ChatPrivate {
		set, err := t.Services.Accounts.ChatPreferences(ctx, t.In.Platform, t.In.Chat.Rules(), t.In.Chat.Space, *tool)
		if err != nil {
			return runs.Bound{}, fmt.Errorf("read the chat's settings: %w", err)
		}
		r = r.With(runs.FromChat, set)
	}
	return t.Services.Runs.BindIn(ctx, t.Written, r)
}
