package terminal

import (
	"bytes"
	"os"
	"testing"
)

func TestColoursAreForTerminals(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if Is(write) || Is(new(bytes.Buffer)) || StyleOf(write).Bad("no") != "no" {
		t.Error("a pipe is taken for a terminal")
	}
	if got := (Style{on: true}).Bad("no"); got != "\x1b[1;31mno\x1b[0m" {
		t.Errorf("%q", got)
	}
}
