package lifetest

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/providers/imagegen"
	"github.com/signalbox/signalbox/providers/imagegen/imagegentest"
	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/providers/remote/remotetest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// caller is a service that answers at once, with its simulator.
type caller struct {
	*house
	server *upstreamtest.Server
	calls  func() int // that were carried out
	inputs map[string]any
	large  int // bytes of an answer that is not read
	price  billing.NanoUSD
	lost   registry.Code // of a call of which nobody knows what became of it
}

func newPictures(t *testing.T) *caller {
	t.Helper()
	server := imagegentest.New(t)
	c := &caller{server: server.Server, calls: func() int { return len(server.Calls()) }, inputs: map[string]any{"prompt": "a cat", "quality": "draft"}, large: 64 << 20, price: 10_890_000, lost: registry.CodeLost}
	c.house = newHouse(t, never, func(func() time.Time, *runstest.Assets) service {
		p, err := imagegen.New(imagegen.Config{OpenAIKey: imagegentest.OpenAIKey, OpenAIURL: server.URL + "/v1"})
		if err != nil {
			t.Fatal(err)
		}
		return service{imagegen.Service, p, runs.Provider{Caller: p}}
	})
	return c
}

func newRemote(t *testing.T) *caller {
	t.Helper()
	return newRemoteWithin(t, 20_000)
}

// newRemoteWithin is a remote tool that has so many milliseconds.
func newRemoteWithin(t *testing.T, timeoutMs int) *caller {
	t.Helper()
	server, file := remotetest.New(t), filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, []byte(server.Manifest(timeoutMs)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &caller{server: server.Server, calls: func() int { return len(server.Calls()) }, inputs: map[string]any{"sku": "CH-100"}, large: 8 << 20, price: billing.Dollar * 2 / 100, lost: registry.CodeUnavailable}
	c.house = newHouse(t, never, func(now func() time.Time, assets *runstest.Assets) service {
		p := remote.New(remote.Config{File: file, Store: &registrytest.Specs{}, Guard: guard(), SiteID: "bot.example", Now: now})
		return service{remote.Service, p, runs.Provider{Caller: p}}
	})
	return c
}

// TestCalls has the services that answer at once do so in each of the ways in which an answer can go wrong.
func TestCalls(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *caller{"imagegen": newPictures, "remote": newRemote} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t)
			for name, way := range map[string]struct {
				fault upstreamtest.Fault
				code  registry.Code // empty: it succeeds
				calls int
			}{
				"as it should":          {fault: upstreamtest.Hold(func() {}), calls: 1},
				"with much white space": {fault: upstreamtest.Spaced, calls: 1},
				"with unknown fields":   {fault: upstreamtest.Chatty, calls: 1},
				"that leads elsewhere":  {fault: upstreamtest.Redirect("http://127.0.0.1:1/"), code: registry.CodeProvider},
				"larger than is read":   {fault: upstreamtest.Huge(c.large), code: registry.CodeProvider, calls: 1},
				"cut in half":           {fault: upstreamtest.Truncate, code: c.lost, calls: 1},
				"lost":                  {fault: upstreamtest.LoseAnswer, code: c.lost, calls: 1},
				"without any output":    {fault: upstreamtest.Answer(http.StatusOK, map[string]any{"data": []any{}}), code: registry.CodeBadOutput},
			} {
				t.Run("an answer "+name, func(t *testing.T) {
					before := c.calls()
					c.server.Fail(way.fault)
					run := c.accept(t, c.inputs)
					price := c.price
					if way.code != "" {
						price = 0
					}
					c.ends(t, run, way.code, price)
					if made := c.calls() - before; made != way.calls {
						t.Errorf("%d calls were carried out", made)
					}
				})
			}
			balanced(t, c.house)
		})
	}
}

// TestCallsOfTheirOwn are ways that one service alone has.
func TestCallsOfTheirOwn(t *testing.T) {
	t.Parallel()
	t.Run("A27 a picture whose tokens are not told costs what its size and quality usually do", func(t *testing.T) {
		t.Parallel()
		c := newPictures(t)
		c.server.Fail(upstreamtest.Answer(http.StatusOK, map[string]any{"data": []any{map[string]any{"b64_json": imagegentest.Picture(64, 64, "png")}}}))
		c.ends(t, c.accept(t, c.inputs), "", 10_905_000) // five tokens of text are taken for the two there are
	})
	t.Run("a file that a remote tool names and that has expired costs nothing", func(t *testing.T) {
		t.Parallel()
		c := newRemote(t)
		c.ends(t, c.accept(t, map[string]any{"sku": "expired"}), registry.CodeProvider, 0)
	})
	for _, wait := range []time.Duration{11 * time.Second, 16 * time.Second, 31 * time.Second} {
		t.Run("a picture that takes "+wait.String()+" is waited for", func(t *testing.T) {
			t.Parallel()
			server := imagegentest.New(t)
			synctest.Test(t, func(t *testing.T) {
				p, err := imagegen.New(imagegen.Config{OpenAIKey: imagegentest.OpenAIKey, OpenAIURL: server.URL + "/v1", HTTP: server.Direct()})
				if err != nil {
					t.Fatal(err)
				}
				tools, err := p.Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				server.Fail(upstreamtest.Late(wait))
				began := time.Now()
				result, err := p.Call(t.Context(), registry.Call{RunID: "run-1", Tool: tools[0], Inputs: bound(tools[0], map[string]any{"prompt": "a cat", "quality": "draft"})})
				if took := time.Since(began); err != nil || took != wait || len(result.Outputs) != 1 || len(server.Calls()) != 1 {
					t.Errorf("after %s: %+v, %v", took, result, err)
				}
			})
		})
	}
	t.Run("a remote tool that takes longer than its manifest allows has failed, and costs nothing", func(t *testing.T) {
		t.Parallel()
		c := newRemoteWithin(t, 250)
		c.server.Fail(upstreamtest.Late(31 * time.Second))
		c.ends(t, c.accept(t, c.inputs), registry.CodeTimeout, 0)
		if c.calls() != 0 {
			t.Error("it was carried out")
		}
	})
}
