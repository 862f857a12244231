package knowledgeapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/web/knowledgeapi"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

type callerKey struct{}

func TestHandler(t *testing.T) {
	t.Parallel()
	var added []knowledgeapi.Wanted
	var removed []string
	h := knowledgeapi.Handler(knowledgeapi.Config{
		List: func(_ context.Context, account string) ([]knowledgeapi.Source, error) {
			return []knowledgeapi.Source{{Name: "of " + account}}, nil
		},
		Add: func(_ context.Context, account string, w knowledgeapi.Wanted) (knowledgeapi.Source, error) {
			if w.Name == "taken" {
				return knowledgeapi.Source{}, &registry.Error{Code: registry.CodeInvalidInput, Field: "name", Message: "there is one already"}
			}
			added = append(added, w)
			return knowledgeapi.Source{Name: w.Name, Mine: !w.House}, nil
		},
		Remove: func(_ context.Context, account, name string, house bool) error {
			if name == "missing" {
				return registry.Errorf(registry.CodeLost, "There is no source of this name.")
			}
			if removed = append(removed, account+" "+name); house {
				removed[len(removed)-1] = "house " + name
			}
			return nil
		},
		Caller: func(ctx context.Context) (users.Account, bool) {
			id, _ := ctx.Value(callerKey{}).(string)
			return users.Account{ID: id, Operator: id == "operator"}, true
		},
	})
	ask := func(who, method, path, body string) (int, string) {
		t.Helper()
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), callerKey{}, who), method, path, strings.NewReader(body))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const sources = "/api/knowledge/sources"
	t.Run("people add sources for themselves, and only operators for others", func(t *testing.T) {
		for _, c := range []struct {
			who, access string
			status      int
			house       bool
			readers     []string
		}{
			{"ann", ``, http.StatusAccepted, false, nil}, {"ann", `,"access":"me"`, http.StatusAccepted, false, nil}, {"ann", `,"access":"public"`, http.StatusForbidden, false, nil},
			{"ann", `,"access":"house"`, http.StatusForbidden, false, nil}, {"ann", `,"access":["web:ben"]`, http.StatusForbidden, false, nil}, {"operator", ``, http.StatusAccepted, false, nil},
			{"operator", `,"access":"public"`, http.StatusAccepted, true, nil}, {"operator", `,"access":["web:ben","group"]`, http.StatusAccepted, true, []string{"web:ben", "group"}},
			{"operator", `,"access":"nobody"`, http.StatusUnprocessableEntity, false, nil}, {"operator", `,"access":[]`, http.StatusUnprocessableEntity, false, nil},
		} {
			added = nil
			status, said := ask(c.who, http.MethodPost, sources, `{"name":"x","url":"https://docs.example"`+c.access+`}`)
			if status != c.status || (status == http.StatusAccepted) != (len(added) == 1) {
				t.Errorf("%s %s: %d %s", c.who, c.access, status, said)
			}
			if len(added) == 1 && (added[0].House != c.house || !slices.Equal(added[0].Access.Readers, c.readers)) {
				t.Errorf("%s %s: %+v", c.who, c.access, added[0])
			}
		}
	})
	t.Run("what is wrong is told", func(t *testing.T) {
		for body, want := range map[string]string{`no`: "expected JSON", `{"nmae":"x"}`: "nmae", `{"name":"taken"}`: `"there is one already","code":"invalid_input","field":"name"`} {
			if status, said := ask("ann", http.MethodPost, sources, body); status != http.StatusUnprocessableEntity || !strings.Contains(said, want) {
				t.Errorf("%s: %d %s", body, status, said)
			}
		}
	})
	t.Run("people remove their own, and only operators the house's", func(t *testing.T) {
		for _, c := range []struct {
			who, path, removed string
			status             int
		}{
			{"ann", "/x", "ann x", http.StatusNoContent}, {"ann", "/x?house=true", "", http.StatusForbidden}, {"operator", "/x?house=true", "house x", http.StatusNoContent}, {"ann", "/missing", "", http.StatusNotFound},
		} {
			removed = nil
			if status, said := ask(c.who, http.MethodDelete, sources+c.path, ""); status != c.status || strings.Join(removed, "") != c.removed {
				t.Errorf("%s %s: %d %s, removed %q", c.who, c.path, status, said, removed)
			}
		}
	})
	if status, said := ask("ann", http.MethodGet, sources, ""); status != http.StatusOK || !strings.Contains(said, `"of ann"`) {
		t.Errorf("%d %s", status, said)
	}
}
