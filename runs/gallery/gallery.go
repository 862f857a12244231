// Package gallery finds the results of runs again: pictures, videos and sounds, newest first, by the words that made them, by tool, by
// day, and by their owner's ratings.
//
// A trigger makes the table gallery_items follow the outputs of runs, so nothing that ends, deletes or expires runs needs to know of
// it.
package gallery

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// ResultRef names a result: the N-th output, from 0, of a run.
type ResultRef struct {
	RunID string
	N     int
}

// String writes a reference as ParseResultRef reads it.
func (r ResultRef) String() string { return r.RunID + "." + strconv.Itoa(r.N) }

// ParseResultRef reads "<run id>.<n>"; runs.ErrNotFound for what names no result.
func ParseResultRef(text string) (ResultRef, error) {
	id, number, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(number)
	if _, bad := uuid.Parse(id); bad != nil || err != nil || n < 0 || n > maxPlace {
		return ResultRef{}, fmt.Errorf("result %.60q: %w", text, runs.ErrNotFound)
	}
	return ResultRef{id, n}, nil
}

const maxPlace = 1<<15 - 1 // as the table has it

// Item is a result with what its owner thinks of it.
type Item struct {
	ResultRef
	AccountID string
	ToolID    string
	Output    runs.Output
	Prompt    string // the longest text among the run's inputs, but for what is the tool's default; empty: there is none
	Favorite  bool
	Rating    int // from 1, bad, to 3, good; 0: none
	CreatedAt time.Time
}

// Ratings are the values that a result can be rated with, the best first.
var Ratings = [...]int{3, 2, 1}

// Query says which results of an account to list.
type Query struct {
	AccountID string
	Budget    string     // of the runs that drew on it; empty: of all
	ToolID    string     // empty: all tools
	Text      string     // words, or beginnings of words, that all stand in the run's texts, or name its tool
	Day       time.Time  // the day in UTC on which the run was accepted; zero: any
	Favorites bool       // these alone
	Rating    int        // 0: any
	Before    *ResultRef // only what comes after this one in the list; nil: from the newest on
	Limit     int        // from 1 to MaxLimit
}

// MaxLimit is how many results a list has at most.
const MaxLimit = 200

// Gallery finds and marks results. Make it with New; it is safe for concurrent use.
type Gallery struct {
	pool *pgxpool.Pool
}

// New returns the gallery in pool's database.
func New(pool *pgxpool.Pool) *Gallery { return &Gallery{pool} }

const columns = `g.run_id::text, g.n, g.account_id::text, g.tool_id, convert_to((r.outputs -> g.n)::text, 'UTF8'), coalesce((SELECT t FROM gallery_texts(r.inputs, r.sources) t LIMIT 1), ''), g.favorite, g.rating, r.created_at`

const newestFirst = ` ORDER BY g.run_id DESC, -g.n DESC`

// List gives results, newest first, those of one run in the order of its outputs.
func (g *Gallery) List(ctx context.Context, q Query) ([]Item, error) {
	items, err := g.list(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list the gallery: %w", err)
	}
	return items, nil
}

// lately is how many of the newest results are looked through for a text before the index of words is: it gives all results of the house that have
// a word, or one that begins so, which is soon met where it is frequent.
const lately = 2000

// Conditions on the words of results. The longest words are rare and find, together with the owner; looking up the others would take longer than
// to sift what is found.
const (
	hasWords   = `g.words @@ gallery_query($text)`
	foundWords = `(g.words || array_to_tsvector(ARRAY[gallery_owner(g.account_id)])) @@ (gallery_sought($text, true) && quote_literal(gallery_owner($1::uuid))::tsquery)
		AND (g.words @@ gallery_sought($text, false)) IS NOT FALSE`
)

