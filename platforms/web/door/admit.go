package door

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/users"
)

// Admit lets the sender of a request in by what the address does and whether they are muted, or says why not. Anyone who acts by a cookie has to
// send the page's token, too; so has who signs in.
func (d *Door) Admit(w http.ResponseWriter, r *http.Request, use Use) (users.Account, error) {
	c, err := visitOf(r.Context()).who()
	if err != nil && !errors.Is(err, ErrSignedOut) {
		return users.Account{}, err
	}
	if !c.may(use) {
		return users.Account{}, cmp.Or(err, c.refusal(use))
	}
	if !safeMethod(r.Method) && (c.kind == session || use == Enter) {
		if err := d.unforged(w, r); err != nil {
			return c.account, err
		}
	}
	return c.account, d.unmuted(r, c, use)
}

// AdmitToPage is Admit for a page of people: it signs the person at this machine in.
func (d *Door) AdmitToPage(w http.ResponseWriter, r *http.Request, use Use) (users.Account, error) {
	visitOf(r.Context()).page = true
	return d.Admit(w, r, use)
}

// AdmitToTry is Admit for the ways in: it bounds how often an address may try.
func (d *Door) AdmitToTry(w http.ResponseWriter, r *http.Request, use Use) (users.Account, error) {
	a, err := d.Admit(w, r, use)
	if err == nil && !safeMethod(r.Method) {
		err = d.attempts.allow(d.Guesser(r))
	}
	return a, err
}

// AdmitToAPI is Admit for programs: it bounds how many requests an account may make.
func (d *Door) AdmitToAPI(w http.ResponseWriter, r *http.Request, use Use) (users.Account, error) {
	a, err := d.Admit(w, r, use)
	if err == nil {
		err = d.requests.allow(a.ID)
	}
	return a, err
}
