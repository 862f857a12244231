package chains

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// maxTable bounds a file with inputs, in bytes.
const maxTable = 1 << 20

// isTable reports whether a file has inputs in it: a table as CSV, or a text with one on each line.
func isTable(a chat.Attachment) bool {
	switch strings.ToLower(path.Ext(a.Name)) {
	case ".csv", ".tsv", ".txt":
		return a.Kind == chat.KindDocument
	}
	return a.Kind == chat.KindDocument && (a.MIMEType == "text/csv" || a.MIMEType == "text/tab-separated-values")
}

// readTable makes a draft of each row of a CSV file, whose header names inputs, or of each line of a text. The text beside the command is for
// all of them.
func readTable(ctx context.Context, t *turn.Turn, tool *registry.Tool, text string, file chat.Attachment) (drafts []input.Draft, hint chat.Text, err error) {
	data, err := fetch(ctx, t, file)
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxTable || !utf8.Valid(data) {
		return nil, t.Say.Text("batch.unreadable", "limit", maxTable>>20), nil
	}
	if strings.EqualFold(path.Ext(file.Name), ".txt") {
		return readLines(ctx, t, tool, text, splitLines(string(data)))
	}
	rows, err := parseTable(data)
	if err != nil {
		hint := t.Say.Text("batch.unreadable", "limit", maxTable>>20)
		if t.Say.Language() == i18n.Fallback { // said in English
			hint = chat.Lines(hint, chat.Plain(err.Error()))
		}
		return nil, hint, nil
	}
	if len(rows) < 2 {
		return nil, t.Say.Text("batch.noRows"), nil
	}
	fields, hint := columns(t, tool, rows[0])
	if hint != nil {
		return nil, hint, nil
	}
	if hint := tooMany(t, len(rows)-1); hint != nil {
		return nil, hint, nil
	}
	for i, row := range rows[1:] {
		d := start.NewDraft(t, tool)
		if hint, err := start.ReadText(ctx, t, &d, tool, strings.TrimSpace(text)); hint != nil || err != nil {
			return nil, hint, err
		}
		if hint := fillRow(t, &d, fields, row); hint != nil {
			return nil, atInput(t, i, hint), nil
		}
		drafts = append(drafts, d)
	}
	return drafts, nil, nil
}

func fetch(ctx context.Context, t *turn.Turn, file chat.Attachment) ([]byte, error) {
	content, err := t.Out.Fetch(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("fetch a table: %w", err)
	}
	defer content.Close()
	data, err := io.ReadAll(io.LimitReader(content, maxTable+1))
	if err != nil {
		return nil, fmt.Errorf("fetch a table: %w", err)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// parseTable reads CSV with the separator that its header has most of: spreadsheets write commas, semicolons or tabs. They write rows of
// nothing, too, which are left out.
func parseTable(data []byte) ([][]string, error) {
	header, _, _ := bytes.Cut(data, []byte("\n"))
	r := csv.NewReader(bytes.NewReader(data))
	for _, separator := range []rune{';', '\t'} {
		if bytes.Count(header, []byte(string(separator))) > bytes.Count(header, []byte(string(r.Comma))) {
			r.Comma = separator
		}
	}
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	return slices.DeleteFunc(rows, func(row []string) bool { return strings.TrimSpace(strings.Join(row, "")) == "" }), err
}

// columns finds the input that each column is for, by its name or by what people read.
func columns(t *turn.Turn, tool *registry.Tool, header []string) ([]registry.InputField, chat.Text) {
	var known []string
	for _, f := range tool.InputSchema.Ordered() {
		known = append(known, f.Label())
	}
	fields := make([]registry.InputField, len(header))
	for i, name := range header {
		f, ok := input.FieldNamed(tool.InputSchema, strings.TrimSpace(name))
		if !ok {
			return nil, t.Say.Text("batch.column", "column", chat.Brief(name, 60), "inputs", strings.Join(known, ", "))
		}
		fields[i] = f
	}
	return fields, nil
}

// fillRow gives a draft the values of a row; an empty one leaves an input as it is.
func fillRow(t *turn.Turn, d *input.Draft, fields []registry.InputField, row []string) chat.Text {
	for i, value := range row {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		if input.NamesStored(fields[i], value) {
			return t.Say.Text("file.gone")
		}
		d.Replace(runs.FromArgument, fields[i].Name, value)
	}
	return nil
}
