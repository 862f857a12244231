// Package landing decides what strangers see first and where they sign in, and lets operators choose it.
package landing

import (
	"bytes"
	"context"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/houserules"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/workflows"
)

// Examples are the pictures of bundled tools, but for those that WORKFLOWS_DIR replaces by another workflow: what that makes is not known.
func Examples(workflowsDir string) (map[string][]byte, error) {
	files, err := fs.Glob(workflows.Examples, "examples/*.jpg")
	if err != nil {
		return nil, err
	}
	pictures := map[string][]byte{}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".jpg")
		bundled, err := workflows.FS.ReadFile(id + ".json")
		if err != nil {
			return nil, err
		}
		own, err := os.ReadFile(filepath.Join(workflowsDir, id+".json"))
		if err == nil && !bytes.Equal(own, bundled) {
			continue
		}
		if pictures[id], err = workflows.Examples.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return pictures, nil
}

// Page is what strangers are told at PUBLIC_URL.
func Page(c config.Config, rules *houserules.Rules, telegram *telegram.Adapter) pages.Landing {
	ways := func() []pages.Way { return waysToBegin(c, telegram) }
	return pages.Landing{Ways: ways, Terms: rules.Says(houserules.Terms), Privacy: rules.Says(houserules.Privacy)}
}

// waysToBegin are the chat platforms that are connected, as far as the bots' names are known.
func waysToBegin(c config.Config, telegram *telegram.Adapter) []pages.Way {
	var ways []pages.Way
	if telegram != nil {
		if bot, _, known := strings.Cut(telegram.Capabilities().DeepLink, "?"); known {
			ways = append(ways, pages.Way{Platform: "telegram", URL: bot})
		}
	}
	if c.DiscordBotToken != "" {
		if client, err := discord.NewClient(discord.Config{Token: c.DiscordBotToken, AppID: c.DiscordAppID}); err == nil {
			q := url.Values{"client_id": {client.AppID()}, "scope": {"bot applications.commands"}}
			ways = append(ways, pages.Way{Platform: "discord", URL: "https://discord.com/oauth2/authorize?" + q.Encode()})
		}
	}
	return ways
}

// Section is the console's page on which operators pick what strangers see.
func Section(shares *pages.Shares) console.Section {
	return console.Section{
		Path: "landing", Title: "Landing page", Views: []console.View{{Name: "shared", Title: "All shared"}, {Name: "shown", Title: "On the page"}},
		Table: func(ctx context.Context, view string) (console.Table, error) {
			list, err := shares.List(ctx, view == "shown")
			return table(list), err
		},
		Deed: &console.Deed{
			Name: "turn", Button: "Show or take off",
			Says: "A result that is not on the landing page goes there, where everybody sees it without signing in; one that is there comes off.",
			Do:   turn(shares),
		},
	}
}

func table(list []pages.Shared) console.Table {
	t := console.Table{
		Lead:    "Strangers see these results on the landing page; without any, examples of the bundled tools. Only what its owner has shared by a link can stand there, and it goes when the link is taken back.",
		Columns: []string{"Run", "Tool", "Shared", "On the page"}, Empty: "No result is shared. Open one of yours and press Share.",
	}
	for _, s := range list {
		shown := "no"
		if s.Landing {
			shown = "yes"
		}
		t.Rows = append(t.Rows, console.Row{ID: s.Link, Cells: []console.Cell{{Run: s.RunID}, {Text: s.Tool}, {Text: s.Since.UTC().Format(time.DateTime)}, {Text: shown}}})
	}
	return t
}

func turn(shares *pages.Shares) func(ctx context.Context, links ...string) (string, error) {
	return func(ctx context.Context, links ...string) (string, error) {
		said := "Nothing was picked."
		for _, link := range links {
			on, err := shares.TurnLanding(ctx, link)
			if err != nil {
				return "", err
			}
			said = "The result is off the landing page."
			if on {
				said = "The result is on the landing page."
			}
		}
		return said, nil
	}
}
