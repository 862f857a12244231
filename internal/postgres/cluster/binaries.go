package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// OldestMajor is the oldest Postgres this project works with.
const OldestMajor = 14

// ErrNoBinaries is returned by Find when the machine has no usable Postgres.
var ErrNoBinaries = errors.New("no Postgres server programs found")

// Binaries is a folder of Postgres programs that are known to run.
type Binaries struct {
	Dir     string // holds initdb and postgres themselves, not wrappers of them
	Version string // as initdb reports it, such as "15.18"
	Major   int    // such as 15
}

// Path returns the full path of one program, such as "initdb".
func (b Binaries) Path(program string) string { return filepath.Join(b.Dir, program) }

// packagedDirs are the places where distributions, Homebrew and Postgres.app
// keep the server programs, as glob patterns.
var packagedDirs = [...]string{
	"/usr/lib/postgresql/*/bin",
	"/usr/lib/postgresql*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/opt/homebrew/opt/postgresql/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql/bin",
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
	"/run/current-system/sw/bin",
}

// Find returns the Postgres programs to use: those of major version want when
// want is not 0, else the newest on the machine. extra folders are looked at
// too. Each candidate is run before it is believed, so that a wrapper script
// or a half-removed package is passed over.
//
// The error wraps ErrNoBinaries when nothing usable was found.
func Find(ctx context.Context, want int, extra ...string) (Binaries, error) {
	var found []Binaries
	for _, dir := range candidateDirs(ctx, extra) {
		if b, err := Probe(ctx, dir); err == nil {
			found = append(found, b)
		}
	}
	return choose(found, want)
}

// choose is Find once it is known what there is.
func choose(found []Binaries, want int) (Binaries, error) {
	if len(found) == 0 {
		return Binaries{}, ErrNoBinaries
	}
	usable := slices.DeleteFunc(slices.Clone(found), func(b Binaries) bool { return b.Major < OldestMajor || want != 0 && b.Major != want })
	switch {
	case len(usable) != 0:
		return slices.MaxFunc(usable, func(a, b Binaries) int { return a.Major - b.Major }), nil
	case want < OldestMajor:
		return Binaries{}, fmt.Errorf("%w of version %d or newer (found %s)", ErrNoBinaries, OldestMajor, versions(found))
	default:
		return Binaries{}, fmt.Errorf("%w of version %d (found %s)", ErrNoBinaries, want, versions(found))
	}
}

// Probe reports the programs in dir, after running both to see that they work
// and belong together.
func Probe(ctx context.Context, dir string) (Binaries, error) {
	initdb, err := reportedVersion(ctx, filepath.Join(dir, "initdb"))
	if err != nil {
		return Binaries{}, err
	}
	server, err := reportedVersion(ctx, filepath.Join(dir, "postgres"))
	if err != nil {
		return Binaries{}, err
	}
	if initdb != server {
		return Binaries{}, fmt.Errorf("%s: initdb is %s but postgres is %s", dir, initdb, server)
	}
	return Binaries{Dir: dir, Version: initdb, Major: leadingInt(initdb)}, nil
}

// candidateDirs lists existing folders that may hold the server programs,
// each once, in order of preference.
func candidateDirs(ctx context.Context, extra []string) []string {
	dirs := slices.Clone(extra)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		for _, program := range []string{"postgres", "initdb"} {
			if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil && filepath.IsAbs(dir) {
				dirs = append(dirs, realDir(path))
			}
		}
	}
	if path, err := exec.LookPath("pg_config"); err == nil {
		// The programs on PATH may be wrappers; pg_config tells where the real ones are.
		if out, err := output(ctx, path, "--bindir"); err == nil {
			dirs = append(dirs, out)
		}
	}
	for _, pattern := range packagedDirs {
		// The patterns are constants and well formed, so Glob cannot fail.
		matches, _ := filepath.Glob(pattern)
		dirs = append(dirs, matches...)
	}
	seen := make(map[string]bool)
	return slices.DeleteFunc(dirs, func(dir string) bool {
		again := seen[dir]
		seen[dir] = true
		_, err := os.Stat(filepath.Join(dir, "initdb"))
		return again || err != nil
	})
}

// realDir is the folder of path once links are followed: Postgres looks for
// its own files beside the real program.
func realDir(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Dir(path)
}

// reportedVersion runs `program --version`, which answers as in
// "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
func reportedVersion(ctx context.Context, program string) (string, error) {
	out, err := output(ctx, program, "--version")
	if err != nil {
		return "", err
	}
	_, rest, ok := strings.Cut(out, "(PostgreSQL) ")
	fields := strings.Fields(rest)
	if !ok || len(fields) == 0 || leadingInt(fields[0]) == 0 {
		return "", fmt.Errorf("%s --version: %q is not what a Postgres program answers", program, out)
	}
	return fields[0], nil
}

// output returns what a program prints. A program that was written a moment
// ago may be busy: a process forked meanwhile still has it open for writing,
// until it becomes its own program.
func output(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir = "/"
		out, err := cmd.Output()
		if err == nil {
			return strings.TrimSpace(string(out)), nil
		}
		if !errors.Is(err, syscall.ETXTBSY) {
			return "", fmt.Errorf("run %s: %w", program, err)
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("run %s: %w", program, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// leadingInt reads the digits at the start of s, 0 if there are none.
func leadingInt(s string) int {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return 0
	}
	return n
}

func versions(found []Binaries) string {
	names := make([]string, len(found))
	for i, b := range found {
		names[i] = b.Version
	}
	return strings.Join(names, ", ")
}
