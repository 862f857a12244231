// Package doctor looks at what a start needs and says how to mend what is wrong.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/inspect"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
	"github.com/signalbox/signalbox/cmd/signalbox/serve"
	"github.com/signalbox/signalbox/cmd/signalbox/terminal"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/comfy/needs"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/disk"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/workflows"
)

// Config is what is looked at: the settings of the same names, checked.
type Config struct {
	DataDir, WorkflowsDir, ToolsDir string
	Public                          *url.URL // nil: nobody comes from outside
	AdminToken                      string
	DatabaseURL                     string // empty: the own Postgres
	DatabaseSessionURL              string // empty: DatabaseURL
	Engines                         []*url.URL
	EngineHeaders                   map[string]http.Header
	Endpoints                       []*comfy.Endpoint
	TelegramToken                   string
	TelegramAPI                     *url.URL
	DiscordToken, DiscordAppID      string
	DiscordPublicKey                string
	DiscordAPI                      *url.URL
	ListenAddr                      string
	Misspelt                        []string          // what is to be said of variables that are nearly called like settings
	Missing                         map[string]string // folders that are not there, by the settings that name them
	Style                           terminal.Style
}

// finding is what a check saw.
type finding struct {
	what   string
	ok     bool
	saw    string
	advice string // how to mend it
}

const checkTimeout = 15 * time.Second

// Look checks everything that a start needs, prints a line for each check, and says how to mend what is wrong. It reports whether
// all is well.
func Look(ctx context.Context, w io.Writer, c Config) (healthy bool) {
	healthy = printFinding(w, c.Style, finding{what: "configuration", ok: true, saw: strings.Join(append([]string{"every variable can be read"}, c.Misspelt...), "; ")})
	checks := []func(context.Context, Config) []finding{checkFolders, checkTools, checkOperator, checkDatabase, checkEngines, checkTelegram, checkDiscord, checkAddress}
	for _, check := range checks {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		for _, f := range check(ctx, c) {
			healthy = printFinding(w, c.Style, f) && healthy
		}
		cancel()
	}
	return healthy
}

// WrongSettings says that the settings themselves are wrong; the lines that say which come after it.
func WrongSettings(w io.Writer, s terminal.Style) {
	printFinding(w, s, finding{what: "configuration", saw: "wrong values", advice: "set these variables right"})
}

func printFinding(w io.Writer, s terminal.Style, f finding) bool {
	mark := s.Good("ok  ")
	if !f.ok {
		mark = s.Bad("BAD ")
	}
	fmt.Fprintf(w, "%s %-14s %s\n", mark, f.what, f.saw)
	if !f.ok && f.advice != "" {
		fmt.Fprintf(w, "     %-14s -> %s\n", "", f.advice)
	}
	return f.ok
}

func checkFolders(_ context.Context, c Config) []finding {
	data := finding{what: "DATA_DIR", saw: c.DataDir, ok: true}
	if err := writable(c.DataDir); err != nil {
		data.ok, data.saw, data.advice = false, err.Error(), "make the folder writable for this user, or set DATA_DIR to another one"
	}
	if free, err := disk.Free(c.DataDir); err == nil && data.ok {
		data.saw += ", " + assets.Words(free) + " free"
		if free < disk.Low {
			data.ok, data.advice = false, "make room there: once the disk is full nothing is accepted"
		}
	}
	findings := []finding{data}
	for variable, dir := range c.Missing {
		if variable != "WORKFLOWS_DIR" {
			findings = append(findings, finding{what: variable, saw: "there is no folder " + dir, advice: noFolder})
		}
	}
	flows := finding{what: "WORKFLOWS_DIR", ok: true}
	files, err := filepath.Glob(filepath.Join(c.WorkflowsDir, "*.json"))
	switch {
	case err != nil:
		flows.ok, flows.saw = false, err.Error()
	case len(files) == 0:
		flows.saw = fmt.Sprintf("no workflow in %s; the bundled ones are used", c.WorkflowsDir)
		if _, err := os.Stat(c.WorkflowsDir); err != nil {
			flows.saw = fmt.Sprintf("there is no folder %s; the bundled workflows are used", c.WorkflowsDir)
		}
		if _, missing := c.Missing[flows.what]; missing {
			flows.ok, flows.advice = false, noFolder
		}
	default:
		flows.saw = fmt.Sprintf("%d files in %s", len(files), c.WorkflowsDir)
		flows.ok, flows.advice = readableWorkflows(files, &flows.saw), "see signalbox inspect FILE"
	}
	return append(findings, flows)
}

const noFolder = "make the folder, or correct its name"

func readableWorkflows(files []string, saw *string) bool {
	for _, f := range files {
		data, err := inspect.ReadWorkflow(f)
		if err == nil {
			_, err = graph.Parse(data)
		}
		if err != nil {
			*saw = fmt.Sprintf("%s: %v", f, err)
			return false
		}
	}
	return true
}

