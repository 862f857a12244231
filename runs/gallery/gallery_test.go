package gallery_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/runs/store"
)

// wall is a gallery whose runs are written as rows.
type wall struct {
	*gallery.Gallery
	pool *pgxpool.Pool
	ann  string
}

func newWall(t testing.TB) *wall {
	pool := postgrestest.New(t)
	return &wall{gallery.New(pool), pool, uuid.NewString()}
}

func (w *wall) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := w.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// begin accepts a run of an account at some time; end is what ends it.
func (w *wall) begin(t testing.TB, account, tool, inputs string, at time.Time) (id string) {
	t.Helper()
	id = store.FirstID(at)[:14] + "7" + uuid.NewString()[15:]
	w.exec(t, `INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, platform, deliverable, timeout_ms, created_at)
		VALUES ($1, $2, $3, '1', 'test', 'running', $4, '{}', 0, '{}', 0, 'web', false, 0, $5)`, id, account, tool, inputs, at)
	return id
}

func (w *wall) end(t testing.TB, id, outputs string) {
	t.Helper()
	w.exec(t, `UPDATE runs SET status = 'succeeded', outputs = $2, receipt = '{}', ended_at = now() WHERE id = $1`, id, outputs)
}

const (
	picture = `{"name":"image","type":"image","media":"asset:1","width":300,"height":200,"mimeType":"image/png"}`
	film    = `{"name":"film","type":"video","media":"asset:2","mimeType":"video/mp4"}`
	words   = `{"name":"text","type":"text","text":"words"}`
)

// made is a run with these outputs, some minutes after the day began.
func (w *wall) made(t testing.TB, tool, prompt string, minute int, outputs ...string) string {
	t.Helper()
	id := w.begin(t, w.ann, tool, fmt.Sprintf(`{"prompt":%q,"seed":5,"picture":"asset:77"}`, prompt), day.Add(time.Duration(minute)*time.Minute))
	w.end(t, id, "["+strings.Join(outputs, ",")+"]")
	return id
}

var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// lists tells what a query finds, as places.
func (w *wall) lists(t *testing.T, q gallery.Query) (places []string) {
	t.Helper()
	if q.AccountID == "" {
		q.AccountID = w.ann
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	items, err := w.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		places = append(places, i.String())
	}
	return places
}

func (w *wall) expect(t *testing.T, q gallery.Query, want ...string) {
	t.Helper()
	if got := w.lists(t, q); !slices.Equal(got, want) {
		t.Errorf("%+v finds %q, want %q", q, got, want)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	bike := w.made(t, "paint", "A red bicycle, KREUZBERG", 1, words, picture, picture)
	cat := w.made(t, "film", "Красная кошка on a bicycle", 2, film)
	dream := w.made(t, "paint", "一只红色的猫", 24*60, picture)
	w.made(t, "write", "no picture of a bicycle", 3, words)
	w.begin(t, w.ann, "paint", `{"prompt":"still running"}`, day)

	w.expect(t, gallery.Query{}, dream+".0", cat+".0", bike+".1", bike+".2")
	w.expect(t, gallery.Query{AccountID: uuid.NewString()})
	w.expect(t, gallery.Query{ToolID: "film"}, cat+".0")
	w.expect(t, gallery.Query{Day: day}, cat+".0", bike+".1", bike+".2")
	w.expect(t, gallery.Query{Day: day.AddDate(0, 0, 1)}, dream+".0")
	for text, want := range map[string][]string{
		"bicycle": {cat + ".0", bike + ".1", bike + ".2"}, "bicycle  RED": {bike + ".1", bike + ".2"}, "kreuz": {bike + ".1", bike + ".2"}, "кошка": {cat + ".0"},
		"a bicycle": {cat + ".0", bike + ".1", bike + ".2"}, "bicy re": {bike + ".1", bike + ".2"}, "on a bicycle": {cat + ".0"}, "bicycle x": nil, "doghouse a": nil,
		"猫": {dream + ".0"}, "红猫": {dream + ".0"}, "dog": nil, "77": nil, "film": {cat + ".0"}, "it's \\ ' & !": nil,
	} {
		w.expect(t, gallery.Query{Text: text}, want...)
	}
	t.Run("a page goes on after the last of the one before", func(t *testing.T) {
		for _, q := range []gallery.Query{{Limit: 1}, {Limit: 3}} {
			var all []string
			for range 5 {
				page := w.lists(t, q)
				all = append(all, page...)
				if len(page) > 0 {
					last, err := gallery.ParseResultRef(page[len(page)-1])
					if err != nil {
						t.Fatal(err)
					}
					q.Before = &last
				}
			}
			if want := []string{dream + ".0", cat + ".0", bike + ".1", bike + ".2"}; !slices.Equal(all, want) {
				t.Errorf("by %d: %q, want %q", q.Limit, all, want)
			}
		}
	})
	t.Run("a result comes with what made it, and its neighbours", func(t *testing.T) {
		at := gallery.ResultRef{RunID: bike, N: 1}
		item, err := w.Get(t.Context(), w.ann, at)
		if err != nil || item.Prompt != "A red bicycle, KREUZBERG" || item.Output.Width != 300 || item.ToolID != "paint" || item.Output.FileName == "" {
			t.Errorf("%+v, %v", item, err)
		}
		newer, older, err := w.Beside(t.Context(), w.ann, at)
		if err != nil || newer == nil || newer.String() != cat+".0" || older == nil || older.String() != bike+".2" {
			t.Errorf("between %v and %v, %v", newer, older, err)
		}
		if newer, _, err := w.Beside(t.Context(), w.ann, gallery.ResultRef{RunID: dream}); err != nil || newer != nil {
			t.Errorf("after the newest comes %v, %v", newer, err)
		}
		if _, err := w.Get(t.Context(), uuid.NewString(), at); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("somebody else's: %v", err)
		}
	})
}

