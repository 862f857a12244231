package show

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// result is what a succeeded run looks like on one platform.
type result struct {
	media []chat.Media // in the order of the outputs, each within the platform's limits
	text  chat.Text    // text outputs, as they are shown
	raw   []string     // text outputs, as they came
	// partial tells that the text is less than what came.
	partial bool
	// unsent are outputs that can't be sent here, as a line each, with a link where there is one.
	unsent []chat.Text
	// reduced tells that at least one picture is a smaller version.
	reduced bool
}

// compose prepares a run's outputs for a platform. tooLarge names outputs that the platform has refused for
// their size, although they were within the limits we know.
func (d *Deliverer) compose(ctx context.Context, s *Platform, v Voice, run runs.Run, tooLarge map[string]bool) result {
	var r result
	for i, o := range run.Outputs {
		if o.Media == "" {
			r.add(v, o.Text)
			continue
		}
		item, reduced, ok := d.item(ctx, s, run, i, tooLarge[o.Media])
		if !ok {
			r.unsent = append(r.unsent, d.Unsent(v, run, i))
			continue
		}
		r.media = append(r.media, item)
		if reduced {
			r.reduced = true
			r.unsent = append(r.unsent, d.whereOriginal(s, v, run, i))
		}
	}
	return r
}

// item prepares one output: as what it is, else as a document, else as a smaller picture.
func (d *Deliverer) item(ctx context.Context, s *Platform, run runs.Run, i int, refused bool) (m chat.Media, reduced, ok bool) {
	o := run.Outputs[i]
	hint := run.Tool.Delivery[s.Platform()]
	m = d.file(s, run, i, kindOf(o.Type, o.MIMEType, hint))
	if hint.Filename != "" {
		m.FileName = hint.Filename
	}
	if m.Kind == chat.KindPhoto && !d.showsAsPhoto(ctx, s, o, m.Open) {
		m.Kind = chat.KindDocument
	}
	if limit, known := s.Caps.Uploads[m.Kind]; !refused && known && o.Bytes <= limit {
		return m, false, true
	}
	document := s.Caps.Uploads[chat.KindDocument]
	if m.Kind != chat.KindPhoto && !refused && o.Bytes <= document {
		m.Kind = chat.KindDocument
		return m, false, true
	}
	if o.Type != "image" {
		return m, false, false
	}
	return d.smallerItem(ctx, s, m)
}

// smallerItem replaces a picture by a smaller version.
func (d *Deliverer) smallerItem(ctx context.Context, s *Platform, m chat.Media) (chat.Media, bool, bool) {
	limit, ok := s.Caps.Uploads[chat.KindPhoto]
	if !ok {
		return m, false, false
	}
	small, err := smaller(ctx, m.Open, limit)
	if err != nil {
		d.log.WarnContext(ctx, "no smaller version of a picture", "media", m.Ref, "error", err)
		return m, false, false
	}
	return chat.Media{
		Kind: chat.KindPhoto, Ref: "small:" + m.Ref, MIMEType: "image/jpeg", Bytes: int64(len(small)), Alt: m.Alt, Spoiler: m.Spoiler,
		FileName: strings.TrimSuffix(m.FileName, extension(m.FileName)) + "-small.jpg",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(small)), nil
		},
	}, true, true
}

// showsAsPhoto reports whether nothing but sharpness is lost when a picture is sent as a photo.
func (d *Deliverer) showsAsPhoto(ctx context.Context, s *Platform, o runs.Output, open opener) bool {
	if !s.Caps.Photo.Fits(o.Width, o.Height) {
		return false
	}
	if !s.Caps.Photo.LosesAlpha || o.MIMEType != "image/png" && o.MIMEType != "image/webp" {
		return true
	}
	img, err := decodePicture(ctx, open)
	return err != nil || !transparent(img)
}

// Original is an output as a file without a platform's compression; fits is false where it is too large for the chat.
func (d *Deliverer) Original(s *Platform, run runs.Run, i int) (file chat.Media, fits bool) {
	return d.file(s, run, i, chat.KindDocument), run.Outputs[i].Bytes <= s.Caps.Uploads[chat.KindDocument]
}

