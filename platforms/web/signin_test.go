package web_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/account"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/users"
)

// accountID is whom the browser is signed in as; empty when as nobody.
func (c *client) accountID() string {
	c.t.Helper()
	var answer struct{ AccountID string }
	c.call("POST", "/api/keys", `{"label":"who am I"}`, &answer)
	return answer.AccountID
}

// cookie is the value of a cookie that the browser has.
func (c *client) cookie(name string) string {
	base, err := url.Parse(c.base)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, k := range c.http.Jar.Cookies(base) {
		if strings.HasSuffix(k.Name, name) {
			return k.Value
		}
	}
	return ""
}

func (c *client) person(h *house, platform, id, name string) users.Account {
	c.t.Helper()
	a, err := h.users.Identify(c.t.Context(), users.Identity{Platform: platform, ExternalID: id, Name: name})
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

func landed(t *testing.T, res *http.Response, where string) {
	t.Helper()
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != where {
		t.Errorf("status %d to %q, want %q: %s", res.StatusCode, res.Header.Get("Location"), where, readAll(t, res.Body))
	}
}

const botToken = "123456:a-token-of-the-tests-which-is-long-enough"

func publicHouse(t *testing.T, options ...option) *house {
	return newHouse(t, append([]option{func(c *web.Config) { c.Telegram = &account.TelegramLogin{BotToken: botToken} }}, options...)...)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	h := publicHouse(t, public(t, "https://127.0.0.1"))

	t.Run("the cookie is out of reach for scripts and other hosts, and holds no key", func(t *testing.T) {
		v := h.visitor()
		res := v.form("/signin", url.Values{"key": {adminToken}})
		landed(t, res, "/")
		cookie := res.Header.Get("Set-Cookie")
		for _, want := range []string{"__Host-signalbox=", "HttpOnly", "SameSite=Lax", "Secure", "Path=/"} {
			if !strings.Contains(cookie, want) {
				t.Errorf("cookie %q lacks %s", cookie, want)
			}
		}
		if strings.Contains(cookie, adminToken) || strings.Contains(cookie, "Domain") {
			t.Errorf("cookie %q", cookie)
		}
	})

	t.Run("signing in draws a new secret and ends the old session", func(t *testing.T) {
		v := h.visitor()
		v.form("/signin", url.Values{"key": {adminToken}})
		first := v.cookie("signalbox")
		v.form("/signin", url.Values{"key": {adminToken}})
		if second := v.cookie("signalbox"); second == first || second == "" {
			t.Error("the secret stayed")
		}
		old := h.visitor()
		if res := old.do("GET", "/api/balance", "", nil, "Cookie", "__Host-signalbox="+first); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("the old secret: %d", res.StatusCode)
		}
	})

	t.Run("signing out ends the session on the server", func(t *testing.T) {
		v := h.visitor()
		v.form("/signin", url.Values{"key": {adminToken}})
		secret := v.cookie("signalbox")
		landed(t, v.form("/signout", nil), "/signin")
		if res := h.visitor().do("GET", "/api/balance", "", nil, "Cookie", "__Host-signalbox="+secret); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("the secret after signing out: %d", res.StatusCode)
		}
	})

	t.Run("one browser ends the sessions of all others", func(t *testing.T) {
		here, there := h.visitor(), h.visitor()
		here.form("/signin", url.Values{"key": {adminToken}})
		there.form("/signin", url.Values{"key": {adminToken}})
		landed(t, here.form("/sessions/end-others", nil), "/account")
		if status := there.call("GET", "/api/balance", "", nil); status != http.StatusUnauthorized {
			t.Errorf("there: %d", status)
		}
		if status := here.call("GET", "/api/balance", "", nil); status != http.StatusOK {
			t.Errorf("here: %d", status)
		}
	})

	t.Run("who deletes everything is signed out and told so", func(t *testing.T) {
		v := h.visitor()
		v.form("/signin", url.Values{"key": {h.developer("leaving").key}})
		where := v.form("/account/erase", url.Values{"sure": {"1"}}).Header.Get("Location")
		has(t, readAll(t, v.do("GET", where, "", nil).Body), "The books keep amounts without a name.", `href="/signin"`)
	})
	t.Run("after signing in one is where one wanted to go, on this site only", func(t *testing.T) {
		v := h.visitor()
		landed(t, v.do("GET", "/history?tool=x", "", nil), "/signin?next=%2Fhistory%3Ftool%3Dx")
		landed(t, v.form("/signin", url.Values{"key": {adminToken}, "next": {"/history?tool=x"}}), "/history?tool=x")
		for _, foreign := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "evil"} {
			landed(t, h.visitor().form("/signin", url.Values{"key": {adminToken}, "next": {foreign}}), "/")
		}
	})

	t.Run("a new ADMIN_TOKEN ends the sessions of the old one", func(t *testing.T) {
		h := newHouse(t)
		v := h.visitor()
		v.form("/signin", url.Values{"key": {adminToken}})
		h.serve(func(c *web.Config) { c.AdminToken = "another" })
		secret := v.cookie("signalbox")
		if res := h.visitor().do("GET", "/api/balance", "", nil, "Cookie", "signalbox="+secret); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("status %d", res.StatusCode)
		}
	})

	t.Run("a proxy's requests are not those of the person at this machine", func(t *testing.T) {
		h := newHouse(t)
		landed(t, h.visitor().do("GET", "/", "", nil, "X-Forwarded-For", "192.0.2.7"), "/signin")
	})
}

