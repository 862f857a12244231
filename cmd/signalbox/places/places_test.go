package places_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/places"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/users"
)

const (
	former  = "-4242"
	present = "-1001234567890"
)

// columns are all columns that are named as if they held a place of a platform, and whether MoveChat moves it there. What does not move, and why:
var columns = map[string]string{
	"access_rules.subject": moves, "access_rules.where_id": moves, "access_tools.place": moves, "place_preferences.place": moves,
	"groups.place": moves, "groups.chat": moves, "group_parties.chat": moves, "sites.place": moves,
	"chat_prompts.chat": moves, "chat_prompts.state": moves, "chat_questions.chat": moves, "chat_questions.state": moves, "chat_keyboards.state": moves,
	"runs.target": moves, "runs.context": moves, "missions.origin_target": moves, "agent_conversations.name": moves, "canvas_scenes.session": moves, "moderation_reports.chat": moves,

	"telegram_chats.chat_id": "the move itself", "telegram_chats.moved_to": "the move itself",
	"chat_updates.body": "the router turns to the present chat before it handles one", "chat_updates.answer": "a message of the former chat, gone",
	"chat_marks.chat":       "marks of messages of the former chat, which can't be answered or edited any more; they end after three days",
	"chat_deliveries.parts": "messages of the former chat", "chat_deliveries.subject": "a drawing",
	"user_identities.external_id":  "people; a group speaks as somebody only once it is a supergroup",
	"agent_questions.conversation": "a record of what was asked where",
	"site_images.session_id":       "a record of where a picture came from", "site_shown.subject": "what of a site was shown",
	"discord_interactions.channel": "of Discord, where chats keep their ids",
	"discord_sessions.session_id":  "a connection to Discord",
	"web_chats.chat":               "of the page", "web_messages.chat": "of the page",
	"webhook_messages.subject": "what a message to a program is about",
}

const moves = "moves"

// looksLikePlace are the names under which tables keep places, and states in which chats do.
var looksLikePlace = regexp.MustCompile(`(^|_)(place|chat|chat_id|moved_to|channel|conversation|session|session_id|target|where_id|subject|external_id)$|^chat_\w+\.(state|body|answer|parts)$`)

func TestEveryColumnWithAPlaceIsKnown(t *testing.T) {
	t.Parallel()
	rows, err := postgrestest.New(t).Query(t.Context(), `
		SELECT c.table_name || '.' || c.column_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.data_type IN ('text', 'json', 'jsonb', 'bigint')`)
	if err != nil {
		t.Fatal(err)
	}
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range there {
		_, name, _ := strings.Cut(column, ".")
		if _, known := columns[column]; !known && (looksLikePlace.MatchString(name) || looksLikePlace.MatchString(column)) {
			t.Errorf("%s: say here whether a chat that gets another id moves it, and do so in its room's MoveChat", column)
		}
	}
	for column := range columns {
		if !slices.Contains(there, column) {
			t.Errorf("there is no %s", column)
		}
	}
}

// house is what a group has in the rooms.
type house struct {
	*testing.T
	pool    *pgxpool.Pool
	ledger  *billing.Ledger
	wallets *groups.Store
}

func newHouse(t *testing.T) *house {
	pool := postgrestest.New(t)
	ledger := billing.NewLedger(pool)
	return &house{t, pool, ledger, groups.New(groups.Config{Pool: pool, Ledger: ledger})}
}

func (h *house) exec(sql string, args ...any) {
	h.Helper()
	if _, err := h.pool.Exec(h.Context(), sql, args...); err != nil {
		h.Fatal(err)
	}
}

func (h *house) move() {
	h.Helper()
	err := pgx.BeginFunc(h.Context(), h.pool, func(tx pgx.Tx) error {
		return places.MoveChat(h.Context(), tx, h.wallets, "telegram", former, present)
	})
	if err != nil {
		h.Fatal(err)
	}
}

