package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// pages are all that can be opened.
func pages(run, person string) []string {
	return []string{"", "runs", "runs/" + run, "errors", "plots", "tools", "tools/paint", "changes", "engines", "ledger", "people", "people/" + person, "access", "access/new", "invitations", "invitations/new", "settings", "settings/terms/change", "export/runs", "export/people", "audit",
		"runs/" + run + "/refund", "ledger/check", "reload", "people/" + person + "/credit", "people/" + person + "/limits",
		"people/" + person + "/block", "people/" + person + "/allow", "people/" + person + "/operator", "people/" + person + "/ordinary"}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	anna := h.person("Anna")
	run := h.run(anna, "paint", "a bicycle", runs.StatusSucceeded)
	operator, ordinary, stranger := h.operator(), h.as(anna), h.visitor()
	for _, page := range pages(run.ID, anna.ID) {
		path := console.Root + page
		if status, body := operator.get(path); status != http.StatusOK {
			t.Errorf("%s: the operator gets %d: %s", path, status, body)
		}
		if status, _ := ordinary.get(path); status != http.StatusNotFound {
			t.Errorf("%s: an ordinary user gets %d", path, status)
		}
		if status, body := stranger.get(path); status == http.StatusOK || strings.Contains(body, "Anna") {
			t.Errorf("%s: a stranger gets %d", path, status)
		}
		if status, _, _ := operator.do("GET", path, "evil.example", nil); status != http.StatusMisdirectedRequest {
			t.Errorf("%s: under a foreign host: %d", path, status)
		}
	}
	for _, deed := range []string{"runs/" + run.ID + "/refund", "runs/" + run.ID + "/cancel", "runs/" + run.ID + "/retry", "ledger/check", "reload", "people/" + anna.ID + "/credit",
		"people/" + anna.ID + "/limits", "people/" + anna.ID + "/block", "people/" + anna.ID + "/allow", "people/" + anna.ID + "/operator", "people/" + anna.ID + "/ordinary",
		"access/new", "invitations/new", "settings/terms/change", "settings/terms/reset"} {
		path := console.Root + deed
		full := url.Values{"why": {"because"}, "amount": {"5"}, "key": {"k"}}
		if status, _ := operator.post(path, full); status != http.StatusForbidden {
			t.Errorf("%s: without the form's token the operator gets %d", path, status)
		}
		form := ordinary.form("/history", full)
		if status, _ := ordinary.post(path, form); status != http.StatusNotFound && status != http.StatusForbidden {
			t.Errorf("%s: an ordinary user gets %d", path, status)
		}
		if status, _ := stranger.post(path, full); status < 400 && status != http.StatusSeeOther {
			t.Errorf("%s: a stranger gets %d", path, status)
		}
	}
	if after, err := h.users.PersonByID(t.Context(), anna.ID); err != nil || after.Operator || after.Blocked {
		t.Errorf("after all that Anna is %+v (%v)", after, err)
	}
	if balance, err := h.ledger.Balance(t.Context(), anna.ID); err != nil || balance.Available != 5*billing.Dollar-billing.Dollar/2 {
		t.Errorf("after all that Anna has %s (%v)", balance.Available, err)
	}
}

