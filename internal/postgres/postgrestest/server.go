//go:build unix

package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

const (
	templatePrefix = "template_"
	testPrefix     = "test_"
	// pollEvery is the pause between two looks at something that another
	// process is about to do.
	pollEvery = 2 * time.Millisecond
)

// settings make the server fast and forgetful.
var settings = map[string]string{
	"fsync":              "off",
	"full_page_writes":   "off",
	"synchronous_commit": "off",
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
	"max_connections":    "500",
	"shared_buffers":     "128MB",
	"checkpoint_timeout": "1h",
	// The default leaves shared memory behind when a server is killed.
	"dynamic_shared_memory_type": "mmap",
	"max_wal_size":               "256MB",
	"autovacuum_naptime":         "1h",
	"timezone":                   "America/St_Johns",
	"log_timezone":               "UTC",
	"log_min_messages":           "warning",
}

// supervisor is the shell script between the test programs and the server.
// Its standard input is a pipe into which each test program writes its name
// and which it then holds open; the kernel closes it for a program that is
// killed. The script acknowledges a name with a file of that name in the
// folder $0, so a program that has seen its file knows that the pipe is being
// watched and will be until it ends. When the last has closed the pipe, the
// script stops the server: in order, or at once where that takes long, since a
// backend can hang that is told to end while its client leaves. Postgres kills
// such a one 5 s after that.
const supervisor = `
exec 9<&0 </dev/null
"$@" 9<&- &
server=$!
( while read -r name <&9; do [ -z "$name" ] || true >"$0/$name"; done; kill -INT "$server"; exec 9<&-; sleep 5; kill -QUIT "$server" ) &
watcher=$!
exec 9<&-
wait "$server"
kill "$watcher" 2>/dev/null
`

// server is the shared server as one test program sees it.
type server struct {
	cluster *cluster.Cluster
	pipe    *os.File // open as long as this program needs the server

	executing sync.Mutex
	kept      *pgx.Conn // of exec; nil until it is needed

	templateOnce sync.Once
	templateName string
	templateErr  error
}

