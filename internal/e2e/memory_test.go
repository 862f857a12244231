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
	"time"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// memoryLimit is what the program alone may have resident at rest, with a thousand tools.
const memoryLimit = 60 << 20

func TestMemoryAtRest(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	if runtime.GOOS != "linux" {
		return // /proc is asked
	}
	const tools = 1000
	flows := manyWorkflows(t, tools)
	p := start(t, spec{plain: true, env: []string{
		"DATABASE_URL=" + postgrestest.DSN(postgrestest.NewEmpty(t)), "ADMIN_TOKEN=" + adminToken,
		"WORKFLOWS_DIR=" + flows, "LOG_LEVEL=warn",
	}})
	c := newClient(p, "ann")
	if n := len(c.tools()); n < tools {
		t.Fatalf("%d tools", n)
	}
	c.succeed("many0005", small(64)) // has worked a little
	resident := 0
	began := time.Now()
	await(t, "the memory to settle below the limit", func() bool {
		resident = residentKB(t, p.cmd.Process.Pid)
		return resident<<10 < memoryLimit
	}, func() string { return fmt.Sprintf("%d kB resident", resident) })
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v to settle", took)
	}
	t.Logf("%d kB resident with %d tools, %.2f of the limit", resident, tools, float64(resident<<10)/memoryLimit)
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

// residentKB reads VmRSS.
func residentKB(t testing.TB, pid int) (kb int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatalf("VmRSS: %v", err)
	}
	return kb
}
