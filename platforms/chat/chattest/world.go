package chattest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"net"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/router"
	"github.com/signalbox/signalbox/platforms/chat/show"
	chatstore "github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	runstore "github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

// patience is how long anything in a test may take.
const patience = 2 * time.Minute

// signupCredit is what each person in a World begins with.
const signupCredit = billing.Dollar

// World is a whole house around one chat platform: Postgres, tools, a provider that the test moves, money,
// and the Router. Only the platform is the harness's.
type World struct {
	t        testing.TB
	Harness  Harness
	Pool     *pgxpool.Pool
	Loader   *registrytest.Loader  // Set and Reload change the tools
	Provider *registrytest.Service // runs wait in it until the test lets them go on
	Asking   *registrytest.Asking  // the service asking, which asks in the midst of its calls
	Registry *catalog.Registry
	Ledger   *billing.Ledger
	People   *users.Store
	Files    *Files
	Groups   *groups.Store
	// Link is what the house gives as public addresses of outputs.
	Link func(run runs.Run, output int) string
	// Operator is what the operator of the house says.
	Operator turn.Operator

	// Example is shown by /start; nil: none.
	Example func(language string) (turn.Example, error)
	// Agent answers what is said without a command; nil: nobody does.
	Agent turn.Agent
	// Journal keeps questions and has them paid; nil: nothing is kept.
	Journal agent.Journal
	// Site is run from the chat; nil: there is none.
	Site turn.Site
	// Missions carries out batches and chains. It tells people of them as the program does.
	Missions *missions.Service
	chains   *missions.Chains
	// Screen says which texts the house does not take; nil: all are taken.
	Screen func(text string) (has string, refused bool)
	// Reports says that reports of results are taken, by Moderation.
	Reports   bool
	Privately func(ctx context.Context, accountID, text string) error // how people are told in private; nil: not at all
	// Meanwhile is done while an update is handled, once its sender is known; nil: nothing is.
	Meanwhile  func()
	Moderation *moderation.Service
	// Takes says which words after a tool's command are for a model; nil: none are.
	Takes func(tool *registry.Tool, words string) bool

	// Clock is what the Router's repeats wait by; nil: the system's.
	Clock clock.Clock

	// Caps is what the platform declares.
	Caps chat.Capabilities

	// Late is by how much the clock of groups' parties is ahead.
	Late *atomic.Int64
	// Unheard is of how many runs that are taken on next nobody hears.
	Unheard *atomic.Int64

	Runs    *runner.Service
	Router  *router.Router
	stopRun func()
}

// NewWorld builds the house with these tools and starts it. It stops with the test.
func NewWorld(t testing.TB, h Harness, tools ...registry.Tool) *World {
	t.Helper()
	w := &World{
		t: t, Harness: h,
		Loader: registrytest.NewLoader("tools", tools...), Provider: registrytest.NewService("test"), Asking: &registrytest.Asking{},
		Files: &Files{content: map[string]stored{}}, Late: new(atomic.Int64), Unheard: new(atomic.Int64),
	}
	if house, ok := h.(interface{ House() *pgxpool.Pool }); ok {
		w.Pool = house.House() // the platform and the house know the same people, as in the program
	} else {
		w.Pool = postgrestest.NewSized(t, 4)
	}
	w.Ledger = billing.NewLedger(w.Pool)
	w.Groups = groups.New(groups.Config{Pool: w.Pool, Ledger: w.Ledger, Now: w.groupsNow})
	w.chains = missions.NewChains(w.Pool, func() *missions.Service { return w.Missions })
	reg, err := catalog.New(catalog.Config{Loaders: []registry.Loader{w.Loader, w.chains}})
	if err != nil {
		t.Fatal(err)
	}
	w.Registry = reg
	w.Reload()
	w.Start()
	t.Cleanup(w.Stop)
	return w
}

