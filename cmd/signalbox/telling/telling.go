// Package telling sends people messages that the program begins by itself, such as that an archive is ready, to where they read them.
package telling

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/users"
)

// Teller tells people.
type Teller struct {
	Users     *users.Store
	Texts     *i18n.Catalogue
	Page      chat.Adapter
	Telegram  *telegram.Adapter // nil: off
	Deliverer *show.Deliverer
	Logger    *slog.Logger
}

// Person says something to the owner of an account, in the page's chat and in a private one of Telegram.
func (t Teller) Person(ctx context.Context, accountID, text string) error {
	say := func(by chat.Adapter, place string) error {
		_, err := by.Send(ctx, chat.Message{To: chat.Place{Chat: place}, Text: chat.Plain(text)})
		return err
	}
	failed := say(t.Page, accountID)
	identities, err := t.Users.Identities(ctx, accountID)
	for _, who := range identities {
		if who.Platform == telegram.Platform && t.Telegram != nil {
			failed = errors.Join(failed, say(t.Telegram, who.ExternalID))
		}
	}
	return errors.Join(failed, err)
}

// Line says a text in the language of the owner of an account.
func (t Teller) Line(ctx context.Context, accountID, key string, pairs ...any) error {
	owner, err := t.Users.ByID(ctx, accountID)
	if err != nil {
		return err
	}
	return t.Person(ctx, owner.ID, t.Texts.Voice(owner.Language).Line(key, pairs...))
}

// limitsWithin is how long it is tried to tell somebody of a limit.
const limitsWithin = time.Minute

// Limits tells the owner of a run which of their limits, and of their keys', are nearly used up.
func (t Teller) Limits(ctx context.Context, from *runner.Service, run runs.Run) {
	ctx, cancel := context.WithTimeout(ctx, limitsWithin)
	defer cancel()
	fresh, err := from.Warn(ctx, run)
	for _, use := range fresh {
		err = errors.Join(err, t.limit(ctx, run.AccountID, use))
	}
	if err != nil {
		t.Logger.Warn("a limit that is nearly used up was not told", "account", run.AccountID, "error", err)
	}
}

func (t Teller) limit(ctx context.Context, accountID string, use runs.LimitUse) error {
	owner, err := t.Users.ByID(ctx, accountID)
	if err != nil {
		return err
	}
	voice := t.Texts.Voice(owner.Language)
	return t.Person(ctx, owner.ID, voice.Line(words.NearKey(use))+"\n"+i18n.Joined(words.Limit(voice, use)))
}

// Export tells somebody that their archive is ready, or that there is none.
func (t Teller) Export(ctx context.Context, e exports.Export) error {
	owner, err := t.Users.ByID(ctx, e.AccountID)
	if err != nil {
		return err
	}
	voice := t.Texts.Voice(owner.Language)
	if e.State != exports.Ready {
		return t.Person(ctx, owner.ID, voice.Line("export.failed"))
	}
	return t.Person(ctx, owner.ID, voice.Line("export.ready", "size", assets.Words(e.Bytes), "link", e.Address, "until", voice.Moment(*e.ExpiresAt)))
}

// Mission tells the owner of a mission what waits for their word, or how it ended: in the chat that it was asked for in. Of one that a
// program has planned they hear what they have to see to themselves, in the page's chat and on Telegram.
func (t Teller) Mission(ctx context.Context, from *runner.Service, m missions.Mission, waits *missions.Leg) error {
	if len(m.Origin.Target) > 0 {
		where, err := store.TargetOf(runs.Run{ID: m.ID, Origin: m.Origin})
		if err != nil {
			return err
		}
		return t.Deliverer.TellMission(ctx, from, m.Origin.Platform, where, m, waits)
	}
	if waits == nil && m.Status != missions.RollbackIncomplete {
		return nil
	}
	account, err := t.Users.ByID(ctx, m.AccountID)
	if err != nil {
		return err
	}
	tell := func(platform, place string) error {
		where := store.Target{Chat: chat.Chat{Place: chat.Place{Chat: place}, Kind: chat.ChatPrivate}, Language: account.Language}
		return t.Deliverer.TellMission(ctx, from, platform, where, m, waits)
	}
	failed := tell(web.Platform, account.ID)
	identities, err := t.Users.Identities(ctx, account.ID)
	for _, who := range identities {
		if who.Platform == telegram.Platform {
			failed = errors.Join(failed, tell(telegram.Platform, who.ExternalID))
		}
	}
	return errors.Join(failed, err)
}
