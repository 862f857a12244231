package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

func TestReload(t *testing.T) {
	t.Parallel()
	t.Run("A40 with one service down the others load and the failure is visible", func(t *testing.T) {
		t.Parallel()
		down := loaderFunc{"vidu", func(context.Context) ([]registry.Tool, error) { return nil, errors.New("connection refused") }}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("files", simple("a")), down}})
		_, err := r.Reload(t.Context())
		wantContains(t, err, "loader vidu", "connection refused")
		if _, ok := r.Snapshot().ByID("a"); !ok {
			t.Error("the healthy loader's tool is missing")
		}
		status := r.Status()
		if status[0].LastError != "" || status[0].Tools != 1 || status[1].LastError != "connection refused" || status[1].LastErrorAt.IsZero() || !status[1].LastOK.IsZero() {
			t.Errorf("status: %+v", status)
		}
	})
	t.Run("A40 a failing loader keeps its last good set with the reason", func(t *testing.T) {
		t.Parallel()
		var fail atomic.Bool
		shaky := loaderFunc{"shaky", func(context.Context) ([]registry.Tool, error) {
			if fail.Load() {
				return nil, errors.New("quota")
			}
			return []registry.Tool{simple("a")}, nil
		}}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{shaky}})
		mustReload(t, r)
		fail.Store(true)
		if diff, err := r.Reload(t.Context()); err == nil || !diff.Empty() {
			t.Errorf("got %v, %v", diff, err)
		}
		if s := r.Status()[0]; r.Snapshot().Len() != 1 || !s.KeptOld || s.LastError != "quota" || s.LastOK.IsZero() {
			t.Errorf("status: %+v", s)
		}
		fail.Store(false)
		mustReload(t, r)
		if s := r.Status()[0]; s.KeptOld || s.LastError != "" {
			t.Errorf("status after recovery: %+v", s)
		}
	})
	t.Run("A40 a panic in a loader is its error", func(t *testing.T) {
		t.Parallel()
		bad := loaderFunc{"bad", func(context.Context) ([]registry.Tool, error) { panic("nil map") }}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{bad, fixed("good", simple("a"))}})
		_, err := r.Reload(t.Context())
		wantContains(t, err, "loader bad", "panic: nil map")
		if r.Snapshot().Len() != 1 {
			t.Error("the other loader suffered")
		}
	})
	t.Run("A40 a loader that hangs holds nobody up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			hung := loaderFunc{"hung", func(context.Context) ([]registry.Tool, error) { <-release; return nil, nil }}
			r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{hung, fixed("good", simple("a"))}, LoadTimeout: time.Second})
			_, err := r.Reload(t.Context())
			wantContains(t, err, "loader hung", "no answer within 1s")
			if r.Snapshot().Len() != 1 {
				t.Error("the other loader suffered")
			}
			_, err = r.Reload(t.Context())
			wantContains(t, err, "still running")
			close(release)
			synctest.Wait()
			mustReload(t, r)
		})
	})
	t.Run("A40 loaders work at the same time, within the bound", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var loaders []registry.Loader
			for i := range 6 {
				loaders = append(loaders, loaderFunc{fmt.Sprint("l", i), func(context.Context) ([]registry.Tool, error) {
					time.Sleep(time.Second) // in the bubble's time
					return nil, nil
				}})
			}
			r := newRegistry(t, catalog.Config{Loaders: loaders, Parallel: 3})
			start := time.Now()
			mustReload(t, r)
			if took := time.Since(start); took != 2*time.Second {
				t.Errorf("took %s, want 2s", took)
			}
		})
	})
	t.Run("a refused definition keeps its last good one and is named", func(t *testing.T) {
		t.Parallel()
		tool := simple("a")
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{loaderFunc{"files", func(context.Context) ([]registry.Tool, error) {
			return []registry.Tool{tool, simple("b")}, nil
		}}}})
		mustReload(t, r)
		tool.CommandName = "no slash"
		tool.DisplayName = "Changed"
		_, err := r.Reload(t.Context())
		wantContains(t, err, "loader files", `tool "a": commandName`)
		if a, ok := r.Snapshot().ByID("a"); !ok || a.DisplayName != "Tool a" {
			t.Errorf("got %+v", a)
		}
		if p := r.Problems(); len(p) != 1 || p[0].Loader != "files" || p[0].ToolID != "a" || len(r.Status()[0].Problems) != 1 {
			t.Errorf("problems: %+v", p)
		}
	})
	t.Run("a partial load is used and its problems are shown", func(t *testing.T) {
		t.Parallel()
		partial := loaderFunc{"files", func(context.Context) ([]registry.Tool, error) {
			return []registry.Tool{simple("a")}, &registry.PartialError{Problems: registry.Problems{{ToolID: "b", Message: "broken file"}}}
		}}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{partial}})
		_, err := r.Reload(t.Context())
		wantContains(t, err, "broken file")
		if r.Snapshot().Len() != 1 || r.Problems()[0].Loader != "files" || r.Status()[0].LastOK.IsZero() {
			t.Error("not used or not shown")
		}
	})
	t.Run("one loader alone", func(t *testing.T) {
		t.Parallel()
		var first, second atomic.Int32
		count := func(name string, n *atomic.Int32) registry.Loader {
			return loaderFunc{name, func(context.Context) ([]registry.Tool, error) { n.Add(1); return []registry.Tool{simple(name)}, nil }}
		}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{count("one", &first), count("two", &second)}})
		mustReload(t, r)
		if _, err := r.Reload(t.Context(), "two"); err != nil {
			t.Fatal(err)
		}
		if first.Load() != 1 || second.Load() != 2 || r.Snapshot().Len() != 2 {
			t.Errorf("loads: %d, %d", first.Load(), second.Load())
		}
		_, err := r.Reload(t.Context(), "three")
		wantContains(t, err, `no loader "three"`)
	})
	t.Run("A72 two loaders of one name are refused", func(t *testing.T) {
		t.Parallel()
		_, err := catalog.New(catalog.Config{Loaders: []registry.Loader{fixed("x"), fixed("x")}})
		wantContains(t, err, `"x"`)
	})
	t.Run("A39 two look-ups see the same instance, two registries are apart", func(t *testing.T) {
		t.Parallel()
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("x", simple("a"))}})
		other := newRegistry(t, catalog.Config{})
		mustReload(t, r)
		one, _ := r.Snapshot().ByID("a")
		two, _ := r.Snapshot().ByID("a")
		if one != two || other.Snapshot().Len() != 0 {
			t.Error("not the same, or shared")
		}
	})
	t.Run("A16 loaders may put Go values into metadata", func(t *testing.T) {
		t.Parallel()
		tool := simple("a")
		tool.Metadata = map[string]any{"nodes": 12, "names": []string{"a"}}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("x", tool)}})
		mustReload(t, r)
		if a, _ := r.Snapshot().ByID("a"); a.Metadata["nodes"] != json.Number("12") {
			t.Errorf("got %#v", a.Metadata)
		}
	})
}

