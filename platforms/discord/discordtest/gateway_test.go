package discordtest_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// client is a bare gateway client.
type client struct {
	b      *bench
	t      *testing.T
	ctx    context.Context
	socket *websocket.Conn
	seq    int
	zipped int
}

// frame is what the gateway sends.
type frame struct {
	Op   int    `json:"op"`
	Seq  int    `json:"s"`
	Type string `json:"t"`
	Data any    `json:"d"`
}

func (b *bench) connect(t *testing.T) *client { return b.dial(t, "/gateway/?v=10&encoding=json") }

// dial connects and takes Hello.
func (b *bench) dial(t *testing.T, path string) *client {
	t.Helper()
	c := &client{b: b, t: t, ctx: within(t)}
	var err error
	if c.socket, _, err = websocket.Dial(c.ctx, "ws"+strings.TrimPrefix(b.URL, "http")+path, nil); err != nil {
		t.Fatal(err)
	}
	c.socket.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = c.socket.CloseNow() })
	if hello := c.next(); hello.Op != 10 {
		t.Fatalf("got %+v, expected Hello", hello)
	}
	return c
}

func (c *client) send(op int, data any) {
	c.t.Helper()
	body, err := json.Marshal(object{"op": op, "d": data})
	if err == nil {
		err = c.socket.Write(c.ctx, websocket.MessageText, body)
	}
	if err != nil {
		c.t.Error(err)
	}
}

// identify logs in; more overrides and adds.
func (c *client) identify(more object) {
	c.t.Helper()
	id := object{"token": c.b.Token, "intents": 1, "properties": object{"os": "linux", "browser": "x", "device": "x"}}
	maps.Copy(id, more)
	c.send(2, id)
}

func (c *client) resume(session string, seq int) {
	c.t.Helper()
	c.send(6, object{"token": c.b.Token, "session_id": session, "seq": seq})
}

// next is the next payload.
func (c *client) next() frame {
	c.t.Helper()
	f, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

func (c *client) read() (frame, error) {
	kind, data, err := c.socket.Read(c.ctx)
	if err != nil {
		return frame{}, err
	}
	if kind == websocket.MessageBinary {
		c.zipped++
		z, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return frame{}, err
		}
		if data, err = io.ReadAll(z); err != nil {
			return frame{}, err
		}
	}
	var f frame
	err = json.Unmarshal(data, &f)
	c.seq = max(c.seq, f.Seq)
	return f, err
}

// until skips to an event and gives its data.
func (c *client) until(event string) map[string]any {
	c.t.Helper()
	for {
		if f := c.next(); f.Type == event {
			data, _ := f.Data.(map[string]any)
			return data
		}
	}
}

