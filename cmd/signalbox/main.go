// Command signalbox turns ComfyUI workflows and providers' APIs into chat commands. See the README.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/help"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
)

// cli is the program's interface: commands, and the settings that all of them share.
type cli struct {
	settings.Settings

	Up           upCommand           `cmd:"" default:"1" help:"Run everything: database, engine, page, chats. The default."`
	Demo         demoCommand         `cmd:"" help:"Run a house with a week of simulated people, and throw it away at the end."`
	Inspect      inspectCommand      `cmd:"" help:"Show what tools files become, and what to mend in them."`
	Convert      convertCommand      `cmd:"" help:"Print the prompt that a workflow becomes, as JSON."`
	Engine       engineCommand       `cmd:"" help:"Run the CPU engine alone: a ComfyUI server without GPU."`
	Flash        flashCommand        `cmd:"" help:"Write the registry to files, for deployment and documents."`
	Doctor       doctorCommand       `cmd:"" help:"Check configuration, database, engines, tokens and folders."`
	Grant        grantCommand        `cmd:"" help:"Give credit to an account."`
	Voucher      voucherCommand      `cmd:"" help:"Make gift codes that people redeem for credit."`
	People       peopleCommand       `cmd:"" help:"List people with the ids that grant and access take."`
	Tools        toolsCommand        `cmd:"" help:"Versions of tools: list, go back to one, keep one beside."`
	Ask          askCommand          `cmd:"" help:"Ask a model that works with the tools."`
	Access       accessCommand       `cmd:"" help:"Who may use the tools: people, chats, servers and roles."`
	Site         siteCommand         `cmd:"" help:"Write the site to files."`
	Migrate      migrateCommand      `cmd:"" help:"Bring the database's schema up to date."`
	Files        filesCommand        `cmd:"" help:"Move all files between DATA_DIR and an object store."`
	Backup       backupCommand       `cmd:"" help:"Write database and files into a folder, while the house works on."`
	Restore      restoreCommand      `cmd:"" help:"Bring a backup into an empty database and DATA_DIR."`
	Webhooks     webhooksCommand     `cmd:"" help:"List and replay the callbacks of services."`
	Knowledge    knowledgeCommand    `cmd:"" help:"Build files of documents."`
	ReadDocument readDocumentCommand `cmd:"" name:"read-document" hidden:"" help:"Read one file from stdin, for the program itself."`
	Version      versionCommand      `cmd:"" hidden:"" help:"Print the version."`
	Help         helpCommand         `cmd:"" hidden:"" help:"Explain a command, or all settings: help settings."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run parses and executes one command and gives the exit code: 0 fine, 1 failed, 2 used wrongly.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c cli
	exit := -1
	parser, err := newParser(&c, kong.Writers(stdout, stderr), kong.Exit(func(code int) { exit = code }))
	if err != nil {
		fmt.Fprintln(stderr, "signalbox:", err)
		return 2
	}
	unheard := help.Misspelt(os.Environ(), parser.Model.Flags)
	for _, f := range parser.Model.Flags {
		f.Value.Tag.Envs = withValue(f.Value.Tag.Envs)
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit // --help has been printed
	}
	if err != nil {
		command, what := misused(err)
		fmt.Fprintf(stderr, "%s: %s\n", command, what)
		fmt.Fprintf(stderr, "See %s --help.\n", command)
		return 2
	}
	if err := unread(parsed); err != nil {
		fmt.Fprintln(stderr, "signalbox:", err)
		return 2
	}
	if parsed.Command() == "up" { // who starts it asks no doctor as long as nothing is said
		for _, text := range unheard {
			fmt.Fprintln(stderr, "signalbox:", text)
		}
	}
	err = parsed.Run(env{ctx: ctx, stdout: stdout, stderr: stderr, settings: c.Settings})
	if err != nil {
		printError(stderr, err)
		return 1
	}
	return 0
}

// misused says which command was used wrongly, and how; of a command that has others, these.
func misused(err error) (command, what string) {
	command, what = "signalbox", err.Error()
	wrong := new(kong.ParseError)
	if !errors.As(err, &wrong) || wrong.Context.Selected() == nil {
		return command, what
	}
	group := wrong.Context.Selected()
	var has []string
	for _, child := range group.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			has = append(has, child.Name)
		}
	}
	if len(has) > 0 && strings.HasPrefix(what, "unexpected argument") {
		what = strings.TrimSuffix(what, "?") + "; there are " + strings.Join(has, ", ")
	}
	if sum, _ := strings.CutPrefix(what, "unknown flag -"); group.Name == "grant" && strings.IndexAny(sum, ".0123456789") == 0 {
		what = "expected an amount above zero; credit that was given is not taken back, but the person's page in the console limits what they spend, or blocks them"
	}
	return command + " " + group.Path(), what
}

// newParser makes the reader of command lines.
func newParser(c *cli, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append([]kong.Option{
		kong.Name("signalbox"),
		kong.Description("ComfyUI workflows and providers' APIs as chat commands."),
		kong.Vars{"data_dir": config.DefaultDataDir()},
		kong.Help(help.Printer(withoutSettings)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}, more...)...)
}

// withoutSettings are the commands that read no settings.
var withoutSettings = []string{"demo", "engine", "convert", "read-document", "version", "help"}

// unread refuses flags of settings that the command would not read.
func unread(parsed *kong.Context) error {
	command, _, _ := strings.Cut(parsed.Command(), " ")
	if !slices.Contains(withoutSettings, command) {
		return nil
	}
	for _, p := range parsed.Path {
		if p.Flag == nil || !slices.Contains(parsed.Model.Flags, p.Flag) {
			continue
		}
		if command == "engine" && p.Flag.Name == "listen-addr" {
			return errors.New("--listen-addr is where the page listens; engine takes --listen")
		}
		return fmt.Errorf("--%s: %s does not read this setting; leave it out", p.Flag.Name, command)
	}
	return nil
}

// withValue keeps the variables that are set to something: compose files and panels pass an empty text for
// what nobody filled in, and that means the default.
func withValue(variables []string) []string {
	return slices.DeleteFunc(slices.Clone(variables), func(name string) bool { return os.Getenv(name) == "" })
}
