package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/ask"
	"github.com/signalbox/signalbox/cmd/signalbox/build"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/engines"
	"github.com/signalbox/signalbox/cmd/signalbox/inspect"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
	"github.com/signalbox/signalbox/cmd/signalbox/people"
	"github.com/signalbox/signalbox/cmd/signalbox/serve"
	"github.com/signalbox/signalbox/cmd/signalbox/terminal"
	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/users"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(e env) error {
	_, err := fmt.Fprintln(e.stdout, "signalbox", build.Version(version))
	return err
}

type convertCommand struct {
	ObjectInfo string `name:"object-info" placeholder:"FILE" help:"Node declarations, as GET /object_info gives them. Without: what is known of the common nodes."`
	File       string `arg:"" help:"Workflow file."`
}

// Run prints the prompt of a workflow; what was odd about it goes to stderr.
func (c convertCommand) Run(e env) error {
	info, err := declarations(c.ObjectInfo)
	if err != nil {
		return err
	}
	findings, err := inspect.Convert(e.ctx, e.stdout, c.File, info)
	for _, f := range findings {
		fmt.Fprintf(e.stderr, "%s: %s: %s\n", f.Severity, f.Code, f.Message)
	}
	return err
}

// declarations reads an object_info file; without one the common classes are known.
func declarations(file string) (*objectinfo.Info, error) {
	if file == "" {
		return nil, nil
	}
	return inspect.ReadObjectInfo(file)
}

type engineCommand struct {
	Listen string `default:"127.0.0.1:8188" help:"Address to listen on. There is no login: keep it on loopback."`
	Input  string `default:"input" help:"Folder of the pictures that nodes load; uploads go there."`
	Output string `default:"output" help:"Folder of the results."`
	User   string `default:"user" help:"Folder of what clients keep here: their files and settings. Empty: nothing is kept."`
	Temp   string `placeholder:"DIR" help:"Folder of previews. Empty: a private one that goes at the end."`
}

// Run serves the CPU engine until it is stopped.
func (c engineCommand) Run(e env) error {
	log := slog.New(slog.NewTextHandler(e.stderr, nil))
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: found %q, expected host:port, for example 127.0.0.1:8188", c.Listen)
	}
	engine, err := cpu.New(cpu.Config{Input: c.Input, Output: c.Output, Temp: c.Temp, User: c.User, Listen: cmp.Or(host, "0.0.0.0"), Logger: log})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		engine.Close(context.WithoutCancel(e.ctx))
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	fmt.Fprintf(e.stdout, "The CPU engine is at http://%s: a ComfyUI server without GPU and models. Ctrl-C stops it.\n", listener.Addr())
	server := serve.New(engine, log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err = <-failed:
	case <-e.ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 8*time.Second)
	defer cancel()
	return errors.Join(err, engines.Close(ctx, engine), server.Stop(ctx))
}

type migrateCommand struct{}

// Run migrates the database.
func (migrateCommand) Run(e env) error {
	return openFor(e, func(ctx context.Context, _ config.Config, db *database.DB, log *slog.Logger) error {
		n, err := migrations.Up(ctx, db.Pool, logs.Quiet(log))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "%d steps applied; the schema is up to date.\n", n)
		return err
	})
}

type grantCommand struct {
	Account string `arg:"" help:"Whom: an account's id, a platform's such as telegram:12345 or web:local, a handle such as @ann, or a name that one person alone has. signalbox people lists all."`
	Amount  string `arg:"" help:"US dollars, for example 5 or 0.25."`
	Note    string `default:"granted by the operator" help:"Stands in the ledger."`
	Key     string `placeholder:"TEXT" help:"The same key grants only once. Empty: a new grant."`
}

// Run gives credit to an account.
func (c grantCommand) Run(e env) error {
	amount, err := billing.ParseUSD(c.Amount)
	if err != nil || amount <= 0 {
		return fmt.Errorf("amount: found %q, expected US dollars above zero, for example 5 or 0.25", c.Amount)
	}
	if c.Key == "" {
		c.Key = "grant:" + uuid.NewString()
	}
	return withDatabase(e, func(ctx context.Context, cfg config.Config, db *database.DB, _ *slog.Logger) error {
		ledger := billing.NewLedger(db.Pool)
		account, err := people.Find(ctx, accounts.New(db.Pool, ledger, cfg), c.Account)
		if err != nil {
			return err
		}
		err = postgres.InTx(ctx, db.Pool, func(tx pgx.Tx) error {
			return ledger.Grant(ctx, tx, account.ID, amount, c.Key, c.Note)
		})
		if err != nil {
			return err
		}
		b, err := ledger.Balance(ctx, account.ID)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "%s was granted to %s (%s); the balance is %s.\n", amount, account.DisplayName, account.ID, b.Available)
		return err
	})
}

type peopleCommand struct {
	Text string `arg:"" optional:"" help:"Part of a name or handle, or an id. Empty: everybody, newest first."`
}

// Run lists people with the ids that other commands take.
func (c peopleCommand) Run(e env) error {
	return withUsers(e, func(ctx context.Context, store *users.Store) error {
		return people.Print(ctx, e.stdout, store, c.Text)
	})
}

type askCommand struct {
	Key          string   `env:"SIGNALBOX_KEY" placeholder:"KEY" help:"A key of yours, from the page (API). Empty: ADMIN_TOKEN."`
	Server       string   `placeholder:"URL" help:"The program that is asked. Empty: the one at LISTEN_ADDR."`
	Model        string   `placeholder:"NAME" help:"anthropic or openai. Empty: the first one."`
	Conversation string   `placeholder:"NAME" help:"What the question belongs to. Empty: it stands alone."`
	Language     string   `env:"LC_ALL,LC_MESSAGES,LANG" placeholder:"LANGUAGE" help:"The language of what is printed, such as de. Empty: English."`
	File         []string `type:"existingfile" placeholder:"FILE" help:"A file that the question is about; it may be given several times."`
	Question     []string `arg:"" help:"What you want, in plain words."`
}

// Run puts a question to a model of the program that is running, prints the answer while it comes, and asks whether what waits shall go ahead.
func (c askCommand) Run(e env) error {
	var yes io.Reader
	if terminal.Is(os.Stdin) && terminal.Is(e.stdout) {
		yes = os.Stdin
	}
	return ask.Ask(e.ctx, e.stdout, ask.Question{
		Text: strings.Join(c.Question, " "), Files: c.File, Yes: yes, Model: c.Model, Conversation: c.Conversation,
		Key: cmp.Or(c.Key, e.settings.AdminToken), Server: cmp.Or(c.Server, "http://"+e.settings.ListenAddr),
		Language: c.Language,
	})
}
