//go:build unix

package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Superuser is the role that owns everything in our clusters. The socket's
// folder admits only our own user, so it needs no password.
const Superuser = "signalbox"

// maxSocketPath is the longest socket path that every unix accepts: the
// kernel's field holds 104 bytes on the BSDs and 108 on Linux, with a zero.
const maxSocketPath = 103

// socketFile is the name Postgres gives the socket of its default port.
const socketFile = ".s.PGSQL.5432"

// Cluster is one folder with a Postgres data directory in it.
type Cluster struct {
	Dir      string // absolute
	Binaries Binaries
	User     User
}

// ErrForeignVersion is returned when a data directory was written by another
// major version of Postgres than the programs at hand.
var ErrForeignVersion = errors.New("data was written by another Postgres version")

// DataDir is where Postgres keeps its files.
func (c *Cluster) DataDir() string { return filepath.Join(c.Dir, "data") }

// LogPath is the file that receives what the server says.
func (c *Cluster) LogPath() string { return filepath.Join(c.Dir, "postgres.log") }

// DataVersion is the major version that wrote the data directory in dir, 0 if
// there is none yet.
func DataVersion(dir string) (int, error) {
	path := filepath.Join(dir, "data", "PG_VERSION")
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(path)); err == nil {
			return 0, fmt.Errorf("%s exists but is no Postgres data directory (it has no PG_VERSION): move it away", filepath.Dir(path))
		}
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	major := leadingInt(string(raw))
	if major == 0 {
		return 0, fmt.Errorf("%s: %q is no version", path, bytes.TrimSpace(raw))
	}
	return major, nil
}

// Init creates the data directory if there is none. It is made beside its
// final place and renamed when whole, so a crash leaves nothing half-made in
// use. An existing one is left as it is; ErrForeignVersion if these programs
// cannot read it.
func (c *Cluster) Init(ctx context.Context) error {
	major, err := DataVersion(c.Dir)
	if err != nil {
		return err
	}
	if major == c.Binaries.Major {
		return nil
	}
	if major != 0 {
		return fmt.Errorf("%w: %s needs Postgres %d, found %s in %s; install Postgres %d, or move the data with pg_upgrade or pg_dump",
			ErrForeignVersion, c.DataDir(), major, c.Binaries.Version, c.Binaries.Dir, major)
	}
	unfinished := c.DataDir() + ".tmp"
	for _, locale := range localeOptions(c.Binaries.Major) {
		// What an interrupted initdb left was never used and holds nothing.
		if err = os.RemoveAll(unfinished); err != nil {
			return err
		}
		if err = c.initdb(ctx, unfinished, locale); err == nil {
			return os.Rename(unfinished, c.DataDir())
		}
	}
	return err
}

// localeOptions lists initdb's options from the best to the plainest: a
// locale that knows every letter's upper and lower case and sorts the same on
// every machine, if this machine and this version have one.
func localeOptions(major int) [][]string {
	options := [][]string{{"--locale=C.UTF-8"}, {"--locale=en_US.UTF-8"}, {"--locale=C"}}
	if major >= 17 {
		builtin := []string{"--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"}
		options = slices.Insert(options, 0, builtin)
	}
	return options
}

func (c *Cluster) initdb(ctx context.Context, dir string, locale []string) error {
	if err := c.User.privateDir(dir); err != nil {
		return err
	}
	l, err := c.newLaunch("initdb", dir)
	if err != nil {
		return err
	}
	defer l.close()
	args := append([]string{"--pgdata=" + l.paths[0], "--username=" + Superuser, "--encoding=UTF8",
		"--auth=trust", "--no-sync", "--no-instructions"}, locale...)
	cmd := l.command(ctx, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb %s: %w: %s", dir, err, lastLines(out, 3))
	}
	return nil
}