func TestForgedRequests(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.visitor()
	v.do("GET", "/", "", nil)
	foreign := h.visitor()
	foreign.do("GET", "/", "", nil)
	foreignToken := foreign.token()

	t.Run("a request by cookie needs the page's token", func(t *testing.T) {
		for name, token := range map[string]string{"none": "", "nonsense": "abc", "another browser's": foreignToken} {
			for _, path := range []string{"/tool/wallpaper", "/api/keys", "/api/run/wallpaper", "/signout", "/sessions/end-others"} {
				res := v.do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(""), "X-CSRF-Token", token)
				if res.StatusCode != http.StatusForbidden {
					t.Errorf("%s with %s: %d", path, name, res.StatusCode)
				}
			}
		}
	})
	t.Run("the token works in a form, in a form with files, and in the header", func(t *testing.T) {
		token := v.token()
		landed(t, v.do("POST", "/sessions/end-others", "application/x-www-form-urlencoded", strings.NewReader(url.Values{door.CSRFField: {token}}.Encode()), "X-CSRF-Token", ""), "/account")
		body := "--b\r\nContent-Disposition: form-data; name=\"" + door.CSRFField + "\"\r\n\r\n" + token + "\r\n--b\r\nContent-Disposition: form-data; name=\"colors\"\r\n\r\n3\r\n--b--\r\n"
		if res := v.do("POST", "/api/quote/wallpaper", "multipart/form-data; boundary=b", strings.NewReader(body), "X-CSRF-Token", ""); res.StatusCode != http.StatusOK {
			t.Errorf("form with files: %d %s", res.StatusCode, readAll(t, res.Body))
		}
		if again := v.token(); again == token {
			t.Error("the token looks the same on each page: compression gives it away")
		}
	})
	t.Run("nobody is signed in by a form of another site", func(t *testing.T) {
		for _, path := range []string{"/signin", "/link", "/invite/x"} {
			res := h.visitor().do("POST", path, "application/x-www-form-urlencoded", strings.NewReader("key="+adminToken), "X-CSRF-Token", "")
			if res.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		}
	})
	t.Run("a key needs no token", func(t *testing.T) {
		if status := h.developer("dev").call("POST", "/api/quote/wallpaper", `{}`, nil); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	})
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	h := newHouse(t, func(c *web.Config) { c.Now, c.APIRate = clock, 5 })
	dev := h.developer("ann")

	t.Run("signing in: by address, with Retry-After", func(t *testing.T) {
		v := h.visitor()
		token := v.token()
		last := 0
		var retry string
		for range 12 {
			res := v.do("POST", "/signin", "application/x-www-form-urlencoded", strings.NewReader("key=sbx_wrong"), "X-CSRF-Token", token)
			last, retry = res.StatusCode, res.Header.Get("Retry-After")
		}
		if last != http.StatusTooManyRequests || retry == "" {
			t.Errorf("the last of many: %d, Retry-After %q", last, retry)
		}
		mu.Lock()
		now = now.Add(time.Minute)
		mu.Unlock()
		if res := v.do("POST", "/signin", "application/x-www-form-urlencoded", strings.NewReader("key=sbx_wrong"), "X-CSRF-Token", token); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("a minute later: %d", res.StatusCode)
		}
	})
	t.Run("the API: by account, with Retry-After", func(t *testing.T) {
		other := h.developer("bob")
		var res *http.Response
		for range 25 {
			res = dev.do("GET", "/api/balance", "", nil)
		}
		if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
			t.Errorf("status %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
		}
		if status := other.call("GET", "/api/balance", "", nil); status != http.StatusOK {
			t.Errorf("another account: %d", status)
		}
	})
	t.Run("wrong keys: by address, without keeping right ones out of memory", func(t *testing.T) {
		v := h.visitor()
		var status int
		for i := range 70 {
			v.key = fmt.Sprint("sbx_wrong", i)
			status = v.call("GET", "/api/balance", "", nil)
		}
		if status != http.StatusTooManyRequests {
			t.Errorf("status %d", status)
		}
	})
}

func TestKeysOfTheAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("ann")
	var made struct{ Key, AccountID string }
	if status := dev.call("POST", "/api/keys", `{"label":"phone"}`, &made); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	phone := h.visitor()
	phone.key = made.Key
	var list struct {
		Keys []struct {
			ID          int64
			Label, Hint string
		}
	}
	if status := phone.call("GET", "/api/keys", "", &list); status != http.StatusOK || len(list.Keys) != 2 {
		t.Fatalf("status %d, %+v", status, list)
	}
	i := slices.IndexFunc(list.Keys, func(k struct {
		ID          int64
		Label, Hint string
	}) bool {
		return k.Label == "phone"
	})
	if i < 0 || !strings.HasPrefix(made.Key, list.Keys[i].Hint) || len(list.Keys[i].Hint) > 16 {
		t.Fatalf("%+v", list)
	}
	path := fmt.Sprint("/api/keys/", list.Keys[i].ID)
	if status := h.developer("bob").call("DELETE", path, "", nil); status != http.StatusNotFound {
		t.Errorf("a stranger: %d", status)
	}
	if res := dev.do("DELETE", path, "", nil); res.StatusCode != http.StatusNoContent {
		t.Errorf("status %d", res.StatusCode)
	}
	if status := phone.call("GET", "/api/balance", "", nil); status != http.StatusUnauthorized {
		t.Errorf("a revoked key is taken at once no more: %d", status)
	}
}

func TestSigningInByCode(t *testing.T) {
	t.Parallel()
	h := newHouse(t, public(t, "https://127.0.0.1"))
	chatter := h.visitor().person(h, "telegram", "7", "Ann")
	code := func() string {
		t.Helper()
		c, err := h.users.NewLinkCode(t.Context(), chatter.ID)
		if err != nil {
			t.Fatal(err)
		}
		return c.Code
	}

	t.Run("a chat's code signs in to the chat's account, once, without JavaScript", func(t *testing.T) {
		v, typed := h.visitor(), code()
		landed(t, v.form("/signin", url.Values{"key": {strings.ToLower(typed)}}), "/")
		if v.accountID() != chatter.ID {
			t.Error("another account")
		}
		if res := h.visitor().form("/signin", url.Values{"key": {typed}}); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("the second time: %d", res.StatusCode)
		}
	})
	t.Run("opening the address of a code uses nothing up; its button does", func(t *testing.T) {
		v, typed := h.visitor(), code()
		for range 2 {
			if page := readAll(t, v.do("GET", "/link?code="+typed, "", nil).Body); !strings.Contains(page, typed) {
				t.Errorf("the code is not on the page")
			}
		}
		landed(t, v.form("/link", url.Values{"code": {typed}}), "/")
		if v.accountID() != chatter.ID {
			t.Error("another account")
		}
	})
	t.Run("a code of another account asks first, then joins the two", func(t *testing.T) {
		v := h.visitor()
		v.form("/signin", url.Values{"key": {h.developer("merging").key}})
		mine, typed := v.accountID(), code()
		page := readAll(t, v.form("/link", url.Values{"code": {typed}}).Body)
		has(t, page, "Telegram: Ann (7)", "That account has been here since "+chatter.CreatedAt.UTC().Format("2006-01-02"), "can use and spend all of yours", `name="join" value="yes"`)
		page = readAll(t, v.form("/link", url.Values{"code": {typed}, "join": {"yes"}}).Body)
		has(t, page, "There is money in it: $1.00 in this account, $1.00 in the other", "Telegram: Ann (7)", `name="join" value="money"`)
		if v.accountID() != mine {
			t.Error("it does not ask twice")
		}
		if res := h.visitor().form("/signin", url.Values{"key": {typed}}); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("a code that was tried is good for another: %d", res.StatusCode)
		}
		landed(t, v.form("/link", url.Values{"code": {typed}, "join": {"money"}}), "/account")
		joined, err := h.users.ByID(t.Context(), mine)
		if err != nil || joined.ID != chatter.ID || v.accountID() != chatter.ID {
			t.Errorf("%+v, %v", joined, err)
		}
	})
	t.Run("wrong codes are refused, and after some all are", func(t *testing.T) {
		v := h.visitor()
		if res := v.form("/link", url.Values{"code": {"ABCD-EFGH"}}); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("status %d", res.StatusCode)
		}
	})
}

