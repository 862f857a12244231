package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// The ways to sign in, as sessions keep them. That of the operator's token carries its fingerprint, see
// adminWay, and that of a key its number, see users.Key.Way.
const (
	wayCode       = "code"
	wayTelegram   = "telegram"
	wayDiscord    = "discord"
	wayInvitation = "invitation"
	wayAdmin      = "admin"
)

var (
	// localIdentity is whoever sits at this machine, when no PUBLIC_URL is set.
	localIdentity = users.Identity{Platform: Platform, ExternalID: "local", Name: "Local user"}
	// adminIdentity is whoever has the operator's token.
	adminIdentity = users.Identity{Platform: Platform, ExternalID: "admin", Name: "Operator"}
)

var errSignedOut = errors.New("not signed in")

// caller is who sent a request; what they may do, caller.may says.
type caller struct {
	kind    kind
	account users.Account
	session users.Session // zero: a key was sent, or it is the person at this machine
	key     users.Key     // zero: no key, or the operator's token
}

// visit is what is known about who sends a request; it is found out once, when somebody asks.
type visit struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	page   bool // it is for a page of people, which signs the person at this machine in
	asked  bool
	caller caller
	err    error
	secret string // the cookie that forms are bound to, see csrf.go
}

type visitKey struct{}

// visiting gives a request its visit.
func (s *Server) visiting(w http.ResponseWriter, r *http.Request) *http.Request {
	v := &visit{server: s, w: w}
	v.r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
	return v.r
}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

func (v *visit) who() (caller, error) {
	if !v.asked {
		v.asked = true
		if v.caller, v.err = v.server.identify(v); v.err != nil {
			v.caller = caller{} // nobody
		}
	}
	return v.caller, v.err
}

// Caller gives the account that sent the request of ctx. It is there in every handler of Config.Mounts.
func Caller(ctx context.Context) (users.Account, bool) {
	v := visitOf(ctx)
	if v == nil {
		return users.Account{}, false
	}
	c, err := v.who()
	return c.account, err == nil
}

// SessionID is the id of the session that the request of ctx came with; empty when it came with a key.
func SessionID(ctx context.Context) string {
	if v := visitOf(ctx); v != nil {
		if c, err := v.who(); err == nil {
			return c.session.ID
		}
	}
	return ""
}

// Budget is what the runs of the request of ctx draw on: that of the API key it came with, where that has a
// spending limit.
func Budget(ctx context.Context) runs.Budget {
	v := visitOf(ctx)
	if v == nil {
		return runs.Budget{}
	}
	c, err := v.who()
	if err != nil || c.key.SpendLimit == 0 {
		return runs.Budget{}
	}
	return runs.Budget{Name: c.key.Budget(), Limit: billing.NanoUSD(c.key.SpendLimit)}
}

// ByAgent reports whether the request of ctx came with the key of an agent: a model acts with it, whose word approves
// nothing.
func ByAgent(ctx context.Context) bool {
	v := visitOf(ctx)
	if v == nil {
		return false
	}
	c, err := v.who()
	return err == nil && c.key.Agent
}

// account finds who is asking: by the key in the Authorization header, or by the session's cookie.
func (s *Server) account(r *http.Request) (users.Account, error) {
	c, err := visitOf(r.Context()).who()
	return c.account, err
}

// identify finds out who asks. The person at this machine has no session: it is the request that says where they are, and
// a page gives their browser a cookie that is good for nothing elsewhere. Scripts there need that cookie, programs a key.
func (s *Server) identify(v *visit) (caller, error) {
	r := v.r
	if header := r.Header.Get("Authorization"); header != "" {
		key, ok := cutPrefixFold(header, "Bearer ")
		if !ok {
			return caller{}, errSignedOut
		}
		return s.known(r, "key", strings.TrimSpace(key), s.byKey)
	}
	cookie, err := r.Cookie(s.cookieName(sessionCookie))
	here := err == nil && strings.HasPrefix(cookie.Value, herePrefix)
	if err == nil && !here {
		if c, err := s.known(r, "session", cookie.Value, s.bySession); !errors.Is(err, errSignedOut) {
			return c, err
		}
	}
	if !s.fromHere(r) || !v.page && !here {
		return caller{}, errSignedOut
	}
	if !here {
		v.secret = herePrefix + rand.Text()
		s.setCookie(v.w, sessionCookie, v.secret, 0)
	}
	return s.localCaller(r.Context())
}

