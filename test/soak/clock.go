//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/test/bench/program"
)

// skewVariable is by how many seconds a process' clock is ahead, in programs of buildSkewed.
const skewVariable = "SOAK_CLOCK_AHEAD"

// skewed is the setting of a process' clock: of four, that of the second is ahead, and that of the third behind.
func skewed(by time.Duration, process int) string {
	ahead := []time.Duration{0, by, -by, 0}[process%4]
	return skewVariable + "=" + strconv.Itoa(int(ahead/time.Second))
}

func build(ctx context.Context, o options, dir string) (string, error) {
	if o.program != "" {
		return o.program, nil
	}
	if o.skew == 0 {
		return program.Build(ctx, o.root, dir)
	}
	return buildSkewed(ctx, o.root, dir)
}

// nowSource is where time.Now reads the clock, and skewedNow the same with what skewVariable says added: on the same line, and without a new name,
// since what package time shows to others, with its lines and its symbols by number, has to stay as it is.
const (
	nowSource = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	skewedNow = "func Now() Time {\n\tsec, nsec, mono := runtimeNow(); ahead, _ := syscall.Getenv(`" + skewVariable + "`); by, sign := int64(0), int64(1); " +
		"for i := range len(ahead) { if ahead[i] == '-' { sign = -1 } else { by = by*10 + int64(ahead[i]-'0') } }; sec += sign * by\n"
)

// buildSkewed links the program with a package time whose Now is ahead by what skewVariable says. So nothing of this stands in the program
// itself, no library has to be put under it, and of all that is compiled for the program as it is only that package is compiled anew. Where Go's linker
// finds that others would see another package than they were compiled with, it refuses.
func buildSkewed(ctx context.Context, root, dir string) (string, error) {
	if err := program.DependOnSources(root); err != nil {
		return "", err
	}
	// What is compiled already is compiled by these flags. -trimpath would give the file another name.
	flags := slices.DeleteFunc(strings.Fields(os.Getenv("GOFLAGS")), func(flag string) bool { return flag == "-trimpath" || flag == "-race" })
	compiler := ""
	for _, flag := range flags {
		if all, ok := strings.CutPrefix(flag, "-gcflags=all="); ok {
			compiler = all
		}
	}
	command := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS="+strings.Join(flags, " "))
		out, err := cmd.Output()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("go %s in %s, which must be the project's root: %w\n%s", args[0], root, err, failed.Stderr)
		}
		return strings.TrimSpace(string(out)), err
	}
	goroot, err := command("env", "GOROOT")
	if err != nil {
		return "", err
	}
	const name = "/src/time/time.go"
	source, err := os.ReadFile(goroot + name)
	if err != nil {
		return "", err
	}
	if bytes.Count(source, []byte(nowSource)) != 1 {
		return "", errors.New("time.Now of this Go is not as it was: set test/soak/clock.go right, or use -skew 0")
	}
	source = bytes.Replace(source, []byte(nowSource), []byte(skewedNow), 1)
	source = bytes.Replace(source, []byte("import (\n"), []byte("import (\"syscall\"\n"), 1)
	changed, overlay, packages := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "packages")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{goroot + name: changed}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(changed, source, 0o644), os.WriteFile(overlay, replaced, 0o644)); err != nil {
		return "", err
	}
	skewedTime, err := command("list", "-export", "-overlay", overlay, "-gcflags=time="+compiler+" -trimpath="+changed+"=>$GOROOT"+name, "-f={{.Export}}", "time")
	if err != nil {
		return "", err
	}
	list, err := command("list", "-export", "-deps", "-f={{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", "./cmd/signalbox")
	if err != nil {
		return "", err
	}
	lines := strings.Split(list, "\n") // the program itself comes last
	for i, line := range lines {
		if strings.HasPrefix(line, "packagefile time=") {
			lines[i] = "packagefile time=" + skewedTime
		}
	}
	if err := os.WriteFile(packages, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		return "", err
	}
	_, own, _ := strings.Cut(lines[len(lines)-1], "=")
	binary := filepath.Join(dir, "signalbox")
	_, err = command("tool", "link", "-s", "-w", "-importcfg", packages, "-o", binary, own)
	return binary, err
}
