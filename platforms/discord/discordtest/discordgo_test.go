package discordtest_test

import (
	"bytes"
	"net/http"
	"net/url"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// rewrite sends the library's calls to the test server.
type rewrite struct{ to *url.URL }

func (r rewrite) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = r.to.Scheme, r.to.Host
	return http.DefaultTransport.RoundTrip(req)
}

func library(t *testing.T, b *bench) *discordgo.Session {
	t.Helper()
	s, err := discordgo.New("Bot " + b.Token)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.Client = &http.Client{Transport: rewrite{to}}
	s.Identify.Intents = discordgo.IntentsGuilds
	return s
}

func TestDiscordgo(t *testing.T) {
	t.Parallel()
	t.Run("the library logs in, registers a command, gets it used, answers and edits", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		s := library(t, b)
		ctx := within(t)
		s.AddHandler(func(s *discordgo.Session, e *discordgo.InteractionCreate) {
			value := e.ApplicationCommandData().Options[0].StringValue()
			if err := s.InteractionRespond(e.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource}); err != nil {
				t.Error(err)
			}
			content := "painted " + value
			if _, err := s.InteractionResponseEdit(e.Interaction, &discordgo.WebhookEdit{Content: &content}); err != nil {
				t.Error(err)
			}
		})
		if err := s.Open(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		_, err := s.ApplicationCommandBulkOverwrite(b.ApplicationID, "", []*discordgo.ApplicationCommand{{
			Name: "paint", Description: "Paints.", Options: []*discordgo.ApplicationCommandOption{{
				Type: discordgo.ApplicationCommandOptionString, Name: "prompt", Description: "What.", Required: true,
			}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		b.WaitReady(ctx, 1)
		i := b.ann.Command(b.channel, "paint", discordtest.Opt("prompt", "a bicycle"))
		if m := i.Message(ctx, nil); m.Content != "painted a bicycle" || m.Loading {
			t.Errorf("got %s", m)
		}
		if a := i.Answer(ctx); a.Type != discordtest.AnswerDeferred {
			t.Errorf("first answer %+v", a)
		}
	})
	t.Run("files, buttons, forms and updates of the library pass, and a reconnect resumes", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		s := library(t, b)
		ctx := within(t)
		s.AddHandler(func(s *discordgo.Session, e *discordgo.InteractionCreate) {
			answer := &discordgo.InteractionResponse{Type: discordgo.InteractionResponseUpdateMessage, Data: &discordgo.InteractionResponseData{Content: "updated"}}
			if e.Type == discordgo.InteractionMessageComponent {
				answer = &discordgo.InteractionResponse{Type: discordgo.InteractionResponseModal, Data: &discordgo.InteractionResponseData{
					CustomID: "form", Title: "Form", Components: []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
						discordgo.TextInput{CustomID: "name", Label: "Name", Style: discordgo.TextInputShort, Required: true},
					}}},
				}}
			}
			if err := s.InteractionRespond(e.Interaction, answer); err != nil {
				t.Error(err)
			}
		})
		if err := s.Open(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		_, err := s.ChannelMessageSendComplex(b.channel.ID(), &discordgo.MessageSend{
			Content: "look", Files: []*discordgo.File{{Name: "a.png", ContentType: "image/png", Reader: bytes.NewReader(picture(t))}},
			Components:      []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{discordgo.Button{Label: "Ask", CustomID: "ask", Style: discordgo.PrimaryButton}}}},
			AllowedMentions: &discordgo.MessageAllowedMentions{},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.WaitReady(ctx, 1)
		b.Reconnect()
		b.WaitReady(ctx, 2)
		m := b.WaitMessage(ctx, b.channel, discordtest.HasFile("a.png"))
		form := b.ann.Press(m, "Ask").Modal(ctx)
		b.ann.Submit(form, map[string]any{"Name": "x"}).Answer(ctx)
		if now := b.Now(m); now.Content != "updated" || len(now.Labels()) != 0 {
			t.Errorf("got %s", now)
		}
	})
}
