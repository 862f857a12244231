// Package help writes the program's help: a screen of commands, and the settings for a terminal and as a document.
package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/cmd/signalbox/terminal"
	"github.com/signalbox/signalbox/internal/edit"
)

// Printer prints what is asked for with --help. Settings are too many to stand beside a command's own flags; commands that read none are
// named.
func Printer(withoutSettings []string) kong.HelpPrinter {
	return func(o kong.HelpOptions, ctx *kong.Context) error {
		if ctx.Selected() == nil {
			return writeOverview(ctx.Stdout, ctx.Model)
		}
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
}

// writeOverview prints one screen: the commands with a line each.
func writeOverview(w io.Writer, model *kong.Application) error {
	style := terminal.StyleOf(w)
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: signalbox [COMMAND] [FLAGS]      %s\n\n", model.Help)
	for _, c := range model.Children {
		if !c.Hidden {
			fmt.Fprintf(&b, "  %s  %s\n", style.Strong(fmt.Sprintf("%-9s", c.Name)), c.Help)
		}
	}
	b.WriteString("\nsignalbox COMMAND --help explains a command, signalbox help settings all settings.\n")
	_, err := io.WriteString(w, b.String())
	return err
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

// Misspelt tells of variables that are no settings but nearly called like one that is not set: what they say is not heard.
func Misspelt(environ []string, flags []*kong.Flag) (all []string) {
	var set, settings []string
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			set = append(set, name)
		}
	}
	for _, f := range flags {
		settings = append(settings, f.Value.Tag.Envs...)
	}
	for _, name := range set {
		if slices.Contains(settings, name) {
			continue
		}
		for _, setting := range settings {
			if len(setting) >= 8 && edit.Distance(name, setting, 2) <= 2 && !slices.Contains(set, setting) {
				all = append(all, name+" is not a setting; did you mean "+setting+"?")
			}
		}
	}
	return all
}

// WriteSettings prints the settings for a terminal.
func WriteSettings(w io.Writer, flags []*kong.Flag) error {
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

// WriteSettingsPage prints the settings as a document.
func WriteSettingsPage(w io.Writer, flags []*kong.Flag) error {
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