// TestParameters opens all pages with parameters that nobody's browser would send.
func TestParameters(t *testing.T) {
	t.Parallel()
	h := newHouse(t, console.Section{Path: "files", Title: "Files", Table: func(context.Context, string) (console.Table, error) { return console.Table{}, nil }})
	anna := h.person("Anna")
	run := h.run(anna, "paint", "a bicycle", runs.StatusSucceeded)
	operator := h.operator()
	tables := []string{"files", "runs/%00", "tools/%ff", "people/99999999999999999999"}
	for _, table := range []string{"runs", "errors", "tools", "changes", "engines", "ledger", "people", "access", "audit", "invitations", "settings", "files"} {
		tables = append(tables, "export/"+table)
	}
	for _, page := range append(tables, pages(run.ID, anna.ID)...) {
		for _, value := range []string{"%00", "a%00b", "%ff", "%F0%9F%98", "%zz", "9223372036854775807", "99999999999999999999", "-1", "1e400", "[1]", "0000-01-01", "a&" + "a", strings.Repeat("x", 5000)} {
			query := ""
			for _, name := range []string{"account", "after", "before", "day", "from", "kind", "only", "platform", "q", "run", "span", "state", "tool", "version", "view"} {
				query += "&" + name + "=" + value + "&" + name + "=1"
			}
			status, body := operator.get(console.Root + page + "?" + query[1:])
			if status >= 500 || strings.Contains(body, "SQLSTATE") {
				t.Errorf("%.80s with %.20s: %d: %s", page, value, status, body)
			}
		}
	}
	if status, body := operator.get(console.Root + "changes?only=4000"); status != http.StatusNotFound {
		t.Errorf("a change that there is not: %d: %s", status, body)
	}
	if status, body := operator.get(console.Root + "runs?before=%00"); status != http.StatusBadRequest || !strings.Contains(body, "no characters") {
		t.Errorf("got %d: %s", status, body)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	anna := h.person("Anna")
	operator := h.operator()
	good := h.run(anna, "paint", "a bicycle", runs.StatusSucceeded)
	bad := h.run(anna, "upscale", "fail please", runs.StatusFailed)

	t.Run("runs are listed and found by words, state and tool", func(t *testing.T) {
		operator.shows("/operator/runs", "Paint", "Tool upscale", "Anna", "refused by the provider", "$0.50")
		body := operator.shows("/operator/runs?state=failed", "Tool upscale")
		if strings.Contains(body, ">Paint</a>") {
			t.Error("a run that succeeded is among the failed")
		}
		operator.shows("/operator/runs?q="+good.ID[:18], ">Paint</a>")
		if body = operator.shows("/operator/runs?q=no-such-thing", "Nothing fits"); strings.Contains(body, ">Paint</a>") {
			t.Error("a run was found by nothing")
		}
	})
	t.Run("a run shows its inputs with their sources, its receipt and its transfers", func(t *testing.T) {
		operator.shows("/operator/runs/"+good.ID, "a bicycle", "argument", "1 request at $0.5", "Markup in the rate", "25%", "capture", "revenue", "Refund $0.50")
		operator.shows("/operator/runs/"+bad.ID, "refused by the provider", "Try again")
		if status, _ := operator.get("/operator/runs/no-run"); status != http.StatusNotFound {
			t.Errorf("no run: %d", status)
		}
	})
	t.Run("a refund asks first, wants a reason, shows its effect, is audited and happens once", func(t *testing.T) {
		path := "/operator/runs/" + good.ID + "/refund"
		operator.shows(path, "from $4.50 to $5.00", "can&#39;t be undone")
		if status, body := operator.confirm(path, nil); status != http.StatusUnprocessableEntity || !strings.Contains(body, "Say why") {
			t.Errorf("without a reason: %d", status)
		}
		form := operator.form(path, url.Values{"why": {"The picture was <b>blank</b>."}})
		status, page := operator.post(path, form)
		if status != http.StatusSeeOther {
			t.Fatalf("%d: %s", status, page)
		}
		operator.shows(page, "Refunded $0.50", "the wallet has $5.00 now")
		if status, body := operator.post(path, form); status != http.StatusConflict || !strings.Contains(body, "refunded already") {
			t.Errorf("the same form again: %d %s", status, body)
		}
		if b, err := h.ledger.Balance(t.Context(), anna.ID); err != nil || b.Available != 5*billing.Dollar {
			t.Errorf("balance %s (%v)", b.Available, err)
		}
		operator.shows("/operator/audit", "refund run", "The picture was &lt;b&gt;blank&lt;/b&gt;.", "Anna")
	})
	t.Run("results that could not be delivered are a list of their own", func(t *testing.T) {
		const path = "/operator/runs?state=undelivered"
		operator.shows(path, "<option selected>undelivered</option>", "Nothing fits")
		if _, err := h.pool.Exec(t.Context(), `UPDATE runs SET deliverable = true, claimed_by = NULL WHERE id = $1`, bad.ID); err != nil {
			t.Fatal(err)
		}
		if body := operator.shows(path, bad.ID); strings.Contains(body, good.ID) {
			t.Error("one that nobody waits for is in it")
		}
	})
	t.Run("a failed run is tried again, once", func(t *testing.T) {
		status, body := operator.confirm("/operator/runs/"+bad.ID+"/retry", nil)
		contains(t, "the new run", body, "was started again", "Repeats")
		if status != http.StatusOK {
			t.Errorf("status %d", status)
		}
		if status, body := operator.get("/operator/runs/" + good.ID + "/retry"); status != http.StatusConflict {
			t.Errorf("a run that succeeded: %d %s", status, body)
		}
	})
	t.Run("a run under way is canceled at no cost", func(t *testing.T) {
		run := h.accept(anna, "paint", "wait for it")
		h.reaches(run.ID, runs.StatusSubmitted)
		operator.shows("/operator/", "Running now", run.ID, `<dt>Tools</dt><dd>2</dd><dd class="quiet">ready</dd>`)
		_, body := operator.confirm("/operator/runs/"+run.ID+"/cancel", nil)
		contains(t, "the run", body, "is canceled", "Try again")
		if b, err := h.ledger.Balance(t.Context(), anna.ID); err != nil || b.Held != 0 {
			t.Errorf("held %s (%v)", b.Held, err)
		}
		if status, _ := operator.get("/operator/runs/" + run.ID + "/cancel"); status != http.StatusConflict {
			t.Errorf("canceling what is over: %d", status)
		}
	})
	t.Run("errors are grouped by tool and code", func(t *testing.T) {
		h.run(anna, "upscale", "fail too", runs.StatusFailed)
		operator.shows("/operator/errors", "<strong>3</strong>", "<code>refused</code>", "Tool upscale", "tool=upscale&amp;state=failed")
	})
	t.Run("plots stand beside their figures", func(t *testing.T) {
		operator.shows("/operator/plots?span=1h", "data-live", `data-plot="plot-latency"`, `id="figures"`, "95th percentile", "By tool", "paint")
		operator.shows("/operator/plots?span=30d", "data-live", "By tool")
	})
}

func TestPeople(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	anna := h.person("Anna")
	h.person("Ben")
	operator := h.operator()
	at := "/operator/people/" + anna.ID

	t.Run("people are found by name and shown with what they have", func(t *testing.T) {
		body := operator.shows("/operator/people?q=ann", "Anna", "$5.00", "telegram")
		if strings.Contains(body, ">Ben<") {
			t.Error("Ben was found for ann")
		}
		operator.shows(at, "tg-Anna", "sign-up credit", "no limit")
	})
	t.Run("credit is given once for a form, with a reason, and bounded", func(t *testing.T) {
		for _, amount := range []string{"", "lots", "-1", "0", "10001"} {
			if status, body := operator.confirm(at+"/credit", url.Values{"amount": {amount}, "why": {"gift"}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, `role="alert"`) {
				t.Errorf("%q: %d", amount, status)
			}
		}
		form := operator.form(at+"/credit", url.Values{"amount": {"2.50"}, "why": {"a gift"}})
		for range 2 {
			if status, body := operator.post(at+"/credit", form); status != http.StatusSeeOther {
				t.Fatalf("%d: %s", status, body)
			}
		}
		body := operator.shows(at, "a gift")
		if n := strings.Count(body, "Gave $2.50 to Anna; the wallet has $7.50 now."); n != 1 {
			t.Errorf("the audit log has the gift %d times", n)
		}
		contains(t, "the person", body, "This form was sent before; nothing more was given.")
		if b, err := h.ledger.Balance(t.Context(), anna.ID); err != nil || b.Available != 15*billing.Dollar/2 {
			t.Errorf("balance %s (%v)", b.Available, err)
		}
	})
	t.Run("limits are set, shown and checked", func(t *testing.T) {
		if status, body := operator.confirm(at+"/limits", url.Values{"per-day": {"many"}, "why": {"x"}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, "Runs a day") || !strings.Contains(body, `value="many"`) {
			t.Errorf("%d: %s", status, body)
		}
		_, body := operator.confirm(at+"/limits", url.Values{"at-once": {"2"}, "per-day": {"none"}, "streams": {"7"}, "day-cap": {"1.50"}, "why": {"a child"}})
		contains(t, "the person", body, "Limits set: 2 runs at once, none a day; 1.50 US dollars a day, default a month.", "of 2", "of 1.50", "a child")
		operator.shows(at+"/limits", `value="2"`, `value="7"`, `value="none"`, `value="1.50"`)
	})
	t.Run("somebody is blocked and allowed again", func(t *testing.T) {
		_, body := operator.confirm(at+"/block", url.Values{"why": {"spam"}})
		contains(t, "the person", body, "Anna is blocked.", "Allow again", "spam")
		operator.shows("/operator/people?only=blocked", "Anna")
		_, body = operator.confirm(at+"/allow", url.Values{"why": {"said sorry"}})
		contains(t, "the person", body, "Anna is allowed again.", "Block…")
	})
	t.Run("an operator is made, and cannot take the console from themselves", func(t *testing.T) {
		if status, body := operator.confirm(at+"/operator", url.Values{"why": {"helps out"}}); status != http.StatusOK {
			t.Fatalf("%d: %s", status, body)
		}
		helper := h.as(anna)
		helper.shows("/operator/", "Overview")
		if status, body := helper.confirm(at+"/ordinary", url.Values{"why": {"oops"}}); status != http.StatusUnprocessableEntity {
			t.Errorf("from herself: %d %s", status, body)
		}
		_, body := operator.confirm(at+"/ordinary", url.Values{"why": {"on holiday"}})
		contains(t, "the person", body, "is no operator any more")
		operator.shows("/operator/audit", "helps out", "on holiday")
	})
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	operator := h.operator()
	h.findings = map[string][]console.Finding{"paint": {{Severity: "warning", Message: "no note describes the workflow", Advice: "write a Note"}}}

	t.Run("tools are listed with state, price and lint findings, and found", func(t *testing.T) {
		operator.shows("/operator/tools", "Paint", "/paint", "0.5 USD per request", "1 finding", "workflows")
		if body := operator.shows("/operator/tools?state=findings", "Paint"); strings.Contains(body, "Tool upscale") {
			t.Error("a tool without findings is among those with")
		}
		operator.shows("/operator/tools/paint", "no note describes the workflow", "write a Note", "in use")
	})
	t.Run("of many tools a page shows a hundred, and of what changed with them fifty", func(t *testing.T) {
		paint, _ := h.reg.Snapshot().ByID("paint")
		upscale, _ := h.reg.Snapshot().ByID("upscale")
		defer func() {
			h.loader.Set(paint.Clone(), upscale.Clone())
			h.reload()
		}()
		all := []registry.Tool{paint.Clone(), upscale.Clone()}
		for i := range 120 {
			all = append(all, registrytest.Tool(fmt.Sprintf("many%03d", i)))
		}
		h.loader.Set(all...)
		h.reload()
		row := func(id string) string { return `<code class="quiet">` + id + `</code>` }
		first := operator.shows("/operator/tools", "122 tools", row("many000"), row("many099"), "/operator/tools?after=many099")
		next := operator.shows("/operator/tools?after=many099", row("many100"), row("paint"), row("upscale"))
		if strings.Contains(first, row("many100")) || strings.Contains(next, row("many099")) || strings.Contains(next, "Next tools") {
			t.Error("the two pages do not share the tools between them")
		}
		found := operator.shows("/operator/tools?q=tool+many&state=active", "120 of 122 tools", "/operator/tools?after=many099&amp;q=tool&#43;many&amp;state=active")
		if strings.Count(found, `<code class="quiet">many`) != 100 {
			t.Errorf("%d rows", strings.Count(found, `<code class="quiet">many`))
		}
		changes := operator.shows("/operator/changes", "many049", "and 70 others")
		whole := regexp.MustCompile(`/operator/changes\?only=\d+`).FindString(changes)
		if strings.Contains(changes, "many050") || whole == "" {
			t.Fatalf("all tools that were added are in the list, or nowhere else: %q", whole)
		}
		if page := operator.shows(whole, "many000", "many119"); strings.Contains(page, "others") || strings.Contains(page, "upscale") {
			t.Error("the page of one change has something else, or not all of it")
		}
	})
	t.Run("a change of the catalogue is shown field by field, and the old version can be read", func(t *testing.T) {
		old, _ := h.reg.Snapshot().ByID("paint")
		h.loader.Set(registrytest.Tool("paint", paint, func(t *registry.Tool) { t.Description = "Paints better."; t.CostingModel.Rate = "0.75" }))
		_, body := operator.confirm("/operator/reload", nil)
		contains(t, "after reading again", body, "0 tools added, 1 removed, 1 changed")
		operator.shows("/operator/changes", "costingModel.rate", "price up", "Paints better.", "Tool upscale")
		operator.shows("/operator/tools/paint", "Paints better.")
		operator.shows("/operator/tools/paint/versions/"+old.Version, "Paints any picture", "costingModel.rate")
		if status, _ := operator.get("/operator/tools/paint/versions/nothing"); status != http.StatusNotFound {
			t.Errorf("no such version: %d", status)
		}
	})
	t.Run("what is wrong with a source is told once", func(t *testing.T) {
		present, _ := h.reg.Snapshot().ByID("paint")
		h.loader.Set(present.Clone(), registrytest.Tool("cheap", func(t *registry.Tool) {
			t.CostingModel = &registry.CostingModel{Rate: "-1", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
		}))
		operator.confirm("/operator/reload", nil)
		if _, body := operator.get("/operator/errors"); strings.Count(body, "costingModel.rate") != 1 {
			t.Errorf("not once in %s", body)
		}
	})
	t.Run("a source that fails is an alarm", func(t *testing.T) {
		h.loader.Fail(errors.New("the disk is gone"))
		_, body := operator.confirm("/operator/reload", nil)
		contains(t, "after reading again", body, "Some could not be read")
		operator.shows("/operator/", "could not be read", "the disk is gone")
		operator.shows("/operator/errors", "the disk is gone", "last good set of 1 tool is in use")
	})
	t.Run("a disk that is nearly full is an alarm", func(t *testing.T) {
		operator.shows("/operator/", "files, 12 GB free")
		h.room = 40 << 20
		operator.shows("/operator/", "The disk is nearly full (40 MB left)")
		h.room = 12 << 30
	})
	t.Run("engines show what they work on, and one that is down is an alarm", func(t *testing.T) {
		h.engines = []console.Engine{{Name: "gpu1:8188", Up: true, GPUs: []string{"NVIDIA L4"}, Running: []string{"0191-running1"}, Waiting: []string{"0191-waiting1"}}, {Name: "gpu2:8188", Error: "connection refused"}}
		operator.shows("/operator/engines", "gpu1:8188", "NVIDIA L4", "running1", "waiting1", "connection refused")
		operator.shows("/operator/", "Engine gpu2:8188 is down")
	})
	t.Run("what an engine lacks of a tool is told beside the engines and on the tool's page", func(t *testing.T) {
		operator.shows("/operator/engines", "every engine that has answered can run every workflow")
		h.lacks = []console.Lack{{Engine: "gpu2:8188", ToolID: "paint", What: "the model big.safetensors"}, {Engine: "gpu2:8188", ToolID: "upscale", What: "the node Grow"}}
		operator.shows("/operator/engines", `href="/operator/tools/paint"`, "the model big.safetensors", "the node Grow")
		operator.shows("/operator/tools/paint", "gpu2:8188, which lacks the model big.safetensors")
		if _, body := operator.get("/operator/tools/paint"); strings.Contains(body, "the node Grow") {
			t.Error("another tool's lack is on the page")
		}
		for range 300 {
			h.lacks = append(h.lacks, h.lacks[0])
		}
		operator.shows("/operator/engines", "And 102 more")
	})
	t.Run("an engine is cordoned, drained, released and put back, with the reason in the audit", func(t *testing.T) {
		h.engines = []console.Engine{{Name: "gpu1:8188/a", Up: true, Running: []string{"0191-running1"}}, {Name: "gpu2:8188", Error: "connection refused"}}
		for _, deed := range []struct{ word, shows string }{
			{"cordon", "cordoned"}, {"release", "released"}, {"drain", "draining"}, {"uncordon", "takes runs again"},
		} {
			path := "/operator/engines/gpu1:8188%2Fa/" + deed.word
			operator.shows(path, "Runs at work there: 1, waiting: 0.")
			status, body := operator.confirm(path, url.Values{"why": {"new fan"}})
			contains(t, deed.word, body, deed.shows)
			if status != http.StatusOK {
				t.Errorf("%s: %d", deed.word, status)
			}
			operator.shows("/operator/audit", "engine."+deed.word, "new fan")
		}
		operator.confirm("/operator/engines/gpu2:8188/drain", url.Values{"why": {"sold"}})
		operator.shows("/operator/engines", "Nothing is left there: it can be turned off.")
		if _, body := operator.get("/operator/"); strings.Contains(body, "Engine gpu2:8188 is down") {
			t.Error("an engine that was drained is an alarm")
		}
		if status, _ := operator.get("/operator/engines/nobody/drain"); status != http.StatusConflict {
			t.Errorf("an engine that is not there: %d", status)
		}
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	anna := h.person("Anna")
	operator := h.operator()
	operator.shows("/operator/access", "There are no rules")
	for _, rule := range []users.Rule{
		{Kind: users.RuleAccount, Subject: anna.ID, By: anna.ID, Note: "spam"},
		{Allow: true, Kind: users.RuleRole, Platform: "discord", Subject: "8", Where: users.Place{Platform: "discord", Kind: users.PlaceSpace, ID: "77"}, By: "operator"},
	} {
		if err := h.users.SetRule(t.Context(), rule); err != nil {
			t.Fatal(err)
		}
	}
	operator.shows("/operator/access", "Anna", "spam", "role:discord:8", "discord space 77", "everywhere")
	rules, err := h.users.Rules(t.Context(), users.Place{})
	if err != nil || len(rules) != 2 {
		t.Fatal(rules, err)
	}
	at := fmt.Sprintf("/operator/access/%d/remove", rules[1].ID)
	operator.shows(at, "Remove the rule about Anna")
	status, body := operator.confirm(at, url.Values{})
	if status != http.StatusOK || strings.Contains(body, "spam") {
		t.Errorf("the rule is still shown: %d", status)
	}
	contains(t, at, body, "The rule about Anna is gone", "role:discord:8")
	if d, err := h.users.Check(t.Context(), users.Subject{AccountID: anna.ID}, ""); err != nil || !d.Allowed {
		t.Errorf("Anna is still kept out: %+v, %v", d, err)
	}
	if status, _ := operator.get(at); status != http.StatusNotFound {
		t.Errorf("a rule that is gone gives %d", status)
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	anna := h.person("Anna")
	run := h.run(anna, "paint", "a bicycle", runs.StatusSucceeded)
	operator := h.operator()
	t.Run("the books show that they balance, at a glance and recomputed", func(t *testing.T) {
		operator.shows("/operator/ledger", "The books balance", "Sum of all accounts", "<strong>$0.00</strong>", "Credit given out", "$9.50", "Added up")
		_, body := operator.confirm("/operator/ledger/check", nil)
		contains(t, "the ledger", body, "The ledger balances", "Recomputed from")
	})
	t.Run("the sums are those of a time that is told, at most ten seconds ago", func(t *testing.T) {
		h.at = time.Now().Add(time.Minute)
		defer func() { h.at = time.Time{} }()
		operator.shows("/operator/ledger", "$9.50")
		err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error { return h.ledger.Grant(t.Context(), tx, anna.ID, billing.Dollar, "gift", "") })
		if err != nil {
			t.Fatal(err)
		}
		then := h.at.UTC().Format(time.RFC3339)
		h.at = h.at.Add(9 * time.Second)
		operator.shows("/operator/ledger", "$9.50", `Added up <time datetime="`+then)
		h.at = h.at.Add(time.Second)
		operator.shows("/operator/ledger", "$10.50", "-$11.00", "The books balance", `Added up <time datetime="`+h.at.UTC().Format(time.RFC3339))
	})
	t.Run("transfers are found by account, run and kind", func(t *testing.T) {
		operator.shows("/operator/ledger?q="+run.ID, "capture", "hold", "$0.50")
		operator.shows("/operator/ledger?q="+anna.ID+"&kind=grant", "sign-up credit")
		operator.shows("/operator/ledger?q=nonsense", "No transfers")
	})
}

func TestSections(t *testing.T) {
	t.Parallel()
	t.Run("a page that another room fills stands in the navigation; without one there is none", func(t *testing.T) {
		with := newHouse(t, console.Section{Path: "webhooks", Title: "Webhooks", Table: func(context.Context, string) (console.Table, error) {
			return console.Table{Lead: "What came in.", Columns: []string{"Source"}, Rows: []console.Row{{Cells: []console.Cell{{Text: "fal <x>"}}}}}, nil
		}}).operator()
		with.shows("/operator/", `href="/operator/webhooks"`)
		with.shows("/operator/webhooks", "What came in.", "fal &lt;x&gt;")
		without := newHouse(t).operator()
		if body := without.shows("/operator/"); strings.Contains(body, "webhooks") {
			t.Error("there is an entry without a page")
		}
		if status, _ := without.get("/operator/webhooks"); status != http.StatusNotFound {
			t.Errorf("the page without a source: %d", status)
		}
	})
	t.Run("its rows are looked at in several ways, lead to runs, and something can be done to them", func(t *testing.T) {
		var done [][]string
		h := newHouse(t, console.Section{
			Path: "post", Title: "Post", Views: []console.View{{Name: "all", Title: "All"}, {Name: "left", Title: "Given up"}},
			Table: func(_ context.Context, view string) (console.Table, error) {
				rows := []console.Row{{Cells: []console.Cell{{Text: "17"}, {Run: "01234567-89ab-cdef-0123-456789abcdef"}}, ID: "17"}}
				if view == "all" {
					rows = append(rows, console.Row{Cells: []console.Cell{{Text: "18"}, {Text: "fine"}}})
				}
				return console.Table{Columns: []string{"No.", "Run"}, Rows: rows}, nil
			},
			Deed: &console.Deed{Name: "replay", Button: "Replay", All: "Replay all", Says: "It is worked on again.", Do: func(_ context.Context, ids ...string) (string, error) {
				done = append(done, ids)
				if slices.Contains(ids, "99") {
					return "", registry.Errorf(registry.CodeInvalidInput, "It was not given up.")
				}
				return "It will be worked on.", nil
			}},
			Alarm: func(context.Context) (string, error) { return "1 letter was given up", nil },
		})
		operator := h.operator()
		operator.shows("/operator/", "1 letter was given up", `href="/operator/post"`)
		all := operator.shows("/operator/post", "fine", `href="/operator/runs/01234567-89ab-cdef-0123-456789abcdef"`, `href="/operator/post/17/replay"`, `href="/operator/post/all/replay"`)
		if strings.Contains(all, "/operator/post/18/") {
			t.Error("a row to which nothing can be done has a button")
		}
		if body := operator.shows("/operator/post?view=left", `href="/operator/post?view=left" aria-current="true"`); strings.Contains(body, "fine") {
			t.Error("the other way to look shows the same")
		}
		operator.shows("/operator/post/17/replay", "It is worked on again.")
		if len(done) != 0 {
			t.Errorf("looking at the question does it: %v", done)
		}
		for _, id := range []string{"17", "all"} {
			if _, body := operator.confirm("/operator/post/"+id+"/replay", nil); !strings.Contains(body, "It will be worked on.") {
				t.Errorf("%s: %s", id, body)
			}
		}
		if len(done) != 2 || !slices.Equal(done[0], []string{"17"}) || len(done[1]) != 0 {
			t.Errorf("done was %v", done)
		}
		if status, body := operator.confirm("/operator/post/99/replay", nil); status != http.StatusUnprocessableEntity || !strings.Contains(body, "It was not given up.") {
			t.Errorf("%d %s", status, body)
		}
		operator.shows("/operator/audit", "post.replay", "It will be worked on.")
	})
	t.Run("of several choices for a row each has its button, and may ask for a text", func(t *testing.T) {
		var chosen []console.Chosen
		do := func(_ context.Context, c console.Chosen) (string, error) {
			chosen = append(chosen, c)
			return "It is answered.", nil
		}
		var anna string
		h := newHouse(t, console.Section{
			Path: "letters", Title: "Letters", Table: func(context.Context, string) (console.Table, error) {
				return console.Table{Columns: []string{"No.", "From"}, Rows: []console.Row{{Cells: []console.Cell{{Text: "17"}, {Account: anna}}, ID: "17"}}}, nil
			},
			Choices: []console.Choice{{Name: "drop", Button: "Drop", Says: "It is gone.", Do: do}, {Name: "answer", Button: "Answer", Says: "It is sent.", Text: "Words", Do: do}},
		})
		operator := h.operator()
		anna = h.person("Anna").ID
		operator.shows("/operator/letters", `<a href="/operator/people/`+anna+`">Anna</a>`, `href="/operator/letters/17/drop"`, `href="/operator/letters/17/answer"`)
		operator.shows("/operator/letters/17/answer", "It is sent.", `name="text"`)
		if status, body := operator.confirm("/operator/letters/17/answer", nil); status != http.StatusUnprocessableEntity || !strings.Contains(body, "expected a text") {
			t.Errorf("without a text: %d %s", status, body)
		}
		if _, body := operator.confirm("/operator/letters/17/answer", url.Values{"text": {" dear Ann "}, "why": {"polite"}}); !strings.Contains(body, "It is answered.") {
			t.Error(body)
		}
		if len(chosen) != 1 || chosen[0].ID != "17" || chosen[0].Text != "dear Ann" || chosen[0].Why != "polite" || chosen[0].By == "" {
			t.Errorf("chosen was %+v", chosen)
		}
	})
}
