package postgres

import (
	"context"
	"net"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestConnect(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(postgrestest.NewEmpty(t))
	pool, err := Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var name string
	if err := pool.QueryRow(t.Context(), `SELECT current_setting('application_name')`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if name != "signalbox" {
		t.Errorf("application_name is %q, want signalbox", name)
	}
	var found int
	for range 2 { // as webhooks, lists of runs, the gallery and the income of creators ask
		if err := pool.QueryRow(t.Context(), `SELECT $1::int`, pgx.QueryExecModeCacheDescribe, 1).Scan(&found); err != nil || found != 1 {
			t.Errorf("a statement that is planned anew each time gives %d: %v", found, err)
		}
	}
	for processors, want := range map[int]int32{1: 8, 2: 8, 4: 16, 64: 32} {
		if got := maxConns(processors); got != want {
			t.Errorf("for %d processors the pool has %d connections, want %d", processors, got, want)
		}
	}
	if got, want := pool.Config().MaxConns, maxConns(runtime.GOMAXPROCS(0)); got != want {
		t.Errorf("the pool has %d connections, want %d", got, want)
	}

	sized, err := Connect(t.Context(), dsn+"&pool_max_conns=3&application_name=other")
	if err != nil {
		t.Fatal(err)
	}
	defer sized.Close()
	if got := sized.Config().MaxConns; got != 3 {
		t.Errorf("pool_max_conns=3 gives %d connections", got)
	}
}

// TestConnectFailures proves the one clear line, in time and without the
// password, whatever is wrong.
func TestConnectFailures(t *testing.T) {
	t.Parallel()
	if connectLimit >= 10*time.Second {
		t.Errorf("Connect may take %v, want less than 10s", connectLimit)
	}
	const password = "hunter2-secret"
	socketDSN := postgrestest.DSN(postgrestest.NewEmpty(t))
	unused, silent := unusedAddress(t), silentAddress(t)
	for _, tc := range []struct{ name, dsn, want string }{
		{"nobody listens", "postgres://me:" + password + "@" + unused + "/db", `at ` + unused + ` as user "me": connection refused`},
		{"several hosts", "postgres://me:" + password + "@" + unused + "," + unused + "/db", "refused"},
		{"a server that never answers", "postgres://me:" + password + "@" + silent + "/db", "no answer"},
		{"another database program", "mysql://me:" + password + "@localhost/db", "postgres://user:password@host"},
		{"an address that cannot be read", "postgres://me:" + password + "%zz@host:port/db", "postgres://user:password@host"},
		{"a bad port", "postgres://me:" + password + "@localhost:99999999/db", "postgres://user:password@host"},
		{"no such database", strings.Replace(socketDSN, "/test_", "/absent_", 1), "does not exist"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pool, err := connectWithin(t.Context(), tc.dsn, "", time.Second)
			if err == nil {
				pool.Close()
				t.Fatal("Connect succeeded")
			}
			if strings.Contains(err.Error(), password) {
				t.Errorf("the password is in %q", err)
			}
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want one line with %q, got %q", tc.want, err)
			}
		})
	}
}

func TestConnectWithoutAConnectionLeft(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	guest := pool.Config().ConnConfig.Database + "_g"
	if _, err := pool.Exec(t.Context(), `CREATE ROLE `+guest+` LOGIN CONNECTION LIMIT 0`); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := pool.Exec(context.Background(), `DROP ROLE `+guest); err != nil {
			t.Error(err)
		}
	}()
	_, err := Connect(t.Context(), strings.Replace(postgrestest.DSN(pool), "//"+cluster.Superuser+"@", "//"+guest+"@", 1))
	if err == nil || !strings.Contains(err.Error(), "set pool_max_conns") || strings.Contains(err.Error(), "\n") {
		t.Errorf("want one line that says what to set, got %v", err)
	}
}

// Names and prompts come in every script.
func TestConnectWantsADatabaseForEveryLetter(t *testing.T) {
	t.Parallel()
	pool := postgrestest.NewEmpty(t)
	name := pool.Config().ConnConfig.Database + "_l"
	exec := func(sql string) {
		if _, err := pool.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec("CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
	defer exec("DROP DATABASE " + name + " WITH (FORCE)")
	u, err := url.Parse(postgrestest.DSN(pool))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	latin, err := Connect(t.Context(), u.String())
	if err == nil {
		latin.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "LATIN1") || !strings.Contains(err.Error(), "ENCODING 'UTF8'") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Connect: %v, want one line with the encoding and what to do", err)
	}
}

// unusedAddress is one where nothing listens.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l := listen(t)
	l.Close()
	return l.Addr().String()
}

// silentAddress is one that takes connections and says nothing.
func silentAddress(t *testing.T) string {
	t.Helper()
	l := listen(t)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
