package web_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/web"
)

func noToken(c *web.Config) { c.AdminToken = "" }

func TestThePersonAtThisMachine(t *testing.T) {
	t.Parallel()
	tell := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "the console") })
	console := func(c *web.Config) {
		c.Mounts = []web.Mount{{Path: "GET /house/", Use: web.OperatorRead, Page: true, Handler: tell}}
	}
	h := newHouse(t, noToken, console)
	status := func(v *client, path string, header ...string) int {
		return v.do("GET", path, "", nil, header...).StatusCode
	}

	t.Run("they are the operator, from the first page on, and forms work", func(t *testing.T) {
		v := h.visitor()
		if got := status(v, "/house/"); got != http.StatusOK {
			t.Errorf("the console: %d", got)
		}
		landed(t, v.form("/account/language", url.Values{"language": {"de"}}), "/account?done=language")
		if got := status(v, "/api/balance"); got != http.StatusOK {
			t.Errorf("a script of the page: %d", got)
		}
		if res := v.do("POST", "/account/code", "", nil, "X-CSRF-Token", ""); res.StatusCode != http.StatusForbidden {
			t.Errorf("a form of another site: %d", res.StatusCode)
		}
	})
	t.Run("no page makes a session, nor a cookie that outlives the browser", func(t *testing.T) {
		for range 3 {
			for _, cookie := range h.visitor().do("GET", "/", "", nil).Cookies() {
				if cookie.MaxAge != 0 || !cookie.Expires.IsZero() {
					t.Errorf("the cookie %s stays", cookie)
				}
			}
		}
		var sessions int
		if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM user_sessions`).Scan(&sessions); err != nil || sessions != 0 {
			t.Errorf("%d sessions, %v", sessions, err)
		}
	})
	t.Run("the cookie of a session that has ended gives way", func(t *testing.T) {
		v := h.visitor()
		if got := status(v, "/", "Cookie", "signalbox=of-an-older-program"); got != http.StatusOK || !strings.HasPrefix(v.cookie("signalbox"), "here.") {
			t.Errorf("%d, the cookie is %q", got, v.cookie("signalbox"))
		}
	})
	t.Run("anyone who comes by a proxy is somebody else, also with the cookie", func(t *testing.T) {
		v := h.reader()
		for _, sign := range [][2]string{
			{"X-Forwarded-For", "192.0.2.7"}, {"X-Forwarded-Host", "bot.example"}, {"X-Forwarded-Proto", "https"}, {"X-Forwarded-Server", "p"}, {"Forwarded", "for=192.0.2.7"},
			{"Via", "1.1 proxy"}, {"X-Real-IP", "192.0.2.7"}, {"X-Original-Forwarded-For", "192.0.2.7"},
			{"CF-Connecting-IP", "192.0.2.7"}, {"True-Client-IP", "192.0.2.7"}, {"Host", "192.0.2.1"},
		} {
			landed(t, v.do("GET", "/", "", nil, sign[0], sign[1]), "/signin")
			if got := status(v, "/api/balance", sign[0], sign[1]); got != http.StatusUnauthorized {
				t.Errorf("%s: the API answers %d", sign[0], got)
			}
		}
		if got := status(v, "/", "Host", "localhost"); got != http.StatusOK {
			t.Errorf("at localhost: %d", got)
		}
	})
	t.Run("so is who comes as nginx passes requests on by default: HTTP/1.0, and our own name as Host", func(t *testing.T) {
		conn, err := net.Dial("tcp", h.at().Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET / HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n\r\n", h.at().Host)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		landed(t, res, "/signin")
	})

	me, err := h.users.ByIdentity(t.Context(), "web", "local")
	if err != nil || !me.Operator {
		t.Fatal(me, err)
	}
	key := h.visitor()
	key.key = h.key(me.ID, 0, false)
	h.serve(console) // with ADMIN_TOKEN
	t.Run("with ADMIN_TOKEN nobody is the operator without it, not by what they were before", func(t *testing.T) {
		if err := h.web.CloseLocal(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := h.visitor()
		if got := status(v, "/"); got != http.StatusOK {
			t.Errorf("the page: %d", got)
		}
		if got := status(v, "/house/"); got != http.StatusNotFound {
			t.Errorf("the console: %d", got)
		}
		key.base = h.url
		if got := status(key, "/house/"); got != http.StatusNotFound {
			t.Errorf("with a key from before: %d", got)
		}
		v.form("/signin", url.Values{"key": {adminToken}})
		if got := status(v, "/house/"); got != http.StatusOK {
			t.Errorf("signed in with the token: %d", got)
		}
	})
	t.Run("whom an operator made one stays an operator", func(t *testing.T) {
		if err := h.users.ChangeOperator(t.Context(), me.ID, true, "an operator", "she helps"); err != nil {
			t.Fatal(err)
		}
		if err := h.web.CloseLocal(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a, err := h.users.ByID(t.Context(), me.ID); err != nil || !a.Operator {
			t.Errorf("%+v, %v", a, err)
		}
		if got := status(h.visitor(), "/house/"); got != http.StatusNotFound {
			t.Errorf("who only sits at the machine: %d", got)
		}
	})
}

// TestTheTableLocally is TestWhoMayUseWhat without PUBLIC_URL, for the person at this machine and all others.
func TestTheTableLocally(t *testing.T) {
	t.Parallel()
	watched := func(c *web.Config) { c.MetricsToken, c.Metrics = metricsToken, http.NotFoundHandler() }
	h := newHouse(t, noToken, watched)
	for _, column := range []string{"operator signed in", "signed in"} {
		if column == "signed in" {
			h.serve(watched) // with ADMIN_TOKEN
		}
		site, uses, err := h.web.Stubbed()
		if err != nil {
			t.Fatal(err)
		}
		v := h.reader()
		all := []asker{{name: "who is here", column: column, cookies: v.http.Jar.Cookies(h.at()), token: v.token()}}
		if column == "signed in" {
			all = append(all, h.askers()...)
		}
		rows := mayTable(t)
		view := rows[slices.IndexFunc(rows, func(row mayRow) bool { return row.use == web.Uses["view"] && !row.mounted })]
		for _, row := range rows {
			for _, address := range row.addresses {
				row := row
				if address == "GET /api/status" { // without PUBLIC_URL
					row = view
				}
				if uses[address] != row.use {
					continue // not so without PUBLIC_URL, or not there
				}
				for i, who := range all { // the first is at this machine
					if res := who.try(site, address, i); (res.Body.String() == web.LetIn) != row.may[who.column] {
						t.Errorf("%s at %s: let in %v, the table says %v (%d)", who.name, address, !row.may[who.column], row.may[who.column], res.Code)
					}
				}
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	// guess sends wrong keys, each from another address by its own word, and tells how those were answered that were not only told to be wrong. Of
	// too many the last may be allowed again, after half a second.
	guess := func(h *house, forwarded func(i int) string) int {
		v := h.visitor()
		v.address = ""
		answer := http.StatusUnauthorized
		for i := range 70 {
			v.key = fmt.Sprint("sbx_wrong", i)
			if status := v.call("GET", "/api/balance", "", nil, "X-Forwarded-For", forwarded(i)); status != http.StatusUnauthorized {
				answer = status
			}
		}
		return answer
	}
	proxies := func(list ...string) option {
		return func(c *web.Config) {
			c.Proxies = nil
			for _, p := range list {
				c.Proxies = append(c.Proxies, netip.MustParsePrefix(p))
			}
		}
	}
	own := func(i int) string { return fmt.Sprintf("198.51.100.%d", i) }
	h := newHouse(t, public(t, "https://127.0.0.1"), proxies())
	t.Run("a proxy that nobody named tells nothing: guesses count for it", func(t *testing.T) {
		if got := guess(h, own); got != http.StatusTooManyRequests {
			t.Errorf("many guesses: %d", got)
		}
	})
	t.Run("a named one tells the last address that is none of ours", func(t *testing.T) {
		h.serve(public(t, "https://127.0.0.1"), proxies("127.0.0.0/8", "10.0.0.0/8"))
		if got := guess(h, own); got != http.StatusUnauthorized {
			t.Errorf("guesses from many addresses: %d", got)
		}
		if got := guess(h, func(i int) string { return own(i) + ", 203.0.113.9, 10.0.0.3" }); got != http.StatusTooManyRequests {
			t.Errorf("guesses from one that tells others before its own: %d", got)
		}
		v := h.visitor()
		v.form("/signin", url.Values{"key": {adminToken}})
		var where string
		if err := h.pool.QueryRow(t.Context(), `SELECT address FROM user_sessions`).Scan(&where); err != nil || where != v.address {
			t.Errorf("signed in from %q, %v; want %s", where, err, v.address)
		}
	})
	t.Run("who has a network of IPv6 has one address", func(t *testing.T) {
		h.serve(public(t, "https://127.0.0.1"), proxies("127.0.0.0/8"))
		if got := guess(h, func(i int) string { return fmt.Sprintf("2001:db8:7:7:%x::1", i) }); got != http.StatusTooManyRequests {
			t.Errorf("many guesses from one network: %d", got)
		}
		if got := guess(h, func(i int) string { return fmt.Sprintf("2001:db8:7:%x::1", 256+i) }); got != http.StatusUnauthorized {
			t.Errorf("guesses from many networks: %d", got)
		}
	})
	t.Run("guessing codes counts by address, too", func(t *testing.T) {
		h.serve(public(t, "https://127.0.0.1"), proxies())
		ann := h.visitor().person(h, "telegram", "7", "Ann")
		code, err := h.users.NewLinkCode(t.Context(), ann.ID)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			h.visitor().form("/signin", url.Values{"key": {"0000-0000"}}) // each tells another X-Forwarded-For
		}
		if res := h.visitor().form("/signin", url.Values{"key": {code.Code}}); res.StatusCode != http.StatusTooManyRequests {
			t.Errorf("the right code after five wrong ones: %d", res.StatusCode)
		}
		if _, err := h.users.PeekLinkCode(t.Context(), "another address", code.Code); err != nil {
			t.Error(err)
		}
	})
}