// file is an output as it was stored.
func (d *Deliverer) file(s *Platform, run runs.Run, i int, kind chat.MediaKind) chat.Media {
	o := run.Outputs[i]
	return chat.Media{
		Kind: kind, Ref: o.Media, FileName: o.FileName, MIMEType: o.MIMEType, Bytes: o.Bytes, Width: o.Width, Height: o.Height,
		Alt: chat.Brief(altOf(run), s.Caps.AltLimit), Spoiler: input.IsAdult(&run.Tool),
		Open: func(ctx context.Context) (io.ReadCloser, error) {
			content, _, err := d.media.OpenMedia(ctx, o.Media)
			return content, err
		},
	}
}

// altOf describes a run's pictures for those who don't see them.
func altOf(run runs.Run) string {
	if prompt := PromptOf(run); prompt != "" {
		return run.Tool.DisplayName + ": " + prompt
	}
	return run.Tool.DisplayName
}

func extension(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[i:]
	}
	return ""
}

// Unsent tells that an output does not fit this platform, and where it is.
func (d *Deliverer) Unsent(v Voice, run runs.Run, i int) chat.Text {
	name := chat.FirstNonEmpty(run.Outputs[i].FileName, run.Outputs[i].Name) // "image" is what ComfyUI calls outputs of any kind
	if url := d.link(run, i); url != "" {
		return chat.Text{{Text: v.Line("result.tooLarge", "name", name) + " "}, {Style: chat.StyleLink, Text: v.Line("result.link"), URL: url}}
	}
	return v.Text("result.tooLargeNoLink", "name", name)
}

// whereOriginal tells where to find what a smaller version was made of.
func (d *Deliverer) whereOriginal(s *Platform, v Voice, run runs.Run, i int) chat.Text {
	if run.Outputs[i].Bytes <= s.Caps.Uploads[chat.KindDocument] {
		return v.Text("result.reducedButton", "button", v.Line("button.original"))
	}
	if url := d.link(run, i); url != "" {
		return chat.Text{{Text: v.Line("result.reduced") + " "}, {Style: chat.StyleLink, Text: v.Line("result.link"), URL: url}}
	}
	return v.Text("result.reducedNoLink")
}

// PromptOf is the text a run was started with.
func PromptOf(run runs.Run) string {
	f, ok := input.TextInput(run.Tool.InputSchema)
	if !ok {
		return ""
	}
	text, _ := run.Inputs[f.Name].(string)
	return text
}

// caption is the text under a result: tool, what it was made of, what it cost.
func (v Voice) caption(run runs.Run) chat.Text {
	run = v.Read(run)
	text := chat.Text{{Style: chat.StyleBold, Text: run.Tool.DisplayName}}
	if prompt := PromptOf(run); prompt != "" {
		text = chat.Lines(text, chat.Text{{Style: chat.StyleItalic, Text: chat.Brief(prompt, 200)}})
	}
	return chat.Lines(text, chat.Plain(v.givenLine(run)), v.cost(run))
}

// givenLine names the seed and up to four values that somebody chose.
func (v Voice) givenLine(run runs.Run) string {
	run = v.Read(run)
	free, _ := input.TextInput(run.Tool.InputSchema)
	var given []string
	for _, f := range run.Tool.InputSchema.Ordered() {
		value, ok := run.Inputs[f.Name]
		from := run.Sources[f.Name]
		chosen := from != runs.FromDefault && from != "" || f.Seed
		if !ok || !chosen || f.Type.IsMedia() || f.Name == free.Name || len(given) > 4 {
			continue
		}
		if shown := chat.Brief(v.ValueLabel(f, value), 40); shown != "" {
			given = append(given, words.Inside(v.Voice, f.Label())+" "+shown)
		}
	}
	return strings.Join(given, " · ")
}

// cost says in short what a run cost, and how many such runs a dollar buys where one is less than a cent.
func (v Voice) cost(run runs.Run) chat.Text {
	if run.Cost == 0 {
		return v.Text("receipt.free")
	}
	return chat.Join(" · ", chat.Plain(v.Amount(run.Cost)), chat.Plain(v.ForADollar(run.Cost, words.Makes(run.Tool))))
}

