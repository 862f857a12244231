package siteapi_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/web/siteapi"
	"github.com/signalbox/signalbox/providers/content/contenttest"
	"github.com/signalbox/signalbox/providers/content/store"
)

func TestSiteOfAGroup(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	if _, err := a.Store.SwitchOn(t.Context(), store.Group{Platform: "telegram", Place: "chat:1"}, store.Site{Slug: "painters", Title: "Painters", Language: "en"}, contenttest.Stranger); err != nil {
		t.Fatal(err)
	}
	as := func(account string, want int, method, path string, body any) object {
		t.Helper()
		a.account = account
		return a.ask(want, method, path, body)
	}
	t.Run("everybody finds the sites in which they have a role", func(t *testing.T) {
		for account, want := range map[string]string{contenttest.Stranger: "painters owner", contenttest.Editor: "house editor", contenttest.Operator: "house owner"} {
			var got []string
			for _, one := range as(account, 200, "GET", "/sites", nil)["items"].([]any) {
				got = append(got, one.(object)["slug"].(string)+" "+one.(object)["role"].(string))
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s works on %v, want %s", account, got, want)
			}
		}
	})
	t.Run("?site= names it, and without there is the house", func(t *testing.T) {
		as(contenttest.Stranger, 201, "POST", "/pages?site=painters", object{"name": "Kiln", "slug": "kiln"})
		as(contenttest.Stranger, 200, "GET", "/pages/kiln?site=painters", nil)
		as(contenttest.Stranger, 200, "PATCH", "/pages/kiln?site=painters", object{"name": "Oven"})
		as(contenttest.Operator, 404, "GET", "/pages/kiln", nil)
		as(contenttest.Operator, 404, "GET", "/pages?site=nobody", nil)
		as(contenttest.Stranger, 200, "PATCH", "?site=painters", object{"description": "Of painters."})
	})
	t.Run("no address of it is for who has a role in the house alone", func(t *testing.T) {
		a.account = contenttest.Editor
		for _, pattern := range append(siteapi.Reads(), siteapi.Changes()...) {
			method, path, _ := strings.Cut(pattern, " ")
			if strings.HasSuffix(path, "/sites") {
				continue // tells of oneself
			}
			path = strings.NewReplacer("{account}", contenttest.Author, "{id}", "1").Replace(path)
			body := map[string]any{"PUT": object{"role": "owner"}, "POST": object{"hidden": true}}[method]
			if strings.HasSuffix(path, "/order") {
				body = object{"order": []any{}}
			}
			if got := a.status(method, path+"?site=painters", body); got != 403 && got != 422 {
				t.Errorf("%s: %d", pattern, got)
			}
		}
	})
}
