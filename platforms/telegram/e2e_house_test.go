package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/router"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	runstore "github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/workflows/workflowstest"
)

const (
	patience = 2 * time.Minute
	credit   = billing.Dollar
)

// house is the whole program around a strict Telegram, the CPU engine behind a strict server, and Postgres.
type house struct {
	t        testing.TB
	telegram *telegramtest.Server
	engine   *comfytest.Server
	pool     *pgxpool.Pool
	files    housetest.Files
	registry *catalog.Registry
	ledger   *billing.Ledger
	provider *comfy.Provider
	public   *url.URL // set: updates come by webhook
	limits   botapi.Limits
	poor     bool // nobody has credit

	runs    *runner.Service
	adapter *telegram.Adapter
	router  *router.Router
	stop    func()

	ann, ben *telegramtest.User
	chat     *telegramtest.Chat // Ann's with the bot
}

// ownWorkflows are the tools that the bundled ones lack: two pictures in, several out.
func ownWorkflows() fs.FS {
	return fstest.MapFS{
		"blend.json": {Data: []byte(`{
			"1": {"class_type": "LoadImage", "inputs": {"image": "example.png"}, "_meta": {"title": "First"}},
			"2": {"class_type": "LoadImage", "inputs": {"image": "example.png"}, "_meta": {"title": "Second"}},
			"3": {"class_type": "ImageBlend", "inputs": {"image1": ["1", 0], "image2": ["2", 0], "blend_factor": 0.0, "blend_mode": "normal"}},
			"4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "blend"}}}`)},
		"series.json": {Data: []byte(`{
			"1": {"class_type": "EmptyImage", "inputs": {"width": 32, "height": 32, "batch_size": 3, "color": 255}},
			"2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "series"}}}`)},
	}
}

func newHouse(t testing.TB, opts ...telegramtest.Options) *house {
	t.Helper()
	h := &house{
		t: t, telegram: telegramtest.New(t, append(opts, telegramtest.Options{})[0]),
		engine: comfytest.New(t, comfytest.Options{Without: []string{"KSampler"}}), pool: postgrestest.New(t),
		limits: botapi.Limits{Global: 4000, Chat: 1000, ChatBurst: 1000, Group: 40_000}, // faster than people type
	}
	h.ledger = billing.NewLedger(h.pool)
	h.files = housetest.NewFiles(t, h.pool)
	fleet := comfy.NewFleet([]*url.URL{h.engine.URL()}, comfy.FleetConfig{})
	fleet.Refresh(t.Context())
	flows := loader.New(loader.Config{Sources: []fs.FS{workflowstest.Small(t), ownWorkflows()}, Engines: fleet, Store: history.NewSpecs(h.pool, h.files), Rate: "0.000337"})
	h.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: fleet, Workflows: flows, ReconcileEvery: 200 * time.Millisecond})
	var err error
	h.registry, err = catalog.New(catalog.Config{Loaders: []registry.Loader{flows}})
	h.must(err)
	_, err = h.registry.Reload(t.Context())
	h.must(err)
	h.ann, h.ben = h.telegram.User("Ann"), h.telegram.User("Ben")
	h.chat = h.ann.Private()
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// start brings the program up; it goes down with the test at the latest.
func (h *house) start() *house {
	h.t.Helper()
	log := slog.New(slog.NewTextHandler(testLog{h.t}, &slog.HandlerOptions{Level: slog.LevelError}))
	ctx := context.WithoutCancel(h.t.Context())
	client, err := botapi.NewClient(botapi.Config{Token: h.telegram.Token, BaseURL: h.telegram.URL})
	h.must(err)
	wallets := groups.New(groups.Config{Pool: h.pool, Ledger: h.ledger})
	h.adapter, err = telegram.NewAdapter(ctx, telegram.AdapterConfig{
		Client: client, Pool: h.pool, Logger: log, PublicURL: h.public,
		Limits: h.limits,
		Moved: func(ctx context.Context, tx pgx.Tx, from, to string) error {
			if err := wallets.MoveChat(ctx, tx, telegram.Platform, from, to); err != nil {
				return err
			}
			return runstore.MoveChat(ctx, tx, telegram.Platform, from, to)
		},
	})
	h.must(err)
	deliverer, err := show.NewDeliverer(show.DelivererConfig{
		Adapters: []chat.Adapter{h.adapter}, Pool: h.pool, Media: h.files, Logger: log,
		Link: func(run runs.Run, output int) string {
			return "https://signalbox.example/files/" + run.Outputs[output].Name
		},
	})
	h.must(err)
	people := users.New(h.pool, users.Config{OnCreate: h.welcome})
	h.runs, err = runner.New(runs.Config{
		Pool: h.pool, Registry: h.registry, Ledger: h.ledger, Users: people, Assets: h.files, Logger: log,
		Providers:  map[string]runs.Provider{loader.Service: {Submitter: h.provider}},
		Deliverers: map[string]runs.Deliverer{telegram.Platform: deliverer},
		Workers:    8, Deliveries: 4, RetryBase: 50 * time.Millisecond,
	})
	h.must(err)
	h.router, err = router.NewRouter(router.Config{
		Deliverer: deliverer, Pool: h.pool, Tools: h.registry, Runs: h.runs, Accounts: people, Wallets: h.ledger, Groups: wallets, Logger: log,
		AlbumWait: 150 * time.Millisecond,
	})
	h.must(err)
	h.must(h.runs.Start(ctx))
	h.must(h.router.Start(ctx))
	h.stop = sync.OnceFunc(h.listen(ctx))
	h.t.Cleanup(h.stop)
	return h
}