// herePrefix begins the cookie of the person at this machine.
const herePrefix = "here."

// byKey finds the account of an API key, or the operator's of the operator's token.
func (s *Server) byKey(ctx context.Context, key string) (caller, error) {
	switch {
	case same(key, s.cfg.AdminToken):
		a, err := s.adminAccount(ctx)
		return caller{kind: fullKey, account: a}, err
	case same(key, s.cfg.MetricsToken):
		return caller{kind: watchToken}, nil
	}
	a, known, err := s.cfg.Users.KeyOf(ctx, key)
	if err != nil {
		return caller{}, signedOutIf(err)
	}
	c := caller{kind: fullKey, account: a, key: known}
	switch {
	case known.Agent:
		c.kind, c.account.Operator = agentKey, false
	case known.SpendLimit > 0:
		c.kind, c.account.Operator = limitedKey, false
	}
	return c, nil
}

func (s *Server) bySession(ctx context.Context, secret string) (caller, error) {
	a, found, err := s.cfg.Users.BySession(ctx, secret)
	if err == nil && strings.HasPrefix(found.Way, wayAdmin) && found.Way != s.adminWay() {
		return caller{}, errSignedOut // the operator's token has changed since
	}
	if err != nil {
		return caller{}, signedOutIf(err)
	}
	return caller{kind: session, account: a, session: found}, nil
}

func signedOutIf(err error) error {
	if errors.Is(err, users.ErrNotFound) {
		return errSignedOut
	}
	return err
}

