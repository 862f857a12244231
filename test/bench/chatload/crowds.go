package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/test/bench/program"
	"github.com/signalbox/signalbox/users"
)

// command is what everybody sends.
const command = "wallpaper"

// until asks for done until it is true.
func until(ctx context.Context, what string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-again.C:
		}
	}
	return nil
}

// settle lets a message that would be one too many arrive.
const settle = 2 * time.Second

// telegramCrowd is people on Telegram, each with a chat of their own.
type telegramCrowd struct {
	server *telegramtest.Server
	people []*telegramtest.User
	mu     sync.Mutex
	sent   map[string]time.Time // by chat
}

func joinTelegram(server *telegramtest.Server, n int) *telegramCrowd {
	c := &telegramCrowd{server: server, sent: map[string]time.Time{}}
	for range n {
		c.people = append(c.people, server.User("Somebody"))
	}
	return c
}

func (c *telegramCrowd) name() string { return "Telegram" }

func (c *telegramCrowd) send(n int) error {
	chat := c.people[n].Private()
	c.mu.Lock()
	c.sent[strconv.FormatInt(chat.ID(), 10)] = time.Now()
	c.mu.Unlock()
	c.people[n].Send(chat, "/"+command)
	return nil
}

func (c *telegramCrowd) waits(ctx context.Context) ([]time.Duration, error) {
	answered := func() int {
		n := 0
		for _, u := range c.people {
			n += min(1, c.answers(u))
		}
		return n
	}
	if err := until(ctx, "all answers", func() bool { return answered() == len(c.people) }); err != nil {
		return nil, fmt.Errorf("%d of %d were answered: %w", answered(), len(c.people), err)
	}
	time.Sleep(settle)
	for _, u := range c.people {
		if n := c.answers(u); n != 1 {
			return nil, fmt.Errorf("somebody was answered %d times", n)
		}
	}
	first := map[string]time.Duration{}
	for _, call := range c.server.Calls("") {
		chat := call.Params["chat_id"]
		if sent, ours := c.sent[chat]; ours && first[chat] == 0 {
			first[chat] = call.At.Sub(sent)
		}
	}
	var all []time.Duration
	for _, wait := range first {
		all = append(all, wait)
	}
	return all, nil
}

// answers counts the bot's messages in somebody's chat.
func (c *telegramCrowd) answers(u *telegramtest.User) int {
	n := 0
	for _, m := range c.server.History(u.Private()) {
		if m.From == nil {
			n++
		}
	}
	return n
}

// discordCrowd is people in a server, each with the command once.
type discordCrowd struct {
	server  *discordtest.Server
	people  []*discordtest.User
	channel *discordtest.Channel
	mu      sync.Mutex
	asked   []*discordtest.Interaction
}

func joinDiscord(server *discordtest.Server, n int) (*discordCrowd, error) {
	c := &discordCrowd{server: server}
	for range n {
		c.people = append(c.people, server.User("Somebody"))
	}
	c.channel = server.Guild("Studio", c.people...).Text("general")
	err := until(context.Background(), "Discord's list of commands", func() bool {
		return len(server.Sessions()) > 0 && slices.ContainsFunc(c.people[0].Commands(c.channel), func(own discordtest.Command) bool { return own.Name == command })
	})
	return c, err
}

func (c *discordCrowd) name() string { return "Discord" }

func (c *discordCrowd) send(n int) error {
	i := c.people[n].Command(c.channel, command)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, i)
	return nil
}

func (c *discordCrowd) waits(ctx context.Context) ([]time.Duration, error) {
	var all []time.Duration
	for _, i := range c.asked {
		all = append(all, i.Answer(ctx).After)
	}
	answers := func() int {
		n := 0
		for _, m := range c.server.History(c.channel) {
			if m.Author == nil && !m.Loading && !m.Deleted {
				n++
			}
		}
		return n
	}
	if err := until(ctx, "all answers", func() bool { return answers() >= len(c.asked) }); err != nil {
		return nil, fmt.Errorf("%d of %d were answered: %w", answers(), len(c.asked), err)
	}
	time.Sleep(settle)
	if n := answers(); n != len(c.asked) {
		return nil, fmt.Errorf("%d commands have %d answers", len(c.asked), n)
	}
	return all, nil
}

// readersOfPages is people who have the conversation's page open, each with the command once.
type readersOfPages struct {
	readers []*reader
	mu      sync.Mutex
	sent    []time.Time
	told    []time.Time       // the first sign after that
	said    []map[string]bool // the messages of the house
}

