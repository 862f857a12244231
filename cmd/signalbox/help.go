package main

//go:generate sh -c "go run . help settings --markdown >../../docs/configuration.md"

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/cmd/signalbox/help"
)

// helpCommand explains commands and settings.
type helpCommand struct {
	Topic    []string `arg:"" optional:"" help:"A command, or the word settings."`
	Markdown bool     `help:"Print the settings as docs/configuration.md has them."`
}

// topicSettings is the topic of help that is no command.
const topicSettings = "settings"

// Run prints what there is to know about the topic.
func (h *helpCommand) Run(e env, parsed *kong.Context) error {
	if len(h.Topic) == 1 && h.Topic[0] == topicSettings {
		if h.Markdown {
			return help.WriteSettingsPage(e.stdout, parsed.Model.Flags)
		}
		return help.WriteSettings(e.stdout, parsed.Model.Flags)
	}
	node := parsed.Model.Node
	for _, name := range h.Topic {
		i := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == name })
		if i < 0 {
			return fmt.Errorf("help: there is no command %q; signalbox --help lists them", strings.Join(h.Topic, " "))
		}
		node = node.Children[i]
	}
	// What it says of arguments that are missing is no news to somebody who asks for help.
	_, _ = parsed.Parse(append(slices.Clone(h.Topic), "--help"))
	return nil
}
