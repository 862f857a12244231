package moderation_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// house has a moderation whose results are rows, and notes what it has others do.
type house struct {
	*moderation.Service
	t                  *testing.T
	pool               *pgxpool.Pool
	clock              *clocktest.Manual
	people             *users.Store
	ann, ben, operator string
	results            map[string]runs.Run
	told               []moderation.Notice
	withdrawn          []string // runs, with the chat if it was one only
	kept               error    // by a platform that does not delete
	unshared           []string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, pool: postgrestest.New(t), clock: clocktest.NewManual(time.Now()), results: map[string]runs.Run{}}
	h.people = users.New(h.pool, users.Config{
		Now:     h.clock.Now,
		OnMerge: moderation.Adopt, OnErase: moderation.Forget,
	})
	h.ann, h.ben, h.operator = h.comes("ann"), h.comes("ben"), h.comes("operator")
	if err := h.people.SetOperator(t.Context(), h.operator, true); err != nil {
		t.Fatal(err)
	}
	var err error
	h.Service, err = moderation.New(moderation.Config{
		Pool: h.pool, People: h.people, Runs: h, Now: h.clock.Now,
		Rule: func() moderation.Rule {
			return moderation.Rule{Strikes: 2, Within: 30 * 24 * time.Hour, Mute: 24 * time.Hour}
		},
		Withdraw: func(_ context.Context, run runs.Run, from moderation.Place) error {
			h.withdrawn = append(h.withdrawn, run.ID+from.Chat)
			return h.kept
		},
		Unshare: func(_ context.Context, _ pgx.Tx, id string) error { h.unshared = append(h.unshared, id); return nil },
		Tell:    func(_ context.Context, n moderation.Notice) error { h.told = append(h.told, n); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) comes(name string) string {
	h.t.Helper()
	a, err := h.people.Identify(h.t.Context(), users.Identity{Platform: "telegram", ExternalID: name, Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return a.ID
}

// Get gives a result.
func (h *house) Get(_ context.Context, runID string) (runs.Run, error) {
	run, ok := h.results[runID]
	if !ok {
		return run, runs.ErrNotFound
	}
	return run, nil
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	if _, err := h.pool.Exec(h.t.Context(), sql, args...); err != nil {
		h.t.Fatal(err)
	}
}

// makes gives an account a result with a file of its own.
func (h *house) makes(account string) runs.Run {
	h.t.Helper()
	hash := strings.Repeat(strings.ReplaceAll(uuid.NewString(), "-", ""), 2)
	run := runs.Run{
		ID: uuid.NewString(), AccountID: account, Status: runs.StatusSucceeded, Tool: registry.Tool{ToolID: "painter", DisplayName: "Painter"},
		Outputs: []runs.Output{{Name: "image", Type: "image", Media: "asset:" + hash}},
	}
	h.results[run.ID] = run
	h.exec(`INSERT INTO assets (hash, size, mime, name) VALUES ($1, 1, 'image/png', '')`, hash)
	h.exec(`INSERT INTO asset_owners (account_id, hash, kind, size) VALUES ($1, $2, 'result', 1)`, account, hash)
	h.exec(`INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, inputs, sources, shape, quote, promised, platform, deliverable, timeout_ms, created_at, outputs, receipt, ended_at)
		VALUES ($1, $2, 'painter', '1', 'test', 'succeeded', '{}', '{}', 0, '{}', 0, 'web', false, 0, now(), json_build_array(json_build_object('media', $3::text)), '{}', now())`,
		run.ID, account, run.Outputs[0].Media)
	return run
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// refuses is an error with this sentence.
func (h *house) refuses(err error, want said.Sentence) {
	h.t.Helper()
	var e *registry.Error
	if !errors.As(err, &e) || e.Message != want.With().String() {
		h.t.Errorf("got %v, want %q", err, want.With().String())
	}
}

// readers are the owners by whose links anybody, or a reader, gets a result.
func (h *house) readers(run runs.Run, as assets.Reader) []string {
	h.t.Helper()
	owners, err := assets.Owners(h.t.Context(), h.pool, assets.Ref(run.Outputs[0].Media), as)
	h.must(err)
	return owners
}

// shown tells whether a result is seen where anybody may look, such as on a site.
func (h *house) shown(run runs.Run) bool {
	h.t.Helper()
	_, _, err := assets.NewThumbnails(h.pool).Shown(h.t.Context(), assets.Ref(run.Outputs[0].Media), 320, func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("no picture")), nil
	})
	return errors.Is(err, assets.ErrNoThumbnail) // its original would be sent
}

var group = moderation.Place{Platform: "telegram", Chat: "-100"}

func (h *house) reported(by string) runs.Run {
	h.t.Helper()
	run := h.makes(h.ann)
	h.must(h.Report(h.t.Context(), moderation.Report{RunID: run.ID, By: by, Where: group, Reason: moderation.Spam, Words: "  buy now  "}))
	return run
}

func TestReports(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	run := h.reported(h.ben)
	h.must(h.Report(ctx, moderation.Report{RunID: run.ID, By: h.ben, Where: group, Reason: moderation.Sexual}))
	h.must(h.Report(ctx, moderation.Report{RunID: run.ID, Where: moderation.Place{Platform: "web"}, Reason: moderation.Rights}))
	cases, err := h.Cases(ctx, moderation.Place{}, 10)
	h.must(err)
	if len(cases) != 1 || cases[0].Reports != 2 || !slices.Equal(cases[0].Reasons, []string{"rights", "spam"}) || !slices.Equal(cases[0].Words, []string{"buy now"}) || cases[0].AccountID != h.ann || cases[0].ToolID != "painter" || cases[0].Where != group {
		t.Errorf("the cases are %+v", cases)
	}
	if len(h.told) != 1 || h.told[0].AccountID != h.operator || h.told[0].Key != "report.operator" {
		t.Errorf("the operator was told %+v, want once of the first report", h.told)
	}
	h.refuses(h.Report(ctx, moderation.Report{RunID: run.ID, By: h.ann, Reason: moderation.Spam}), said.ReportOwn)
	if err := h.Report(ctx, moderation.Report{RunID: uuid.NewString(), By: h.ben, Reason: moderation.Spam}); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("a report of nothing: %v", err)
	}
	for range 19 {
		h.must(h.Report(ctx, moderation.Report{RunID: run.ID, Reason: moderation.Spam}))
	}
	h.refuses(h.Report(ctx, moderation.Report{RunID: run.ID, Reason: moderation.Spam}), said.ReportsTooMany)

	elsewhere := moderation.Place{Platform: "telegram", Chat: "-200"}
	if cases, err = h.Cases(ctx, elsewhere, 10); err != nil || len(cases) != 0 {
		t.Errorf("another chat sees %+v, %v", cases, err)
	}
	h.refuses(h.Dismiss(ctx, moderation.Decision{RunID: run.ID, By: h.ben, Here: elsewhere}), said.ReportDecided)
	h.must(h.RemoveHere(ctx, moderation.Decision{RunID: run.ID, By: h.ben, Here: group}))
	if !slices.Equal(h.withdrawn, []string{run.ID + group.Chat}) || len(h.readers(run, assets.Reader{})) != 1 {
		t.Errorf("the admins of a chat remove %v from it, and nothing else", h.withdrawn)
	}
	if cases, err = h.Cases(ctx, moderation.Place{}, 10); err != nil || len(cases) != 1 || cases[0].Reports != 20 {
		t.Errorf("what the admins did not decide about is %+v, %v", cases, err)
	}
	h.must(h.Dismiss(ctx, moderation.Decision{RunID: run.ID, By: h.operator, Note: "fine"}))
	h.refuses(h.Dismiss(ctx, moderation.Decision{RunID: run.ID, By: h.operator}), said.ReportDecided)
	log, err := h.people.Audit(ctx, users.AuditQuery{AccountID: h.ann})
	h.must(err)
	if len(log) != 2 || log[0].Action != "report dismissed" || log[0].By != h.operator || log[0].Note != "fine" || log[1].Action != "result removed from its chat" {
		t.Errorf("the audit has %+v", log)
	}
}

func TestStrikesAndAppeals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	first := h.reported(h.ben)
	h.kept = errors.New("message can't be deleted")
	h.refuses(h.TakeDown(ctx, moderation.Decision{RunID: first.ID, By: h.operator}, true), said.MessagesStay)
	h.kept = nil
	if !slices.Equal(h.withdrawn, []string{first.ID}) || len(h.told) == 0 || !slices.Equal(h.unshared, []string{first.ID}) {
		t.Errorf("withdrawn %v, unshared %v", h.withdrawn, h.unshared)
	}
	if anybody := h.readers(first, assets.Reader{}); len(anybody) != 0 {
		t.Errorf("what is taken down is served to anybody by the links of %v", anybody)
	}
	for _, reader := range []assets.Reader{{Account: h.ann}, {Operator: true}} {
		if got := h.readers(first, reader); !slices.Equal(got, []string{h.ann}) {
			t.Errorf("%+v reads it by the links of %v", reader, got)
		}
	}
	if shown := h.shown(first); shown {
		t.Error("what is taken down is shown where anybody may look")
	}
	if down, err := h.TakenDown(ctx, first.ID); err != nil || !down {
		t.Errorf("taken down: %v, %v", down, err)
	}
	h.must(h.people.MayRun(ctx, h.ann))
	h.clock.Advance(time.Hour)
	second := h.reported(h.ben)
	h.must(h.TakeDown(ctx, moderation.Decision{RunID: second.ID, By: h.operator, Note: "again"}, true))
	muted := registry.AsError(h.people.MayRun(ctx, h.ann))
	until := h.clock.Now().Add(24 * time.Hour).UTC().Format("2006-01-02 15:04 UTC")
	if muted.Code != registry.CodeUnauthorized || !strings.Contains(muted.Message, until) || !strings.Contains(muted.Message, "/appeal") {
		t.Errorf("the second strike of two gives %v, want a mute until %s", muted, until)
	}
	if last := h.told[len(h.told)-1]; last.AccountID != h.ann || last.Key != "report.struckMuted" {
		t.Errorf("ann was told %+v", last)
	}
	h.must(h.people.MayRun(ctx, h.ben))

	h.refuses(h.Appeal(ctx, h.ben, "why me"), said.AppealNothing)
	h.refuses(h.Appeal(ctx, h.ann, " "), said.AppealWords)
	h.must(h.Appeal(ctx, h.ann, "it was a cat"))
	h.refuses(h.Appeal(ctx, h.ann, "really"), said.AppealWaits)
	appeals, err := h.Appeals(ctx)
	h.must(err)
	if len(appeals) != 1 || appeals[0].AccountID != h.ann || appeals[0].Words != "it was a cat" {
		t.Fatalf("the appeals are %+v", appeals)
	}
	h.must(h.Answer(ctx, h.operator, appeals[0].ID, false, "It was not."))
	if err := h.people.MayRun(ctx, h.ann); err == nil {
		t.Error("a denied appeal ends the mute")
	}
	h.refuses(h.Answer(ctx, h.operator, appeals[0].ID, true, "It was."), said.ReportDecided)

	strikes, err := h.Strikes(ctx, h.ann)
	h.must(err)
	if len(strikes) != 2 || strikes[0].RunID != second.ID {
		t.Fatalf("the strikes are %+v", strikes)
	}
	h.must(h.Lift(ctx, h.operator, strikes[0].ID, "a mistake"))
	h.must(h.people.MayRun(ctx, h.ann))
	if st, err := h.Standing(ctx, h.ann); err != nil || st != (moderation.Standing{Strikes: 1, TakenDown: 2}) {
		t.Errorf("the standing is %+v, %v", st, err)
	}
	h.must(h.Appeal(ctx, h.ann, "both were cats"))
	appeals, err = h.Appeals(ctx)
	h.must(err)
	h.must(h.Answer(ctx, h.operator, appeals[0].ID, true, "They were."))
	if st, err := h.Standing(ctx, h.ann); err != nil || !st.Clean() {
		t.Errorf("the standing after a granted appeal is %+v, %v", st, err)
	}
	if got := h.readers(first, assets.Reader{}); !slices.Equal(got, []string{h.ann}) {
		t.Errorf("what was given back is served by the links of %v", got)
	}
	if !h.shown(first) {
		t.Error("what was given back is not shown")
	}
	log, err := h.people.Audit(ctx, users.AuditQuery{AccountID: h.ann})
	h.must(err)
	var actions []string
	for _, e := range slices.Backward(log) {
		actions = append(actions, e.Action)
	}
	want := []string{"result taken down", "strike", "result taken down", "strike", "mute", "appeal", "appeal denied", "strike lifted", "mute", "appeal", "appeal granted"}
	if !slices.Equal(actions, want) {
		t.Errorf("the audit has\n%q, want\n%q", actions, want)
	}
}

func TestOldStrikesDoNotCount(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 2 {
		h.must(h.TakeDown(t.Context(), moderation.Decision{RunID: h.reported(h.ben).ID, By: h.operator}, true))
		h.clock.Advance(31 * 24 * time.Hour)
	}
	h.must(h.people.MayRun(t.Context(), h.ann))
	if strikes, err := h.Strikes(t.Context(), ""); err != nil || len(strikes) != 0 {
		t.Errorf("strikes of long ago: %+v, %v", strikes, err)
	}
}

func TestMuteEndsByItself(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.must(h.Mute(t.Context(), h.operator, h.ann, time.Hour, "loud"))
	if err := h.people.MayRun(t.Context(), h.ann); err == nil {
		t.Error("who is muted may run")
	}
	if _, err := h.people.LimitsOf(t.Context(), h.ann); err != nil {
		t.Errorf("who is muted can't look at their limits: %v", err)
	}
	h.clock.Advance(time.Hour)
	h.must(h.people.MayRun(t.Context(), h.ann))
}

// A mute, and what counts against somebody, follow them through joining, leaving and deleting their data.
func TestAccounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	for range 2 {
		h.must(h.TakeDown(ctx, moderation.Decision{RunID: h.reported(h.ben).ID, By: h.operator}, true))
	}
	h.must(h.Appeal(ctx, h.ann, "one"))
	older := h.comes("older")
	h.exec(`UPDATE users SET created_at = '2020-01-01' WHERE id = $1`, older)
	code, err := h.people.NewLinkCode(ctx, older)
	h.must(err)
	merged, err := h.people.RedeemLinkCode(ctx, h.ann, code.Code)
	h.must(err)
	if st, err := h.Standing(ctx, merged.Account.ID); merged.Account.ID != older || err != nil || st.Strikes != 2 || st.TakenDown != 2 || !st.Waiting || st.MutedUntil.IsZero() {
		t.Errorf("the standing after joining is %+v, %v", st, err)
	}
	apart, err := h.people.Unlink(ctx, older, "telegram", "ann")
	h.must(err)
	if err := h.people.MayRun(ctx, apart.ID); err == nil {
		t.Error("who leaves a muted account is muted no more")
	}
	h.must(h.people.Erase(ctx, older, older))
	if back := h.comes("older"); back == older || h.people.MayRun(ctx, back) == nil {
		t.Error("who deletes their data and comes back is muted no more")
	}
	h.must(h.people.Erase(ctx, h.ben, h.ben))
	for _, left := range []string{
		`SELECT count(*) FROM moderation_reports WHERE reporter IS NOT NULL OR words <> '' OR account_id IS NOT NULL`,
		`SELECT count(*) FROM moderation_strikes`, `SELECT count(*) FROM moderation_takedowns`, `SELECT count(*) FROM moderation_appeals`,
	} {
		var n int
		h.must(h.pool.QueryRow(ctx, left).Scan(&n))
		if n != 0 {
			t.Errorf("%d rows are left of who is forgotten: %s", n, left)
		}
	}
}
