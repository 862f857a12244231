package console_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

func TestEditing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	anna, operator := h.person("Anna"), h.operator()
	t.Run("an invitation is made, its link is shown once, and it is taken back", func(t *testing.T) {
		if status, body := operator.confirm("/operator/invitations/new", url.Values{"note": {"Ben"}, "credit": {"lots"}, "days": {"7"}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, "Credit") {
			t.Errorf("credit that is none: %d", status)
		}
		_, body := operator.confirm("/operator/invitations/new", url.Values{"note": {"Ben"}, "credit": {"2.50"}, "days": {"7"}})
		contains(t, "the list", body, "Invited Ben with $2.50", "https://bot.example/invite/", ">open<")
		link := regexp.MustCompile(`https://bot.example/invite/(\S+?)<`).FindStringSubmatch(body)
		if v, err := h.invitations.Peek(t.Context(), link[1]); err != nil || v.Note != "Ben" {
			t.Errorf("the link opens %+v, %v", v, err)
		}
		if body := operator.shows("/operator/invitations", "Ben"); strings.Contains(body, link[1]) {
			t.Error("the link is shown again")
		}
		if body := operator.shows("/operator/audit", "Invited Ben"); strings.Contains(body, link[1]) {
			t.Error("the audit log has the link")
		}
		list, err := h.invitations.List(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		_, body = operator.confirm("/operator/invitations/"+list[0].ID+"/revoke", nil)
		contains(t, "the list", body, "is taken back", "revoked")
		if status, _ := operator.get("/operator/invitations/" + list[0].ID + "/revoke"); status != http.StatusConflict {
			t.Errorf("taking it back again: %d", status)
		}
	})
	t.Run("a rule is set and counts", func(t *testing.T) {
		if status, body := operator.confirm("/operator/access/new", url.Values{"whom": {"Anna"}, "may": {"may not use the tools"}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, "expected an account id") {
			t.Errorf("nobody: %d", status)
		}
		_, body := operator.confirm("/operator/access/new", url.Values{"whom": {"telegram:tg-Anna"}, "may": {"may not use the tools"}, "why": {"spam"}})
		contains(t, "the rules", body, "may not use the tools", "Anna", "spam")
		if d, err := h.users.Check(t.Context(), users.Subject{AccountID: anna.ID}, ""); err != nil || d.Allowed {
			t.Errorf("Anna: %+v, %v", d, err)
		}
	})
	t.Run("a setting says where it comes from, is changed with an entry in the audit log, and goes back", func(t *testing.T) {
		operator.shows("/operator/settings", "Set by <code>ACCESS</code>", "The default of <code>TERMS_URL</code>")
		if status, body := operator.confirm("/operator/settings/terms/change", url.Values{"value": {"bad"}}); status != http.StatusUnprocessableEntity || !strings.Contains(body, "expected good ones") {
			t.Errorf("a wrong value: %d", status)
		}
		_, body := operator.confirm("/operator/settings/terms/change", url.Values{"value": {"Be <b>kind</b>."}})
		contains(t, "the settings", body, "Be &lt;b&gt;kind&lt;/b&gt;.", ">console<")
		operator.shows("/operator/audit", "Terms was empty and is “Be &lt;b&gt;kind&lt;/b&gt;.”")
		if status, body := operator.get("/operator/settings/access/change"); status != http.StatusConflict || !strings.Contains(body, "goes before") {
			t.Errorf("what the environment sets: %d", status)
		}
		t.Run("who saves what somebody else has changed meanwhile is told, and saves again", func(t *testing.T) {
			const change = "/operator/settings/terms/change"
			first, second := operator.form(change, url.Values{"value": {"Be <b>kind</b>,\r\nsays Ann."}}), operator.form(change, url.Values{"value": {"Be quick."}})
			operator.post(change, first)
			if status, _ := operator.post(change, first); status != http.StatusSeeOther {
				t.Errorf("the same form again: %d", status)
			}
			status, body := operator.post(change, second)
			contains(t, "the answer", body, "changed this meanwhile: Terms is “Be &lt;b&gt;kind&lt;/b&gt;,\r\nsays Ann.” now", "Be quick.")
			if status != http.StatusUnprocessableEntity || !strings.Contains(h.settings.terms, "says Ann") {
				t.Errorf("%d, the terms are %q", status, h.settings.terms)
			}
			for _, field := range hiddenField.FindAllStringSubmatch(body, -1) {
				second.Set(field[1], field[2])
			}
			if status, _ := operator.post(change, second); status != http.StatusSeeOther || h.settings.terms != "Be quick." {
				t.Errorf("saved again: %d, the terms are %q", status, h.settings.terms)
			}
		})
		t.Run("of many who save at the same moment what they saw, one does", func(t *testing.T) {
			const change = "/operator/settings/terms/change"
			var forms []url.Values
			for i := range 8 {
				forms = append(forms, operator.form(change, url.Values{"value": {fmt.Sprintf("Of %d.", i)}}))
			}
			var wait sync.WaitGroup
			var saved atomic.Int32
			for _, form := range forms {
				wait.Go(func() {
					if status, _ := operator.post(change, form); status == http.StatusSeeOther {
						saved.Add(1)
					}
				})
			}
			wait.Wait()
			if saved.Load() != 1 {
				t.Errorf("%d saved", saved.Load())
			}
		})
		_, body = operator.confirm("/operator/settings/terms/reset", nil)
		contains(t, "the settings", body, "has its default again")
	})
}

func TestTablesAsCSV(t *testing.T) {
	t.Parallel()
	h := newHouse(t, post())
	anna, operator := h.person(`=HYPERLINK("http://evil.example")`), h.operator()
	err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error { return h.ledger.Grant(t.Context(), tx, anna.ID, 100*billing.Dollar, "gift", "") })
	if err != nil {
		t.Fatal(err)
	}
	for range 52 {
		h.run(anna, "paint", "a bicycle", runs.StatusSucceeded)
	}
	h.run(anna, "upscale", "fail please", runs.StatusFailed)
	table := func(name string) [][]string {
		t.Helper()
		status, body, header := operator.do("GET", "/operator/export/"+name, "", nil)
		if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "text/csv") || !strings.Contains(header.Get("Content-Disposition"), "attachment") {
			t.Fatalf("%s: %d %v", name, status, header)
		}
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return rows
	}
	for name, least := range map[string]int{
		"runs": 54, "runs?state=failed": 2, "errors": 2, "plots": 2, "tools": 3, "changes": 3, "engines": 1, "ledger": 100, "people": 3, "access": 1, "invitations": 1, "settings": 3, "audit": 1, "post": 3,
	} {
		rows := table(name)
		if len(rows) < least || name == "runs?state=failed" && len(rows) != 2 {
			t.Errorf("%s has %d rows", name, len(rows))
		}
		path, _, _ := strings.Cut(name, "?")
		operator.shows("/operator/"+path, "/operator/export/"+path)
	}
	runs := table("runs")
	if i := slices.Index(runs[0], "name"); runs[1][i] != `'=HYPERLINK("http://evil.example")` {
		t.Errorf("the name is %q: a formula", runs[1][i])
	}
	if i := slices.Index(runs[0], "usd"); runs[2][i] != "0.5" && runs[2][i] != "0.50" {
		t.Errorf("the cost is %q", runs[2][i])
	}
	if status, _ := operator.get("/operator/export/nothing"); status != http.StatusNotFound {
		t.Errorf("no table: %d", status)
	}
}
