package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, initdb, postgres string
		want                   Binaries
		problem                string
	}{
		{"Debian", "echo 'initdb (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)'", "echo 'postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)'",
			Binaries{Version: "15.18", Major: 15}, ""},
		{"a pre-release", "echo 'initdb (PostgreSQL) 19beta2'", "echo 'postgres (PostgreSQL) 19beta2'", Binaries{Version: "19beta2", Major: 19}, ""},
		{"no server", "echo 'initdb (PostgreSQL) 15.18'", "", Binaries{}, "postgres"},
		{"a mixture", "echo 'initdb (PostgreSQL) 15.18'", "echo 'postgres (PostgreSQL) 16.1'", Binaries{}, "initdb is 15.18 but postgres is 16.1"},
		{"a wrapper that wants a cluster", "echo 'Error: no cluster' >&2; exit 1", "exit 1", Binaries{}, "initdb"},
		{"a namesake", "echo 'initdb 1.0'", "echo hello", Binaries{}, "is not what a Postgres program answers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := fakeBinaries(t, tc.initdb, tc.postgres)
			got, err := Probe(t.Context(), dir)
			if tc.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tc.problem) {
					t.Errorf("Probe: %v, want an error with %q", err, tc.problem)
				}
				return
			}
			tc.want.Dir = dir
			if err != nil || got != tc.want {
				t.Errorf("Probe: %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
}

func TestFindPrefersTheVersionAskedFor(t *testing.T) {
	t.Parallel()
	say := func(version string) string { return "echo '(PostgreSQL) " + version + "'" }
	ancient := fakeBinaries(t, say("9.6.24"), say("9.6.24"))
	broken := fakeBinaries(t, "exit 1", "exit 1")
	old := fakeBinaries(t, say("77.1"), say("77.1"))
	newest := fakeBinaries(t, say("99.3"), say("99.3"))

	got, err := Find(t.Context(), 0, ancient, broken, old, newest)
	if err != nil || got.Dir != newest {
		t.Errorf("Find any: %+v, %v, want the newest", got, err)
	}
	got, err = Find(t.Context(), 77, ancient, broken, newest, old)
	if err != nil || got.Dir != old {
		t.Errorf("Find 77: %+v, %v, want that version", got, err)
	}
	_, err = Find(t.Context(), 9, ancient)
	if !errors.Is(err, ErrNoBinaries) {
		t.Errorf("Find 9: %v, want ErrNoBinaries: it is too old to start", err)
	}
}

// Several versions side by side may all be on PATH, as those of a version manager are.
func TestFindLooksAtAllOfPath(t *testing.T) {
	say := func(version string) string { return "echo '(PostgreSQL) " + version + "'" }
	first := fakeBinaries(t, say("98.1"), say("98.1"))
	second := fakeBinaries(t, say("77.1"), say("77.1"))
	t.Setenv("PATH", strings.Join([]string{first, "", filepath.Join(first, "gone"), second, os.Getenv("PATH")}, string(filepath.ListSeparator)))
	for _, want := range []Binaries{{first, "98.1", 98}, {second, "77.1", 77}} {
		if got, err := Find(t.Context(), want.Major); err != nil || got != want {
			t.Errorf("Find %d: %+v, %v, want %+v", want.Major, got, err, want)
		}
	}
}

func TestWhatIsThereButDoesNotDoIsNamed(t *testing.T) {
	t.Parallel()
	old, recent := Binaries{Dir: "/old", Version: "13.23", Major: 13}, Binaries{Dir: "/recent", Version: "17.10", Major: 17}
	for _, tc := range []struct {
		name  string
		found []Binaries
		want  int
		says  string
	}{
		{"nothing", nil, 0, "no Postgres server programs found"},
		{"nothing of that version", nil, 15, "no Postgres server programs found"},
		{"only one that is too old", []Binaries{old}, 0, "no Postgres server programs found of version 14 or newer (found 13.23)"},
		{"only others", []Binaries{old, recent}, 15, "no Postgres server programs found of version 15 (found 13.23, 17.10)"},
		{"the one, but too old", []Binaries{old, recent}, 13, "no Postgres server programs found of version 14 or newer (found 13.23, 17.10)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := choose(tc.found, tc.want)
			if !errors.Is(err, ErrNoBinaries) || err.Error() != tc.says {
				t.Errorf("choose: %+v, %v, want %q", got, err, tc.says)
			}
		})
	}
}

func TestPackageHint(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ release, version, want string }{
		{"ID=debian\n", "", "apt-get install postgresql`"},
		{"NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "16", "apt-get install postgresql-16` (from apt.postgresql.org"},
		{"ID=alpine\n", "17", "apk add postgresql17`"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "", "dnf install postgresql-server`"},
		{"ID=arch\n", "", "pacman -S postgresql`"},
		{"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "", "zypper install postgresql-server`"},
		{"", "", "your system's package"},
	} {
		if got := packageHint(tc.release, tc.version); !strings.Contains(got, tc.want) {
			t.Errorf("packageHint(%q) is %q, want %q in it", tc.release, got, tc.want)
		}
	}
}

// fakeBinaries makes a folder with scripts in place of the two programs; an
// empty one is left out.
func fakeBinaries(t *testing.T, initdb, postgres string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{"initdb": initdb, "postgres": postgres} {
		if script == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
