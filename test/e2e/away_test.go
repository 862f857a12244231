package e2e

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres"
)

// TestDatabaseAway takes the database away from a running program and gives it back.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	t.Run("while it is away requests are told when to come back, and then all goes on", func(t *testing.T) {
		t.Parallel()
		config := postgres.Config{Dir: filepath.Join(newDir(t), "server"), Logger: slog.New(slog.DiscardHandler)}
		server, err := postgres.Start(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, spec{dir: filepath.Join(newDir(t), "data"), env: []string{"DATABASE_URL=" + server.DSN(), "ADMIN_TOKEN=" + adminToken}})
		ann := newClient(p, "ann")
		ann.succeed("wallpaper", small(64))
		if err := server.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		// The key of the operator is asked of nobody: what fails is the work itself.
		for path, key := range map[string]string{"/api/runs": ann.key, "/api/invitations": adminToken} {
			status, header, _ := peek(t, p.page+path, key)
			if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
				t.Errorf("GET %s without a database: %d, Retry-After %q", path, status, header.Get("Retry-After"))
			}
		}
		if status, _, _ := peek(t, p.page+"/readyz", ""); status != http.StatusServiceUnavailable {
			t.Errorf("/readyz without a database: %d", status)
		}
		if server, err = postgres.Start(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Stop(context.Background()) })
		await(t, "the program to be ready again", func() bool {
			status, _, _ := peek(t, p.page+"/readyz", "")
			return status == http.StatusOK
		}, p.said)
		ann.succeed("wallpaper", small(65))
		p.stop(os.Interrupt)
	})
	t.Run("the own server is started anew when it is killed", func(t *testing.T) {
		t.Parallel()
		p := start(t, spec{env: []string{"ADMIN_TOKEN=" + adminToken}})
		ann := newClient(p, "ann")
		open := ann.run("wallpaper", small(512)).RunID
		noted, err := os.ReadFile(filepath.Join(p.dir, "postgres", "data", "postmaster.pid"))
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(noted), "\n")
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		await(t, "another server", func() bool {
			again, err := os.ReadFile(filepath.Join(p.dir, "postgres", "data", "postmaster.pid"))
			status, _, _ := peek(t, p.page+"/readyz", "")
			return err == nil && !strings.HasPrefix(string(again), fmt.Sprintln(pid)) && status == http.StatusOK
		}, p.said)
		if r := ann.finished(open); r.Status != "succeeded" {
			t.Errorf("the run that was under way: %+v", r)
		}
		ann.succeed("wallpaper", small(65))
		p.stop(os.Interrupt)
	})
}

// peek asks for an address, whatever the answer.
func peek(t *testing.T, url, key string) (status int, header http.Header, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(said)
}
