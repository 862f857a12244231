package chat

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// result is what a succeeded run looks like on one surface.
type result struct {
	media []Media  // in the order of the outputs, each within the surface's limits
	text  Text     // text outputs, as they are shown
	raw   []string // text outputs, as they came
	// partial tells that the text is less than what came.
	partial bool
	// unsent are outputs that can't be sent here, as a line each, with a link where there is one.
	unsent []Text
	// reduced tells that at least one picture is a smaller version.
	reduced bool
}

// compose prepares a run's outputs for a surface. tooLarge names outputs that the platform has refused for
// their size, although they were within the limits we know.
func (d *Deliverer) compose(ctx context.Context, s *surface, v voice, run runs.Run, tooLarge map[string]bool) result {
	var r result
	for i, o := range run.Outputs {
		if o.Media == "" {
			r.say(v, o.Text)
			continue
		}
		item, reduced, ok := d.item(ctx, s, run, i, tooLarge[o.Media])
		if !ok {
			r.unsent = append(r.unsent, d.unsent(v, run, i))
			continue
		}
		r.media = append(r.media, item)
		if reduced {
			r.reduced = true
			r.unsent = append(r.unsent, d.original(s, v, run, i))
		}
	}
	return r
}

// item prepares one output: as what it is, else as a document, else as a smaller picture.
func (d *Deliverer) item(ctx context.Context, s *surface, run runs.Run, i int, refused bool) (m Media, reduced, ok bool) {
	o := run.Outputs[i]
	hint := run.Tool.Delivery[s.Platform()]
	m = d.file(s, run, i, kindOf(o.Type, o.MIMEType, hint))
	if hint.Filename != "" {
		m.FileName = hint.Filename
	}
	if m.Kind == KindPhoto && !d.showsAsPhoto(ctx, s, o, m.Open) {
		m.Kind = KindDocument
	}
	if limit, known := s.caps.Uploads[m.Kind]; !refused && known && o.Bytes <= limit {
		return m, false, true
	}
	document := s.caps.Uploads[KindDocument]
	if m.Kind != KindPhoto && !refused && o.Bytes <= document {
		m.Kind = KindDocument
		return m, false, true
	}
	if o.Type != "image" {
		return m, false, false
	}
	return d.smallerItem(ctx, s, m)
}

// smallerItem replaces a picture by a smaller version.
func (d *Deliverer) smallerItem(ctx context.Context, s *surface, m Media) (Media, bool, bool) {
	limit, ok := s.caps.Uploads[KindPhoto]
	if !ok {
		return m, false, false
	}
	small, err := smaller(ctx, m.Open, limit)
	if err != nil {
		d.log.WarnContext(ctx, "no smaller version of a picture", "media", m.Ref, "error", err)
		return m, false, false
	}
	return Media{
		Kind: KindPhoto, Ref: "small:" + m.Ref, MIMEType: "image/jpeg", Bytes: int64(len(small)), Alt: m.Alt, Spoiler: m.Spoiler,
		FileName: strings.TrimSuffix(m.FileName, extension(m.FileName)) + "-small.jpg",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(small)), nil
		},
	}, true, true
}

// showsAsPhoto reports whether nothing but sharpness is lost when a picture is sent as a photo.
func (d *Deliverer) showsAsPhoto(ctx context.Context, s *surface, o runs.Output, open opener) bool {
	if !s.caps.Photo.fitsPhoto(o.Width, o.Height) {
		return false
	}
	if !s.caps.Photo.LosesAlpha || o.MIMEType != "image/png" && o.MIMEType != "image/webp" {
		return true
	}
	img, err := decodePicture(ctx, open)
	return err != nil || !transparent(img)
}

// file is an output as it was stored.
func (d *Deliverer) file(s *surface, run runs.Run, i int, kind MediaKind) Media {
	o := run.Outputs[i]
	return Media{
		Kind: kind, Ref: o.Media, FileName: o.FileName, MIMEType: o.MIMEType, Bytes: o.Bytes, Width: o.Width, Height: o.Height,
		Alt: brief(altOf(run), s.caps.AltLimit), Spoiler: isAdult(&run.Tool),
		Open: func(ctx context.Context) (io.ReadCloser, error) {
			content, _, err := d.media.OpenMedia(ctx, o.Media)
			return content, err
		},
	}
}

