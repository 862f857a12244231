//go:build unix

package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// The environment turns this test binary into a program that runs a server in
// that folder until it is killed or its standard input ends.
const (
	programDir        = "POSTGRES_TEST_PROGRAM_DIR"
	programSupervised = "POSTGRES_TEST_PROGRAM_SUPERVISED"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(programDir); dir != "" {
		os.Exit(beProgram(dir))
	}
	os.Exit(runTests(m))
}

// runTests gives the tests a folder to share and removes it after them.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp(postgrestest.ScratchDir(), "sbpg-seed")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	seed = sync.OnceValues(func() (string, error) {
		s, err := Start(context.Background(), config(dir))
		if err != nil {
			return "", err
		}
		return dir, s.Stop(context.Background())
	})
	return m.Run()
}

func beProgram(dir string) int {
	tie := startTied
	if os.Getenv(programSupervised) != "" {
		tie = startSupervised
	}
	s, err := startWith(context.Background(), config(dir), tie)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("serving", s.process.pid)
	io.Copy(io.Discard, os.Stdin)
	if err := s.Stop(context.Background()); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

func TestStartKeepsData(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	// What an interrupted first start leaves is in nobody's way.
	if err := os.MkdirAll(filepath.Join(dir, "data.tmp", "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	first := start(t, dir)
	exec1(t, first.DSN(), `CREATE TABLE kept (word text)`)
	exec1(t, first.DSN(), `INSERT INTO kept VALUES ('still here')`)
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Errorf("a second Stop: %v", err)
	}

	began := time.Now()
	second := start(t, dir)
	t.Logf("warm start took %v", time.Since(began).Round(time.Millisecond))
	if got := text(t, second.DSN(), `SELECT word FROM kept`); got != "still here" {
		t.Errorf("the table holds %q", got)
	}
	if got := text(t, second.DSN(), `SELECT current_setting('fsync') || current_setting('listen_addresses')`); got != "on" {
		t.Errorf("fsync and listen_addresses are %q, want on and none", got)
	}
	if got := text(t, second.DSN(), `SELECT current_setting('jit')`); got != "off" {
		t.Errorf("jit is %q: a connection's first question takes a fifth of a second", got)
	}
	if got := text(t, second.DSN(), `SELECT lower('ŽLUŤOUČKÝ')`); got != "žluťoučký" {
		t.Errorf("lower case of Czech letters is %q", got)
	}
}

func TestSecondProgramIsRefusedWithoutHarm(t *testing.T) {
	t.Parallel()
	dir := seededDir(t)
	first := start(t, dir)
	_, err := Start(t.Context(), config(dir))
	if !errors.Is(err, ErrInUse) {
		t.Fatalf("second Start on one folder: %v, want ErrInUse", err)
	}
	if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
		t.Errorf("want one line with the folder, got %q", err)
	}
	if got := text(t, first.DSN(), `SELECT 'well'`); got != "well" {
		t.Errorf("the first server answers %q", got)
	}
}

func TestKilledProgramTakesItsServerAlong(t *testing.T) {
	t.Parallel()
	for _, mode := range []struct{ name, supervised string }{{"tied by the kernel", ""}, {"under a supervisor", "1"}} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			dir := seededDir(t)
			program, pid := startProgram(t, exec.Command(os.Args[0]), dir, mode.supervised)
			dsn := (&cluster.Cluster{Dir: dir, User: serverUser(t, dir)}).DSN(databaseName)
			exec1(t, dsn, `CREATE TABLE committed (n int)`)
			kill(t, program)

			// At once: the old server may still be shutting down.
			s := start(t, dir)
			if s.process.pid == pid {
				t.Errorf("server %d survived its program", pid)
			}
			exec1(t, s.DSN(), `INSERT INTO committed VALUES (1)`)
			if cluster.Serving(pid) {
				t.Errorf("server %d still runs beside the new one", pid)
			}
		})
	}
}

func TestProgramThatEndsWellStopsItsServer(t *testing.T) {
	t.Parallel()
	dir := seededDir(t)
	cmd := exec.Command(os.Args[0])
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	program, pid := startProgram(t, cmd, dir, "1")
	stdin.Close()
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
	if cluster.Serving(pid) {
		t.Errorf("server %d runs on", pid)
	}
}

