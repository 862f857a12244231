package history_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/history"
)

// older is the store of files that specs were kept in once.
type older map[registry.Media]string

func (o older) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	if _, there := o[ref]; !there {
		return nil, registry.MediaInfo{}, errors.New("no such file")
	}
	return io.NopCloser(io.LimitReader(zeros{}, 3)), registry.MediaInfo{}, nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestSpecs(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	before := registry.SpecRef([]byte("before"))
	specs := history.NewSpecs(pool, older{before: "before"})
	contents := [][]byte{[]byte("twice"), []byte("twice")}
	for i := range 1000 {
		contents = append(contents, fmt.Appendf(nil, "spec %d", i))
	}
	refs, err := specs.PutSpecs(t.Context(), contents)
	if err != nil || len(refs) != len(contents) {
		t.Fatalf("%d references, %v", len(refs), err)
	}
	t.Run("many are one write", func(t *testing.T) {
		var rows, transactions int
		if err := pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT xmin::text) FROM tool_specs`).Scan(&rows, &transactions); err != nil || rows != 1001 || transactions != 1 {
			t.Errorf("%d rows in %d transactions, %v", rows, transactions, err)
		}
	})
	t.Run("what is there stays as it is, and each is found by its reference", func(t *testing.T) {
		again, err := specs.PutSpecs(t.Context(), [][]byte{contents[500], []byte("new")})
		if err != nil || again[0] != refs[500] {
			t.Fatal(again, err)
		}
		for ref, want := range map[registry.Media]string{again[0]: string(contents[500]), again[1]: "new", before: "\x00\x00\x00"} {
			body, _, err := specs.OpenMedia(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(body); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", ref, got, err)
			}
		}
		if _, _, err := specs.OpenMedia(t.Context(), registry.SpecRef([]byte("never"))); err == nil {
			t.Error("one that nobody stored is found")
		}
	})
}