// listen lets updates in, and returns what stops the program in reverse order.
func (h *house) listen(ctx context.Context) (stop func()) {
	adapter, router, service := h.adapter, h.router, h.runs
	listening, deaf := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- adapter.Run(listening, router) }()
	return func() {
		deaf()
		if err := <-done; err != nil {
			h.t.Errorf("receiving ended: %v", err)
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := router.Stop(ctx); err != nil {
			h.t.Errorf("stop the router: %v", err)
		}
		if err := service.Stop(ctx); err != nil {
			h.t.Errorf("stop the runs: %v", err)
		}
	}
}

func (h *house) welcome(ctx context.Context, tx pgx.Tx, a users.Account) error {
	if h.poor {
		return h.ledger.EnsureWallet(ctx, tx, a.ID)
	}
	return housetest.Welcome(h.ledger, credit)(ctx, tx, a)
}

// testLog writes the program's log to the test's.
type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(string(bytes.TrimSpace(p)))
	}
	return len(p), nil
}

// await waits for a message of the bot with all these parts in its text.
func (h *house) await(c *telegramtest.Chat, parts ...string) telegramtest.Message {
	h.t.Helper()
	return h.telegram.WaitMessage(h.t.Context(), c, func(m telegramtest.Message) bool { return hasAll(m, parts) })
}

// awaitFile is await for messages with a file of a kind.
func (h *house) awaitFile(c *telegramtest.Chat, kind string, parts ...string) telegramtest.Message {
	h.t.Helper()
	return h.telegram.WaitMessage(h.t.Context(), c, func(m telegramtest.Message) bool {
		return m.Media != nil && m.Media.Kind == kind && hasAll(m, parts)
	})
}

// awaitButton is await for messages with a button.
func (h *house) awaitButton(c *telegramtest.Chat, label string, parts ...string) telegramtest.Message {
	h.t.Helper()
	return h.telegram.WaitMessage(h.t.Context(), c, func(m telegramtest.Message) bool {
		_, ok := m.Button(label)
		return ok && hasAll(m, parts)
	})
}

func hasAll(m telegramtest.Message, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(m.Text, p) {
			return false
		}
	}
	return true
}

func chatID(c *telegramtest.Chat) string { return strconv.FormatInt(c.ID(), 10) }

// press presses a button as somebody and gives the answer's text.
func (h *house) press(u *telegramtest.User, m telegramtest.Message, label string) string {
	h.t.Helper()
	return u.Press(m, label).Answer(h.t.Context()).Text
}

