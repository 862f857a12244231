// Package program builds Signalbox and runs it as processes, for those who measure it from outside.
package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// AdminToken is the operator's key of every Process.
const AdminToken = "operator-of-the-measurement"

// startTime bounds how long a Process takes until it is ready.
const startTime = 2 * time.Minute

// Folder makes a folder for a measurement, which whoever asked for it removes. The users that databases run as can enter it.
func Folder(name string) (string, error) {
	dir, err := os.MkdirTemp(postgrestest.ScratchDir(), name)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// Build makes the binary in dir from the sources in root.
func Build(ctx context.Context, root, dir string) (string, error) {
	if err := DependOnSources(root); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "signalbox")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-race=false", "-o", file, "./cmd/signalbox")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build in %s, which must be the project's root: %w\n%s", root, err, out)
	}
	return file, nil
}

// DependOnSources lists all folders of the project, so that go test does not take a cached result for a
// binary that has changed.
func DependOnSources(root string) error {
	return filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // somebody is at work
		}
		return err
	})
}

// FreeAddress is a host:port where nobody listens.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Process is `signalbox up`, or another server, which can be started again after its end.
type Process struct {
	Binary  string
	Args    []string     // none: up
	Dir     string       // DATA_DIR
	Address string       // of the page, host:port
	Probe   string       // the path that is answered once it is ready; empty: /readyz
	Env     []string     // settings, NAME=value
	Client  *http.Client // sends what Call is given; nil: http.DefaultClient

	mu     sync.Mutex
	cmd    *exec.Cmd
	over   chan struct{} // closed when the latest has ended
	failed error         // how the latest ended; to be read when it is over
	log    lastLines
}

// Up starts the process and waits until it takes requests.
func (p *Process) Up(ctx context.Context) error {
	over, err := p.Start()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	go func() {
		select {
		case <-over: // what has ended will never be ready
			cancel()
		case <-ctx.Done():
		}
	}()
	return p.Ready(ctx)
}

// BooksChecked waits for the first check of the books, which comes with a start, reads all, and belongs to no run.
func (p *Process) BooksChecked(ctx context.Context) error {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		var metrics string
		if err := p.Call(ctx, Request{Path: "/metrics"}, &metrics); err != nil {
			return err
		}
		if _, at, _ := strings.Cut(metrics, "\nsignalbox_ledger_checked_timestamp_seconds "); at != "" && at[0] != '0' {
			return nil
		}
	}
	return ctx.Err()
}

// Start starts the process; what ends it is Kill, Stop, or itself. over is closed when it has ended.
func (p *Process) Start() (over <-chan struct{}, err error) {
	args := p.Args
	if len(args) == 0 {
		args = []string{"up"}
	}
	cmd := exec.Command(p.Binary, args...)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir, "DATA_DIR=" + p.Dir, "LISTEN_ADDR=" + p.Address, "ADMIN_TOKEN=" + AdminToken, "API_RATE=0",
	}, p.Env...)
	cmd.Stderr = &p.log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	p.mu.Lock()
	p.cmd, p.over = cmd, ended
	p.mu.Unlock()
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.failed = err
		p.mu.Unlock()
		close(ended)
	}()
	return ended, nil
}

// Kill ends the process as a power failure does, and waits until it has ended.
func (p *Process) Kill() { _ = p.end(os.Kill) } // to be killed is no failure

// Stop asks the process to end, and waits until it has. One that was killed, or ended by itself with an error, has failed.
func (p *Process) Stop() error {
	if err := p.end(os.Interrupt); err != nil {
		return fmt.Errorf("the program at %s ended: %w\n%s", p.Address, err, p.Log())
	}
	return nil
}

func (p *Process) end(s os.Signal) error {
	p.mu.Lock()
	cmd, over := p.cmd, p.over
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	_ = cmd.Process.Signal(s) // it may have ended by itself
	<-over
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// PID is the number of the latest process.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// Log is what the process and those before it said last.
func (p *Process) Log() string { return p.log.String() }

// Ready waits until the process takes requests.
func (p *Process) Ready(ctx context.Context) error {
	for again := time.NewTicker(20 * time.Millisecond); ; {
		if p.IsReady(ctx) {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("the program at %s is not ready: %w\n%s", p.Address, ctx.Err(), p.Log())
		}
	}
}

// IsReady asks the process whether it takes requests.
func (p *Process) IsReady(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return p.Call(ctx, Request{Path: cmp.Or(p.Probe, "/readyz")}, nil) == nil
}

// NewKey makes an account and gives its key.
func (p *Process) NewKey(ctx context.Context, name string) (string, error) {
	var made struct{ Key string }
	err := p.Call(ctx, Request{Method: http.MethodPost, Path: "/api/keys", Body: map[string]string{"name": name}}, &made)
	return made.Key, err
}

// Request is what is asked of a Process.
type Request struct {
	Method, Path string // empty: GET
	Key          string // empty: the operator's
	Once         string // the idempotency key, if there is to be one
	Body         any
}

// StatusError is an answer that is not as it should be.
type StatusError struct {
	Status int
	text   string
}

func (e *StatusError) Error() string { return e.text }

// Call sends a request and reads the answer into answer: JSON, or all of it for a *string. Errors are a *StatusError where there was an answer.
func (p *Process) Call(ctx context.Context, r Request, answer any) error {
	body := io.Reader(http.NoBody)
	if r.Body != nil {
		raw, err := json.Marshal(r.Body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, "http://"+p.Address+r.Path, body)
	if err != nil {
		return err
	}
	if r.Key == "" {
		r.Key = AdminToken
	}
	req.Header.Set("Authorization", "Bearer "+r.Key)
	req.Header.Set("Content-Type", "application/json")
	if r.Once != "" {
		req.Header.Set("Idempotency-Key", r.Once)
	}
	res, err := cmp.Or(p.Client, http.DefaultClient).Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return &StatusError{res.StatusCode, fmt.Sprintf("%s %s: %s: %.300s", req.Method, r.Path, res.Status, text)}
	}
	switch a := answer.(type) {
	case nil:
		return nil
	case *string:
		*a = string(text)
		return nil
	}
	return json.Unmarshal(text, answer)
}

// Answered reports whether an error of Call is an answer with that status.
func Answered(err error, status int) bool {
	var answer *StatusError
	return errors.As(err, &answer) && answer.Status == status
}

// lastLines keeps the end of what was written.
type lastLines struct {
	mu   sync.Mutex
	text string
}

const kept = 64 << 10

// Write takes what a process says.
func (l *lastLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(b)
	l.text = l.text[max(0, len(l.text)-kept):]
	return len(b), nil
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.text)
}
