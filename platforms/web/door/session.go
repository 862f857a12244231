package door

import (
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/users"
)

// cookieAge is how long browsers are asked to keep the session; how long it holds, the database says.
const cookieAge = 365 * 24 * time.Hour

// SetCookie gives the browser a cookie that no script and no other site can read; with an age of 0 it goes
// with the browser, with a negative one at once.
func (d *Door) SetCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	http.SetCookie(w, d.cookie(name, value, age))
}

func (d *Door) cookie(name, value string, age time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: d.Site.cookieName(name), Value: value, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: d.Site.Secure(),
	}
}

// Cookie is the value of a cookie that SetCookie set.
func (d *Door) Cookie(r *http.Request, name string) (value string, ok bool) {
	c, err := r.Cookie(d.Site.cookieName(name))
	if err != nil {
		return "", false
	}
	return c.Value, true
}

// Enter signs the browser in to an account. A session that it had ends, so that nobody who knew the old
// secret comes along.
func (d *Door) Enter(w http.ResponseWriter, r *http.Request, a users.Account, way string) error {
	v := visitOf(r.Context())
	if old, err := v.who(); err == nil && old.session.ID != "" {
		if err := d.cfg.Secrets.EndSession(r.Context(), old.account.ID, old.session.ID); err != nil {
			return err
		}
		d.Forget(old.account.ID)
	}
	secret, err := d.cfg.Secrets.NewSession(r.Context(), users.Session{AccountID: a.ID, Way: way, Agent: r.UserAgent(), Address: d.addressOf(r)})
	if err != nil {
		return err
	}
	kind, _, _ := strings.Cut(way, ":")
	d.cfg.Logger.Info("signed in", "account", a.ID, "way", kind, "address", d.addressOf(r))
	cookie, age := sessionCookie, cookieAge
	if v.framed() {
		cookie, age = framedCookie, 0 // it is made anew whenever Telegram opens the pages
	}
	v.keep(cookie, secret, age)
	v.asked, v.caller, v.err, v.secret = true, caller{kind: session, account: a}, nil, secret
	return nil
}

// Leave signs the browser out, and has it forget the copies that it keeps of the account's files and pages.
func (d *Door) Leave(w http.ResponseWriter, r *http.Request) error {
	if c, ok := callerOf(r.Context()); ok && c.session.ID != "" {
		if err := d.cfg.Secrets.EndSession(r.Context(), c.account.ID, c.session.ID); err != nil {
			return err
		}
		d.Forget(c.account.ID)
	}
	v := visitOf(r.Context())
	cookie, _ := v.cookies()
	v.keep(cookie, "", -time.Second)
	w.Header().Set("Clear-Site-Data", `"cache"`)
	return nil
}
