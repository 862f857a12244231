package main

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

// notExported are the columns with an account's id that the archive of everything somebody has leaves out, and why.
var notExported = map[string]string{
	"chat_deliveries.account_id": "results under way: runs.json has them", "chat_keyboards.account_id": "what buttons stand for, to the program", "chat_prompts.account_id": "what a chat waits for, for minutes",
	"chat_marks.account_id": "which messages were answered", "chat_questions.account_id": "what a chat waits for, for minutes", "user_link_codes.user_id": "a secret, for minutes", "web_answers.account_id": "answers to requests, for a day",
	"payment_guesses.account_id": "a count, for an hour", "site_shown.account_id": "what was last shown before a change, for minutes", "asset_uses.account_id": "a view", "asset_uses_missions.account_id": "a view", "asset_uses_before_exports.account_id": "a view",
	"exports.account_id": "the archives themselves",
}

// statements keeps all that is sent to a database.
type statements struct {
	mu  sync.Mutex
	sql strings.Builder
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sql.WriteString(q.SQL + "\n")
	return ctx
}

func (s *statements) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sql.String()
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestArchiveOfEverything(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	watched := &statements{}
	traced := pool.Config()
	traced.ConnConfig.Tracer = watched
	watchedPool, err := pgxpool.NewWithConfig(t.Context(), traced)
	if err != nil {
		t.Fatal(err)
	}
	defer watchedPool.Close()
	ledger := billing.NewLedger(pool)
	people := accounts.New(pool, ledger, config.Config{SignupCredit: billing.Dollar})
	ann, err := people.Identify(t.Context(), users.Identity{Platform: "telegram", ExternalID: "1", Name: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`INSERT INTO agent_conversations (account_id, name, remembered) VALUES ($1, 'tea', '["Ann likes tea"]')`,
		`INSERT INTO canvas_scenes (id, account_id, title, page) VALUES (gen_random_uuid(), $1, 'a boat', '{}')`,
		`INSERT INTO chains (id, account_id, command, version, definition, tool, changed_at) VALUES (gen_random_uuid(), $1, '/boats', 1, '{"n": 1.50}', '{}', now())`,
		`INSERT INTO webhook_endpoints (id, account_id, url, events, secret, created_at) VALUES (gen_random_uuid(), $1, 'https://ann.example', '{}', 'sesame', now())`,
		`INSERT INTO site_entries (site_id, collection_id, kind, slug, title, written_by) SELECT site_id, id, kind, 'boats', 'On boats', $1 FROM site_collections LIMIT 1`,
		`INSERT INTO user_presets (user_id, tool_id, key, name, fields) VALUES ($1, 'painter', 'inky', 'Inky', '{"steps": 9}')`,
		`INSERT INTO payments (source, ref, account_id, title, currency, amount, paid_at) VALUES ('voucher', '1', $1, '=SUM(A1)', 'USD', 500, now())`,
		`INSERT INTO web_chats (chat) VALUES ($1::uuid::text)`,
		`INSERT INTO web_messages (chat, change, mine, body) VALUES ($1::uuid::text, 1, true, '{"text": "hello there"}')`,
	} {
		if tag, err := pool.Exec(t.Context(), sql, ann.ID); err != nil || tag.RowsAffected() != 1 {
			t.Fatal(sql, tag, err)
		}
	}
	told := make(chan exports.Export, 1)
	service, err := exports.New(exports.Config{
		Pool: watchedPool, Files: housetest.NewFiles(t, pool).Store, Parts: accounts.Parts(),
		Tell: func(_ context.Context, e exports.Export) error {
			told <- e
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := service.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := service.Request(t.Context(), ann.ID); err != nil {
		t.Fatal(err)
	}
	e := <-told
	files := unpacked(t, service, ann.ID, e.ID)
	t.Run("each room's part has what it keeps, and no secret", func(t *testing.T) {
		for name, want := range map[string]string{
			"account.json": "Ann", "identities.json": "telegram", "settings/presets.json": `"steps": 9`, "ledger.csv": "grant,1.", "payments.csv": "'=SUM(A1)", "conversations/models.json": "likes tea",
			"conversations/page.json": "hello there", "chains.json": `1.50`, "drawings/drawings.json": "a boat", "site/entries.json": "On boats", "webhooks.json": "ann.example", "runs.json": "[", "gallery.json": "[",
		} {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s has no %q: %q", name, want, files[name])
			}
		}
		for name, text := range files {
			if strings.Contains(text, "sesame") || strings.Contains(text, `\x736573616d65`) {
				t.Errorf("%s has a secret", name)
			}
		}
	})
	t.Run("no room with an account's id is forgotten", func(t *testing.T) {
		said := watched.String()
		for column := range accountColumns {
			table, _, _ := strings.Cut(column, ".")
			read := regexp.MustCompile(`\b` + table + `\b`).MatchString(said)
			switch why, left := notExported[column]; {
			case left && read && column != "exports.account_id":
				t.Errorf("%s is read, and yet left out: %s", column, why)
			case !left && !read && table != "ledger_accounts":
				t.Errorf("nobody reads %s for the archive: add it to the Export of its room and to accounts.Parts, or say in notExported why not", column)
			}
		}
		for column := range notExported {
			if _, known := accountColumns[column]; !known {
				t.Errorf("there is no %s", column)
			}
		}
	})
}

func unpacked(t *testing.T, service *exports.Service, account, id string) map[string]string {
	t.Helper()
	content, err := service.Open(t.Context(), account, id)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range packed.File {
		text, err := packed.Open(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(text)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(data)
	}
	return files
}
