package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

// WebhookPath is where WebhookHandler is to be mounted below the public address.
const WebhookPath = "/webhooks/telegram"

const (
	webhookConnections = 40
	webhookCheck       = 5 * time.Minute
)

// allowedUpdates are the kinds of updates wanted.
func allowedUpdates() []string {
	return []string{"message", "edited_message", "callback_query", "my_chat_member", "inline_query", "pre_checkout_query"}
}

// errNotReady makes Telegram send an update again.
var errNotReady = errors.New("the program is not ready for updates yet")

// Run passes updates on to a receiver until ctx ends, and then returns nil. It needs no network to start: it
// waits for Telegram to be reachable. A second instance and failures are waited out; only a token that
// Telegram does not accept ends it with an error.
func (a *Adapter) Run(ctx context.Context, to chat.Receiver) error {
	ctx, end := context.WithCancel(ctx)
	var pacing sync.WaitGroup
	pacing.Go(func() { a.keepPace(ctx) })
	defer pacing.Wait()
	defer end()
	if err := a.identify(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	if err := a.storage.pruneFiles(ctx); err != nil && ctx.Err() == nil {
		a.log.WarnContext(ctx, "old files are still remembered", "error", err)
	}
	a.receiver.Store(&to)
	defer a.aside.Wait()
	defer a.receiver.Store(nil)
	if a.public != nil {
		err := a.keepWebhook(ctx)
		if ctx.Err() != nil || botapi.ReasonOf(err) == botapi.Unauthorized {
			return err
		}
		a.log.ErrorContext(ctx, "Telegram does not take the webhook: updates are polled for instead; PUBLIC_URL must be an https address on port 443, 80, 88 or 8443 that Telegram can reach",
			"address", a.webhookURL(), "error", err)
	}
	return a.poll(ctx)
}

// paceShares are the shares that the bot's rates are divided into: of all messages, one a second each.
const paceShares = 28

// keepPace has this process send its part of what Telegram allows the bot, until ctx ends. Then it keeps its part: what is under way
// is still sent.
func (a *Adapter) keepPace(ctx context.Context) {
	if a.divide == nil {
		return
	}
	err := a.divide(ctx, fmt.Sprintf("pace of %s %d", Platform, a.storage.bot), paceShares, func(working context.Context, _ int) error {
		a.sender.Hold(1)
		<-working.Done()
		if ctx.Err() == nil {
			a.sender.Hold(-1)
		}
		return nil
	})
	if err != nil {
		a.log.WarnContext(ctx, "this process' part of what Telegram allows is not left to others yet", "error", err)
	}
}

// poll receives updates by long polling, by one of the processes at a time: Telegram refuses a second one.
func (a *Adapter) poll(ctx context.Context) error {
	if a.divide == nil {
		return a.pollAlone(ctx, 0)
	}
	return a.divide(ctx, fmt.Sprintf("%s %d", Platform, a.storage.bot), 1, a.pollAlone)
}

func (a *Adapter) pollAlone(ctx context.Context, _ int) error {
	err := a.persist(ctx, "webhook not removed", func(ctx context.Context) error { return a.client.DeleteWebhook(ctx, false) })
	if err != nil || ctx.Err() != nil {
		return err
	}
	p := &botapi.Poller{Client: a.client, Clock: a.clock, Logger: a.log, Allowed: allowedUpdates(), Handle: a.receive}
	return p.Run(ctx)
}

// identify asks who the bot is until there is an answer. It fails only for a wrong token.
func (a *Adapter) identify(ctx context.Context) error {
	return a.persist(ctx, "Telegram is not reached", func(ctx context.Context) error {
		me, err := a.client.GetMe(ctx)
		if err != nil || me.Username == *a.username.Load() {
			return err
		}
		a.username.Store(&me.Username)
		return a.storage.setUsername(ctx, me.Username)
	})
}

// persist repeats a call until it succeeds, ctx ends (then it returns nil), or Telegram refuses it for good.
func (a *Adapter) persist(ctx context.Context, what string, call func(context.Context) error) error {
	for failures := 1; ; failures++ {
		err := call(ctx)
		var e *botapi.Error
		switch {
		case err == nil || ctx.Err() != nil:
			return nil
		case botapi.ReasonOf(err) == botapi.Unauthorized:
			return fmt.Errorf("the token is not accepted by Telegram; check TELEGRAM_BOT_TOKEN: %w", err)
		case errors.As(err, &e) && e.Code == http.StatusBadRequest:
			return err
		}
		pause := botapi.PauseAfter(err, failures)
		a.log.WarnContext(ctx, what+"; trying again", "error", err, "failures", failures, "pause", pause)
		select {
		case <-a.clock.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

func (a *Adapter) webhookURL() string {
	return a.public.JoinPath(strings.Split(strings.Trim(WebhookPath, "/"), "/")...).String()
}

// keepWebhook sets the webhook and sees to it that it stays, until ctx ends. It fails when Telegram does not
// take the address.
func (a *Adapter) keepWebhook(ctx context.Context) error {
	lastError := int64(0)
	for {
		if err := a.persist(ctx, "webhook not set", a.ensureWebhook(&lastError)); err != nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-a.clock.After(webhookCheck):
		case <-ctx.Done():
			return nil
		}
	}
}

// ensureWebhook sets the webhook where it is not ours, and reports failures that Telegram has had with it.
func (a *Adapter) ensureWebhook(lastError *int64) func(context.Context) error {
	first := *lastError == 0
	return func(ctx context.Context) error {
		info, err := a.client.GetWebhookInfo(ctx)
		if err != nil {
			return err
		}
		if info.LastErrorDate > *lastError && !first {
			a.log.WarnContext(ctx, "Telegram could not deliver updates to the webhook", "error", info.LastError, "waiting", info.Pending)
		}
		*lastError = max(info.LastErrorDate, 1)
		if !first && info.URL == a.webhookURL() {
			return nil
		}
		// At the start it is set in any case: the secret may be another.
		return a.client.SetWebhook(ctx, botapi.WebhookConfig{
			URL: a.webhookURL(), Secret: a.secret, AllowedUpdates: allowedUpdates(), MaxConnections: webhookConnections,
		})
	}
}

// WebhookHandler receives updates by HTTP while Run runs. It is to be mounted at WebhookPath; requests
// without the secret that Telegram was told are answered 401.
func (a *Adapter) WebhookHandler() http.Handler {
	return &botapi.Webhook{Secret: a.secret, Logger: a.log, Handle: a.receive}
}

// receive stores updates with the receiver. An error makes them come again.
func (a *Adapter) receive(ctx context.Context, updates []botapi.Update) error {
	to, username := a.receiver.Load(), *a.username.Load()
	if to == nil || username == "" {
		return errNotReady
	}
	r := reader{bot: a.storage.bot, username: username, now: a.clock.Now()}
	list := make([]chat.Incoming, 0, len(updates))
	for _, u := range updates {
		if err := a.takeMoney(ctx, u); err != nil {
			return err
		}
		if m := u.Message; m != nil {
			if err := errors.Join(a.move(ctx, m.Chat.ID, m.MigrateToChatID), a.move(ctx, m.MigrateFromChatID, m.Chat.ID)); err != nil {
				return err
			}
		}
		if u.InlineQuery != nil { // nothing to store: nobody waits for it after a restart
			a.answerInline(ctx, *to, u.InlineQuery)
		}
		if in, ok := r.read(u); ok {
			list = append(list, in)
		}
	}
	return a.pass(ctx, *to, list)
}

// pass hands updates to the receiver. One that Postgres can never store is skipped: it would hold up all
// others for ever.
func (a *Adapter) pass(ctx context.Context, to chat.Receiver, list []chat.Incoming) error {
	if len(list) == 0 {
		return nil
	}
	err := to.Receive(ctx, Platform, list...)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || !strings.HasPrefix(refused.Code, dataException) {
		return err
	}
	if len(list) == 1 {
		a.log.ErrorContext(ctx, "an update can't be stored and is skipped", "update", list[0].ID, "error", err)
		return nil
	}
	for i := range list {
		if err := a.pass(ctx, to, list[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// dataException is Postgres' class of errors for values that it can't store.
const dataException = "22"
