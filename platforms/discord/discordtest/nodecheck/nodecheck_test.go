// Package nodecheck drives the strict test servers with clients that other people wrote: discord.js and
// grammY. What these can do, and what they see, proves that the servers behave like the services, and not
// merely like our own reading of their documentation.
package nodecheck

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a running Node script.
type script struct {
	t     *testing.T
	lines chan map[string]any
}

// start runs a script of this folder with environment variables; it ends with the test. Without Node or
// the packages (npm ci in this folder) the test is skipped, or fails where CI is true.
func start(t *testing.T, name string, env ...string) *script {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat("node_modules")
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("Node and `npm ci` in this folder are needed: %v", err)
		}
		t.Skipf("Node and `npm ci` in this folder are needed: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), node, name)
	cmd.Env = append(os.Environ(), append(env, "PICTURE="+base64.StdEncoding.EncodeToString(picture(t)))...)
	cmd.WaitDelay = 5 * time.Second
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, lines: make(chan map[string]any, 100)}
	done := make(chan struct{})
	go s.read(out, done)
	t.Cleanup(func() {
		_ = in.Close()
		<-done
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("%s: %v\n%s", name, err, complaints.String())
		}
	})
	return s
}

func (s *script) read(out io.Reader, done chan struct{}) {
	defer close(done)
	defer close(s.lines)
	for scan := bufio.NewScanner(out); scan.Scan(); {
		var line map[string]any
		if json.Unmarshal(scan.Bytes(), &line) == nil {
			s.lines <- line
		}
	}
}

// await takes lines until that event.
func (s *script) await(event string) map[string]any {
	s.t.Helper()
	patience := time.After(5 * time.Minute)
	for {
		select {
		case line, ok := <-s.lines:
			switch {
			case !ok || line["event"] == "error":
				s.t.Fatalf("the script ended before %q: %v", event, line["text"])
			case line["event"] == event:
				return line
			}
		case <-patience:
			s.t.Fatalf("no %q from the script", event)
		}
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

// encoded compares by JSON.
func encoded(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestDiscordJS(t *testing.T) {
	t.Parallel()
	t.Run("discord.js logs in, registers commands, answers people and edits", func(t *testing.T) {
		t.Parallel()
		s := discordtest.New(t, discordtest.Options{Patience: 5 * time.Minute})
		ann := s.User("Ann")
		channel := s.Guild("Studio", ann).Text("general")
		bot := start(t, "discord.mjs", "MODE=answer", "API_URL="+s.URL, "BOT_TOKEN="+s.Token, "CHANNEL="+channel.ID())
		if ready := bot.await("ready"); ready["user"] != s.BotID() || encoded(t, ready["guilds"]) != `["Studio"]` {
			t.Errorf("logged in as %v", ready)
		}
		ctx := t.Context()
		choices := ann.Autocomplete(channel, "paint", "model", "flux").Choices(ctx)
		if len(choices) != 2 || choices[0].Value != "flux-small" {
			t.Errorf("choices %v", choices)
		}
		i := ann.Command(channel, "paint", discordtest.Opt("prompt", "a bicycle"), discordtest.Opt("steps", 4), discordtest.Opt("model", "flux-small"))
		m := i.Message(ctx, discordtest.HasFile("picture.png"))
		if m.Content != "painted a bicycle in 4 steps" || m.Attachments[0].Description != "what was asked for" || m.Attachments[0].Width != 8 {
			t.Errorf("got %+v", m)
		}
		ann.WaitMessage(ctx, channel, discordtest.Has("only for Ann"))
		form := ann.Press(m, "Name").Modal(ctx)
		ann.Submit(form, map[string]any{"Name": "Rusty"})
		s.WaitMessage(ctx, channel, discordtest.Has("named Rusty"))
		ann.MessageCommand(s.Now(m), "Use with").Message(ctx, discordtest.Has("used picture.png"))
	})
}

func TestGrammY(t *testing.T) {
	t.Parallel()
	t.Run("grammY polls, sends media and answers presses", func(t *testing.T) {
		t.Parallel()
		s := telegramtest.New(t, telegramtest.Options{Patience: 5 * time.Minute})
		ann := s.User("Ann")
		bot := start(t, "telegram.mjs", "MODE=answer", "API_URL="+s.URL, "BOT_TOKEN="+s.Token)
		ready := bot.await("ready")
		if got := encoded(t, ready["commands"]); got != `["paint: Paints."]` {
			t.Errorf("commands %s", got)
		}
		ctx, chat := t.Context(), ann.Private()
		ann.Send(chat, "/paint a bicycle")
		m := s.WaitMessage(ctx, chat, telegramtest.HasMedia("photo"))
		if m.Text != "painted a bicycle" || !bytes.Equal(m.Media.Bytes, picture(t)) || strings.Join(m.Labels(), ",") != "Again" {
			t.Errorf("got %s", m)
		}
		if a := ann.Press(m, "Again").Answer(ctx); a.Text != "at once" {
			t.Errorf("answer %+v", a)
		}
		s.WaitMessage(ctx, chat, telegramtest.Has("painted again"))
	})
}