// join makes this program a user of the server in dir, which it starts if it
// is not running.
func join(ctx context.Context, user cluster.User, dir string) (*server, error) {
	s := &server{cluster: &cluster.Cluster{Dir: dir, User: user}}
	unlock, err := lockFile(ctx, s.path("start.lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if joined, err := s.register(ctx); joined || err != nil {
		return s, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, s.dropLeftovers(ctx)
}

// sharedDir returns the folder that this user's test programs share.
func sharedDir() (string, error) {
	dir := filepath.Join(ScratchDir(), "signalbox-postgrestest-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("%s is not a folder of this user alone: remove it", dir)
	}
	return dir, nil
}

func (s *server) path(name string) string { return filepath.Join(s.cluster.Dir, name) }

// register tells a running supervisor about this program. It reports false
// when none is watching or the server under it is not well.
func (s *server) register(ctx context.Context) (bool, error) {
	// Opening a pipe that nobody reads fails at once in this mode.
	pipe, err := os.OpenFile(s.path("users"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil
	}
	if s.acknowledged(ctx, pipe) && s.waitReady(ctx, 5*time.Second) == nil {
		s.pipe = pipe
		return true, nil
	}
	return false, pipe.Close()
}

// acknowledged writes this program's name into the pipe and waits for the
// answer. A supervisor that was just about to stop gives none, and its end
// shows in that nothing more can be written.
func (s *server) acknowledged(ctx context.Context, pipe *os.File) bool {
	name := strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if _, err := pipe.WriteString(name + "\n"); err != nil {
		return false
	}
	answer := filepath.Join(s.path("seen"), name)
	err := poll(ctx, 10*time.Second, func() bool {
		if _, err := os.Stat(answer); err == nil {
			return true
		}
		_, err := pipe.WriteString("\n")
		return err != nil
	})
	return err == nil && os.Remove(answer) == nil
}

// start launches server and supervisor. The caller holds the start lock.
func (s *server) start(ctx context.Context) error {
	if err := s.waitGone(ctx); err != nil {
		return err
	}
	binaries, err := cluster.Find(ctx, 0)
	if err != nil {
		return err
	}
	s.cluster.Binaries = binaries
	if err := s.initialise(ctx); err != nil {
		return err
	}
	if err := s.launch(); err != nil {
		return err
	}
	if !s.acknowledged(ctx, s.pipe) {
		return fmt.Errorf("the supervisor of the test server did not answer: %s", s.cluster.LogTail())
	}
	if err := s.waitReady(ctx, 2*time.Minute); err != nil {
		return fmt.Errorf("the test server did not start: %w: %s", err, s.cluster.LogTail())
	}
	return nil
}

// waitGone waits for the end of a server whose last user has left.
func (s *server) waitGone(ctx context.Context) error {
	err := poll(ctx, 30*time.Second, func() bool {
		pid, _ := s.cluster.PID()
		return !cluster.Serving(pid)
	})
	if err != nil {
		pid, _ := s.cluster.PID()
		return fmt.Errorf("test server %d in %s neither serves nor stops: end it and remove that folder", pid, s.cluster.Dir)
	}
	return nil
}

// initialise makes the data directory, anew if it comes from another version
// or from a server that did not shut down: without syncs it may be broken.
func (s *server) initialise(ctx context.Context) error {
	crashed, _ := s.cluster.PID()
	if err := s.cluster.Disown(); err != nil {
		return err
	}
	err := s.cluster.Init(ctx)
	if crashed == 0 && err == nil {
		return nil
	}
	if err := os.RemoveAll(s.cluster.DataDir()); err != nil {
		return err
	}
	return s.cluster.Init(ctx)
}

func (s *server) launch() error {
	if err := s.seenDir(); err != nil {
		return err
	}
	reader, err := s.openPipe()
	if err != nil {
		return err
	}
	defer reader.Close()
	log, err := os.Create(s.cluster.LogPath())
	if err != nil {
		return err
	}
	defer log.Close()
	command, release, err := s.cluster.Command(settings)
	if err != nil {
		return err
	}
	defer release()
	wrapped := exec.Command("/bin/sh", append([]string{"-c", supervisor, s.path("seen")}, command.Args...)...)
	wrapped.Dir, wrapped.Env, wrapped.ExtraFiles, wrapped.SysProcAttr = command.Dir, command.Env, command.ExtraFiles, command.SysProcAttr
	wrapped.Stdin, wrapped.Stdout, wrapped.Stderr = reader, log, log
	// Interrupting the tests at a terminal must not hit the server of others.
	wrapped.SysProcAttr.Setpgid, wrapped.SysProcAttr.Setsid = false, true
	if err := wrapped.Start(); err != nil {
		return fmt.Errorf("start the test server: %w", err)
	}
	// It outlives us if others use it, so nobody here waits for it.
	return wrapped.Process.Release()
}

// seenDir makes the empty folder for the supervisor's answers.
func (s *server) seenDir() error {
	dir := s.path("seen")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if !s.cluster.User.Drop {
		return nil
	}
	return os.Chown(dir, int(s.cluster.User.UID), int(s.cluster.User.GID))
}

// openPipe makes the users' pipe and opens both ends: the writing one is this
// program's claim on the server and exists before the supervisor does, so the
// server stops also if this program is killed right now.
func (s *server) openPipe() (reader *os.File, err error) {
	path := s.path("users")
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, err
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if s.pipe, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	// The shell expects reads that wait.
	if err := syscall.SetNonblock(fd, false); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	return os.NewFile(uintptr(fd), path), nil
}

// waitReady waits until the server takes connections.
func (s *server) waitReady(ctx context.Context, limit time.Duration) error {
	return poll(ctx, limit, func() bool {
		pid, ready := s.cluster.PID()
		return ready && cluster.Serving(pid)
	})
}

// dropLeftovers removes what killed test programs left, and templates of
// migrations that are no more. Right after a start nobody uses them.
func (s *server) dropLeftovers(ctx context.Context) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, `SELECT datname FROM pg_database WHERE starts_with(datname, $1) OR starts_with(datname, $2)
		ORDER BY starts_with(datname, $2), oid DESC`, testPrefix, templatePrefix)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	templates := 0
	for _, name := range names {
		if strings.HasPrefix(name, templatePrefix) {
			// A few are kept, for those who switch between branches.
			if templates++; templates <= 4 {
				continue
			}
		}
		if _, err := conn.Exec(ctx, "DROP DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) hasDatabase(ctx context.Context, name string) (exists bool, err error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	return exists, err
}

// exec runs statements, one by one, on a connection that this program keeps: two of them for each test, for its database to be made and
// dropped, are work for the server.
func (s *server) exec(ctx context.Context, statements ...string) error {
	s.executing.Lock()
	defer s.executing.Unlock()
	for _, statement := range statements {
		err := s.exec1(ctx, statement)
		if err != nil && s.kept != nil && s.kept.IsClosed() && ctx.Err() == nil { // as by a server that was ended since
			err = s.exec1(ctx, statement)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *server) exec1(ctx context.Context, statement string) (err error) {
	if s.kept == nil || s.kept.IsClosed() {
		if s.kept, err = s.connect(ctx); err != nil {
			s.kept = nil
			return err
		}
	}
	_, err = s.kept.Exec(ctx, statement)
	return err
}

func (s *server) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, s.cluster.DSN("postgres"))
}

// lockFile waits for the exclusive lock on path, which ends with the returned
// function or with the process.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = poll(ctx, time.Minute, func() bool {
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	})
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s is held by another test program: %w", path, err)
	}
	return func() { f.Close() }, nil
}

// poll calls done until it is true.
func poll(ctx context.Context, limit time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
