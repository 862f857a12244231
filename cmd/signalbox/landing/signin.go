package landing

import (
	"net/http"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/web/account"
)

// signInTimeout bounds a request to another site's sign-in.
const signInTimeout = 10 * time.Second

// SignIn is how people can sign in with Telegram, which wants a domain to come back to, and with Discord; nil
// where that is not configured.
func SignIn(c config.Config) (*account.TelegramLogin, *account.DiscordLogin, error) {
	var telegram *account.TelegramLogin
	if c.TelegramBotToken != "" && c.Public != nil {
		telegram = &account.TelegramLogin{BotToken: c.TelegramBotToken}
	}
	if c.DiscordSecret == "" {
		return telegram, nil, nil
	}
	id := c.DiscordAppID
	if id == "" {
		client, err := discord.NewClient(discord.Config{Token: c.DiscordBotToken})
		if err != nil {
			return nil, nil, err
		}
		id = client.AppID()
	}
	return telegram, &account.DiscordLogin{
		ClientID: id, ClientSecret: c.DiscordSecret, API: c.DiscordAPI.JoinPath("api/v10"), Client: &http.Client{Timeout: signInTimeout},
	}, nil
}
