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

// buildSkewed builds the program on a standard library whose time.Now is ahead by what skewVariable says. So nothing of this stands in
// the program itself, and no library has to be put under it. All packages are compiled for it once, which takes minutes.
func buildSkewed(ctx context.Context, root, dir string) (string, error) {
	found, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(found)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	const reading = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if bytes.Count(source, []byte(reading)) != 1 {
		return "", errors.New("time.Now of this Go is not as it was: set test/soak/clock.go right, or use -skew 0")
	}
	source = bytes.Replace(source, []byte(reading), []byte(reading+"\tsec += ahead\n"), 1)
	source = append(source, `
var ahead = func() (seconds int64) {
	text, _ := syscall.Getenv("`+skewVariable+`")
	sign := int64(1)
	for i := range len(text) {
		if text[i] == '-' {
			sign = -1
			continue
		}
		seconds = seconds*10 + int64(text[i]-'0')
	}
	return sign * seconds
}()
`...)
	source = bytes.Replace(source, []byte("import (\n"), []byte("import (\n\t\"syscall\"\n"), 1)
	changed, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(changed, source, 0o644), os.WriteFile(overlay, replaced, 0o644)); err != nil {
		return "", err
	}
	return program.Build(ctx, root, dir, "-overlay", overlay)
}
