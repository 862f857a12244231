package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// The ways to sign in, as sessions keep them. That of the operator's token carries its fingerprint, see
// adminWay.
const (
	wayLocal      = "local"
	wayKey        = "key"
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

// caller is who sent a request.
type caller struct {
	account users.Account
	session users.Session // zero: a key was sent
	key     users.Key     // zero: a session's cookie or the operator's token was sent
}

// visit is what is known about who sends a request; it is found out once, when somebody asks.
type visit struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
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
		v.caller, v.err = v.server.identify(v.r)
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
	if v := visitOf(r.Context()); v != nil {
		c, err := v.who()
		return c.account, err
	}
	c, err := s.identify(r)
	return c.account, err
}

func (s *Server) identify(r *http.Request) (caller, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		key, ok := cutPrefixFold(header, "Bearer ")
		if !ok {
			return caller{}, errSignedOut
		}
		return s.known(r, "key", strings.TrimSpace(key), s.byKey)
	}
	if c, err := r.Cookie(s.cookieName(sessionCookie)); err == nil {
		return s.known(r, "session", c.Value, s.bySession)
	}
	return caller{}, errSignedOut
}

// byKey finds the account of an API key, or the operator's of the operator's token.
func (s *Server) byKey(ctx context.Context, key string) (caller, error) {
	if s.adminToken(key) {
		a, err := s.adminAccount(ctx)
		return caller{account: a}, err
	}
	a, known, err := s.cfg.Users.KeyOf(ctx, key)
	return caller{account: a, key: known}, signedOutIf(err)
}

func (s *Server) bySession(ctx context.Context, secret string) (caller, error) {
	a, session, err := s.cfg.Users.BySession(ctx, secret)
	if err == nil && strings.HasPrefix(session.Way, wayAdmin) && session.Way != s.adminWay() {
		return caller{}, errSignedOut // the operator's token has changed since
	}
	return caller{account: a, session: session}, signedOutIf(err)
}

func signedOutIf(err error) error {
	if errors.Is(err, users.ErrNotFound) {
		return errSignedOut
	}
	return err
}

// adminToken compares hashes, so that the time tells nothing about the token, not even its length.
func (s *Server) adminToken(given string) bool {
	if s.cfg.AdminToken == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.cfg.AdminToken))
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

// localAccount is whoever sits at this machine, who operates the program that runs on it.
func (s *Server) localAccount(r *http.Request) (users.Account, error) {
	if s.cfg.Public != nil || !fromLoopback(r) {
		return users.Account{}, errSignedOut
	}
	return s.operatorAccount(r.Context(), localIdentity)
}

func (s *Server) operatorAccount(ctx context.Context, who users.Identity) (users.Account, error) {
	a, err := s.cfg.Users.Identify(ctx, who)
	if err != nil || a.Operator {
		return a, err
	}
	a.Operator = true
	return a, s.cfg.Users.SetOperator(ctx, a.ID, true)
}

// fromLoopback reports whether a request was sent on this machine. One that a proxy passed on was not.
func fromLoopback(r *http.Request) bool {
	if r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" {
		return false
	}
	ip := net.ParseIP(remoteHost(r))
	return ip != nil && ip.IsLoopback()
}

func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// addressOf is where a request comes from. A proxy on this machine or in its network is believed: it
// appends the address that it saw.
func addressOf(r *http.Request) string {
	host := remoteHost(r)
	ip := net.ParseIP(host)
	if hops := r.Header.Values("X-Forwarded-For"); len(hops) > 0 && ip != nil && (ip.IsLoopback() || ip.IsPrivate()) {
		last := hops[len(hops)-1]
		if seen := net.ParseIP(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); seen != nil {
			return seen.String()
		}
	}
	return host
}

// isAdmin reports whether the request carries the operator's token.
func (s *Server) isAdmin(r *http.Request) bool {
	token, ok := cutPrefixFold(r.Header.Get("Authorization"), "Bearer ")
	return ok && s.adminToken(strings.TrimSpace(token))
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
	if err := s.guesses.check(addressOf(r)); err != nil {
		return caller{}, err
	}
	c, err := lookup(r.Context(), secret)
	if errors.Is(err, errSignedOut) {
		s.guesses.take(addressOf(r), now)
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
