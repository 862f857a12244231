package ask

import (
	"bytes"
	"strings"
	"testing"
)

func TestAnAnswerThatBreaksOffIsNoSuccess(t *testing.T) {
	t.Parallel()
	tty := printer{out: new(bytes.Buffer)}
	if err := tty.follow(strings.NewReader("event: text\ndata: {\"text\":\"Let\"}\n\n")); err == nil {
		t.Error("it was taken for whole")
	}
}