// What is older than the results that are looked through is found by an index of the owner's words.
func TestSearchOfALongHistory(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	bob, eve := uuid.NewString(), uuid.NewString()
	first := w.made(t, "paint", "a rare zeppelin over the sea", 1, picture)
	second := w.made(t, "film", "zeppelins at night", 2, film)
	filled := 0
	fill := func(account, prompt string, n int) {
		t.Helper()
		w.exec(t, `WITH made AS (INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, platform, deliverable, timeout_ms, created_at, ended_at, outputs, receipt)
			SELECT ('0fff0000-0000-7000-8000-' || lpad(to_hex($4 + n), 12, '0'))::uuid, $1, 'paint', '1', 'test', 'succeeded', json_build_object('prompt', $2::text), '{}', 0, '{}', 0, 'web', false, 0, now(), now(), '[`+picture+`]', '{}'
			FROM generate_series(1, $3::int) n RETURNING id, account_id, tool_id)
			INSERT INTO gallery_items (run_id, n, account_id, tool_id, words) SELECT id, 0, account_id, tool_id, array_to_tsvector(gallery_words('paint ' || $2)) FROM made`, account, prompt, n, filled)
		filled += n
	}
	fill(w.ann, "the sea", gallery.Lately)
	fill(bob, "zeppelin", 10)
	fill(eve, "zeppelin", 10)
	for text, want := range map[string][]string{
		"zeppelin": {second + ".0", first + ".0"}, "zepp sea": {first + ".0"}, "zeppelin rare a": {first + ".0"}, "night zeppelins": {second + ".0"}, "airship": nil, "zeppelin desert": nil, "&!": nil,
	} {
		w.expect(t, gallery.Query{Text: text}, want...)
	}
	w.expect(t, gallery.Query{Text: "zeppelin", ToolID: "film"}, second+".0")
	if found := w.lists(t, gallery.Query{Text: "sea", Limit: 200}); len(found) != 200 {
		t.Errorf("%d results with a frequent word", len(found))
	}
	if found := w.lists(t, gallery.Query{Text: "zeppelin", AccountID: bob}); len(found) != 10 {
		t.Errorf("%d of somebody else's", len(found))
	}
	var plan []string
	err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(t.Context(), `SET LOCAL enable_seqscan = off`); err != nil {
			return err
		}
		rows, _ := tx.Query(t.Context(), `EXPLAIN SELECT FROM gallery_items g WHERE `+strings.ReplaceAll(gallery.FoundWords, "$text", "$2"), w.ann, "zeppelin")
		plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil || !strings.Contains(strings.Join(plan, "\n"), "gallery_by_owner_and_words") {
		t.Errorf("%v, the plan is %s", err, strings.Join(plan, "\n"))
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	ctx := t.Context()
	run := w.made(t, "paint", "a bicycle", 1, picture, picture, picture)
	first, second := gallery.ResultRef{RunID: run}, gallery.ResultRef{RunID: run, N: 1}
	if err := errors.Join(w.SetFavorite(ctx, w.ann, first, true), w.Rate(ctx, w.ann, first, 3), w.Rate(ctx, w.ann, second, 1)); err != nil {
		t.Fatal(err)
	}
	w.expect(t, gallery.Query{Favorites: true}, first.String())
	w.expect(t, gallery.Query{Rating: 3}, first.String())
	w.expect(t, gallery.Query{Rating: 1, Text: "bicycle"}, second.String())
	if err := w.Rate(ctx, w.ann, first, 4); err == nil {
		t.Error("a rating of 4 is taken")
	}
	if err := w.SetFavorite(ctx, uuid.NewString(), first, false); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("somebody else marks it: %v", err)
	}
	t.Run("they move with their account", func(t *testing.T) {
		bob := uuid.NewString()
		if err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error { return gallery.Adopt(ctx, tx, w.ann, bob) }); err != nil {
			t.Fatal(err)
		}
		w.expect(t, gallery.Query{Favorites: true})
		w.expect(t, gallery.Query{AccountID: bob, Favorites: true}, first.String())
		w.ann = bob
	})
	t.Run("a deleted result is gone, the others stay", func(t *testing.T) {
		w.exec(t, `UPDATE runs SET outputs = $2 WHERE id = $1`, run, `[`+picture+`,{"name":"image","type":"image","deleted":true},`+picture+`]`)
		w.expect(t, gallery.Query{}, run+".0", run+".2")
	})
	t.Run("what expires, and what its owner deletes, is gone", func(t *testing.T) {
		other := w.made(t, "paint", "a car", 2, picture)
		w.exec(t, `UPDATE runs SET files_deleted_at = now() WHERE id = $1`, run)
		w.expect(t, gallery.Query{}, other+".0")
		w.exec(t, `UPDATE runs SET `+store.Forgotten+` WHERE id = $1`, other)
		w.expect(t, gallery.Query{})
	})
}

