//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/payments/stripe"
	"github.com/signalbox/signalbox/payments/stripe/stripetest"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

const forSale = `
products:
  - {id: small, name: Small, credit: 5, prices: {USD: "5.00", XTR: 250}, discord: ["77"]}
  - {id: monthly, name: Monthly, kind: subscription, credit: 10, prices: {USD: 9, XTR: 500}, discord: ["78"]}
  - {id: linked, name: Linked, credit: 3, prices: {USD: 3}, link: "https://buy.stripe.com/test_1"}
`

// shop is a program that sells at Stripe, in Telegram and in Discord's store.
type shop struct {
	t      *testing.T
	p      *program
	spec   spec
	stripe *stripetest.Server
	tg     *telegramtest.Server
	dc     *discordtest.Server
	pool   *pgxpool.Pool
	asked  atomic.Pointer[func()] // called at each request to Stripe; nil: nothing is
}

func openShop(t *testing.T) *shop {
	s := &shop{t: t, stripe: stripetest.New(t), tg: telegramtest.New(t, telegramtest.Options{Patience: hang}), dc: discordtest.New(t, discordtest.Options{Patience: hang})}
	s.dc.Sells("77", discordtest.Consumable)
	s.dc.Sells("78", discordtest.Subscribable)
	target, err := url.Parse(s.stripe.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {} // the program is killed
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := s.asked.Load(); f != nil {
			(*f)()
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(api.Close)
	products, listen := filepath.Join(t.TempDir(), "products.yaml"), closedPort(t)
	put(t, products, forSale)
	s.spec = spec{plain: true, dir: seededDir(t), env: []string{
		"LISTEN_ADDR=" + listen, "PUBLIC_URL=http://" + listen, "ADMIN_TOKEN=" + adminToken, "SIGNUP_CREDIT_USD=0", "PRODUCTS_FILE=" + products, "COMFYUI_URLS=" + startEngine(t), "LOG_LEVEL=info",
		"STRIPE_SECRET_KEY=" + stripetest.Key, "STRIPE_WEBHOOK_SECRET=" + stripetest.Secret, "STRIPE_API_URL=" + api.URL,
		"TELEGRAM_BOT_TOKEN=" + s.tg.Token, "TELEGRAM_API_URL=" + s.tg.URL,
		"DISCORD_BOT_TOKEN=" + s.dc.Token, "DISCORD_APP_ID=" + s.dc.ApplicationID, "DISCORD_API_URL=" + s.dc.URL, "DISCORD_PUBLIC_KEY=" + s.dc.PublicKey,
	}}
	s.begin()
	return s
}

// begin starts the program.
func (s *shop) begin() {
	s.t.Helper()
	s.p = start(s.t, s.spec)
	pool, err := postgres.Attach(s.t.Context(), filepath.Join(s.spec.dir, "postgres"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.pool = pool
	s.t.Cleanup(pool.Close)
}

// customer is somebody with a key and a browser that is signed in.
type customer struct {
	client
	*guest
}

func (s *shop) customer(name string) customer {
	s.t.Helper()
	c := newClient(s.p, name)
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	g := &guest{t: s.t, p: s.p, http: http.Client{Jar: jar}}
	token := regexp.MustCompile(`name="csrf__token" value="([^"]+)"`)
	g.token = token.FindStringSubmatch(g.get("/signin"))[1]
	g.post("/signin", "key", c.key)
	g.token = token.FindStringSubmatch(g.get("/chat"))[1]
	return customer{c, g}
}

var payAt = regexp.MustCompile(`id="pay" href="([^"]+)"`)

// orders orders a product on the page, and gives where it is paid.
func (c customer) orders(product string) string {
	c.guest.t.Helper()
	found := payAt.FindStringSubmatch(c.guest.post("/buy", "offer", product+" USD"))
	if found == nil {
		c.guest.t.Fatalf("%s can't be ordered", product)
	}
	return strings.ReplaceAll(found[1], "&amp;", "&")
}

// has waits until a customer can spend so much.
func (s *shop) has(c client, want billing.NanoUSD) {
	s.t.Helper()
	await(s.t, want.String(), func() bool { return c.balance().Available == int64(want) }, func() string {
		return fmt.Sprintf("%+v\n%s", c.balance(), s.p.said())
	})
	s.balances()
}

// hasAt is has for somebody who is known at a platform only.
func (s *shop) hasAt(platform, id string, want billing.NanoUSD) {
	s.t.Helper()
	var got billing.NanoUSD
	await(s.t, want.String(), func() bool {
		err := s.pool.QueryRow(s.t.Context(), `
			SELECT coalesce(sum(a.balance), 0)::bigint + coalesce((SELECT sum(p.amount) FROM ledger_pending p WHERE p.account_id = ANY (array_agg(a.id))), 0)::bigint
			FROM ledger_accounts a JOIN user_identities i ON i.user_id = a.owner WHERE a.kind = 'wallet' AND i.platform = $1 AND i.external_id = $2`, platform, id).Scan(&got)
		if err != nil {
			s.t.Fatal(err)
		}
		return got == want
	}, func() string { return got.String() + s.p.said() })
	s.balances()
}

// balances recomputes the books, and holds the credit of each payment against what the ledger has of it.
func (s *shop) balances() {
	s.t.Helper()
	report, err := billing.NewLedger(s.pool).Check(s.t.Context())
	if err != nil || !report.OK() {
		s.t.Errorf("the books: %v, %v", report, err)
	}
	var wrong string
	err = s.pool.QueryRow(s.t.Context(), `
		SELECT coalesce(string_agg(p.ref, ', '), '') FROM payments p WHERE p.credited <> p.credit OR p.credited <>
			(SELECT coalesce(sum(t.amount), 0) FROM ledger_transfers t WHERE t.kind = 'purchase' AND t.key LIKE '%' || p.id || ':%')`).Scan(&wrong)
	if err != nil || wrong != "" {
		s.t.Errorf("credited otherwise than booked: %s, %v", wrong, err)
	}
}

// notify sends an event of Stripe, signed by a secret at a time. The status is 0 where no answer came.
func (s *shop) notify(e stripetest.Event, secret string, at time.Time) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.p.page+stripe.WebhookPath, strings.NewReader(string(e.Body)))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Stripe-Signature", stripetest.Sign(secret, at, e.Body))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// deliver sends what happened at Stripe the last first, all of it two times and at once.
func (s *shop) deliver() {
	s.t.Helper()
	events := s.stripe.Events(s.t)
	slices.Reverse(events)
	var sent sync.WaitGroup
	for _, e := range append(events, events...) {
		sent.Go(func() {
			if status := s.notify(e, stripetest.Secret, time.Now()); status != http.StatusOK {
				s.t.Errorf("%s: %d", e.Type, status)
			}
		})
	}
	sent.Wait()
}

// offered has somebody order in Telegram, and gives the link by which it is paid.
func (s *shop) offered(u *telegramtest.User, product string) string {
	s.t.Helper()
	before := len(s.tg.History(u.Private()))
	u.Send(u.Private(), "/buy")
	link := ""
	pressed := false
	s.tg.Await(s.t.Context(), "the invoice", func() bool {
		for _, m := range s.tg.History(u.Private())[before:] {
			for _, row := range m.Keyboard {
				for _, b := range row {
					if strings.Contains(b.URL, "$invoice") {
						link = b.URL
					}
					if !pressed && strings.Contains(b.Text, product) {
						pressed = true
						u.Press(m, b.Text)
					}
				}
			}
		}
		return link != ""
	}, func() string { return s.tg.Transcript(u.Private()) + s.p.said() })
	return link
}

// linkCode has somebody in Telegram ask for a code to join accounts by.
func (s *shop) linkCode(u *telegramtest.User) string {
	s.t.Helper()
	u.Send(u.Private(), "/link")
	m := s.tg.WaitMessage(s.t.Context(), u.Private(), func(m telegramtest.Message) bool { return m.From == nil && strings.Contains(m.Text, "10 minutes") })
	return regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}`).FindString(m.Text)
}

// TestMoneyComesIn buys at Stripe, in Telegram's Stars and in Discord's store from a running program, and has those tell of it as badly as they
// can: twice, late, in the wrong order, for another price, by others, and while the program is killed.
func TestMoneyComesIn(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	const d = billing.Dollar
	s := openShop(t)
	ann := s.customer("Ann")

	t.Run("at Stripe: twice and in any order, but by nobody else and at no other price", func(t *testing.T) {
		page := ann.orders("small")
		intent := s.stripe.Pays(page)
		for name, status := range map[string]int{
			"another secret": s.notify(stripetest.Event{Body: []byte(`{"id":"evt_x","type":"checkout.session.completed","data":{"object":{"id":"` + page[strings.LastIndex(page, "/")+1:] + `"}}}`)}, "whsec_0123456789abcdef", time.Now()),
			"too old":        s.notify(stripetest.Event{Body: []byte(`{"id":"evt_y"}`)}, stripetest.Secret, time.Now().Add(-301*time.Second)),
		} {
			if status != http.StatusBadRequest {
				t.Errorf("%s: %d", name, status)
			}
		}
		s.has(ann.client, 0)
		s.stripe.Refunds(intent, 100, "succeeded") // told before the payment
		s.deliver()
		s.has(ann.client, 4*d)
		s.stripe.PaysLink(t, ann.orders("linked"), "usd", 100)
		s.stripe.PaysLink(t, ann.orders("linked"), "eur", 300)
		s.deliver()
		s.has(ann.client, 4*d)
		s.stripe.PaysLink(t, ann.orders("linked"), "usd", 300)
		s.deliver()
		s.has(ann.client, 7*d)
		failed := s.stripe.Refunds(intent, 400, "pending")
		s.deliver()
		s.has(ann.client, 3*d)
		s.stripe.FailRefund(failed)
		s.deliver()
		s.has(ann.client, 7*d)
	})
	t.Run("a dispute after some was spent is owed until it is won; one that is lost, until it is paid", func(t *testing.T) {
		bob := s.customer("Bob")
		intent := s.stripe.Pays(bob.orders("small"))
		s.deliver()
		spent := billing.NanoUSD(bob.succeed("wallpaper", small(64)).Cost)
		s.has(bob.client, 5*d-spent)
		won := s.stripe.Disputes(intent, 500)
		s.deliver()
		s.has(bob.client, 0)
		bob.must(http.StatusPaymentRequired, http.MethodPost, "/api/run/wallpaper", map[string]any{"inputs": small(64)}, nil)
		s.stripe.Decides(won, "won")
		s.deliver()
		s.has(bob.client, 5*d-spent)
		lost := s.stripe.Disputes(intent, 500)
		s.stripe.Decides(lost, "lost")
		s.deliver()
		s.has(bob.client, 0)
		s.stripe.Pays(bob.orders("small")) // pays what is owed
		s.deliver()
		s.has(bob.client, 5*d-spent)
	})
	t.Run("a refund after an export, of what was spent in part, costs the house that part", func(t *testing.T) {
		cat := s.customer("Cat")
		intent := s.stripe.Pays(cat.orders("small"))
		s.deliver()
		cat.must(http.StatusAccepted, http.MethodPost, "/api/me/export", nil, nil)
		spent := billing.NanoUSD(cat.succeed("wallpaper", small(65)).Cost)
		s.stripe.Refunds(intent, 500, "succeeded")
		s.deliver()
		s.has(cat.client, 0)
		var absorbed, returned billing.NanoUSD
		err := s.pool.QueryRow(t.Context(), `SELECT absorbed, returned FROM payments WHERE ref = $1`, intent).Scan(&absorbed, &returned)
		if err != nil || absorbed != spent || returned != 5*d-spent {
			t.Errorf("%s were lost and %s taken back of %s that was spent, %v", absorbed, returned, spent, err)
		}
	})

	dan := s.tg.User("Dan")
	var joined customer
	monthly, first := "", ""
	t.Run("in Stars: what a stranger may not pay, updates that come twice, renewals, and what Telegram gives back after accounts were joined", func(t *testing.T) {
		link := s.offered(dan, "Small")
		if _, refusal := s.tg.User("Eve").Pays(t.Context(), link); refusal == "" {
			t.Error("a stranger may pay")
		}
		s.tg.RepeatUpdates(2)
		charge, refusal := dan.Pays(t.Context(), link)
		if refusal != "" {
			t.Fatal(refusal)
		}
		monthly = s.offered(dan, "Monthly")
		first, _ = dan.Pays(t.Context(), monthly)
		dan.Renews(monthly)
		joined = s.customer("Dan")
		joined.post("/chat/say", "text", "/link "+s.linkCode(dan))
		joined.press("Join them")
		joined.press("Yes, join them")
		s.has(joined.client, 25*d)
		s.tg.RefundsStars(charge)
		s.has(joined.client, 20*d)
	})
	fay := s.dc.User("Fay")
	t.Run("in Discord's store: what is told twice, renewed, and taken back", func(t *testing.T) {
		pack, period := fay.Buys("77"), fay.Subscribes("78")
		pack.Repeat()
		s.hasAt("discord", fay.ID(), 15*d)
		period.Renews()
		s.hasAt("discord", fay.ID(), 25*d)
		pack.Deleted()
		pack.Deleted()
		s.hasAt("discord", fay.ID(), 20*d)
		period.Entitlement().Deleted() // the last period
		s.hasAt("discord", fay.ID(), 10*d)
	})
	t.Run("the program is killed while all three tell of something", func(t *testing.T) {
		gia := s.customer("Gia")
		for range 4 {
			s.stripe.Pays(gia.orders("small"))
		}
		events := s.stripe.Events(t)
		var asked atomic.Int32
		kill := func() {
			if asked.Add(1) == 3 {
				s.p.cmd.Process.Kill()
			}
		}
		s.asked.Store(&kill)
		dan.Renews(monthly)
		var sent sync.WaitGroup
		var answered atomic.Int32
		for _, e := range events {
			sent.Go(func() {
				if s.notify(e, stripetest.Secret, time.Now()) == http.StatusOK {
					answered.Add(1)
				}
			})
		}
		sent.Wait()
		s.p.kill()
		s.asked.Store(nil)
		if answered.Load() == int32(len(events)) {
			t.Error("all were answered before")
		}
		hal := s.dc.User("Hal")
		hal.Buys("77") // nobody hears of it
		s.begin()
		for _, e := range events {
			if status := s.notify(e, stripetest.Secret, time.Now()); status != http.StatusOK {
				t.Errorf("%s: %d", e.Type, status)
			}
		}
		s.has(gia.client, 20*d)
		s.has(joined.client, 30*d)
		s.hasAt("discord", hal.ID(), 5*d)
	})
	t.Run("who deletes everything pays no more, and what is paid all the same is in the books", func(t *testing.T) {
		page := joined.orders("monthly")
		s.stripe.Pays(page)
		s.deliver()
		s.has(joined.client, 40*d)
		joined.post("/account/erase", "sure", "1")
		await(t, "the subscriptions to end", func() bool { return s.tg.Canceled(first) && s.stripe.Status(page) == "canceled" }, s.p.said)
		s.stripe.Renews(page)
		s.deliver()
		s.balances()
		if !strings.Contains(s.p.said(), "somebody paid for an account that was deleted") {
			t.Error("the operator does not read of it")
		}
	})
}
