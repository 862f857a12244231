package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds one message of a program, in bytes.
const maxLine = sdk.DefaultMaxLineLength

// program is a transport to a program by its standard input and output. The library's own breaks at the first line that is no
// message; programs of all kinds write what they log there.
type program struct {
	cfg  serverConfig
	said *remarks
}

// Connect starts the program.
func (p program) Connect(context.Context) (sdk.Connection, error) {
	life, end := context.WithCancel(context.Background()) // of the program, which outlives the connecting
	command := exec.CommandContext(life, p.cfg.Command, p.cfg.Args...)
	command.Dir, command.Env, command.Stderr = p.cfg.Dir, environment(p.cfg.Env), p.said
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = endLimit // then it is killed
	input, err := command.StdinPipe()
	if err != nil {
		end()
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		end()
		return nil, err
	}
	ending := sync.OnceValue(func() error {
		defer end()
		defer time.AfterFunc(endLimit, end).Stop()
		return errors.Join(input.Close(), command.Wait())
	})
	reader := &messages{source: bufio.NewReaderSize(output, 64<<10), aside: p.said}
	return (&sdk.IOTransport{Reader: io.NopCloser(reader), Writer: writer{input, ending}}).Connect(life)
}

// writer is a program's input, whose end is the program's.
type writer struct {
	io.Writer
	end func() error
}

// Close ends the program.
func (w writer) Close() error { return w.end() }

// messages reads those lines of a program that are messages.
type messages struct {
	source *bufio.Reader
	aside  io.Writer // gets all other lines
	left   []byte
}

// Read reads on.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		line, err := m.line()
		switch {
		case isMessage(line):
			m.left = line
		case len(line) > 0:
			_, _ = m.aside.Write(line)
		}
		if err != nil && len(m.left) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

func (m *messages) line() (line []byte, err error) {
	for {
		part, err := m.source.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("its answer has more than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// isMessage reports whether a line is a message of JSON-RPC, or a list of them.
func isMessage(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return false
	}
	if line[0] == '{' {
		line = append(append([]byte{'['}, line...), ']')
	}
	var list []struct {
		Version string `json:"jsonrpc"`
	}
	return json.Unmarshal(line, &list) == nil && len(list) > 0 && list[0].Version != ""
}

// maxRemarks bounds what is kept of what a program says, in bytes.
const maxRemarks = 8 << 10

// remarks keeps the end of what a program says beside its messages: the reason why it ended is there, and nowhere else.
type remarks struct {
	mu   sync.Mutex
	text []byte
}

// Write notes more of it.
func (r *remarks) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, p...)
	r.text = r.text[max(0, len(r.text)-maxRemarks):]
	return len(p), nil
}

var complaint = regexp.MustCompile(`(?i)error|exception|fatal|panic|fail|denied|missing|required|not found|can't|cannot`)

// last is the line by which a program most likely says what is wrong: the last one that complains and is no part of a list of calls,
// else the last one.
func (r *remarks) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, complains := "", false
	for line := range strings.Lines(string(r.text)) {
		words := strings.TrimSpace(line)
		inside := line[0] == ' ' || line[0] == '\t'
		if is := complaint.MatchString(words) && !inside; words != "" && (is || !complains) {
			last, complains = words, is
		}
	}
	return last
}

// explained adds a program's last words to the error by which its connection broke.
func (r *remarks) explained(err error) error {
	if words := r.last(); err != nil && words != "" {
		return fmt.Errorf("%w; it said: %s", err, words)
	}
	return err
}
