package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu"
)

// maxBatch bounds the batches of the embedded engine: more pictures at a time keep its one CPU from everybody else for minutes.
const maxBatch = 64

// Own makes the CPU engine that a house without servers has, with its files in DATA_DIR. It is closed by Close.
func Own(dataDir string, log *slog.Logger) (*cpu.Engine, error) {
	dir := filepath.Join(dataDir, "engine")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	return cpu.New(cpu.Config{
		Input: filepath.Join(dir, "input"), Output: filepath.Join(dir, "output"), Temp: filepath.Join(dir, "temp"),
		Transient: true, Logger: log, MaxBatch: maxBatch,
	})
}

// nodePatience is how long a node that is under way at the end may go on.
const nodePatience = time.Second

// Close ends the CPU engine. A node that takes its time ends with the process: nobody waits for its result any more,
// since its run begins anew at the next start.
func Close(ctx context.Context, engine *cpu.Engine) error {
	ctx, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	if err := engine.Close(ctx); !errors.Is(err, cpu.ErrBusy) {
		return err
	}
	return nil
}
