package chains

import (
	"context"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// BatchCommand runs a tool over many inputs: the lines of a text, several pictures or other files, or the rows of a CSV file. The total
// is shown first, and nothing runs before it is confirmed.
func BatchCommand(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	named, rest := firstWord(t.In.Text)
	if named == "" {
		return turn.Nothing, t.Tell(ctx, "batch.how")
	}
	tool, ok := t.FindTool(named)
	if !ok {
		return turn.Nothing, t.NothingFound(ctx, named, t.Say.Text("batch.how"))
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return turn.Nothing, err
	}
	drafts, hint, err := read(ctx, t, tool, rest)
	if hint != nil || err != nil {
		return turn.Nothing, start.HintOr(ctx, t, chat.Lines(hint, parted(t)), err)
	}
	if len(drafts) == 0 {
		return turn.Nothing, t.Tell(ctx, "batch.how")
	}
	return propose(ctx, t, tool, drafts)
}

// firstWord cuts a text after its first word. What follows keeps its lines.
func firstWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// read makes a draft of each input. A hint says what is wrong with one.
func read(ctx context.Context, t *turn.Turn, tool *registry.Tool, text string) (drafts []input.Draft, hint chat.Text, err error) {
	files := t.In.Attachments
	if len(files) == 0 && t.In.ReplyTo != nil {
		files = t.In.ReplyTo.Attachments
	}
	if len(files) == 1 && isTable(files[0]) {
		return readTable(ctx, t, tool, text, files[0])
	}
	if len(files) > 0 {
		return readFiles(ctx, t, tool, text, files)
	}
	if strings.TrimSpace(text) == "" && t.In.ReplyTo != nil {
		text = "\n" + t.In.ReplyTo.Text
	}
	shared, lines := linesOf(t, tool, text)
	return readLines(ctx, t, tool, shared, lines)
}
