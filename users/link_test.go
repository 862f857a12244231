package users

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
)

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Now()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (s *Store) code(t *testing.T, accountID string) string {
	t.Helper()
	code, err := s.NewLinkCode(t.Context(), accountID)
	if err != nil {
		t.Fatal(err)
	}
	return code.Code
}

func TestLinkCodes(t *testing.T) {
	t.Parallel()
	time := newClock()
	s, pool := newStore(t, Config{Now: time.Now})
	ctx := t.Context()
	n := 0
	person := func(platform string) Account {
		n++
		return identify(t, s, Identity{Platform: platform, ExternalID: fmt.Sprint(n), Name: fmt.Sprint(platform, " ", n)})
	}
	t.Run("a code made on one platform and redeemed on another makes one person, in both directions", func(t *testing.T) {
		for _, newerMakes := range []bool{true, false} {
			older, newer := person("telegram"), person("discord")
			maker, redeemer := older, newer
			if newerMakes {
				maker, redeemer = newer, older
			}
			merged, err := s.RedeemLinkCode(ctx, redeemer.ID, s.code(t, maker.ID))
			if err != nil || merged.Account.ID != older.ID || merged.From != newer.ID {
				t.Fatalf("got %+v, %v", merged, err)
			}
			identities, err := s.Identities(ctx, newer.ID)
			if err != nil || len(identities) != 2 || identities[0].Platform != "telegram" {
				t.Errorf("got %+v, %v", identities, err)
			}
		}
	})
	t.Run("a code is good once, for ten minutes, and until the next one", func(t *testing.T) {
		maker, other := person("telegram"), person("discord")
		first := s.code(t, maker.ID)
		s.code(t, maker.ID)
		for name, try := range map[string]func() (string, string){
			"replaced": func() (string, string) { return "a", first },
			"wrong":    func() (string, string) { return "b", "AAAA-AAAA" },
			"empty":    func() (string, string) { return "c", "" },
			"used": func() (string, string) {
				used := s.code(t, maker.ID)
				if owner, err := s.TakeLinkCode(ctx, "someone", used); err != nil || owner.ID != maker.ID {
					t.Error(owner, err)
				}
				return "d", used
			},
			"old": func() (string, string) {
				old := s.code(t, other.ID)
				time.move(linkLife)
				return "e", old
			},
		} {
			guesser, code := try()
			if _, err := s.PeekLinkCode(ctx, guesser, code); !errors.Is(err, ErrNoCode) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
	t.Run("a code is good for one try: anybody else who comes with it is told that it is none, until its owner makes another", func(t *testing.T) {
		maker, first, second := person("telegram"), person("discord"), person("web")
		code := s.code(t, maker.ID)
		for _, who := range []Account{maker, first, first} { // its owner's own try is none
			if owner, err := s.PeekLinkCode(ctx, who.ID, code); err != nil || owner.ID != maker.ID {
				t.Fatalf("%s: %+v, %v", who.DisplayName, owner, err)
			}
		}
		if _, err := s.PeekLinkCode(ctx, second.ID, code); !errors.Is(err, ErrNoCode) {
			t.Errorf("another looks: %v", err)
		}
		if _, err := s.RedeemLinkCode(ctx, second.ID, code); !errors.Is(err, ErrNoCode) {
			t.Errorf("another redeems: %v", err)
		}
		if _, err := s.TakeLinkCode(ctx, "192.0.2.7", code); !errors.Is(err, ErrNoCode) {
			t.Errorf("another signs in: %v", err)
		}
		if merged, err := s.RedeemLinkCode(ctx, first.ID, code); err != nil || merged.From != first.ID {
			t.Errorf("who tried: %+v, %v", merged, err)
		}
		if _, err := s.TakeLinkCode(ctx, "192.0.2.8", s.code(t, maker.ID)); err != nil {
			t.Errorf("the next code: %v", err)
		}
	})
	t.Run("a code survives how people type it", func(t *testing.T) {
		maker := person("web")
		code := s.code(t, maker.ID)
		typed := strings.NewReplacer("0", "o", "1", "l").Replace(strings.ToLower(strings.ReplaceAll(code, "-", " ")))
		for _, form := range []string{code, " " + typed + "\n"} {
			if owner, err := s.PeekLinkCode(ctx, "typist", form); err != nil || owner.ID != maker.ID {
				t.Errorf("%q: %+v, %v", form, owner, err)
			}
		}
	})
	t.Run("who guesses wrong five times has to wait, also with a right one", func(t *testing.T) {
		maker, thief := person("telegram"), person("discord")
		code := s.code(t, maker.ID)
		for range linkGuesses {
			if _, err := s.RedeemLinkCode(ctx, thief.ID, "0000-0000"); !errors.Is(err, ErrNoCode) {
				t.Fatal(err)
			}
		}
		_, err := s.RedeemLinkCode(ctx, thief.ID, code)
		if limited := registry.AsError(err); limited.Code != registry.CodeRateLimited || limited.RetryAfter <= 0 || limited.RetryAfter > linkPenalty {
			t.Errorf("got %+v", limited)
		}
		if owner, err := s.PeekLinkCode(ctx, "somebody else", code); err != nil || owner.ID != maker.ID {
			t.Errorf("others are held up, too: %v", err)
		}
		time.move(linkPenalty)
		if merged, err := s.RedeemLinkCode(ctx, thief.ID, s.code(t, maker.ID)); err != nil || merged.From == "" {
			t.Errorf("after the wait: %v", err)
		}
	})
	t.Run("of many guesses at once five are looked at", func(t *testing.T) {
		thief := person("discord")
		for range 2 { // the second time begins with the row of the first
			var wait sync.WaitGroup
			var wrong, waits atomic.Int32
			for range 40 {
				wait.Go(func() {
					switch _, err := s.PeekLinkCode(ctx, thief.ID, "0000-0000"); {
					case errors.Is(err, ErrNoCode):
						wrong.Add(1)
					case registry.AsError(err).Code == registry.CodeRateLimited:
						waits.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wait.Wait()
			if wrong.Load() != linkGuesses || waits.Load() != 40-linkGuesses {
				t.Errorf("%d were looked at, %d were told to wait", wrong.Load(), waits.Load())
			}
			time.move(linkPenalty)
		}
	})
	t.Run("one's own code is no guess and stays good", func(t *testing.T) {
		maker := person("telegram")
		code := s.code(t, maker.ID)
		if _, err := s.RedeemLinkCode(ctx, maker.ID, code); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("got %v", err)
		}
		if _, err := s.RedeemLinkCode(ctx, person("web").ID, code); err != nil {
			t.Error(err)
		}
	})
	t.Run("of many who redeem a code at once one does", func(t *testing.T) {
		maker := person("telegram")
		code := s.code(t, maker.ID)
		done := make(chan error)
		for range 4 {
			other := person("discord")
			go func() {
				_, err := s.RedeemLinkCode(ctx, other.ID, code)
				done <- err
			}()
		}
		redeemed := 0
		for range 4 {
			if err := <-done; err == nil {
				redeemed++
			} else if !errors.Is(err, ErrNoCode) {
				t.Error(err)
			}
		}
		if redeemed != 1 {
			t.Errorf("redeemed %d times", redeemed)
		}
	})
	t.Run("the database has no code", func(t *testing.T) {
		code := s.code(t, person("web").ID)
		var found int
		err := pool.QueryRow(ctx, `SELECT count(*) FROM user_link_codes c WHERE strpos(c::text, $1) > 0 OR strpos(c::text, $2) > 0`, code, plainCode(code)).Scan(&found)
		if err != nil || found != 0 {
			t.Errorf("found %d, %v", found, err)
		}
	})
}

func TestUnlinkShedsNothing(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := t.Context()
	eve := identify(t, s, Identity{Platform: "telegram", ExternalID: "1", Name: "Eve"})
	if err := s.Link(ctx, eve.ID, Identity{Platform: "telegram", ExternalID: "2", Name: "Eve again", Handle: "@eve"}); err != nil {
		t.Fatal(err)
	}
	here := Place{"telegram", PlaceChat, "7"}
	for _, err := range []error{
		s.Block(ctx, eve.ID, "operator", "spam"), s.SetRule(ctx, Rule{Kind: RuleAccount, Subject: eve.ID, Where: here, By: "admin"}),
		s.SetLimits(ctx, eve.ID, Limits{AtOnce: 1, Streams: 3, DayCap: unlimited, UploadBytes: unlimited, ResultBytes: 7 << 20}, "operator", ""), s.SetOwnLimits(ctx, eve.ID, Limits{PerDay: 9}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	apart, err := s.Unlink(ctx, eve.ID, "telegram", "2")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []Account{eve, apart} {
		if d, err := s.CheckAccount(ctx, a, "telegram", "any"); err != nil || d.Allowed || d.Reason != ReasonBlocked {
			t.Errorf("%s: %+v, %v", a.DisplayName, d, err)
		}
		if _, err := s.LimitsOf(ctx, a.ID); registry.AsError(err).Code != registry.CodeUnauthorized {
			t.Errorf("%s may run: %v", a.DisplayName, err)
		}
	}
	if err := s.Unblock(ctx, apart.ID, "operator", ""); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Check(ctx, Subject{AccountID: apart.ID, Platform: "telegram", ExternalID: "2", Chat: "7"}, "any"); err != nil || d.Allowed {
		t.Errorf("in the chat that denies: %+v, %v", d, err)
	}
	if l, err := s.LimitSettings(ctx, apart.ID); err != nil || l != (LimitSettings{Operator: Limits{AtOnce: 1, Streams: 3, ResultBytes: 7 << 20}}) {
		t.Errorf("limits %+v, %v", l, err)
	}
	if d, err := s.CheckAccount(ctx, eve, "telegram", "any"); err != nil || d.Allowed {
		t.Errorf("the account that was left: %+v, %v", d, err)
	}
	if list, err := s.Identities(ctx, apart.ID); err != nil || len(list) != 1 || list[0].Handle != "@eve" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestUnlink(t *testing.T) {
	t.Parallel()
	welcomed := map[string]int{}
	s, _ := newStore(t, Config{OnWelcome: countWelcomes(welcomed)})
	ctx := t.Context()
	ann := identify(t, s, Identity{Platform: "telegram", ExternalID: "1", Name: "Ann"})
	if err := s.Link(ctx, ann.ID, Identity{Platform: "discord", ExternalID: "9", Name: "ann#9"}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetPreference(ctx, ann.ID, "flux", "steps", 9); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unlink(ctx, ann.ID, "web", "9"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an identity that is not there: %v", err)
	}
	apart, err := s.Unlink(ctx, ann.ID, "discord", "9")
	if err != nil || apart.ID == ann.ID || apart.DisplayName != "ann#9" {
		t.Fatalf("got %+v, %v", apart, err)
	}
	if got := identify(t, s, Identity{Platform: "discord", ExternalID: "9"}); got.ID != apart.ID {
		t.Errorf("got %+v", got)
	}
	if values, err := s.PreferencesFor(ctx, apart.ID, registry.Tool{ToolID: "flux"}); err != nil || len(values) != 0 {
		t.Errorf("the settings went along: %v, %v", values, err)
	}
	if welcomed[apart.ID] != 0 || welcomed[ann.ID] != 1 {
		t.Errorf("welcomed %v", welcomed)
	}
	if _, err := s.Unlink(ctx, ann.ID, "telegram", "1"); !errors.Is(err, ErrLastIdentity) {
		t.Errorf("the last identity: %v", err)
	}
	entries, err := s.Audit(ctx, AuditQuery{AccountID: ann.ID})
	if err != nil || len(entries) != 2 || entries[0].Action != actionUnlink || entries[1].Action != actionLink {
		t.Errorf("the record says %+v, %v", entries, err)
	}
}

func TestErase(t *testing.T) {
	t.Parallel()
	welcomed := map[string]int{}
	s, pool := newStore(t, Config{OnWelcome: countWelcomes(welcomed)})
	ctx := t.Context()
	who := Identity{Platform: "telegram", ExternalID: "4711", Name: "Secretive"}
	ann := identify(t, s, who)
	if err := s.SetPreference(ctx, ann.ID, "flux", "steps", 9); err != nil {
		t.Fatal(err)
	}
	if err := s.Block(ctx, ann.ID, BySystem, "spam"); err != nil {
		t.Fatal(err)
	}
	if err := s.Erase(ctx, ann.ID, ann.ID); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"users", "user_identities", "user_preferences", "user_keys", "user_presets"} {
		var left int
		if err := pool.QueryRow(ctx, `SELECT count(*) FROM `+table+` x WHERE x::text LIKE '%Secretive%' OR x::text LIKE '%4711%'`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%s still knows: %d, %v", table, left, err)
		}
	}
	back := identify(t, s, who)
	if back.ID == ann.ID || welcomed[back.ID] != 0 {
		t.Errorf("coming back gives %+v, welcomed %v", back, welcomed)
	}
	d, err := s.Check(ctx, Subject{AccountID: back.ID, Platform: "telegram", ExternalID: "4711"}, "")
	if err != nil || d.Reason != ReasonBlocked {
		t.Errorf("a block was shaken off: %+v, %v", d, err)
	}
}

func TestUnlinkEndsWhatCame(t *testing.T) {
	t.Parallel()
	var left []string
	s, _ := newStore(t, Config{OnLeave: func(_ context.Context, _ pgx.Tx, accountID, from string) error {
		left = append(left, accountID+" "+from)
		return nil
	}})
	ctx := t.Context()
	n := 0
	person := func(platform string) Account {
		n++
		return identify(t, s, Identity{Platform: platform, ExternalID: fmt.Sprint(n)})
	}
	key := func(a Account) string {
		t.Helper()
		made, err := s.MakeKey(ctx, a.ID, NewKey{})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	browser := func(a Account, way string) string {
		t.Helper()
		secret, err := s.NewSession(ctx, Session{AccountID: a.ID, Way: way})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	acts := func(what, secret string, want string) {
		t.Helper()
		a, _, err := s.KeyOf(ctx, secret)
		if errors.Is(err, ErrNotFound) {
			a, _, err = s.BySession(ctx, secret)
		}
		if want == "" && !errors.Is(err, ErrNotFound) || want != "" && (err != nil || a.ID != want) {
			t.Errorf("%s acts for %q, %v; want %q", what, a.ID, err, want)
		}
	}
	for _, olderLeaves := range []bool{false, true} {
		older, newer := person("telegram"), person("discord")
		goes, stays := newer, older
		if olderLeaves {
			goes, stays = older, newer
		}
		gone, kept := []string{key(goes), browser(goes, "code")}, []string{key(stays), browser(stays, "code")}
		merged, err := s.RedeemLinkCode(ctx, goes.ID, s.code(t, stays.ID))
		if err != nil {
			t.Fatal(err)
		}
		one := merged.Account.ID
		platform := map[bool]string{false: "discord", true: "telegram"}[olderLeaves]
		later := key(merged.Account)
		kept, gone = append(kept, later, browser(merged.Account, "code")), append(gone, browser(merged.Account, platform))
		for _, secret := range append(gone[:len(gone):len(gone)], kept...) {
			acts("before", secret, one)
		}
		list, err := s.Identities(ctx, one)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(i LinkedIdentity) bool { return i.Platform == platform })
		left = nil
		if _, err := s.Unlink(ctx, one, platform, list[i].ExternalID); err != nil {
			t.Fatal(err)
		}
		for _, secret := range gone {
			acts("what came with who left", secret, "")
		}
		for _, secret := range kept {
			acts("what is of who stayed", secret, one)
		}
		if !slices.Equal(left, []string{one + " " + goes.ID}) {
			t.Errorf("the rooms were told %q", left)
		}
	}
}
