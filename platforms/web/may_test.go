package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/account"
	"github.com/signalbox/signalbox/platforms/web/chains"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/platforms/web/scenes"
	"github.com/signalbox/signalbox/users"
)

// mayRow is a row of the table in docs/people.md: who may use some addresses.
type mayRow struct {
	use       web.Use
	mounted   bool // the addresses are those of other packages
	may       map[string]bool
	addresses []string
}

// mayTable reads the table in docs/people.md.
func mayTable(t *testing.T) (rows []mayRow) {
	t.Helper()
	text, err := os.ReadFile("../../docs/people.md")
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "use":
			columns = cells
		case columns == nil || strings.HasPrefix(cells[0], "---"):
		case len(cells) != len(columns):
			return rows
		default:
			row := mayRow{use: web.Uses[cells[0]], mounted: cells[1] == "mounted", may: map[string]bool{}}
			for i, cell := range cells[2 : len(cells)-1] {
				if cell != "yes" && cell != "no" {
					t.Errorf("%s: found %q, expected yes or no", cells[0], cell)
				}
				row.may[columns[i+2]] = cell == "yes"
			}
			for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[len(cells)-1], -1) {
				row.addresses = append(row.addresses, found[1])
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// mutedMay reads from docs/people.md which addresses that change something a mute leaves open.
func mutedMay(t *testing.T) (addresses []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/people.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "and of those that change something\n")
	list, _, _ = strings.Cut(strings.TrimSpace(list), "\n\n")
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		addresses = append(addresses, found[1])
	}
	if len(addresses) < 20 {
		t.Fatalf("docs/people.md leaves %d addresses open", len(addresses))
	}
	return addresses
}