func TestNothingKeepsARunFromItsEnd(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	for _, inputs := range []string{`{"prompt":"a\u0000b"}`, `null`, `{"prompt":{"a":[1,"two"]},"n":null}`, `{"prompt":"` + strings.Repeat("word ", 9000) + strings.Repeat("é", 9000) + `"}`, `{"prompt":"''\\ \ufffd :* | !"}`} {
		run := w.begin(t, w.ann, "paint", inputs, day)
		w.end(t, run, `[`+picture+`]`)
	}
	run := w.begin(t, w.ann, "paint", `{}`, day)
	w.end(t, run, `[{"name":"text","type":"text","text":"a\u0000b"},`+picture+`]`)
	if got := w.lists(t, gallery.Query{}); len(got) != 4 {
		t.Errorf("%d results are shown", len(got))
	}
}

func TestParsePlace(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x.0", uuid.NewString(), uuid.NewString() + ".", uuid.NewString() + ".-1", uuid.NewString() + ".99999", uuid.NewString() + ".1.2"} {
		if p, err := gallery.ParseResultRef(text); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("%q is %v, %v", text, p, err)
		}
	}
}

// BenchmarkList lists a page of an account with 100,000 results in a house with twice as many.
func BenchmarkList(b *testing.B) {
	w := newWall(b)
	w.exec(b, `
		INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, platform, deliverable, timeout_ms, created_at, outputs, receipt, ended_at)
		SELECT (lpad(to_hex(1763600000000 + i * 60000::bigint), 12, '0') || '7' || substr(md5(i::text), 1, 19))::uuid, CASE WHEN i % 2 = 0 THEN $1::uuid ELSE gen_random_uuid() END, 'tool' || (i % 20), '1', 'test', 'succeeded',
			json_build_object('prompt', 'a picture of the thing' || (i / 2) || ' in colour' || (i / 2 % 7) || repeat(' with more words about it', 8)), '{}', 0, '{}', 0, 'web', false, 0, now(), $2, '{}', now()
		FROM generate_series(1, 200000) i`, w.ann, "["+picture+"]")
	w.exec(b, `SELECT gallery_add(r) FROM runs r`)
	w.exec(b, `UPDATE gallery_items SET favorite = true WHERE account_id = $1 AND words @@ gallery_query('thing4')`, w.ann)
	w.exec(b, `UPDATE gallery_items SET rating = 3 WHERE account_id = $1 AND words @@ gallery_query('thing5000')`, w.ann)
	w.exec(b, `VACUUM ANALYZE`)
	half := time.UnixMilli(1763600000000 + 100000*60000)
	middle := gallery.ResultRef{RunID: store.FirstID(half)}
	for name, q := range map[string]gallery.Query{
		"newest": {}, "from the middle": {Before: &middle}, "tool": {ToolID: "tool4"}, "tool of nothing": {ToolID: "none"}, "day": {Day: half.UTC().Truncate(24 * time.Hour)}, "favorites": {Favorites: true}, "rated": {Rating: 3},
		"a frequent word": {Text: "picture"}, "a word of a seventh": {Text: "colour3"}, "a rare word": {Text: "thing77777"}, "a beginning": {Text: "thing77"}, "no word": {Text: "nowhere"}, "rare and frequent": {Text: "picture thing12345"}, "rare and a letter": {Text: "t thing12345"},
		"a rare word of a tool": {Text: "thing77777", ToolID: "tool4"}, "a rare rating": {Text: "picture", Rating: 3},
	} {
		b.Run(name, func(b *testing.B) {
			q.AccountID, q.Limit = w.ann, 60
			found := 0
			for b.Loop() {
				items, err := w.List(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				found = len(items)
			}
			b.ReportMetric(float64(found), "found")
		})
	}
}
