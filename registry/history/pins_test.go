package history_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// readier can run everything but what needs a width of at most 1100.
type readier struct{}

func (readier) Ready(_ context.Context, t registry.Tool) error {
	for _, f := range t.InputSchema {
		if f.Max == "1100" {
			return errors.New("no engine has the model")
		}
	}
	return nil
}

func TestPinnedVersions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := history.New(postgrestest.New(t))
	loader := registrytest.NewLoader("l")
	pinned := history.Pinned{Loader: loader, Store: store, Ready: readier{}}
	tools, err := catalog.New(catalog.Config{Loaders: []registry.Loader{pinned}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Attach(ctx, tools, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	paint := func(limit, rate string) registry.Tool {
		tool := flux()
		tool.InputSchema[len(tool.InputSchema)-1].Default = json.Number("1024")
		tool.ToolID, tool.CommandName, tool.Aliases = "paint", "/paint", []string{"brush"}
		tool.InputSchema[len(tool.InputSchema)-1].Max = json.Number(limit)
		tool.CostingModel.Rate = json.Number(rate)
		return tool
	}
	for _, limit := range []string{"1100", "1536", "2048"} {
		loader.Set(paint(limit, "0.0005"))
		mustReload(t, tools)
	}
	loader.Set(paint("2048", "0.0009"))
	mustReload(t, tools)
	served := func(id string) (limit, rate string, found *registry.Tool) {
		t.Helper()
		mustReload(t, tools)
		tool, ok := tools.Snapshot().ByID(id)
		if !ok {
			return "", "", nil
		}
		return string(tool.InputSchema[len(tool.InputSchema)-1].Max), string(tool.CostingModel.Rate), tool
	}
	t.Run("numbers count from the first, and stay", func(t *testing.T) {
		list, err := store.Numbered(ctx, "paint")
		if err != nil || len(list) != 4 || list[0].Number != 4 || list[3].Number != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
	t.Run("a version takes the place of the present one, at the price of today", func(t *testing.T) {
		if err := store.Pin(ctx, "paint", 2, true, "op"); err != nil {
			t.Fatal(err)
		}
		if limit, rate, _ := served("paint"); limit != "1536" || rate != "0.0009" {
			t.Errorf("served up to %s at %s", limit, rate)
		}
		loader.Set(paint("4096", "0.0009")) // the file changes, and the pin holds
		if limit, _, _ := served("paint"); limit != "1536" {
			t.Errorf("served up to %s", limit)
		}
	})
	t.Run("another one takes its place; one that can't be run is unavailable", func(t *testing.T) {
		if err := store.Pin(ctx, "paint", 1, true, "op"); err != nil {
			t.Fatal(err)
		}
		limit, _, tool := served("paint")
		if limit != "1100" || tool.State() != registry.StateUnavailable {
			t.Errorf("served up to %s, %s", limit, tool.State())
		}
	})
	t.Run("a version beside has a command of its own and stands in no menu", func(t *testing.T) {
		if err := store.Pin(ctx, "paint", 2, false, "op"); err != nil {
			t.Fatal(err)
		}
		limit, _, tool := served("paint-v2")
		if limit != "1536" || tool.CommandName != "/paint_v2" || tool.InMenus() || len(tool.Aliases) > 0 {
			t.Errorf("up to %s: %+v", limit, tool)
		}
	})
	t.Run("what is let go is as the file says", func(t *testing.T) {
		before, err := store.PinMark(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := store.Unpin(ctx, "paint", 0); err != nil || n != 2 {
			t.Errorf("%d, %v", n, err)
		}
		if after, err := store.PinMark(ctx); err != nil || after == before {
			t.Errorf("nobody sees it: %q, %v", after, err)
		}
		if limit, _, _ := served("paint"); limit != "4096" {
			t.Errorf("served up to %s", limit)
		}
		if _, _, tool := served("paint-v2"); tool != nil {
			t.Error("the other is there still")
		}
	})
	t.Run("there is no version of no number", func(t *testing.T) {
		if err := store.Pin(ctx, "paint", 99, true, "op"); !errors.Is(err, history.ErrNoVersion) {
			t.Error(err)
		}
	})
}
