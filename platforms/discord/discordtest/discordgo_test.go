package discordtest_test

import (
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
}