func TestClaims(t *testing.T) {
	t.Parallel()
	same := func(id, command string) registry.Tool {
		tool := simple(id)
		tool.CommandName = command
		return tool
	}
	t.Run("A4 one id with other content is reported by name and the first loader wins", func(t *testing.T) {
		t.Parallel()
		other := simple("a")
		other.DisplayName = "Other"
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("first", simple("a")), fixed("second", other)}})
		_, err := r.Reload(t.Context())
		wantContains(t, err, `tool "a"`, "loader first", "loader second")
		if a, _ := r.Snapshot().ByID("a"); a.DisplayName != "Tool a" || r.Snapshot().Len() != 1 {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("A4 identical content twice is no problem", func(t *testing.T) {
		t.Parallel()
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("first", simple("a")), fixed("second", simple("a"))}})
		mustReload(t, r)
		if r.Snapshot().Len() != 1 {
			t.Error("twice")
		}
	})
	t.Run("A44 two tools with one command: an error naming both, the first keeps it", func(t *testing.T) {
		t.Parallel()
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("first", same("zebra", "/draw")), fixed("second", same("ant", "/draw"))}})
		for range 3 {
			_, err := r.Reload(t.Context())
			wantContains(t, err, "/draw", "zebra (loader first)", "ant (loader second)")
			if got, _ := r.Snapshot().ByCommand("draw"); got.ToolID != "zebra" {
				t.Errorf("winner is %s", got.ToolID)
			}
		}
		ant, ok := r.Snapshot().ByID("ant")
		if !ok || ant.CommandName != "" {
			t.Errorf("the loser must stay without its command: %+v", ant)
		}
		if len(r.Snapshot().Commands(registry.Everyone)) != 1 {
			t.Error("A47 the command list has the command twice")
		}
	})
	t.Run("A44 a command of the bot's own: an error that says so, the tool stays without it", func(t *testing.T) {
		t.Parallel()
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("l", same("zebra", "/settings"), same("ant", "/draw"))}, Reserved: []string{"/help", "/settings"}})
		_, err := r.Reload(t.Context())
		wantContains(t, err, "zebra", "/settings is a command of the bot's own")
		if zebra, ok := r.Snapshot().ByID("zebra"); !ok || zebra.CommandName != "" {
			t.Errorf("%+v", zebra)
		}
		if ant, ok := r.Snapshot().ByCommand("draw"); !ok || ant.ToolID != "ant" {
			t.Errorf("%+v", ant)
		}
	})
	t.Run("A48 two tools with one path: the loser gets its default", func(t *testing.T) {
		t.Parallel()
		a, b := simple("a"), simple("b")
		a.APIPath, b.APIPath = "/api/x", "/api/x"
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("l", a, b)}})
		_, err := r.Reload(t.Context())
		wantContains(t, err, "/api/x", "a (loader l)", "b (loader l)")
		if got, _ := r.Snapshot().ByAPIPath("/api/run/b"); got == nil || got.ToolID != "b" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("A48 no tool gets an address of the program's own: it keeps its default", func(t *testing.T) {
		t.Parallel()
		var tools []registry.Tool
		for id, path := range map[string]string{"a": "/api/keys", "b": "/api/keys/b", "c": "/api/%6beys", "d": "/api/keysmith"} {
			tool := simple(id)
			tool.APIPath = path
			tools = append(tools, tool)
		}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("l", tools...)}, ReservedPaths: []string{"/api/keys"}})
		_, err := r.Reload(t.Context())
		wantContains(t, err, `tool "a": apiPath: /api/keys is an address of the program's own`)
		for id, path := range map[string]string{"a": "/api/run/a", "b": "/api/run/b", "c": "/api/run/c", "d": "/api/keysmith"} {
			if got, ok := r.Snapshot().ByAPIPath(path); !ok || got.ToolID != id {
				t.Errorf("%s does not lead to %s", path, id)
			}
		}
		if _, ok := r.Snapshot().ByAPIPath("/api/keys"); ok {
			t.Error("a tool has the address of the keys")
		}
	})
	t.Run("A9 a path leads to its tool however a client escapes it", func(t *testing.T) {
		t.Parallel()
		for id, paths := range map[string][]string{
			"名前":         {"/api/run/名前", "/api/run/%E5%90%8D%E5%89%8D", "/api/run/%e5%90%8d%e5%89%8d"},
			"owner/name": {"/api/run/owner%2Fname"},
			"a:b":        {"/api/run/a:b", "/api/run/a%3Ab"},
			"a%2Fb":      {"/api/run/a%252Fb"},
		} {
			tool := simple(id)
			tool.CommandName = ""
			s := catalog.NewSnapshot([]registry.Tool{tool}, noon)
			for _, path := range append(paths, tool.RunPath()) {
				if got, ok := s.ByAPIPath(path); !ok || got.ToolID != id {
					t.Errorf("%s does not lead to %s", path, id)
				}
			}
		}
	})
	t.Run("A90 the path of an id that a tool once had leads to it", func(t *testing.T) {
		t.Parallel()
		tool := simple("new")
		tool.Aliases = []string{"old"}
		s := catalog.NewSnapshot([]registry.Tool{tool}, noon)
		if got, ok := s.ByAPIPath("/api/run/old"); !ok || got.ToolID != "new" {
			t.Errorf("got %v", got)
		}
		if _, ok := s.ByAPIPath("/old"); ok {
			t.Error("an alias is no path of its own")
		}
	})
	t.Run("an alias never takes a real name", func(t *testing.T) {
		t.Parallel()
		a, b := simple("a"), simple("b")
		a.Aliases = []string{"b", "/b"}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("l", a, b)}})
		_, err := r.Reload(t.Context())
		wantContains(t, err, "alias b", "alias /b")
		if got, _ := r.Snapshot().ByCommand("/b"); got.ToolID != "b" {
			t.Error("taken")
		}
	})
}

