package discordtest_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// endpoint is an interactions endpoint as an application writes it. answer gets what is no PING.
func endpoint(t *testing.T, b *bench, answer http.HandlerFunc) string {
	t.Helper()
	key, err := hex.DecodeString(b.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		signature, err := hex.DecodeString(r.Header.Get("X-Signature-Ed25519"))
		signed, _ := strconv.ParseInt(r.Header.Get("X-Signature-Timestamp"), 10, 64)
		if err != nil || b.clock.Now().Sub(time.Unix(signed, 0)) > 5*time.Minute || !ed25519.Verify(key, append([]byte(r.Header.Get("X-Signature-Timestamp")), body...), signature) {
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		var interaction struct{ Type int }
		_ = json.Unmarshal(body, &interaction)
		w.Header().Set("Content-Type", "application/json")
		if interaction.Type == 1 {
			_, _ = io.WriteString(w, `{"type":1}`)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	say := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	use := func(t *testing.T, answer http.HandlerFunc) *bench {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		if err := b.UseEndpoint(within(t), endpoint(t, b, answer)); err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Run("the answer comes in the response, and the gateway hears nothing", func(t *testing.T) {
		b := use(t, say(200, `{"type":4,"data":{"content":"from the endpoint"}}`))
		c := b.connect(t)
		c.identify(nil)
		c.until("GUILD_CREATE")
		i := b.painted()
		i.Message(within(t), discordtest.Has("from the endpoint"))
		b.Dispatch("END", nil)
		if f := c.next(); f.Type != "END" {
			t.Errorf("the gateway got %+v", f)
		}
		b.expect(b.answer(i, object{"type": 5}), 400, 40060, "")
	})
	t.Run("202 leaves the answer to a call", func(t *testing.T) {
		b := use(t, say(202, ""))
		i := b.painted()
		if r := b.answer(i, object{"type": 5}); r.status != 204 {
			t.Error(r.raw)
		}
	})
	t.Run("an error, or an answer that is not valid, fails the interaction", func(t *testing.T) {
		b := use(t, say(500, "broken"))
		i := b.painted()
		b.Await(within(t), "the failure", i.Failed, func() string { return "" })
		b.expect(b.answer(i, object{"type": 5}), 404, 10062, "")
	})
	t.Run("an answer that is not valid fails the interaction and the test", func(t *testing.T) {
		b := use(t, say(200, `{"type":4,"data":{"content":"`+strings.Repeat("x", 2001)+`"}}`))
		i := b.painted()
		b.Await(within(t), "the failure", i.Failed, func() string { return "" })
		b.complained("refused")
	})
	t.Run("an endpoint that does not verify, or does not answer PING, is not taken", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		careless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"type":1}`)
		}))
		defer careless.Close()
		if err := b.UseEndpoint(within(t), careless.URL); err == nil || !strings.Contains(err.Error(), "expected 401") {
			t.Errorf("got %v", err)
		}
		mute := httptest.NewServer(say(200, "hello"))
		defer mute.Close()
		if err := b.UseEndpoint(within(t), mute.URL); err == nil || !strings.Contains(err.Error(), "PING") {
			t.Errorf("got %v", err)
		}
		if r := b.call("GET", "/applications/@me", nil); r.get("interactions_endpoint_url") != nil {
			t.Error(r.raw)
		}
	})
}
