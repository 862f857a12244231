package discordtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a server with a guild, a channel and two people, and what the server complained about.
type bench struct {
	*discordtest.Server
	t       *testing.T
	clock   *clocktest.Manual
	guild   *discordtest.Guild
	channel *discordtest.Channel
	ann     *discordtest.User
	bob     *discordtest.User

	mu        sync.Mutex
	complaint []string
}

func setup(t *testing.T, opts discordtest.Options) *bench {
	t.Helper()
	b := &bench{t: t, clock: clocktest.NewManual(time.Date(2026, 8, 6, 12, 0, 0, 0, time.UTC))}
	opts.Clock = b.clock
	opts.Patience = 2 * time.Minute
	opts.OnViolation = func(text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaint = append(b.complaint, text)
	}
	b.Server = discordtest.New(t, opts)
	b.ann, b.bob = b.User("Ann"), b.User("Bob")
	b.guild = b.Guild("Studio", b.ann, b.bob)
	b.channel = b.guild.Text("general")
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.complaint) > 0 {
			t.Errorf("violations nobody asked for: %q", b.complaint)
		}
	})
	return b
}

// complained takes the violations so far; the last must contain part.
func (b *bench) complained(part string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.complaint); n == 0 || !strings.Contains(b.complaint[n-1], part) {
		b.t.Errorf("violations %q, expected %q", b.complaint, part)
	}
	b.complaint = nil
}

// reply is an answer of the REST API.
type reply struct {
	status int
	header http.Header
	body   any
	raw    string
}

func (r reply) get(path ...any) any {
	at := r.body
	for _, step := range path {
		switch s := step.(type) {
		case string:
			o, _ := at.(map[string]any)
			at = o[s]
		case int:
			l, _ := at.([]any)
			if s >= len(l) {
				return nil
			}
			at = l[s]
		}
	}
	return at
}

func (r reply) code() int {
	n, _ := r.get("code").(float64)
	return int(n)
}

func (r reply) id() string { return fmt.Sprint(r.get("id")) }

// call makes a request as a well-behaved bot does; body is a JSON text or any value.
func (b *bench) call(method, path string, body any, edit ...func(*http.Request)) reply {
	b.t.Helper()
	var reader io.Reader
	switch v := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(v)
	case io.Reader:
		reader = v
	default:
		data, err := json.Marshal(v)
		if err != nil {
			b.t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.URL+"/api/v10"+path, reader)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+b.Token)
	req.Header.Set("User-Agent", "DiscordBot (https://example.com, 1.0)")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, e := range edit {
		e(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{raw: err.Error()}
	}
	defer func() { _ = resp.Body.Close() }()
	data, _ := io.ReadAll(resp.Body)
	r := reply{status: resp.StatusCode, header: resp.Header, raw: string(data)}
	_ = json.Unmarshal(data, &r.body)
	return r
}

// upload makes a multipart request with payload_json and parts named files[0], files[1], ...
func (b *bench) upload(method, path string, payload any, files ...discordtest.File) reply {
	b.t.Helper()
	var buffer bytes.Buffer
	w := multipart.NewWriter(&buffer)
	data, err := json.Marshal(payload)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = w.WriteField("payload_json", string(data))
	for i, f := range files {
		part, _ := w.CreateFormFile(fmt.Sprintf("files[%d]", i), f.Name)
		_, _ = part.Write(f.Bytes)
	}
	_ = w.Close()
	return b.call(method, path, &buffer, func(r *http.Request) { r.Header.Set("Content-Type", w.FormDataContentType()) })
}

func (b *bench) messages() string { return "/channels/" + b.channel.ID() + "/messages" }

// answer makes the first answer to an interaction.
func (b *bench) answer(i *discordtest.Interaction, body any) reply {
	b.t.Helper()
	return b.call("POST", "/interactions/"+i.ID+"/"+i.Token+"/callback", body)
}

// hook calls the webhook of an interaction.
func (b *bench) hook(method string, i *discordtest.Interaction, path string, body any) reply {
	b.t.Helper()
	return b.call(method, "/webhooks/"+b.ApplicationID+"/"+i.Token+path, body)
}

// register puts commands, which must be fine, into the global list.
func (b *bench) register(commands string) {
	b.t.Helper()
	if r := b.call("PUT", "/applications/"+b.ApplicationID+"/commands", commands); r.status != 200 {
		b.t.Fatalf("registering: %d %s", r.status, r.raw)
	}
}

func (b *bench) expect(r reply, status, code int, part string) {
	b.t.Helper()
	if r.status != status || r.code() != code || !strings.Contains(r.raw, part) {
		b.t.Errorf("got %d %s, expected %d, code %d and %q", r.status, r.raw, status, code, part)
	}
}

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
