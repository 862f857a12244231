package chains

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// tooMany is for who asks for more runs than the house lets a batch have; nil: it lets it have so many.
func tooMany(t *turn.Turn, n int) chat.Text {
	if most := t.Services.Missions.MaxBatch(); n > most {
		return t.Say.Text("batch.tooMany", "n", n, "most", most)
	}
	return nil
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

// maxExample bounds what is shown of how a batch was meant, in runes.
const maxExample = 300

// parted tells who wrote a separator where it parts nothing how it was meant; nil: they did not.
func parted(t *turn.Turn) chat.Text {
	named, rest := firstWord(t.In.Text)
	switch {
	case !strings.Contains(rest, "|") || strings.Contains(rest, "\n"):
		return nil
	case t.ReadByOthers():
		return t.Say.Text("batch.how")
	}
	var whole []string
	for line := range strings.SplitSeq(rest, separator) {
		whole = append(whole, wholeInputs(line)...)
	}
	return t.Say.Text("batch.parted", "example", chat.Brief("/batch "+named+" "+strings.Join(whole, separator), maxExample))
}

// wholeInputs are the inputs that a line with separators in it was meant for: one for each value of colors=3|4, with all the other words.
func wholeInputs(line string) []string {
	words := strings.Fields(line)
	at := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "|") })
	if at < 0 {
		return []string{strings.Join(words, " ")}
	}
	name, values, isOption := strings.Cut(words[at], "=")
	if !isOption {
		return strings.FieldsFunc(strings.Join(words, " "), func(r rune) bool { return r == '|' })
	}
	var whole []string
	for value := range strings.SplitSeq(values, "|") {
		words[at] = name + "=" + value
		whole = append(whole, strings.Join(words, " "))
	}
	return whole
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
