package door

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// wayAdmin is the way to sign in with the operator's token, as sessions keep it with a fingerprint of the token: see adminWay.
const wayAdmin = "admin"

var (
	// localIdentity is the person at this machine, when there is no public address.
	localIdentity = users.Identity{Platform: Platform, ExternalID: "local", Name: words.LocalUser}
	// adminIdentity is the one who has the operator's token.
	adminIdentity = users.Identity{Platform: Platform, ExternalID: "admin", Name: words.Operator}
)

// visit is what is known about who sends a request; it is found out once, when somebody asks.
type visit struct {
	door   *Door
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
func (d *Door) visiting(w http.ResponseWriter, r *http.Request) *http.Request {
	v := &visit{door: d, w: w}
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
		if v.caller, v.err = v.door.identify(v); v.err != nil {
			v.caller = caller{} // nobody
		}
	}
	return v.caller, v.err
}

// callerOf gives the caller of ctx's request; false for none.
func callerOf(ctx context.Context) (caller, bool) {
	v := visitOf(ctx)
	if v == nil {
		return caller{}, false
	}
	c, err := v.who()
	return c, err == nil
}

// Account gives the account that sent the request of ctx, or ErrSignedOut. The request must have come through Guard.
func Account(ctx context.Context) (users.Account, error) {
	c, err := visitOf(ctx).who()
	return c.account, err
}

// KeyEnd is when the API key ends that the request of ctx came with; nil: it came with none, or with one that does not end.
func KeyEnd(ctx context.Context) *time.Time {
	c, _ := callerOf(ctx)
	return c.key.ExpiresAt
}

// Caller gives the account that sent the request of ctx; false for none.
func Caller(ctx context.Context) (users.Account, bool) {
	c, ok := callerOf(ctx)
	return c.account, ok
}

// SessionID is the id of the session that the request of ctx came with; empty when it came with a key.
func SessionID(ctx context.Context) string {
	c, _ := callerOf(ctx)
	return c.session.ID
}

// Budget is what the runs of the request of ctx draw on: that of the API key it came with, where that is restricted. It has no limit
// where its key has none; its name tells providers that nothing of an operator is in the call, and whose runs these are.
func Budget(ctx context.Context) runs.Budget {
	c, ok := callerOf(ctx)
	if !ok || !c.key.Restricted() {
		return runs.Budget{}
	}
	return runs.Budget{Name: c.key.Budget(), Limit: billing.NanoUSD(c.key.SpendLimit)}
}

// ByAgent reports whether the request of ctx came with the key of an agent: a model acts with it, whose word approves
// nothing.
func ByAgent(ctx context.Context) bool {
	c, _ := callerOf(ctx)
	return c.key.Agent
}

// identify finds out who asks: by the key in the Authorization header, or by the session's cookie. The person at this machine
// has no session: the request says where they are, and a page gives their browser a cookie that is good for nothing elsewhere.
// Scripts there need that cookie, programs a key.
func (d *Door) identify(v *visit) (caller, error) {
	r := v.r
	if header := r.Header.Get("Authorization"); header != "" {
		key, ok := bearer(header)
		if !ok {
			return caller{}, ErrSignedOut
		}
		return d.known(r, "key", key, d.byKey)
	}
	name, _ := v.cookies()
	cookie, given := d.Cookie(r, name)
	here := given && strings.HasPrefix(cookie, herePrefix)
	if given && !here {
		if c, err := d.known(r, "session", cookie, d.bySession); !errors.Is(err, ErrSignedOut) {
			return c, err
		}
	}
	if v.framed() || !d.Site.fromHere(r) || !v.page && !here {
		return caller{}, ErrSignedOut
	}
	if !here {
		v.secret = herePrefix + rand.Text()
		d.SetCookie(v.w, sessionCookie, v.secret, 0)
	}
	return d.localCaller(r.Context())
}

// ended reports whether the key or session that a visit came with is none any more. Others' wrong guesses from the same address don't
// keep it from looking.
func (v *visit) ended(ctx context.Context) bool {
	c, err := v.who()
	switch {
	case c.key.ID != 0:
		key, _ := bearer(v.r.Header.Get("Authorization"))
		_, err = v.door.byKey(ctx, key)
	case c.session.ID != "":
		name, _ := v.cookies()
		secret, _ := v.door.Cookie(v.r, name)
		_, err = v.door.bySession(ctx, secret)
	}
	return errors.Is(err, ErrSignedOut)
}

// herePrefix begins the cookie of the person at this machine.
const herePrefix = "here."

// byKey finds the account of an API key, or the operator's of the operator's token.
func (d *Door) byKey(ctx context.Context, key string) (caller, error) {
	switch {
	case same(key, d.cfg.AdminToken):
		a, err := d.operatorAccount(ctx, adminIdentity)
		return caller{kind: fullKey, account: a}, err
	case same(key, d.cfg.MetricsToken):
		return caller{kind: watchToken}, nil
	}
	a, known, err := d.cfg.Secrets.KeyOf(ctx, key)
	if err != nil {
		return caller{}, signedOutIf(err)
	}
	return holderOf(a, known), nil
}

