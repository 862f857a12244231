package store

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/runs"
)

const (
	defaultPage = 50
	maxPage     = 200
	maxSearch   = 200 // bytes of a text to find
	shortID     = 8   // characters at the end of an id that pages show
	gram        = 3   // characters of a piece by which errors are found, see run_grams
	// someTools is how many tools are looked through one by one for a text; where more are called so, their runs are frequent enough to be
	// met on the way back from the newest.
	someTools = 100
	// lately is how many of the latest runs that failed are looked through for a text before the index of errors is: a text that is in many
	// errors fills a page with them, and the index would give all of them.
	lately = 1000
)

// Conditions that say in the words of an index what they are about, so that it is used.
const (
	open         = `r.ended_at IS NULL`
	over         = `r.ended_at IS NOT NULL`
	unsuccessful = over + ` AND r.status <> 'succeeded'`
	undelivered  = `r.deliverable AND ` + over + ` AND r.claimed_by IS NULL AND r.delivered_at IS NULL`
	errorText    = `lower(coalesce(r.error ->> 'code', '') || ' ' || coalesce(r.error ->> 'message', ''))`
)

// List gives runs, newest first.
func (s *Store) List(ctx context.Context, f runs.Filter) ([]runs.Run, error) {
	records, err := s.list(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	s.tellPositions(ctx, records)
	list := make([]runs.Run, len(records))
	for i := range records {
		list[i] = records[i].Run
	}
	return list, nil
}

func (s *Store) list(ctx context.Context, f runs.Filter) ([]Record, error) {
	l := listing{limit: min(f.Limit, maxPage)}
	if l.limit <= 0 {
		l.limit = defaultPage
	}
	l.narrow(f)
	text := strings.ToLower(cleanSearch(f.Text))
	// The plan depends on how frequent a state, a platform or a text is, so it is made anew each time.
	planned := func(statement string) ([]Record, error) {
		return s.Query(ctx, statement, append([]any{pgx.QueryExecModeCacheDescribe}, l.args...)...)
	}
	switch {
	case text == "" && (f.Status != "" || f.Open):
		return planned(l.newest(""))
	case text == "" && f.Platform != "":
		return planned(l.anyOf(l.find(over), l.find(open)))
	case text == "":
		return s.Query(ctx, l.newest(""), l.args...)
	}
	tools, err := s.toolsCalled(ctx, text)
	if err != nil {
		return nil, err
	}
	failed, err := s.failedLately(ctx, l, text, f.AccountID != "")
	if err != nil {
		return nil, err
	}
	return planned(l.anyOf(l.containing(text, tools, failed)...))
}

// toolsCalled lists tools that runs were accepted with and whose ids contain a text, at most one more than someTools.
func (s *Store) toolsCalled(ctx context.Context, text string) ([]string, error) {
	rows, _ := s.Config.Pool.Query(ctx, `SELECT DISTINCT tool_id FROM run_tools WHERE strpos(lower(tool_id), $1) > 0 LIMIT $2`, text, someTools+1)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// failedLately gives runs whose errors contain a text, the newest of those that failed lately.
func (s *Store) failedLately(ctx context.Context, l listing, text string, ofAccount bool) ([]string, error) {
	place, limit := l.arg(text), l.limit
	l.limit = lately
	among := l.newest(unsuccessful)
	if ofAccount { // its index is by state: without one all that did not succeed in the house is sifted for the account's
		var ways []string
		for _, state := range []runs.Status{runs.StatusFailed, runs.StatusTimedOut, runs.StatusCanceled} {
			ways = append(ways, l.find(unsuccessful+` AND r.status = '`+string(state)+`'`))
		}
		among = l.anyOf(ways...)
	}
	rows, _ := s.Config.Pool.Query(ctx, `SELECT r.id::text FROM (SELECT r.id, r.error FROM runs r `+among+`) r
		WHERE strpos(`+errorText+`, `+place+`) > 0 ORDER BY r.id DESC LIMIT `+strconv.Itoa(limit), l.args...)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// listing is a question for runs: its conditions and their arguments.
type listing struct {
	where []string
	args  []any
	limit int
}

// arg adds an argument and gives its place in a statement.
func (l *listing) arg(value any) string {
	l.args = append(l.args, value)
	return "$" + strconv.Itoa(len(l.args))
}

// narrow adds all conditions of a filter but its text.
func (l *listing) narrow(f runs.Filter) {
	equal := func(comparison, value string) {
		if value != "" {
			l.where = append(l.where, comparison+" "+l.arg(value))
		}
	}
	equal("r.account_id =", f.AccountID)
	if f.AccountID != "" {
		l.where = append(l.where, "r.deleted_at IS NULL")
	}
	equal("r.budget =", f.Budget)
	equal("r.tool_id =", f.ToolID)
	equal("r.status =", string(f.Status))
	switch {
	case f.Status == "":
	case f.Status == runs.StatusSucceeded:
		l.where = append(l.where, over)
	case f.Status.Final():
		l.where = append(l.where, unsuccessful)
	default:
		l.where = append(l.where, open)
	}
	if f.Open {
		l.where = append(l.where, open)
	}
	equal("r.platform =", f.Platform)
	equal("r.id <", f.Before)
	if !f.Since.IsZero() {
		equal("r.id >=", FirstID(f.Since))
	}
	if !f.Until.IsZero() {
		equal("r.id <", FirstID(f.Until))
	}
	if f.Undelivered {
		l.where = append(l.where, undelivered)
	}
}

// newest is the end of a statement: the newest runs of which all that was asked and a condition hold.
func (l *listing) newest(condition string) string {
	where := l.where
	if condition != "" {
		where = append(where[:len(where):len(where)], condition)
	}
	if len(where) == 0 {
		where = []string{"true"}
	}
	return `WHERE ` + strings.Join(where, " AND ") + ` ORDER BY r.id DESC LIMIT ` + strconv.Itoa(l.limit)
}

// find is a statement that gives the ids of the newest runs of which all that was asked and a condition hold.
func (l *listing) find(condition string) string {
	return `SELECT r.id FROM runs r ` + l.newest(condition)
}

// anyOf is the end of a statement: the newest of the runs that statements give the ids of. Each of them has its own index, and one with all of
// their conditions would use none.
func (l *listing) anyOf(ways ...string) string {
	return `WHERE r.id IN ((` + strings.Join(ways, `) UNION (`) + `)) ORDER BY r.id DESC LIMIT ` + strconv.Itoa(l.limit)
}

// containing are statements that give the ids of runs that contain a text, the newest of each way to contain it. Where those that failed lately
// fill the page, no others are looked for.
func (l *listing) containing(text string, tools, failed []string) []string {
	place := l.arg(text)
	withError := failedWith(text, place)
	if len(failed) == l.limit {
		withError = hasError(place) + ` AND r.id = ANY (` + l.arg(failed) + `::uuid[])`
	}
	ways := []string{l.find(withError)}
	if len(tools) > someTools {
		ways = append(ways, l.find(`strpos(lower(r.tool_id), `+place+`) > 0`))
	} else if len(tools) > 0 {
		ways = append(ways, `SELECT r.id FROM unnest(`+l.arg(tools)+`::text[]) t (id), LATERAL (`+l.find(`r.tool_id = t.id`)+`) r`)
	}
	if partOfID.MatchString(text) {
		end := ` = right(` + place + `, ` + strconv.Itoa(shortID) + `) AND `
		endOf := func(id string) string {
			return `right(` + id + `::text, ` + strconv.Itoa(shortID) + `)` + end + id + `::text LIKE '%' || ` + place
		}
		ways = append(ways, l.find(endOf("r.id")+` AND `+over), l.find(endOf("r.id")+` AND `+open))
		ways = append(ways, `SELECT r.id FROM users u, LATERAL (`+l.find(`r.account_id = u.id`)+`) r WHERE `+endOf("u.id"))
		if from, to, ok := idsFrom(text); ok {
			between := ` BETWEEN ` + l.arg(from) + `::uuid AND ` + l.arg(to) + `::uuid`
			ways = append(ways, l.find(`r.id`+between), l.find(`r.account_id`+between))
		}
	}
	return ways
}

// failedWith is the condition that a run failed with an error that contains a text, which is an argument already.
func failedWith(text, place string) string {
	condition := hasError(place)
	if utf8.RuneCountInString(text) < gram {
		return condition // it has no piece to find it by, and is soon met
	}
	return condition + ` AND run_grams(` + errorText + `) @> run_grams(` + place + `)`
}

func hasError(place string) string {
	return unsuccessful + ` AND strpos(` + errorText + `, ` + place + `) > 0`
}

// partOfID are texts that are enough of an id to look for it.
var partOfID = regexp.MustCompile(`^[0-9a-f-]{8,36}$`)

// idsFrom is the span of ids that begin with a text.
func idsFrom(text string) (from, to string, ok bool) {
	const least, most = "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"
	from, to = text+least[len(text):], text+most[len(text):]
	_, err := uuid.Parse(from)
	return from, to, err == nil
}

// cleanSearch bounds what is searched for, and takes out what Postgres takes for no text.
func cleanSearch(text string) string {
	return Storable(text[:min(len(text), maxSearch)])
}