// altOf describes a run's pictures for those who don't see them.
func altOf(run runs.Run) string {
	if prompt := promptOf(run); prompt != "" {
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

// unsent tells that an output does not fit this platform, and where it is.
func (d *Deliverer) unsent(v voice, run runs.Run, i int) Text {
	if url := d.link(run, i); url != "" {
		return Text{{Text: v.line("result.tooLarge", "name", run.Outputs[i].Name) + " "}, {Style: StyleLink, Text: v.line("result.link"), URL: url}}
	}
	return v.say("result.tooLargeNoLink", "name", run.Outputs[i].Name)
}

// original tells where to find what a smaller version was made of.
func (d *Deliverer) original(s *surface, v voice, run runs.Run, i int) Text {
	if run.Outputs[i].Bytes <= s.caps.Uploads[KindDocument] {
		return v.say("result.reducedButton", "button", v.line("button.original"))
	}
	if url := d.link(run, i); url != "" {
		return Text{{Text: v.line("result.reduced") + " "}, {Style: StyleLink, Text: v.line("result.link"), URL: url}}
	}
	return v.say("result.reducedNoLink")
}

// promptOf is the text a run was started with.
func promptOf(run runs.Run) string {
	f, ok := textInput(run.Tool.InputSchema)
	if !ok {
		return ""
	}
	text, _ := run.Inputs[f.Name].(string)
	return text
}

// caption is the text under a result: tool, what it was made of, what it cost.
func (v voice) caption(run runs.Run) Text {
	text := Text{{Style: StyleBold, Text: run.Tool.DisplayName}}
	if prompt := promptOf(run); prompt != "" {
		text = lines(text, Text{{Style: StyleItalic, Text: brief(prompt, 200)}})
	}
	return lines(text, Plain(v.givenLine(run)), v.receipt(run))
}

// givenLine names the seed and up to four values that somebody chose.
func (v voice) givenLine(run runs.Run) string {
	free, _ := textInput(run.Tool.InputSchema)
	var given []string
	for _, f := range run.Tool.InputSchema.Ordered() {
		value, ok := run.Inputs[f.Name]
		from := run.Sources[f.Name]
		chosen := from != runs.FromDefault && from != "" || f.Seed
		if !ok || !chosen || f.Type.IsMedia() || f.Name == free.Name || len(given) > 4 {
			continue
		}
		if shown := brief(v.valueLabel(f, value), 40); shown != "" {
			given = append(given, strings.ToLower(f.Label())+" "+shown)
		}
	}
	return strings.Join(given, " · ")
}

// receipt says what a run cost, and how that comes about: the numbers are the billed ones, so that whoever
// multiplies them finds the cost, or reads that it is the least there is.
func (v voice) receipt(run runs.Run) Text {
	r := run.Receipt
	if run.Cost == 0 {
		return v.say("receipt.free")
	}
	text := v.say("receipt.plain", "cost", run.Cost)
	if r == nil {
		return text
	}
	if units := trimDecimal(r.Units); units != "1" || r.Unit != string(registry.UnitRequest) {
		text = join(" · ", text, v.say("receipt.units", "units", units, "unit", v.line("unit."+r.Unit), "rate", r.Rate))
	}
	if r.Source == string(registry.RateMachine) && r.Machine != "" {
		text = join(" · ", text, Plain(brief(r.Machine, 60)))
	}
	if r.Minimum > 0 {
		text = join(" · ", text, v.say("receipt.minimum"))
	}
	if r.Full > r.Cost {
		text = join(" · ", text, v.say("receipt.capped", "full", r.Full))
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
func (v voice) repeatPrice(run runs.Run, labels ...string) Text {
	q := run.Quote
	price := v.line("repeat.range", "low", q.Low, "high", q.High)
	switch {
	case q.High == 0:
		return nil
	case q.Exact():
		price = v.Value(q.High)
	case run.Cost > 0:
		price = v.line("repeat.about", "price", roundUp(run.Cost))
	}
	return v.say("repeat.price", "buttons", strings.Join(labels, ", "), "price", price)
}

// roundUp rounds an amount up to two digits that count.
func roundUp(n billing.NanoUSD) billing.NanoUSD {
	step := billing.NanoUSD(1)
	for n/step >= 100 {
		step *= 10
	}
	return (n + step - 1) / step * step
}

// failure tells how a run ended without a result, and the code under which support finds it.
func (v voice) failure(run runs.Run, in ChatKind) Text {
	text := lines(Text{{Style: StyleBold, Text: run.Tool.DisplayName}}, v.ending(run, in))
	if run.Status != runs.StatusCanceled {
		text = lines(text, v.say("support.code", "code", supportCode(run.ID)))
	}
	return text
}

// ending tells how a run ended without a result: what happened, and that nothing was charged. In groups
// the provider's words are left out where they repeat the prompt.
func (v voice) ending(run runs.Run, in ChatKind) Text {
	var what Text
	switch run.Status {
	case runs.StatusCanceled:
		what = v.say("failure.canceled")
	case runs.StatusTimedOut:
		what = v.say("failure.timedOut")
	default:
		what = v.say("failure.failed")
		code := registry.Code("")
		if run.Error != nil {
			code = registry.Code(run.Error.Code)
		}
		if code == registry.CodeRefused {
			what, code = v.say("failure.refused"), "" // which says it already
		}
		if run.Error != nil && run.Error.Message != "" && (in == ChatPrivate || !repeatsPrompt(run.Error.Message, run)) {
			what = lines(what, Told(v.Voice, code, run.Error.Text()))
		}
	}
	charged := v.say("nothing.charged")
	if run.Cost > 0 {
		charged = v.receipt(run)
	}
	return lines(what, charged)
}

// repeatsPrompt reports whether a message quotes a text that the run was given, or the beginning of one.
func repeatsPrompt(message string, run runs.Run) bool {
	message = strings.ToLower(message)
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

// supportCode is the end of a run's id: enough to find it, short enough to read out.
func supportCode(runID string) string { return runID[max(0, len(runID)-6):] }

// resultButtons are the buttons under a result: what can be done next, then what can be done with it.
func (v voice) resultButtons(run runs.Run, k keyboard, hasMedia bool) [][]Button {
	first := []Button{{Label: v.line("button.again"), Data: k.data("again")}}
	if varies(run.Tool) {
		first = append(first, Button{Label: v.line("button.vary"), Data: k.data("vary")})
	}
	if len(run.Tool.InputSchema) > 0 {
		first = append(first, Button{Label: v.line("button.settings"), Data: k.data("settings")})
	}
	var second []Button
	if hasMedia {
		second = append(second,
			Button{Label: v.line("button.original"), Data: k.data("original")},
			Button{Label: v.line("button.use"), Data: k.data("use")})
	}
	second = append(second, Button{Label: v.line("button.delete"), Data: k.data("delete"), Style: ButtonDanger})
	return append(followUpButtons(run, k), first, second)
}

// varies reports whether a tool gives something else when its seed is drawn anew.
func varies(tool registry.Tool) bool {
	return slices.ContainsFunc(tool.InputSchema, func(f registry.InputField) bool { return f.Seed })
}

// failureButtons are the buttons under a failure.
func (v voice) failureButtons(k keyboard) [][]Button {
	return [][]Button{{
		{Label: v.line("button.retry"), Data: k.data("retry"), Style: ButtonPrimary},
		{Label: v.line("button.settings"), Data: k.data("settings")},
	}}
}

// showValue writes a value for people: the label of a choice, yes and no, numbers as they are.
func showValue(f registry.InputField, value any) string {
	for _, c := range f.Choices {
		if fmt.Sprint(c.Value) == fmt.Sprint(value) {
			return c.Text()
		}
	}
	switch x := value.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case []any:
		shown := make([]string, len(x))
		one := f
		one.Multiple = false
		for i, item := range x {
			shown[i] = showValue(one, item)
		}
		return strings.Join(shown, ", ")
	}
	return fmt.Sprint(value)
}