func TestCrashOfEverythingIsRecovered(t *testing.T) {
	t.Parallel()
	dir := seededDir(t)
	program, pid := startProgram(t, exec.Command(os.Args[0]), dir, "")
	dsn := (&cluster.Cluster{Dir: dir, User: serverUser(t, dir)}).DSN(databaseName)
	exec1(t, dsn, `CREATE TABLE committed (n int)`)
	if err := errors.Join(syscall.Kill(program.Process.Pid, syscall.SIGSTOP), syscall.Kill(pid, syscall.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	kill(t, program)
	if _, err := os.Stat(filepath.Join(dir, "data", "postmaster.pid")); err != nil {
		t.Fatalf("the crash left no stale state: %v", err)
	}
	exec1(t, start(t, dir).DSN(), `INSERT INTO committed VALUES (1)`)
}

// A process of the killed server that has not noticed yet holds its shared memory, and Postgres refuses to start.
func TestStartWaitsForWhatACrashLeft(t *testing.T) {
	t.Parallel()
	dir := seededDir(t)
	program, pid := startProgram(t, exec.Command(os.Args[0]), dir, "")
	c := &cluster.Cluster{Dir: dir, User: serverUser(t, dir)}
	conn, err := pgx.Connect(t.Context(), c.DSN(databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	child := int(conn.PgConn().PID())
	if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wake := sync.OnceFunc(func() { _ = syscall.Kill(child, syscall.SIGCONT) })
	defer wake()
	if err := errors.Join(syscall.Kill(program.Process.Pid, syscall.SIGSTOP), syscall.Kill(pid, syscall.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	kill(t, program)

	started := make(chan error, 1)
	var s *Server
	go func() {
		var err error
		s, err = Start(t.Context(), config(dir))
		started <- err
	}()
	for !c.Logged(0, remainsMessage) {
		select {
		case err := <-started:
			t.Fatalf("Start: %v, before the log named what is left: %s", err, c.LogTail())
		default:
			runtime.Gosched()
		}
	}
	wake()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReusedProcessIDBlocksNothing(t *testing.T) {
	t.Parallel()
	dir := seededDir(t)
	// A process of the server's user that is no server, as after a reboot.
	user := serverUser(t, dir)
	other := exec.Command("sleep", "600")
	if user.Drop {
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user.UID, Gid: user.GID}}
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer kill(t, other)
	stale := fmt.Sprintf("%d\n%s\n1\n5432\n%s\n\n0 0\nready\n", other.Process.Pid, filepath.Join(dir, "data"), filepath.Join(dir, "run"))
	path := filepath.Join(dir, "data", "postmaster.pid")
	if err := os.WriteFile(path, []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, int(user.UID), int(user.GID)); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
}

func TestForeignDataIsRefusedAndKept(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, version string
		want          error
	}{
		{"an old version", "9.6\n", ErrForeignVersion},
		{"a future version", "99\n", ErrForeignVersion},
		{"no version", "", nil},
		{"nonsense", "abc", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			data := filepath.Join(dir, "data")
			if err := os.MkdirAll(data, 0o700); err != nil {
				t.Fatal(err)
			}
			precious := filepath.Join(data, "precious")
			if err := os.WriteFile(precious, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if tc.version != "" {
				if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(tc.version), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Start(t.Context(), config(dir))
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("Start: %v, want %v", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("want one line, got %q", err)
			}
			if _, err := os.Stat(precious); err != nil {
				t.Errorf("data was touched: %v", err)
			}
		})
	}
}

// TestHomeClosedToOthers proves, when root runs it, that the server works where
// its own user could not even look: below a folder that only root may enter.
func TestHomeClosedToOthers(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "signalbox", "postgres")
	needBinaries(t)
	user := serverUser(t, dir)
	if user.Drop && user.CanReach(home) {
		t.Fatalf("%s can enter %s: the test proves nothing", user.Name, home)
	}
	first := start(t, dir)
	exec1(t, first.DSN(), `CREATE TABLE kept (n int)`)
	// What makes the server open files anew: sorting on disk, a forked worker,
	// reading its configuration again.
	exec1(t, first.DSN(), `SET work_mem = '64kB'; SELECT count(*) FROM (SELECT n FROM generate_series(1, 100000) n ORDER BY random()) s`)
	exec1(t, first.DSN(), `SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SELECT count(*) FROM kept`)
	exec1(t, first.DSN(), `VACUUM ANALYZE kept`)
	exec1(t, first.DSN(), `CHECKPOINT; SELECT pg_reload_conf()`)
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	program, pid := startProgram(t, exec.Command(os.Args[0]), dir, "")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	kill(t, program)
	exec1(t, start(t, dir).DSN(), `INSERT INTO kept VALUES (1)`)
}

// TestWorksAsAnOrdinaryUser has root's test run play one.
func TestWorksAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	user := serverUser(t, t.TempDir())
	if !user.Drop {
		needBinaries(t)
		start(t, newDir(t))
		return
	}
	dir := newDir(t)
	binary := filepath.Join(dir, "program")
	if err := copyFile(os.Args[0], binary); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, int(user.UID), int(user.GID))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user.UID, Gid: user.GID}}
	program, pid := startProgram(t, cmd, filepath.Join(home, "postgres"), "")
	kill(t, program)
	awaitEnd(t, pid)

	t.Run("and root can take over its data", func(t *testing.T) {
		s := start(t, filepath.Join(home, "postgres"))
		exec1(t, s.DSN(), `CREATE TABLE by_root (n int)`)
	})
}

func TestLongPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(newDir(t), strings.Repeat("long/", 25))
	s := start(t, dir)
	socket := s.cluster.SocketDir()
	t.Cleanup(func() { os.RemoveAll(socket) })
	info, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(socket, dir) || info.Mode().Perm() != 0o700 {
		t.Errorf("socket folder %s has mode %v, want a short one with 0700", socket, info.Mode())
	}
}

