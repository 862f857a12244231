package door

import (
	"context"
	"net/http"
	"time"
)

// AppPath is where the pages begin as a Mini App of Telegram. Its web clients show them in a frame, where browsers send no
// ordinary cookie: such a visit has cookies of its own, which are for frames in that client alone (they are partitioned by the
// page around the frame). Pages of such visits, and of no others, may be framed, and by Telegram only.
const AppPath = "/app"

// framer is the web client of Telegram.
const framer = "https://web.telegram.org"

// The cookies of visits in a frame, as sessionCookie and visitorCookie are those of all others.
const (
	framedCookie        = "signalbox-app"
	framedVisitorCookie = "signalbox-app-visitor"
)

// Framed reports whether the request of ctx belongs to a visit in a Mini App.
func Framed(ctx context.Context) bool {
	v := visitOf(ctx)
	return v != nil && v.framed()
}

func (v *visit) framed() bool { return v.door.framed(v.r) }

func (d *Door) framed(r *http.Request) bool {
	value, _ := d.Cookie(r, framedCookie)
	return value != "" || r.URL.Path == AppPath
}

// cookies name the session's and the visitor's cookie of a visit.
func (v *visit) cookies() (session, visitor string) {
	if v.framed() {
		return framedCookie, framedVisitorCookie
	}
	return sessionCookie, visitorCookie
}

// keep gives a visit's browser one of its cookies.
func (v *visit) keep(name, value string, age time.Duration) {
	c := v.door.cookie(name, value, age)
	if v.framed() && v.door.Site.Secure() {
		c.SameSite, c.Partitioned = http.SameSiteNoneMode, true
	}
	http.SetCookie(v.w, c)
}
