package e2e

import (
	"net/http"
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	const token = "token-of-the-monitoring"
	t.Run("under PUBLIC_URL they are for the operator and the monitoring alone", func(t *testing.T) {
		t.Parallel()
		listen := closedPort(t)
		p := launch(t, spec{env: []string{"LISTEN_ADDR=" + listen, "PUBLIC_URL=http://bot.example", "ADMIN_TOKEN=" + adminToken, "METRICS_TOKEN=" + token}})
		p.awaitReady()
		page := "http://" + listen
		for key, want := range map[string]int{"": http.StatusUnauthorized, "wrong": http.StatusUnauthorized, token: http.StatusOK, adminToken: http.StatusOK} {
			status, _, said := peek(t, page+"/metrics", key)
			if status != want || strings.Contains(said, "signalbox_tools") != (want == http.StatusOK) {
				t.Errorf("with the token %q: %d, want %d", key, status, want)
			}
		}
	})
	t.Run("what an operator watches, at an address of its own", func(t *testing.T) {
		t.Parallel()
		listen := closedPort(t)
		p := start(t, spec{env: []string{"METRICS_ADDR=" + listen}})
		if status, _, _ := peek(t, p.page+"/metrics", ""); status != http.StatusNotFound {
			t.Errorf("beside the page: %d", status)
		}
		g := p.visit()
		g.post("/chat/say", "text", "/help")
		g.awaitPage("the answer", "/settings")
		_, _, said := peek(t, "http://"+listen+"/metrics", "")
		for _, want := range []string{
			"signalbox_build_info{", `signalbox_engine_up{engine="127.0.0.1:`, `signalbox_database_connections{state="used"}`, "signalbox_database_connections_max",
			`signalbox_http_seconds_count{route="GET /chat",status="200"}`, `signalbox_acknowledgement_seconds_count{platform="web"} 1`,
			"signalbox_runs_queue_oldest_seconds 0", `signalbox_runs_places{state="free"}`, "go_goroutines", "process_cpu_seconds_total",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("no %s", want)
			}
		}
		if t.Failed() {
			t.Log(said)
		}
	})
}
