//go:build unix

package postgrestest

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PgBouncer starts one in transaction mode in front of a pool's database, which ends with the test, and gives the database's address there. Where
// none is installed the test fails under CI, and is skipped elsewhere.
func PgBouncer(t testing.TB, pool *pgxpool.Pool) string {
	t.Helper()
	dir, err := os.MkdirTemp(ScratchDir(), "pgb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	address, pooler, err := StartPgBouncer(dir, pool.Config().ConnConfig, 3)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip("no pgbouncer: apt install pgbouncer")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pooler.Process.Kill()
		pooler.Wait()
	})
	return address
}

// StartPgBouncer starts one in transaction mode with so many connections to a server, and gives the database's address there. It has a folder for
// itself; who calls it kills it. The error of a machine that has none is fs.ErrNotExist.
func StartPgBouncer(dir string, server *pgx.ConnConfig, connections int) (address string, pooler *exec.Cmd, err error) {
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		path = "/usr/sbin/pgbouncer"
		if _, err = os.Stat(path); err != nil {
			return "", nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	settings := fmt.Sprintf(`[databases]
* = host=%s port=%d user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 1000
`, server.Host, server.Port, server.User, port, connections)
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := errors.Join(listener.Close(), os.WriteFile(file, []byte(settings), 0o644)); err != nil {
		return "", nil, err
	}
	cmd := exec.Command(path, "-q", file)
	if info, err := os.Stat(server.Host); err == nil && os.Getuid() == 0 { // it refuses to run as root
		owner := info.Sys().(*syscall.Stat_t)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
		if err := os.Chmod(dir, 0o755); err != nil {
			return "", nil, err
		}
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	address = fmt.Sprintf("127.0.0.1:%d", port)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", server.User, address, server.Database), cmd, nil
		}
		if time.Now().After(end) {
			return "", nil, errors.Join(fmt.Errorf("pgbouncer does not listen: %w %s", err, said.String()), cmd.Process.Kill(), cmd.Wait())
		}
	}
}