// person has five dollars.
func (h *house) person() string {
	h.Helper()
	id := uuid.NewString()
	err := pgx.BeginFunc(h.Context(), h.pool, func(tx pgx.Tx) error {
		if err := h.ledger.EnsureWallet(h.Context(), tx, id); err != nil {
			return err
		}
		return h.ledger.Grant(h.Context(), tx, id, 5*billing.Dollar, id, "")
	})
	if err != nil {
		h.Fatal(err)
	}
	return id
}

func (h *house) balance(owner string, available, held billing.NanoUSD) {
	h.Helper()
	b, err := h.ledger.Balance(context.WithoutCancel(h.Context()), owner)
	if err != nil || b.Available != available || b.Held != held {
		h.Errorf("%s has %s and %s held, %v; want %s and %s", owner, b.Available, b.Held, err, available, held)
	}
}

// settle ends a run's hold as the runs service does.
func (h *house) settle(s billing.Settlement) {
	h.Helper()
	moves, lock, post := billing.Moves{Settlements: []billing.Settlement{s}}, &pgx.Batch{}, &pgx.Batch{}
	err := pgx.BeginFunc(h.Context(), h.pool, func(tx pgx.Tx) error {
		moves.Lock(lock)
		if err := tx.SendBatch(h.Context(), lock).Close(); err != nil {
			return err
		}
		if _, err := moves.Post(post); err != nil {
			return err
		}
		return tx.SendBatch(h.Context(), post).Close()
	})
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) booksAreSound() {
	h.Helper()
	if report, err := h.ledger.Check(h.Context()); err != nil || !report.OK() {
		h.Error(report, err)
	}
}

func (h *house) wallet(place string) groups.Terms {
	h.Helper()
	terms, err := h.wallets.At(h.Context(), at(place))
	if err != nil {
		h.Fatal(err)
	}
	return terms
}

func at(place string) users.Place {
	return users.Place{Platform: "telegram", Kind: users.PlaceChat, ID: place}
}