func openPages(ctx context.Context, page *program.Process, n int) (*readersOfPages, error) {
	c := &readersOfPages{sent: make([]time.Time, n), told: make([]time.Time, n), said: make([]map[string]bool, n)}
	pool, err := postgres.Attach(ctx, filepath.Join(page.Dir, "postgres"))
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	people := users.New(pool, users.Config{})
	for i := range n {
		c.said[i] = map[string]bool{}
		r, err := signIn(ctx, page, people, fmt.Sprint("reader", i))
		if err != nil {
			return nil, err
		}
		c.readers = append(c.readers, r)
		if err := c.open(ctx, i); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// reader is a browser that is signed in.
type reader struct {
	home    string
	session string // its cookie
	token   string // of the page that it has open, for its forms
}

// signIn begins a session as the house does; so many at once it would not let in from one address.
func signIn(ctx context.Context, page *program.Process, people *users.Store, name string) (*reader, error) {
	key, err := page.NewKey(ctx, name)
	if err != nil {
		return nil, err
	}
	account, _, err := people.KeyOf(ctx, key)
	if err != nil {
		return nil, err
	}
	r := &reader{home: "http://" + page.Address}
	if r.session, err = people.NewSession(ctx, users.Session{AccountID: account.ID, Way: "token"}); err != nil {
		return nil, err
	}
	return r, r.look(ctx, "/chat")
}

var tokenInPage = regexp.MustCompile(`name="` + door.CSRFField + `" value="([^"]+)"`)

// look opens a page that has a form.
func (r *reader) look(ctx context.Context, path string) error {
	res, err := r.get(ctx, path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	found := tokenInPage.FindSubmatch(text)
	if found == nil {
		return fmt.Errorf("the page %s has no form", path)
	}
	r.token = string(found[1])
	return nil
}

func (r *reader) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.home+path, nil)
	if err != nil {
		return nil, err
	}
	return r.answer(req)
}

func (r *reader) post(ctx context.Context, path string, form url.Values) (*http.Response, error) {
	form.Set(door.CSRFField, r.token)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.home+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r.answer(req)
}

// answer gives an answer that is as it should be.
func (r *reader) answer(req *http.Request) (*http.Response, error) {
	req.AddCookie(&http.Cookie{Name: "signalbox", Value: r.session})
	res, err := http.DefaultClient.Do(req)
	if err == nil && res.StatusCode >= 300 {
		res.Body.Close()
		err = fmt.Errorf("%s %s: %s", req.Method, req.URL.Path, res.Status)
	}
	return res, err
}

// open reads a page's events until the program stops.
func (c *readersOfPages) open(ctx context.Context, n int) error {
	res, err := c.readers[n].get(ctx, "/chat/events")
	if err != nil {
		return err
	}
	go func() {
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		event := ""
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				event = value
			case "data":
				c.hear(n, event, value)
			}
		}
	}()
	return nil
}

// hear notes the first sign, and each message of the house once, however often it is edited.
func (c *readersOfPages) hear(n int, event, data string) {
	var m struct {
		ID   json.Number
		Mine bool
	}
	if event == "current" || json.Unmarshal([]byte(data), &m) != nil || m.Mine {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told[n].IsZero() {
		c.told[n] = time.Now()
	}
	if event == "message" {
		c.said[n][m.ID.String()] = true
	}
}

func (c *readersOfPages) name() string { return "web" }

func (c *readersOfPages) send(n int) error {
	c.mu.Lock()
	c.sent[n] = time.Now()
	c.mu.Unlock()
	form := url.Values{"text": {"/" + command}, "nonce__": {fmt.Sprint("command", n)}}
	res, err := c.readers[n].post(context.Background(), "/chat/say", form)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func (c *readersOfPages) waits(ctx context.Context) ([]time.Duration, error) {
	answered := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		n := 0
		for _, said := range c.said {
			n += min(1, len(said))
		}
		return n
	}
	if err := until(ctx, "all answers", func() bool { return answered() == len(c.said) }); err != nil {
		return nil, fmt.Errorf("%d of %d were answered: %w", answered(), len(c.said), err)
	}
	time.Sleep(settle)
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []time.Duration
	for n, said := range c.said {
		if len(said) != 1 {
			return nil, fmt.Errorf("somebody was answered %d times", len(said))
		}
		all = append(all, c.told[n].Sub(c.sent[n]))
	}
	return all, nil
}
