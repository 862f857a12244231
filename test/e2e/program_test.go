//go:build unix

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	bench "github.com/signalbox/signalbox/test/bench/program"
)

// place holds what all tests share: the binary, and a DATA_DIR that has seen its first start.
type place struct {
	dir    string
	binary func() (string, error)
	plain  func() (string, error) // without the race detector
	seed   func() (string, error)
}

var shared place

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sbe2e")
	if err == nil {
		err = os.Chmod(dir, 0o755) // other users run the binary too
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch, err := os.MkdirTemp(postgrestest.ScratchDir(), "sbe2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	shared = place{
		dir:    dir,
		binary: sync.OnceValues(func() (string, error) { return build(filepath.Join(dir, "signalbox"), race) }),
		plain:  sync.OnceValues(func() (string, error) { return build(filepath.Join(dir, "signalbox-plain"), false) }),
	}
	if !race {
		shared.plain = shared.binary
	}
	shared.seed = sync.OnceValues(func() (string, error) { return seed(scratch) })
	return m.Run()
}

// build makes the binary.
func build(file string, race bool) (string, error) {
	if err := bench.DependOnSources("../.."); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-buildvcs=false", "-race="+strconv.FormatBool(race), "-o", file, "../../cmd/signalbox").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
}

// seed makes a DATA_DIR whose database is there and migrated.
func seed(dir string) (string, error) {
	binary, err := shared.binary()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "seed")
	cmd := exec.Command(binary, "migrate")
	cmd.Env = append(surroundings(dir), "DATA_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("migrate: %w\n%s", err, out)
	}
	return dir, nil
}

