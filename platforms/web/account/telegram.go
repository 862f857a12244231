package account

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// TelegramLogin is what signing in with Telegram needs. The bot's owner tells @BotFather our domain
// (/setdomain).
type TelegramLogin struct {
	BotToken string
	AuthURL  string // empty: https://oauth.telegram.org/auth
}

// Proofs are what is good for one sign-in: users.Store.
type Proofs interface {
	UseProof(ctx context.Context, proof string, expires time.Time) error
}

// telegram is signing in with Telegram.
type telegram struct {
	shared
	login   TelegramLogin
	proofs  Proofs
	linking *linking
}

func (s *telegram) routes() []door.Route {
	return []door.Route{
		door.ForVisitors("GET /signin/telegram", s.begin),
		door.ForVisitors("GET /signin/telegram/back", s.page),
		door.ForVisitors("POST /signin/telegram/back", s.end),
	}
}

// telegramAge is how old Telegram's answer may be, and telegramSkew how far its clock may be ahead.
const (
	telegramAge  = 10 * time.Minute
	telegramSkew = time.Minute
)

// begin leads to Telegram's page for signing in, which comes back to /signin/telegram with its
// answer.
func (s *telegram) begin(w http.ResponseWriter, r *http.Request) error {
	state, err := s.beginSignin(w, wayTelegram, "", r.FormValue("next"))
	if err != nil {
		return err
	}
	back := s.door.Site.Absolute(r, "/signin/telegram/back?state="+url.QueryEscape(state.State))
	botID, _, _ := strings.Cut(s.login.BotToken, ":")
	q := url.Values{"bot_id": {botID}, "origin": {s.door.Site.Absolute(r, "")}, "embed": {"0"}, "request_access": {"write"}, "return_to": {back}}
	http.Redirect(w, r, cmp.Or(s.login.AuthURL, "https://oauth.telegram.org/auth")+"?"+q.Encode(), http.StatusSeeOther)
	return nil
}

// page shows a form with Telegram's answer. It stands in the address: in its query, or in its
// fragment, which only the page's script can read and send.
func (s *telegram) page(w http.ResponseWriter, r *http.Request) error {
	a, _ := door.Account(r.Context())
	s.pages.Render(w, r, http.StatusOK, "signin-telegram", render.View{
		Title: s.render.Voice(r, a).Line("signin.telegram.title"), Scripts: []string{"signin.js"},
		Data: &formView{Token: r.URL.Query().Get("state"), Proof: answerIn(r.URL.Query())},
	})
	return nil
}

// answerIn is Telegram's answer in a query, as one text; empty when there is none.
func answerIn(q url.Values) string {
	if !q.Has("hash") {
		return ""
	}
	q.Del("state")
	return q.Encode()
}

// end signs in with Telegram's answer.
func (s *telegram) end(w http.ResponseWriter, r *http.Request) error {
	state, err := s.endSignin(w, r, wayTelegram, r.PostFormValue("state"))
	if err != nil {
		return err
	}
	answer, err := url.ParseQuery(r.PostFormValue("answer"))
	if err != nil {
		return errTelegram
	}
	who, err := telegramIdentity(s.login.BotToken, answer, s.now())
	if err != nil {
		return err
	}
	err = s.proofs.UseProof(r.Context(), "telegram:"+answer.Get("hash"), s.now().Add(telegramAge+telegramSkew))
	if errors.Is(err, users.ErrUsed) {
		return errStale
	}
	if err != nil {
		return err
	}
	return s.linking.arrive(w, r, who, wayTelegram, state.Next)
}

var errTelegram = registry.Errorf(registry.CodeInvalidInput, "this is no answer of Telegram's for our bot; start signing in again")

// telegramIdentity checks Telegram's answer as core.telegram.org/widgets/login says: all its members but hash,
// sorted, a line each as name=value, signed by HMAC-SHA-256 under the SHA-256 of the bot's token.
func telegramIdentity(token string, answer url.Values, now time.Time) (users.Identity, error) {
	var lines []string
	for name, values := range answer {
		if len(values) != 1 {
			return users.Identity{}, errTelegram
		}
		if name != "hash" {
			lines = append(lines, name+"="+values[0])
		}
	}
	slices.Sort(lines)
	key := sha256.Sum256([]byte(token))
	mac := hmac.New(sha256.New, key[:])
	fmt.Fprint(mac, strings.Join(lines, "\n"))
	given, err := hex.DecodeString(answer.Get("hash"))
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return users.Identity{}, errTelegram
	}
	seconds, err := strconv.ParseInt(answer.Get("auth_date"), 10, 64)
	if err != nil {
		return users.Identity{}, errTelegram
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > telegramAge || age < -telegramSkew {
		return users.Identity{}, errStale
	}
	if _, err := strconv.ParseUint(answer.Get("id"), 10, 64); err != nil {
		return users.Identity{}, errTelegram
	}
	name := strings.TrimSpace(answer.Get("first_name") + " " + answer.Get("last_name"))
	who := users.Identity{Platform: wayTelegram, ExternalID: answer.Get("id"), Name: name}
	if username := answer.Get("username"); username != "" {
		who.Handle = "@" + username
	}
	return who, nil
}
