package door

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Platform is the name under which runs and identities of the web are kept.
const Platform = "web"

// Site is the address under which the world reaches us. Without one it is a local program: anyone who opens the page on this
// machine is signed in as the local user.
type Site struct {
	Public *url.URL // nil: a local program
}

// Local reports whether this is a program for the person at this machine.
func (s Site) Local() bool { return s.Public == nil }

// Secure reports whether browsers reach us over https.
func (s Site) Secure() bool { return s.Public != nil && s.Public.Scheme == "https" }

// Absolute makes a path an address: under the public address, or as the client reached us.
func (s Site) Absolute(r *http.Request, path string) string {
	if s.Public != nil {
		return s.Public.Scheme + "://" + s.Public.Host + strings.TrimRight(s.Public.Path, "/") + path
	}
	return (&url.URL{Scheme: "http", Host: r.Host}).String() + path
}

// serves accepts the public host, this machine's names, and bare IP addresses, which no other site's name can stand for.
func (s Site) serves(hostport string) bool {
	host := hostOnly(hostport)
	if s.Public != nil && strings.EqualFold(host, s.Public.Hostname()) {
		return true
	}
	return loopbackName(host) || net.ParseIP(host) != nil
}

// The cookies, see Site.cookieName.
const (
	sessionCookie = "signalbox"         // the session's secret
	visitorCookie = "signalbox-visitor" // what forms of a browser that is not signed in are bound to
)

// SessionCookie is the name of the cookie that holds the session.
func (s Site) SessionCookie() string { return s.cookieName(sessionCookie) }

// cookieName begins with __Host- over https, so that no other host can set the cookie.
func (s Site) cookieName(name string) string {
	if s.Secure() {
		return "__Host-" + name
	}
	return name
}

// loopbackName reports whether a Host is a name of this machine for itself.
func loopbackName(hostport string) bool {
	host := hostOnly(hostport)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

func hostOnly(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		hostport = host
	}
	return strings.Trim(hostport, "[]")
}
