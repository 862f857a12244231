package metadata

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errOdd says that a file is not built as it should be. All that was read of it has been written.
var errOdd = errors.New("the file is broken")

// maxHeld bounds what of a file is looked at as a whole.
const maxHeld = 32 << 20

// copier reads the parts of a file and writes what becomes of them.
type copier struct {
	r *bufio.Reader
	w *counter
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// read gives the next n bytes, which the caller writes. Where the file ends before, they are written.
func (c *copier) read(n int64) ([]byte, error) {
	if n < 0 || n > maxHeld {
		return nil, errOdd
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, c.r, n)
	if err == io.EOF {
		return nil, c.odd(b.Bytes())
	}
	return b.Bytes(), err
}

// odd writes what was read and gives up.
func (c *copier) odd(read ...[]byte) error {
	if err := c.write(read...); err != nil {
		return err
	}
	return errOdd
}

func (c *copier) write(parts ...[]byte) error {
	for _, p := range parts {
		if _, err := c.w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// pass copies n bytes, or fewer where the file ends.
func (c *copier) pass(n int64) error {
	_, err := io.CopyN(c.w, c.r, n)
	return ended(err)
}

// skip leaves out n bytes.
func (c *copier) skip(n int64) error {
	_, err := io.CopyN(io.Discard, c.r, n)
	return ended(err)
}

// blank writes n bytes of nothing in place of those that are there.
func (c *copier) blank(n int64) error {
	read, err := io.CopyN(io.Discard, c.r, n)
	zeros := make([]byte, min(read, 32<<10))
	for ; read > 0 && (err == nil || err == io.EOF); read -= int64(len(zeros)) {
		zeros = zeros[:min(int64(len(zeros)), read)]
		if werr := c.write(zeros); werr != nil {
			return werr
		}
	}
	return ended(err)
}

func ended(err error) error {
	if err == io.EOF {
		return errOdd
	}
	return err
}

// atEnd reports whether there is nothing more.
func (c *copier) atEnd() bool {
	_, err := c.r.Peek(1)
	return err == io.EOF
}
