package web

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// linkPage takes a code that a chat has made: it signs a browser in, or joins the two accounts of who is
// signed in already. Nothing happens before a button is pressed, since previews of links open them, too.
func (s *Server) linkPage(w http.ResponseWriter, r *http.Request) error {
	return s.showLink(w, r, http.StatusOK, signinView{Code: r.URL.Query().Get("code")}, "")
}

func (s *Server) showLink(w http.ResponseWriter, r *http.Request, status int, v signinView, problem string) error {
	a, _ := s.account(r)
	s.render(w, r, status, "signin-link", view{Title: s.voice(r, a).Line("signin.link.title"), Problem: problem, Signin: &v})
	return nil
}

func (s *Server) link(w http.ResponseWriter, r *http.Request) error {
	code := r.PostFormValue("code")
	me, err := s.account(r)
	if errors.Is(err, errSignedOut) {
		return s.enterByCode(w, r, code)
	}
	if err != nil {
		return err
	}
	other, err := s.cfg.Users.PeekLinkCode(r.Context(), me.ID, code)
	if err == nil && other.ID != me.ID {
		if asked, err := s.asksToJoin(w, r, me, other, signinView{Code: code}); asked || err != nil {
			return err
		}
	}
	if err == nil {
		_, err = s.cfg.Users.RedeemLinkCode(r.Context(), me.ID, code)
	}
	if errors.Is(err, users.ErrNoCode) {
		return s.showLink(w, r, http.StatusUnprocessableEntity, signinView{}, s.voice(r, me).Line("signin.code.unknown"))
	}
	if err != nil {
		return err
	}
	s.forgetCallers(me.ID)
	s.forgetCallers(other.ID)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
	return nil
}

func (s *Server) enterByCode(w http.ResponseWriter, r *http.Request, code string) error {
	a, err := s.cfg.Users.TakeLinkCode(r.Context(), s.guesserOf(r), code)
	if errors.Is(err, users.ErrNoCode) {
		return s.showLink(w, r, http.StatusUnprocessableEntity, signinView{}, s.voice(r, a).Line("signin.code.unknown"))
	}
	if err == nil {
		err = s.enter(w, r, a, wayCode)
	}
	if err == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}
	return err
}

// arrive goes on with somebody who has proved elsewhere to own an identity. It signs in who was not; who was
// gets the identity linked. Where it belongs to another account, joining the two is asked for first.
func (s *Server) arrive(w http.ResponseWriter, r *http.Request, who users.Identity, way, next string) error {
	me, err := s.account(r)
	if errors.Is(err, errSignedOut) {
		a, err := s.cfg.Users.Identify(r.Context(), who)
		if err == nil {
			err = s.enter(w, r, a, way)
		}
		if err == nil {
			http.Redirect(w, r, next, http.StatusSeeOther)
		}
		return err
	}
	if err != nil {
		return err
	}
	other, err := s.cfg.Users.ByIdentity(r.Context(), who.Platform, who.ExternalID)
	switch {
	case err == nil && other.ID != me.ID:
		sealed, err := s.seal("join", proof{Browser: s.browser(r), Identity: who, Expires: s.cfg.Now().Add(proofLife)})
		if err == nil {
			_, err = s.asksToJoin(w, r, me, other, signinView{Proof: sealed})
		}
		return err
	case errors.Is(err, users.ErrNotFound):
		err = s.cfg.Users.Link(r.Context(), me.ID, who)
	}
	if err == nil {
		http.Redirect(w, r, "/account", http.StatusSeeOther)
	}
	return err
}

// asksToJoin puts the question whether two accounts become one, unless it was answered: what the other one is, beyond the
// names that it chose itself, and what joining hands over. Where there is money in one of them it asks twice.
func (s *Server) asksToJoin(w http.ResponseWriter, r *http.Request, me, other users.Account, v signinView) (asked bool, err error) {
	ctx, voice := r.Context(), s.voice(r, me)
	v.Join, v.Since = "yes", other.CreatedAt
	if r.PostFormValue("join") != "" {
		mine, err := s.cfg.Ledger.Balance(ctx, me.ID)
		if err != nil {
			return false, err
		}
		theirs, err := s.cfg.Ledger.Balance(ctx, other.ID)
		if err != nil || mine.All()+theirs.All() == 0 || r.PostFormValue("join") == joinMoney {
			return false, err
		}
		v.Join, v.Money = joinMoney, voice.Line("link.askMoney", "mine", mine.All(), "theirs", theirs.All())
	}
	identities, err := s.cfg.Users.Identities(ctx, other.ID)
	if err != nil {
		return false, err
	}
	for _, id := range identities {
		v.Others = append(v.Others, id.Card())
	}
	s.render(w, r, http.StatusOK, "signin-link", view{Title: voice.Line("signin.link.title"), Signin: &v})
	return true, nil
}

// joinMoney answers the question that comes where there is money in one of the accounts.
const joinMoney = "money"

// browser names the browser that a request came from, by its cookie.
func (s *Server) browser(r *http.Request) string {
	return hex.EncodeToString(s.mac("browser", visitOf(r.Context()).bond())[:16])
}

// proof says that whoever uses a browser owns an identity, too. The page carries it, signed, from the question to
// the answer.
type proof struct {
	Browser  string
	Identity users.Identity
	Expires  time.Time
}

// proofLife is how long a question on a page can be answered.
const proofLife = 10 * time.Minute

// join makes the account of a proved identity and that of who is signed in one.
func (s *Server) join(w http.ResponseWriter, r *http.Request, me users.Account) error {
	var p proof
	if !s.unseal("join", r.PostFormValue("proof"), &p) || p.Browser != s.browser(r) || s.cfg.Now().After(p.Expires) {
		return errStale
	}
	other, err := s.cfg.Users.ByIdentity(r.Context(), p.Identity.Platform, p.Identity.ExternalID)
	if err != nil && !errors.Is(err, users.ErrNotFound) {
		return err
	}
	if err == nil && other.ID != me.ID {
		if asked, err := s.asksToJoin(w, r, me, other, signinView{Proof: r.PostFormValue("proof")}); asked || err != nil {
			return err
		}
	}
	if err := s.cfg.Users.Link(r.Context(), me.ID, p.Identity); err != nil {
		return err
	}
	s.forgetCallers(me.ID)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
	return nil
}

// errStale is the answer to sign-ins that took too long, or did not begin in this browser.
var errStale = registry.Errorf(registry.CodeInvalidInput, "this sign-in is too old, or began in another browser; start it again")

// seal writes v as text that only this program can have written, for one purpose.
func (s *Server) seal(purpose string, v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.mac("seal "+purpose, text)), nil
}

// unseal reads what seal wrote and reports whether it is genuine.
func (s *Server) unseal(purpose, sealed string, v any) bool {
	text, sum, _ := strings.Cut(sealed, ".")
	given, err := base64.RawURLEncoding.DecodeString(sum)
	if err != nil || !hmac.Equal(given, s.mac("seal "+purpose, text)) {
		return false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(raw, v) == nil
}