// checkTools reads the tools of TOOLS_DIR as a start does, but for OpenAPI documents, which may be elsewhere.
func checkTools(ctx context.Context, c Config) []finding {
	if c.ToolsDir == "" {
		return nil
	}
	f := finding{what: "TOOLS_DIR", ok: true, advice: "mend the files; until then their tools stay as they were, or away"}
	loaders := []registry.Loader{httptools.New(httptools.Config{Dir: c.ToolsDir, Store: &media.Specs{}}), catalog.NewFileLoader("tools", c.ToolsDir)}
	var errs []error
	tools := 0
	for _, l := range loaders {
		list, err := l.Load(ctx)
		errs = append(errs, err)
		tools += len(list)
	}
	f.saw = fmt.Sprintf("%d tools in %s, beside those of OpenAPI documents", tools, c.ToolsDir)
	if err := errors.Join(errs...); err != nil {
		f.ok, f.saw = false, strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return []finding{f}
}

// writable asks the system, which knows of mounts and of root, and writes nothing. Of a folder that a start would make,
// the nearest one above it is asked.
func writable(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, os.ErrNotExist) && dir != filepath.Dir(dir):
			dir = filepath.Dir(dir)
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is no folder", dir)
		}
		const writeAndEnter = 2 | 1 // W_OK | X_OK of access(2)
		if err := syscall.Access(dir, writeAndEnter); err != nil {
			return fmt.Errorf("%s can't be written: %w", dir, err)
		}
		return nil
	}
}

func checkDatabase(ctx context.Context, c Config) []finding {
	if c.DatabaseURL == "" {
		return []finding{checkOwnPostgres(ctx, filepath.Join(c.DataDir, "postgres"))}
	}
	f := finding{what: "database", advice: "check DATABASE_URL, or leave it empty for the own Postgres"}
	pool, err := postgres.ConnectBoth(ctx, c.DatabaseURL, c.DatabaseSessionURL)
	if err != nil {
		f.saw = "DATABASE_URL: " + err.Error()
		return []finding{f}
	}
	defer pool.Close()
	steps, err := migrations.Status(ctx, pool, slog.New(slog.DiscardHandler))
	if err != nil {
		f.saw = err.Error()
		return []finding{f}
	}
	pending := 0
	for _, s := range steps {
		if s.Applied.IsZero() {
			pending++
		}
	}
	f.ok, f.saw = true, fmt.Sprintf("reachable, %d of %d migrations applied (a start applies the rest)", len(steps)-pending, len(steps))
	return []finding{f}
}

// checkOwnPostgres looks at what a start of the own server would find, and starts nothing.
func checkOwnPostgres(ctx context.Context, dir string) finding {
	f := finding{what: "database", ok: true}
	found, err := postgres.Look(ctx, dir)
	switch {
	case found.Running:
		f.saw = "in use by a running Signalbox on this DATA_DIR"
	case errors.Is(err, postgres.ErrForeignVersion):
		f.ok, f.saw, f.advice = false, err.Error(), "install that version of Postgres beside the other; the data is kept as it is"
	case errors.Is(err, postgres.ErrNoBinaries):
		f.saw = err.Error() + "; a start fetches them once"
	case err != nil:
		f.ok, f.saw, f.advice = false, err.Error(), "or give this program another DATA_DIR"
	case found.Data == 0:
		f.saw = fmt.Sprintf("Postgres %s of %s; the first start makes the database", found.Binaries.Version, found.Binaries.Dir)
	default:
		f.saw = fmt.Sprintf("Postgres %s of %s, and its data; a start applies the migrations that are new", found.Binaries.Version, found.Binaries.Dir)
	}
	return f
}

func checkEngines(ctx context.Context, c Config) []finding {
	if len(c.Engines)+len(c.Endpoints) == 0 {
		return []finding{{what: "engine", ok: true, saw: "the embedded CPU engine (COMFYUI_URLS is empty)"}}
	}
	fleet := comfy.NewFleet(c.Engines, comfy.FleetConfig{Headers: c.EngineHeaders, Endpoints: c.Endpoints})
	fleet.Refresh(ctx)
	var out []finding
	for _, s := range fleet.Status() {
		f := finding{what: "engine", ok: s.Up, saw: fmt.Sprintf("%s: ComfyUI %s, %d classes, %v", s.Name, s.Version, s.Classes, s.GPUs)}
		if !s.Up {
			f.saw, f.advice = s.Name+": "+s.Error, "start ComfyUI there, or correct COMFYUI_URLS or COMFYUI_SERVERLESS_FILE"
		}
		out = append(out, f)
	}
	return append(out, checkWorkflows(ctx, c, fleet)...)
}

