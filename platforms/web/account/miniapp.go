package account

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/users"
)

// appAge is how old the data may be with which Telegram opens the Mini App. It is made at each opening.
const appAge = time.Hour

// miniApp signs in anyone who opens the pages inside Telegram.
type miniApp struct {
	shared
	token    string // the bot's
	proofs   Proofs
	accounts Accounts
}

func (s *miniApp) routes() []door.Route {
	return []door.Route{
		door.ForVisitors("GET "+door.AppPath, s.page),
		door.ForVisitors("POST "+door.AppPath, s.enter),
	}
}

// page carries Telegram's data, which stands in the address's fragment, back to us. Outside of Telegram it says where to go.
func (s *miniApp) page(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "")
	return nil
}

// show draws the page; problem is the key of what went wrong, if anything did.
func (s *miniApp) show(w http.ResponseWriter, r *http.Request, status int, problem string) {
	a, _ := door.Account(r.Context())
	v := s.render.Voice(r, a)
	if problem != "" {
		problem = v.Line(problem)
	}
	s.pages.Render(w, r, status, "miniapp", render.View{Title: v.Line("app.title"), Problem: problem})
}

// enter signs in the person whom Telegram's data is about; other data gets the page again, with what to do.
func (s *miniApp) enter(w http.ResponseWriter, r *http.Request) error {
	err := s.enterBy(w, r)
	if errors.Is(err, errApp) || errors.Is(err, errStale) {
		s.show(w, r, http.StatusUnprocessableEntity, "app.refused")
		return nil
	}
	return err
}

// enterBy signs in with Telegram's data. The data is good once; who is signed in by it already may show it again, as a page
// that is loaded anew does.
func (s *miniApp) enterBy(w http.ResponseWriter, r *http.Request) error {
	data, err := url.ParseQuery(r.PostFormValue("data"))
	if err != nil {
		return errApp
	}
	who, made, err := appIdentity(s.token, data, s.now())
	if err != nil {
		return err
	}
	a, err := s.accounts.Identify(r.Context(), who)
	if err != nil {
		return err
	}
	err = s.proofs.UseProof(r.Context(), "miniapp:"+data.Get("hash"), made.Add(appAge+telegramSkew))
	if me, in := door.Caller(r.Context()); errors.Is(err, users.ErrUsed) && in && me.ID == a.ID {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	if errors.Is(err, users.ErrUsed) {
		return errStale
	}
	if err == nil {
		err = s.door.Enter(w, r, a, wayTelegram)
	}
	if err == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}
	return err
}

var errApp = errors.New("this is not what Telegram opens our bot's Mini App with")

// appIdentity checks the data that a Mini App is opened with, as core.telegram.org/bots/webapps says: all its members but hash,
// sorted, a line each as name=value, signed by HMAC-SHA-256 under the HMAC-SHA-256 of the bot's token by the key "WebAppData".
func appIdentity(token string, data url.Values, now time.Time) (who users.Identity, made time.Time, err error) {
	var lines []string
	for name, values := range data {
		if len(values) != 1 {
			return who, made, errApp
		}
		if name != "hash" {
			lines = append(lines, name+"="+values[0])
		}
	}
	slices.Sort(lines)
	given, err := hex.DecodeString(data.Get("hash"))
	if err != nil || !hmac.Equal(given, macOf(macOf([]byte("WebAppData"), token), strings.Join(lines, "\n"))) {
		return who, made, errApp
	}
	seconds, err := strconv.ParseInt(data.Get("auth_date"), 10, 64)
	var user struct {
		ID        int64  `json:"id"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Username  string `json:"username"`
		Language  string `json:"language_code"`
		IsBot     bool   `json:"is_bot"`
	}
	if err != nil || json.Unmarshal([]byte(data.Get("user")), &user) != nil || user.ID <= 0 || user.IsBot {
		return who, made, errApp
	}
	made = time.Unix(seconds, 0)
	if age := now.Sub(made); age > appAge || age < -telegramSkew {
		return who, made, errStale
	}
	who = users.Identity{
		Platform: wayTelegram, ExternalID: strconv.FormatInt(user.ID, 10), Language: user.Language,
		Name: strings.TrimSpace(user.FirstName + " " + user.LastName),
	}
	if user.Username != "" {
		who.Handle = "@" + user.Username
	}
	return who, made, nil
}

func macOf(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