// telegramAnswer is what Telegram answers, signed as it does.
func telegramAnswer(token string, fields map[string]string) url.Values {
	var lines []string
	answer := url.Values{}
	for k, v := range fields {
		lines = append(lines, k+"="+v)
		answer.Set(k, v)
	}
	slices.Sort(lines)
	key := sha256.Sum256([]byte(token))
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(strings.Join(lines, "\n")))
	answer.Set("hash", hex.EncodeToString(mac.Sum(nil)))
	return answer
}

func TestSigningInWithTelegram(t *testing.T) {
	t.Parallel()
	h := publicHouse(t, public(t, "https://127.0.0.1"))
	ago := func(d time.Duration) string { return fmt.Sprint(time.Now().Add(-d).Unix()) }
	ann := map[string]string{"id": "77", "first_name": "Ann", "last_name": "Ä. Lee", "username": "ann", "auth_date": ago(time.Second)}
	// begin starts a sign-in and gives its state.
	begin := func(v *client) string {
		t.Helper()
		res := v.do("GET", "/signin/telegram?next=/history", "", nil)
		to, err := url.Parse(res.Header.Get("Location"))
		if err != nil || to.Host != "oauth.telegram.org" || to.Query().Get("bot_id") != "123456" || to.Query().Get("origin") != "https://127.0.0.1" {
			t.Fatalf("leads to %s, %v", to, err)
		}
		back, err := url.Parse(to.Query().Get("return_to"))
		if err != nil || back.Path != "/signin/telegram/back" {
			t.Fatalf("comes back to %s, %v", back, err)
		}
		return back.Query().Get("state")
	}
	finish := func(v *client, state string, answer url.Values) *http.Response {
		t.Helper()
		return v.form("/signin/telegram/back", url.Values{"state": {state}, "answer": {answer.Encode()}})
	}

	t.Run("who has used the bot gets the same account", func(t *testing.T) {
		v := h.visitor()
		chatter := v.person(h, "telegram", "77", "Ann")
		state := begin(v)
		answer := telegramAnswer(botToken, ann)
		page := readAll(t, v.do("GET", "/signin/telegram/back?state="+state+"&"+answer.Encode(), "", nil).Body)
		if !strings.Contains(page, answer.Get("hash")) || v.accountID() != "" {
			t.Errorf("opening the address must show a button and sign nobody in: %s", page)
		}
		landed(t, finish(v, state, answer), "/history")
		if v.accountID() != chatter.ID {
			t.Error("another account")
		}
	})
	t.Run("forged, changed, old, future, replayed and foreign answers are refused", func(t *testing.T) {
		used := telegramAnswer(botToken, map[string]string{"id": "78", "auth_date": ago(2 * time.Second)})
		first := h.visitor()
		landed(t, finish(first, begin(first), used), "/history")
		changed := telegramAnswer(botToken, ann)
		changed.Set("id", "1")
		doubled := telegramAnswer(botToken, ann)
		doubled.Add("id", "1")
		unsigned := telegramAnswer(botToken, ann)
		unsigned.Set("hash", "")
		for name, answer := range map[string]url.Values{
			"forged":        telegramAnswer("123456:another", ann),
			"changed":       changed,
			"doubled":       doubled,
			"unsigned":      unsigned,
			"empty":         {},
			"old":           telegramAnswer(botToken, map[string]string{"id": "77", "auth_date": ago(time.Hour)}),
			"of the future": telegramAnswer(botToken, map[string]string{"id": "77", "auth_date": ago(-time.Hour)}),
			"without time":  telegramAnswer(botToken, map[string]string{"id": "77"}),
			"replayed":      used,
		} {
			v := h.visitor()
			if res := finish(v, begin(v), answer); res.StatusCode != http.StatusUnprocessableEntity || v.accountID() != "" {
				t.Errorf("%s: %d", name, res.StatusCode)
			}
		}
	})
	t.Run("an answer that this browser did not ask for is refused", func(t *testing.T) {
		asked, other := h.visitor(), h.visitor()
		state := begin(asked)
		begin(other)
		answer := telegramAnswer(botToken, map[string]string{"id": "79", "auth_date": ago(3 * time.Second)})
		for _, state := range []string{state, ""} {
			if res := finish(other, state, answer); res.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("state %q: %d", state, res.StatusCode)
			}
		}
	})
	t.Run("signed in already, it links; where both have an account, it asks before it joins them", func(t *testing.T) {
		v := h.visitor()
		v.form("/signin", url.Values{"key": {h.developer("linking").key}})
		mine := v.accountID()
		landed(t, finish(v, begin(v), telegramAnswer(botToken, map[string]string{"id": "80", "auth_date": ago(4 * time.Second)})), "/account")
		if linked, err := h.users.ByIdentity(t.Context(), "telegram", "80"); err != nil || linked.ID != mine {
			t.Errorf("linked to %+v, %v", linked, err)
		}
		v.person(h, "telegram", "81", "Bob")
		page := readAll(t, finish(v, begin(v), telegramAnswer(botToken, map[string]string{"id": "81", "auth_date": ago(5 * time.Second)})).Body)
		_, rest, _ := strings.Cut(page, `name="proof" value="`)
		proof, _, _ := strings.Cut(rest, `"`)
		if !strings.Contains(page, "Telegram: Bob (81)") || proof == "" {
			t.Fatalf("it does not ask: %s", page)
		}
		thief := h.visitor()
		thief.form("/signin", url.Values{"key": {h.developer("thief").key}})
		for _, p := range []string{proof, proof + "x", ""} {
			if res := thief.form("/link/join", url.Values{"proof": {p}}); res.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("in another browser: %d", res.StatusCode)
			}
		}
		has(t, readAll(t, v.form("/link/join", url.Values{"proof": {proof}, "join": {"yes"}}).Body), "There is money in it", proof)
		if bob, err := h.users.ByIdentity(t.Context(), "telegram", "81"); err != nil || bob.ID == v.accountID() {
			t.Errorf("joined before the second answer: %+v, %v", bob, err)
		}
		landed(t, v.form("/link/join", url.Values{"proof": {proof}, "join": {"money"}}), "/account")
		if bob, err := h.users.ByIdentity(t.Context(), "telegram", "81"); err != nil || bob.ID != v.accountID() {
			t.Errorf("joined %+v, %v", bob, err)
		}
	})
}