// holderOf is who shows a key.
func holderOf(a users.Account, key users.Key) caller {
	c := caller{kind: fullKey, account: key.Narrow(a), key: key}
	switch {
	case key.Agent:
		c.kind = agentKey
	case key.Restricted():
		c.kind = limitedKey
	}
	return c
}

func (d *Door) bySession(ctx context.Context, secret string) (caller, error) {
	a, found, err := d.cfg.Secrets.BySession(ctx, secret)
	if err == nil && strings.HasPrefix(found.Way, wayAdmin) && found.Way != d.adminWay() {
		return caller{}, ErrSignedOut // the operator's token has changed since
	}
	if err != nil {
		return caller{}, signedOutIf(err)
	}
	return caller{kind: session, account: a, session: found}, nil
}

func signedOutIf(err error) error {
	var ended *users.KeyEndedError
	switch {
	case errors.As(err, &ended):
		return &endedError{problem.Problem{Status: ErrSignedOut.Status, Code: ErrSignedOut.Code, Detail: "This API key ended on " + ended.At.UTC().Format(time.RFC3339) + "."}}
	case errors.Is(err, users.ErrNotFound):
		return ErrSignedOut
	}
	return err
}

// endedError is an ErrSignedOut that says when the key ended.
type endedError struct{ problem problem.Problem }

func (e *endedError) Error() string   { return e.problem.Detail }
func (e *endedError) Unwrap() []error { return []error{&e.problem, ErrSignedOut} }

// same reports whether what was given is a token that is set. It compares hashes, so that the time tells nothing about the
// token, not even its length.
func same(given, token string) bool {
	if token == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// bearer is the secret in an Authorization header.
func bearer(header string) (secret string, ok bool) {
	const scheme = "Bearer "
	if len(header) < len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", false
	}
	return strings.TrimSpace(header[len(scheme):]), true
}

// ByAdminToken reports whether the request carries the operator's token.
func (d *Door) ByAdminToken(r *http.Request) bool {
	token, ok := bearer(r.Header.Get("Authorization"))
	return ok && same(token, d.cfg.AdminToken)
}

// Operator gives the operator's account, and the way that its session keeps, when the operator's token was typed; else
// ErrSignedOut.
func (d *Door) Operator(ctx context.Context, typed string) (a users.Account, way string, err error) {
	if !same(typed, d.cfg.AdminToken) {
		return users.Account{}, "", ErrSignedOut
	}
	a, err = d.operatorAccount(ctx, adminIdentity)
	return a, d.adminWay(), err
}

// adminWay is the way of sessions that were opened with the operator's token; they end when it changes.
func (d *Door) adminWay() string {
	return wayAdmin + ":" + hex.EncodeToString(d.mac("admin", d.cfg.AdminToken)[:8])
}

// localCaller is the person at this machine. They operate the program that runs on it, unless there is an operator's
// token: then nobody does without it.
func (d *Door) localCaller(ctx context.Context) (caller, error) {
	hash, now := sha256.Sum256([]byte("local")), d.cfg.Now()
	if c, ok := d.callers.Get(hash, now); ok {
		return c, nil
	}
	c := caller{kind: session}
	var err error
	if d.cfg.AdminToken == "" {
		c.account, err = d.operatorAccount(ctx, localIdentity)
	} else {
		c.account, err = d.cfg.Accounts.Identify(ctx, localIdentity)
		c.account.Operator = false
	}
	if err == nil {
		d.callers.Put(hash, c, now)
	}
	return c, err
}

func (d *Door) operatorAccount(ctx context.Context, who users.Identity) (users.Account, error) {
	a, err := d.cfg.Accounts.Identify(ctx, who)
	if err != nil || a.Operator {
		return a, err
	}
	a.Operator = true
	return a, d.cfg.Accounts.SetOperator(ctx, a.ID, true)
}

// CloseLocal ends what the person at this machine was without an operator's token, now that there is one: their account is
// no operator's, and so are its keys, unless another operator has made it one.
func (d *Door) CloseLocal(ctx context.Context) error {
	if d.cfg.AdminToken == "" {
		return nil
	}
	a, err := d.cfg.Accounts.ByIdentity(ctx, localIdentity.Platform, localIdentity.ExternalID)
	if errors.Is(err, users.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = d.cfg.Accounts.EndOffice(ctx, a.ID)
	}
	return err
}

// known gives the caller that showed a secret of a kind, from the cache or by lookup.
func (d *Door) known(r *http.Request, kind, secret string, lookup func(context.Context, string) (caller, error)) (caller, error) {
	hash := sha256.Sum256([]byte(kind + ":" + secret))
	if c, ok := d.believed(r.Context(), hash); ok {
		return c, nil
	}
	now := d.cfg.Now()
	guesser := d.Guesser(r)
	if err := d.guesses.check(guesser); err != nil {
		return caller{}, err
	}
	c, err := lookup(r.Context(), secret)
	if errors.Is(err, ErrSignedOut) {
		d.guesses.take(guesser, now)
	}
	if err == nil {
		d.callers.Put(hash, c, now)
	}
	return c, err
}

// Forget makes changes of an account's keys and sessions count at once.
func (d *Door) Forget(accountID string) {
	d.keys.renewing.Lock() // what is being looked up may be from before the change
	defer d.keys.renewing.Unlock()
	d.callers.Drop(func(c caller) bool { return c.account.ID == accountID })
}
