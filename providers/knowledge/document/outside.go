package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds of a file that is read in a process of its own.
const (
	// inside is up to what size a text is read here, in bytes. There are some of which a quarter of a megabyte takes minutes, and a Word file is
	// packed: a small one may be very large.
	inside        = 32 << 10
	outsideTime   = 30 * time.Second
	outsideAnswer = 4 * maxText // of JSON
)

// Reader reads files. A file can be made for its reader to never end or to take all memory: with Command, all but short texts are read in a process
// of its own, which is ended when it takes too long.
type Reader struct {
	Command []string // a program that calls Serve with the ending of a name, which is added; none: all is read in this process, which is only for files of one's own
}

// Read reads a file as the function Read does.
func (r Reader) Read(ctx context.Context, name string, data []byte) (Document, error) {
	kind := strings.ToLower(path.Ext(name))
	short := len(data) <= inside && kind != ".pdf" && kind != ".docx"
	if len(r.Command) == 0 || short || len(data) > MaxBytes || !Supported(name) {
		return Read(name, data)
	}
	limited, cancel := context.WithTimeout(ctx, outsideTime)
	defer cancel()
	c := exec.CommandContext(limited, r.Command[0], append(slices.Clone(r.Command[1:]), kind)...)
	out := &bounded{most: outsideAnswer}
	c.Stdin, c.Stdout = bytes.NewReader(data), out
	err := c.Run()
	var said answer
	if err == nil {
		err = json.Unmarshal(out.text.Bytes(), &said)
	}
	switch {
	case ctx.Err() != nil:
		return Document{}, ctx.Err()
	case err != nil:
		return Document{}, fmt.Errorf("%s: can't be read: its reader gave up, or took more than %s", name, outsideTime)
	case said.Problem != "":
		return Document{}, fmt.Errorf("%s: %s", name, said.Problem)
	}
	said.Document.tidy(name)
	return said.Document, nil
}

// answer is what the other process says.
type answer struct {
	Document Document
	Problem  string
}

// Serve reads one file of a kind, which is the ending of its name, from in and writes what is in it to out. It is for a process of its own.
func Serve(kind string, in io.Reader, out io.Writer) error {
	read := readers[kind]
	if read == nil {
		return fmt.Errorf("%q: %w", kind, ErrUnsupported)
	}
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return err
	}
	var said answer
	said.Document, err = guarded(read, data) // without a title of its name, which is not known here
	if err != nil {
		said.Problem = err.Error()
	}
	return json.NewEncoder(out).Encode(said)
}

// bounded is a buffer that takes only so much. It does not embed it: there is more than one way to fill that.
type bounded struct {
	text bytes.Buffer
	most int
}

// Write refuses what is too much, which ends the process that writes.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > b.most {
		return 0, errors.New("too much")
	}
	return b.text.Write(p)
}
