//go:build unix

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

const (
	// databaseName is the one database that our own server holds.
	databaseName = "signalbox"
	// startLimit bounds one start, recovery after a crash included.
	startLimit = 60 * time.Second
	// orphanLimit is how long a server that lost its program may take to end.
	orphanLimit = 30 * time.Second
	// fastLimit is how long a shutdown may take before it is forced. Forcing
	// loses nothing that was committed; the next start recovers it.
	fastLimit = 8 * time.Second
	// pollEvery is the pause between two looks at the server's state file.
	pollEvery = 5 * time.Millisecond
	// respawnAfter is the pause before a start that collided is repeated.
	respawnAfter = 50 * time.Millisecond
	// keepLog is the size from which the log of earlier runs is put aside.
	keepLog = 4 << 20
)

// settings are those that differ from Postgres' own defaults. Data is synced
// to disk as usual.
var settings = map[string]string{
	"timezone":         "UTC",
	"log_timezone":     "UTC",
	"log_min_messages": "warning",
	"log_line_prefix":  "%m [%p] ",
	// A connection that compiles a question for the first time takes a fifth of a second for it. Postgres believes that to be worth it where it
	// knows little of the tables, as in a young house, and no question here runs long enough for that.
	"jit": "off",
}

var (
	// ErrInUse is returned by Start when another program owns the folder.
	ErrInUse = errors.New("is in use by another program")
	// ErrForeignVersion is returned by Start when the data was written by a
	// major version of Postgres that is not on this machine.
	ErrForeignVersion = cluster.ErrForeignVersion
	// ErrNoBinaries is returned by Start when there is no Postgres on the
	// machine and none could be fetched.
	ErrNoBinaries = cluster.ErrNoBinaries
)

// Config says where our own server lives.
type Config struct {
	// Dir is the folder that belongs to the server alone, such as
	// DATA_DIR/postgres. It is made if it does not exist.
	Dir    string
	Logger *slog.Logger
	// Download says how to get the server programs on a machine without them.
	Download Download
	// MaxConnections is how many the server allows; zero means 100, as Postgres does.
	MaxConnections int
}

// Server is a running Postgres that ends with this program.
type Server struct {
	cluster *cluster.Cluster
	process *process
	lock    *os.File
	log     *slog.Logger
	tie     func(*exec.Cmd) (*process, error) // starts a process that ends with ours
	most    int                               // connections

	logStart int64 // how long the log was before this process

	stop    sync.Once
	stopErr error
}

// Start starts the server, creating its data directory at the first time, and
// returns once it takes connections. ctx bounds the start only; a cancelled
// start leaves nothing running. Errors wrap ErrInUse, ErrForeignVersion or
// ErrNoBinaries where these are the reason.
func Start(ctx context.Context, config Config) (*Server, error) {
	return startWith(ctx, config, startTied)
}

func startWith(ctx context.Context, config Config, tie func(*exec.Cmd) (*process, error)) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit+downloadLimit)
	defer cancel()
	s := &Server{log: config.Logger, tie: tie, most: cmp.Or(config.MaxConnections, 100)}
	if err := s.start(ctx, config); err != nil {
		return nil, errors.Join(fmt.Errorf("built-in Postgres: %w", err), s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, config Config) error {
	dir, err := prepareDir(config.Dir)
	if err != nil {
		return err
	}
	if s.lock, err = lockDir(dir); err != nil {
		return err
	}
	if config.Download.Logger == nil {
		config.Download.Logger = config.Logger
	}
	if s.cluster, err = openCluster(ctx, dir, config.Download); err != nil {
		return err
	}
	if err := s.cluster.Init(ctx); err != nil {
		return err
	}
	if err := s.launch(ctx); err != nil {
		return err
	}
	return s.createDatabase(ctx)
}

// prepareDir makes the folder. Others may pass through it, since the server
// may have to run as another user, but they can list and read nothing.
func prepareDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o711)
}

// lockDir claims the folder for this process until the returned file is
// closed; the kernel does that for a process that is killed.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("%s %w: stop that one, or give this one another DATA_DIR", dir, ErrInUse), f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// openCluster finds the programs and the user for the cluster in dir.
func openCluster(ctx context.Context, dir string, download Download) (*cluster.Cluster, error) {
	major, err := cluster.DataVersion(dir)
	if err != nil {
		return nil, err
	}
	user, err := cluster.UserFor(dir)
	if err != nil {
		return nil, err
	}
	binaries, err := findOrFetch(ctx, major, user, download)
	if err != nil {
		return nil, err
	}
	return &cluster.Cluster{Dir: dir, Binaries: binaries, User: user}, nil
}