// expectClose reads until the server closes, with that code.
func (c *client) expectClose(code int) {
	c.t.Helper()
	for {
		_, err := c.read()
		if err == nil {
			continue
		}
		if got := int(websocket.CloseStatus(err)); got != code {
			c.t.Errorf("closed with %d (%v), expected %d", got, err, code)
		}
		return
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	t.Run("READY names the session, where to resume, and the guilds, which follow", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		c := b.connect(t)
		c.identify(nil)
		ready := c.until("READY")
		if !strings.Contains(ready["resume_gateway_url"].(string), "/resume") || ready["session_id"] == "" || len(ready["guilds"].([]any)) != 1 {
			t.Errorf("got %v", ready)
		}
		if guild := c.until("GUILD_CREATE"); guild["id"] != b.guild.ID() || len(guild["channels"].([]any)) != 1 {
			t.Errorf("got %v", guild)
		}
		c.send(1, c.seq)
		if ack := c.next(); ack.Op != 11 {
			t.Errorf("got %+v, expected an acknowledged heartbeat", ack)
		}
		b.AskHeartbeat()
		if ask := c.next(); ask.Op != 1 {
			t.Errorf("got %+v, expected a request for a heartbeat", ask)
		}
	})
	t.Run("compressed payloads are zlib frames", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		c := b.connect(t)
		c.identify(object{"compress": true})
		if c.until("GUILD_CREATE"); c.zipped == 0 {
			t.Error("nothing was compressed")
		}
	})
	for _, refused := range []struct {
		name string
		code int
		id   object
	}{
		{"a wrong token", 4004, object{"token": "x"}},
		{"a shard out of range", 4010, object{"shard": []int{2, 2}}},
		{"too few shards", 4011, object{"shard": []int{0, 1}}},
		{"unknown intents", 4013, object{"shard": []int{0, 2}, "intents": 1 << 30}},
		{"privileged intents that are off", 4014, object{"shard": []int{0, 2}, "intents": 1 << 15}},
	} {
		t.Run(refused.name+" closes the connection", func(t *testing.T) {
			t.Parallel()
			b := setup(t, discordtest.Options{Shards: 2})
			c := b.connect(t)
			c.identify(refused.id)
			c.expectClose(refused.code)
		})
	}
	t.Run("odd clients are closed", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		old := b.dial(t, "/gateway/?v=6&encoding=json")
		old.expectClose(4012)
		c := b.connect(t)
		c.send(3, object{})
		c.expectClose(4003)
		c = b.connect(t)
		c.send(99, nil)
		c.expectClose(4001)
		b.complained("unknown operation 99")
		c = b.connect(t)
		c.identify(object{"junk": strings.Repeat("x", 5000)})
		c.expectClose(4002)
		b.complained("4096 bytes")
		c = b.connect(t)
		c.identify(nil)
		c.identify(nil)
		c.expectClose(4005)
		c = b.connect(t)
		for range 121 {
			c.send(1, nil)
		}
		c.expectClose(4008)
		b.complained("120 events")
	})
	t.Run("sessions start one by one, and not endlessly", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{MaxConcurrency: 1, SessionStarts: 3})
		b.connect(t).identify(nil)
		b.WaitReady(within(t), 1)
		hasty := b.connect(t)
		hasty.identify(nil)
		if f := hasty.next(); f.Op != 9 || f.Data != false {
			t.Errorf("got %+v, expected an invalid session", f)
		}
		b.clock.Advance(5 * time.Second)
		patient := b.connect(t)
		patient.identify(nil)
		patient.until("READY")
		b.clock.Advance(5 * time.Second)
		beyond := b.connect(t)
		beyond.identify(nil)
		if f := beyond.next(); f.Op != 9 {
			t.Errorf("got %+v, expected an invalid session", f)
		}
		if r := b.call("GET", "/gateway/bot", nil); r.get("session_start_limit", "remaining") != 0.0 || r.get("session_start_limit", "max_concurrency") != 1.0 {
			t.Error(r.raw)
		}
	})
	t.Run("identify can be refused by the test, and a revoked token ends sessions", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.RefuseIdentify(4014)
		c := b.connect(t)
		c.identify(nil)
		c.expectClose(4014)
		b.RefuseIdentify(0)
		c = b.connect(t)
		c.identify(nil)
		c.until("READY")
		b.RevokeToken()
		c.expectClose(4004)
	})
}

