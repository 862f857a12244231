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
	"github.com/signalbox/signalbox/runs"
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
		return turn.Nothing, t.NothingFound(ctx, named)
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return turn.Nothing, err
	}
	drafts, hint, err := read(ctx, t, tool, rest)
	if hint != nil || err != nil {
		return turn.Nothing, start.HintOr(ctx, t, hint, err)
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

// tooMany is for who asks for more runs than the house lets a batch have; nil: it lets it have so many.
func tooMany(t *turn.Turn, n int) chat.Text {
	if most := t.Services.Missions.MaxBatch(); n > most {
		return t.Say.Text("batch.tooMany", "n", n, "most", most)
	}
	return nil
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

// separator stands between inputs where a platform takes no text of several lines.
const separator = " | "

// linesOf takes a text apart: each line is an input. Options that stand alone on the first one, beside the command, are for all.
func linesOf(t *turn.Turn, tool *registry.Tool, text string) (shared string, lines []string) {
	first, below, several := strings.Cut(text, "\n")
	if !several {
		return "", splitLines(strings.ReplaceAll(first, separator, "\n"))
	}
	if values, hint := start.Options(t, tool, first); hint == nil && len(values) > 0 {
		return first, splitLines(below)
	}
	return "", splitLines(text)
}

func splitLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func readLines(ctx context.Context, t *turn.Turn, tool *registry.Tool, shared string, lines []string) (drafts []input.Draft, hint chat.Text, err error) {
	if hint := tooMany(t, len(lines)); hint != nil {
		return nil, hint, nil
	}
	for i, line := range lines {
		d := start.NewDraft(t, tool)
		if hint, err := start.ReadText(ctx, t, &d, tool, strings.TrimSpace(shared+" "+line)); hint != nil || err != nil {
			return nil, atInput(t, i, hint), err
		}
		drafts = append(drafts, d)
	}
	return drafts, nil, nil
}

// atInput says which input a hint is about.
func atInput(t *turn.Turn, i int, hint chat.Text) chat.Text {
	if hint == nil {
		return nil
	}
	return chat.Lines(t.Say.Text("batch.input", "number", i+1), hint)
}

// readFiles makes a draft of each file; the text is for all of them.
func readFiles(ctx context.Context, t *turn.Turn, tool *registry.Tool, text string, files []chat.Attachment) (drafts []input.Draft, hint chat.Text, err error) {
	if hint := tooMany(t, len(files)); hint != nil {
		return nil, hint, nil
	}
	for i, file := range files {
		d := start.NewDraft(t, tool)
		if hint, err := start.ReadText(ctx, t, &d, tool, strings.TrimSpace(text)); hint != nil || err != nil {
			return nil, hint, err
		}
		assigned, rest := input.Assign(tool.InputSchema, []chat.Attachment{file}, d.Has)
		if len(rest) > 0 {
			return nil, atInput(t, i, t.Say.Text("batch.noFile", "tool", tool.DisplayName)), nil
		}
		for name := range assigned {
			ref, err := start.KeepFile(ctx, t, file)
			if err != nil {
				return nil, nil, err
			}
			var value any = ref
			if f, _ := tool.InputSchema.Get(name); f.Multiple {
				value = []any{ref}
			}
			d.Set(runs.FromAttachment, name, value)
		}
		drafts = append(drafts, d)
	}
	return drafts, nil, nil
}