// launch starts the server process. A server that lost its program a moment
// ago may still be shutting down, and a process of one that was killed may not
// have noticed yet: they are waited for, and a start that collides with them is
// repeated.
func (s *Server) launch(ctx context.Context) error {
	deadline := time.Now().Add(orphanLimit)
	for {
		if err := s.awaitOrphan(ctx, deadline); err != nil {
			return err
		}
		if err := s.spawn(); err != nil {
			return err
		}
		err := s.awaitReady(ctx)
		if err == nil {
			return nil
		}
		holder, _ := s.cluster.PID()
		collided := holder != s.process.pid && cluster.Serving(holder)
		if !collided && !errors.Is(err, errRemains) || time.Now().After(deadline) {
			return err
		}
		if err := pause(ctx, respawnAfter); err != nil {
			return err
		}
	}
}

// errRemains is why a server does not start while a process of the one before,
// which was killed, still holds its shared memory.
var errRemains = errors.New("a process of the previous server has not ended yet")

// remainsMessage is what Postgres says then.
const remainsMessage = "pre-existing shared memory block"

// awaitOrphan returns once no other server holds the data directory. We hold
// the lock on the folder, so such a server has lost its program and is about
// to end.
func (s *Server) awaitOrphan(ctx context.Context, deadline time.Time) error {
	waiting := false
	for {
		pid, _ := s.cluster.PID()
		if !cluster.Serving(pid) {
			return s.cluster.Disown()
		}
		if !waiting {
			s.log.InfoContext(ctx, "waiting for the previous Postgres server to shut down", "pid", pid)
			waiting = true
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d still runs a Postgres server on %s: end it with kill -INT %d", pid, s.cluster.DataDir(), pid)
		}
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// spawn starts the process, whose output goes to the log file: it may say its
// last words after we are gone.
func (s *Server) spawn() error {
	log, err := openLog(s.cluster.LogPath())
	if err != nil {
		return err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return err
	}
	s.logStart = info.Size()
	with := maps.Clone(settings)
	with["max_connections"] = strconv.Itoa(s.most)
	cmd, release, err := s.cluster.Command(with)
	if err != nil {
		return err
	}
	defer release()
	cmd.Stdout, cmd.Stderr = log, log
	s.process, err = s.tie(cmd)
	return errs.Wrap(err, "start %s", cmd.Path)
}

// openLog opens the server's log for this run; what earlier runs wrote stays
// in front of it, or beside it once that is long.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > keepLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// awaitReady returns once our own process says it takes connections. Asking
// the socket would not do: another server could answer there.
func (s *Server) awaitReady(ctx context.Context) error {
	for {
		if pid, ready := s.cluster.PID(); ready && pid == s.process.pid {
			return nil
		}
		select {
		case <-s.process.done:
			if s.cluster.Logged(s.logStart, remainsMessage) {
				return fmt.Errorf("%w: %s", errRemains, s.cluster.LogTail())
			}
			return fmt.Errorf("the server ended during its start (%w): %s", s.process.err, s.cluster.LogTail())
		default:
		}
		if err := pause(ctx, pollEvery); err != nil {
			return fmt.Errorf("the server was not ready in time: %w: %s", err, s.cluster.LogTail())
		}
	}
}

func (s *Server) createDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.cluster.DSN("postgres"))
	if err != nil {
		return oneLine(err)
	}
	defer conn.Close(ctx)
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, databaseName).Scan(&exists)
	if err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE DATABASE `+databaseName)
	return err
}

// DSN is the address of the server's database, for Connect.
func (s *Server) DSN() string { return s.cluster.DSN(databaseName) }

// Restart starts a server that has ended by itself anew, at the same address:
// connections made before are broken, those made after it returns work. It must
// not be called while another of s' methods is.
func (s *Server) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return errs.Wrap(s.launch(ctx), "built-in Postgres")
}

// Done is closed when the server process has ended, by Stop or by itself. After
// Restart it is another.
func (s *Server) Done() <-chan struct{} { return s.process.done }

// Stop ends the server: open transactions are rolled back, committed ones are
// on disk. It takes at most 10 seconds, or until ctx is done if that is
// sooner, when it is forced. It may be called more than once.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		if s.process != nil {
			s.stopErr = s.end(ctx)
		}
		if s.lock != nil {
			s.stopErr = errors.Join(s.stopErr, s.lock.Close())
		}
	})
	return s.stopErr
}

// end asks with growing emphasis: fast shutdown, immediate shutdown, kill.
func (s *Server) end(ctx context.Context) error {
	patient, cancel := context.WithTimeout(ctx, fastLimit)
	defer cancel()
	if s.process.end(patient, syscall.SIGINT) {
		return nil
	}
	s.log.WarnContext(ctx, "Postgres does not shut down in time, forcing it", "pid", s.process.pid)
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL} {
		brief, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if s.process.end(brief, sig) {
			return nil
		}
	}
	return fmt.Errorf("process %d of Postgres cannot be ended", s.process.pid)
}

// pause waits d for another process to get on.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
