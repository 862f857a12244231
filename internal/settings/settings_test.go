package settings_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/settings"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	open := func() *settings.Store {
		t.Helper()
		s, err := settings.Open(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	here, there := open(), open()
	if v, ok := here.Get("terms"); ok {
		t.Errorf("before anything was set there is %+v", v)
	}
	for _, text := range []string{"first", "be kind"} {
		if err := here.Set(t.Context(), "terms", text, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(s *settings.Store, want string) {
		t.Helper()
		if v, ok := s.Get("terms"); v.Text != want || ok != (want != "") || ok && (v.By != "ann" || v.At.IsZero()) {
			t.Errorf("got %+v, %t; want %q", v, ok, want)
		}
	}
	expect(here, "be kind")
	expect(open(), "be kind") // a restart

	told := make(chan struct{}, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		there.Follow(ctx, slog.New(slog.DiscardHandler), func() { told <- struct{}{} })
	}()
	<-told
	expect(there, "be kind")
	if err := here.Clear(t.Context(), "terms"); err != nil {
		t.Fatal(err)
	}
	expect(here, "")
	<-told
	expect(there, "")
	stop()
	<-ended
}
