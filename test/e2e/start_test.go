//go:build unix

package e2e

import (
	"bytes"
	"image"
	_ "image/png"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// TestStart is the life of one DATA_DIR, through all ways to end.
func TestStart(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	t.Run("this user, in a home that only its owner can enter", func(t *testing.T) {
		t.Parallel()
		life(t, nil)
	})
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			return // only root can become somebody else; the other test is all there is for this user
		}
		life(t, credentialOf(t, "nobody"))
	})
}

func credentialOf(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func life(t *testing.T, as *syscall.Credential) {
	home := newDirIn(t, "/tmp") // on the disk that people have
	if as != nil {
		if err := os.Chown(home, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s := spec{dir: filepath.Join(home, "data"), user: as, env: []string{"ADMIN_TOKEN=" + adminToken}}

	first := start(t, s)
	t.Logf("the first start took %v", first.ready.Round(time.Millisecond))
	firsts := []time.Duration{first.ready}
	for len(firsts) < 3 && firsts[len(firsts)-1] > 15*time.Second {
		again := s
		again.dir = filepath.Join(home, "again"+strconv.Itoa(len(firsts)))
		p := start(t, again)
		firsts = append(firsts, p.ready)
		p.kill()
	}
	checkQuickest(t, "the first start", 15*time.Second, firsts...)
	checkBanner(t, first)
	if said := first.log.String(); said != "" {
		t.Errorf("before and beside its first lines the program says:\n%s", said)
	}
	checkProbes(t, first)
	c := newClient(first, "ann")
	done := c.succeed("wallpaper", small(64))
	before := c.balance()
	first.stop(os.Interrupt)

	second := start(t, s)
	later := []time.Duration{second.ready}
	c.page = second.page
	checkKept(t, c, done, before)
	second.stop(syscall.SIGTERM)

	third := start(t, s)
	later = append(later, third.ready)
	third.kill()

	fourth := start(t, s) // after kill -9 the database recovers
	later = append(later, fourth.ready)
	t.Logf("later starts took %v", later)
	checkQuickest(t, "later starts", 5*time.Second, later...)
	c.page = fourth.page
	checkKept(t, c, done, before)

	refused := run(t, s)
	if got := lines(refused.stderr); refused.code == 0 || len(got) != 1 || !strings.Contains(refused.stderr, "in use by another program") {
		t.Errorf("a second program on one DATA_DIR: code %d, %q", refused.code, refused.stderr)
	}
	c.succeed("wallpaper", small(80))
	fourth.stop(os.Interrupt)
}

func checkBanner(t *testing.T, p *program) {
	t.Helper()
	banner := lines(p.out.String())
	if len(banner) != 5 {
		t.Fatalf("the program prints %d lines, want 5:\n%s", len(banner), p.out.String())
	}
	for i, want := range []string{p.page, "7 ready, 1 waiting", "web", p.dir, "Ctrl-C"} {
		if !strings.Contains(banner[i], want) {
			t.Errorf("line %d of the banner is %q, want %q in it", i+1, banner[i], want)
		}
	}
}

func checkProbes(t *testing.T, p *program) {
	t.Helper()
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready", "/metrics": "signalbox_tools_offered 7", "/": "Wallpaper"} {
		if body := p.get(path); !strings.Contains(body, want) {
			t.Errorf("%s has no %q:\n%.1000s", path, want, body)
		}
	}
}

// checkKept expects that an earlier life's run, its picture and its price are still there.
func checkKept(t *testing.T, c client, done apiRun, before balance) {
	t.Helper()
	now := c.finished(done.RunID)
	if now.Status != done.Status || now.Cost != done.Cost || len(now.Outputs) != len(done.Outputs) {
		t.Errorf("the run was %+v and is %+v", done, now)
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(c.picture(now.Outputs[0].URL)))
	if err != nil || format != "png" || config.Width != 64 {
		t.Errorf("the picture of the earlier run: %v %s %v", config, format, err)
	}
	if b := c.balance(); b != before || b.Held != 0 {
		t.Errorf("the balance was %+v and is %+v", before, b)
	}
}

func TestNoEnvironment(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	t.Run("without DATA_DIR the data is in the user's home", func(t *testing.T) {
		t.Parallel()
		home := newDir(t)
		p := start(t, spec{dir: filepath.Join(home, ".local", "share", "signalbox"), env: []string{"DATA_DIR=", "HOME=" + home}})
		if !strings.Contains(p.out.String(), p.dir) {
			t.Errorf("the banner does not name %s:\n%s", p.dir, p.out)
		}
		p.stop(os.Interrupt)
		if _, err := os.Stat(filepath.Join(p.dir, "postgres", "data", "PG_VERSION")); err != nil {
			t.Error(err)
		}
	})
}

func TestStopsWhileBusy(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	p := start(t, spec{env: []string{"ADMIN_TOKEN=" + adminToken}})
	c := newClient(p, "ann")
	ids := []string{c.run("wallpaper", small(1024)).RunID} // with the race detector one node of it takes longer than the program waits for
	for range 11 {
		ids = append(ids, c.run("wallpaper", small(128)).RunID)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.page+"/api/runs/"+ids[11]+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	stream, err := http.DefaultClient.Do(req) // somebody watches
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	p.stop(syscall.SIGTERM)

	p = start(t, spec{dir: p.dir, env: []string{"LOG_LEVEL=debug"}})
	c.page = p.page
	for _, id := range ids {
		if r := c.finished(id); r.Status != "succeeded" {
			t.Errorf("after the restart: %+v", r)
		}
	}
	if b := c.balance(); b.Held != 0 {
		t.Errorf("%+v", b)
	}
}

func TestDatabaseURL(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	t.Run("that server is used and nothing is started", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.NewEmpty(t)
		dir := filepath.Join(newDir(t), "data")
		p := start(t, spec{dir: dir, env: []string{"DATABASE_URL=" + postgrestest.DSN(pool), "ADMIN_TOKEN=" + adminToken}})
		checkProbes(t, p)
		newClient(p, "ann").succeed("wallpaper", small(64))
		if _, err := os.Stat(filepath.Join(dir, "postgres")); !os.IsNotExist(err) {
			t.Errorf("DATA_DIR has a database: %v", err)
		}
		if others := processesIn(dir); len(others) != 0 {
			t.Errorf("something was started: %v", others)
		}
		p.stop(syscall.SIGTERM)
		var n int
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM runs WHERE status = 'succeeded'`).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d runs, %v", n, err)
		}
	})
	t.Run("two programs share one server", func(t *testing.T) {
		t.Parallel()
		env := []string{"DATABASE_URL=" + postgrestest.DSN(postgrestest.NewEmpty(t)), "HOUSE_KEY=" + strings.Repeat("ab", 32), "ADMIN_TOKEN=" + adminToken}
		a := start(t, spec{dir: filepath.Join(newDir(t), "a"), env: env})
		b := start(t, spec{dir: filepath.Join(newDir(t), "b"), env: env})
		c := newClient(a, "ann")
		c.succeed("wallpaper", small(64))
		c.page = b.page
		if n := len(c.runs()); n != 1 {
			t.Errorf("the other program knows %d runs", n)
		}
	})
	for name, address := range map[string]func(*testing.T) string{"nobody listens": closedPort, "nobody answers": silentPort} {
		t.Run("unreachable, "+name+": one line without the password", func(t *testing.T) {
			t.Parallel()
			r := runQuick(t, 10*time.Second, spec{env: []string{"DATABASE_URL=postgres://ann:hunter2secret@" + address(t) + "/signalbox"}})
			if got := lines(r.stderr); r.code != 1 || len(got) != 1 || r.stdout != "" {
				t.Errorf("code %d:\n%s%s", r.code, r.stdout, r.stderr)
			}
			if strings.Contains(r.stderr, "hunter2") || !strings.Contains(r.stderr, "signalbox: DATABASE_URL: database") {
				t.Errorf("%q", r.stderr)
			}
		})
	}
	t.Run("the schema can be brought up to date alone", func(t *testing.T) {
		t.Parallel()
		pool := postgrestest.NewEmpty(t)
		s := spec{args: []string{"migrate"}, env: []string{"DATABASE_URL=" + postgrestest.DSN(pool)}}
		if r := run(t, s); r.code != 0 || !strings.Contains(r.stdout, "up to date") || strings.HasPrefix(r.stdout, "0 ") {
			t.Errorf("%+v", r)
		}
		if r := run(t, s); r.code != 0 || !strings.HasPrefix(r.stdout, "0 steps") {
			t.Errorf("the second time: %+v", r)
		}
		var table *string
		if err := pool.QueryRow(t.Context(), `SELECT to_regclass('ledger_entries')::text`).Scan(&table); err != nil || table == nil {
			t.Errorf("%v, %v", table, err)
		}
		_, err := pool.Exec(t.Context(), `SELECT 1 FROM runs`, pgx.QueryExecModeExec)
		if err != nil {
			t.Error(err)
		}
	})
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// silentPort is an address that takes connections and says nothing.
func silentPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
