package discordtest_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

func TestRateLimits(t *testing.T) {
	t.Parallel()
	hi := object{"content": "hi"}
	t.Run("headers tell the bucket, and what is too much gets 429 until the window ends", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{RateLimits: true})
		for n := range 5 {
			r := b.call("POST", b.messages(), hi)
			if r.status != 200 || r.header.Get("X-RateLimit-Limit") != "5" || r.header.Get("X-RateLimit-Remaining") != string(rune('4'-n)) || r.header.Get("X-RateLimit-Bucket") == "" {
				t.Errorf("%d: %d %v", n, r.status, r.header)
			}
		}
		b.clock.Advance(3500 * time.Millisecond)
		r := b.call("POST", b.messages(), hi)
		if r.status != 429 || r.get("retry_after") != 1.5 || r.get("global") != false || r.header.Get("Retry-After") != "2" || r.header.Get("X-RateLimit-Scope") != "user" || r.header.Get("X-RateLimit-Reset-After") != "1.500" {
			t.Errorf("%d %s %v", r.status, r.raw, r.header)
		}
		other := b.guild.Text("other")
		if r := b.call("POST", "/channels/"+other.ID()+"/messages", hi); r.status != 200 {
			t.Errorf("another channel: %s", r.raw)
		}
		b.clock.Advance(1501 * time.Millisecond)
		if r := b.call("POST", b.messages(), hi); r.status != 200 {
			t.Error(r.raw)
		}
		if b.InvalidRequests() != 1 {
			t.Errorf("%d invalid requests", b.InvalidRequests())
		}
	})
	t.Run("fifty a second in all, answers to interactions not counted", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{RateLimits: true})
		i := b.painted()
		for range 49 {
			b.call("GET", "/users/@me", nil)
		}
		r := b.call("GET", "/channels/"+b.channel.ID(), nil)
		if r.status != 429 || r.get("global") != true || r.header.Get("X-RateLimit-Global") != "true" || r.header.Get("X-RateLimit-Scope") != "global" {
			t.Errorf("%d %s %v", r.status, r.raw, r.header)
		}
		if r := b.answer(i, object{"type": 5}); r.status != 204 {
			t.Error(r.raw)
		}
	})
	t.Run("scripted limits last as long as they say; a shared one is nobody's mistake", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.Inject(discordtest.SharedLimit(10 * time.Second).On("POST /channels/{channel_id}/messages").In(b.channel))
		if r := b.call("POST", b.messages(), hi); r.status != 429 || r.header.Get("X-RateLimit-Scope") != "shared" || b.InvalidRequests() != 0 {
			t.Errorf("%d %s", r.status, r.raw)
		}
		b.clock.Advance(11 * time.Second)
		if r := b.call("POST", b.messages(), hi); r.status != 200 {
			t.Error(r.raw)
		}
		b.Inject(discordtest.GlobalLimit(time.Second))
		if r := b.call("GET", "/users/@me", nil); r.get("global") != true {
			t.Error(r.raw)
		}
		b.clock.Advance(2 * time.Second)
		b.Inject(discordtest.RateLimit(time.Second).After(1))
		if r := b.call("GET", "/users/@me", nil); r.status != 200 {
			t.Error(r.raw)
		}
		if r := b.call("GET", "/users/@me", nil); r.status != 429 || b.InvalidRequests() != 2 {
			t.Error(r.raw)
		}
	})
	t.Run("ten thousand invalid requests get the bot banned", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.CountInvalid(9_999)
		b.expect(b.call("POST", "/channels/1/typing", nil), 404, 10003, "")
		b.expect(b.call("GET", "/guilds/"+b.ForeignGuild("x").ID(), nil), 403, 50001, "")
		b.expect(b.call("GET", "/users/@me", nil), 403, 40333, "banned")
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	hi := object{"content": "hi"}
	setup := func(t *testing.T, f discordtest.Fault) *bench {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.Inject(f)
		return b
	}
	t.Run("a proxy's page instead of an answer", func(t *testing.T) {
		b := setup(t, discordtest.CloudflareLimit(30*time.Second))
		if r := b.call("POST", b.messages(), hi); r.status != 429 || r.header.Get("Retry-After") != "30" || !strings.Contains(r.raw, "<html>") || r.header.Get("X-RateLimit-Limit") != "" {
			t.Errorf("%d %s", r.status, r.raw)
		}
		b.Inject(discordtest.ServerError(502))
		if r := b.call("POST", b.messages(), hi); r.status != http.StatusBadGateway || len(b.History(b.channel)) != 0 {
			t.Errorf("%d %s", r.status, r.raw)
		}
	})
	t.Run("cuts before and after the effect", func(t *testing.T) {
		b := setup(t, discordtest.CutBefore())
		if r := b.call("POST", b.messages(), hi); r.status != 0 || len(b.History(b.channel)) != 0 {
			t.Errorf("%d %s", r.status, r.raw)
		}
		b.Inject(discordtest.CutAfter().On("POST /channels/{channel_id}/messages"))
		if r := b.call("POST", b.messages(), hi); r.status != 0 || len(b.History(b.channel)) != 1 {
			t.Errorf("%d %s", r.status, r.raw)
		}
	})
	t.Run("a request whose sender goes away is none", func(t *testing.T) {
		b := setup(t, discordtest.CutBefore().On("PATCH /users/@me"))
		socket, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = socket.Close() }()
		head := "POST /api/v10" + b.messages() + " HTTP/1.1\r\nHost: discord\r\nContent-Type: application/json\r\nContent-Length: 100\r\n" +
			"User-Agent: DiscordBot (https://example.com, 1.0)\r\nAuthorization: Bot " + b.Token + "\r\n\r\n"
		if _, err := io.WriteString(socket, head+`{"content":`); err != nil {
			t.Fatal(err)
		}
		if err := socket.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(socket); len(answer) != 0 {
			t.Errorf("%q, %v", answer, err)
		}
	})
	t.Run("half an answer, and a scripted refusal, twice", func(t *testing.T) {
		b := setup(t, discordtest.BrokenJSON())
		if r := b.call("POST", b.messages(), hi); r.status != 200 || r.body != nil {
			t.Errorf("%d %s", r.status, r.raw)
		}
		b.Inject(discordtest.Refuse(500, 130000, "API resource is currently overloaded").Repeat(2))
		for range 2 {
			b.expect(b.call("POST", b.messages(), hi), 500, 130000, "overloaded")
		}
		if r := b.call("POST", b.messages(), hi); r.status != 200 {
			t.Error(r.raw)
		}
	})
	t.Run("no answer at all", func(t *testing.T) {
		b := setup(t, discordtest.Hang())
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if r := b.call("POST", b.messages(), hi, func(r *http.Request) { *r = *r.WithContext(ctx) }); r.status != 0 || len(b.History(b.channel)) != 0 {
			t.Errorf("%d %s", r.status, r.raw)
		}
	})
	t.Run("answers that come late", func(t *testing.T) {
		release := make(chan struct{})
		b := setup(t, discordtest.DelayUntil(release))
		done := make(chan reply)
		go func() { done <- b.call("POST", b.messages(), hi) }()
		close(release)
		if r := <-done; r.status != 200 {
			t.Error(r.raw)
		}
		b.Inject(discordtest.Delay(time.Minute))
		go func() { done <- b.call("POST", b.messages(), hi) }()
		b.clock.Await(t, 1)
		select {
		case r := <-done:
			t.Fatalf("answered before its time: %s", r.raw)
		default:
		}
		b.clock.Advance(time.Minute)
		if r := <-done; r.status != 200 {
			t.Error(r.raw)
		}
	})
}
