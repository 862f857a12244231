package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// makesKey has the client make a key, and gives who uses it.
func (c *client) makesKey(h *house, body string) *client {
	c.t.Helper()
	var made struct{ Key, Detail string }
	if status := c.call("POST", "/api/keys", body, &made); status != http.StatusCreated {
		c.t.Fatalf("%s: %d %s", body, status, made.Detail)
	}
	other := h.visitor()
	other.key = made.Key
	return other
}

// fluxes are tools whose ids begin alike.
func fluxes() []registry.Tool {
	free := func(t *registry.Tool) { t.CostingModel = nil }
	return []registry.Tool{registrytest.Tool("flux_one", free), registrytest.Tool("flux_two", free), registrytest.Tool("secret", free, func(t *registry.Tool) { t.Description = "Keeps what nobody may know." })}
}

func TestKeysForSomeTools(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fakes.Set(fluxes()...)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	ann := h.developer("ann")
	for body, want := range map[string]string{
		`{"tools":["wallpapr"]}`:                             `there is no tool wallpapr; near is wallpaper`,
		`{"tools":["fluks*"]}`:                               `there is no tool fluks*`,
		`{"tools":["wallpaper",""]}`:                         `there is no tool`,
		`{"tool":["wallpaper"]}`:                             `unknown field \"tool\"`,
		`{"expires":"2020-01-01T00:00:00Z"}`:                 `2020-01-01T00:00:00Z has passed`,
		`{"expires":"tomorrow"}`:                             `found \"tomorrow\", expected a time`,
		`{"tools":[]}`:                                       `at least one`,
		`{"tools":null}`:                                     `at least one`,
		`{"spendLimitUsd":"1","SpendLimitUSD":""}`:           `SpendLimitUSD\" appears twice`,
		`{"agent":true,"label":"x","\u0041gent":false}`:      `Agent\" appears twice`,
		`{"tools":["wallpaper"],"tool\u017f":["wall*"]}`:     `appears twice`,
		`{"days":0}`:                                         `1 to 3650 days`,
		`{"expires":""}`:                                     `expected a time`,
		`{"days":-1}`:                                        `1 to 3650 days`,
		`{"days":3651}`:                                      `1 to 3650 days`,
		`{"days":2,"expires":"2100-01-01T00:00:00Z"}`:        `one of expires and days`,
		`{"spendLimitUsd":"none"}`:                           `US dollars`,
		`{"spendLimitUsd":""}`:                               `US dollars`,
		`{"spendLimitUsd":null,"label":"x"}`:                 `US dollars`,
		`{"spendLimitUsd":" "}`:                              `US dollars`,
		`{"tools":[` + strings.Repeat(`"a",`, 100) + `"b"]}`: `at most 100`,
		`{"label":"x","tools":"wallpaper"}`:                  `wrong type`,
	} {
		res := ann.do("POST", "/api/keys", "application/json", strings.NewReader(body))
		if told := readAll(t, res.Body); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(told, want) {
			t.Errorf("%s: %d %s", body, res.StatusCode, told)
		}
	}
	some := ann.makesKey(h, `{"label":"some","tools":["wallpaper","flux_o*"]}`)
	t.Run("lists, search and the document have these tools alone", func(t *testing.T) {
		var listed struct{ Tools []struct{ ToolID string } }
		its := []string{"flux_one", "wallpaper"}
		for _, path := range []string{"/api/tools", "/api/tools?limit=100", "/api/tools?q=keeps%20what%20nobody%20may%20know", "/api/tools?q=flux_two&limit=100"} {
			listed.Tools = nil
			some.call("GET", path, "", &listed)
			var ids []string
			for _, tool := range listed.Tools {
				ids = append(ids, tool.ToolID)
			}
			slices.Sort(ids)
			if !strings.Contains(path, "q=") && !slices.Equal(ids, its) || slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(its, id) }) {
				t.Errorf("%s: %q", path, ids)
			}
		}
		document := readAll(t, some.do("GET", "/openapi.json", "", nil).Body)
		for id, is := range map[string]bool{"wallpaper": true, "flux_one": true, "flux_two": false, "secret": false} {
			if strings.Contains(document, "/api/run/"+id+`"`) != is {
				t.Errorf("%s in the document: %v", id, !is)
			}
		}
		if all := readAll(t, ann.do("GET", "/openapi.json", "", nil).Body); !strings.Contains(all, "/api/run/secret\"") {
			t.Error("others miss a tool")
		}
	})
	t.Run("all others are as if they did not exist", func(t *testing.T) {
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/api/tools/%s", ""}, {"POST", "/api/run/%s", `{"inputs":{"prompt":"x"}}`}, {"POST", "/api/quote/%s", `{"inputs":{"prompt":"x"}}`},
		} {
			told := func(id string) string {
				res := some.do(c.method, fmt.Sprintf(c.path, id), "application/json", strings.NewReader(c.body))
				text := strings.ReplaceAll(readAll(t, res.Body), id, "ID")
				before, _, _ := strings.Cut(text, `"traceId"`)
				return fmt.Sprint(res.StatusCode, " ", before)
			}
			if got, want := told("secret"), told("nothing"); got != want || !strings.HasPrefix(got, "404") {
				t.Errorf("%s %s: %s, one that there is not: %s", c.method, c.path, got, want)
			}
		}
		if status := some.call("POST", "/api/run/flux_one", `{"inputs":{"prompt":"x"}}`, nil); status != http.StatusAccepted {
			t.Errorf("its own: %d", status)
		}
	})
	t.Run("the owner sees what a key is for", func(t *testing.T) {
		var list struct {
			Keys []struct {
				Label     string
				Tools     []string
				OwnRuns   bool
				ExpiresAt *time.Time
			}
		}
		ann.call("GET", "/api/keys", "", &list)
		at := slices.IndexFunc(list.Keys, func(k struct {
			Label     string
			Tools     []string
			OwnRuns   bool
			ExpiresAt *time.Time
		}) bool {
			return k.Label == "some"
		})
		if at < 0 || !slices.Equal(list.Keys[at].Tools, []string{"wallpaper", "flux_o*"}) || !list.Keys[at].OwnRuns || list.Keys[at].ExpiresAt != nil {
			t.Errorf("got %+v", list)
		}
	})
}

func TestRestrictedKeysSeeTheirOwnRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fakes.Set(fluxes()...)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	ann := h.developer("ann")
	limited, other, wide := ann.makesKey(h, `{"spendLimitUsd":"1"}`), ann.makesKey(h, `{"agent":true,"spendLimitUsd":"1"}`), ann.makesKey(h, `{"tools":["wallpaper","flux_one"],"allRuns":true}`)
	begin := func(c *client, tool, inputs string, header ...string) (run apiRun) {
		c.call("POST", "/api/run/"+tool, `{"inputs":`+inputs+`}`, &run, header...)
		if run.RunID == "" {
			t.Fatalf("%s was not begun", tool)
		}
		return run
	}
	const small = `{"width":64,"height":64}`
	mine, yours := begin(ann, "wallpaper", small, "Idempotency-Key", "one"), begin(limited, "wallpaper", small, "Idempotency-Key", "one")
	ann.finished(mine.RunID)
	limited.finished(yours.RunID)
	waiting := begin(ann, "flux_one", `{"prompt":"slow"}`)
	t.Run("an Idempotency-Key of another key's is none of its own", func(t *testing.T) {
		if mine.RunID == yours.RunID {
			t.Error("it was given the run of another key")
		}
	})
	var list struct {
		Runs    []apiRun
		Results []struct{ RunID string }
	}
	for name, tc := range map[string]struct {
		by   *client
		sees []string
	}{
		"a limited key": {limited, []string{yours.RunID}}, "another key": {other, nil}, "a key with all runs": {wide, []string{mine.RunID, yours.RunID, waiting.RunID}},
		"a key without restrictions": {ann, []string{mine.RunID, yours.RunID, waiting.RunID}},
	} {
		t.Run(name, func(t *testing.T) {
			ids := map[string]bool{}
			for _, path := range []string{"/api/runs", "/api/gallery"} {
				list.Runs, list.Results = nil, nil
				tc.by.call("GET", path, "", &list)
				for _, run := range list.Runs {
					ids[run.RunID] = true
				}
				for _, result := range list.Results {
					if !slices.Contains(tc.sees, result.RunID) {
						t.Errorf("the gallery has %s", result.RunID)
					}
				}
			}
			for _, run := range []apiRun{mine, yours, waiting} {
				sees := slices.Contains(tc.sees, run.RunID)
				if ids[run.RunID] != sees {
					t.Errorf("%s of %s in its list: %v", run.RunID, run.ToolID, !sees)
				}
				if status := ann.call("GET", "/api/runs/"+run.RunID, "", nil); status != http.StatusOK { // which is kept for a moment
					t.Fatal(status)
				}
				for _, path := range []string{"", "/envelope", "/events", "/preview"} {
					if path == "/events" && run.RunID == waiting.RunID && sees {
						continue // it does not end
					}
					if status := tc.by.do("GET", "/api/runs/"+run.RunID+path, "", nil).StatusCode; (status == http.StatusNotFound) == sees && path != "/preview" || status == http.StatusOK && !sees {
						t.Errorf("GET %s%s: %d", run.ToolID, path, status)
					}
				}
				if sees {
					continue
				}
				if status := tc.by.call("POST", "/api/runs/"+run.RunID+"/cancel", "", nil); status != http.StatusNotFound {
					t.Errorf("cancel: %d", status)
				}
			}
		})
	}
	var now apiRun
	if ann.call("GET", "/api/runs/"+waiting.RunID, "", &now); now.Status == "canceled" {
		t.Error("somebody else canceled it")
	}
	t.Run("pages show more than that", func(t *testing.T) {
		for _, path := range []string{"/", "/history", "/run/" + mine.RunID, "/run/" + yours.RunID, "/gallery", "/scenes", "/prices"} {
			if body := readAll(t, limited.do("GET", path, "", nil).Body); strings.Contains(body, mine.RunID) {
				t.Errorf("%s shows another key's run", path)
			}
		}
	})
}

func TestKeysEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t, public(t, "https://127.0.0.1"))
	ann := h.developer("ann")
	soon := ann.makesKey(h, `{"label":"soon","days":30}`)
	t.Run("what it makes lasts no longer", func(t *testing.T) {
		var list struct {
			Keys []struct {
				Label     string
				ExpiresAt time.Time
			}
		}
		child := soon.makesKey(h, `{"label":"child"}`)
		child.call("GET", "/api/keys", "", &list)
		ends := map[string]time.Time{}
		for _, k := range list.Keys {
			ends[k.Label] = k.ExpiresAt
		}
		if in := time.Until(ends["soon"]); in > 30*24*time.Hour || in < 29*24*time.Hour || !ends["child"].Equal(ends["soon"]) {
			t.Errorf("they end %v", ends)
		}
		var refused struct{ Detail string }
		if status := soon.call("POST", "/api/keys", `{"days":31}`, &refused); status != http.StatusForbidden && status != http.StatusUnprocessableEntity || !strings.Contains(refused.Detail, "lasts longer") {
			t.Errorf("a longer one: %d %s", status, refused.Detail)
		}
	})
	t.Run("it signs nobody in, who could make what outlasts it", func(t *testing.T) {
		browser := h.visitor()
		browser.form("/signin", map[string][]string{"key": {soon.key}})
		if status := browser.do("GET", "/account", "", nil).StatusCode; status != http.StatusSeeOther {
			t.Errorf("the account's page: %d", status)
		}
	})
	if _, err := h.pool.Exec(t.Context(), `UPDATE user_keys SET expires_at = '2026-01-02T03:04:05Z' WHERE label = 'soon'`); err != nil {
		t.Fatal(err)
	}
	t.Run("then it is refused with the time", func(t *testing.T) {
		var told string
		clocktest.Until(t, "what is believed of the key is over", func() bool {
			res := soon.do("GET", "/api/runs", "", nil)
			told = readAll(t, res.Body)
			return res.StatusCode == http.StatusUnauthorized
		})
		if !strings.Contains(told, "This API key ended on 2026-01-02T03:04:05Z.") {
			t.Error(told)
		}
	})
}

func TestAccountPageMakesRestrictedKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	me := h.visitor()
	me.form("/signin", map[string][]string{"key": {h.developer("ann").key}})
	page := readAll(t, me.form("/account/keys", map[string][]string{"label": {"shop"}, "tools": {"wallpaper, wallpapr"}, "limit": {"5"}, "days": {"90"}}).Body)
	for _, want := range []string{"there is no tool wallpapr; near is wallpaper", `value="wallpaper, wallpapr"`, `value="90"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	page = readAll(t, me.form("/account/keys", map[string][]string{"label": {"shop"}, "tools": {"wallpaper, wall*"}, "limit": {"5"}, "days": {"90"}, "agent": {"1"}}).Body)
	for _, want := range []string{`<pre id="key">sbx_`, "<code>wallpaper</code> <code>wall*</code>", "ends", "$5", "for a model", "sees its own runs only"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, days := range []string{"0", "soon", "-3"} {
		if page := readAll(t, me.form("/account/keys", map[string][]string{"days": {days}}).Body); !strings.Contains(page, "1 to 3650 days") {
			t.Errorf("%s days are taken", days)
		}
	}
}

func TestPrivateFilesAreAskedForAnew(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	me := h.visitor()
	me.form("/signin", map[string][]string{"key": {h.developer("ann").key}})
	var run apiRun
	if status := me.call("POST", "/api/run/wallpaper", `{"inputs":{"width":64,"height":64}}`, &run); status >= 300 {
		t.Fatal(status)
	}
	file := strings.TrimPrefix(me.finished(run.RunID).Outputs[0].URL, h.url)
	parts := strings.Split(file, "/")
	for _, path := range []string{file, "/thumbs/" + parts[2] + "/" + parts[3] + "/320"} {
		res := me.do("GET", path, "", nil)
		tag, keeps := res.Header.Get("ETag"), res.Header.Get("Cache-Control")
		if res.StatusCode != http.StatusOK || tag == "" || keeps != "private, no-cache" {
			t.Errorf("%s: %d %q %q", path, res.StatusCode, tag, keeps)
		}
		again := me.do("GET", path, "", nil, "If-None-Match", tag)
		if body := readAll(t, again.Body); again.StatusCode != http.StatusNotModified || body != "" || again.Header.Get("Cache-Control") != keeps {
			t.Errorf("%s again: %d", path, again.StatusCode)
		}
	}
	if clears := me.form("/signout", nil).Header.Get("Clear-Site-Data"); clears != `"cache"` {
		t.Errorf("who signs out keeps copies: %q", clears)
	}
}
