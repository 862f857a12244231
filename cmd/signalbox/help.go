package main

//go:generate sh -c "go run . help settings --markdown >../../docs/configuration.md"

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
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
			return writeSettingsPage(e.stdout, parsed.Model.Flags)
		}
		return writeSettings(e.stdout, parsed.Model.Flags)
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

// printHelp is kong's help without the settings, which are too many to stand beside a command's own flags.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	for _, f := range ctx.Model.Flags {
		f.Hidden = f.Group != nil // only settings are grouped
	}
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	command, _, _ := strings.Cut(ctx.Command(), " ")
	if !slices.Contains(withoutSettings, command) {
		fmt.Fprintln(ctx.Stdout, "\nSettings come from the environment, or from flags of the same names: signalbox help settings")
	}
	return nil
}

// settingGroup is settings that are told together.
type settingGroup struct {
	title    string
	settings []*kong.Flag
}

func settingGroups(flags []*kong.Flag) (groups []settingGroup) {
	for _, f := range flags {
		if f.Group == nil {
			continue
		}
		if n := len(groups); n == 0 || groups[n-1].title != f.Group.Title {
			groups = append(groups, settingGroup{title: f.Group.Title})
		}
		last := &groups[len(groups)-1]
		last.settings = append(last.settings, f)
	}
	return groups
}

// usualOf is the default of a setting as it is told to every reader: folders of this machine's user are not.
func usualOf(f *kong.Flag) string {
	if f.Name == "data-dir" {
		return "~/.local/share/signalbox"
	}
	return f.Default
}

// writeSettings prints the settings for a terminal.
func writeSettings(w io.Writer, flags []*kong.Flag) error {
	var b strings.Builder
	b.WriteString("Settings are variables of the environment. Each is a flag, too, which wins: LOG_LEVEL=debug is --log-level=debug.\n")
	for _, g := range settingGroups(flags) {
		fmt.Fprintf(&b, "\n%s\n", g.title)
		for _, f := range g.settings {
			fmt.Fprintf(&b, "  %s=%s\n", f.Envs[0], usualOf(f))
			for _, line := range wrap(f.Help, 92) {
				fmt.Fprintf(&b, "      %s\n", line)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSettingsPage prints the settings as a document.
func writeSettingsPage(w io.Writer, flags []*kong.Flag) error {
	var b strings.Builder
	b.WriteString(`# Configuration

Variables of the environment; each is a flag, too, which wins: ` + "`LOG_LEVEL=debug` is `--log-level=debug`" + `. A wrong value stops the start with one line that names the
variable, and an empty one is the default. ` + "`signalbox help settings`" + ` prints this list, ` + "`signalbox doctor`" + ` looks at what is set.

This page is drawn from the program: ` + "`go generate ./cmd/signalbox`" + `.
`)
	for _, g := range settingGroups(flags) {
		fmt.Fprintf(&b, "\n## %s\n\n| variable | default | meaning |\n| --- | --- | --- |\n", g.title)
		for _, f := range g.settings {
			usual := usualOf(f)
			if usual != "" {
				usual = "`" + usual + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Envs[0], usual, strings.ReplaceAll(f.Help, "|", `\|`))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a text into lines of at most width letters.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
