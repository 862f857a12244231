package drawings

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/penpot"
	"github.com/signalbox/signalbox/users"
)

// Penpot serves the plugin for Penpot, which is paired by a code from /link.
func Penpot(hub *penpot.Hub, people *users.Store, log *slog.Logger) http.Handler {
	return penpot.Handler(penpot.Config{Hub: hub, Logger: log, Pair: func(r *http.Request, code string) (penpot.Pairing, error) {
		account, err := people.TakeLinkCode(r.Context(), web.Guesser(r), code)
		if err != nil {
			return penpot.Pairing{}, err
		}
		return pair(r.Context(), people, log, users.Session{AccountID: account.ID, Way: "penpot", Agent: "Penpot", Address: web.Guesser(r)})
	}})
}

// pair makes a plugin a session of its account, so that it is listed with the others and ends like them. Nobody but the connection has the secret of
// that session.
func pair(ctx context.Context, people *users.Store, log *slog.Logger, as users.Session) (penpot.Pairing, error) {
	secret, err := people.NewSession(ctx, as)
	if err != nil {
		return penpot.Pairing{}, err
	}
	return penpot.Pairing{
		Account: as.AccountID,
		Ended: func(ctx context.Context) bool {
			now, _, err := people.BySession(ctx, secret)
			return errors.Is(err, users.ErrNotFound) || err == nil && now.ID != as.AccountID // the account was joined to another, which has no plugin here
		},
		Leave: func(ctx context.Context) {
			now, session, err := people.BySession(ctx, secret)
			if err == nil {
				err = people.EndSession(ctx, now.ID, session.ID)
			}
			if err != nil && !errors.Is(err, users.ErrNotFound) {
				log.WarnContext(ctx, "a Penpot that has gone stays listed until its session is too old", "account", as.AccountID, "error", err)
			}
		},
	}, nil
}
