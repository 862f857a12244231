package assets_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres"
)

// age makes all that is stored two days old.
func (b bundle) age(t *testing.T) {
	t.Helper()
	for _, table := range []string{"assets", "asset_owners"} {
		if _, err := b.pool.Exec(t.Context(), `UPDATE `+table+` SET put_at = put_at - interval '2 days'`); err != nil {
			t.Fatal(err)
		}
	}
}

func (b bundle) give(t *testing.T, content, owner string, kind assets.Kind) assets.Ref {
	t.Helper()
	ref, err := b.store.Put(t.Context(), strings.NewReader(content), assets.Meta{Owner: owner, Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func (b bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func (b bundle) sweep(t *testing.T) {
	t.Helper()
	if _, err := b.store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b bundle) there(t *testing.T, ref assets.Ref) bool {
	t.Helper()
	content, err := b.store.Open(t.Context(), ref)
	if err == nil {
		content.Close()
	}
	return err == nil
}

const insertRun = `INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, outputs,
		receipt, platform, deliverable, timeout_ms, created_at, ended_at)
	VALUES ($1, $2, 'paint', '1', 'none', 'succeeded', $3, '{}', 0, '{}', 0, $4, '{}', 'web', false, 1, now(), now())`

func TestFilesLiveAsLongAsSomethingNeedsThem(t *testing.T) {
	t.Parallel()
	ann := uuid.NewString()
	for name, use := range map[string]func(t *testing.T, b bundle, ref string){
		"a run's input": func(t *testing.T, b bundle, ref string) {
			b.exec(t, insertRun, uuid.NewString(), ann, `{"image": "`+ref+`"}`, nil)
		},
		"a run's result": func(t *testing.T, b bundle, ref string) {
			b.exec(t, insertRun, uuid.NewString(), ann, `{}`, `[{"name": "image", "media": "`+ref+`"}]`)
		},
		"a preset": func(t *testing.T, b bundle, ref string) {
			b.exec(t, `INSERT INTO users (id) VALUES ($1)`, ann)
			b.exec(t, `INSERT INTO user_identities (platform, external_id, user_id) VALUES ('web', 'ann', $1)`, ann)
			b.exec(t, `INSERT INTO user_presets (user_id, tool_id, key, name, fields) VALUES ($1, 'paint', 'a', 'A', $2)`, ann, `{"image": "`+ref+`"}`)
		},
		"a message": func(t *testing.T, b bundle, ref string) {
			b.exec(t, `INSERT INTO web_chats (chat) VALUES ($1)`, ann)
			b.exec(t, `INSERT INTO web_messages (chat, change, mine, body, media) VALUES ($1, 1, true, '{}', $2)`, ann, `[{"ref": "`+ref+`"}]`)
		},
		"an open question": func(t *testing.T, b bundle, ref string) {
			b.exec(t, `INSERT INTO chat_prompts (platform, chat, account_id, id, state, expires_at) VALUES ('web', 'c', $1, 'x', $2, now())`, ann, `{"values": {"image": "`+ref+`"}}`)
		},
		"a tool": func(t *testing.T, b bundle, ref string) {
			b.exec(t, `INSERT INTO registry_tool_versions (tool_id, version, definition, first_seen_at) VALUES ('paint', '1', $1, now())`, `{"metadata": {"template": "`+ref+`"}}`)
		},
		"an address in a result": func(t *testing.T, b bundle, ref string) {
			b.exec(t, insertRun, uuid.NewString(), ann, `{}`, `[{"name": "url", "text": "/uploads/abc/`+strings.TrimPrefix(ref, "asset:")+`/photo.jpg"}]`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, 0)
			needed, abandoned := b.give(t, "needed", ann, assets.Upload), b.give(t, "abandoned", ann, assets.Upload)
			use(t, b, string(needed))
			b.sweep(t)
			if !b.there(t, abandoned) {
				t.Error("a file that was just sent is gone")
			}
			b.age(t)
			b.sweep(t)
			if !b.there(t, needed) {
				t.Error("the needed file is gone")
			}
			if b.there(t, abandoned) {
				t.Error("the abandoned file is still there after a day")
			}
		})
	}
	t.Run("a run whose files were deleted needs none", func(t *testing.T) {
		t.Parallel()
		b := setup(t, 0)
		ref := b.give(t, "result", ann, assets.Result)
		b.exec(t, insertRun, uuid.NewString(), ann, `{}`, `[{"media": "`+string(ref)+`"}]`)
		b.exec(t, `UPDATE runs SET files_deleted_at = now()`)
		b.age(t)
		b.sweep(t)
		if b.there(t, ref) {
			t.Error("the file is still there")
		}
	})
}

// Every column that may hold a reference is in the view, or here with the reason why what it holds needs no file.
func TestUsesKnowAllTables(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	needNone := []string{
		"registry_current.status", "registry_changes.diff", // the definitions stand in registry_tool_versions
		"chat_updates.body", "chat_updates.answer", // being handled, so that its files are young
		"chat_keyboards.used", "chat_deliveries.parts", // messages of platforms
		"run_questions.question", "run_questions.reply", "chat_questions.state", // numbers, words and choices: a question asks for no files
		"telegram_bots.commands", "discord_apps.commands", "webhook_messages.data",
		"runs.preview",                                  // what a call would change, by its id and title
		"site_images.attribution", "site_shown.touches", // names, addresses and ids
		"canvas_scenes.page", "canvas_changes.answer", // the shapes have the references
		"canvas_penpot_pictures.media",                                                         // Penpot's own files
		"mission_legs.failure",                                                                 // words
		"missions.origin_target", "groups.chat", "group_parties.chat", "discord_starts.starts", // where somebody is told, and times
		"runs.sources", "runs.quote", "runs.receipt", "runs.error", "runs.ticket", "runs.context", "run_copies.ticket",
	}
	rows, err := b.pool.Query(t.Context(), `
		WITH RECURSIVE parts (view) AS (SELECT 'asset_uses'::text UNION SELECT p.table_name::text COLLATE "default" FROM parts JOIN information_schema.view_table_usage p ON p.view_name = parts.view)
		SELECT c.table_name || '.' || c.column_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.data_type IN ('json', 'jsonb')
			AND NOT EXISTS (SELECT FROM information_schema.view_column_usage u
				WHERE u.view_name IN (SELECT view FROM parts) AND u.table_name = c.table_name AND u.column_name = c.column_name)`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(columns) < 5 {
		t.Fatalf("only %v: the question is wrong", columns)
	}
	for _, column := range columns {
		if !slices.Contains(needNone, column) {
			t.Errorf("%s may hold references to files: add it to the view asset_uses, or here", column)
		}
	}
}

func TestOwnersOfEqualFiles(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	ann, ben := uuid.NewString(), uuid.NewString()
	shared, hers := b.give(t, "the same", ann, assets.Upload), b.give(t, "only hers", ann, assets.Result)
	b.give(t, "the same", ben, assets.Upload)
	forget := func(account string) {
		if err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error { return assets.Forget(t.Context(), tx, account) }); err != nil {
			t.Fatal(err)
		}
		if _, err := b.store.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	forget(ann)
	if b.there(t, hers) || !b.there(t, shared) {
		t.Errorf("after Ann is erased: hers is there: %t, the shared one: %t", b.there(t, hers), b.there(t, shared))
	}
	if owners, err := assets.Owners(t.Context(), b.pool, shared, assets.Reader{}); err != nil || !slices.Equal(owners, []string{ben}) {
		t.Errorf("the shared file is %v's, want Ben's: %v", owners, err)
	}
	forget(ben)
	if b.there(t, shared) {
		t.Error("the file is there after both are erased")
	}
}

func TestAccountsThatAreOneReachTheirFiles(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	ann, also := uuid.NewString(), uuid.NewString()
	b.exec(t, `INSERT INTO users (id) VALUES ($1)`, ann)
	b.exec(t, `INSERT INTO user_identities (platform, external_id, user_id) VALUES ('web', 'ann', $1)`, ann)
	b.exec(t, `INSERT INTO users (id, merged_into) VALUES ($1, $2)`, also, ann)
	ref := b.give(t, "both have it", ann, assets.Upload)
	b.give(t, "both have it", also, assets.Upload)
	if err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error { return assets.Adopt(t.Context(), tx, also, ann) }); err != nil {
		t.Fatal(err)
	}
	owners, err := assets.Owners(t.Context(), b.pool, ref, assets.Reader{})
	slices.Sort(owners)
	if want := []string{ann, also}; err != nil || len(owners) != 2 || !slices.Contains(owners, ann) || !slices.Contains(owners, also) {
		t.Errorf("reached by the links of %v, want %v: %v", owners, want, err)
	}
}

func TestReleaseKeepsWhatElseNeedsAFile(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	ann := uuid.NewString()
	twice, once, again := b.give(t, "in two runs", ann, assets.Result), b.give(t, "in one run", ann, assets.Result), b.give(t, "sent again", ann, assets.Upload)
	b.exec(t, insertRun, uuid.NewString(), ann, `{}`, `[{"media": "`+string(twice)+`"}]`)
	hashes := []string{twice.Hash(), once.Hash(), again.Hash()}
	if err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
		return assets.Release(t.Context(), tx, ann, hashes, time.Now().Add(-time.Hour))
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !b.there(t, twice) || b.there(t, once) || !b.there(t, again) {
		t.Errorf("there are: in two runs %t, in one run %t, sent again %t", b.there(t, twice), b.there(t, once), b.there(t, again))
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	ann, ben := uuid.NewString(), uuid.NewString()
	meta := assets.Meta{Owner: ann, Kind: assets.Upload, Limit: 1000}
	var group errgroup.Group
	results := make([]error, 20)
	for i := range results {
		group.Go(func() error {
			_, results[i] = b.store.Put(context.WithoutCancel(t.Context()), bytes.NewReader(fmt.Appendf(nil, "%0100d", i)), meta)
			return nil
		})
	}
	group.Wait()
	refused := 0
	for _, err := range results {
		var over *assets.LimitError
		if errors.As(err, &over) {
			refused++
			if over.Used != 1000 || strings.ContainsAny(over.Error(), "\n") || !strings.Contains(over.Error(), "uploads") {
				t.Errorf("%v", over)
			}
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 10 {
		t.Errorf("%d of 20 uploads of 100 bytes were refused at a limit of 1000, want 10", refused)
	}
	total, now := assets.NewTotal(b.pool), time.Now()
	if all, err := total.Get(t.Context(), now); err != nil || all != (assets.Space{Files: 10, Bytes: 1000}) {
		t.Errorf("Ann has %v: %v", all, err)
	}
	for _, other := range []assets.Meta{{Owner: ben, Kind: assets.Upload, Limit: 1000}, {Owner: ann, Kind: assets.Result, Limit: 1000}, {Owner: ann, Kind: assets.Upload}} {
		if _, err := b.store.Put(t.Context(), strings.NewReader(other.Owner+string(other.Kind)), other); err != nil {
			t.Errorf("%+v: %v", other, err)
		}
	}
	if all, err := total.Get(t.Context(), now.Add(59*time.Second)); err != nil || all.Files != 10 {
		t.Errorf("all files were counted anew after less than a minute: %v, %v", all, err)
	}
	if all, err := total.Get(t.Context(), now.Add(time.Minute)); err != nil || all.Files != 13 {
		t.Errorf("all files: %v, %v", all, err)
	}
}

func TestThumbnails(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	small := assets.NewThumbnails(b.pool)
	opened := 0
	get := func(ref assets.Ref, side int) (image.Config, string, error) {
		t.Helper()
		mime, content, err := small.Get(t.Context(), ref, side, func(ctx context.Context) (io.ReadCloser, error) {
			opened++
			return b.store.Open(ctx, ref)
		})
		if err != nil {
			return image.Config{}, mime, err
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(content))
		return config, mime, err
	}
	photo := image.NewRGBA(image.Rect(0, 0, 600, 300))
	draw.Draw(photo, photo.Rect, image.White, image.Point{}, draw.Src)
	wide := put(t, b.store, encode(t, func(w io.Writer) error { return jpeg.Encode(w, photo, nil) }), "wide.jpg")
	for range 2 {
		if config, mime, err := get(wide, 128); err != nil || config.Width != 128 || config.Height != 64 || mime != "image/jpeg" {
			t.Errorf("%d x %d, %s: %v", config.Width, config.Height, mime, err)
		}
	}
	if opened != 1 {
		t.Errorf("the original was read %d times for one size, want once", opened)
	}
	glass := put(t, b.store, encode(t, func(w io.Writer) error { return png.Encode(w, image.NewNRGBA(image.Rect(0, 0, 40, 20))) }), "glass.png")
	if config, mime, err := get(glass, 128); err != nil || config.Width != 40 || mime != "image/png" {
		t.Errorf("a small transparent picture: %d x %d, %s: %v", config.Width, config.Height, mime, err)
	}
	t.Run("a photo that is to be turned is", func(t *testing.T) {
		file := encode(t, func(w io.Writer) error { return jpeg.Encode(w, photo, nil) })
		exif := "\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
		turned := put(t, b.store, slices.Concat(file[:2], []byte(exif), file[2:]), "turned.jpg")
		if config, _, err := get(turned, 128); err != nil || config.Width != 64 || config.Height != 128 {
			t.Errorf("%d x %d: %v", config.Width, config.Height, err)
		}
		file = encode(t, func(w io.Writer) error { return png.Encode(w, photo) })
		chunk := "eXIf" + exif[10:]
		chunk = string(binary.BigEndian.AppendUint32([]byte("\x00\x00\x00\x1a"+chunk), crc32.ChecksumIEEE([]byte(chunk))))
		turned = put(t, b.store, slices.Concat(file[:33], []byte(chunk), file[33:]), "turned.png")
		if config, _, err := get(turned, 128); err != nil || config.Width != 64 || config.Height != 128 {
			t.Errorf("a PNG: %d x %d: %v", config.Width, config.Height, err)
		}
	})
	for name, content := range map[string][]byte{"a text": []byte("hello"), "a bomb": hugePNG(), "a broken picture": encode(t, func(w io.Writer) error { return png.Encode(w, photo) })[:200]} {
		if _, _, err := get(put(t, b.store, content, ""), 128); !errors.Is(err, assets.ErrNoThumbnail) {
			t.Errorf("%s: %v, want ErrNoThumbnail", name, err)
		}
	}
	b.age(t)
	b.sweep(t)
	var left int
	if err := b.pool.QueryRow(t.Context(), `SELECT count(*) FROM asset_thumbnails`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d thumbnails are left of pictures that are gone: %v", left, err)
	}
}
