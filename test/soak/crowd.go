//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/test/bench/program"
)

// How many there are, and for how much that has no answer yet a person writes on.
const (
	people    = 4
	customers = 3
	open      = 3
)

// crowd is people who write to the bot, and programs that use the API.
type crowd struct {
	people    []*person
	customers []*customer
	busy      sync.WaitGroup
	house     *house
	pause     time.Duration
	rested    time.Duration // how long the rest took
	last      string        // what was missing last
}

type person struct {
	user     *telegramtest.User
	commands []telegramtest.Message
}

// customer is a program that orders with idempotency keys, and is told of its runs.
type customer struct {
	name, key string
	rng       *rand.Rand
	hook      *httptest.Server
	orders    map[string]string // the run that each key became
	waited    time.Duration     // the longest until an order was answered

	mu   sync.Mutex
	told map[string]map[string]int // how often each message came that a run is over, by run and message
}

func newCrowd(ctx context.Context, h *house, pause time.Duration) (*crowd, error) {
	c := &crowd{house: h, pause: pause}
	for i := range people {
		p := &person{user: h.telegram.User(fmt.Sprint("Person", i))}
		p.user.Start("")
		c.people = append(c.people, p)
	}
	for i := range customers {
		k := &customer{name: fmt.Sprint("customer", i), rng: rand.New(rand.NewPCG(h.rng.Uint64(), 2)), orders: map[string]string{}, told: map[string]map[string]int{}}
		c.customers = append(c.customers, k)
		k.hook = httptest.NewServer(http.HandlerFunc(k.hear))
		first := h.processes[0]
		var err error
		if k.key, err = first.NewKey(ctx, k.name); err != nil {
			return nil, err
		}
		hook := map[string]any{"url": k.hook.URL + "/hook", "events": []string{"run.finished"}}
		if err := first.Call(ctx, program.Request{Method: http.MethodPost, Path: "/api/webhooks", Key: k.key, Body: hook}, nil); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// begin has everybody order until ctx ends. What was begun then is brought to its end.
func (c *crowd) begin(ctx context.Context) {
	for _, p := range c.people {
		c.busy.Go(func() { p.write(ctx, c.house.telegram, c.pause) })
	}
	for _, k := range c.customers {
		c.busy.Go(func() { k.order(ctx, c.house.processes, c.pause) })
	}
}

func (p *person) write(ctx context.Context, tg *telegramtest.Server, pause time.Duration) {
	for tick := time.NewTicker(pause); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if len(p.unanswered(tg)) < open {
			p.commands = append(p.commands, p.user.Send(p.user.Private(), fmt.Sprintf("/wallpaper width=%d", 64+len(p.commands)%64)))
		}
	}
}

// order places orders at random processes. One that was begun is repeated, with its key, until it is answered.
func (k *customer) order(ctx context.Context, at []*process, pause time.Duration) {
	again := time.NewTicker(pause)
	end, _ := ctx.Deadline()
	for n := 0; ctx.Err() == nil; n++ {
		once, begun := fmt.Sprintf("%s-%d", k.name, n), time.Now()
		for k.orders[once] = ""; k.orders[once] == "" && time.Now().Before(end.Add(rest)); { // one that is never answered is lost
			<-again.C
			k.orders[once] = k.place(at[k.rng.IntN(len(at))], once, 64+n%64)
		}
		k.waited = max(k.waited, time.Since(begun))
	}
}

// place gives the run's id; none where there was no answer, or one that says to try again.
func (k *customer) place(at *process, once string, width int) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var run struct{ RunID string }
	inputs := map[string]any{"inputs": map[string]any{"width": width}}
	if at.Call(ctx, program.Request{Method: http.MethodPost, Path: "/api/run/wallpaper", Key: k.key, Once: once, Body: inputs}, &run) != nil {
		return ""
	}
	return run.RunID
}

// hear is told that a run is over. Messages may come more than once; their id tells.
func (k *customer) hear(_ http.ResponseWriter, r *http.Request) {
	var m struct{ Data struct{ RunID string } }
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.told[m.Data.RunID] == nil {
		k.told[m.Data.RunID] = map[string]int{}
	}
	k.told[m.Data.RunID][r.Header.Get("webhook-id")]++
}

func (k *customer) untold() (runs []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range k.orders {
		if len(k.told[id]) == 0 {
			runs = append(runs, id)
		}
	}
	return runs
}

// end waits until everybody has all answers, and says what is missing where that takes too long.
func (c *crowd) end(ctx context.Context) error {
	stopped := time.Now()
	c.busy.Wait()
	for again := time.NewTicker(200 * time.Millisecond); ; {
		missing, err := c.missing(ctx)
		if c.rested = time.Since(stopped); err != nil || missing == "" {
			return err
		}
		c.last = missing
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("lost, or later than %v: %s", rest, missing)
		}
	}
}

func (c *crowd) missing(ctx context.Context) (what string, err error) {
	err = c.house.pool.QueryRow(ctx, `
		SELECT coalesce(string_agg(concat_ws(' ', 'run', id, platform, status, stage, 'attempt', attempt, 'claims', claims, 'ended', ended_at, 'delivered', delivered_at), E'\n'), '')
		FROM runs WHERE ended_at IS NULL OR deliverable AND delivered_at IS NULL`).Scan(&what)
	if err != nil || what != "" {
		return what, err
	}
	for _, p := range c.people {
		if left := p.unanswered(c.house.telegram); len(left) > 0 {
			return fmt.Sprintf("no answer to %v\n%s", left, c.house.telegram.Transcript(p.user.Private())), nil
		}
	}
	for _, k := range c.customers {
		if runs := k.untold(); len(runs) > 0 {
			return fmt.Sprintf("%s was not told of the end of %v", k.name, runs), nil
		}
	}
	return "", nil
}

// answers are what a chat shows in reply to a command.
type answers struct {
	pictures int
	offers   int // to show a result that may have been shown
	texts    []string
	waits    bool // a text says that the run goes on
	first    time.Time
}

// unanswered are the commands that something is still to come of. An apology that nothing could be shown for quotes no command in a chat of two.
func (p *person) unanswered(tg *telegramtest.Server) (list []telegramtest.Message) {
	all := answersIn(tg, p.user.Private())
	for _, m := range p.commands {
		if a := all[m.ID]; a == nil || a.waits && a.pictures+a.offers == 0 {
			list = append(list, m)
		}
	}
	return list[min(apologies(tg, p.user.Private()), len(list)):]
}

// apologies counts the messages that say that something failed, and answer no command in particular.
func apologies(tg *telegramtest.Server, chat *telegramtest.Chat) (n int) {
	for _, m := range tg.History(chat) {
		if m.From == nil && m.ReplyTo == 0 && strings.Contains(m.String(), "went wrong") {
			n++
		}
	}
	return n
}

// answersIn groups what the bot answered by the command it answers.
func answersIn(tg *telegramtest.Server, chat *telegramtest.Chat) map[int]*answers {
	all := map[int]*answers{}
	for _, m := range tg.History(chat) {
		if m.From != nil || m.Deleted || m.ReplyTo == 0 {
			continue
		}
		a := all[m.ReplyTo]
		if a == nil {
			a = &answers{first: m.Date}
			all[m.ReplyTo] = a
		}
		_, offer := m.Button("Show")
		switch {
		case m.Media != nil:
			a.pictures++
		case offer:
			a.offers++
		default:
			_, cancels := m.Button("Cancel")
			a.texts, a.waits = append(a.texts, m.String()), a.waits || cancels
		}
	}
	return all
}