func target(place string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"chat":{"chat":%q,"kind":"group"},"person":"7"}`, place))
}

// TestMoveChat has a row of a group in every column that moves, and looks for the former id in the whole database afterwards.
func TestMoveChat(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann := h.person()
	gift := groups.Contribution{Place: at(former), Chat: target(former), AccountID: ann, Amount: 2 * billing.Dollar, Key: "gift"}
	if err := h.wallets.Sponsor(t.Context(), gift); err != nil {
		t.Fatal(err)
	}
	gift.Key, gift.Amount = "party", billing.Dollar
	if err := h.wallets.StartParty(t.Context(), gift, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	before := h.wallet(former)
	for _, sql := range []string{
		`INSERT INTO place_preferences (platform, kind, place, tool_id, field, value) VALUES ('telegram', 'chat', $1, 'a', 'b', '1')`,
		`INSERT INTO access_tools (platform, kind, place, tools) VALUES ('telegram', 'chat', $1, '{a}')`,
		`INSERT INTO access_rules (allow, kind, platform, subject, by_whom) VALUES (true, 'chat', 'telegram', $1, 'x')`,
		`INSERT INTO access_rules (allow, kind, platform, subject, where_platform, where_kind, where_id, by_whom) VALUES (false, 'identity', 'telegram', '7', 'telegram', 'chat', $1, 'x')`,
		`INSERT INTO sites (slug, title, platform, place) VALUES ('ours', 'Ours', 'telegram', $1)`,
		`INSERT INTO moderation_reports (at, run_id, platform, chat, reason, words) VALUES (now(), gen_random_uuid(), 'telegram', $1, 'spam', '')`,
		`INSERT INTO chat_prompts (platform, chat, account_id, id, message_id, state, expires_at) VALUES ('telegram', $1, gen_random_uuid(), 'p', '5',
			jsonb_build_object('view', jsonb_build_object('place', jsonb_build_object('Platform', 'telegram', 'Kind', 'chat', 'ID', $1::text))), now())`,
		`INSERT INTO chat_questions (run_id, id, platform, chat, account_id, message_id, state, expires_at) VALUES (gen_random_uuid(), 'q', 'telegram', $1, gen_random_uuid(), '6',
			jsonb_build_object('where', jsonb_build_object('chat', jsonb_build_object('chat', $1::text))), now())`,
		`INSERT INTO chat_keyboards (id, platform, account_id, state) VALUES ('settings', 'telegram', gen_random_uuid(),
			jsonb_build_object('stands', $1::text, 'view', jsonb_build_object('place', jsonb_build_object('Platform', 'telegram', 'Kind', 'chat', 'ID', $1::text))))`,
		`INSERT INTO agent_conversations (account_id, name, remembered) VALUES (gen_random_uuid(), 'chat:telegram:' || $1, '{}')`,
		`INSERT INTO canvas_scenes (id, account_id, session, page) VALUES (gen_random_uuid(), gen_random_uuid(), 'telegram:' || $1, '{}')`,
		`INSERT INTO missions (id, account_id, status, title, document, hash, promised, created_at, origin_platform, origin_target)
			VALUES (gen_random_uuid(), gen_random_uuid(), 'awaiting_confirmation', '', '{}', '', 0, now(), 'telegram', jsonb_build_object('chat', jsonb_build_object('chat', $1::text)))`,
		`INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, platform, target, context, deliverable, timeout_ms, created_at)
			VALUES (gen_random_uuid(), gen_random_uuid(), 'a', '1', 's', 'queued', '{}', '{}', 0, '{}', 0, 'telegram',
			json_build_object('chat', json_build_object('chat', $1::text)), json_build_object('sessionId', 'telegram:' || $1), true, 1000, now())`,
	} {
		h.exec(sql, former)
	}
	h.exec(`INSERT INTO place_preferences (platform, kind, place, tool_id, field, value) VALUES ('discord', 'chat', $1, 'a', 'b', '1'), ('telegram', 'space', $1, 'a', 'b', '1')`, former)

	h.move()
	h.move() // what was moved already is left alone
	if after := h.wallet(present); after != before {
		t.Errorf("the wallet is %+v, was %+v", after, before)
	}
	h.balance(before.ID, 2*billing.Dollar, 0)
	h.balance(before.Party, billing.Dollar, 0)
	h.booksAreSound()
	for column, what := range columns {
		table, name, _ := strings.Cut(column, ".")
		var old, now int
		err := h.pool.QueryRow(t.Context(), fmt.Sprintf(`SELECT count(*) FILTER (WHERE %[2]s::text LIKE '%%%[3]s%%'), count(*) FILTER (WHERE %[2]s::text LIKE '%%%[4]s%%') FROM %[1]s x
			WHERE coalesce(to_jsonb(x) ->> 'platform', '') <> 'discord' AND coalesce(to_jsonb(x) ->> 'kind', '') <> 'space'`, table, name, former, present)).Scan(&old, &now)
		if err != nil || what == moves && (old != 0 || now == 0) {
			t.Errorf("%s has %d rows with the former id and %d with the present one, %v", column, old, now, err)
		}
	}
	var others, answerable int
	err := h.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM place_preferences WHERE place = $1),
		(SELECT count(*) FROM chat_prompts WHERE message_id <> '') + (SELECT count(*) FROM chat_questions WHERE message_id <> '')`, former).Scan(&others, &answerable)
	if err != nil || others != 2 || answerable != 0 {
		t.Errorf("%d settings of another platform and of a space are left, want 2; %d questions take a message of the new chat for one of the former, %v", others, answerable, err)
	}
}

// site expects the site with a slug to be on at a place.
func (h house) site(place, want string) {
	h.Helper()
	var slug string
	err := h.pool.QueryRow(h.Context(), `SELECT slug FROM sites WHERE place = $1 AND off_since IS NULL`, place).Scan(&slug)
	if err != nil || slug != want {
		h.Errorf("%s has the site %q, want %q, %v", place, slug, want, err)
	}
}

