package migrations_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/migrations"
)

// contracting are statements after which the version before may fail: it reads what is gone, writes what is refused now, or leaves out what has
// to be there.
var contracting = map[string]*regexp.Regexp{
	"takes something away":          regexp.MustCompile(`(?i)^DROP (TABLE|VIEW|FUNCTION|TYPE|SEQUENCE|SCHEMA)\b|\bDROP COLUMN\b`),
	"renames something":             regexp.MustCompile(`(?i)\bRENAME\b`),
	"changes a column's type":       regexp.MustCompile(`(?i)\bALTER (COLUMN )?\w+ (SET DATA )?TYPE\b`),
	"refuses what was allowed":      regexp.MustCompile(`(?i)\bSET NOT NULL\b|\bADD CONSTRAINT\b|\bADD (CHECK|UNIQUE|PRIMARY KEY|FOREIGN KEY)\b`),
	"wants a column in each insert": regexp.MustCompile(`(?i)\bADD COLUMN (?:IF NOT EXISTS )?\w+ [^,]*\bNOT NULL\b`),
}

// fine are the contracting statements that do no harm, by file and the beginning of the statement.
var fine = map[string]string{
	"0301_runs_deliveries.sql: DROP TABLE IF EXISTS river_client_queue":            "it is from before the first release; no version in use reads these tables",
	"0301_runs_deliveries.sql: DROP FUNCTION IF EXISTS river_job_state_in_bitmask": "likewise",
	"0301_runs_deliveries.sql: DROP TYPE IF EXISTS river_job_state":                "likewise",
	"0530_ledger_purchases.sql: ALTER TABLE ledger_accounts ADD CONSTRAINT":        "it takes the place of one that allowed less",
	"0540_site_by_chat.sql: ALTER TABLE chat_marks ADD CONSTRAINT":                 "it takes the place of one that allowed less",
	"0541_site_schedule.sql: ALTER TABLE site_entries ADD COLUMN publish_at":       "the version before leaves the new column empty, which is allowed",
	"0547_site_groups.sql: ALTER TABLE sites ADD COLUMN platform":                  "the version before leaves the new columns empty, which is allowed",
	"0549_site_search.sql: DROP TABLE IF EXISTS site_words":                        "the same step makes it anew",
	"0549_site_search.sql: DROP FUNCTION IF EXISTS site_note_words":                "likewise",
	"0549_site_search.sql: DROP FUNCTION IF EXISTS site_put_words":                 "likewise",
	"0570_exports.sql: ALTER TABLE asset_owners DROP CONSTRAINT":                   "it takes the place of one that allowed less",
	"0570_exports.sql: ALTER VIEW asset_uses RENAME":                               "the same step gives its name to one that has more",
	"0700_site_nav_order.sql: ALTER TABLE site_nav_items DROP CONSTRAINT":          "it takes the place of one that refuses the same",
	"0548_site_languages.sql: ALTER TABLE site_image_uses ADD CONSTRAINT":          "it takes the place of one that allowed less",
}

// newer are forms that Postgres 14, the oldest that is served, does not know.
var newer = regexp.MustCompile(`(?i)\bNULLS NOT DISTINCT\b|\bMERGE INTO\b|\bsecurity_invoker\b|\bregexp_(count|instr|like|substr)\b|\bany_value\b|\bIS JSON\b|\bJSON_(TABLE|QUERY|VALUE|EXISTS|OBJECTAGG|ARRAYAGG)\b|\buuidv7\b`)

func TestStepsAreForTheOldestPostgres(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(migrations.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		if found := newer.FindString(comment.ReplaceAllString(string(text), "")); found != "" {
			t.Errorf("%s: %s is not known to Postgres 14", file, found)
		}
	}
}

// TestStepsOnlyExpand holds the rule by which two neighbouring versions run together: what a step takes away, the version before no longer reads.
func TestStepsOnlyExpand(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, file := range files {
		if file < "0300" {
			continue // tables of the rooms, made at once
		}
		text, err := fs.ReadFile(migrations.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range statements(string(text)) {
			for what, form := range contracting {
				if !form.MatchString(statement) || hasDefault(what, statement) {
					continue
				}
				if allowed := reason(file + ": " + statement); allowed != "" {
					used[allowed] = true
					continue
				}
				t.Errorf("%s %s, while the version before still runs: %s\nadd first, use it in the next version, take away in the one after that; "+
					"or give a reason in the list of this test", file, what, statement)
			}
		}
	}
	for statement := range fine {
		if !used[statement] {
			t.Errorf("there is no statement any more that begins %q", statement)
		}
	}
}

func reason(statement string) string {
	for beginning := range fine {
		if strings.HasPrefix(statement, beginning) {
			return beginning
		}
	}
	return ""
}

// hasDefault reports whether a new column that must not be empty is filled by the database.
func hasDefault(what, statement string) bool {
	return strings.HasPrefix(what, "wants a column") && regexp.MustCompile(`(?i)\bDEFAULT\b|\bGENERATED\b`).MatchString(statement)
}

var (
	body    = regexp.MustCompile(`(?s)-- \+goose StatementBegin.*?-- \+goose StatementEnd`)
	comment = regexp.MustCompile(`--[^\n]*`)
	space   = regexp.MustCompile(`\s+`)
)

// statements are those of a step's way up, without functions.
func statements(file string) (list []string) {
	up, _, _ := strings.Cut(file, "-- +goose Down")
	up = comment.ReplaceAllString(body.ReplaceAllString(up, ""), "")
	for statement := range strings.SplitSeq(up, ";") {
		if statement = strings.TrimSpace(space.ReplaceAllString(statement, " ")); statement != "" {
			list = append(list, statement)
		}
	}
	return list
}

func TestContractingStatementsAreFound(t *testing.T) {
	t.Parallel()
	for statement, harmful := range map[string]bool{
		"DROP TABLE a": true, "ALTER TABLE a DROP COLUMN b": true, "ALTER TABLE a RENAME COLUMN b TO c": true, "ALTER TABLE a RENAME TO b": true,
		"ALTER TABLE a ALTER COLUMN b TYPE bigint": true, "ALTER TABLE a ALTER b SET NOT NULL": true, "ALTER TABLE a ADD COLUMN b text NOT NULL": true,
		"ALTER TABLE a ADD CHECK (b > 0)":  true,
		"CREATE TABLE a (b text NOT NULL)": false, "ALTER TABLE a ADD COLUMN b text": false, "ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT ''": false,
		"DROP INDEX a": false, "CREATE TRIGGER a AFTER DELETE ON b EXECUTE FUNCTION c()": false,
	} {
		found := false
		for what, form := range contracting {
			found = found || form.MatchString(statement) && !hasDefault(what, statement)
		}
		if found != harmful {
			t.Errorf("%s: found %v, want %v", statement, found, harmful)
		}
	}
}

// A program starts on a schema that a newer version has brought further.
func TestSchemaThatIsAhead(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	for _, sql := range []string{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (998, true)`, `CREATE TABLE of_the_next_version (a text)`} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if n := up(t, pool); n != 0 {
		t.Errorf("%d steps were applied", n)
	}
	if steps := status(t, pool); steps[len(steps)-1].Version == 998 {
		t.Error("a step that is not ours is listed")
	}
}
