package main

import (
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/web/pages"
)

// landing is what strangers are told at PUBLIC_URL.
func (a *app) landing() pages.Landing {
	return pages.Landing{Ways: a.waysToBegin, Terms: a.rules.Says(houserules.Terms), Privacy: a.rules.Says(houserules.Privacy)}
}

// waysToBegin are the chat platforms that are connected, as far as the bots' names are known.
func (a *app) waysToBegin() []pages.Way {
	var ways []pages.Way
	if a.chat.telegram != nil {
		if bot, _, known := strings.Cut(a.chat.telegram.Capabilities().DeepLink, "?"); known {
			ways = append(ways, pages.Way{Platform: "telegram", URL: bot})
		}
	}
	if a.chat.discord != nil {
		if client, err := discord.NewClient(discord.Config{Token: a.cfg.DiscordBotToken, AppID: a.cfg.DiscordAppID}); err == nil {
			q := url.Values{"client_id": {client.AppID()}, "scope": {"bot applications.commands"}}
			ways = append(ways, pages.Way{Platform: "discord", URL: "https://discord.com/oauth2/authorize?" + q.Encode()})
		}
	}
	return ways
}
