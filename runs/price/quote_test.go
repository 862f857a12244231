package price

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// However many runs a tool ever had, a quote reads the latest of them from their end, and sorts none.
func TestQuotesReadTheLatestRunsAlone(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	for _, sql := range []string{`
		INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, cost, full_cost, nano_units, platform, deliverable, timeout_ms,
			created_at, ended_at, receipt)
		SELECT gen_random_uuid(), gen_random_uuid(), CASE WHEN n % 2 = 0 THEN 'busy' ELSE 'tool' || n % 100 END, '1', 'service', 'succeeded', '{}', '{}', 0, '{}', 1000, 1, 1, 1, 'web', true, 1000,
			now() - n * interval '1 minute', now() - n * interval '1 minute', '{}' FROM generate_series(1, 20000) n`, `ANALYZE runs`} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"busy", "tool7", "never run"} {
		rows, _ := pool.Query(t.Context(), `EXPLAIN `+learnSQL, pgx.QueryExecModeExec, tool, learnAmong)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		text := strings.Join(plan, "\n")
		if err != nil || !strings.Contains(text, "runs_learned") || strings.Contains(text, "Seq Scan") || tool == "busy" && strings.Contains(text, "Sort") {
			t.Errorf("%s: %v\n%s", tool, err, text)
		}
	}
}
