package cpu

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// keptLines is how many lines of the log clients can read.
const keptLines = 300

// journal keeps the newest lines of the log for clients, and sends new ones to those who want them.
type journal struct {
	hub *hub
	now func() time.Time

	mu    sync.Mutex
	lines []any // *pyval.Dict each: t and m
}

// Write takes one line.
func (j *journal) Write(p []byte) (int, error) {
	line := pyval.D("t", j.now().Format("2006-01-02T15:04:05.000000"), "m", string(p))
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) == keptLines {
		j.lines = append([]any(nil), j.lines[1:]...)
	}
	j.lines = append(j.lines, line)
	j.hub.sendLogs(logsOf([]any{line}))
	return len(p), nil
}

// add takes a text as a line.
func (j *journal) add(text string) { _, _ = j.Write([]byte(text + "\n")) }

func (j *journal) all() []any {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]any{}, j.lines...)
}

// logsOf is how clients get lines: with the size of a terminal.
func logsOf(lines []any) *pyval.Dict {
	return pyval.D("entries", lines, "size", pyval.D("cols", int64(80), "rows", int64(24)))
}

// withJournal is a logger whose warnings stand in the journal as well.
func withJournal(log *slog.Logger, j *journal) *slog.Logger {
	return slog.New(slog.NewMultiHandler(log.Handler(), slog.NewTextHandler(j, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{} // every line has one
			}
			return a
		},
	})))
}

func (e *Engine) getLogs(w http.ResponseWriter, _ *http.Request) error {
	var b strings.Builder
	for _, line := range e.logs.all() {
		d := line.(*pyval.Dict)
		b.WriteString(pyval.Str(d.At("t")) + " - " + pyval.Str(d.At("m")))
	}
	return reply.JSON(w, http.StatusOK, b.String())
}

func (e *Engine) getRawLogs(w http.ResponseWriter, _ *http.Request) error {
	return reply.JSON(w, http.StatusOK, logsOf(e.logs.all()))
}

// patchLogs begins or ends that a client hears new lines over its socket.
func (e *Engine) patchLogs(w http.ResponseWriter, r *http.Request) error {
	d, err := reply.DictBody(r)
	if err != nil {
		return err
	}
	id, _ := d.At("clientId").(string)
	e.hub.wantLogs(id, pyval.Truth(d.At("enabled")))
	reply.Empty(w, http.StatusOK)
	return nil
}