// needPostgres skips the test on a machine without Postgres: nothing is fetched for tests.
func needPostgres(t *testing.T) {
	t.Helper()
	_, err := cluster.Find(t.Context(), 0)
	if errors.Is(err, cluster.ErrNoBinaries) && os.Getenv("CI") != "true" {
		t.Skipf("%v: %s", err, cluster.InstallHint(0))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// newDir gives a folder with a short path, for sockets, that goes with the test.
func newDir(t testing.TB) string {
	t.Helper()
	return newDirIn(t, postgrestest.ScratchDir())
}

func newDirIn(t testing.TB, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "sbe2e")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the ends of the programs that were started later
		awaitNothingIn(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// seededDir gives a DATA_DIR of the test's own that needs no first start.
func seededDir(t testing.TB) string {
	t.Helper()
	from, err := shared.seed()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(newDir(t), "data")
	// Owners are kept: for root the database belongs to another user.
	if out, err := exec.Command("cp", "-Rp", from, dir).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
	return dir
}

// race tells that these tests, and with them the binary, are built with the race detector.
var race = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// surroundings is an environment without any of the program's variables.
func surroundings(home string) []string {
	none := filepath.Join(home, "no-workflows")
	if err := os.MkdirAll(none, 0o755); err != nil {
		panic(err)
	}
	env := []string{"HOME=" + home, "LISTEN_ADDR=127.0.0.1:0", "WORKFLOWS_DIR=" + none}
	for _, name := range []string{"PATH", "TMPDIR", "GORACE", "LANG"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// spec says how a program is started. The zero value is `signalbox up` with an own seeded DATA_DIR.
type spec struct {
	args []string
	dir  string   // DATA_DIR; empty: a seeded one
	env  []string // on top of the surroundings, as NAME=value
	user *syscall.Credential
	// plain asks for the binary without the race detector, for tests that start it very often.
	plain bool
}

// program is a running Signalbox.
type program struct {
	t      testing.TB
	cmd    *exec.Cmd
	dir    string
	out    *text
	log    *text
	ended  chan struct{}
	page   string
	began  time.Time
	ready  time.Duration // from the start to the banner
	waited error
}

// launch starts the program and does not wait for anything. It is ended with the test.
func launch(t testing.TB, s spec) *program {
	t.Helper()
	choose := shared.binary
	if s.plain {
		choose = shared.plain
	}
	binary, err := choose()
	if err != nil {
		t.Fatal(err)
	}
	if s.dir == "" {
		s.dir = seededDir(t)
	}
	p := &program{t: t, dir: s.dir, out: &text{}, log: &text{}, ended: make(chan struct{})}
	p.cmd = exec.Command(binary, s.args...)
	p.cmd.Dir = shared.dir
	p.cmd.Env = append(append(surroundings(filepath.Dir(s.dir)), "DATA_DIR="+s.dir), s.env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.log
	p.cmd.WaitDelay = 10 * time.Second
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.user}
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.waited = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("the program %v said:\n%s%s", p.cmd.Args[1:], p.out, tail(p.log.String(), 40))
		}
	})
	return p
}

// start is launch, and waits until the program is ready.
func start(t testing.TB, s spec) *program {
	t.Helper()
	p := launch(t, s)
	p.awaitReady()
	p.ready = time.Since(p.began)
	return p
}

var bannerPage = regexp.MustCompile(`Page +(http://\S+)`)

func (p *program) awaitReady() {
	p.t.Helper()
	await(p.t, "the program to be ready", func() bool { return strings.Contains(p.out.String(), "Ctrl-C\n") || p.over() }, p.said)
	m := bannerPage.FindStringSubmatch(p.out.String())
	if m == nil {
		p.t.Fatalf("the program did not start (exit code %d):\n%s", p.code(), p.said())
	}
	p.page = m[1]
}

func (p *program) said() string { return p.out.String() + p.log.String() }

func (p *program) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// code is the exit code of an ended program; -1 for one that a signal ended.
func (p *program) code() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// stop sends the signal and expects an end in order: in time, with code 0, with nothing left.
func (p *program) stop(sig os.Signal) {
	p.t.Helper()
	began := time.Now()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
	p.awaitEnd()
	took := time.Since(began)
	p.t.Logf("%v took %v", sig, took.Round(time.Millisecond))
	checkQuickest(p.t, "stopping", 10*time.Second, took)
	if code := p.code(); code != 0 {
		p.t.Errorf("exit code %d after %v:\n%s", code, sig, p.said())
	}
	if left := processesIn(p.dir); len(left) > 0 {
		p.t.Errorf("still running after %v: %v", sig, left)
	}
}

// kill ends the program as kill -9 does, and returns once nothing is left.
func (p *program) kill() {
	p.t.Helper()
	p.cmd.Process.Kill()
	p.awaitEnd()
	awaitNothingIn(p.t, p.dir)
}

func (p *program) awaitEnd() {
	p.t.Helper()
	await(p.t, "the program to end", p.over, p.said)
}

func awaitNothingIn(t testing.TB, dir string) {
	t.Helper()
	began := time.Now()
	// All processes of the machine are looked at for it, which is not done a hundred times a second.
	awaitEvery(t, 50*time.Millisecond, "everything to end", func() bool { return len(processesIn(dir)) == 0 },
		func() string { return strings.Join(processesIn(dir), "\n") })
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v until everything had ended", took)
	}
}

// result is what a command that ends by itself did.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

// run executes a command and waits for its end.
func run(t testing.TB, s spec) result {
	t.Helper()
	p := launch(t, s)
	p.awaitEnd()
	return result{code: p.code(), stdout: p.out.String(), stderr: p.log.String(), took: time.Since(p.began)}
}

// processesIn lists the processes that work in a folder: Postgres' working folder is its data directory,
// however it was told where that is.
func processesIn(dir string) []string {
	if runtime.GOOS != "linux" {
		pid, _ := (&cluster.Cluster{Dir: filepath.Join(dir, "postgres")}).PID()
		if cluster.Serving(pid) {
			return []string{strconv.Itoa(pid)}
		}
		return nil
	}
	var found []string
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, e := range entries {
		cwd, _ := os.Readlink(filepath.Join(e, "cwd"))
		line, _ := os.ReadFile(filepath.Join(e, "cmdline"))
		line = bytes.ReplaceAll(line, []byte{0}, []byte{' '})
		if strings.HasPrefix(cwd, dir+"/") || bytes.Contains(line, []byte(dir+"/")) && !bytes.Contains(line, []byte("-test.")) {
			found = append(found, filepath.Base(e)+" "+string(line))
		}
	}
	return found
}

// text collects what a program prints.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// lines are the printed lines without empty ones.
func lines(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func tail(s string, n int) string {
	list := lines(s)
	return strings.Join(list[max(0, len(list)-n):], "\n")
}

// hang is when a test gives up waiting. It judges nothing: machines that others use, too, stand still for a minute now and then.
const hang = 5 * time.Minute

// checkQuickest expects that one of several tries kept to a limit of the specification: one alone may have met a
// moment in which the machine was taken. With the race detector everything takes several times as long.
func checkQuickest(t testing.TB, what string, limit time.Duration, took ...time.Duration) {
	t.Helper()
	if race {
		limit *= 3
	}
	if slices.Min(took) > limit {
		t.Errorf("%s took %v, the limit is %v", what, took, limit)
	}
}

// runQuick is run, which is done anew while it takes longer than the limit, up to three times.
func runQuick(t testing.TB, limit time.Duration, s spec) (r result) {
	t.Helper()
	var took []time.Duration
	for len(took) < 3 && (len(took) == 0 || r.took > limit) {
		r = run(t, s)
		took = append(took, r.took)
	}
	checkQuickest(t, "the program", limit, took...)
	return r
}

// await asks for done until it is true, and ends the test when that takes too long.
func await(t testing.TB, what string, done func() bool, report func() string) {
	t.Helper()
	awaitEvery(t, 10*time.Millisecond, what, done, report)
}

func awaitEvery(t testing.TB, pause time.Duration, what string, done func() bool, report func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), hang)
	defer cancel()
	again := time.NewTicker(pause)
	defer again.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited %v for %s:\n%s", hang, what, report())
		case <-again.C:
		}
	}
}

// get fetches a path of the page and expects 200.
func (p *program) get(path string) string {
	p.t.Helper()
	res, err := http.Get(p.page + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil || res.StatusCode != http.StatusOK {
		p.t.Fatalf("GET %s: %d, %v: %.300s", path, res.StatusCode, err, body)
	}
	return string(body)
}
