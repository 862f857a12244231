package upstream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func TestSpecsAreKeptByContent(t *testing.T) {
	t.Parallel()
	store := &registrytest.Specs{}
	specs := upstream.NewSpecs[string](store, 20)
	note := func(spec string) registry.Media {
		t.Helper()
		ref, err := specs.Note(spec)
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	first := note("GET /a")
	if note("GET /a") != first || note("GET /b") == first {
		t.Error("references do not go by content")
	}
	store.Fail(errors.New("the store is away"))
	if err := specs.Keep(t.Context()); err == nil {
		t.Fatal("specs were kept in a store that is away")
	}
	store.Fail(nil)
	for range 2 { // there is nothing to keep the second time
		if err := specs.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := store.Writes(); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}

	long := note(strings.Repeat("a", 20))
	if err := specs.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := upstream.NewSpecs[string](store, 20)
	if spec, err := later.Of(t.Context(), first); err != nil || spec != "GET /a" {
		t.Errorf("after a restart: %q, %v", spec, err)
	}
	for ref, code := range map[registry.Media]registry.Code{long: registry.CodeInternal, registry.SpecRef([]byte("none")): registry.CodeUnavailable} {
		if _, err := later.Of(t.Context(), ref); registry.AsError(err) == nil || registry.AsError(err).Code != code {
			t.Errorf("%s: %v, want %s", ref, err, code)
		}
	}
}