// bots lists the bot's messages in a chat.
func (h *house) bots(c *telegramtest.Chat) []telegramtest.Message {
	var list []telegramtest.Message
	for _, m := range h.telegram.History(c) {
		if m.From == nil {
			list = append(list, m)
		}
	}
	return list
}

// one says that the bot has one message in Ann's chat.
func (h *house) one() telegramtest.Message {
	h.t.Helper()
	list := h.bots(h.chat)
	if len(list) != 1 {
		h.t.Fatalf("one message was to be there:\n%s", h.telegram.Transcript(h.chat))
	}
	return list[0]
}

// until waits for a condition.
func (h *house) until(what string, done func() bool) {
	h.t.Helper()
	clocktest.Until(h.t, what, done, func() string { return h.telegram.Transcript(h.chat) })
}

func (h *house) count(query string) (n int) {
	h.t.Helper()
	h.must(h.pool.QueryRow(h.t.Context(), query).Scan(&n))
	return n
}

// handled waits until everything that came in was handled.
func (h *house) handled() {
	h.t.Helper()
	h.until("all updates to be handled", func() bool {
		return h.telegram.PendingUpdates() == 0 && h.count(`SELECT count(*) FROM chat_updates WHERE handled_at IS NULL`) == 0
	})
}

// missed waits until a delivery is given up, which a message may say before it is noted: what comes from there on is answered with an offer to show it.
func (h *house) missed() {
	h.t.Helper()
	h.until("a delivery to be given up", func() bool { return h.count(`SELECT count(*) FROM chat_deliveries WHERE missed_at IS NOT NULL`) == 1 })
}

// settled waits until all is over, and sees that each of n runs was charged to who asked, or given back, once and that the
// books balance.
func (h *house) settled(n int) []runs.Run {
	h.t.Helper()
	list, spent := h.over(n)
	if n == 0 {
		return nil
	}
	balance, err := h.ledger.Balance(h.t.Context(), list[0].AccountID)
	h.must(err)
	if balance.Available != credit-spent || balance.Held != 0 {
		h.t.Errorf("the balance is %+v after %s was spent", balance, spent)
	}
	return list
}

// over waits until all of n runs is over, and gives them with what they cost.
func (h *house) over(n int) (list []runs.Run, spent billing.NanoUSD) {
	h.t.Helper()
	h.handled()
	h.until("all runs to be over and delivered", func() bool {
		return h.count(`SELECT count(*) FROM runs WHERE ended_at IS NULL OR deliverable AND delivered_at IS NULL`) == 0
	})
	report, err := h.ledger.Check(h.t.Context())
	h.must(err)
	if len(report.Problems) > 0 {
		h.t.Errorf("the books: %v", report.Problems)
	}
	list, err = h.runs.List(h.t.Context(), runs.Filter{Limit: 100})
	h.must(err)
	if len(list) != n {
		h.t.Fatalf("%d runs, want %d", len(list), n)
	}
	for _, r := range list {
		if spent += r.Cost; r.Status != runs.StatusSucceeded && r.Cost != 0 {
			h.t.Errorf("run %s %s cost %s", r.ID, r.Status, r.Cost)
		}
	}
	return list, spent
}

// input gives a value of a run as JSON.
func input(r runs.Run, name string) string {
	raw, _ := json.Marshal(r.Inputs[name])
	return string(raw)
}

// photo makes a picture of noise around one colour, as JPEG.
func photo(c color.RGBA) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 96, 64))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c.R, c.G, c.B, 255
	}
	for range 200 {
		img.Set(rand.N(96), rand.N(64), color.White)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		panic(err) // memory only
	}
	return b.Bytes()
}

// average is the mean colour of a picture.
func average(t testing.TB, data []byte) color.RGBA {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var r, g, b, n uint64
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			cr, cg, cb, _ := img.At(x, y).RGBA()
			r, g, b, n = r+uint64(cr>>8), g+uint64(cg>>8), b+uint64(cb>>8), n+1
		}
	}
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255}
}

var (
	red  = color.RGBA{R: 220, A: 255}
	blue = color.RGBA{B: 220, A: 255}
)
