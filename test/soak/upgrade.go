//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/test/bench/program"
)

// refBefore is the version before the one that stands in root: the newest tag, or what the newest change of the schema came to.
func refBefore(ctx context.Context, root string) (string, error) {
	if tag, err := git(ctx, root, "describe", "--tags", "--abbrev=0", "HEAD^"); err == nil {
		return tag, nil
	}
	changed, err := git(ctx, root, "log", "-1", "--first-parent", "--format=%H", "--", "migrations/*.sql")
	return changed + "^", err
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s in %s, which must be a clone with its history: %w", strings.Join(args, " "), root, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// buildBefore builds the version before, in a folder below dir.
func buildBefore(ctx context.Context, o options, dir string, out io.Writer) (binary string, err error) {
	ref := o.before
	if ref == "" {
		if ref, err = refBefore(ctx, o.root); err != nil {
			return "", err
		}
	}
	fmt.Fprintln(out, "the version before:", ref)
	sources, archive := filepath.Join(dir, "before"), filepath.Join(dir, "before.tar")
	if _, err := git(ctx, o.root, "archive", "-o", archive, ref); err != nil {
		return "", err
	}
	if err := os.Mkdir(sources, 0o755); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, "tar", "-xf", archive, "-C", sources).CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack %s: %w: %s", ref, err, out)
	}
	return program.Build(ctx, sources, sources)
}

// upgrade has the house go over from the version before to this one, process by process and under load; then back, and there for good. After each
// change another process is killed, so that the others, of both versions, go on with what it was at. Each process is looked at as either version.
func (h *house) upgrade(ctx context.Context, out io.Writer) error {
	seen := map[string]bool{}
	for _, version := range []string{h.now, h.before, h.now} {
		for i, p := range h.processes {
			if !h.pass(ctx, 2*atMost) {
				return errors.New("-for is too short for all changes of versions")
			}
			if err := p.change(ctx, version, out); err != nil {
				return err
			}
			if err := p.look(ctx, seen); err != nil {
				return err
			}
			h.processes[(i+1)%len(h.processes)].kill()
		}
		fmt.Fprintf(out, "%s: all processes are of %s\n", time.Now().Format(time.TimeOnly), version)
	}
	fmt.Fprintf(out, "looked at in each process and version: %v\n", slices.Sorted(maps.Keys(seen)))
	return nil
}

// change ends the process in order, and has it go on as another version. One that did not end in time is told of: it has died, and others go on with what
// it was at.
func (p *process) change(ctx context.Context, binary string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	if err := p.Ready(ctx); err != nil { // it may just have been killed
		return err
	}
	p.mu.Lock()
	p.next = binary
	p.mu.Unlock()
	if err := p.Stop(); err != nil {
		words := err.Error()
		fmt.Fprintln(out, "a process did not end in order:", words[strings.LastIndexByte(words, '\n')+1:])
	}
	return p.Ready(ctx)
}

// look gets all that the process' API gives without being told of what, as an operator.
func (p *process) look(ctx context.Context, seen map[string]bool) error {
	var described struct{ Paths map[string]map[string]any }
	if err := p.Call(ctx, program.Request{Path: "/openapi.json"}, &described); err != nil {
		return err
	}
	for path, operations := range described.Paths {
		if operations["get"] == nil || strings.Contains(path, "{") {
			continue
		}
		err := p.Call(ctx, program.Request{Path: path}, nil)
		if refused := (*program.StatusError)(nil); err != nil && (!errors.As(err, &refused) || refused.Status >= http.StatusInternalServerError) {
			return err
		}
		seen[path] = true
	}
	return nil
}

// mismatched are errors of the database when what a program says does not fit the schema.
var mismatched = regexp.MustCompile(`(?:ERROR|FATAL):.*(?:does not exist|already exists|of relation|violates (?:not-null|check|foreign key)|is of type|syntax error|no unique or exclusion|must appear in|ambiguous).*`)

// checkUpgraded expects that the database has refused no statement because of its schema, that no process has said so of one, and that the schema is
// that of a new house.
func (h *house) checkUpgraded(ctx context.Context, out io.Writer) error {
	return errors.Join(h.checkLogs(out), h.checkSchema(ctx))
}

func (h *house) checkLogs(out io.Writer) (wrong error) {
	log, err := os.ReadFile(filepath.Join(h.dir, "postgres", "postgres.log"))
	if err != nil {
		return err
	}
	for _, line := range mismatched.FindAllString(string(log), 10) {
		wrong = errors.Join(wrong, fmt.Errorf("the database: %s", line))
	}
	said := map[string]int{}
	for _, p := range h.processes {
		for _, words := range p.ended {
			wrong = errors.Join(wrong, fmt.Errorf("a process ended by itself: %s", words))
		}
		for line := range strings.Lines(p.Log()) {
			if strings.Contains(line, "SQLSTATE") {
				wrong = errors.Join(wrong, fmt.Errorf("a process: %s", line))
			}
			if _, words, failed := strings.Cut(strings.TrimSpace(line), " level=ERROR "); failed {
				said[words]++
			}
		}
	}
	for _, words := range slices.Sorted(maps.Keys(said)) {
		fmt.Fprintf(out, "said %d times: %.400s\n", said[words], words)
	}
	return wrong
}

// checkSchema expects that the database that was upgraded has the schema that a new one gets.
func (h *house) checkSchema(ctx context.Context) error {
	if _, err := h.pool.Exec(ctx, `CREATE DATABASE fresh`); err != nil {
		return err
	}
	config := h.pool.Config()
	config.ConnConfig.Database = "fresh"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := migrations.Up(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	upgraded, err := schema(ctx, h.pool)
	if err != nil {
		return err
	}
	fresh, err := schema(ctx, pool)
	if err != nil {
		return err
	}
	return errors.Join(lacks("the upgraded database", upgraded, fresh), lacks("a new database", fresh, upgraded))
}

func lacks(which string, has, wanted []string) (wrong error) {
	for _, part := range wanted {
		if !slices.Contains(has, part) {
			wrong = errors.Join(wrong, fmt.Errorf("%s lacks %s", which, part))
		}
	}
	return wrong
}

// schema is all that a database has of columns, indexes, constraints, functions, triggers and views, in words that can be compared.
func schema(ctx context.Context, pool *pgxpool.Pool) ([]string, error) {
	rows, err := pool.Query(ctx, `
		SELECT concat_ws(' ', 'column', table_name, column_name, data_type, is_nullable, column_default) FROM information_schema.columns WHERE table_schema = 'public'
		UNION SELECT concat_ws(' ', tablename, indexdef) FROM pg_indexes WHERE schemaname = 'public'
		UNION SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
		UNION SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgname <> 'webhook_tell' -- comes with the first endpoint
		UNION SELECT concat_ws(' ', 'view', viewname, definition) FROM pg_views WHERE schemaname = 'public'`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