// checkWorkflows tells which engines can't run which workflows, and what they lack. Of the bundled ones nobody needs all.
func checkWorkflows(ctx context.Context, c Config, fleet *comfy.Fleet) []finding {
	own, _ := filepath.Glob(filepath.Join(c.WorkflowsDir, "*.json"))
	source := fs.FS(workflows.FS)
	if len(own) > 0 {
		source = os.DirFS(c.WorkflowsDir)
	}
	flows := loader.New(loader.Config{Sources: []fs.FS{source}, Engines: fleet, Store: &media.Specs{}, Rate: "0"})
	tools, _ := flows.Load(ctx) // checkFolders tells what can't be read
	var out []finding
	everywhere := 0
	for _, t := range tools {
		tpl, err := flows.ForTool(ctx, t)
		if err != nil {
			continue // the file itself is at fault, see signalbox inspect
		}
		var able, unable []string
		for _, e := range fleet.Lacks(t.ToolID, tpl.Need) {
			if len(e.Lacks) == 0 {
				able = append(able, e.Engine)
			} else {
				unable = append(unable, e.Engine+" lacks "+needs.Enumerate(e.Lacks, 4))
			}
		}
		f := finding{what: "workflow", ok: len(able) > 0 || len(own) == 0}
		switch lacks := strings.Join(unable, "; "); {
		case len(able)+len(unable) == 0: // no engine answers, which was told
			return out
		case len(unable) == 0:
			everywhere++
			continue
		case len(able) == 0:
			f.saw, f.advice = fmt.Sprintf("%s: nobody can run it: %s", t.ToolID, lacks), "put the files into the engine's models folder, or install the nodes there and restart it"
		default:
			f.saw = fmt.Sprintf("%s: only %s can run it: %s", t.ToolID, strings.Join(able, ", "), lacks)
		}
		out = append(out, f)
	}
	if everywhere > 0 {
		out = append(out, finding{what: "workflows", ok: true, saw: fmt.Sprintf("%d can be run by every engine", everywhere)})
	}
	return out
}

func checkTelegram(ctx context.Context, c Config) []finding {
	if c.TelegramToken == "" {
		return []finding{{what: "telegram", ok: true, saw: "off (no TELEGRAM_BOT_TOKEN)"}}
	}
	client, err := botapi.NewClient(botapi.Config{Token: c.TelegramToken, BaseURL: c.TelegramAPI.String()})
	if err != nil {
		return []finding{{what: "telegram", saw: err.Error()}}
	}
	me, err := client.GetMe(ctx)
	if err != nil {
		return []finding{{what: "telegram", saw: err.Error(), advice: "check TELEGRAM_BOT_TOKEN with @BotFather, and the network"}}
	}
	return []finding{{what: "telegram", ok: true, saw: "the token is that of @" + me.Username}}
}

func checkDiscord(ctx context.Context, c Config) []finding {
	if c.DiscordToken == "" {
		return []finding{{what: "discord", ok: true, saw: "off (no DISCORD_BOT_TOKEN)"}}
	}
	client, err := discord.NewClient(discord.Config{Token: c.DiscordToken, AppID: c.DiscordAppID, BaseURL: c.DiscordAPI.String()})
	if err != nil {
		return []finding{{what: "discord", saw: err.Error()}}
	}
	app, err := client.Application(ctx)
	switch {
	case err != nil:
		return []finding{{what: "discord", saw: err.Error(), advice: "check DISCORD_BOT_TOKEN in the developer portal, and the network"}}
	case app.ID != client.AppID():
		return []finding{{what: "discord", saw: "the token is that of the application " + app.ID + ", expected " + client.AppID(), advice: "correct DISCORD_APP_ID"}}
	case c.DiscordPublicKey != "" && !strings.EqualFold(app.PublicKey, c.DiscordPublicKey):
		return []finding{{what: "discord", saw: "the public key is not that of " + app.Name, advice: "correct DISCORD_PUBLIC_KEY"}}
	}
	return []finding{{what: "discord", ok: true, saw: "the token is that of " + app.Name}}
}

// shortestToken is how long a secret has to be that strangers may guess at.
const shortestToken = 16

// checkOperator tells whether the operator of a house in the open, and nobody else, can sign in.
func checkOperator(_ context.Context, c Config) []finding {
	const advice = "set ADMIN_TOKEN to what openssl rand -hex 32 gives"
	switch {
	case c.Public == nil:
		return nil
	case c.AdminToken == "":
		return []finding{{what: "ADMIN_TOKEN", ok: true, saw: "not set: only people whom an operator has made one get into the console; " + advice}}
	case len(c.AdminToken) < shortestToken:
		return []finding{{what: "ADMIN_TOKEN", saw: fmt.Sprintf("%d letters can be guessed, and whoever has them is the operator", len(c.AdminToken)), advice: advice}}
	}
	return []finding{{what: "ADMIN_TOKEN", ok: true, saw: "signs the operator in"}}
}

func checkAddress(ctx context.Context, c Config) []finding {
	f := finding{what: "LISTEN_ADDR", saw: c.ListenAddr + " is free", ok: true}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.ListenAddr)
	if err == nil {
		l.Close()
		return []finding{f}
	}
	if serve.Ask(ctx, c.ListenAddr, "/healthz") == nil {
		f.saw = "a Signalbox answers at " + c.ListenAddr
		return []finding{f}
	}
	reason, advice := serve.WhyNotListening(err)
	return []finding{{what: "LISTEN_ADDR", saw: c.ListenAddr + ": " + reason, advice: advice}}
}
