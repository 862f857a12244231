package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

const (
	testToken = "MTE5NzU0NTY3ODkwMTIzNDU2Nw.GtEsT1.abcdefghijklmnopqrstuvwxyz0123456789AB" // of nobody
	testApp   = "1197545678901234567"
)

// serve makes a client of a service that answers with the handlers in turn, the last one for ever.
func serve(t *testing.T, handlers ...http.HandlerFunc) (*Client, *atomic.Int32) {
	t.Helper()
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(calls.Add(1))
		handlers[min(n, len(handlers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return clientOf(t, Config{Token: testToken, BaseURL: s.URL, Transport: s.Client().Transport}), &calls
}

func clientOf(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func ok() http.HandlerFunc { return answer(200, `{"id":"1"}`) }

func tooMany(seconds string, header ...string) http.HandlerFunc {
	return answer(429, `{"message":"You are being rate limited.","retry_after":`+seconds+`,"global":false}`, header...)
}

func posting() call {
	return call{method: http.MethodPost, path: "/channels/7/messages", route: "/channels/{}/messages", resource: "7", body: map[string]any{}, repeatable: true}
}

func TestClient(t *testing.T) {
	t.Parallel()
	t.Run("the application is the one that the token names, unless it is told", func(t *testing.T) {
		t.Parallel()
		if c := clientOf(t, Config{Token: testToken}); c.AppID() != testApp {
			t.Errorf("application %q", c.AppID())
		}
		if c := clientOf(t, Config{Token: testToken, AppID: "5"}); c.AppID() != "5" {
			t.Errorf("application %q", c.AppID())
		}
		if _, err := NewClient(Config{Token: "x.y.z"}); err == nil {
			t.Error("a token that names nobody is taken")
		}
	})
	t.Run("trap: the library speaks v9; calls go to v10 of the configured server, with a bot's headers", func(t *testing.T) {
		t.Parallel()
		var seen *http.Request
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { seen = r; ok()(w, r) })
		if err := c.do(t.Context(), posting(), nil); err != nil {
			t.Fatal(err)
		}
		if seen.URL.Path != "/api/v10/channels/7/messages" || seen.Header.Get("Authorization") != "Bot "+testToken || !strings.HasPrefix(seen.UserAgent(), "DiscordBot (") {
			t.Errorf("%s %v", seen.URL, seen.Header)
		}
	})
	t.Run("trap 12: calls to interactions carry no bot token", func(t *testing.T) {
		t.Parallel()
		var header http.Header
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { header = r.Header; ok()(w, r) })
		q := posting()
		q.apart = true
		if err := c.do(t.Context(), q, nil); err != nil || header.Get("Authorization") != "" {
			t.Errorf("%v %v", err, header)
		}
	})
	t.Run("no error and no format shows a token, the bot's or an interaction's", func(t *testing.T) {
		t.Parallel()
		c := clientOf(t, Config{Token: testToken, BaseURL: "http://127.0.0.1:1"})
		q := posting()
		q.path = "/webhooks/1/interactionsecret"
		err := c.do(t.Context(), q, nil)
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%v %+v", c.token, c.token)} {
			if strings.Contains(text, "interactionsecret") || strings.Contains(text, "GtEsT1") {
				t.Errorf("%s", text)
			}
		}
		c, _ = serve(t, answer(404, `{"code":10015,"message":"Unknown Webhook"}`))
		if err := c.do(t.Context(), q, nil); strings.Contains(err.Error(), "interactionsecret") || reasonOf(err) != tokenOver {
			t.Error(err)
		}
	})
	t.Run("an answer that tells what it was sent is told without the token", func(t *testing.T) {
		t.Parallel()
		for _, status := range []int{400, 401, 429, 500} {
			c, _ := serve(t, answer(status, `{"message":"Authorization: Bot `+testToken+`","errors":"Bot `+testToken+`"}`))
			q := posting()
			q.droppable = true
			if err := c.do(t.Context(), q, nil); err == nil || strings.Contains(err.Error(), testToken) {
				t.Errorf("%d: %v", status, err)
			}
		}
	})
	t.Run("trap 5: a wait for rate limits ends with its context", func(t *testing.T) {
		t.Parallel()
		c, calls := serve(t, tooMany("30"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		err := contract(c.do(ctx, posting(), nil))
		var limit *registry.Error
		if !errors.As(err, &limit) || limit.Code != registry.CodeRateLimited || limit.RetryAfter < 29*time.Second || time.Since(start) > 4*time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		if calls.Load() != 1 {
			t.Errorf("%d calls", calls.Load())
		}
	})
	t.Run("trap 5: rate limits are waited out, but not for ever", func(t *testing.T) {
		t.Parallel()
		c, calls := serve(t, tooMany("0.02"), tooMany("0.02"), ok())
		if err := c.do(t.Context(), posting(), nil); err != nil || calls.Load() != 3 {
			t.Errorf("%d calls, %v", calls.Load(), err)
		}
		c, calls = serve(t, tooMany("0.02"))
		if err := c.do(t.Context(), posting(), nil); reasonOf(err) != rateLimited || calls.Load() != maxAttempts {
			t.Errorf("%d calls, %v", calls.Load(), err)
		}
	})
	t.Run("trap 5: limits count for the bucket that Discord names, and for its resource", func(t *testing.T) {
		t.Parallel()
		c, _ := serve(t, answer(200, `{"id":"1"}`, "X-RateLimit-Bucket", "b1", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "50"))
		first, second, elsewhere := posting(), posting(), posting()
		second.route, second.droppable = "/channels/{}/other", true
		elsewhere.resource, elsewhere.droppable = "8", true
		if err := c.do(t.Context(), first, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.do(t.Context(), elsewhere, nil); err != nil {
			t.Errorf("another channel waits, too: %v", err)
		}
		if err := c.do(t.Context(), second, nil); err != nil { // here the bucket of the route is learned
			t.Fatal(err)
		}
		var limit *registry.Error
		if err := c.do(t.Context(), second, nil); !errors.As(err, &limit) || limit.RetryAfter < 40*time.Second {
			t.Errorf("a droppable call was to be refused at once: %v", err)
		}
	})
	t.Run("trap 5: what limits nothing any more is forgotten", func(t *testing.T) {
		t.Parallel()
		c, _ := serve(t, answer(200, `{"id":"1"}`, "X-RateLimit-Bucket", "b", "X-RateLimit-Remaining", "4", "X-RateLimit-Reset-After", "0"))
		for i := range 3 * manyRoutes {
			h := http.Header{"X-Ratelimit-Remaining": {"4"}, "X-Ratelimit-Reset-After": {"0"}, "X-Ratelimit-Bucket": {"b"}}
			c.limits.learn(scope{route: "r", resource: fmt.Sprint(i)}, 200, h)
		}
		if n := len(c.limits.buckets); n > manyRoutes {
			t.Errorf("%d buckets are kept", n)
		}
	})
	t.Run("a 429 of a proxy is no JSON, and waited out as its header says", func(t *testing.T) {
		t.Parallel()
		c, calls := serve(t, answer(429, "<html>slow down</html>", "Retry-After", "0.05"), ok())
		if err := c.do(t.Context(), posting(), nil); err != nil || calls.Load() != 2 {
			t.Errorf("%d calls, %v", calls.Load(), err)
		}
	})
	t.Run("trap 6: not only 502 is repeated, and only what may be", func(t *testing.T) {
		t.Parallel()
		for _, status := range []int{500, 502, 503, 504} {
			c, calls := serve(t, answer(status, ""), ok())
			if err := c.do(t.Context(), posting(), nil); err != nil || calls.Load() != 2 {
				t.Errorf("%d: %d calls, %v", status, calls.Load(), err)
			}
		}
		c, calls := serve(t, answer(500, ""))
		once := posting()
		once.repeatable = false
		if err := contract(c.do(t.Context(), once, nil)); !errors.Is(err, chat.ErrUncertain) || calls.Load() != 1 {
			t.Errorf("%d calls, %v", calls.Load(), err)
		}
	})
	t.Run("after a 401 nothing is called any more, and a 403 is not repeated", func(t *testing.T) {
		t.Parallel()
		c, calls := serve(t, answer(403, `{"code":50013,"message":"Missing Permissions"}`), answer(401, `{"message":"401: Unauthorized"}`))
		err := contract(c.do(t.Context(), posting(), nil))
		if !errors.Is(err, chat.ErrNoRight) || err.Error() != "Missing Permissions" || calls.Load() != 1 {
			t.Errorf("%d calls, %v", calls.Load(), err)
		}
		for range 3 {
			if err := c.do(t.Context(), posting(), nil); reasonOf(err) != unauthorized {
				t.Error(err)
			}
		}
		if calls.Load() != 2 {
			t.Errorf("%d calls", calls.Load())
		}
	})
	t.Run("many refusals make it stop before Discord bans the address", func(t *testing.T) {
		t.Parallel()
		c, _ := serve(t, ok())
		for range guardLimit {
			c.limits.learn(scope{route: "r"}, 403, http.Header{})
		}
		q := posting()
		q.droppable = true
		var limit *registry.Error
		if err := c.do(t.Context(), q, nil); !errors.As(err, &limit) || limit.RetryAfter < guardWindow/2 {
			t.Error(err)
		}
	})
	t.Run("form errors are told with the fields, for the log", func(t *testing.T) {
		t.Parallel()
		c, _ := serve(t, answer(400, `{"code":50035,"message":"Invalid Form Body","errors":{"content":{"_errors":[{"code":"X"}]}}}`))
		if err := c.do(t.Context(), posting(), nil); !strings.Contains(err.Error(), `"content"`) || !strings.Contains(err.Error(), "50035") {
			t.Error(err)
		}
	})
	t.Run("trap 10: uploads have a time limit of their own", func(t *testing.T) {
		t.Parallel()
		if c := clientOf(t, Config{Token: testToken}); c.http.Timeout != 0 || uploadTimeout < time.Minute {
			t.Errorf("time limits %s and %s", c.http.Timeout, uploadTimeout)
		}
	})
	t.Run("uploads are a few at once", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		now, most := 0, 0
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			_ = r.ParseMultipartForm(1 << 20)
			mu.Lock()
			now--
			mu.Unlock()
			ok()(w, r)
		})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				q := posting()
				q.files = []file{{name: "a.png", data: []byte("x")}}
				if err := c.do(t.Context(), q, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most > uploadsAtOnce {
			t.Errorf("%d at once", most)
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]error{
		10008: chat.ErrGone, 30046: chat.ErrGone, 50005: chat.ErrGone, 10003: chat.ErrUnreachable, 50001: chat.ErrUnreachable,
		50007: chat.ErrUnreachable, 50278: chat.ErrUnreachable, 50013: chat.ErrNoRight, 160005: chat.ErrNoRight, 40005: chat.ErrTooLarge,
		50045: chat.ErrTooLarge,
	} {
		if err := contract(&Error{Status: 400, Code: code, Message: "x"}); !errors.Is(err, want) {
			t.Errorf("%d gives %v, want %v", code, err, want)
		}
	}
	if err := contract(&Error{Status: 413}); !errors.Is(err, chat.ErrTooLarge) {
		t.Error(err)
	}
	if err := contract(errors.New("else")); err == nil || contract(nil) != nil {
		t.Error("foreign errors do not pass")
	}
}

func TestForeignFiles(t *testing.T) {
	t.Parallel()
	c := clientOf(t, Config{Token: testToken})
	for address, want := range map[string]bool{
		"https://cdn.discordapp.com/attachments/1/2/a.png?ex=1": true, "https://media.discordapp.net/a": true,
		"http://cdn.discordapp.com/a": false, "https://169.254.169.254/a": false, "https://cdn.discordapp.com.evil.example/a": false,
		"https://discord.com/a": false, "file:///etc/passwd": false, "": false,
	} {
		if got := c.mayDownload(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

func decodeInteraction(t *testing.T, raw string) interaction {
	t.Helper()
	var i interaction
	if err := json.Unmarshal([]byte(raw), &i); err != nil {
		t.Fatal(err)
	}
	return i
}

func TestReader(t *testing.T) {
	t.Parallel()
	r := reader{bot: "99", commands: published{Commands: map[string]usage{"paint": {Options: map[string]string{"cfg_scale": "CFG Scale"}}}}}
	const head = `{"id":"1197545678901234567","token":"t","guild_id":"5","channel_id":"6","locale":"de","attachment_size_limit":1000,
		"channel":{"id":"6","type":11,"parent_id":"4","name":"t","nsfw":true},"context":0,
		"member":{"user":{"id":"7","username":"anna","global_name":"Anna"},"roles":["8"],"permissions":"32"},`
	t.Run("trap 1: components nobody knows leave a form its values", func(t *testing.T) {
		t.Parallel()
		in, ok := r.interaction(decodeInteraction(t, head+`"type":5,"data":{"custom_id":"f","components":[
			{"type":18,"component":{"type":4,"custom_id":"a","value":"1"}},{"type":77,"nonsense":{}},
			{"type":1,"components":[{"type":4,"custom_id":"b","value":"2"}]}]}}`))
		if !ok || in.Kind != chat.KindForm || in.Press.Data != "f" || in.Options["a"] != "1" || in.Options["b"] != "2" {
			t.Errorf("%v %+v", ok, in)
		}
	})
	t.Run("a command has its place, its person and its options", func(t *testing.T) {
		t.Parallel()
		in, _ := r.interaction(decodeInteraction(t, head+`"type":2,"data":{"name":"paint","type":1,"options":[
			{"name":"cfg_scale","type":10,"value":9007199254740991},{"name":"fast","type":5,"value":true},{"name":"image","type":11,"value":"55"}],
			"resolved":{"attachments":{"55":{"id":"55","filename":"a.png","content_type":"image/png; x","url":"https://cdn.discordapp.com/a","size":9}}}}}`))
		if in.Options["CFG Scale"] != json.Number("9007199254740991") || in.Options["fast"] != true || in.Options["image"] != "attachment:0" {
			t.Errorf("%v", in.Options)
		}
		if in.Chat.Chat != "4" || in.Chat.Topic != "6" || in.Chat.Space != "5" || !in.Chat.AgeRestricted || in.Chat.UploadLimit != 1000 || in.Chat.Kind != chat.ChatGroup {
			t.Errorf("%+v", in.Chat)
		}
		if in.From.ExternalID != "7" || in.From.Name != "Anna" || in.From.Language != "de" || !in.Admin || in.Roles[0] != "8" || in.Attachments[0].MIMEType != "image/png" {
			t.Errorf("%+v", in)
		}
		if in.Message.ID != requestPrefix+in.ID {
			t.Errorf("the request is %+v", in.Message)
		}
	})
	t.Run("what somebody passes on to the bot is what it held, and no reply", func(t *testing.T) {
		t.Parallel()
		var m message
		if err := json.Unmarshal([]byte(`{"id":"1","channel_id":"2","author":{"id":"7"},"content":"","message_reference":{"type":1,"message_id":"8","channel_id":"9"},
			"message_snapshots":[{"message":{"content":"a cat","attachments":[{"id":"55","filename":"a.png","content_type":"image/png","url":"https://cdn.discordapp.com/a"}]}}]}`), &m); err != nil {
			t.Fatal(err)
		}
		in, ok := r.message(m, nil)
		if !ok || in.Text != "a cat" || len(in.Attachments) != 1 || in.Attachments[0].Name != "a.png" || m.Reference != nil {
			t.Errorf("%v %+v, in answer to %v", ok, in, m.Reference)
		}
	})
	t.Run("a sticker or a poll in private gets an answer, news of the chat get none", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]bool{
			`{"id":"1","channel_id":"2","author":{"id":"7"},"content":"","sticker_items":[{"id":"3","name":"Wave"}]}`:                                         true,
			`{"id":"1","channel_id":"2","type":19,"author":{"id":"7"},"content":"","poll":{}}`:                                                                true,
			`{"id":"1","channel_id":"2","type":6,"author":{"id":"7"},"content":""}`:                                                                           false,
			`{"id":"1","channel_id":"2","guild_id":"5","author":{"id":"7"},"content":"","sticker_items":[{"id":"3","name":"Wave"}],"mentions":[{"id":"99"}]}`: false,
		} {
			var m message
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			if in, ok := r.message(m, func() *channel { return nil }); ok != want || in.Text != "" {
				t.Errorf("%s: %v %+v", text, ok, in)
			}
		}
	})
	t.Run("messages to the bot are read, others are not", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]bool{
			`{"id":"1","channel_id":"2","author":{"id":"7"},"content":"/paint a cat"}`:                                               true,
			`{"id":"1","channel_id":"2","guild_id":"5","author":{"id":"7"},"content":"<@99> /paint a cat","mentions":[{"id":"99"}]}`: true,
			`{"id":"1","channel_id":"2","guild_id":"5","author":{"id":"7"},"content":"/paint a cat"}`:                                false,
			`{"id":"1","channel_id":"2","author":{"id":"99","bot":true},"content":"/paint a cat"}`:                                   false,
			`{"id":"1","channel_id":"2","author":{"id":"7"},"webhook_id":"3","content":"/paint a cat"}`:                              false,
			`{"id":"1","channel_id":"2","guild_id":"5","author":{"id":"7"},"content":"<@99>","mentions":[{"id":"99"}]}`:              false,
		} {
			var m message
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			in, ok := r.message(m, func() *channel { return nil })
			if ok != want || ok && (in.Command != "paint" || in.Text != "a cat" || !in.Addressed) {
				t.Errorf("%s: %v %+v", text, ok, in)
			}
		}
	})
}