// Receipt says exactly what a run cost, and how that comes about: the numbers are the billed ones, so that anyone who
// multiplies them finds the cost, or reads that it is the least there is.
func (v Voice) Receipt(run runs.Run) chat.Text {
	r := run.Receipt
	if run.Cost == 0 {
		return v.Text("receipt.free")
	}
	text := chat.Plain(v.Exact(run.Cost))
	if r == nil {
		return text
	}
	if units := trimDecimal(r.Units); units != "1" || r.Unit != string(registry.UnitRequest) {
		text = chat.Join(" · ", text, v.Text("receipt.units", "units", v.Number(units), "unit", v.Line("unit."+r.Unit), "rate", v.Dollars(r.Rate)))
	}
	if r.Source == string(registry.RateMachine) && r.Machine != "" {
		text = chat.Join(" · ", text, chat.Plain(chat.Brief(r.Machine, 60)))
	}
	if r.Fees > 0 {
		text = chat.Join(" · ", text, v.Text("receipt.fees", "amount", v.Exact(r.Fees)))
	}
	if r.Minimum > 0 {
		text = chat.Join(" · ", text, v.Text("receipt.minimum"))
	}
	if r.Share > 0 {
		text = chat.Join(" · ", text, v.Text("receipt.share", "amount", v.Exact(r.Share)))
	}
	if r.Full > r.Cost {
		text = chat.Join(" · ", text, v.Text("receipt.capped", "full", v.Exact(r.Full)))
	}
	return text
}

// trimDecimal takes zeros that say nothing off the end of an exact decimal.
func trimDecimal(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// repeatPrice tells what the buttons that run a tool once more cost. It stands in the text beside them:
// on phones, labels of several buttons in a row are too short for a price. The exact price appears in the
// status message, as for every run.
//
// Deliveries must not wait for a new quote, so the price is that of the run itself.
func (v Voice) repeatPrice(run runs.Run, labels ...string) chat.Text {
	q := run.Quote
	price := v.Between(q.Low, q.High)
	switch {
	case q.High == 0:
		return nil
	case !q.Exact() && run.Cost > 0:
		price = v.About(run.Cost)
	}
	return v.Text("repeat.price", "buttons", strings.Join(labels, ", "), "price", price)
}

// failure tells how a run ended without a result, and the code under which support finds it.
func (v Voice) failure(run runs.Run, in chat.ChatKind) chat.Text {
	run = v.Read(run)
	text := chat.Lines(chat.Text{{Style: chat.StyleBold, Text: run.Tool.DisplayName}}, v.ending(run, in))
	if run.Status != runs.StatusCanceled {
		text = chat.Lines(text, v.Text("support.code", "code", SupportCode(run.ID)))
	}
	return text
}

// ending tells how a run ended without a result: what happened, and that nothing was charged. In groups
// the provider's words are left out where they repeat the prompt.
func (v Voice) ending(run runs.Run, in chat.ChatKind) chat.Text {
	var what chat.Text
	switch run.Status {
	case runs.StatusCanceled:
		what = v.Text("failure.canceled")
	case runs.StatusTimedOut:
		what = v.Text("failure.timedOut")
	default:
		what = v.Text("failure.failed")
		code := registry.Code("")
		if run.Error != nil {
			code = registry.Code(run.Error.Code)
		}
		if code == registry.CodeRefused {
			what, code = v.Text("failure.refused"), "" // which says it already
		}
		if run.Error != nil && run.Error.Message != "" && (in == chat.ChatPrivate || !repeatsPrompt(run.Error.Text(), run)) {
			what = chat.Lines(what, chat.Plain(words.Told(v.Voice, code, run.Error.Text())))
		}
	}
	charged := v.Text("nothing.charged")
	if run.Cost > 0 {
		charged = v.cost(run)
	}
	return chat.Lines(what, charged)
}

// repeatsPrompt reports whether a message quotes a text that the run was given, or the beginning of one. A sentence of the program's own
// quotes with what fills it alone: "there is nothing to undo" does not repeat the word "undo".
func repeatsPrompt(words said.Text, run runs.Run) bool {
	for _, arg := range words.Args {
		if repeatsPrompt(arg, run) {
			return true
		}
	}
	message := strings.ToLower(words.Words)
	for _, f := range run.Tool.InputSchema {
		text, ok := run.Inputs[f.Name].(string)
		if !ok || f.Type != registry.TypeString || len(f.Choices) > 0 {
			continue
		}
		begin := []rune(strings.ToLower(strings.TrimSpace(text)))
		begin = begin[:min(len(begin), 20)]
		if len(begin) > 1 && strings.Contains(message, string(begin)) {
			return true
		}
	}
	return false
}

// SupportCode is the end of a run's id: enough to find it, short enough to read out.
func SupportCode(runID string) string { return runID[max(0, len(runID)-6):] }