// Reload publishes the tools that Loader has now.
func (w *World) Reload() {
	w.t.Helper()
	if _, err := w.Registry.Reload(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// Start builds the running parts anew, as a start of the program does.
func (w *World) Start() {
	w.t.Helper()
	log := slog.New(slog.NewTextHandler(testLog{w.t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	connection := w.Harness.Connect(w.t)
	w.Caps = connection.Adapter.Capabilities()
	deliverer, err := show.NewDeliverer(show.DelivererConfig{
		Adapters: []chat.Adapter{connection.Adapter}, Pool: w.Pool, Media: w.Files, Logger: log, Link: w.Link, Tools: w.Registry, Places: w.places,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.People = users.New(w.Pool, users.Config{
		OnCreate: housetest.Welcome(w.Ledger, signupCredit),
		OnMerge:  w.join,
		OnErase: func(ctx context.Context, tx pgx.Tx, accountID string) error {
			return chatstore.Forget(ctx, tx, accountID)
		},
	})
	providers := map[string]runs.Provider{"test": {Submitter: w.Provider}, "asking": {Caller: w.Asking}, missions.ChainService: {Submitter: w.chains}}
	w.Runs, err = runner.New(runs.Config{
		Pool: w.Pool, Registry: w.Registry, Ledger: w.Ledger, Users: w.People, Limits: w.People, Assets: w.Files, Logger: log,
		Providers:  providers,
		Deliverers: map[string]runs.Deliverer{connection.Adapter.Platform(): deliverer},
		Workers:    8, Deliveries: 4, RetryBase: 50 * time.Millisecond, Screen: w.Screen,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Missions, err = missions.New(missions.Config{
		Pool: w.Pool, Registry: w.Registry, Runs: w.Runs, Ledger: w.Ledger, Providers: w.Runs.Config.Providers, Media: w.Files, Logger: log, Poll: 20 * time.Millisecond,
		May: func(context.Context, string, string, string) (registry.Audience, error) {
			return registry.Everyone, nil
		},
		Shares: func() billing.ShareBounds { return billing.ShareBounds{Percent: "20"} },
		Tell: func(ctx context.Context, m missions.Mission, waits *missions.Leg) error {
			where, err := chatstore.TargetOf(runs.Run{ID: m.ID, Origin: m.Origin})
			if err != nil {
				return err
			}
			return deliverer.TellMission(ctx, w.Runs, m.Origin.Platform, where, m, waits)
		},
		MaxBatch: func() int { return 5 },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Router, err = router.NewRouter(router.Config{
		Deliverer: deliverer, Pool: w.Pool, Tools: w.Registry, Runs: doubtful{w.Runs, w}, Accounts: attentive{w.People, w}, Wallets: w.Ledger, Groups: w.Groups, Logger: log, Near: near,
		AlbumWait: 150 * time.Millisecond, Operator: w.Operator, Agent: w.Agent, Site: w.Site, Example: w.Example, Missions: w.Missions, Exports: w.exports(), Moderation: w.newModeration(deliverer), Privately: w.Privately,
		Clock: w.Clock,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx := context.WithoutCancel(w.t.Context())
	if err := w.Runs.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Missions.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Router.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	w.stopRun = w.receive(ctx, connection)
}

// attentive are the accounts of a World, which hears when somebody is identified.
type attentive struct {
	*users.Store
	w *World
}

func (a attentive) Identify(ctx context.Context, who users.Identity) (users.Account, error) {
	account, err := a.Store.Identify(ctx, who)
	if a.w.Meanwhile != nil {
		a.w.Meanwhile()
	}
	return account, err
}

// doubtful takes on runs, and says as often as World.Unheard that nobody knows: as where the line to the database breaks at the commit.
type doubtful struct {
	*runner.Service
	w *World
}

func (d doubtful) AcceptBound(ctx context.Context, b runs.Bound) (runs.Run, error) {
	run, err := d.Service.AcceptBound(ctx, b)
	if err == nil && d.w.Unheard.Add(-1) >= 0 {
		return runs.Run{}, &net.OpError{Op: "read", Err: io.ErrUnexpectedEOF}
	}
	return run, err
}

func (w *World) groupsNow() time.Time { return time.Now().Add(time.Duration(w.Late.Load())) }

// exports takes requests for archives of what people have. None is made.
func (w *World) exports() *exports.Service {
	s, err := exports.New(exports.Config{
		Pool: w.Pool, Files: housetest.NewFiles(w.t, w.Pool).Store, Parts: []archive.Part{users.Export}, Poll: 5 * time.Millisecond,
		Address: func(string) string { return "https://box.example/archive" },
		Tell:    func(context.Context, exports.Export) error { return nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// places reports whether an account works on the site.
func (w *World) places(ctx context.Context, accountID string) (bool, error) {
	if w.Site == nil {
		return false, nil
	}
	here, err := w.Site.Enter(ctx, turn.SiteVisit{Account: accountID})
	return here.Role != turn.NoRole, err
}

// receive lets the platform's updates in until the returned function is called.
func (w *World) receive(ctx context.Context, c Connection) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := c.Run(ctx, w.Router); err != nil && ctx.Err() == nil {
			w.t.Errorf("receiving ended: %v", err)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// Stop ends the running parts in reverse order. Postgres, the provider and the platform stay.
func (w *World) Stop() {
	if w.stopRun == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.stopRun()
	w.stopRun = nil
	if err := w.Router.Stop(ctx); err != nil {
		w.t.Errorf("stop the router: %v", err)
	}
	if err := w.Missions.Stop(ctx); err != nil {
		w.t.Errorf("stop the missions: %v", err)
	}
	if err := w.Runs.Stop(ctx); err != nil {
		w.t.Errorf("stop the runs: %v", err)
	}
}

// Restart is a stop and a start of the program.
func (w *World) Restart() {
	w.t.Helper()
	w.Stop()
	w.Start()
}

// join moves what belongs to an account to the one it becomes.
func (w *World) join(ctx context.Context, tx pgx.Tx, from, into string) error {
	if err := runstore.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := w.Ledger.Merge(ctx, tx, from, into); err != nil {
		return err
	}
	return chatstore.Adopt(ctx, tx, from, into)
}

// LastAccount gives the account made last.
func (w *World) LastAccount() users.Account {
	w.t.Helper()
	list, err := w.People.People(w.t.Context(), users.PeopleQuery{Limit: 1})
	if err != nil || len(list) == 0 {
		w.t.Fatalf("no account: %v", err)
	}
	return list[0].Account
}

// Call waits for the n-th run (from 0) to reach the provider.
func (w *World) Call(n int) registry.Call {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if err := w.Provider.WaitFor(ctx, func() bool { return len(w.Provider.Calls()) > n }); err != nil {
		w.t.Fatalf("run %d did not reach the provider; there are %d", n, len(w.Provider.Calls()))
	}
	return w.Provider.Calls()[n]
}

// Succeed ends a run with these outputs and two seconds of work.
func (w *World) Succeed(c registry.Call, outputs ...registry.Output) {
	w.t.Helper()
	if err := w.Provider.Succeed(handle(c), registry.Usage{RunTime: 2 * time.Second}, outputs...); err != nil {
		w.t.Fatal(err)
	}
}

// Fail ends a run with an error.
func (w *World) Fail(c registry.Call, code registry.Code, message string) {
	w.t.Helper()
	if err := w.Provider.Fail(handle(c), registry.Errorf(code, "%s", message)); err != nil {
		w.t.Fatal(err)
	}
}

// Progress moves a run.
func (w *World) Progress(c registry.Call, p registry.Progress) {
	w.t.Helper()
	if err := w.Provider.Set(handle(c), p); err != nil {
		w.t.Fatal(err)
	}
}

func handle(c registry.Call) string {
	if c.Handle != "" {
		return c.Handle
	}
	return c.RunID
}

// Await waits until one of the bot's messages in a room satisfies want, and gives the newest that does.
func (w *World) Await(in Room, what string, want func(Seen) bool) Seen {
	w.t.Helper()
	var found Seen
	w.until(in, what, func(list []Seen) bool {
		for _, m := range list {
			if want(m) {
				found = m
			}
		}
		return found.ID != ""
	})
	return found
}

// AwaitText waits for a message that contains all of these texts.
func (w *World) AwaitText(in Room, parts ...string) Seen {
	w.t.Helper()
	return w.Await(in, fmt.Sprintf("a message with %q", parts), func(m Seen) bool { return m.contains(parts...) })
}

// AwaitMedia waits for a message with a file and these texts in its caption.
func (w *World) AwaitMedia(in Room, parts ...string) Seen {
	w.t.Helper()
	return w.Await(in, fmt.Sprintf("a file with %q", parts), func(m Seen) bool { return m.Media != nil && m.contains(parts...) })
}

// until waits for a state of a room.
func (w *World) until(in Room, what string, ok func([]Seen) bool) {
	w.t.Helper()
	clocktest.Until(w.t, "there is a "+what, func() bool { return ok(w.Harness.Messages(w.t, in)) }, func() string {
		return "messages are:\n" + render(w.Harness.Messages(w.t, in))
	})
}

// Idle waits until everything that came in has been handled and every run is over and delivered.
func (w *World) Idle() {
	w.t.Helper()
	var open int
	w.taken()
	clocktest.Until(w.t, "all updates and runs are done", func() bool {
		err := w.Pool.QueryRow(w.t.Context(), `
			SELECT (SELECT count(*) FROM chat_updates WHERE handled_at IS NULL)
				+ (SELECT count(*) FROM runs WHERE ended_at IS NULL OR deliverable AND delivered_at IS NULL)`).Scan(&open)
		if err != nil {
			w.t.Fatal(err)
		}
		return open == 0
	}, func() string { return strconv.Itoa(open) + " are not" })
}

// Handled waits until everything that came in has been handled; runs may go on.
func (w *World) Handled() {
	w.t.Helper()
	w.taken()
	var open, all int
	clocktest.Until(w.t, "all updates are handled", func() bool {
		err := w.Pool.QueryRow(w.t.Context(), `SELECT count(*) FILTER (WHERE handled_at IS NULL), count(*) FROM chat_updates`).Scan(&open, &all)
		if err != nil {
			w.t.Fatal(err)
		}
		return open == 0 && all > 0
	}, func() string { return fmt.Sprintf("%d of %d are not", open, all) })
}

// taken waits until the program has stored what people did.
func (w *World) taken() {
	w.t.Helper()
	if h, ok := w.Harness.(Forwarder); ok {
		clocktest.Until(w.t, "all updates are taken", func() bool { return h.Pending() == 0 })
	}
}

// CountRuns counts all runs accepted so far.
func (w *World) CountRuns() int {
	w.t.Helper()
	var n int
	if err := w.Pool.QueryRow(w.t.Context(), `SELECT count(*) FROM runs`).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// LastRun gives the newest run.
func (w *World) LastRun() runs.Run {
	w.t.Helper()
	list, err := w.Runs.List(w.t.Context(), runs.Filter{Limit: 1})
	if err != nil || len(list) == 0 {
		w.t.Fatalf("no run: %v", err)
	}
	return list[0]
}

// render shows messages in a test's log.
func render(list []Seen) string {
	var b bytes.Buffer
	for _, m := range list {
		fmt.Fprintf(&b, "  %s %q", m.ID, m.Text)
		if m.Media != nil {
			fmt.Fprintf(&b, " [%s %s, %d bytes]", m.Media.Kind, m.Media.Name, len(m.Media.Data))
		}
		fmt.Fprintf(&b, " %v\n", m.Buttons)
	}
	return b.String()
}

// Picture makes a PNG of one colour.
func Picture(width, height int, c color.NRGBA) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c.R, c.G, c.B, c.A
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // memory only
	}
	return b.Bytes()
}

// PictureOutput is a red picture as a result.
func PictureOutput(name string) registry.Output {
	info := registry.MediaInfo{Name: name + ".png", MIMEType: "image/png", Width: 16, Height: 16}
	return registrytest.File(name, "image", info, Picture(16, 16, color.NRGBA{R: 200, A: 255}))
}

// Files is a store of files in memory.
type Files struct {
	mu      sync.Mutex
	content map[string]stored
}

type stored struct {
	data []byte
	info registry.MediaInfo
}

var _ runs.Assets = (*Files)(nil)

// Collect has nothing to free.
func (f *Files) Collect(context.Context) error { return nil }

// Keep keeps what r gives.
func (f *Files) Keep(_ context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	info := registry.MediaInfo{Name: meta.Name, Bytes: int64(len(data)), MIMEType: typeOf(meta.Name)}
	if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		info.Width, info.Height = config.Width, config.Height
	}
	sum := sha256.Sum256(data)
	ref := "asset:" + hex.EncodeToString(sum[:])
	f.mu.Lock()
	defer f.mu.Unlock()
	f.content[ref] = stored{data, info}
	return ref, info, nil
}

func typeOf(name string) string {
	switch path.Ext(name) {
	case ".png":
		return "image/png"
	case ".jpg":
		return "image/jpeg"
	case ".mp4":
		return "video/mp4"
	case ".mp3":
		return "audio/mpeg"
	}
	return "application/octet-stream"
}

// OpenMedia gives a file back.
func (f *Files) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.content[ref]
	if !ok {
		return nil, registry.MediaInfo{}, fmt.Errorf("there is no file %s", ref)
	}
	return io.NopCloser(bytes.NewReader(file.data)), file.info, nil
}

// testLog writes the program's log to the test's.
type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(string(bytes.TrimSpace(p)))
	}
	return len(p), nil
}

// meant are words that no tool has, of which only vectors know that they mean the painter.
const meant = "zzyzx qwrt"

func near(_ context.Context, words string) map[string]float64 {
	if words != meant {
		return nil
	}
	return map[string]float64{"painter": 1}
}
