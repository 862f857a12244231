package history_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/registry/registrytest"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// simple is a tool without inputs.
func simple(id string) registry.Tool {
	return registrytest.Tool(id, func(t *registry.Tool) { t.InputSchema = registry.InputSchema{} })
}

// flux is a tool with a price and two inputs.
func flux() registry.Tool {
	return registrytest.Tool("fluxgeneral", func(t *registry.Tool) {
		t.CostingModel = &registry.CostingModel{Rate: "0.000337", Unit: "second", RateSource: "machine"}
		t.InputSchema = append(t.InputSchema, registry.InputField{Name: "width", Type: registry.TypeNumber, Default: "1024", Max: "2048"})
	})
}

func newRegistry(t *testing.T, tools ...registry.Tool) *catalog.Registry {
	t.Helper()
	r, err := catalog.New(catalog.Config{Loaders: []registry.Loader{registrytest.NewLoader("l", tools...)}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustReload(t *testing.T, r *catalog.Registry) {
	t.Helper()
	if _, err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func mustEncode(t *testing.T, tool registry.Tool) string {
	t.Helper()
	data, err := registry.Encode(tool)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestHistory(t *testing.T) {
	t.Parallel()
	record := func(t *testing.T, h *history.Store, at time.Time, tools ...registry.Tool) []string {
		t.Helper()
		diff, err := h.Record(t.Context(), catalog.NewSnapshot(tools, at))
		if err != nil {
			t.Fatal(err)
		}
		return diff.Lines()
	}
	changes := func(t *testing.T, h *history.Store, q history.ChangesQuery) []history.Change {
		t.Helper()
		found, err := h.Changes(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}

	t.Run("A79 a list of changes is kept, newest first, and a restart is none", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.New(t)
		h := history.New(pool)
		dearer := flux()
		dearer.CostingModel.Rate = "0.0005"
		record(t, h, noon, flux(), simple("b"))
		record(t, h, noon.Add(time.Hour), dearer, simple("b"))
		if lines := record(t, history.New(pool), noon.Add(2*time.Hour), dearer, simple("b")); len(lines) != 0 {
			t.Errorf("a restart is a change: %q", lines)
		}
		record(t, h, noon.Add(3*time.Hour), dearer)
		got := changes(t, h, history.ChangesQuery{})
		if len(got) != 3 || got[0].Diff.Lines()[0] != "removed b (Tool b)" || !got[1].At.Equal(noon.Add(time.Hour)) ||
			!slices.Equal(got[1].Diff.Lines(), []string{"fluxgeneral: price up", "fluxgeneral: costingModel.rate: 0.000337 -> 0.0005"}) || len(got[2].Diff.Added) != 2 {
			t.Errorf("got %+v", got)
		}
		if of := changes(t, h, history.ChangesQuery{ToolID: "fluxgeneral"}); len(of) != 2 {
			t.Errorf("of one tool: %+v", of)
		}
		if page := changes(t, h, history.ChangesQuery{Before: got[0].ID, Limit: 1}); len(page) != 1 || page[0].ID != got[1].ID {
			t.Errorf("second page: %+v", page)
		}
	})
	t.Run("A88 an input that was renamed while the program was down is known by its old name, from then on", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.New(t)
		start := func(input string) *registry.Tool {
			tool := simple("t")
			tool.InputSchema = registry.InputSchema{{Name: input, Type: registry.TypeNumber, Max: "9", Description: "How many."}}
			r := newRegistry(t, tool)
			if err := history.New(pool).Attach(t.Context(), r, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			mustReload(t, r)
			got, _ := r.Snapshot().ByID("t")
			return got
		}
		for _, input := range []string{"colors", "inks", "inks"} {
			got := start(input)
			if values, moved := got.Migrate(map[string]any{"colors": 9}); moved != (input == "inks") || values[input] != any(9) {
				t.Errorf("%s: %v, %v", input, got.Migrations, values)
			}
		}
	})
	t.Run("A16 A45 a start goes on whatever characters a definition holds", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.New(t)
		odd := simple("odd")
		odd.Metadata = map[string]any{"note": "a\x00b"}
		odd.InputSchema = registry.InputSchema{{Name: "text", Type: registry.TypeString}}
		odd.Migrations = []registry.Rename{{From: "words", To: "text"}}
		record(t, history.New(pool), noon, odd)
		odd.Migrations = nil
		r := newRegistry(t, odd)
		if err := history.New(pool).Attach(t.Context(), r, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		mustReload(t, r)
		if got, _ := r.Snapshot().ByID("odd"); len(got.Migrations) != 1 || got.Migrations[0].From != "words" || got.Metadata["note"] != "a\x00b" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("what a later version beside this one stored is read, and its catalogue followed", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.New(t)
		h, tool := history.New(pool), flux()
		record(t, h, noon, tool)
		if _, err := pool.Exec(t.Context(), `UPDATE registry_tool_versions SET definition = (definition::jsonb || '{"later": {"a": 1}}')::json`); err != nil {
			t.Fatal(err)
		}
		tool.Description = "Changed."
		record(t, h, noon.Add(time.Hour), tool)
		if versions, err := h.Versions(t.Context(), tool.ToolID); err != nil || len(versions) != 2 {
			t.Errorf("got %+v, %v", versions, err)
		}
	})
	t.Run("A79 an old run can show the version it used", func(t *testing.T) {
		t.Parallel()
		h := history.New(postgrestest.New(t))
		old := flux()
		old.Status = nil
		if err := old.Seal(); err != nil {
			t.Fatal(err)
		}
		now := old.Clone()
		now.InputSchema = now.InputSchema[:1]
		now.Version = ""
		record(t, h, noon, old)
		record(t, h, noon.Add(time.Hour), now)
		record(t, h, noon.Add(2*time.Hour))
		got, err := h.Tool(t.Context(), "fluxgeneral", old.Version)
		if err != nil || mustEncode(t, got) != mustEncode(t, old) {
			t.Errorf("got %s, %v", mustEncode(t, got), err)
		}
		versions, err := h.Versions(t.Context(), "fluxgeneral")
		if err != nil || len(versions) != 2 || versions[1].Version != old.Version || !versions[1].FirstSeen.Equal(noon) {
			t.Errorf("got %+v, %v", versions, err)
		}
		if _, err := h.Tool(t.Context(), "fluxgeneral", "000000000000"); !errors.Is(err, history.ErrNoVersion) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("A80 a change of the status alone is kept, under the same version", func(t *testing.T) {
		t.Parallel()
		h := history.New(postgrestest.New(t))
		down := simple("a")
		down.Status = &registry.Status{State: registry.StateUnavailable, Reason: "no GPU"}
		record(t, h, noon, simple("a"))
		if lines := record(t, h, noon, down); len(lines) != 1 {
			t.Errorf("got %q", lines)
		}
		if lines := record(t, h, noon, down); len(lines) != 0 {
			t.Errorf("again: %q", lines)
		}
		if lines := record(t, h, noon, simple("a")); len(lines) != 1 {
			t.Errorf("back: %q", lines)
		}
	})
	t.Run("A79 several machines record a change once", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.New(t)
		var machines sync.WaitGroup
		for range 5 {
			machines.Go(func() {
				s := catalog.NewSnapshot([]registry.Tool{simple("a"), simple("b")}, noon)
				if _, err := history.New(pool).Record(context.Background(), s); err != nil {
					t.Error(err)
				}
			})
		}
		machines.Wait()
		if got := changes(t, history.New(pool), history.ChangesQuery{}); len(got) != 1 {
			t.Errorf("recorded %d times", len(got))
		}
	})
	t.Run("A79 each swap is recorded", func(t *testing.T) {
		t.Parallel()
		h := history.New(postgrestest.New(t))
		r := newRegistry(t, simple("a"))
		if err := h.Attach(t.Context(), r, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		mustReload(t, r)
		if got := changes(t, h, history.ChangesQuery{}); len(got) != 1 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("A90 a rename leaves an alias, over restarts and when it happened in between", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.New(t)
		run := func(tools ...registry.Tool) *catalog.Snapshot {
			r := newRegistry(t, tools...)
			if err := history.New(pool).Attach(t.Context(), r, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			mustReload(t, r)
			return r.Snapshot()
		}
		named := func(id string) registry.Tool {
			tool := simple("x")
			tool.ToolID, tool.CommandName, tool.DisplayName = id, "/"+id, id
			return tool
		}
		run(named("one"), simple("other"))
		for _, id := range []string{"two", "two", "three", "three"} {
			s := run(named(id), simple("other"))
			for _, old := range []string{"one", id} {
				byID, _ := s.Resolve(old)
				byCommand, _ := s.ByCommand("/" + old)
				if byID == nil || byCommand == nil || byID.ToolID != id || byCommand.ToolID != id {
					t.Errorf("as %s: the name %s leads to %v and %v", id, old, byID, byCommand)
				}
			}
		}
		if back, _ := run(named("one"), simple("other")).ByID("one"); len(back.Aliases) != 4 {
			t.Errorf("after going back: %q", back.Aliases)
		}
	})
}
