package housekey

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestKeyOfAHouse(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	at := func(dir string) Config {
		return Config{DataDir: dir, Shared: true, Log: slog.New(slog.DiscardHandler)}
	}
	open := func(c Config) ([]byte, error) { return Open(t.Context(), pool, c) }

	first := t.TempDir()
	key, err := open(at(first))
	if err != nil || len(key) != newBytes {
		t.Fatalf("the first process has the key %x: %v", key, err)
	}
	if again, err := open(at(first)); err != nil || !bytes.Equal(again, key) {
		t.Errorf("the next start has the key %x, was %x: %v", again, key, err)
	}

	second := t.TempDir()
	_, err = open(at(second))
	if err == nil || !strings.Contains(err.Error(), "this one has none: copy link.key") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a process without the key says %v", err)
	}
	if _, err := os.Stat(filepath.Join(second, FileName)); !os.IsNotExist(err) {
		t.Errorf("a refused process left a key: %v", err)
	}
	given := at(second)
	given.Given = key
	if got, err := open(given); err != nil || !bytes.Equal(got, key) {
		t.Errorf("with HOUSE_KEY: %x, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(second, FileName), bytes.Repeat([]byte("x"), newBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(at(second)); err == nil || !strings.Contains(err.Error(), "has the key "+fingerprint(bytes.Repeat([]byte("x"), newBytes))) {
		t.Errorf("a process with another key says %v", err)
	}
	if kept, err := os.ReadFile(filepath.Join(second, FileName)); err != nil || kept[0] != 'x' {
		t.Errorf("a foreign key was not left as it is: %q, %v", kept, err)
	}

	// Alone on its own database a house may lose its key.
	alone := at(second)
	alone.Shared = false
	if _, err := open(alone); err != nil {
		t.Error(err)
	}
	if _, err := open(at(first)); err == nil {
		t.Error("the former key is still taken")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "00", strings.Repeat("zz", 16), strings.Repeat("0", 33)} {
		if key, err := Parse(wrong); err == nil {
			t.Errorf("%q is the key %x", wrong, key)
		}
	}
	if key, err := Parse(strings.Repeat("0a", 16)); err != nil || len(key) != 16 {
		t.Errorf("%x, %v", key, err)
	}
}
