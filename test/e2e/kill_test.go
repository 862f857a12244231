//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/cluster"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/workflows/workflowstest"
)

// siege kills a program again and again.
type siege struct {
	t    *testing.T
	rng  *rand.Rand
	spec spec
	p    *program
	work atomic.Int64 // commands and orders given
}

// newSiege prints its seed; E2E_SEED repeats what can be repeated of an earlier one.
func newSiege(t *testing.T, s spec) *siege {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("E2E_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("E2E_SEED: %v", err)
		}
	}
	t.Logf("E2E_SEED=%d", seed)
	s.dir, s.plain = seededDir(t), true
	s.env = append(s.env, "WORKFLOWS_DIR="+workflowstest.SmallDir(t), "SIGNUP_CREDIT_USD=5", "ADMIN_TOKEN="+adminToken, "LOG_LEVEL=warn")
	return &siege{t: t, rng: rand.New(rand.NewPCG(seed, 1)), spec: s, p: start(t, s)}
}

// kills ends the program with SIGKILL, at random moments of its start and of its work, and starts it again each time. Now and then its
// database server is killed with it. It does so n times, and on until there was twice as much work: a slow machine does little between two
// kills. It gives the number of kills.
func (s *siege) kills(n int) (kills int) {
	s.t.Helper()
	var took []time.Duration // from kills to being ready again
	killed := time.Time{}
	for ; kills < n || s.work.Load() < int64(2*n); kills++ {
		after := time.Duration(s.rng.Int64N(int64(900 * time.Millisecond)))
		starting := s.rng.IntN(6) == 0
		if !starting {
			s.p.awaitReady()
			if kills > 0 {
				took = append(took, time.Since(killed))
			}
		}
		select {
		case <-s.p.ended:
			s.t.Fatalf("before kill %d the program ended by itself:\n%s", kills+1, s.p.said())
		case <-time.After(after): // no condition to wait for: a random moment is meant
		}
		if s.rng.IntN(5) == 0 {
			s.killDatabase()
		}
		killed = time.Now()
		s.p.cmd.Process.Kill()
		s.p.awaitEnd()
		s.p = launch(s.t, s.spec) // at once: the next start copes with what the last has left
	}
	s.p.awaitReady()
	slices.Sort(took)
	if len(took) > 0 {
		s.t.Logf("ready again after %d of the kills: median %v, p95 %v, worst %v", len(took), took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
	}
	return kills
}

func (s *siege) killDatabase() {
	if pid, _ := (&cluster.Cluster{Dir: filepath.Join(s.spec.dir, "postgres")}).PID(); pid > 0 && len(processesIn(s.spec.dir)) > 0 {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// database opens the program's own database.
func (s *siege) database() *pgxpool.Pool {
	s.t.Helper()
	pool, err := postgres.Attach(s.t.Context(), filepath.Join(s.spec.dir, "postgres"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(pool.Close)
	return pool
}

// awaitRest waits until every accepted run is over and delivered where it has to be.
func (s *siege) awaitRest(pool *pgxpool.Pool) {
	s.t.Helper()
	var open string
	await(s.t, "all runs to end", func() bool {
		err := pool.QueryRow(s.t.Context(), `
			SELECT coalesce(string_agg(concat_ws(' ', id, status, stage, 'attempt', attempt, 'ended', ended_at, 'delivered', delivered_at), E'\n'), '')
			FROM runs WHERE ended_at IS NULL OR deliverable AND delivered_at IS NULL`).Scan(&open)
		if err != nil {
			s.t.Fatal(err)
		}
		return open == ""
	}, func() string { return open + "\n" + tail(s.p.said(), 40) })
}

// checkMoney expects that each of the runs succeeded and was charged once, and that the books balance.
func (s *siege) checkMoney(pool *pgxpool.Pool, commands int) {
	s.t.Helper()
	ctx := s.t.Context()
	report, err := billing.NewLedger(pool).Check(ctx)
	if err != nil || !report.OK() || report.OpenHolds != 0 || report.Held != 0 {
		s.t.Errorf("the ledger: %v %v", report, err)
	}
	s.t.Log(report)
	var sums struct{ Runs, Succeeded, Charged, Cost, Captured, Captures, Retried int64 }
	rows, err := pool.Query(ctx, `
		SELECT count(*) AS runs, count(*) FILTER (WHERE status = 'succeeded') AS succeeded, count(*) FILTER (WHERE cost > 0) AS charged,
			coalesce(sum(cost), 0)::bigint AS cost, (SELECT coalesce(sum(amount), 0)::bigint FROM ledger_transfers WHERE kind = 'capture') AS captured,
			(SELECT count(*) FROM ledger_transfers WHERE kind = 'capture') AS captures, count(*) FILTER (WHERE attempt > 1) AS retried
		FROM runs`)
	if err != nil {
		s.t.Fatal(err)
	}
	sums, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[struct{ Runs, Succeeded, Charged, Cost, Captured, Captures, Retried int64 }])
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("%+v", sums)
	if sums.Runs != int64(commands) || sums.Succeeded != sums.Runs {
		s.t.Errorf("%d commands became %d runs, of which %d succeeded:\n%s", commands, sums.Runs, sums.Succeeded, s.failures(pool))
	}
	if sums.Captures != sums.Charged || sums.Captured != sums.Cost {
		s.t.Errorf("%d runs cost %d nano-dollars, %d captures took %d", sums.Charged, sums.Cost, sums.Captures, sums.Captured)
	}
	var spent int64
	err = pool.QueryRow(ctx, `
		SELECT (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE kind = 'grant')::bigint - coalesce(sum(balance), 0)::bigint
		FROM ledger_accounts WHERE owner IS NOT NULL`).Scan(&spent)
	if err != nil || spent != sums.Cost {
		s.t.Errorf("the wallets have lost %d nano-dollars, the runs cost %d; %v", spent, sums.Cost, err)
	}
}

func (s *siege) failures(pool *pgxpool.Pool) string {
	var text string
	err := pool.QueryRow(s.t.Context(), `SELECT coalesce(string_agg(concat_ws(' ', id, status, error), E'\n'), '') FROM runs WHERE status <> 'succeeded'`).Scan(&text)
	if err != nil {
		return err.Error()
	}
	return text
}

// TestKillUnderLoad kills the program while people write to the bot. At the end every command has one run
// that succeeded and was charged once, and its result is in the chat once.
//
// Telegram knows no idempotency keys. A new message whose sending a kill cut off is not sent a second
// time: the person is told that it may be there, and offered to see it again. So a command may have such
// an offer instead of its result, or beside it, and these are few: one at most for each kill.
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	const people = 6
	tg := telegramtest.New(t, telegramtest.Options{Patience: hang})
	s := newSiege(t, spec{env: []string{"TELEGRAM_BOT_TOKEN=" + tg.Token, "TELEGRAM_API_URL=" + tg.URL}})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var crowd sync.WaitGroup
	commands := make([][]telegramtest.Message, people)
	chats := make([]*telegramtest.Chat, people)
	for i := range people {
		u := tg.User("Person" + strconv.Itoa(i))
		chats[i] = u.Private()
		rng := rand.New(rand.NewPCG(s.rng.Uint64(), 2))
		u.Start("")
		crowd.Go(func() { commands[i] = write(ctx, tg, u, rng, &s.work) })
	}
	kills := s.kills(50)
	stop()
	crowd.Wait()

	pool := s.database()
	total := 0
	for i, chat := range chats {
		total += len(commands[i])
		awaitAnswers(t, tg, chat, commands[i], s.p)
	}
	s.awaitRest(pool)
	s.checkMoney(pool, total)
	doubts, strays := 0, 0
	for i, chat := range chats {
		d, left := checkChat(t, tg, chat, commands[i])
		doubts, strays = doubts+d, strays+left
	}
	t.Logf("%d kills, %d commands, %d results behind an offer to show them again, %d other messages left", kills, total, doubts, strays)
	if doubts > kills || strays > kills {
		t.Errorf("%d results are in doubt and %d messages of no use are left after %d kills", doubts, strays, kills)
	}
}

// write sends commands until ctx ends, never more than a few that wait for their results, and counts them.
func write(ctx context.Context, tg *telegramtest.Server, u *telegramtest.User, rng *rand.Rand, count *atomic.Int64) []telegramtest.Message {
	chat := u.Private()
	var sent []telegramtest.Message
	answered := 0
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for looked := time.Now(); ; {
		select {
		case <-ctx.Done():
			return sent
		case <-again.C:
		}
		if len(sent)-answered >= 3 {
			if time.Since(looked) < 100*time.Millisecond { // the whole chat is read for it, which grows
				continue
			}
			if looked, answered = time.Now(), len(results(tg, chat)); len(sent)-answered >= 3 {
				continue
			}
		}
		count.Add(1)
		switch rng.IntN(3) {
		case 0:
			sent = append(sent, u.Send(chat, "/wallpaper"))
		case 1:
			sent = append(sent, u.Send(chat, fmt.Sprintf("/wallpaper width=%d colors=%d", 64+rng.IntN(64), 2+rng.IntN(8))))
		case 2:
			sent = append(sent, u.SendPhoto(chat, photo(48), "/poster"))
		}
	}
}

func photo(side int) []byte {
	img := image.NewGray(image.Rect(0, 0, side, side))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// answers are what a chat shows in reply to each command.
type answers struct {
	results int // pictures
	offers  int // to show a result that may have been shown
	others  []string
}

// results groups what the bot answered by the command it answers.
func results(tg *telegramtest.Server, chat *telegramtest.Chat) map[int]answers {
	all := map[int]answers{}
	for _, m := range tg.History(chat) {
		if m.From != nil || m.Deleted || m.ReplyTo == 0 {
			continue
		}
		a := all[m.ReplyTo]
		_, offer := m.Button("Show")
		switch {
		case m.Media != nil:
			a.results++
		case offer:
			a.offers++
		default:
			a.others = append(a.others, m.String())
		}
		all[m.ReplyTo] = a
	}
	for command, a := range all {
		if a.results+a.offers == 0 {
			delete(all, command)
		}
	}
	return all
}

func awaitAnswers(t *testing.T, tg *telegramtest.Server, chat *telegramtest.Chat, commands []telegramtest.Message, p *program) {
	t.Helper()
	missing := func() (list []int) {
		got := results(tg, chat)
		for _, c := range commands {
			if _, ok := got[c.ID]; !ok {
				list = append(list, c.ID)
			}
		}
		return list
	}
	await(t, "all answers", func() bool { return len(missing()) == 0 || p.over() }, func() string {
		return fmt.Sprintf("missing: %v\n%s\n%s", missing(), tail(tg.Transcript(chat), 60), tail(p.said(), 40))
	})
}

// checkChat expects one result for each command. It returns how many are in doubt, and how many messages
// were left beside the answers: status messages whose sending a kill cut off before their number was known.
func checkChat(t *testing.T, tg *telegramtest.Server, chat *telegramtest.Chat, commands []telegramtest.Message) (doubts, strays int) {
	t.Helper()
	got := results(tg, chat)
	for _, c := range commands {
		a := got[c.ID]
		if a.results > 1 || a.results+a.offers == 0 {
			t.Errorf("%v has %d results and %d offers", c, a.results, a.offers)
		}
		if a.offers > 0 {
			doubts++
		}
		strays += len(a.others)
		for _, text := range a.others {
			t.Logf("left beside the answer: %s", text)
		}
	}
	if len(got) != len(commands) {
		t.Errorf("%d commands have %d answers", len(commands), len(got))
	}
	return doubts, strays
}

// TestKillUnderLoadOfTheAPI is the same for programs that use the HTTP API: they repeat with one
// idempotency key until they are answered.
func TestKillUnderLoadOfTheAPI(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	const clients = 4
	s := newSiege(t, spec{env: []string{"LISTEN_ADDR=" + closedPort(t)}})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var crowd sync.WaitGroup
	accepted := make([]map[string]string, clients)
	var first client
	for i := range clients {
		c := newClient(s.p, "client"+strconv.Itoa(i))
		if i == 0 {
			first = c
		}
		crowd.Go(func() { accepted[i] = s.order(ctx, c, "client"+strconv.Itoa(i)) })
	}
	kills := s.kills(15)
	stop()
	crowd.Wait()

	pool := s.database()
	s.awaitRest(pool)
	total := 0
	for _, orders := range accepted {
		total += len(orders)
		for key, id := range orders {
			var known string
			if err := pool.QueryRow(t.Context(), `SELECT id::text FROM runs WHERE idempotency_key = $1`, "api:"+key).Scan(&known); err != nil || known != id {
				t.Errorf("order %s was run %s and is %s; %v", key, id, known, err)
			}
		}
	}
	s.checkMoney(pool, total)
	for _, r := range first.runs() {
		if r.Status == "succeeded" && len(first.picture(r.Outputs[0].URL)) == 0 {
			t.Errorf("run %s has an empty picture", r.RunID)
		}
	}
	t.Logf("%d kills, %d orders", kills, total)
}

// order places orders until ctx ends and gives the runs' ids by key. An order that was begun is repeated
// until it is answered.
func (s *siege) order(ctx context.Context, c client, name string) map[string]string {
	accepted := map[string]string{}
	again := time.NewTicker(200 * time.Millisecond) // faster, most orders would only wait for the end of the siege
	defer again.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		key := name + "-" + strconv.Itoa(i)
		for {
			if id := c.tryOrder(key); id != "" {
				accepted[key] = id
				s.work.Add(1)
				break
			}
			<-again.C
		}
		<-again.C
	}
	return accepted
}

func (c client) tryOrder(key string) (runID string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	status, body, err := c.do(ctx, http.MethodPost, "/api/run/wallpaper", map[string]any{"inputs": map[string]any{}}, key)
	if err != nil || !slices.Contains([]int{http.StatusOK, http.StatusAccepted}, status) {
		return ""
	}
	var r apiRun
	if err := json.Unmarshal(body, &r); err != nil {
		return ""
	}
	return r.RunID
}
