package account

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/users"
)

// Codes are the codes that chats make: users.Store.
type Codes interface {
	PeekLinkCode(ctx context.Context, guesser, code string) (users.Account, error)
	TakeLinkCode(ctx context.Context, guesser, code string) (users.Account, error)
	RedeemLinkCode(ctx context.Context, accountID, code string) (users.Merged, error)
}

// Accounts finds the accounts of identities and joins them: users.Store.
type Accounts interface {
	Identify(ctx context.Context, id users.Identity) (users.Account, error)
	ByIdentity(ctx context.Context, platform, externalID string) (users.Account, error)
	Identities(ctx context.Context, accountID string) ([]users.LinkedIdentity, error)
	Link(ctx context.Context, accountID string, id users.Identity) error
}

// Ledger tells what accounts have: billing.Ledger.
type Ledger interface {
	Balance(ctx context.Context, accountID string) (billing.Balance, error)
	Income(ctx context.Context, accountID string, since time.Time) ([]billing.Income, error)
}

// linking signs in by what was proved elsewhere, or joins accounts by it.
type linking struct {
	shared
	codes    Codes
	accounts Accounts
	ledger   Ledger
}

func (s *linking) routes() []door.Route {
	return []door.Route{
		door.ForVisitors("GET /link", s.page),
		door.ForVisitors("POST /link", s.link),
		door.ForPeople("POST /link/join", door.Person, s.join),
	}
}

// page takes a code that a chat has made: it signs a browser in, or joins two accounts where
// the browser is signed in already. Nothing happens before a button is pressed, since previews of links open them, too.
func (s *linking) page(w http.ResponseWriter, r *http.Request) error {
	return s.show(w, r, http.StatusOK, formView{Code: r.URL.Query().Get("code")}, "")
}

func (s *linking) show(w http.ResponseWriter, r *http.Request, status int, v formView, problem string) error {
	a, _ := door.Account(r.Context())
	s.pages.Render(w, r, status, "signin-link", render.View{Title: s.render.Voice(r, a).Line("signin.link.title"), Problem: problem, Data: &v})
	return nil
}

// link takes the code that was typed.
func (s *linking) link(w http.ResponseWriter, r *http.Request) error {
	code := r.PostFormValue("code")
	me, err := door.Account(r.Context())
	if errors.Is(err, door.ErrSignedOut) {
		return s.enterByCode(w, r, code)
	}
	if err != nil {
		return err
	}
	other, err := s.codes.PeekLinkCode(r.Context(), me.ID, code)
	if err == nil && other.ID != me.ID {
		if asked, err := s.asksToJoin(w, r, me, other, formView{Code: code}); asked || err != nil {
			return err
		}
	}
	if err == nil {
		_, err = s.codes.RedeemLinkCode(r.Context(), me.ID, code)
	}
	if errors.Is(err, users.ErrNoCode) {
		return s.show(w, r, http.StatusUnprocessableEntity, formView{}, s.render.Voice(r, me).Line("signin.code.unknown"))
	}
	if err != nil {
		return err
	}
	s.door.Forget(me.ID)
	s.door.Forget(other.ID)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
	return nil
}

func (s *linking) enterByCode(w http.ResponseWriter, r *http.Request, code string) error {
	a, err := s.codes.TakeLinkCode(r.Context(), s.door.Guesser(r), code)
	if errors.Is(err, users.ErrNoCode) {
		return s.show(w, r, http.StatusUnprocessableEntity, formView{}, s.render.Voice(r, a).Line("signin.code.unknown"))
	}
	if err == nil {
		err = s.door.Enter(w, r, a, wayCode)
	}
	if err == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}
	return err
}

// arrive is called when somebody has proved elsewhere to own an identity. A visitor is signed in; an account that is signed in
// gets the identity linked. Where it belongs to another account, the person is asked first whether to join the two.
func (s *linking) arrive(w http.ResponseWriter, r *http.Request, who users.Identity, way, next string) error {
	me, err := door.Account(r.Context())
	if errors.Is(err, door.ErrSignedOut) {
		a, err := s.accounts.Identify(r.Context(), who)
		if err == nil {
			err = s.door.Enter(w, r, a, way)
		}
		if err == nil {
			http.Redirect(w, r, next, http.StatusSeeOther)
		}
		return err
	}
	if err != nil {
		return err
	}
	other, err := s.accounts.ByIdentity(r.Context(), who.Platform, who.ExternalID)
	switch {
	case err == nil && other.ID != me.ID:
		sealed, err := s.door.Seal("join", proof{Browser: s.door.Browser(r), Identity: who, Expires: s.now().Add(proofLife)})
		if err == nil {
			_, err = s.asksToJoin(w, r, me, other, formView{Proof: sealed})
		}
		return err
	case errors.Is(err, users.ErrNotFound):
		err = s.accounts.Link(r.Context(), me.ID, who)
	}
	if err == nil {
		http.Redirect(w, r, "/account", http.StatusSeeOther)
	}
	return err
}

// asksToJoin asks whether two accounts become one, unless that was answered. The question shows what the other account is,
// beyond the names that it chose itself, and what joining hands over. Where one of them has money it asks twice.
func (s *linking) asksToJoin(w http.ResponseWriter, r *http.Request, me, other users.Account, v formView) (asked bool, err error) {
	ctx, voice := r.Context(), s.render.Voice(r, me)
	v.Join, v.Since = "yes", other.CreatedAt
	if r.PostFormValue("join") != "" {
		mine, err := s.ledger.Balance(ctx, me.ID)
		if err != nil {
			return false, err
		}
		theirs, err := s.ledger.Balance(ctx, other.ID)
		if err != nil || mine.All()+theirs.All() == 0 || r.PostFormValue("join") == joinMoney {
			return false, err
		}
		v.Join, v.Money = joinMoney, voice.Line("link.askMoney", "mine", mine.All(), "theirs", theirs.All())
	}
	identities, err := s.accounts.Identities(ctx, other.ID)
	if err != nil {
		return false, err
	}
	for _, id := range identities {
		v.Others = append(v.Others, id.Card())
	}
	s.pages.Render(w, r, http.StatusOK, "signin-link", render.View{Title: voice.Line("signin.link.title"), Data: &v})
	return true, nil
}

// joinMoney answers the question that comes where there is money in one of the accounts.
const joinMoney = "money"

// proof says that anyone who uses a browser owns an identity, too. The page carries it, signed, from the question to
// the answer.
type proof struct {
	Browser  string
	Identity users.Identity
	Expires  time.Time
}

// proofLife is how long a question on a page can be answered.
const proofLife = 10 * time.Minute

// join joins the account of a proved identity to the account that is signed in.
func (s *linking) join(w http.ResponseWriter, r *http.Request, me users.Account) error {
	var p proof
	if !s.door.Unseal("join", r.PostFormValue("proof"), &p) || p.Browser != s.door.Browser(r) || s.now().After(p.Expires) {
		return errStale
	}
	other, err := s.accounts.ByIdentity(r.Context(), p.Identity.Platform, p.Identity.ExternalID)
	if err != nil && !errors.Is(err, users.ErrNotFound) {
		return err
	}
	if err == nil && other.ID != me.ID {
		if asked, err := s.asksToJoin(w, r, me, other, formView{Proof: r.PostFormValue("proof")}); asked || err != nil {
			return err
		}
	}
	if err := s.accounts.Link(r.Context(), me.ID, p.Identity); err != nil {
		return err
	}
	s.door.Forget(me.ID)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
	return nil
}
