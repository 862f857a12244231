package web

import (
	"cmp"
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

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// TelegramLogin is what signing in with Telegram needs. The bot's owner tells @BotFather our domain
// (/setdomain).
type TelegramLogin struct {
	BotToken string
	AuthURL  string // empty: https://oauth.telegram.org/auth
}

// telegramAge is how old Telegram's answer may be, and telegramSkew how far its clock may be ahead.
const (
	telegramAge  = 10 * time.Minute
	telegramSkew = time.Minute
)

// toTelegram leads to Telegram's page for signing in, which comes back to /signin/telegram with its
// answer.
func (s *Server) toTelegram(w http.ResponseWriter, r *http.Request) error {
	state, err := s.beginSignin(w, wayTelegram, "", r.FormValue("next"))
	if err != nil {
		return err
	}
	back := s.absolute(r, "/signin/telegram/back?state="+url.QueryEscape(state.State))
	botID, _, _ := strings.Cut(s.cfg.Telegram.BotToken, ":")
	q := url.Values{"bot_id": {botID}, "origin": {s.absolute(r, "")}, "embed": {"0"}, "request_access": {"write"}, "return_to": {back}}
	http.Redirect(w, r, cmp.Or(s.cfg.Telegram.AuthURL, "https://oauth.telegram.org/auth")+"?"+q.Encode(), http.StatusSeeOther)
	return nil
}

// fromTelegram shows a form with Telegram's answer. It stands in the address: in its query, or in its
// fragment, which only the page's script can read and send.
func (s *Server) fromTelegram(w http.ResponseWriter, r *http.Request) error {
	a, _ := s.account(r)
	s.render(w, r, http.StatusOK, "signin-telegram", view{
		Title: s.voice(r, a).Line("signin.telegram.title"), Scripts: []string{"signin.js"},
		Signin: &signinView{Token: r.URL.Query().Get("state"), Proof: answerIn(r.URL.Query())},
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

// byTelegram signs in with Telegram's answer.
func (s *Server) byTelegram(w http.ResponseWriter, r *http.Request) error {
	state, err := s.endSignin(w, r, wayTelegram, r.PostFormValue("state"))
	if err != nil {
		return err
	}
	answer, err := url.ParseQuery(r.PostFormValue("answer"))
	if err != nil {
		return errTelegram
	}
	who, err := telegramIdentity(s.cfg.Telegram.BotToken, answer, s.cfg.Now())
	if err != nil {
		return err
	}
	err = s.cfg.Users.UseProof(r.Context(), "telegram:"+answer.Get("hash"), s.cfg.Now().Add(telegramAge+telegramSkew))
	if errors.Is(err, users.ErrUsed) {
		return errStale
	}
	if err != nil {
		return err
	}
	return s.arrive(w, r, who, wayTelegram, state.Next)
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