func TestResume(t *testing.T) {
	t.Parallel()
	// session logs in and gives what a resume needs.
	session := func(t *testing.T, b *bench) (*client, string) {
		c := b.connect(t)
		c.identify(nil)
		id, _ := c.until("READY")["session_id"].(string)
		c.until("GUILD_CREATE")
		return c, id
	}
	t.Run("what was missed is replayed, and events may repeat", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		c, id := session(t, b)
		b.Drop(0)
		if _, err := c.read(); err == nil {
			t.Error("the connection was not cut")
		}
		missed := b.painted()
		again := b.dial(t, "/resume/?v=10&encoding=json")
		again.resume(id, c.seq)
		if got := again.until("INTERACTION_CREATE"); got["id"] != missed.ID {
			t.Errorf("got %v", got)
		}
		again.until("RESUMED")
		b.RepeatOnResume(2)
		b.Drop(4000)
		again.expectClose(4000)
		third := b.connect(t)
		third.resume(id, again.seq)
		if got := third.next(); got.Type != "INTERACTION_CREATE" {
			t.Errorf("got %+v, expected what was seen before", got)
		}
		third.until("RESUMED")
		if s := b.Sessions(); len(s) != 1 || s[0].Resumes != 2 || !s[0].Connected {
			t.Errorf("sessions %+v", s)
		}
	})
	t.Run("reconnect, invalid sessions and both right after Hello", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		c, id := session(t, b)
		b.Reconnect()
		if f := c.next(); f.Op != 7 {
			t.Errorf("got %+v", f)
		}
		for op, resumable := range map[int]bool{7: false, 9: true} {
			b.FirstAfterReconnect(op, resumable)
			if f := b.connect(t).next(); f.Op != op || op == 9 && f.Data != resumable {
				t.Errorf("got %+v", f)
			}
		}
		c = b.connect(t)
		c.resume(id, 1)
		c.until("RESUMED")
		b.Invalidate(true)
		if f := c.next(); f.Op != 9 || f.Data != true {
			t.Errorf("got %+v", f)
		}
		c = b.connect(t)
		c.resume(id, 1)
		c.until("RESUMED")
		b.Invalidate(false)
		if f := c.next(); f.Op != 9 || f.Data != false {
			t.Errorf("got %+v", f)
		}
		c = b.connect(t)
		c.resume(id, 1)
		if f := c.next(); f.Op != 9 || f.Data != false {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("a sequence that never was closes with 4007", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		_, id := session(t, b)
		c := b.connect(t)
		c.resume(id, 999)
		c.expectClose(4007)
	})
	t.Run("a session closed with 1000 can't be resumed", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		c, id := session(t, b)
		_ = c.socket.Close(websocket.StatusNormalClosure, "")
		b.Await(within(t), "the end of the session", func() bool { return len(b.Sessions()) == 0 }, func() string { return "" })
		c = b.connect(t)
		c.resume(id, 1)
		if f := c.next(); f.Op != 9 {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("a zombie connection says nothing more, and its session can be resumed", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		c, id := session(t, b)
		b.StopAcks()
		c.send(1, c.seq)
		missed := b.painted()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, _, err := c.socket.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, expected silence", err)
		}
		again := b.connect(t)
		again.resume(id, c.seq)
		if got := again.until("INTERACTION_CREATE"); got["id"] != missed.ID {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a client without heartbeats is closed", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{Heartbeat: 20 * time.Millisecond})
		c, _ := session(t, b)
		c.expectClose(4009)
	})
}

func TestEvents(t *testing.T) {
	t.Parallel()
	t.Run("events go to the shard of the guild and by intents", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{Intents: discordtest.MessageContent, Shards: 2})
		guilds := 1 | 1<<9 | 1<<12
		var shards [2]*client
		for n := range shards {
			shards[n] = b.connect(t)
			shards[n].identify(object{"shard": []int{n, 2}, "intents": guilds})
			shards[n].until("READY")
		}
		b.ann.Send(b.ann.DM(), "psst")
		if got := shards[0].until("MESSAGE_CREATE"); got["content"] != "psst" {
			t.Errorf("got %v", got)
		}
		b.ann.Send(b.channel, "hello")
		b.Dispatch("END", nil)
		hits := 0
		for _, c := range shards {
			for f := c.next(); f.Type != "END"; f = c.next() {
				if f.Type == "MESSAGE_CREATE" {
					hits++
					if f.Data.(map[string]any)["content"] != "" {
						t.Errorf("content without its intent: %v", f.Data)
					}
				}
			}
		}
		if hits != 1 {
			t.Errorf("%d shards got the message, expected one", hits)
		}
	})
	t.Run("content comes with the privileged intent, nothing without any", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{Intents: discordtest.MessageContent})
		deaf, reader := b.connect(t), b.connect(t)
		deaf.identify(nil)
		deaf.until("GUILD_CREATE")
		reader.identify(object{"intents": 1<<9 | 1<<15})
		reader.until("READY")
		m := b.ann.Send(b.channel, "hello")
		if got := reader.until("MESSAGE_CREATE"); got["content"] != "hello" || got["guild_id"] != b.guild.ID() {
			t.Errorf("got %v", got)
		}
		b.ann.Delete(m)
		if got := reader.until("MESSAGE_DELETE"); got["id"] != m.ID {
			t.Errorf("got %v", got)
		}
		b.Dispatch("END", nil)
		if f := deaf.next(); f.Type != "END" {
			t.Errorf("got %+v without an intent for it", f)
		}
	})
	t.Run("guilds come, change and go", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		c := b.connect(t)
		c.identify(nil)
		c.until("GUILD_CREATE")
		second := b.Guild("Second", b.ann)
		if got := c.until("GUILD_CREATE"); got["id"] != second.ID() {
			t.Errorf("got %v", got)
		}
		thread := b.channel.Thread("more")
		if got := c.until("THREAD_CREATE"); got["id"] != thread.ID() {
			t.Errorf("got %v", got)
		}
		thread.Delete()
		c.until("CHANNEL_DELETE")
		second.Kick()
		if got := c.until("GUILD_DELETE"); got["id"] != second.ID() {
			t.Errorf("got %v", got)
		}
	})
}
