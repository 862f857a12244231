// Command missions kills the started program at random points of missions that fail, and starts it again: in the end every booking that
// was made must have been taken back exactly once, and every mission be over.
//
//	go run ./test/bench/missions [-kills 50]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/postgres"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const (
	adminToken = "operator-of-the-measurement"
	startTime  = 2 * time.Minute
	// within is the time after a mission's confirmation in which the program is killed.
	within = 1500 * time.Millisecond
)

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("missions", flag.ContinueOnError)
	kills := flags.Int("kills", 50, "how often the program is killed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := newSiege(ctx, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	began := time.Now()
	var missions []string
	for n := range *kills {
		id, err := s.mission(ctx, n)
		if err != nil {
			return err
		}
		missions = append(missions, id)
		time.Sleep(rand.N(within))
		s.kill()
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	states := map[string]int{}
	for _, id := range missions {
		status, err := s.over(ctx, id)
		if err != nil {
			return err
		}
		states[status]++
	}
	bookings, wrong := s.agency.left()
	fmt.Fprintf(out, "%d kills in %s: %d missions ended as %v, %d bookings, %d of them not taken back exactly once\n", *kills, time.Since(began).Round(time.Second), len(missions), states, bookings, wrong)
	if wrong > 0 || states["rolled_back"] != len(missions) {
		return errors.New("something was lost or done twice")
	}
	return nil
}

// siege is the program, what it books with, and its database, which lives on.
type siege struct {
	dir, address, key string
	agency            *agency
	database          *postgres.Server
	process           *exec.Cmd
}

func newSiege(ctx context.Context, dir string) (*siege, error) {
	s := &siege{dir: dir}
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "signalbox"), "./cmd/signalbox")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("go build, to be called from the project's root: %w", err)
	}
	var err error
	if s.agency, err = startAgency(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "tools"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "tools", "agency.openapi.yaml"), []byte(document(s.agency.Addr().String())), 0o644); err != nil {
		return nil, err
	}
	if s.database, err = postgres.Start(ctx, postgres.Config{Dir: filepath.Join(dir, "postgres")}); err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.address = free.Addr().String()
	if err := errors.Join(free.Close(), s.start(ctx)); err != nil {
		return nil, err
	}
	var made struct{ Key string }
	if err := s.call(ctx, http.MethodPost, "/api/keys", map[string]any{"name": "bench"}, &made); err != nil {
		return nil, err
	}
	s.key = made.Key
	return s, nil
}

// start starts the program and waits until it is ready.
func (s *siege) start(ctx context.Context) error {
	s.process = exec.CommandContext(ctx, filepath.Join(s.dir, "signalbox"), "up")
	s.process.Env = append(os.Environ(), "DATA_DIR="+filepath.Join(s.dir, "data"), "TOOLS_DIR="+filepath.Join(s.dir, "tools"), "WORKFLOWS_DIR="+filepath.Join(s.dir, "none"),
		"DATABASE_URL="+s.database.DSN(), "LISTEN_ADDR="+s.address, "ADMIN_TOKEN="+adminToken, "OUTBOUND_ALLOW=127.0.0.1", "API_RATE=0", "LOG_LEVEL=error")
	if err := s.process.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if err := s.call(ctx, http.MethodGet, "/readyz", nil, nil); err == nil {
			return nil
		}
	}
	return errors.New("the program is not ready")
}

// kill ends the program as a power failure does.
func (s *siege) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait() // it was killed
}

func (s *siege) stop() {
	s.kill()
	if err := s.database.Stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// mission plans and confirms one whose last leg fails.
func (s *siege) mission(ctx context.Context, n int) (id string, err error) {
	leg := func(order int, tool string, needs ...int) map[string]any {
		return map[string]any{"tool": tool, "inputs": map[string]any{"where": fmt.Sprint("Lisbon ", n)}, "summary": tool, "order": order, "depends_on": append([]int{}, needs...)}
	}
	var m struct{ MissionID, Hash string }
	err = s.call(ctx, http.MethodPost, "/api/missions", map[string]any{"title": fmt.Sprint("Trip ", n), "currency": "EUR", "legs": []any{leg(1, "flight_book"), leg(2, "hotel_book"), leg(3, "car_book", 1, 2)}}, &m)
	if err == nil {
		err = s.call(ctx, http.MethodPost, "/api/missions/"+m.MissionID+"/confirm", map[string]any{"hash": m.Hash}, nil)
	}
	return m.MissionID, err
}

// over waits for the end of a mission.
func (s *siege) over(ctx context.Context, id string) (status string, err error) {
	var m struct{ Status string }
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := s.call(ctx, http.MethodGet, "/api/missions/"+id, nil, &m); err != nil {
			return "", err
		}
		if m.Status != "running" && m.Status != "rolling_back" {
			return m.Status, nil
		}
	}
	return m.Status, nil
}

func (s *siege) call(ctx context.Context, method, path string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	key := s.key
	if key == "" {
		key = adminToken
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(text, answer)
}
