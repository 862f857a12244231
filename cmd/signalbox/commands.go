package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/users"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(e env) error {
	_, err := fmt.Fprintln(e.stdout, "signalbox", sourceVersion())
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
	findings, err := workflow.ConvertFile(e.ctx, e.stdout, c.File, info)
	for _, f := range findings {
		fmt.Fprintf(e.stderr, "%s: %s: %s\n", f.Severity, f.Code, f.Message)
	}
	return err
}

// declarations reads an object_info file; without one the common classes are known.
func declarations(file string) (*graph.ObjectInfo, error) {
	if file == "" {
		return nil, nil
	}
	return workflow.ReadObjectInfo(file)
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
	server := newServer(engine, log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err = <-failed:
	case <-e.ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 8*time.Second)
	defer cancel()
	return errors.Join(err, closeEngine(ctx, engine), server.stop(ctx))
}

type migrateCommand struct{}

// Run migrates the database.
func (migrateCommand) Run(e env) error {
	return withDatabase(e, func(ctx context.Context, _ Config, db *database, log *slog.Logger) error {
		n, err := migrations.Up(ctx, db.pool, quiet(log))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "%d steps applied; the schema is up to date.\n", n)
		return err
	})
}

type grantCommand struct {
	Account string `arg:"" help:"Account id (UUID), or platform:id such as telegram:12345 or web:local; /operator/people shows both, of everybody who has been here."`
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
	return withDatabase(e, func(ctx context.Context, cfg Config, db *database, log *slog.Logger) error {
		if _, err := migrations.Up(ctx, db.pool, quiet(log)); err != nil {
			return err
		}
		ledger := billing.NewLedger(db.pool)
		account, err := findAccount(ctx, newUsers(db, ledger, cfg), c.Account)
		if err != nil {
			return err
		}
		err = postgres.InTx(ctx, db.pool, func(tx pgx.Tx) error {
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

// findAccount takes an account's id, or a platform's id of a person who has been here before.
func findAccount(ctx context.Context, store *users.Store, name string) (users.Account, error) {
	if _, err := uuid.Parse(name); err == nil {
		a, err := store.ByID(ctx, name)
		if errors.Is(err, users.ErrNotFound) {
			return a, fmt.Errorf("there is no account %s", name)
		}
		return a, err
	}
	platform, id, ok := cutPlatform(name)
	if !ok {
		return users.Account{}, fmt.Errorf("account: found %q, expected a UUID or platform:id, for example telegram:12345; /operator/people shows both", name)
	}
	a, err := store.ByIdentity(ctx, platform, id)
	if errors.Is(err, users.ErrNotFound) {
		return a, fmt.Errorf("nobody has come as %s yet; they have to write to the bot or open the page first", name)
	}
	return a, err
}

// withDatabase opens the database for one command, that of a running program if there is one.
func withDatabase(e env, do func(ctx context.Context, c Config, db *database, log *slog.Logger) error) error {
	c, err := e.settings.check()
	if err != nil {
		return err
	}
	log := newLogger(c, e.stderr)
	db, err := attachDatabase(e.ctx, c, log)
	if err != nil {
		return err
	}
	err = do(e.ctx, c, db, log)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, db.close(ctx))
}
