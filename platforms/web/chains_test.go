package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/missionapi"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/test/housetest"
)

// framer puts a picture into a frame.
func framer() registry.Tool {
	return registrytest.Tool("framer", func(t *registry.Tool) {
		t.DisplayName, t.CommandName = "Framer", "/framer"
		t.InputSchema = registry.InputSchema{{Name: "image", DisplayName: "Picture", Type: registry.TypeImage, Required: true}, {Name: "wood", DisplayName: "Wood", Type: registry.TypeString, Default: "oak"}}
		t.OutputSchema = registry.OutputSchema{{Name: "framed", Type: "image"}}
	})
}

// withMissions carries missions out in this house, and shows them.
func (h *house) withMissions(options ...option) {
	h.t.Helper()
	var err error
	h.missions, err = missions.New(missions.Config{
		Pool: h.pool, Registry: h.reg, Runs: h.runs, Ledger: h.ledger, Providers: h.runs.Config.Providers, Media: housetest.Files{Store: h.assets}, Poll: 20 * time.Millisecond,
		May: func(context.Context, string, string, string) (registry.Audience, error) {
			return registry.Everyone, nil
		},
		Shares: func() billing.ShareBounds { return billing.ShareBounds{Percent: "20"} },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	housetest.Begin(h.t, h.missions)
	h.serve(append(options, func(c *web.Config) {
		c.Missions = h.missions
		api := missionapi.Handler(missionapi.Config{Missions: h.missions, Registry: h.reg, Files: request.Reader{Media: h.runs}, Caller: web.Caller, Budget: web.Budget})
		c.Mounts = append(c.Mounts, web.Mount{Path: "GET /api/missions/{id}/events", Use: web.Read, Handler: api, Streams: missionapi.Streams})
	})...)
}

// earns has a payer pay two cents to an author.
func (h *house) earns(author, payer string) {
	h.t.Helper()
	run, locks, writes := uuid.NewString(), &pgx.Batch{}, &pgx.Batch{}
	m := billing.Moves{Settlements: []billing.Settlement{{AccountID: payer, RunID: run, Cost: billing.Dollar / 10, Share: billing.Dollar / 50, Author: author, ShareNote: "Poster"}}}
	err := pgx.BeginFunc(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		ctx := h.t.Context()
		if err := errors.Join(h.ledger.Grant(ctx, tx, payer, billing.Dollar/10, run, ""), h.ledger.Hold(ctx, tx, payer, run, billing.Dollar/10)); err != nil {
			return err
		}
		m.Lock(locks)
		if err := tx.SendBatch(ctx, locks).Close(); err != nil {
			return err
		}
		if _, err := m.Post(writes); err != nil {
			return err
		}
		return tx.SendBatch(ctx, writes).Close()
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// ends lets the next call of a tool succeed.
func (h *house) ends(tool string, outputs ...registry.Output) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	var call registry.Call
	err := h.fake.WaitFor(ctx, func() bool {
		for _, c := range h.fake.Calls() {
			if c.Tool.ToolID == tool {
				call = c
			}
		}
		return call.RunID != ""
	})
	if err == nil {
		err = h.fake.Succeed(call.Handle, registry.Usage{}, outputs...)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestChainsInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.withMissions()
	paints := studio()
	paints.OutputSchema = paints.OutputSchema[:1] // what only makes files can be one step of several without a word of its own
	h.fakes.Set(paints, framer(), sketch())
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := open(t, browsertest.Desktop)
	picture := func(name string) registry.Output {
		return registrytest.File(name, "image", registry.MediaInfo{Name: name + ".png", MIMEType: "image/png"}, scene(t, 48, 32, 3))
	}
	add := func(tool string) {
		browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("#add"), tool), chromedp.Click(chromedp.CSS(`button[value="add"]`)))
	}
	t.Run("a chain is built by choosing outputs as inputs", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/chains"), chromedp.WaitVisible(chromedp.CSS("#chains")))
		browsertest.Accessible(t, ctx, "chains, none")
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(`a[href="/chains/build"]`)), chromedp.WaitVisible(chromedp.CSS("#add")))
		add("studio")
		browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS("#step1")), chromedp.SetValue(chromedp.CSS(`[id="from.1.prompt"]`), "ask"), chromedp.SetValue(chromedp.CSS(`[id="as.1.prompt"]`), "subject"))
		add("framer")
		browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS("#step2")), chromedp.SetValue(chromedp.CSS(`[id="from.2.image"]`), "1.picture"))
		browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS(`[id="from.2.wood"]`), "value"), chromedp.SetValue(chromedp.CSS(`[id="value.2.wood"]`), "pine"))
		browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("#name"), "Poster"), chromedp.Click(chromedp.CSS(`button[value="save"]`)), chromedp.WaitVisible(chromedp.CSS("#problem")))
		if wrong := browsertest.Text(t, ctx, "#problem"); !strings.Contains(wrong, "/poster_of_the_day") {
			t.Errorf("without a command it says %q", wrong)
		}
		if !browsertest.Is(t, ctx, browsertest.Fits) {
			t.Error("the form is wider than the window")
		}
		browsertest.Accessible(t, ctx, "chain")
		browsertest.Shot(t, ctx, "chain-build")
		browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("#command"), "placard"), chromedp.Click(chromedp.CSS(`button[value="save"]`)), chromedp.WaitVisible(chromedp.CSS("#chains li")))
		if list := browsertest.Text(t, ctx, "#chains"); !strings.Contains(list, "/placard") || !strings.Contains(list, "Studio → Framer") {
			t.Errorf("the list says %q", list)
		}
	})
	t.Run("it runs from its form, and its mission is seen", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(`#chains .button.primary`)), chromedp.WaitVisible(chromedp.CSS("#inputs")))
		until(t, ctx, value("subject", "a lighthouse"))
		browsertest.Becomes(t, ctx, `document.getElementById("quote").ariaBusy !== "true" && document.getElementById("quote").textContent.includes("$")`)
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#start")))
		h.ends("studio", picture("picture"))
		h.ends("framer", picture("framed"))
		browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS(".results img")))
		for _, call := range h.fake.Calls() {
			if call.Tool.ToolID == "framer" && call.Inputs["wood"] != "pine" || call.Tool.ToolID == "studio" && call.Inputs["prompt"] != "a lighthouse" {
				t.Errorf("%s was given %v", call.Tool.ToolID, call.Inputs)
			}
		}
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/chains"), chromedp.WaitVisible(chromedp.CSS("#missions li")))
		browsertest.Accessible(t, ctx, "chains")
		browsertest.Shot(t, ctx, "chains")
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#missions li a")), chromedp.WaitVisible(chromedp.CSS("#mission")))
		if text := browsertest.Text(t, ctx, "#mission"); !strings.Contains(text, "2 of 2 done") {
			t.Errorf("the mission says %q", text)
		}
	})
	t.Run("a mission is confirmed on its page and followed there", func(t *testing.T) {
		m, err := h.missions.Plan(t.Context(), h.reader().accountID(), "", missions.Draft{Title: "A sketch", Legs: []missions.DraftLeg{{Tool: "sketch", Order: 1, Inputs: map[string]any{"prompt": "a pier"}}}})
		if err != nil {
			t.Fatal(err)
		}
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/chains/missions/"+m.ID), chromedp.WaitVisible(chromedp.CSS("#mission")))
		browsertest.Accessible(t, ctx, "mission")
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#mission button.primary")))
		browsertest.Becomes(t, ctx, `document.querySelector(".legs .tag")?.textContent === "running"`)
		browsertest.Shot(t, ctx, "mission")
		h.ends("sketch", picture("image"))
		browsertest.Becomes(t, ctx, `document.getElementById("status")?.textContent === "done"`)
	})
	t.Run("it is changed, shared and deleted", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/chains"), chromedp.Click(chromedp.CSS(`a[href^="/chains/build/"]`)), chromedp.WaitVisible(chromedp.CSS("#step2")))
		if !browsertest.Is(t, ctx, `document.getElementById("from.2.image").value === "1.picture" && document.getElementById("as.1.prompt").value === "subject" && document.getElementById("value.2.wood").value === "pine"`) {
			t.Error("the form has forgotten what was chosen")
		}
		browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS(`[id="value.2.wood"]`), "ash"), chromedp.Click(chromedp.CSS(`button[value="save"]`)))
		browsertest.Becomes(t, ctx, `document.querySelector("#chains li") !== null`)
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(`form[action$="/share"] button`)))
		browsertest.Becomes(t, ctx, `document.querySelector('form[action$="/keep"]') !== null`)
		if list := browsertest.Text(t, ctx, "#chains"); !strings.Contains(list, "version 3") || !strings.Contains(list, "shared") {
			t.Errorf("the list says %q", list)
		}
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(`form[action$="/delete"] button`)))
		browsertest.Becomes(t, ctx, `document.getElementById("chains").textContent.includes("none yet")`)
	})
}

