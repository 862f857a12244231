package pages

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/users"
)

// buyPage is what is sold, what was bought, and how to get more credit otherwise.
type buyPage struct {
	buyView
	Offers  []words.Offer
	Bought  []payments.Payment
	Thanks  bool   // somebody comes back from paying
	Pay     string // where what was just ordered is paid; empty: nothing was
	Ordered words.Offer
}

// buy says how to get more credit. Anyone who comes back from Stripe has what they paid looked for at once.
func (s *overview) buy(w http.ResponseWriter, r *http.Request, a users.Account) error {
	page := buyPage{buyView: s.buying.now()}
	if session := r.URL.Query().Get("session"); session != "" && s.buying.now().Seller != nil {
		page.Thanks = true
		if err := s.buying.now().Seller.Look(r.Context(), session); err != nil {
			s.log.WarnContext(r.Context(), "a payment will be credited when Stripe tells of it", "error", err)
		}
	}
	return s.showBuying(w, r, a, http.StatusOK, page, "")
}

func (s *overview) showBuying(w http.ResponseWriter, r *http.Request, a users.Account, status int, page buyPage, trouble string) error {
	voice := s.render.Voice(r, a)
	if s.buying.now().Seller != nil {
		var err error
		page.Offers = s.buying.now().Seller.Offers(door.Platform, voice.Language())
		if page.Bought, err = s.buying.now().Seller.Bought(r.Context(), a.ID); err != nil {
			return err
		}
	}
	return s.pages.ShowAs(w, r, a, status, "buy", render.View{Title: voice.Line("buy.title"), Problem: trouble, Data: page})
}

// order orders what a form names, and shows the link to where it is paid: a form of this page may lead nowhere else by itself.
func (s *overview) order(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if s.buying.now().Seller == nil {
		return problem.ErrNothingThere
	}
	language := s.render.Voice(r, a).Language()
	offers := s.buying.now().Seller.Offers(door.Platform, language)
	i := slices.IndexFunc(offers, func(o words.Offer) bool { return o.ID() == r.PostFormValue("offer") })
	err := payments.ErrNoProduct
	address := ""
	if i >= 0 {
		address, err = s.buying.now().Seller.Checkout(r.Context(), a.ID, door.Platform, language, offers[i])
	}
	if err != nil {
		return s.notBought(w, r, a, err)
	}
	page := buyPage{buyView: s.buying.now(), Pay: address, Ordered: offers[i]}
	return s.showBuying(w, r, a, http.StatusOK, page, "")
}

// redeem gives the credit of a voucher.
func (s *overview) redeem(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if s.buying.now().Seller == nil {
		return problem.ErrNothingThere
	}
	if _, err := s.buying.now().Seller.Redeem(r.Context(), a.ID, r.PostFormValue("code")); err != nil {
		return s.notBought(w, r, a, err)
	}
	http.Redirect(w, r, "/buy#bought", http.StatusSeeOther)
	return nil
}

// notBought shows the page again with what is in the way.
func (s *overview) notBought(w http.ResponseWriter, r *http.Request, a users.Account, err error) error {
	key := words.BuyingProblem(err)
	if key == "" {
		return err
	}
	status := http.StatusUnprocessableEntity
	if errors.Is(err, payments.ErrAway) {
		status = http.StatusServiceUnavailable
	}
	return s.showBuying(w, r, a, status, buyPage{buyView: s.buying.now()}, s.render.Voice(r, a).Line(key))
}

// receipt sends the receipt of a payment of one's own as a PDF.
func (s *overview) receipt(w http.ResponseWriter, r *http.Request, a users.Account) error {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	if err != nil || s.buying.now().Seller == nil {
		return problem.ErrNothingThere
	}
	file, err := s.buying.now().Seller.Invoice(r.Context(), a.ID, s.render.Voice(r, a).Language(), number)
	if errors.Is(err, payments.ErrNoPayment) {
		return problem.ErrNothingThere
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/pdf")
	w.Header().Set("Content-Disposition", `inline; filename="receipt-`+strconv.FormatInt(number, 10)+`.pdf"`)
	w.Header().Set("Cache-Control", "private, no-store")
	_, err = w.Write(file)
	return err
}