func TestSwap(t *testing.T) {
	t.Parallel()
	t.Run("A45 a change is served without restart, those who hold the old tool keep it", func(t *testing.T) {
		t.Parallel()
		var current atomic.Pointer[registry.Tool]
		tool := simple("a")
		current.Store(&tool)
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{loaderFunc{"l", func(context.Context) ([]registry.Tool, error) {
			return []registry.Tool{*current.Load()}, nil
		}}}})
		mustReload(t, r)
		held, _ := r.Snapshot().ByID("a")
		changed := simple("a")
		changed.DisplayName = "New name"
		current.Store(&changed)
		mustReload(t, r)
		now, _ := r.Snapshot().ByID("a")
		if held.DisplayName != "Tool a" || now.DisplayName != "New name" || held.Version == now.Version {
			t.Errorf("held %s, now %s", held.DisplayName, now.DisplayName)
		}
	})
	t.Run("A47 hooks hear of every change, in order, and only of changes", func(t *testing.T) {
		t.Parallel()
		var told []string
		var tools atomic.Pointer[[]registry.Tool]
		tools.Store(&[]registry.Tool{simple("a")})
		r := newRegistry(t, catalog.Config{
			Now:     func() time.Time { return noon },
			Loaders: []registry.Loader{loaderFunc{"l", func(context.Context) ([]registry.Tool, error) { return *tools.Load(), nil }}},
			OnSwap: []func(context.Context, catalog.Swap){func(_ context.Context, s catalog.Swap) {
				told = append(told, fmt.Sprint("first ", s.Old.Len(), s.New.Len(), len(s.Diff.Added), len(s.Diff.Removed), s.At.Equal(noon)))
				panic("a hook must not stop the others")
			}},
		})
		remove := r.OnSwap(func(context.Context, catalog.Swap) { told = append(told, "second") })
		mustReload(t, r)
		mustReload(t, r)
		remove()
		tools.Store(&[]registry.Tool{})
		mustReload(t, r)
		want := []string{"first 0 1 1 0 true", "second", "first 1 0 0 1 true"}
		if !slices.Equal(told, want) {
			t.Errorf("got %q, want %q", told, want)
		}
	})
	t.Run("A41 readers see whole catalogues only, under concurrent reloads", func(t *testing.T) {
		t.Parallel()
		var generation atomic.Int64
		const count = 50
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{loaderFunc{"l", func(context.Context) ([]registry.Tool, error) {
			g := generation.Add(1)
			tools := make([]registry.Tool, count)
			for i := range tools {
				tools[i] = simple(fmt.Sprint("t", i))
				tools[i].DisplayName = fmt.Sprint("generation ", g)
			}
			return tools, nil
		}}}})
		mustReload(t, r)
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					s := r.Snapshot()
					first, _ := s.ByCommand("/T0@bot")
					last, _ := s.ByID(fmt.Sprint("t", count-1))
					if first.DisplayName != last.DisplayName || s.Len() != count {
						t.Error("half a reload")
						return
					}
				}
			})
		}
		for range 30 {
			mustReload(t, r)
		}
		close(stop)
		readers.Wait()
	})
	t.Run("A90 a rename leaves an alias and the old command", func(t *testing.T) {
		t.Parallel()
		l := &changing{}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{l}})
		named := func(id string) registry.Tool {
			tool := simple("x")
			tool.ToolID, tool.CommandName = id, "/"+id
			return tool
		}
		reload := func(tools ...registry.Tool) catalog.Diff {
			l.tools = tools
			return mustReload(t, r)
		}
		leads := func(name, want string) {
			t.Helper()
			byID, _ := r.Snapshot().Resolve(name)
			byCommand, _ := r.Snapshot().ByCommand(name)
			if byID == nil || byCommand == nil || byID.ToolID != want || byCommand.ToolID != want {
				t.Errorf("%s leads to %v and %v, want %s", name, byID, byCommand, want)
			}
		}
		reload(named("old"))
		if lines := reload(named("new")).Lines(); !slices.Equal(lines, []string{"renamed old to new"}) {
			t.Errorf("told as %q", lines)
		}
		leads("old", "new")
		reload(named("new")) // another reload does not forget
		leads("old", "new")
		reload(named("newest"))
		leads("old", "newest")
		leads("new", "newest")
		other := simple("old") // somebody else takes the name
		other.Description = "Something else."
		reload(named("newest"), other)
		leads("old", "old")
		leads("new", "newest")
	})
	t.Run("A88 an input that is renamed in its place is known by its old names", func(t *testing.T) {
		t.Parallel()
		l := &changing{}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{l}})
		of := func(id string, names ...string) registry.Tool {
			tool := simple(id)
			tool.Description = "Draws."
			tool.InputSchema = registry.InputSchema{
				{Name: names[0], DisplayName: names[0], Type: registry.TypeNumber, Default: json.Number("6"), Max: "9", Description: "How many."},
				{Name: names[1], Type: registry.TypeString},
				{Name: names[2], Type: registry.TypeString, Choices: []registry.Choice{{Value: "a"}, {Value: "b"}}},
			}
			return tool
		}
		for _, step := range []struct {
			tool registry.Tool
			want []string
		}{
			{of("t", "colors", "text", "style"), nil},
			{of("t", "inks", "text", "style"), []string{"colors inks"}},
			{of("t", "inks", "text", "style"), []string{"colors inks"}},
			{of("t", "inks", "words", "look"), []string{"colors inks", "style look"}}, // a text without a mark may be another one
			{of("t", "paints", "words", "look"), []string{"colors paints", "inks paints", "style look"}},
			{of("u", "paints", "words", "look"), []string{"colors paints", "inks paints", "style look"}},
			{of("u", "colors", "words", "look"), []string{"inks colors", "paints colors", "style look"}},
			{of("u", "colors", "look", "style"), []string{"inks colors", "paints colors"}}, // both names were there before or are still
		} {
			l.tools = []registry.Tool{step.tool}
			mustReload(t, r)
			tool, _ := r.Snapshot().ByID(step.tool.ToolID)
			var got []string
			for _, m := range tool.Migrations {
				got = append(got, m.From+" "+m.To)
			}
			slices.Sort(got)
			if !slices.Equal(got, step.want) {
				t.Errorf("%v: %q, want %q", step.tool.InputSchema, got, step.want)
			}
		}
	})
	t.Run("A88 an input that stands for the same is known by its old name, whatever else changes", func(t *testing.T) {
		t.Parallel()
		l := &changing{}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{l}})
		for _, places := range []map[string]any{{"tiled": "4.tiled", "size": "5.size"}, {"big": "7.upscale", "tiles": "4.tiled", "measure": "5.size"}} {
			tool := simple("t")
			tool.InputSchema, tool.Metadata = nil, map[string]any{registry.InputPlaces: places}
			for _, name := range slices.Sorted(maps.Keys(places)) {
				f := registry.InputField{Name: name, Type: registry.TypeBoolean}
				if name == "measure" {
					f.Type = registry.TypeNumber // no longer the same
				}
				tool.InputSchema = append(tool.InputSchema, f)
			}
			l.tools = []registry.Tool{tool}
			mustReload(t, r)
		}
		tool, _ := r.Snapshot().ByID("t")
		if len(tool.Migrations) != 1 || tool.Migrations[0].From != "tiled" || tool.Migrations[0].To != "tiles" {
			t.Errorf("%v", tool.Migrations)
		}
	})
	t.Run("A88 inputs that are too much alike are not mixed up", func(t *testing.T) {
		t.Parallel()
		number := registry.InputField{Type: registry.TypeNumber, Default: json.Number("1"), Min: "0", Max: "1", Step: "0.01"}
		strength := number
		strength.Description = "How strongly."
		for name, c := range map[string]struct {
			field   registry.InputField
			also    []registry.InputField
			matched bool
		}{
			"a switch":                      {field: registry.InputField{Type: registry.TypeBoolean, Default: false}},
			"a number with the usual range": {field: number},
			"one of two of the same words":  {field: strength, also: []registry.InputField{{Name: "other", DisplayName: "Other", Type: strength.Type, Default: strength.Default, Min: "0", Max: "1", Step: "0.01", Description: strength.Description}}},
			"the only one of its words":     {field: strength, matched: true},
		} {
			l := &changing{}
			r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{l}})
			for _, input := range []string{"before", "after"} {
				tool := simple("t")
				c.field.Name = input
				tool.InputSchema = append(registry.InputSchema{c.field}, c.also...)
				l.tools = []registry.Tool{tool}
				mustReload(t, r)
			}
			if tool, _ := r.Snapshot().ByID("t"); (len(tool.Migrations) == 1) != c.matched {
				t.Errorf("%s: %v", name, tool.Migrations)
			}
		}
	})
	t.Run("A90 tools that are too much alike are not mixed up", func(t *testing.T) {
		t.Parallel()
		l := &changing{}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{l}})
		twin := func(id string) registry.Tool {
			tool := simple(id)
			tool.Description = "A twin."
			return tool
		}
		l.tools = []registry.Tool{twin("a"), twin("b")}
		mustReload(t, r)
		l.tools = []registry.Tool{twin("c"), twin("d")}
		if diff := mustReload(t, r); len(diff.Renamed) != 0 {
			t.Errorf("matched %v", diff.Renamed)
		}
	})
	t.Run("A72 a new service needs a loader and nothing else", func(t *testing.T) {
		t.Parallel()
		tool := simple("brandnew")
		tool.Service = "newservice"
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("newservice", tool)}})
		mustReload(t, r)
		s := r.Snapshot()
		_, byCommand := s.ByCommand("/brandnew")
		_, byPath := s.ByAPIPath("/api/run/brandnew")
		if !byCommand || !byPath || len(s.Public()) != 1 || len(s.ByService("newservice")) != 1 {
			t.Error("not everywhere")
		}
	})
}