func (g *Gallery) list(ctx context.Context, q Query) ([]Item, error) {
	where, args := q.where()
	limit := min(max(q.Limit, 1), MaxLimit)
	newest := `SELECT g.run_id, g.n, g.account_id, g.tool_id, g.favorite, g.rating, g.words FROM gallery_items g WHERE ` + where + newestFirst + ` LIMIT `
	if q.Text == "" {
		return g.ask(ctx, newest+strconv.Itoa(limit), args)
	}
	args = append(args, store.Storable(q.Text))
	with := func(condition string) string {
		return strings.ReplaceAll(condition, "$text", "$"+strconv.Itoa(len(args))) + newestFirst + ` LIMIT ` + strconv.Itoa(limit)
	}
	items, err := g.ask(ctx, `SELECT * FROM (`+newest+strconv.Itoa(lately)+`) g WHERE `+with(hasWords), args)
	if err != nil || len(items) == limit {
		return items, err
	}
	var more bool
	err = g.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM gallery_items g WHERE `+where+` OFFSET `+strconv.Itoa(lately)+`)`, args[:len(args)-1]...).Scan(&more)
	if err != nil || !more {
		return items, err
	}
	return g.ask(ctx, `SELECT * FROM gallery_items g WHERE `+where+` AND `+with(foundWords), args)
}

// ask gives the results that a statement chooses. Its plan depends on how much somebody has, so it is made anew each time.
func (g *Gallery) ask(ctx context.Context, page string, args []any) ([]Item, error) {
	rows, _ := g.pool.Query(ctx, `SELECT `+columns+` FROM (`+page+`) g JOIN runs r ON r.id = g.run_id`+newestFirst,
		append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	return pgx.CollectRows(rows, scanItem)
}

// where says which results are meant, but for their words; the first argument is their owner.
func (q Query) where() (string, []any) {
	where, args := "g.account_id = $1", []any{q.AccountID}
	add := func(condition string, value any) {
		args = append(args, value)
		where += " AND " + strings.ReplaceAll(condition, "$", "$"+strconv.Itoa(len(args)))
	}
	if q.Budget != "" {
		add("EXISTS (SELECT FROM runs r WHERE r.id = g.run_id AND r.budget = $)", q.Budget)
	}
	if q.ToolID != "" {
		add("g.tool_id = $", store.Storable(q.ToolID))
	}
	if !q.Day.IsZero() {
		add("g.run_id >= $::uuid", store.FirstID(q.Day))
		add("g.run_id < $::uuid", store.FirstID(q.Day.AddDate(0, 0, 1)))
	}
	if q.Favorites {
		where += " AND g.favorite"
	}
	if q.Rating > 0 {
		add("g.rating = $", q.Rating)
		where += " AND g.rating > 0" // as the index says
	}
	if q.Before != nil {
		add("g.run_id <= $::uuid", q.Before.RunID)
		args = append(args, -q.Before.N)
		where += fmt.Sprintf(" AND (g.run_id, -g.n) < ($%d::uuid, $%d)", len(args)-1, len(args))
	}
	return where, args
}

func scanItem(row pgx.CollectableRow) (Item, error) {
	var i Item
	var output []byte
	if err := row.Scan(&i.RunID, &i.N, &i.AccountID, &i.ToolID, &output, &i.Prompt, &i.Favorite, &i.Rating, &i.CreatedAt); err != nil {
		return i, err
	}
	if err := decimal.Unmarshal(output, &i.Output); err != nil {
		return i, fmt.Errorf("result %s: %w", i.ResultRef, err)
	}
	i.Output.FileName = i.Output.ProperName()
	return i, nil
}

// Get gives one result of an account; runs.ErrNotFound where there is none.
func (g *Gallery) Get(ctx context.Context, accountID string, at ResultRef) (Item, error) {
	found, err := g.Find(ctx, accountID, []ResultRef{at})
	if err != nil {
		return Item{}, err
	}
	return found[0], nil
}

// Find gives results of an account in the order in which they are named; runs.ErrNotFound where one of them is not there.
func (g *Gallery) Find(ctx context.Context, accountID string, refs []ResultRef) ([]Item, error) {
	ids, numbers := make([]string, len(refs)), make([]int, len(refs))
	for i, p := range refs {
		ids[i], numbers[i] = p.RunID, p.N
	}
	rows, _ := g.pool.Query(ctx, `
		SELECT `+columns+` FROM unnest($2::uuid[], $3::int[]) WITH ORDINALITY w (id, n, nth) JOIN gallery_items g ON g.run_id = w.id AND g.n = w.n
		JOIN runs r ON r.id = g.run_id WHERE g.account_id = $1 ORDER BY w.nth`, accountID, ids, numbers)
	items, err := pgx.CollectRows(rows, scanItem)
	if err == nil && len(items) < len(refs) {
		err = runs.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("find results: %w", err)
	}
	return items, nil
}

// Beside gives the results of an account before and after one in the list of all; nil where the list ends.
func (g *Gallery) Beside(ctx context.Context, accountID string, at ResultRef) (newer, older *ResultRef, err error) {
	for _, side := range []struct {
		than, order string
		found       **ResultRef
	}{{">", " ORDER BY run_id, -n", &newer}, {"<", " ORDER BY run_id DESC, -n DESC", &older}} {
		var p ResultRef
		err = g.pool.QueryRow(ctx, `SELECT run_id::text, n FROM gallery_items WHERE account_id = $1 AND run_id `+side.than+`= $2::uuid AND (run_id, -n) `+side.than+` ($2::uuid, $3)`+side.order+` LIMIT 1`,
			accountID, at.RunID, -at.N).Scan(&p.RunID, &p.N)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("results beside %s: %w", at, err)
		}
		*side.found = &p
	}
	return newer, older, nil
}

// SetFavorite says whether a result is a favorite of its owner; runs.ErrNotFound where they have no such result.
func (g *Gallery) SetFavorite(ctx context.Context, accountID string, at ResultRef, favorite bool) error {
	return g.mark(ctx, accountID, at, "favorite", favorite)
}

// Rate rates a result, from 1 to 3; 0 takes the rating back. runs.ErrNotFound where its owner has no such result.
func (g *Gallery) Rate(ctx context.Context, accountID string, at ResultRef, rating int) error {
	if rating < 0 || rating > len(Ratings) {
		return registry.Errorf(registry.CodeInvalidInput, "rating: found %d, expected 1 (bad), 2, 3 (good), or 0 for none", rating)
	}
	return g.mark(ctx, accountID, at, "rating", rating)
}

func (g *Gallery) mark(ctx context.Context, accountID string, at ResultRef, column string, value any) error {
	tag, err := g.pool.Exec(ctx, `UPDATE gallery_items SET `+column+` = $4 WHERE run_id = $1 AND n = $2 AND account_id = $3`, at.RunID, at.N, accountID, value)
	if err == nil && tag.RowsAffected() == 0 {
		err = runs.ErrNotFound
	}
	return errs.Wrap(err, "mark result %s", at)
}

// Adopt gives the results of an account, with its marks, to the one that it is merged into. It comes after the runs themselves, whose
// rows are locked until the transaction is over.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `UPDATE gallery_items SET account_id = $2 WHERE account_id = $1`, from, into)
	return errs.Wrap(err, "give the results of %s to %s", from, into)
}

// Export writes what an account thinks of its results.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	return to.JSON(ctx, tx, "gallery.json", `SELECT run_id, n AS output, favorite, rating FROM gallery_items WHERE account_id = $1 AND (favorite OR rating > 0) ORDER BY run_id, n`, accountID)
}