func TestStopIsFastWithOpenTransactions(t *testing.T) {
	t.Parallel()
	s := start(t, seededDir(t))
	conn := connect(t, s.DSN())
	if _, err := conn.Exec(t.Context(), `BEGIN; CREATE TABLE never (n int)`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Stop took %v", took)
	}
	if left, err := os.ReadDir(s.cluster.SocketDir()); err != nil || len(left) != 0 {
		t.Errorf("the socket folder holds %v (%v) after Stop", left, err)
	}
}

func TestCancelledStartLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	dir := seededDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	var child *process
	_, err := startWith(ctx, config(dir), func(cmd *exec.Cmd) (p *process, err error) {
		child, err = startTied(cmd)
		cancel()
		return child, err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Start: %v, want context.Canceled", err)
	}
	if child == nil || cluster.Serving(child.pid) {
		t.Errorf("process %+v after a cancelled start", child)
	}
	start(t, dir)
}

func TestACrashedServerIsStartedAnew(t *testing.T) {
	t.Parallel()
	s := start(t, seededDir(t))
	pool, err := Connect(t.Context(), s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL} {
		if err := syscall.Kill(s.process.pid, sig); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.Done():
		case <-time.After(2 * time.Minute):
			t.Fatal("Done is open though the server ended")
		}
		// Connections of a server that was killed live until they notice it.
		if err := pool.Ping(t.Context()); err != nil && !Away(err) {
			t.Errorf("after %v: %v, want an error that says that the database is away", sig, err)
		}
		pool.Reset()
		if err := pool.Ping(t.Context()); !Away(err) {
			t.Errorf("after %v: a new connection: %v, want an error that says that the database is away", sig, err)
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := pool.Ping(t.Context()); err != nil {
			t.Errorf("after the restart: %v", err)
		}
	}
}

func TestStartReportsWhatTheServerSays(t *testing.T) {
	t.Parallel()
	dir := seededDir(t)
	conf, err := os.OpenFile(filepath.Join(dir, "data", "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conf.WriteString("\nno_such_setting = 1\n")
	if err := errors.Join(err, conf.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err = Start(t.Context(), config(dir)); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("Start: %v, want the server's complaint", err)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("want one line, got %q", err)
	}
}

func config(dir string) Config {
	return Config{Dir: dir, Logger: slog.New(slog.DiscardHandler), Download: Download{MirrorURL: "http://127.0.0.1:1", CacheDir: filepath.Join(dir, "cache")}}
}

func start(t *testing.T, dir string) *Server {
	t.Helper()
	needBinaries(t)
	s, err := Start(t.Context(), config(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if cluster.Serving(s.process.pid) {
			t.Errorf("server %d runs after Stop", s.process.pid)
		}
	})
	return s
}

// newDir is a fresh folder that the server's user can reach and whose path is
// short enough for a socket.
func newDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(postgrestest.ScratchDir(), "sbpg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// seed makes, at its first call, a folder in which a server has run before.
var seed func() (string, error)

// seededDir is a copy of seed for t alone.
func seededDir(t *testing.T) string {
	t.Helper()
	needBinaries(t)
	from, err := seed()
	if err != nil {
		t.Fatal(err)
	}
	dir := newDir(t)
	if out, err := exec.Command("cp", "-a", from+"/data", dir).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
	return dir
}

func needBinaries(t *testing.T) {
	t.Helper()
	_, err := cluster.Find(t.Context(), 0)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	default:
		t.Skipf("%v: %s", err, cluster.InstallHint(0))
	}
}

func serverUser(t *testing.T, dir string) cluster.User {
	t.Helper()
	user, err := cluster.UserFor(dir)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// startProgram runs this binary as a program of its own with a server in dir
// and returns it with the server's process id.
func startProgram(t *testing.T, cmd *exec.Cmd, dir, supervised string) (*exec.Cmd, int) {
	t.Helper()
	needBinaries(t)
	cmd.Env = append(os.Environ(), programDir+"="+dir, programSupervised+"="+supervised)
	if cmd.Stdin == nil {
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, convErr := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "serving ")))
	if err != nil || convErr != nil {
		t.Fatalf("the program says %q (%v)", line, err)
	}
	return cmd, pid
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	// It says that the process was killed, which we know.
	_ = cmd.Wait()
}

// awaitEnd polls until the server pid is gone.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); cluster.Serving(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("server %d runs on", pid)
		}
		if err := pause(t.Context(), pollEvery); err != nil {
			t.Fatal(err)
		}
	}
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func exec1(t *testing.T, dsn, sql string) {
	t.Helper()
	if _, err := connect(t, dsn).PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func text(t *testing.T, dsn, sql string) (answer string) {
	t.Helper()
	if err := connect(t, dsn).QueryRow(t.Context(), sql).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}