func TestSnapshotLookups(t *testing.T) {
	t.Parallel()
	flux := simple("flux")
	flux.Aliases = []string{"flux-old", "/f", "fluxv1"}
	other := simple("other")
	other.Service = "vidu"
	s := catalog.NewSnapshot([]registry.Tool{other, flux}, noon)

	t.Run("A44 slash, case and @botname do not matter, aliases count", func(t *testing.T) {
		t.Parallel()
		for _, typed := range []string{"flux", "/flux", "/FLUX", "Flux@SignalBot", "/flux@signalbot", "/f", "F@x", "/fluxv1"} {
			if got, ok := s.ByCommand(typed); !ok || got.ToolID != "flux" {
				t.Errorf("%q leads to %v", typed, got)
			}
		}
		for _, typed := range []string{"", "/", "@bot", "//flux", "flux-old", "/fluxx"} {
			if got, ok := s.ByCommand(typed); ok {
				t.Errorf("%q leads to %s", typed, got.ToolID)
			}
		}
	})
	t.Run("A43 an unknown id is absent", func(t *testing.T) {
		t.Parallel()
		if got, ok := s.ByID("nope"); ok || got != nil {
			t.Error("found")
		}
		if got, ok := s.ByID("flux-old"); ok || got != nil {
			t.Error("an alias is no id")
		}
	})
	t.Run("A90 an old id leads to the tool as an alias", func(t *testing.T) {
		t.Parallel()
		for _, id := range []string{"flux", "flux-old"} {
			if got, ok := s.Resolve(id); !ok || got.ToolID != "flux" {
				t.Error(id)
			}
		}
		if _, ok := s.ByAlias("flux"); ok {
			t.Error("its own id is no alias")
		}
	})
	t.Run("A42 order is stable and copies are private", func(t *testing.T) {
		t.Parallel()
		all := clones(s)
		if len(all) != 2 || all[0].ToolID != "flux" || all[1].ToolID != "other" {
			t.Fatal("order")
		}
		all[0].Aliases[0], all[0].DisplayName = "x", "x"
		if clones(s)[0].Aliases[0] != "flux-old" || clones(s)[0].DisplayName != "Tool flux" {
			t.Error("the catalogue was changed from outside")
		}
	})
	t.Run("A5 by service", func(t *testing.T) {
		t.Parallel()
		if got := s.ByService("vidu"); len(got) != 1 || got[0].ToolID != "other" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("the nearest command is suggested", func(t *testing.T) {
		t.Parallel()
		if got := s.Suggest("/flxu"); !slices.Equal(got, []string{"/flux"}) {
			t.Errorf("got %v", got)
		}
		if got := s.Suggest("/oth"); !slices.Equal(got, []string{"/other"}) {
			t.Errorf("got %v", got)
		}
		if got := s.Suggest("/fxul"); len(got) != 0 {
			t.Errorf("a short word two edits away: %v", got)
		}
		if got := s.Suggest("/photograph"); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

func TestAudience(t *testing.T) {
	t.Parallel()
	with := func(id string, v registry.Visibility, state registry.State) registry.Tool {
		tool := simple(id)
		tool.Visibility, tool.Status = v, &registry.Status{State: state, Reason: "no GPU", Replacement: "public"}
		return tool
	}
	s := catalog.NewSnapshot([]registry.Tool{
		with("public", "", registry.StateActive), with("internal", registry.VisibilityInternal, registry.StateActive),
		with("hidden", registry.VisibilityHidden, registry.StateActive), with("deprecated", "", registry.StateDeprecated),
		with("unavailable", "", registry.StateUnavailable),
	}, noon)
	ids := func(tools []*registry.Tool) string {
		var all []string
		for _, tool := range tools {
			all = append(all, tool.ToolID)
		}
		return strings.Join(all, " ")
	}
	t.Run("A81 listing", func(t *testing.T) {
		t.Parallel()
		if got := ids(s.Public()); got != "deprecated public unavailable" {
			t.Error(got)
		}
		if got := ids(s.Listed(registry.Insiders)); got != "deprecated internal public unavailable" {
			t.Error(got)
		}
	})
	t.Run("A80 deprecated and unavailable are hidden from new menus", func(t *testing.T) {
		t.Parallel()
		if got := ids(s.Offered(registry.Everyone)); got != "public" {
			t.Error(got)
		}
		if got := ids(s.Commands(registry.Insiders)); got != "internal public" {
			t.Error(got)
		}
	})
	t.Run("what menus have is counted in one way", func(t *testing.T) {
		t.Parallel()
		step := with("step", "", registry.StateActive)
		step.Metadata = map[string]any{"menu": false}
		more := catalog.NewSnapshot([]registry.Tool{step, with("away", "", registry.StateUnavailable), with("public", "", registry.StateActive),
			with("internal", registry.VisibilityInternal, registry.StateActive), with("old", "", registry.StateDeprecated)}, noon)
		if ready, waiting := more.Menu(registry.Everyone); ready != 1 || waiting != 1 {
			t.Errorf("%d are ready, %d wait", ready, waiting)
		}
	})
	t.Run("A81 search", func(t *testing.T) {
		t.Parallel()
		for _, id := range []string{"internal", "hidden", "unavailable"} {
			for _, m := range s.Search(id, catalog.SearchOptions{}) {
				if m.Tool.ToolID == id {
					t.Errorf("%s was found", id)
				}
			}
		}
		if got := s.Search("internal", catalog.SearchOptions{Audience: registry.Insiders}); len(got) == 0 || got[0].Tool.ToolID != "internal" {
			t.Error("insiders do not find it")
		}
		if got := s.Search("unavailable", catalog.SearchOptions{WithUnavailable: true}); len(got) == 0 || got[0].Tool.ToolID != "unavailable" {
			t.Error("not found when asked for")
		}
	})
	t.Run("A81 running", func(t *testing.T) {
		t.Parallel()
		for id, refused := range map[string]bool{"public": false, "hidden": false, "deprecated": false, "internal": true, "unavailable": true} {
			tool, _ := s.ByID(id)
			if err := tool.Refusal(registry.Everyone); (err != nil) != refused {
				t.Errorf("%s: %v", id, err)
			}
		}
		if tool, _ := s.ByID("internal"); tool.Refusal(registry.Insiders) != nil {
			t.Error("insiders are refused")
		}
	})
	t.Run("A80 unavailable is refused with its reason, deprecated shows a notice with its replacement", func(t *testing.T) {
		t.Parallel()
		gone, _ := s.ByID("unavailable")
		wantContains(t, gone.Refusal(registry.Everyone), "no GPU", "use public instead")
		old, _ := s.ByID("deprecated")
		if got := old.Notice(); got != "Tool deprecated is deprecated: no GPU; use public instead" {
			t.Error(got)
		}
		if fresh, _ := s.ByID("public"); fresh.Notice() != "" {
			t.Error("notice for an active tool")
		}
	})
	t.Run("A77 a bare definition is listed and marked incomplete", func(t *testing.T) {
		t.Parallel()
		bare := registry.Tool{ToolID: "bare", Service: "s", DisplayName: "Bare", InputSchema: registry.InputSchema{}}
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{fixed("l", bare, simple("full"))}})
		mustReload(t, r)
		got, ok := r.Snapshot().ByID("bare")
		full, _ := r.Snapshot().ByID("full")
		if !ok || !got.Incomplete || full.Incomplete || len(r.Snapshot().Public()) != 2 {
			t.Errorf("got %+v", got)
		}
	})
}

// changing is a Loader whose tools the test replaces between reloads.
type changing struct{ tools []registry.Tool }

func (*changing) Name() string { return "changing" }

func (l *changing) Load(context.Context) ([]registry.Tool, error) { return l.tools, nil }
