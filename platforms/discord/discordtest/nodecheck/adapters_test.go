package nodecheck

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/registry"
)

// The house's adapters write commands and messages; the foreign clients, with the same token, must see
// exactly these.

func commandSet(kind chat.ChatKind) []chat.CommandSet {
	return []chat.CommandSet{{Kind: kind, Commands: []chat.Command{
		{Name: "paint", Description: "Paints a picture.", Inputs: registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true, Description: "What."},
			{Name: "steps", Type: registry.TypeNumber, Description: "How long.", Min: "1", Max: "50", Integer: true},
		}},
		{Name: "balance", Description: "Shows what is left."},
	}}}
}

func result(t *testing.T, to chat.Place) chat.Message {
	t.Helper()
	data := picture(t)
	return chat.Message{
		To: to, Text: chat.Plain("A bicycle, 4 steps"), Buttons: [][]chat.Button{{{Label: "Again", Data: "again"}, {Label: "Vary", Data: "vary"}}},
		Media: []chat.Media{{
			Kind: chat.KindPhoto, FileName: "bicycle.png", MIMEType: "image/png", Bytes: int64(len(data)), Width: 8, Height: 6, Alt: "a red bicycle",
			Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		}},
	}
}

func send(t *testing.T, a chat.Adapter, kind chat.ChatKind, to chat.Place) {
	t.Helper()
	if err := a.SyncCommands(t.Context(), commandSet(kind)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Send(t.Context(), result(t, to)); err != nil {
		t.Fatal(err)
	}
}

func transport(t *testing.T) *http.Transport {
	own := &http.Transport{}
	t.Cleanup(own.CloseIdleConnections)
	return own
}

func TestDiscordAdapter(t *testing.T) {
	t.Parallel()
	t.Run("discord.js sees the commands and messages of the Discord adapter", func(t *testing.T) {
		t.Parallel()
		s := discordtest.New(t, discordtest.Options{Patience: 5 * time.Minute})
		channel := s.Guild("Studio", s.User("Ann")).Text("general")
		client, err := discord.NewClient(discord.Config{Token: s.Token, AppID: s.ApplicationID, BaseURL: s.URL, Transport: transport(t)})
		if err != nil {
			t.Fatal(err)
		}
		a, err := discord.NewAdapter(t.Context(), discord.AdapterConfig{
			Client: client, Pool: postgrestest.New(t), Logger: slog.New(slog.DiscardHandler), Elsewhere: func(string) string { return "on the page" },
		})
		if err != nil {
			t.Fatal(err)
		}
		send(t, a, chat.ChatGroup, chat.Place{Chat: channel.ID()})
		shown := start(t, "discord.mjs", "MODE=see", "API_URL="+s.URL, "BOT_TOKEN="+s.Token, "CHANNEL="+channel.ID()).await("shown")
		var commands []string
		for _, c := range s.Commands(nil) {
			commands = append(commands, c.Name)
		}
		var names []string
		for _, c := range shown["commands"].([]any) {
			names = append(names, c.(map[string]any)["name"].(string))
		}
		if strings.Join(names, " ") != strings.Join(commands, " ") || len(names) < 2 {
			t.Errorf("discord.js sees the commands %q, registered are %q", names, commands)
		}
		paint := encoded(t, shown["commands"].([]any)[0])
		for _, part := range []string{`"name":"prompt","required":true,"type":3`, `"name":"steps","required":false,"type":4`, "Paints a picture."} {
			if !strings.Contains(paint, part) {
				t.Errorf("the command %s lacks %s", paint, part)
			}
		}
		message := encoded(t, shown["messages"].([]any)[0])
		for _, part := range []string{"A bicycle, 4 steps", fmt.Sprintf(`"bicycle.png %d a red bicycle"`, len(picture(t))), `"buttons":["Again","Vary"]`, `"bot":true`} {
			if !strings.Contains(message, part) {
				t.Errorf("the message %s lacks %s", message, part)
			}
		}
	})
}

func TestTelegramAdapter(t *testing.T) {
	t.Parallel()
	t.Run("grammY sees the commands and messages of the Telegram adapter", func(t *testing.T) {
		t.Parallel()
		s := telegramtest.New(t, telegramtest.Options{Patience: 5 * time.Minute})
		ann := s.User("Ann")
		ann.Start("")
		client, err := botapi.NewClient(botapi.Config{Token: s.Token, BaseURL: s.URL, Transport: transport(t)})
		if err != nil {
			t.Fatal(err)
		}
		a, err := telegram.NewAdapter(t.Context(), telegram.AdapterConfig{Client: client, Pool: postgrestest.New(t), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		place := chat.Place{Chat: fmt.Sprint(ann.Private().ID())}
		send(t, a, chat.ChatPrivate, place)
		bot := start(t, "telegram.mjs", "MODE=see", "API_URL="+s.URL, "BOT_TOKEN="+s.Token, "SCOPE=all_private_chats")
		if got := encoded(t, bot.await("ready")["commands"]); got != `["paint: Paints a picture.","balance: Shows what is left."]` {
			t.Errorf("grammY sees the commands %s", got)
		}
		m := s.WaitMessage(t.Context(), ann.Private(), telegramtest.HasMedia("photo"))
		ann.Press(m, "Vary")
		seen := bot.await("pressed")
		if seen["text"] != "A bicycle, 4 steps" || seen["photo"] != true || encoded(t, seen["buttons"]) != `["Again","Vary"]` || seen["data"] == "" {
			t.Errorf("grammY sees the message %v", seen)
		}
	})
}