// TestWhatBeganMeanwhile is a group whose members were faster under the new id than what was kept under the former one.
func TestWhatBeganMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann, ben := h.person(), h.person()
	give := func(place, who, key string, amount billing.NanoUSD, party bool) {
		t.Helper()
		c := groups.Contribution{Place: at(place), Chat: target(place), AccountID: who, Amount: amount, Key: key}
		err := h.wallets.Sponsor(t.Context(), c)
		if party {
			c.Key += " party"
			err = h.wallets.StartParty(t.Context(), c, time.Now().Add(time.Hour))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	give(former, ann, "ann", 2*billing.Dollar, true)
	if err := h.wallets.Set(t.Context(), at(former), target(former), ann, func(terms *groups.Terms) { terms.Pays = groups.OnlyGroup }); err != nil {
		t.Fatal(err)
	}
	give(present, ben, "ben", billing.Dollar, true)
	older, newer := h.wallet(former), h.wallet(present)
	run := uuid.NewString()
	h.exec(`INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, platform, deliverable, timeout_ms, created_at, group_id, payer)
		VALUES ($1, $2, 'a', '1', 's', 'queued', '{}', '{}', 0, '{}', 400000000, 'telegram', true, 1000, now(), $3, $3)`, run, ben, newer.ID)
	err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
		return h.ledger.Hold(t.Context(), tx, newer.ID, run, 4*billing.Dollar/10)
	})
	if err != nil {
		t.Fatal(err)
	}
	h.exec(`INSERT INTO place_preferences (platform, kind, place, tool_id, field, value) VALUES ('telegram', 'chat', $1, 'a', 'b', '1'), ('telegram', 'chat', $1, 'a', 'c', '1'), ('telegram', 'chat', $2, 'a', 'b', '2')`, former, present)

	h.exec(`INSERT INTO sites (slug, title, platform, place, off_since) VALUES ('ours', 'Ours', 'telegram', $1, now())`, former)
	h.exec(`INSERT INTO sites (slug, title, platform, place) VALUES ('ours-2', 'Ours', 'telegram', $1)`, present)

	h.move()
	h.move()
	h.site(present, "ours") // and on, as the blank one was
	h.exec(`INSERT INTO sites (slug, title, platform, place) VALUES ('ours-0', 'Ours', 'telegram', $1)`, former)
	h.move()
	h.site(present, "ours-0")
	h.exec(`INSERT INTO site_pages (site_id, slug, name) SELECT id, 'start', 'Start' FROM sites WHERE slug = 'ours-0'`)
	h.exec(`INSERT INTO sites (slug, title, platform, place) VALUES ('ours-3', 'Ours', 'telegram', $1)`, former)
	h.move()
	h.site(present, "ours-0") // which has something by now
	h.site(former, "ours-3")
	now := h.wallet(present)
	if now.ID != older.ID || now.Pays != groups.OnlyGroup || now.Party != older.Party {
		t.Errorf("the wallet is %+v, want that of before: %+v", now, older)
	}
	h.balance(ben, 4*billing.Dollar, 0) // his party's fund went back: the group has one already
	h.balance(older.ID, 26*billing.Dollar/10, 4*billing.Dollar/10)
	if given, err := h.wallets.Sponsors(t.Context(), older.ID); err != nil || len(given) != 2 || given[1] != (groups.Sponsor{AccountID: ben, Given: billing.Dollar}) {
		t.Errorf("the sponsors are %+v, %v", given, err)
	}
	h.settle(billing.Settlement{AccountID: older.ID, RunID: run, Cost: billing.Dollar / 10})
	h.balance(older.ID, 29*billing.Dollar/10, 0)     // what the run did not cost followed
	give(former, ben, "late", billing.Dollar, false) // by who was at it at that moment
	h.move()
	if after := h.wallet(present); after != now {
		t.Errorf("the wallet is %+v, was %+v", after, now)
	}
	h.balance(older.ID, 39*billing.Dollar/10, 0)
	if left, err := h.wallets.Close(t.Context(), at(present), ann); err != nil || left != 39*billing.Dollar/10 {
		t.Errorf("%s went back, %v", left, err)
	}
	h.booksAreSound()
	var values string
	err = h.pool.QueryRow(t.Context(), `SELECT string_agg(place || ' ' || field || ' ' || value, ', ' ORDER BY field) FROM place_preferences`).Scan(&values)
	if want := present + " b 2, " + present + " c 1"; err != nil || values != want {
		t.Errorf("the settings are %q, %v; want %q: what was set in the new chat holds", values, err, want)
	}
}
