package e2e

import (
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
	"github.com/signalbox/signalbox/test/housetest"
)

// traffic counts what goes to an engine and comes back.
type traffic struct {
	http.RoundTripper
	requests, bytes atomic.Int64
}

func (c *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	c.bytes.Add(max(r.ContentLength, 0))
	res, err := c.RoundTripper.RoundTrip(r)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &counted{res.Body, &c.bytes}
	}
	return res, err
}

type counted struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b *counted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}

// TestFlood is about an account that sends many runs to one engine.
func TestFlood(t *testing.T) {
	t.Parallel()
	engine := comfytest.New(t, comfytest.Options{})
	wire := &traffic{RoundTripper: &http.Transport{MaxIdleConnsPerHost: 8}}
	fleet := comfy.NewFleet([]*url.URL{engine.URL()}, comfy.FleetConfig{HTTPClient: &http.Client{Transport: wire}})
	fleet.Refresh(t.Context())
	store, pool := &runstest.Assets{}, postgrestest.New(t)
	flows := loader.New(loader.Config{Engines: fleet, Store: &registrytest.Specs{}, Rate: "0", Sources: []fs.FS{fstest.MapFS{"paper.json": {Data: []byte(`{
		"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 8, "batch_size": 1, "color": 255}},
		"2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "paper"}}}`)}}}})
	tools, err := catalog.New(catalog.Config{Loaders: []registry.Loader{flows}})
	if err == nil {
		_, err = tools.Reload(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	ledger := billing.NewLedger(pool)
	service := housetest.Runs(t, runs.Config{
		Pool: pool, Registry: tools, Ledger: ledger, Assets: store,
		Providers: map[string]runs.Provider{loader.Service: {Submitter: comfy.NewProvider(comfy.ProviderConfig{Fleet: fleet, Workflows: flows, ReconcileEvery: time.Hour})}},
	})
	account := func() string {
		id := uuid.NewString()
		if err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return ledger.EnsureWallet(t.Context(), tx, id) }); err != nil {
			t.Fatal(err)
		}
		return id
	}
	var color atomic.Int64 // another one each time, since an engine remembers its results
	accept := func(account string) runs.Run {
		run, err := service.Accept(t.Context(), runs.Request{AccountID: account, ToolID: "paper", Origin: runs.Origin{Platform: "api"},
			Values: map[runs.Source]map[string]any{runs.FromArgument: {"color": strconv.FormatInt(color.Add(1), 10)}}})
		if err != nil {
			t.Error(err)
		}
		return run
	}
	end := func(run runs.Run) {
		states, cancel := service.Subscribe(run.ID)
		defer cancel()
		var last runs.Run
		for last = range states {
		}
		if last.Status != runs.StatusSucceeded {
			t.Errorf("run %s ended as %s: %v", run.ID, last.Status, last.Error)
		}
	}
	// measure gives the requests and the bytes of a run.
	measure := func(count int, work func()) (requests, bytes float64) {
		requests, bytes = float64(wire.requests.Load()), float64(wire.bytes.Load())
		work()
		return (float64(wire.requests.Load()) - requests) / float64(count), (float64(wire.bytes.Load()) - bytes) / float64(count)
	}

	const single, many = 10, 60
	greedy, other := account(), account()
	end(accept(greedy))
	oneRequests, oneBytes := measure(single, func() {
		for range single {
			end(accept(greedy))
		}
	})
	var last runs.Run
	floodRequests, floodBytes := measure(many+1, func() {
		gate := engine.Hold("EmptyImage")
		flood := make([]runs.Run, many)
		var all sync.WaitGroup
		for i := range flood {
			all.Go(func() { flood[i] = accept(greedy) })
		}
		all.Wait()
		first := gate.Next()
		last = accept(other)
		states, cancel := service.Subscribe(last.ID)
		first.Release()
		second := gate.Next()
		for state := range states {
			if state.Status == runs.StatusSubmitted {
				break
			}
		}
		cancel()
		second.Release()
		if third := gate.Next(); third.PromptID != last.ID {
			t.Error("two runs have ended since the other account's came, and it does not run")
		}
		gate.Open()
		for _, run := range append(flood, last) {
			end(run)
		}
	})
	t.Logf("a run: %.1f requests and %.0f bytes alone, %.1f and %.0f among many", oneRequests, oneBytes, floodRequests, floodBytes)
	if floodRequests > 1.5*oneRequests || floodBytes > 1.5*oneBytes {
		t.Errorf("a run costs %.1f requests and %.0f bytes alone, and %.1f and %.0f among many", oneRequests, oneBytes, floodRequests, floodBytes)
	}
}