// Command returns a command, not yet started, that runs the server in the
// foreground with the given settings on top of those every cluster of ours
// has: a private unix socket and no network. The caller starts it and then
// calls release.
//
// When the server's user cannot enter a folder above the cluster, the command
// inherits the directories it needs as open files and names them
// /proc/self/fd/N, which no folder above can forbid. Backends are forked from
// the server and inherit them too. Only Linux has this.
func (c *Cluster) Command(settings map[string]string) (cmd *exec.Cmd, release func(), err error) {
	socketDir := c.SocketDir()
	if err := c.User.privateDir(socketDir); err != nil {
		return nil, nil, fmt.Errorf("socket folder: %w", err)
	}
	l, err := c.newLaunch("postgres", c.DataDir(), socketDir)
	if err != nil {
		return nil, nil, err
	}
	args := []string{"-D", l.paths[0], "-k", l.paths[1], "-p", "5432",
		"-c", "listen_addresses=", "-c", "unix_socket_permissions=0700", "-c", "logging_collector=off", "-c", "log_destination=stderr"}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return l.command(context.Background(), args...), l.close, nil
}

// SocketDir is the folder of the server's socket: run/ inside the cluster, or
// when that path is too long for a socket, a folder named after the cluster
// in the temporary folder.
func (c *Cluster) SocketDir() string {
	dir := filepath.Join(c.Dir, "run")
	if len(filepath.Join(dir, socketFile)) <= maxSocketPath {
		return dir
	}
	base := os.Getenv("XDG_RUNTIME_DIR")
	if base == "" || c.User.Drop || len(base) > 40 {
		base = "/tmp"
	}
	sum := sha256.Sum256([]byte(c.Dir))
	return filepath.Join(base, "signalbox-"+hex.EncodeToString(sum[:6]))
}

// DSN is the address of one database of the running server.
func (c *Cluster) DSN(database string) string {
	query := url.Values{"host": {c.SocketDir()}, "port": {"5432"}, "sslmode": {"disable"}}
	u := url.URL{Scheme: "postgres", User: url.User(Superuser), Path: "/" + database, RawQuery: query.Encode()}
	return u.String()
}

// LogTail returns the last lines of the server's log on one line, for an
// error message.
func (c *Cluster) LogTail() string {
	raw, err := os.ReadFile(c.LogPath())
	if err != nil || len(bytes.TrimSpace(raw)) == 0 {
		return "no log at " + c.LogPath()
	}
	return lastLines(raw, 3)
}

// Logged reports whether the server wrote text to its log within 64 kB of the offset start.
func (c *Cluster) Logged(start int64, text string) bool {
	log, err := os.Open(c.LogPath())
	if err != nil {
		return false
	}
	defer log.Close()
	raw, err := io.ReadAll(io.NewSectionReader(log, start, 64<<10))
	return err == nil && bytes.Contains(raw, []byte(text))
}

func lastLines(raw []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, " | ")
}

// launch is a program about to run as the cluster's user, with the folders it
// works on.
type launch struct {
	cluster *Cluster
	program string
	paths   []string   // how the program names each folder
	files   []*os.File // handles it inherits, if it needs any
}

func (c *Cluster) newLaunch(program string, dirs ...string) (*launch, error) {
	l := &launch{cluster: c, program: program, paths: slices.Clone(dirs)}
	if !slices.ContainsFunc(dirs, func(dir string) bool { return !c.User.CanReach(dir) }) {
		return l, nil
	}
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("user %s, whom Postgres runs as, cannot enter %s: choose another DATA_DIR or start as another user than root",
			c.User.Name, c.Dir)
	}
	for i, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			l.close()
			return nil, err
		}
		l.files = append(l.files, f)
		// A child's first inherited file is number 3.
		l.paths[i] = "/proc/self/fd/" + strconv.Itoa(3+i)
	}
	return l, nil
}

func (l *launch) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.cluster.Binaries.Path(l.program), args...)
	// Postgres must be able to return to its working folder, so not ours.
	cmd.Dir = "/"
	// PG* variables of the user's shell must not steer our server.
	cmd.Env = []string{"PATH=" + l.cluster.Binaries.Dir + ":/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	cmd.ExtraFiles = l.files
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: l.cluster.User.credential(), Setpgid: true}
	return cmd
}

func (l *launch) close() {
	for _, f := range l.files {
		f.Close()
	}
}