// same reports whether what was given is a token that is set. It compares hashes, so that the time tells nothing about the
// token, not even its length.
func same(given, token string) bool {
	if token == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// adminWay is the way of sessions that were opened with the operator's token; they end when it changes.
func (s *Server) adminWay() string {
	return wayAdmin + ":" + hex.EncodeToString(s.mac("admin", s.cfg.AdminToken)[:8])
}

// mac signs text for one purpose.
func (s *Server) mac(purpose, text string) []byte {
	mac := hmac.New(sha256.New, s.cfg.LinkKey)
	io.WriteString(mac, purpose+":"+text)
	return mac.Sum(nil)
}

func (s *Server) adminAccount(ctx context.Context) (users.Account, error) {
	return s.operatorAccount(ctx, adminIdentity)
}

// localCaller is whoever sits at this machine. They operate the program that runs on it, unless there is an operator's
// token: then nobody does without it.
func (s *Server) localCaller(ctx context.Context) (caller, error) {
	hash, now := sha256.Sum256([]byte("local")), s.cfg.Now()
	if c, ok := s.callers.get(hash, now); ok {
		return c, nil
	}
	c := caller{kind: session}
	var err error
	if s.cfg.AdminToken == "" {
		c.account, err = s.operatorAccount(ctx, localIdentity)
	} else {
		c.account, err = s.cfg.Users.Identify(ctx, localIdentity)
		c.account.Operator = false
	}
	if err == nil {
		s.callers.put(hash, c, now)
	}
	return c, err
}

// CloseLocal ends what the person at this machine was without an operator's token, now that there is one: their account is
// no operator's, and so are its keys, unless another operator has made it one.
func (s *Server) CloseLocal(ctx context.Context) error {
	if s.cfg.AdminToken == "" {
		return nil
	}
	a, err := s.cfg.Users.ByIdentity(ctx, localIdentity.Platform, localIdentity.ExternalID)
	if errors.Is(err, users.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = s.cfg.Users.EndOffice(ctx, a.ID)
	}
	return err
}

func (s *Server) operatorAccount(ctx context.Context, who users.Identity) (users.Account, error) {
	a, err := s.cfg.Users.Identify(ctx, who)
	if err != nil || a.Operator {
		return a, err
	}
	a.Operator = true
	return a, s.cfg.Users.SetOperator(ctx, a.ID, true)
}

// fromHere reports whether a request was sent by a person at this machine to a program that is for them alone. One that
// shows any sign of a proxy was not: who sits behind it is anywhere.
func (s *Server) fromHere(r *http.Request) bool {
	peer, err := netip.ParseAddr(peerOf(r))
	return s.cfg.Public == nil && err == nil && peer.IsLoopback() && loopbackName(r.Host) && !proxied(r)
}

func proxied(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return true // no browser: it is how nginx speaks to what is behind it, without any header that tells
	}
	for name := range r.Header {
		if name == "Via" || strings.Contains(name, "Forwarded") || strings.HasSuffix(name, "-Ip") {
			return true
		}
	}
	return false
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

// peerOf is the address of the other end of the connection.
func peerOf(r *http.Request) string {
	host := hostOnly(r.RemoteAddr)
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return host
}

// addressOf is where a request comes from. What X-Forwarded-For says is believed of the operator's own proxies alone:
// it is the last address in it that is none of theirs.
func (s *Server) addressOf(r *http.Request) string {
	address := peerOf(r)
	if len(r.Header.Values("X-Forwarded-For")) == 0 {
		return address
	}
	if s.cfg.Public != nil && !s.trustedProxy(address) {
		s.stranger.Do(func() {
			s.cfg.Logger.Warn("requests come by a proxy that TRUSTED_PROXIES does not name: all who come by it share one limit on guesses", "proxy", address)
		})
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		ip, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil || !s.trustedProxy(address) {
			break
		}
		address = ip.Unmap().String()
	}
	return address
}

// guesserOf is whose guesses a request counts for: an address, of IPv6 the network of 2^64 that one customer has.
func (s *Server) guesserOf(r *http.Request) string {
	address := s.addressOf(r)
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Is4() {
		return address
	}
	return netip.PrefixFrom(ip.WithZone(""), 64).Masked().String()
}

func (s *Server) trustedProxy(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(s.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// isAdmin reports whether the request carries the operator's token.
func (s *Server) isAdmin(r *http.Request) bool {
	token, ok := cutPrefixFold(r.Header.Get("Authorization"), "Bearer ")
	return ok && same(strings.TrimSpace(token), s.cfg.AdminToken)
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// callerLife is how long a caller that was looked up is believed: a key that is revoked elsewhere works for
// so long at most.
const callerLife = time.Second

// callers remembers who was looked up a moment ago, by the hash of what they showed.
type callers = memory[[sha256.Size]byte, caller]

// known gives the caller that showed a secret of a kind, by memory or by lookup.
func (s *Server) known(r *http.Request, kind, secret string, lookup func(context.Context, string) (caller, error)) (caller, error) {
	hash := sha256.Sum256([]byte(kind + ":" + secret))
	now := s.cfg.Now()
	if c, ok := s.callers.get(hash, now); ok {
		return c, nil
	}
	guesser := s.guesserOf(r)
	if err := s.guesses.check(guesser); err != nil {
		return caller{}, err
	}
	c, err := lookup(r.Context(), secret)
	if errors.Is(err, errSignedOut) {
		s.guesses.take(guesser, now)
	}
	if err == nil {
		s.callers.put(hash, c, now)
	}
	return c, err
}

// forgetCallers makes changes of an account's keys and sessions count at once.
func (s *Server) forgetCallers(accountID string) {
	s.callers.forget(func(c caller) bool { return c.account.ID == accountID })
}

// tooMany is the error of whoever asks too often.
func tooMany(wait time.Duration) error {
	e := registry.Errorf(registry.CodeRateLimited, "too many requests; try again in %d s", int(wait.Seconds())+1)
	e.Retryable, e.RetryAfter = true, wait
	return e
}
