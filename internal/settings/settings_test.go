package settings_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/internal/settings"
)

func open(t *testing.T, pool *pgxpool.Pool) *settings.Store {
	t.Helper()
	s, err := settings.Open(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSettings(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	here, there := open(t, pool), open(t, pool)
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
	expect(open(t, pool), "be kind") // a restart

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

func TestOfTwoWhoSetAtATimeOneIsTold(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	here, there := open(t, pool), open(t, pool)
	for _, set := range []struct {
		by   *settings.Store
		text string
		want error
	}{
		{here, "first", nil}, {there, "not knowing of it", settings.ErrOvertaken}, {there, "knowing of it", nil},
		{here, "not knowing of that", settings.ErrOvertaken}, {here, "knowing of that", nil}, {here, "again", nil},
	} {
		if err := set.by.Set(t.Context(), "terms", set.text, "ann"); !errors.Is(err, set.want) {
			t.Errorf("%s: %v", set.text, err)
		}
	}
	if err := here.Clear(t.Context(), "terms"); err != nil {
		t.Fatal(err)
	}
	if err := there.Set(t.Context(), "terms", "of what is gone", "ann"); !errors.Is(err, settings.ErrOvertaken) {
		t.Errorf("what was taken back meanwhile: %v", err)
	}
	if v, ok := open(t, pool).Get("terms"); ok {
		t.Errorf("it is set: %+v", v)
	}
}
