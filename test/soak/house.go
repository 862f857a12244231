//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/internal/assets/bucket/buckettest"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/test/bench/program"
	"github.com/signalbox/signalbox/workflows/workflowstest"
)

const houseKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// house is the processes and all that is around them.
type house struct {
	rng       *rand.Rand
	dir       string
	server    *postgres.Server
	pool      *pgxpool.Pool // straight to the database
	processes []*process
	now       string // the built program
	before    string // that of the version before, of -upgrade
	telegram  *telegramtest.Server
	engines   []*comfytest.Server
	files     *buckettest.Store
	chat      *link   // to Telegram
	work      []*link // to the engines
	store     *link   // to the files
	stop      context.CancelFunc
	alive     sync.WaitGroup

	mu    sync.Mutex
	wrong []string // what only a mistake in the program explains, by the simulators
}

func newHouse(ctx context.Context, t testing.TB, o options, out io.Writer) (h *house, err error) {
	h = &house{rng: rand.New(rand.NewPCG(o.seed, 1))}
	ctx, h.stop = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if h.dir, err = program.Folder("sbsoak"); err != nil {
		return h, err
	}
	if h.now, err = build(ctx, o, h.dir); err != nil {
		return h, err
	}
	first := h.now
	if o.upgrade {
		if h.before, err = buildBefore(ctx, o, h.dir, out); err != nil {
			return h, err
		}
		first = h.before
	}
	if h.server, err = postgres.Start(ctx, postgres.Config{Dir: filepath.Join(h.dir, "postgres"), Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return h, err
	}
	if h.pool, err = postgres.Connect(ctx, h.server.DSN()); err != nil {
		return h, err
	}
	env, err := h.surround(t)
	if err != nil {
		return h, err
	}
	for i := range o.processes {
		if err := h.add(ctx, first, env, skewed(o.skew, i)); err != nil {
			return h, err
		}
	}
	fmt.Fprintf(out, "%d processes are ready\n", len(h.processes))
	return h, nil
}

// surround starts what the processes work with, and gives the settings for it.
func (h *house) surround(t testing.TB) (env []string, err error) {
	violation := func(text string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.wrong = append(h.wrong, text)
	}
	h.telegram = telegramtest.New(t, telegramtest.Options{Patience: rest, OnViolation: violation})
	h.files = buckettest.New(t)
	links := map[string]*link{}
	for i := range 2 {
		e := comfytest.New(t, comfytest.Options{})
		h.engines = append(h.engines, e)
		l, err := newLink("tcp", e.URL().Host)
		if err != nil {
			return nil, err
		}
		h.work = append(h.work, l)
		links[fmt.Sprint("engine", i)] = l
	}
	telegram, err := url.Parse(h.telegram.URL)
	if err != nil {
		return nil, err
	}
	if h.chat, err = newLink("tcp", telegram.Host); err != nil {
		return nil, err
	}
	if h.store, err = newLink("tcp", h.files.URL.Host); err != nil {
		return nil, err
	}
	flows := filepath.Join(h.dir, "workflows")
	if err := os.CopyFS(flows, workflowstest.Small(t)); err != nil {
		return nil, err
	}
	return []string{
		"HOUSE_KEY=" + houseKey, "WORKFLOWS_DIR=" + flows, "COMFYUI_URLS=http://" + h.work[0].address() + ",http://" + h.work[1].address(),
		"TELEGRAM_BOT_TOKEN=" + h.telegram.Token, "TELEGRAM_API_URL=http://" + h.chat.address(),
		"S3_ENDPOINT=http://" + h.store.address(), "S3_BUCKET=" + buckettest.Bucket, "S3_REGION=" + buckettest.Region,
		"S3_ACCESS_KEY_ID=" + buckettest.AccessKeyID, "S3_SECRET_ACCESS_KEY=" + buckettest.SecretAccessKey,
		"SIGNUP_CREDIT_USD=1000", "OUTBOUND_ALLOW=127.0.0.1", "LOG_LEVEL=warn",
	}, nil
}

// process is one that is started anew whenever it has ended, as systemd and Kubernetes do.
type process struct {
	*program.Process
	database *link

	mu     sync.Mutex
	next   string    // the binary of the next start
	killed time.Time // not zero: by us, and not ready again since
	took   []time.Duration
	ended  []string // the last words of those that ended by themselves
}

func (h *house) add(ctx context.Context, binary string, env []string, more ...string) error {
	dsn, err := url.Parse(h.server.DSN())
	if err != nil {
		return err
	}
	database, err := newLink("unix", filepath.Join(dsn.Query().Get("host"), ".s.PGSQL.5432"))
	if err != nil {
		return err
	}
	address, err := program.FreeAddress()
	if err != nil {
		return err
	}
	n := len(h.processes)
	p := &process{database: database, next: binary, Process: &program.Process{Dir: filepath.Join(h.dir, fmt.Sprint("process", n)), Address: address}}
	p.Env = append(append(env, "DATABASE_URL=postgres://"+dsn.User.Username()+"@"+database.address()+dsn.Path+"?sslmode=disable"), more...)
	h.processes = append(h.processes, p)
	h.alive.Go(func() { p.keep(ctx) })
	starting, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	return p.Ready(starting)
}

// keep starts the process again and again.
func (p *process) keep(ctx context.Context) {
	for ctx.Err() == nil {
		p.Binary = p.nextBinary()
		over, err := p.Start()
		if err != nil {
			p.note(err.Error())
			return
		}
		go p.noteReady(ctx)
		select {
		case <-over:
		case <-ctx.Done():
			_ = p.Stop() // it may just have been killed
			return
		}
		if !p.wasKilled() && p.nextBinary() == p.Binary {
			p.note(p.Log())
		}
	}
}

func (p *process) wasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.killed.IsZero()
}

func (p *process) nextBinary() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

func (p *process) note(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, words[strings.LastIndexByte(words, '\n')+1:])
}

// kill ends the process, which is started again at once.
func (p *process) kill() {
	p.mu.Lock()
	if p.killed.IsZero() {
		p.killed = time.Now()
	}
	p.mu.Unlock()
	p.Kill()
}

// noteReady notes how long it took after a kill until the process takes requests.
func (p *process) noteReady(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	if p.Ready(ctx) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.killed.IsZero() {
		p.took = append(p.took, time.Since(p.killed))
		p.killed = time.Time{}
	}
}

func (h *house) violations() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.wrong) > 0 {
		return fmt.Errorf("the simulators refused: %s", strings.Join(h.wrong, "\n"))
	}
	return nil
}

// said is what the processes logged last.
func (h *house) said() error {
	var all error
	for i, p := range h.processes {
		all = errors.Join(all, fmt.Errorf("process %d said last:\n%s", i, p.Log()))
	}
	return all
}

// mend has everything work again.
func (h *house) mend() {
	for _, l := range h.links() {
		l.set(well)
	}
	h.files.Fail(nil)
}

func (h *house) links() []*link {
	all := append([]*link{h.chat, h.store}, h.work...)
	for _, p := range h.processes {
		all = append(all, p.database)
	}
	return all
}

func (h *house) close() error {
	h.stop()
	h.alive.Wait()
	if h.pool != nil {
		h.pool.Close()
	}
	for _, l := range h.links() {
		if l != nil {
			l.close()
		}
	}
	var err error
	if h.server != nil {
		err = h.server.Stop(context.Background())
	}
	return errors.Join(err, os.RemoveAll(h.dir))
}
