// Package logs makes the program's logger.
package logs

import (
	"context"
	"io"
	"log/slog"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/terminal"
)

// Levels are the values of LOG_LEVEL.
var Levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// New makes the program's logger, on stderr.
func New(c config.Config, w io.Writer) *slog.Logger {
	return At(Levels[c.LogLevel], c, w)
}

// At makes one that is as loud as a level says, whatever the configuration does.
func At(level slog.Leveler, c config.Config, w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	switch {
	case c.LogFormat == "json":
		return slog.New(slog.NewJSONHandler(w, o))
	case terminal.Is(w):
		return slog.New(terminal.LogHandler(w, level))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// Quiet passes warnings and errors on, and the rest only when debugging: for parts whose every step is
// not the operator's concern.
func Quiet(log *slog.Logger) *slog.Logger {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		return log
	}
	return slog.New(aboveInfo{log.Handler()})
}

// aboveInfo is a handler that drops what is not at least a warning.
type aboveInfo struct{ slog.Handler }

func (h aboveInfo) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h aboveInfo) WithAttrs(attrs []slog.Attr) slog.Handler {
	return aboveInfo{h.Handler.WithAttrs(attrs)}
}

func (h aboveInfo) WithGroup(name string) slog.Handler { return aboveInfo{h.Handler.WithGroup(name)} }