func TestChainsAndMissionsAreTheirOwners(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.withMissions(public(t, "https://127.0.0.1"))
	h.fakes.Set(studio(), sketch())
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	ann, ben := h.visitor(), h.visitor()
	ann.form("/signin", url.Values{"key": {h.developer("ann").key}})
	ben.form("/signin", url.Values{"key": {h.developer("ben").key}})
	mine := url.Values{"tool": {"studio"}, "from.1.prompt": {"ask"}, "name": {"Mine"}, "command": {"/mine"}, "asks": {"21%"}, "do": {"save"}}
	if res := ann.form("/chains/build", mine); res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a share beyond the bound is answered %d", res.StatusCode)
	}
	mine.Set("asks", "10%")
	if res := ann.form("/chains/build", mine); res.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d: %s", res.StatusCode, readAll(t, res.Body))
	}
	if page := readAll(t, ann.do("GET", "/chains", "", nil).Body); !strings.Contains(page, "Your share 10%") {
		t.Errorf("the list does not name the share:\n%s", page)
	}
	account := ann.accountID()
	h.earns(account, ben.accountID())
	if page := readAll(t, ann.do("GET", "/account", "", nil).Body); !strings.Contains(page, `id="income"`) || !strings.Contains(page, "Poster") || !strings.Contains(page, "$0.02") {
		t.Errorf("the account's page does not name the income:\n%s", page)
	}
	own, err := h.missions.Chains(t.Context(), account)
	if err != nil || len(own) != 1 {
		t.Fatal(own, err)
	}
	m, err := h.missions.Plan(t.Context(), account, "", missions.Draft{Title: "Hers", Legs: []missions.DraftLeg{{Tool: "sketch", Order: 1, Inputs: map[string]any{"prompt": "a pier"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/chains/build/" + own[0].ID, "/chains/missions/" + m.ID, "/tool/" + own[0].ToolID(), "/api/tools/" + own[0].ToolID()} {
		if res := ben.do("GET", path, "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s answers another one %d", path, res.StatusCode)
		}
		if res := ann.do("GET", path, "", nil); res.StatusCode != http.StatusOK {
			t.Errorf("GET %s answers its owner %d", path, res.StatusCode)
		}
	}
	for _, path := range []string{"/api/quote/", "/api/run/"} {
		res := h.developer("ben").do("POST", path+own[0].ToolID(), "application/json", strings.NewReader(`{"inputs":{}}`))
		if told := readAll(t, res.Body); res.StatusCode != http.StatusNotFound || strings.Contains(told, "Mine") {
			t.Errorf("POST %s answers another one %d: %s", path, res.StatusCode, told)
		}
	}
	for path, fields := range map[string]url.Values{
		"/chains/" + own[0].ID + "/delete": {}, "/chains/" + own[0].ID + "/share": {}, "/chains/build": {"id": {own[0].ID}, "do": {"save"}},
		"/chains/missions/" + m.ID + "/confirm": {"hash": {m.Hash}}, "/chains/missions/" + m.ID + "/cancel": {},
	} {
		if res := ben.form(path, fields); res.StatusCode != http.StatusNotFound {
			t.Errorf("POST %s answers another one %d", path, res.StatusCode)
		}
	}
	if m, err = h.missions.Get(t.Context(), m.ID, account); err != nil || m.Status != missions.AwaitingConfirmation {
		t.Errorf("the mission is %s, %v", m.Status, err)
	}
	res := ann.form("/chains/missions/"+m.ID+"/confirm", url.Values{"hash": {"another"}})
	if page := readAll(t, res.Body); res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("another hash: %d\n%s", res.StatusCode, page)
	}
}
