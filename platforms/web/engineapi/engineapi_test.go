package engineapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/web/engineapi"
	"github.com/signalbox/signalbox/users"
)

func TestEnginesOverTheAPI(t *testing.T) {
	t.Parallel()
	const name = "gpu1:8188/comfy"
	var ordered []string
	var audit []users.AuditEntry
	h := engineapi.Handler(engineapi.Config{
		Names: func() []string { return []string{name} },
		List:  func() any { return []map[string]any{{"name": name, "up": true}} },
		Order: func(_ context.Context, engine, order string) error {
			ordered = append(ordered, engine+" "+order)
			return nil
		},
		Record: func(_ context.Context, e users.AuditEntry) error { audit = append(audit, e); return nil },
		Caller: func(context.Context) (users.Account, bool) { return users.Account{ID: "ann"}, true },
	})
	ask := func(method, path, body string, status int) string {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
		if w.Code != status {
			t.Errorf("%s %s %s: %d, expected %d: %s", method, path, body, w.Code, status, w.Body)
		}
		return w.Body.String()
	}
	if list := ask("GET", "/api/engines", "", http.StatusOK); !strings.Contains(list, name) {
		t.Errorf("%s", list)
	}
	const path = "/api/engines/gpu1:8188%2Fcomfy"
	ask("PUT", path, `{"do": "drain", "why": "a new card"}`, http.StatusOK)
	ask("PUT", path, `{"do": "uncordon", "why": "it is in"}`, http.StatusOK)
	ask("PUT", path, `{"do": "drain", "why": " "}`, http.StatusUnprocessableEntity)
	ask("PUT", path, `{"do": "burn", "why": "cold"}`, http.StatusUnprocessableEntity)
	if told := ask("PUT", "/api/engines/nobody", `{"do": "drain", "why": "a new card"}`, http.StatusNotFound); !strings.Contains(told, "GET /api/engines lists them") {
		t.Errorf("of an engine that there is not: %s", told)
	}
	if len(ordered) != 2 || ordered[0] != name+" draining" || ordered[1] != name+" " {
		t.Errorf("ordered: %q", ordered)
	}
	if len(audit) != 2 || audit[0].By != "ann" || audit[0].Action != "engine.drain" || audit[0].Note != "a new card" || audit[1].Action != "engine.uncordon" {
		t.Errorf("%+v", audit)
	}
}
