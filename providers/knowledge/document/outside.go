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
	"strings"
	"time"
)

// Bounds of a file that is read in a process of its own.
const (
	outsideTime   = 30 * time.Second
	outsideAnswer = 4 * maxText // of JSON
)

// Reader reads files. The reader of PDF files is another's, and a file can be made for it to never end or to take all memory: with Command, it runs
// in a process of its own, which is ended when it takes too long.
type Reader struct {
	Command []string // a program that calls Serve; none: all is read in this process, which is only for files of one's own
}

// Read reads a file as the function Read does.
func (r Reader) Read(ctx context.Context, name string, data []byte) (Document, error) {
	if len(r.Command) == 0 || !strings.EqualFold(path.Ext(name), ".pdf") || len(data) > MaxBytes {
		return Read(name, data)
	}
	limited, cancel := context.WithTimeout(ctx, outsideTime)
	defer cancel()
	c := exec.CommandContext(limited, r.Command[0], r.Command[1:]...)
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

// Serve reads one PDF file from in and writes what is in it to out. It is for a process of its own.
func Serve(in io.Reader, out io.Writer) error {
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return err
	}
	var said answer
	said.Document, err = guarded(readPDF, data) // without a title of its name, which is not known here
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
