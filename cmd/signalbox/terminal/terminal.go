// Package terminal is how the program looks to somebody at a terminal: colours, lines of the log, and how far work is. In a pipe, in a file,
// with NO_COLOR (https://no-color.org) and on a dumb terminal there are none of these, and the log has the form that programs read.
package terminal

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Is reports whether somebody sees at a terminal what is written to w.
func Is(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// Style colours words. The zero value leaves them as they are.
type Style struct{ on bool }

// StyleOf is the style of what is written to w.
func StyleOf(w io.Writer) Style { return Style{Is(w) && os.Getenv("NO_COLOR") == ""} }

// Good marks what is well.
func (s Style) Good(text string) string { return s.sgr("32", text) }

// Bad marks what is wrong.
func (s Style) Bad(text string) string { return s.sgr("1;31", text) }

// Strong marks what the eye shall find first.
func (s Style) Strong(text string) string { return s.sgr("1", text) }

// Faint marks what can be read past.
func (s Style) Faint(text string) string { return s.sgr("2", text) }

// sgr selects a graphic rendition (ECMA-48, 8.3.117) for a text and resets it after.
func (s Style) sgr(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// LogHandler writes the log for somebody at a terminal, a line for each thing, with its time of day.
func LogHandler(w io.Writer, level slog.Leveler) slog.Handler {
	return tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: !StyleOf(w).on})
}

// Bar shows how far work of a number of steps is, in one line that is gone when the work is done. Where w is no terminal nothing is shown.
func Bar(w io.Writer, steps int, what string) *progressbar.ProgressBar {
	if !Is(w) {
		return progressbar.DefaultSilent(int64(steps))
	}
	return progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
}

// Fetch shows how much of a file has come: a bar at a terminal, else one line when it begins. bytes is -1 where the size is not known.
func Fetch(w io.Writer, what string, bytes int64) io.Writer {
	if !Is(w) {
		fmt.Fprintf(w, "%s ...\n", what)
		return io.Discard
	}
	return progressbar.NewOptions64(bytes, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
}