// discordServer is a strict stand-in for Discord's part of signing in.
type discordServer struct {
	t   *testing.T
	url *url.URL

	mu       sync.Mutex
	codes    map[string]grant
	tokens   map[string]string
	audience string
}

type grant struct{ challenge, redirect, user string }

const clientID, clientSecret = "112233445566778899", "client-secret"

func newDiscord(t *testing.T) *discordServer {
	d := &discordServer{t: t, codes: map[string]grant{}, tokens: map[string]string{}, audience: clientID}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v10/oauth2/token", d.token)
	mux.HandleFunc("GET /api/v10/oauth2/@me", d.me)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	d.url = u.JoinPath("api/v10")
	return d
}

func (d *discordServer) login() option {
	return func(c *web.Config) {
		c.Discord = &account.DiscordLogin{ClientID: clientID, ClientSecret: clientSecret, API: d.url, Client: http.DefaultClient}
	}
}

// approve is a person who agrees on Discord's page; it gives the query that Discord sends back.
func (d *discordServer) approve(to *url.URL, user string) url.Values {
	d.t.Helper()
	q := to.Query()
	if to.Path != "/oauth2/authorize" || q.Get("client_id") != clientID || q.Get("response_type") != "code" || q.Get("scope") != "identify" ||
		q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || q.Get("state") == "" {
		d.t.Fatalf("Discord refuses %s", to)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	code := fmt.Sprint("code", len(d.codes))
	d.codes[code] = grant{q.Get("code_challenge"), q.Get("redirect_uri"), user}
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

func (d *discordServer) token(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	g, known := d.codes[r.PostFormValue("code")]
	delete(d.codes, r.PostFormValue("code")) // a code is good for one try
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if id != clientID || secret != clientSecret || r.PostFormValue("grant_type") != "authorization_code" || !known ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge || r.PostFormValue("redirect_uri") != g.redirect {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	token := "token of " + g.user
	d.tokens[token] = g.user
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 604800, "scope": "identify"})
}

func (d *discordServer) me(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	user, ok := d.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	json.NewEncoder(w).Encode(map[string]any{
		"application": map[string]any{"id": d.audience}, "scopes": []string{"identify"},
		"user": map[string]any{"id": user, "username": "ann", "global_name": "Ann"},
	})
}

func TestSigningInWithDiscord(t *testing.T) {
	t.Parallel()
	d := newDiscord(t)
	h := newHouse(t, public(t, "https://127.0.0.1"), d.login())
	begin := func(v *client) *url.URL {
		t.Helper()
		to, err := url.Parse(v.do("GET", "/signin/discord?next=/prices", "", nil).Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	back := func(v *client, q url.Values) *http.Response {
		t.Helper()
		return v.do("GET", "/signin/discord/back?"+q.Encode(), "", nil, "Accept", "text/html")
	}

	t.Run("who has used the bot gets the same account, others a new one", func(t *testing.T) {
		v := h.visitor()
		chatter := v.person(h, "discord", "900000000000000001", "Ann")
		landed(t, back(v, d.approve(begin(v), "900000000000000001")), "/prices")
		if v.accountID() != chatter.ID {
			t.Error("another account")
		}
		stranger := h.visitor()
		landed(t, back(stranger, d.approve(begin(stranger), "900000000000000002")), "/prices")
		if id := stranger.accountID(); id == "" || id == chatter.ID {
			t.Errorf("account %q", id)
		}
	})
	t.Run("another browser's, a replayed, a made-up and a stateless answer are refused", func(t *testing.T) {
		asked, other := h.visitor(), h.visitor()
		q := d.approve(begin(asked), "900000000000000003")
		begin(other)
		if res := back(other, q); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("another browser: %d", res.StatusCode)
		}
		landed(t, back(asked, q), "/prices")
		if res := back(asked, q); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("replayed: %d", res.StatusCode)
		}
		v := h.visitor()
		state := begin(v).Query().Get("state")
		if res := back(v, url.Values{"code": {"made-up"}, "state": {state}}); res.StatusCode != http.StatusServiceUnavailable || v.accountID() != "" {
			t.Errorf("made up: %d", res.StatusCode)
		}
		v = h.visitor()
		begin(v)
		if res := back(v, url.Values{"code": {"x"}}); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("stateless: %d", res.StatusCode)
		}
	})
	t.Run("a code bound to another verifier is refused", func(t *testing.T) {
		thief, victim := h.visitor(), h.visitor()
		stolen := d.approve(begin(victim), "900000000000000004")
		q := url.Values{"code": stolen["code"], "state": {begin(thief).Query().Get("state")}}
		if res := back(thief, q); res.StatusCode != http.StatusServiceUnavailable || thief.accountID() != "" {
			t.Errorf("status %d", res.StatusCode)
		}
	})
	t.Run("an answer that comes too late is refused", func(t *testing.T) {
		later := &atomic.Int64{}
		h := newHouse(t, public(t, "https://127.0.0.1"), d.login(), func(c *web.Config) {
			c.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		})
		v := h.visitor()
		q := d.approve(begin(v), "900000000000000006")
		later.Store(int64(11 * time.Minute))
		if res := back(v, q); res.StatusCode != http.StatusUnprocessableEntity || v.accountID() != "" {
			t.Errorf("status %d", res.StatusCode)
		}
	})
	t.Run("a token for another application is refused", func(t *testing.T) {
		d := newDiscord(t)
		d.audience = "1"
		h.serve(public(t, "https://127.0.0.1"), d.login())
		v := h.visitor()
		to, err := url.Parse(v.do("GET", "/signin/discord", "", nil).Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		if res := back(v, d.approve(to, "900000000000000005")); res.StatusCode != http.StatusServiceUnavailable || v.accountID() != "" {
			t.Errorf("status %d", res.StatusCode)
		}
	})
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	h := newHouse(t, public(t, "https://127.0.0.1"))
	operator := h.visitor()
	operator.key = adminToken
	type invitation struct{ ID, URL string }
	invite := func(body string) (made invitation, path string) {
		t.Helper()
		if status := operator.call("POST", "/api/invitations", body, &made); status != http.StatusCreated {
			t.Fatalf("status %d", status)
		}
		return made, strings.TrimPrefix(made.URL, "https://127.0.0.1")
	}

	t.Run("lets a guest in with its credit, once", func(t *testing.T) {
		_, path := invite(`{"note":"Ann","creditUsd":"2.50"}`)
		v := h.visitor()
		page := readAll(t, v.do("GET", path, "", nil).Body)
		if !strings.Contains(page, "Ann") || !strings.Contains(page, "$2.50") {
			t.Errorf("page %s", page)
		}
		landed(t, v.form(path, url.Values{"name": {"Ann"}}), "/")
		var b struct{ BalanceNanoUSD int64 }
		if v.call("GET", "/api/balance", "", &b); b.BalanceNanoUSD < 2_500_000_000 {
			t.Errorf("balance %d", b.BalanceNanoUSD)
		}
		if res := h.visitor().form(path, url.Values{"name": {"Eve"}}); res.StatusCode != http.StatusNotFound {
			t.Errorf("the second guest: %d", res.StatusCode)
		}
	})
	t.Run("gives its credit to who is signed in already", func(t *testing.T) {
		v := h.visitor()
		v.form("/signin", url.Values{"key": {h.developer("invited").key}})
		mine := v.accountID()
		_, path := invite(`{"creditUsd":"3"}`)
		landed(t, v.form(path, nil), "/")
		if v.accountID() != mine {
			t.Error("another account")
		}
	})
	t.Run("withdrawn and made-up ones open nothing; only operators make them", func(t *testing.T) {
		made, path := invite(`{}`)
		if res := operator.do("DELETE", "/api/invitations/"+made.ID, "", nil); res.StatusCode != http.StatusNoContent {
			t.Errorf("status %d", res.StatusCode)
		}
		for _, p := range []string{path, "/invite/guess"} {
			if res := h.visitor().form(p, url.Values{"name": {"Eve"}}); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d", p, res.StatusCode)
			}
		}
		if status := h.developer("eve").call("POST", "/api/invitations", `{}`, nil); status != http.StatusForbidden {
			t.Errorf("not an operator: %d", status)
		}
		for _, body := range []string{`{"creditUsd":"-1"}`, `{"creditUsd":"much"}`, `{"creditUsd":"10000000.01"}`, `{"forDays":1000}`, `[]`} {
			if status := operator.call("POST", "/api/invitations", body, nil); status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d", body, status)
			}
		}
	})
}

// Anyone who got hold of a key is out when its owner revokes it, though they signed in while it held.
func TestARevokedKeySignsOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t, public(t, "https://127.0.0.1"))
	dev, owner, thief := h.developer("ann"), h.visitor(), h.visitor()
	other := h.visitor()
	landed(t, owner.form("/signin", url.Values{"key": {dev.key}}), "/")
	landed(t, thief.form("/signin", url.Values{"key": {dev.key}}), "/")
	second, err := h.users.MakeKey(t.Context(), owner.accountID(), users.NewKey{Label: "second"})
	if err != nil {
		t.Fatal(err)
	}
	landed(t, other.form("/signin", url.Values{"key": {second}}), "/")
	keys := regexp.MustCompile(`/account/keys/[0-9]+/revoke`).FindAllString(owner.page("/account"), -1)
	landed(t, owner.form(keys[len(keys)-1], nil), "/account?done=revoked")
	landed(t, thief.do("GET", "/account", "", nil), "/signin?next=%2Faccount")
	for name, c := range map[string]*client{"who revokes it": owner, "who signed in with another key": other} {
		if res := c.do("GET", "/account", "", nil); res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", name, res.StatusCode)
		}
	}
}