// mute mutes an account for a day.
func (h *house) mute(accountID string) {
	h.t.Helper()
	err := pgx.BeginFunc(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		return h.users.Mute(h.t.Context(), tx, accountID, time.Now().Add(24*time.Hour), "test", "")
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.users.Refresh()
}

const metricsToken = "token-of-the-monitoring"

// These stand for what has addresses only where it is configured.
type (
	noTalk struct {
		pages.Conversation
		pages.Commander
	}
	noHooks    struct{ web.Hooks }
	noDrawings struct{ scenes.Drawings }
	noMissions struct{ chains.Missions }
)

// asker is somebody who tries all addresses.
type asker struct {
	name, column string
	key          string
	cookies      []*http.Cookie
	token        string // of a page, against forged requests
}

// askers are all kinds of callers.
func (h *house) askers() []asker {
	h.t.Helper()
	operator, ann, guest := h.visitor(), h.visitor(), h.visitor()
	operator.form("/signin", url.Values{"key": {adminToken}})
	ann.form("/signin", url.Values{"key": {h.developer("ann").key}})
	stranger := asker{name: "nobody", column: "nobody", token: guest.token()} // which gives the guest the cookie that goes with it
	stranger.cookies = guest.http.Jar.Cookies(h.at())
	list := []asker{stranger, stranger, {name: "the operator's token", column: "operator's key", key: adminToken},
		{name: "the monitoring's token", column: "monitoring", key: metricsToken}}
	list[1].name, list[1].key = "somebody with a wrong key", "sbx_wrong"
	for _, who := range []struct {
		client                    *client
		signedIn, full            string
		limited, agent, agentOnly string
	}{{ann, "signed in", "key", "limited key", "agent's key", "ann's "}, {operator, "operator signed in", "operator's key", "limited key", "agent's key", "the operator's "}} {
		me := who.client.accountID()
		list = append(list, asker{name: who.signedIn, column: who.signedIn, cookies: who.client.http.Jar.Cookies(h.at()), token: who.client.token()})
		for _, key := range []struct {
			column string
			limit  int64
			agent  bool
		}{{who.full, 0, false}, {who.limited, int64(billing.Dollar), false}, {who.agent, 0, true}, {who.agent, int64(billing.Dollar), true}} {
			list = append(list, asker{name: fmt.Sprint(who.agentOnly, key.column, " ", key.limit), column: key.column, key: h.key(me, key.limit, key.agent)})
		}
		for column, keys := range map[string][]users.NewKey{
			"own runs":    {{SpendLimit: 1}, {Agent: true}},
			"named tools": {{Tools: []string{"wallpaper"}}, {Tools: []string{"wallpaper"}, AllRuns: true}, {Tools: []string{"*"}, Agent: true, SpendLimit: 1}},
		} {
			for i, wanted := range keys {
				list = append(list, asker{name: fmt.Sprint(who.agentOnly, column, " ", i), column: column, key: h.keyWith(me, wanted)})
			}
		}
	}
	return list
}

func (h *house) at() *url.URL {
	at, err := url.Parse(h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	return at
}

// key makes a key of an account that sees all its runs.
func (h *house) key(accountID string, limit int64, agent bool) string {
	h.t.Helper()
	return h.keyWith(accountID, users.NewKey{SpendLimit: limit, Agent: agent, AllRuns: true})
}

func (h *house) keyWith(accountID string, wanted users.NewKey) string {
	h.t.Helper()
	key, err := h.users.MakeKey(h.t.Context(), accountID, wanted)
	if err != nil {
		h.t.Fatal(err)
	}
	return key
}

func TestWhoMayUseWhat(t *testing.T) {
	t.Parallel()
	rows := mayTable(t)
	if len(rows) < len(web.Uses) {
		t.Fatalf("the table in docs/people.md has %d rows", len(rows))
	}
	h := newHouse(t, public(t, "https://127.0.0.1"), func(c *web.Config) {
		c.MetricsToken = metricsToken
		c.Telegram, c.Discord, c.Metrics = &account.TelegramLogin{BotToken: botToken}, &account.DiscordLogin{}, http.NotFoundHandler()
		c.Conversation, c.Hooks, c.Drawings, c.Missions = noTalk{}, noHooks{}, noDrawings{}, noMissions{}
		for _, row := range rows {
			for _, address := range row.addresses {
				if row.mounted {
					c.Mounts = append(c.Mounts, web.Mount{Path: address, Use: row.use, Page: strings.Contains(address, " /operator/"), Handler: http.NotFoundHandler()})
				}
			}
		}
	})
	site, uses, err := h.web.Stubbed()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("each address that is served is in the table of docs/people.md as what it is, and no other is", func(t *testing.T) {
		told := map[string]web.Use{}
		for _, row := range rows {
			for _, address := range row.addresses {
				if _, twice := told[address]; twice {
					t.Errorf("%s is in the table twice", address)
				}
				told[address] = row.use
				if uses[address] == 0 {
					t.Errorf("%s is in the table, but not served", address)
				}
			}
		}
		for address, use := range uses {
			if told[address] != use {
				t.Errorf("%s: its Use is %d, the table says %d (0: it isn't there)", address, use, told[address])
			}
		}
	})
	t.Run("each kind of caller is let in where the table says so, and nowhere else", func(t *testing.T) {
		n := 0
		for _, who := range h.askers() {
			for _, row := range rows {
				for _, address := range row.addresses {
					may, known := row.may[who.column]
					if !known {
						t.Fatalf("the table has no column %q", who.column)
					}
					n++
					res := who.try(site, address, n)
					if in := res.Body.String() == web.LetIn; in != may {
						t.Errorf("%s at %s: let in %v, the table says %v (%d)", who.name, address, in, may, res.Code)
					} else if !in && !slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusSeeOther, http.StatusNotFound}, res.Code) {
						t.Errorf("%s at %s: turned away with %d", who.name, address, res.Code)
					}
				}
			}
		}
	})
	t.Run("who is muted is let in where docs/people.md says that a mute leaves open, and nowhere else", func(t *testing.T) {
		open := mutedMay(t)
		for _, address := range open {
			if uses[address] == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(uses)), func(one string) bool {
				before, deeds := strings.CutSuffix(one, "{deed}")
				return deeds && strings.HasPrefix(address, before)
			}) {
				t.Errorf("%s is left open, but not served", address)
			}
		}
		ben := h.visitor()
		ben.form("/signin", url.Values{"key": {h.developer("ben").key}})
		me := ben.accountID()
		muted := []asker{{name: "a session", column: "signed in", cookies: ben.http.Jar.Cookies(h.at()), token: ben.token()}, {name: "a key", column: "key", key: h.key(me, 0, false)},
			{name: "an agent's key", column: "agent's key", key: h.key(me, 0, true)}, {name: "a key for some tools", column: "named tools", key: h.keyWith(me, users.NewKey{Tools: []string{"wallpaper"}})}}
		h.mute(me)
		n := 100_000
		for _, who := range muted {
			for _, row := range rows {
				addresses := row.addresses
				if row.use == web.Person {
					addresses = slices.Concat(addresses, open)
				}
				for _, address := range addresses {
					if uses[address] != 0 && uses[address] != row.use {
						continue // one that is left open, of another row
					}
					stays := strings.HasPrefix(address, "GET ") || row.use == web.Public || row.use == web.Uses["enter"] || slices.Contains(open, address)
					n++
					res := who.try(site, address, n)
					if in := res.Body.String() == web.LetIn; in != (stays && row.may[who.column]) {
						t.Errorf("%s at %s: let in %v (%d %s)", who.name, address, in, res.Code, res.Body)
					} else if !in && row.may[who.column] && (res.Code != http.StatusForbidden || !strings.Contains(res.Body.String(), "appeal")) {
						t.Errorf("%s at %s: %d %s", who.name, address, res.Code, res.Body)
					}
				}
			}
		}
	})
	t.Run("no tool can have one of the addresses as its own", func(t *testing.T) {
		for address := range uses {
			_, path, _ := strings.Cut(address, " ")
			if path != "" && path != "/" && path != "/{$}" && !slices.ContainsFunc(web.OwnPaths(), func(own string) bool { return path == own || strings.HasPrefix(path, own+"/") }) {
				t.Errorf("A48 %s is not among the own paths", address)
			}
		}
	})
	t.Run("an address that doesn't say what it does, or for which method, stops the start", func(t *testing.T) {
		for _, m := range []web.Mount{{Path: "GET /new", Handler: http.NotFoundHandler()}, {Path: "/new", Use: web.Read, Handler: http.NotFoundHandler()}} {
			_, err := web.New(web.Config{LinkKey: []byte("a key for the tests that is long"), Mounts: []web.Mount{m}})
			if err == nil || !strings.Contains(err.Error(), "/new") {
				t.Errorf("%+v: %v", m, err)
			}
		}
	})
}

// try asks for an address; n tells where from, 0 from this machine.
func (a asker) try(site http.Handler, address string, n int) *httptest.ResponseRecorder {
	method, path, ok := strings.Cut(address, " ")
	if !ok {
		method, path = "PUT", "/nothing/here"
	}
	path = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(strings.Replace(path, "{$}", "", 1), "x")
	r := httptest.NewRequest(method, "https://127.0.0.1"+path, nil)
	r.RemoteAddr = "127.0.0.1:1234"
	if n > 0 {
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("2001:db8:%x::1", n))
	}
	r.Header.Set("X-CSRF-Token", a.token)
	if a.key != "" {
		r.Header.Set("Authorization", "Bearer "+a.key)
	}
	for _, c := range a.cookies {
		r.AddCookie(c)
		if path == door.AppPath { // a Mini App in a frame has cookies of its own
			r.AddCookie(&http.Cookie{Name: strings.NewReplacer("signalbox-visitor", "signalbox-app-visitor", "signalbox", "signalbox-app").Replace(c.Name), Value: c.Value})
		}
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w
}
