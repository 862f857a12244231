//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// TestMemoryAtRest bounds what the program takes when nothing is done, beside its own file: of that the system keeps as much resident as it
// likes, 45 to 62 MB of the same program, by how it lies in the system's cache. So the file's size has a bound of its own. The limits are a
// sixth above what is measured, since garbage that waits for its collector counts, too.
func TestMemoryAtRest(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	if runtime.GOOS != "linux" {
		return // /proc is asked
	}
	binary, err := shared.plain()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(binary); err != nil || info.Size() > 96<<20 {
		t.Errorf("the program's file is larger than 96 MiB: %+v, %v", info, err)
	}
	for _, c := range []struct {
		name  string
		added int // tools beside those that come with the program
		limit int // bytes
	}{
		{"the bundled tools", 0, 24 << 20},
		{"a thousand more tools", 1000, 68 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, spec{plain: true, env: []string{
				"DATABASE_URL=" + postgrestest.DSN(postgrestest.New(t)), "ADMIN_TOKEN=" + adminToken,
				"WORKFLOWS_DIR=" + manyWorkflows(t, c.added), "LOG_LEVEL=warn", "SYNC_SCHEDULE=@yearly", // reading all tools again is no rest
			}})
			if n := len(newClient(p, "ann").tools()); n < c.added {
				t.Fatalf("%d tools", n)
			}
			taken := 0
			await(t, "the memory to settle below the limit", func() bool {
				taken = residentKB(t, p.cmd.Process.Pid, "RssAnon:")
				return taken<<10 < c.limit
			}, func() string { return fmt.Sprintf("%d kB taken", taken) })
			t.Logf("%d kB taken, %.2f of the limit; with the program's file %d kB resident", taken, float64(taken<<10)/float64(c.limit), residentKB(t, p.cmd.Process.Pid, "VmRSS:"))
		})
	}
}

// manyWorkflows makes n files of the bundled workflows, each with words of its own.
func manyWorkflows(t testing.TB, n int) string {
	t.Helper()
	dir := newDir(t)
	sources := []string{"beforeafter", "contactsheet", "filmlook", "poster", "sticker", "wallpaper"} // their ids come from the files' names
	for i := range n {
		data, err := os.ReadFile(filepath.Join("../../workflows", sources[i%len(sources)]+".json"))
		if err != nil {
			t.Fatal(err)
		}
		words, err := json.Marshal(fmt.Sprintf("Number %d of many. ", i))
		if err != nil {
			t.Fatal(err)
		}
		own := strings.ReplaceAll(string(data), "**Inputs:**", strings.Trim(string(words), `"`)+"**Inputs:**")
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("many%04d.json", i)), []byte(own), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// residentKB reads what a process has resident, RssAnon: without files or VmRSS: with them.
func residentKB(t testing.TB, pid int, what string) (kb int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), what)
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatalf("%s %v", what, err)
	}
	return kb
}
