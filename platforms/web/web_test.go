package web_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/agent/questions"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/workflows/workflowstest"
)

// house is a whole Signalbox behind a web server: real database, real engine, bundled workflows.
type house struct {
	t        *testing.T
	url      string
	reg      *catalog.Registry
	runs     *runner.Service
	users    *users.Store
	ledger   *billing.Ledger
	web      *web.Server
	shares   *pages.Shares
	missions *missions.Service     // nil: not started, see withMissions
	fakes    *registrytest.Loader  // tools of the service fake, none at first
	fake     *registrytest.Service // what they do
	asking   *registrytest.Asking  // the service asking, which asks in the midst of its calls
	pool     *pgxpool.Pool
	assets   *assets.Store
	exports  *exports.Service // not started
	reports  *moderation.Service

	public   bool
	visitors atomic.Int32
}

const adminToken = "operator-token-of-the-tests"

type option func(*web.Config)

func public(t *testing.T, address string) option {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *web.Config) { c.Public = u }
}

func newHouse(t *testing.T, options ...option) *house {
	t.Helper()
	pool := postgrestest.New(t)
	h := &house{t: t, ledger: billing.NewLedger(pool), shares: pages.NewShares(pool), fakes: registrytest.NewLoader("fake"), fake: registrytest.NewService("fake"), asking: &registrytest.Asking{}}
	h.pool = pool
	h.users = users.New(pool, users.Config{OnCreate: housetest.Welcome(h.ledger, billing.Dollar)})
	store := mediaStore{housetest.NewFiles(t, pool), outbound.NewClient([]string{allowedHost})}
	h.assets = store.Store

	fleet := comfy.NewFleet([]*url.URL{startEngine(t)}, comfy.FleetConfig{})
	fleet.Refresh(t.Context())
	flows := loader.New(loader.Config{Sources: []fs.FS{workflowstest.Small(t)}, Engines: fleet, Store: history.NewSpecs(pool, store), Rate: "0.000337"})
	kept := missions.NewChains(pool, func() *missions.Service { return h.missions })
	var err error
	if h.reg, err = catalog.New(catalog.Config{Loaders: []registry.Loader{flows, h.fakes, kept}, Former: map[string]string{"cms_listPages": "getPage with all"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.runs = housetest.Runs(t, runs.Config{
		Pool: pool, Registry: h.reg, Ledger: h.ledger, Users: h.users, Limits: h.users, Assets: store,
		Providers: map[string]runs.Provider{loader.Service: {Submitter: comfy.NewProvider(comfy.ProviderConfig{Fleet: fleet, Workflows: flows})}, "fake": {Submitter: h.fake}, "asking": {Caller: h.asking}, missions.ChainService: {Submitter: kept}},
	})
	h.exports, err = exports.New(exports.Config{Pool: pool, Files: h.assets, Parts: []archive.Part{users.Export}, Poll: 5 * time.Millisecond, Tell: func(context.Context, exports.Export) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	h.reports, err = moderation.New(moderation.Config{
		Pool: pool, People: h.users, Runs: h.runs, Unshare: pages.Unshare,
		Rule:     func() moderation.Rule { return moderation.Rule{Strikes: 3, Within: time.Hour, Mute: time.Hour} },
		Withdraw: func(context.Context, runs.Run, moderation.Place) error { return nil },
		Tell:     func(context.Context, moderation.Notice) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	h.serve(options...)
	return h
}

func (h *house) serve(options ...option) {
	cfg := web.Config{
		Registry: h.reg, Runs: h.runs, Users: h.users, Ledger: h.ledger, AdminToken: adminToken, Shares: h.shares, Gallery: gallery.New(h.pool), Questions: questions.New(questions.Config{Pool: h.pool, Ledger: h.ledger}), Invitations: users.NewInvitations(h.users, h.gift),
		LinkKey: []byte("a key for the tests that is long"), Version: "test", Exports: h.exports,
		Changes: func(context.Context) ([]history.Change, error) { return nil, nil },
		Logger:  slog.New(slog.NewTextHandler(h.t.Output(), nil)),
	}
	if h.reports != nil {
		cfg.Reports = h.reports
	}
	cfg.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} // see visitor
	for _, o := range options {
		o(&cfg)
	}
	h.public = cfg.Public != nil
	var err error
	if h.web, err = web.New(cfg); err != nil {
		h.t.Fatal(err)
	}
	server := httptest.NewServer(h.web.Handler())
	h.t.Cleanup(server.Close)
	h.url = server.URL
}

// gift grants the credit of an invitation.
func (h *house) gift(ctx context.Context, tx pgx.Tx, accountID string, nanoUSD int64, key string) error {
	return h.ledger.Grant(ctx, tx, accountID, billing.NanoUSD(nanoUSD), key, "invitation")
}

// allowedHost is the one inner address that may be fetched from.
const allowedHost = "127.0.0.2"

// mediaStore has files of the house, and fetches addresses as well.
type mediaStore struct {
	housetest.Files
	client *http.Client
}

func (m mediaStore) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	if strings.HasPrefix(ref, "http") {
		content, header, err := outbound.Get(ctx, m.client, ref, 1<<20)
		return content, registry.MediaInfo{MIMEType: header.Get("Content-Type")}, err
	}
	return m.Files.OpenMedia(ctx, ref)
}

func startEngine(t *testing.T) *url.URL {
	t.Helper()
	engine, err := cpu.New(cpu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(engine)
	t.Cleanup(func() {
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// client is somebody who uses the API.
type client struct {
	t    *testing.T
	base string
	key  string
	http *http.Client

	address string
}

// secureJar sends the cookies that are for https only, as a browser in front of a proxy does.
type secureJar struct{ http.CookieJar }

func (j secureJar) Cookies(u *url.URL) []*http.Cookie { return j.CookieJar.Cookies(secured(u)) }

func (j secureJar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.CookieJar.SetCookies(secured(u), cookies)
}

func secured(u *url.URL) *url.URL {
	u = u.JoinPath()
	u.Scheme = "https"
	return u
}

func (h *house) visitor() *client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	address := ""
	if h.public { // behind a proxy, which tells where visitors are
		address = fmt.Sprintf("198.51.100.%d", h.visitors.Add(1))
	}
	return &client{t: h.t, base: h.url, address: address, http: &http.Client{Jar: secureJar{jar}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// developer is a client with an API key, made by the operator.
func (h *house) developer(name string) *client {
	operator := h.visitor()
	operator.key = adminToken
	var answer struct{ Key string }
	if status := operator.call("POST", "/api/keys", fmt.Sprintf(`{"name":%q}`, name), &answer); status != http.StatusCreated {
		h.t.Fatalf("POST /api/keys: %d", status)
	}
	c := h.visitor()
	c.key = answer.Key
	return c
}

func (c *client) do(method, path, contentType string, body io.Reader, header ...string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.address != "" {
		req.Header.Set("X-Forwarded-For", c.address)
	}
	if method != "GET" && c.key == "" {
		req.Header.Set("X-CSRF-Token", c.token(header...))
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { res.Body.Close() })
	return res
}

// token is the token against forged requests, as the pages carry it.
func (c *client) token(header ...string) string {
	c.t.Helper()
	page := readAll(c.t, c.do("GET", "/signin", "", nil, header...).Body)
	_, rest, _ := strings.Cut(page, `name="csrf-token" content="`)
	token, _, _ := strings.Cut(rest, `"`)
	return token
}

func (c *client) call(method, path, body string, answer any, header ...string) int {
	c.t.Helper()
	res := c.do(method, path, "application/json", strings.NewReader(body), header...)
	data, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if answer != nil {
		if err := json.Unmarshal(data, answer); err != nil {
			c.t.Fatalf("%s %s answered %s: %v", method, path, data, err)
		}
	}
	return res.StatusCode
}

type apiRun struct {
	RunID, ToolID, Status string
	Inputs                map[string]json.RawMessage
	Outputs               []struct {
		Name, Type, MimeType, URL string
		Width, Height             int
	}
	QuoteNanoUsd struct{ Low, High int64 }
	CostNanoUsd  int64
	Receipt      *struct{ Rate, Unit, Units, Source string }
	Error        *struct{ Code, Message string }
}

// finished waits over the event stream until the run is over.
func (c *client) finished(runID string) apiRun {
	c.t.Helper()
	res := c.do("GET", "/api/runs/"+runID+"/events", "", nil)
	if res.StatusCode != http.StatusOK {
		c.t.Fatalf("events: %d", res.StatusCode)
	}
	data, err := io.ReadAll(res.Body) // the stream ends with the run
	if err != nil {
		c.t.Fatal(err)
	}
	events := strings.Split(strings.TrimSpace(string(data)), "\n\n")
	_, last, ok := strings.Cut(events[len(events)-1], "data: ")
	var run apiRun
	if !ok || json.Unmarshal([]byte(last), &run) != nil {
		c.t.Fatalf("the stream ended with %q", events[len(events)-1])
	}
	return run
}

func photo(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 64, 48))
	for y := range 48 {
		for x := range 64 {
			img.Set(x, y, color.RGBA{R: uint8(4 * x), G: uint8(5 * y), B: 90, A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("ann")

	t.Run("A9 A30 a run over the API is priced before, charged after, and delivers", func(t *testing.T) {
		var run apiRun
		if status := dev.call("POST", "/api/run/wallpaper", `{"inputs":{"width":96,"height":64,"seed":18446744073709551615}}`, &run); status != http.StatusAccepted {
			t.Fatalf("status %d: %+v", status, run.Error)
		}
		if run.QuoteNanoUsd.High <= 0 {
			t.Errorf("quote %+v", run.QuoteNanoUsd)
		}
		run = dev.finished(run.RunID)
		if run.Status != "succeeded" || len(run.Outputs) != 1 || run.Outputs[0].Width != 96 || run.Outputs[0].MimeType != "image/png" {
			t.Fatalf("run: %+v", run)
		}
		if string(run.Inputs["seed"]) != "18446744073709551615" {
			t.Errorf("the seed came back as %s", run.Inputs["seed"])
		}
		if run.CostNanoUsd <= 0 || run.CostNanoUsd > run.QuoteNanoUsd.High || run.Receipt == nil || run.Receipt.Rate != "0.000337" || run.Receipt.Unit != "second" {
			t.Errorf("cost %d, quote %+v, receipt %+v", run.CostNanoUsd, run.QuoteNanoUsd, run.Receipt)
		}
		var balance struct{ BalanceNanoUsd, HeldNanoUsd int64 }
		dev.call("GET", "/api/balance", "", &balance)
		if balance.BalanceNanoUsd != int64(billing.Dollar)-run.CostNanoUsd || balance.HeldNanoUsd != 0 {
			t.Errorf("balance %+v after a cost of %d", balance, run.CostNanoUsd)
		}
		res, err := http.Get(run.Outputs[0].URL) // no key: the address itself is the permission
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := png.Decode(res.Body); err != nil {
			t.Errorf("result: %v", err)
		}
	})

	t.Run("the same Idempotency-Key is the same run", func(t *testing.T) {
		var first, second apiRun
		dev.call("POST", "/api/run/wallpaper", `{"inputs":{"width":64,"height":64}}`, &first, "Idempotency-Key", "k1")
		dev.call("POST", "/api/run/wallpaper", `{"inputs":{"width":64,"height":64}}`, &second, "Idempotency-Key", "k1")
		if first.RunID == "" || first.RunID != second.RunID {
			t.Errorf("runs %q and %q", first.RunID, second.RunID)
		}
		var problem struct {
			Code     string
			Envelope runs.Envelope
		}
		for path, body := range map[string]string{"/api/run/wallpaper": `{"inputs":{"width":96,"height":64}}`, "/api/run/poster": `{"inputs":{"image":"` + dataURI(photo(t)) + `"}}`} {
			if status := dev.call("POST", path, body, &problem, "Idempotency-Key", "k1"); status != http.StatusUnprocessableEntity || problem.Code != "idempotency_key_reused" ||
				problem.Envelope.Error == nil || problem.Envelope.Error.Code != runs.InvalidToolInput || !strings.Contains(problem.Envelope.Error.Message, "used for another request") {
				t.Errorf("%s with the key of another request: %d %+v", path, status, problem)
			}
		}
	})

	t.Run("A81 a repeat finds its run when the tool is unavailable or gone by now", func(t *testing.T) {
		tool := registry.Tool{ToolID: "brief", Service: "fake", DisplayName: "Brief", InputSchema: registry.InputSchema{{Name: "n", Type: registry.TypeNumber}}}
		publish := func(tools ...registry.Tool) {
			h.fakes.Set(tools...)
			if _, err := h.reg.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		publish(tool)
		var first apiRun
		dev.call("POST", "/api/run/brief", `{}`, &first, "Idempotency-Key", "brief")
		away := tool
		away.Status = &registry.Status{State: registry.StateUnavailable, Reason: "its engine is away"}
		for name, tools := range map[string][]registry.Tool{"unavailable": {away}, "gone": {}} {
			publish(tools...)
			var again apiRun
			if status := dev.call("POST", "/api/run/brief", `{}`, &again, "Idempotency-Key", "brief"); status >= 300 || again.RunID != first.RunID || again.RunID == "" {
				t.Errorf("%s: %d, run %q instead of %q", name, status, again.RunID, first.RunID)
			}
			var problem struct{ Code string }
			if status := dev.call("POST", "/api/run/brief", `{"inputs":{"n":2}}`, &problem, "Idempotency-Key", "brief"); status != http.StatusUnprocessableEntity || problem.Code != "idempotency_key_reused" {
				t.Errorf("%s: another request with the key: %d %q", name, status, problem.Code)
			}
			for path, key := range map[string]string{"/api/run/brief": "other", "/api/run/nothing": "brief"} {
				if status := dev.call("POST", path, `{}`, nil, "Idempotency-Key", key); status < 400 {
					t.Errorf("%s: %s with the key %s: %d", name, path, key, status)
				}
			}
		}
	})
	t.Run("JSON is understood where the client calls it a form, garbage after it is not", func(t *testing.T) {
		var run apiRun
		res := dev.do("POST", "/api/run/wallpaper", "application/x-www-form-urlencoded", strings.NewReader(`{"inputs":{"width":64,"height":64}}`))
		if err := json.NewDecoder(res.Body).Decode(&run); err != nil || res.StatusCode != http.StatusAccepted || string(run.Inputs["width"]) != "64" {
			t.Errorf("%d %v %+v", res.StatusCode, err, run)
		}
		if status := dev.call("POST", "/api/run/wallpaper", `{"inputs":{}} {"inputs":{}}`, nil); status != http.StatusUnprocessableEntity {
			t.Errorf("two bodies: %d", status)
		}
	})

	t.Run("lists are filtered by words that exist", func(t *testing.T) {
		for query, want := range map[string]int{"status=succeeded": 200, "status=done": 422, "before=yesterday": 422, "limit=0": 422, "limit=1": 200} {
			if status := dev.call("GET", "/api/runs?"+query, "", nil); status != want {
				t.Errorf("%s: %d", query, status)
			}
		}
	})

	t.Run("A18 a file of another type is refused before anything is sent", func(t *testing.T) {
		for _, file := range []string{"data:text/plain,hello", "data:image/png;base64,", "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="} {
			var problem struct{ Field, Detail string }
			if status := dev.call("POST", "/api/run/poster", `{"inputs":{"image":"`+file+`"}}`, &problem); status != http.StatusUnprocessableEntity || problem.Field != "image" {
				t.Errorf("%.20s: %d %+v", file, status, problem)
			}
		}
		if res := dev.do("POST", "/api/uploads", "image/png", http.NoBody); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("an empty upload: %d", res.StatusCode)
		}
	})

	t.Run("inputs may be one JSON part beside the files", func(t *testing.T) {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("image", "photo.png")
		if err != nil {
			t.Fatal(err)
		}
		part.Write(photo(t))
		w.WriteField("inputs", `{"brightness": 1.2}`)
		w.Close()
		res := dev.do("POST", "/api/run/beforeafter", w.FormDataContentType(), &form)
		var run apiRun
		if err := json.NewDecoder(res.Body).Decode(&run); err != nil || res.StatusCode != http.StatusAccepted || string(run.Inputs["brightness"]) != "1.2" {
			t.Errorf("%d %v %+v", res.StatusCode, err, run)
		}
	})

	t.Run("B87 /llms.txt lists what is documented, and the tools", func(t *testing.T) {
		index := readAll(t, h.visitor().do("GET", "/llms.txt", "", nil).Body)
		for _, part := range []string{"# Signalbox\n", "/openapi.json)", "/developers)"} {
			if !strings.Contains(index, part) {
				t.Errorf("%q is missing in %s", part, index)
			}
		}
		for _, tool := range h.reg.Snapshot().Offered(registry.Everyone) {
			if !strings.Contains(index, "- ["+tool.DisplayName+"](") {
				t.Errorf("%s is not listed in %s", tool.ToolID, index)
			}
		}
	})
	t.Run("A48 the routes are the registry's apiPaths, and the document lists them", func(t *testing.T) {
		var doc struct{ Paths map[string]any }
		dev.call("GET", "/openapi.json", "", &doc)
		for _, tool := range h.reg.Snapshot().Public() {
			if doc.Paths[tool.RunPath()] == nil {
				t.Errorf("%s is not in the document", tool.RunPath())
			}
			if status := dev.call("POST", tool.RunPath(), `{"inputs":{"no-such-input":1}}`, nil); status == http.StatusNotFound {
				t.Errorf("%s is not routed", tool.RunPath())
			}
		}
		if status := dev.call("POST", "/api/run/no-such-tool", `{}`, nil); status != http.StatusNotFound {
			t.Errorf("an unknown path answered %d", status)
		}
	})

	t.Run("A18 a value that is given twice is refused, since one of the two would be lost", func(t *testing.T) {
		for _, body := range []string{`{"inputs":{"colors":3,"colors":4}}`, `{"inputs":{"colors":3},"inputs":{}}`} {
			var problem struct{ Detail string }
			if status := dev.call("POST", "/api/run/wallpaper", body, &problem); status != http.StatusUnprocessableEntity || !strings.Contains(problem.Detail, "appears twice") {
				t.Errorf("%s: %d %q", body, status, problem.Detail)
			}
		}
	})
	t.Run("A81 an internal tool is to others as one that does not exist, however it is asked for", func(t *testing.T) {
		tool := registry.Tool{ToolID: "inner", Service: "fake", DisplayName: "Inner", InputSchema: registry.InputSchema{}, Listing: registry.Listing{Visibility: registry.VisibilityInternal}}
		h.fakes.Set(tool)
		if _, err := h.reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, call := range [][2]string{{"POST", "/api/run/"}, {"POST", "/api/quote/"}, {"GET", "/api/tools/"}} {
			var inner, nothing struct{ Status, Code, Detail any }
			dev.call(call[0], call[1]+"inner", `{}`, &inner)
			dev.call(call[0], call[1]+"nothing", `{}`, &nothing)
			if inner != nothing || inner.Code != "unknown_tool" {
				t.Errorf("%s: %v, and %v for a tool that does not exist", call[1], inner, nothing)
			}
		}
	})
	t.Run("D128 D156 who asks for a name that is no more is told what to use, and nothing runs", func(t *testing.T) {
		for _, call := range [][2]string{{"POST", "/api/run/"}, {"POST", "/api/quote/"}, {"GET", "/api/tools/"}} {
			var told struct{ Code, Detail string }
			if status := dev.call(call[0], call[1]+"cms_listPages", `{}`, &told); status != http.StatusNotFound || told.Code != "unknown_tool" || !strings.Contains(told.Detail, "Use getPage with all.") {
				t.Errorf("%s: %d %+v", call[1], status, told)
			}
		}
	})
	t.Run("who asks for a command in place of an id is told the id", func(t *testing.T) {
		tool := registry.Tool{ToolID: "cut-pieces", Service: "fake", DisplayName: "Cut", CommandName: "/pieces", InputSchema: registry.InputSchema{}}
		h.fakes.Set(tool)
		if _, err := h.reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		var told struct{ Code, Detail string }
		if status := dev.call("POST", "/api/run/pieces", `{}`, &told); status != http.StatusNotFound || told.Code != "unknown_tool" || !strings.Contains(told.Detail, "Use cut-pieces.") {
			t.Errorf("%d %+v", status, told)
		}
		if status := dev.call("POST", "/api/run/peices", `{}`, &told); status != http.StatusNotFound || !strings.Contains(told.Detail, "did you mean cut-pieces?") {
			t.Errorf("%d %+v", status, told)
		}
	})
	t.Run("A9 A90 a tool is run by its path in any escaping, and by an id it once had", func(t *testing.T) {
		tool := registry.Tool{ToolID: "名前/1", Service: "fake", DisplayName: "Name", InputSchema: registry.InputSchema{}, Listing: registry.Listing{Aliases: []string{"oldname"}}}
		h.fakes.Set(tool)
		if _, err := h.reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{tool.RunPath(), "/api/run/oldname"} {
			var run struct{ ToolID string }
			if status := dev.call("POST", path, `{}`, &run); status >= 300 || run.ToolID != tool.ToolID {
				t.Errorf("%s: %d, ran %q", path, status, run.ToolID)
			}
		}
	})

	t.Run("A18 A19 bad and missing inputs are named before anything is sent or charged", func(t *testing.T) {
		var problem struct {
			Code, Field, Detail string
			Missing             []string
		}
		if status := dev.call("POST", "/api/run/wallpaper", `{"inputs":{"colors":"many"}}`, &problem); status != http.StatusUnprocessableEntity || problem.Field != "colors" {
			t.Errorf("%d %+v", status, problem)
		}
		if status := dev.call("POST", "/api/run/poster", `{"inputs":{}}`, &problem); status != http.StatusUnprocessableEntity || len(problem.Missing) != 1 || problem.Missing[0] != "image" {
			t.Errorf("%d %+v", status, problem)
		}
	})

	t.Run("A80 an unavailable tool is refused with its reason", func(t *testing.T) {
		var problem struct{ Code, Detail string }
		if status := dev.call("POST", "/api/run/fluxgeneral", `{"inputs":{"prompt":"a red bicycle"}}`, &problem); status != http.StatusServiceUnavailable || !strings.Contains(problem.Detail, "KSampler") {
			t.Errorf("%d %+v", status, problem)
		}
	})

	t.Run("A74 a program that knows no tool lists them, chooses by description and runs each by its schema", func(t *testing.T) {
		var list struct {
			Tools []struct {
				ToolID, Description, APIPath string
				Status                       *struct{ State string }
				InputSchema                  map[string]struct {
					Type     string
					Required bool
				}
			}
		}
		dev.call("GET", "/api/tools", "", &list)
		chosen := 0
		for _, tool := range list.Tools {
			if tool.Status != nil || !strings.Contains(strings.ToLower(tool.Description), "photo") {
				continue
			}
			chosen++
			inputs := map[string]string{}
			for name, f := range tool.InputSchema {
				if f.Required && f.Type == "image" {
					inputs[name] = dataURI(photo(t))
				}
			}
			body, err := json.Marshal(map[string]any{"inputs": inputs})
			if err != nil {
				t.Fatal(err)
			}
			var run apiRun
			if status := dev.call("POST", cmp.Or(tool.APIPath, "/api/run/"+tool.ToolID), string(body), &run); status != http.StatusAccepted {
				t.Fatalf("%s: %d", tool.ToolID, status)
			}
			if run = dev.finished(run.RunID); run.Status != "succeeded" || len(run.Outputs) == 0 {
				t.Errorf("%s: %s %+v", tool.ToolID, run.Status, run.Error)
			}
		}
		if chosen < 3 {
			t.Errorf("%d tools say that they work on a photo", chosen)
		}
	})

	t.Run("media come as multipart files, data URIs and uploads", func(t *testing.T) {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("image", "photo.png")
		if err != nil {
			t.Fatal(err)
		}
		part.Write(photo(t))
		w.WriteField("inks", "3")
		w.Close()
		res := dev.do("POST", "/api/run/poster", w.FormDataContentType(), &form)
		var run apiRun
		if err := json.NewDecoder(res.Body).Decode(&run); err != nil || res.StatusCode != http.StatusAccepted {
			t.Fatalf("multipart: %d %v", res.StatusCode, err)
		}
		if run = dev.finished(run.RunID); run.Status != "succeeded" {
			t.Errorf("multipart: %+v", run.Error)
		}
		upload := dev.do("POST", "/api/uploads?name=photo.png", "image/png", bytes.NewReader(photo(t)))
		var stored struct{ Ref string }
		if err := json.NewDecoder(upload.Body).Decode(&stored); err != nil || stored.Ref == "" {
			t.Fatalf("upload: %d %v", upload.StatusCode, err)
		}
		for _, value := range []string{stored.Ref, dataURI(photo(t))} {
			if status := dev.call("POST", "/api/run/beforeafter", fmt.Sprintf(`{"inputs":{"image":%q}}`, value), &run); status != http.StatusAccepted {
				t.Fatalf("%.30s: %d", value, status)
			}
			if run = dev.finished(run.RunID); run.Status != "succeeded" || len(run.Outputs) != 2 {
				t.Errorf("%.30s: %d outputs, %+v", value, len(run.Outputs), run.Error)
			}
		}
	})

	t.Run("A70 A83 the form has a control of its kind for every input, and goes with the tool", func(t *testing.T) {
		v := h.visitor()
		for _, tool := range h.reg.Snapshot().Public() {
			page := readAll(t, v.do("GET", "/tool/"+tool.ToolID, "", nil).Body)
			for _, f := range tool.InputSchema {
				control := formControl(page, f.Name)
				if control == "" {
					t.Errorf("%s: no control for %s", tool.ToolID, f.Name)
				}
				if f.Type == registry.TypeImage && !strings.Contains(control, `accept="image/*"`) {
					t.Errorf("%s.%s: %s takes no picture", tool.ToolID, f.Name, control)
				}
				if f.Required && !strings.Contains(control, " required") {
					t.Errorf("%s.%s: %s may be left out", tool.ToolID, f.Name, control)
				}
				for _, c := range f.Choices {
					if !strings.Contains(page, ` value="`+c.Text()+`"`) {
						t.Errorf("%s.%s does not offer %s", tool.ToolID, f.Name, c.Text())
					}
				}
			}
		}
		if res := v.do("GET", "/tool/no-such-tool", "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("a tool that is not in the registry: %d", res.StatusCode)
		}
	})

	t.Run("the runs of others do not exist", func(t *testing.T) {
		var run apiRun
		dev.call("POST", "/api/run/wallpaper", `{"inputs":{"width":64,"height":64}}`, &run)
		stranger := h.developer("eve")
		for _, call := range [][2]string{{"GET", ""}, {"POST", "/cancel"}, {"GET", "/events"}, {"GET", "/preview"}} {
			if status := stranger.call(call[0], "/api/runs/"+run.RunID+call[1], "", nil); status != http.StatusNotFound {
				t.Errorf("%s %s answered %d", call[0], call[1], status)
			}
		}
	})
}

// formControl is the tag of a form's control with this name.
func formControl(page, name string) string {
	before, after, ok := strings.Cut(page, ` name="`+name+`"`)
	if !ok {
		return ""
	}
	tag, _, _ := strings.Cut(after, ">")
	return before[strings.LastIndex(before, "<"):] + tag
}

func dataURI(picture []byte) string {
	return "data:image/png;base64," + base64Std(picture)
}

// stutter tells of a run whose figure is missing in between.
type stutter struct {
	web.Runs
	run runs.Run
}

func (s stutter) Get(context.Context, string) (runs.Run, error) { return s.run, nil }

func (s stutter) Subscribe(string) (<-chan runs.Run, func()) {
	updates := make(chan runs.Run, 3)
	half, between, end := s.run, s.run, s.run
	half.Fraction, half.ExpectedAt, end.Status = new(0.5), new(time.Now().Add(time.Minute)), runs.StatusSucceeded
	updates <- half
	updates <- between
	updates <- end
	return updates, func() {}
}

func TestEventsKeepTheFigure(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dev := h.developer("ann")
	var run apiRun
	dev.call("POST", "/api/run/wallpaper", `{"inputs":{"width":64,"height":64}}`, &run)
	actual, err := h.runs.Get(t.Context(), run.RunID)
	if err != nil {
		t.Fatal(err)
	}
	actual.Status, actual.Fraction = runs.StatusRunning, nil
	h.serve(func(c *web.Config) { c.Runs = stutter{c.Runs, actual} })
	dev.base = h.url
	var got []string
	for event := range strings.SplitSeq(strings.TrimSpace(readAll(t, dev.do("GET", "/api/runs/"+run.RunID+"/events", "", nil).Body)), "\n\n") {
		var body struct {
			Progress         json.RawMessage
			RemainingSeconds int
		}
		_, data, _ := strings.Cut(event, "data: ")
		if err := json.Unmarshal([]byte(data), &body); err != nil {
			t.Fatal(err)
		}
		got = append(got, string(body.Progress))
		if told := body.RemainingSeconds > 50 && body.RemainingSeconds <= 60; told != (string(body.Progress) == "0.5") {
			t.Errorf("at %s there are %d s left", body.Progress, body.RemainingSeconds)
		}
	}
	if want := "null 0.5 1"; strings.Join(slices.Compact(got), " ") != want { // a second that passes is an event
		t.Errorf("progress %v, want %s", got, want)
	}
}

func TestDoors(t *testing.T) {
	t.Parallel()
	h := newHouse(t)

	t.Run("the API asks for a key or the page's cookie even on loopback", func(t *testing.T) {
		v := h.visitor()
		if status := v.call("GET", "/api/tools", "", nil); status != http.StatusUnauthorized {
			t.Errorf("without: %d", status)
		}
		if res := v.do("GET", "/", "", nil); res.StatusCode != http.StatusOK {
			t.Fatalf("page: %d", res.StatusCode)
		}
		if status := v.call("GET", "/api/tools", "", nil); status != http.StatusOK {
			t.Errorf("with the cookie: %d", status)
		}
		v.key = "wrong"
		if status := v.call("GET", "/api/tools", "", nil); status != http.StatusUnauthorized {
			t.Errorf("with a wrong key: %d", status)
		}
	})

	t.Run("the page makes a key for the API, shown once", func(t *testing.T) {
		v := h.visitor()
		v.do("GET", "/", "", nil)
		page := readAll(t, v.do("POST", "/account/keys", "application/x-www-form-urlencoded", strings.NewReader("")).Body)
		_, rest, ok := strings.Cut(page, `id="key">`)
		key, _, closed := strings.Cut(rest, "<")
		if !ok || !closed {
			t.Fatalf("no key on the page: %s", page)
		}
		script := h.visitor()
		script.key = key
		if status := script.call("GET", "/api/balance", "", nil); status != http.StatusOK {
			t.Errorf("with the key: %d", status)
		}
		if again := readAll(t, v.do("GET", "/account", "", nil).Body); strings.Contains(again, key) {
			t.Error("the key is shown a second time")
		}
	})

	t.Run("a foreign Host is refused", func(t *testing.T) {
		if res := h.visitor().do("GET", "/", "", nil, "Host", "evil.example"); res.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("status %d", res.StatusCode)
		}
	})

	t.Run("a request from another site is refused", func(t *testing.T) {
		v := h.visitor()
		v.do("GET", "/", "", nil)
		res := v.do("POST", "/tool/wallpaper", "application/x-www-form-urlencoded", strings.NewReader("width=64"), "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("status %d", res.StatusCode)
		}
	})

	t.Run("with PUBLIC_URL nobody is signed in by coming from loopback", func(t *testing.T) {
		out := newHouse(t, public(t, "https://art.example"))
		v := out.visitor()
		res := v.do("GET", "/history", "", nil, "Host", "art.example")
		if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/signin?next=%2Fhistory" {
			t.Errorf("status %d to %q", res.StatusCode, res.Header.Get("Location"))
		}
		if front := readAll(t, v.do("GET", "/", "", nil, "Host", "art.example").Body); strings.Contains(front, `id="balance"`) || !strings.Contains(front, `href="/signin"`) {
			t.Error("a stranger is signed in at the front page")
		}
		key := out.developer("ann").key
		res = v.do("POST", "/signin", "application/x-www-form-urlencoded", strings.NewReader(url.Values{"key": {key}}.Encode()), "Host", "art.example")
		if res.StatusCode != http.StatusSeeOther || !strings.Contains(res.Header.Get("Set-Cookie"), "Secure") || !strings.Contains(res.Header.Get("Set-Cookie"), "HttpOnly") {
			t.Errorf("status %d, cookie %q", res.StatusCode, res.Header.Get("Set-Cookie"))
		}
	})

	t.Run("a guessed file address finds nothing", func(t *testing.T) {
		hash := strings.Repeat("ab", 32)
		if res := h.visitor().do("GET", "/files/"+strings.Repeat("0", 32)+"/"+hash+"/x.png", "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", res.StatusCode)
		}
	})

	t.Run("keys are made with the operator's token only", func(t *testing.T) {
		v := h.visitor()
		for _, key := range []string{"", "wrong", adminToken + "x"} {
			v.key = key
			if status := v.call("POST", "/api/keys", `{}`, nil); status != http.StatusUnauthorized {
				t.Errorf("with %q: %d", key, status)
			}
		}
	})

	t.Run("healthz, readyz and security headers", func(t *testing.T) {
		v := h.visitor()
		for _, path := range []string{"/healthz", "/readyz"} {
			if res := v.do("GET", path, "", nil, "Host", "10.1.2.3:8080"); res.StatusCode != http.StatusOK {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		}
		res := v.do("GET", "/", "", nil)
		if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe-inline") {
			t.Errorf("CSP %q", csp)
		}
	})
}
