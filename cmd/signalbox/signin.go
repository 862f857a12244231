package main

import (
	"net/http"
	"time"

	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/web/account"
)

// signInTimeout bounds a request to another site's sign-in.
const signInTimeout = 10 * time.Second

// signIn is how people can sign in with Telegram, which wants a domain to come back to, and with Discord; nil
// where that is not configured.
func (a *app) signIn() (*account.TelegramLogin, *account.DiscordLogin, error) {
	var telegram *account.TelegramLogin
	if a.cfg.TelegramBotToken != "" && a.cfg.Public != nil {
		telegram = &account.TelegramLogin{BotToken: a.cfg.TelegramBotToken}
	}
	if a.cfg.DiscordSecret == "" {
		return telegram, nil, nil
	}
	id := a.cfg.DiscordAppID
	if id == "" {
		client, err := discord.NewClient(discord.Config{Token: a.cfg.DiscordBotToken})
		if err != nil {
			return nil, nil, err
		}
		id = client.AppID()
	}
	return telegram, &account.DiscordLogin{
		ClientID: id, ClientSecret: a.cfg.DiscordSecret, API: a.cfg.DiscordAPI.JoinPath("api/v10"), Client: &http.Client{Timeout: signInTimeout},
	}, nil
}
