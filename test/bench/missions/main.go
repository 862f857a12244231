// Command missions kills the started program at random points of missions that fail, and starts it again: in the end every booking that
// was made must have been taken back exactly once, and every mission be over.
//
//	go run ./test/bench/missions [-kills 50]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/test/bench/program"
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
	// patience is how long the end of a mission may take.
	patience = 2 * time.Minute
	// within is the time after a mission's confirmation in which the program is killed.
	within = 1500 * time.Millisecond
)

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("missions", flag.ContinueOnError)
	kills := flags.Int("kills", 50, "how often the program is killed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := program.Folder("sbmissions")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := newSiege(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	began := time.Now()
	var missions []string
	for n := range *kills {
		id, err := s.mission(ctx, n)
		if err != nil {
			return err
		}
		missions = append(missions, id)
		time.Sleep(rand.N(within))
		s.Kill()
		if err := s.Up(ctx); err != nil {
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
	*program.Process
	key      string
	agency   *agency
	database *postgres.Server
}

func newSiege(ctx context.Context, dir string) (*siege, error) {
	binary, err := program.Build(ctx, ".", dir)
	if err != nil {
		return nil, err
	}
	address, err := program.FreeAddress()
	if err != nil {
		return nil, err
	}
	s := &siege{}
	if s.agency, err = startAgency(); err != nil {
		return nil, err
	}
	tools := filepath.Join(dir, "tools")
	if err := errors.Join(os.Mkdir(tools, 0o755), os.WriteFile(filepath.Join(tools, "agency.openapi.yaml"), []byte(document(s.agency.Addr().String())), 0o644)); err != nil {
		return nil, err
	}
	if s.database, err = postgres.Start(ctx, postgres.Config{Dir: filepath.Join(dir, "postgres")}); err != nil {
		return nil, err
	}
	s.Process = &program.Process{Binary: binary, Dir: filepath.Join(dir, "data"), Address: address, Env: []string{
		"TOOLS_DIR=" + tools, "WORKFLOWS_DIR=" + filepath.Join(dir, "none"), "DATABASE_URL=" + s.database.DSN(), "OUTBOUND_ALLOW=127.0.0.1", "LOG_LEVEL=error",
	}}
	if err := s.Up(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	if s.key, err = s.NewKey(ctx, "bench"); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *siege) stop() error {
	s.Kill()
	return s.database.Stop(context.Background())
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
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
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
	return s.Call(ctx, program.Request{Method: method, Path: path, Key: s.key, Body: body}, answer)
}
