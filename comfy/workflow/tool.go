package workflow

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/registry"
)

func (d *definer) costing() *registry.CostingModel {
	m := &registry.CostingModel{Rate: d.o.Rate, Unit: registry.UnitSecond, RateSource: registry.RateStatic}
	if d.o.ByMachine {
		m.RateSource = registry.RateMachine
	}
	return m
}

// tool puts the definition together.
func (d *definer) tool(outputs []BoundOutput, needs Requirements) registry.Tool {
	t := registry.Tool{
		ToolID: ToolID(d.o.FileName), Service: d.o.Service, Description: d.notice.description, Guidance: d.blueprint(),
		CostingModel: d.costing(),
		DeliveryMode: registry.DeliveryAsync, Kind: "workflow", InputSchema: registry.InputSchema{}, OutputSchema: d.outputSchema(outputs),
		Metadata: d.metadata(needs),
		// An engine that is lost with a run costs its time; a paid service may have been paid.
		Idempotent: !slices.ContainsFunc(d.f.nodes, (*flatNode).apiNode),
	}
	for _, f := range d.fields {
		t.InputSchema = append(t.InputSchema, f.InputField)
	}
	t.Category = d.category(outputs)
	t.PlatformHints = d.hints()
	t.CommandName = CommandName(t.ToolID)
	t.DisplayName = d.displayName()
	for _, dir := range d.notice.directives {
		switch dir.word {
		case "tool":
			d.toolDirective(&t, dir)
		case "bot":
			d.botDirective(&t, dir)
		}
	}
	if t.Description != "" {
		t.Description += d.inputLine(t.Description)
	}
	if reason := d.unusable(outputs); reason != "" {
		t.Status = &registry.Status{State: registry.StateUnavailable, Reason: reason}
	}
	return t
}

// unusable says why nobody can run the workflow, or "".
func (d *definer) unusable(outputs []BoundOutput) string {
	switch {
	case len(d.f.nodes) == 0:
		return nothingRuns
	case len(outputs) == 0 && !d.unknownEnd():
		return "no node of the workflow gives a result"
	}
	return ""
}

const nothingRuns = "no node of the workflow executes: all are muted, bypassed or notes"

// inputLine joins the notes with the inputs that were found. Where the notes explain the inputs themselves,
// it adds those that they do not name.
func (d *definer) inputLine(notes string) string {
	head, explained := "Inputs", inputParagraph.MatchString(notes)
	if explained {
		head = "More inputs"
	}
	var names []string
	for _, f := range d.fields {
		if !f.Advanced && !(explained && mentions(notes, f.Label())) {
			names = append(names, f.Label())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "\n\n" + head + ": " + strings.Join(names, ", ") + "."
}

var inputParagraph = regexp.MustCompile(`(?im)^inputs?:`)

// mentions reports whether a text has the words, in any case, not as part of longer ones.
func mentions(text, words string) bool {
	text, words = strings.ToLower(text), strings.ToLower(words)
	within := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }
	for from := 0; words != ""; {
		at := strings.Index(text[from:], words)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(words):])
		if !within(before) && !within(after) {
			return true
		}
		from = at + 1
	}
	return false
}

// blueprint is what a subgraph blueprint says about itself, for agents.
func (d *definer) blueprint() string {
	text := asString(d.extra().Get("BlueprintDescription"))
	if text == "" && d.w.Graph != nil && len(d.w.Graph.Nodes) == 1 {
		if def := d.w.def(d.w.Graph.Nodes[0]); def != nil {
			text = def.Description
		}
	}
	return clipRunes(cleanLine(stripTags(text)), 500)
}

// ToolID makes a tool's id of a file's name: "Flux General.ui.json" gives "flux-general".
func ToolID(fileName string) string {
	base := filepath.Base(strings.ReplaceAll(fileName, `\`, "/"))
	lower := strings.ToLower(base)
	for _, end := range []string{".json", ".ui", ".api", ".apiwrapped", ".runpod", ".workflow"} {
		lower = strings.TrimSuffix(lower, end)
	}
	id := slug(lower, "-")
	if len(id) > 100 {
		id = strings.Trim(id[:91], "-_") + "-" + shortHash(lower)
	}
	if id == "" {
		return "workflow-" + shortHash(base)
	}
	return id
}

// CommandName makes a command of a tool's id: a slash and at most 32 of a-z, 0-9 and _.
func CommandName(toolID string) string {
	name := strings.Trim(strings.ReplaceAll(slug(toolID, "_"), "-", "_"), "_")
	if len(name) > 32 {
		name = strings.Trim(name[:25], "_") + "_" + shortHash(toolID)[:6]
	}
	if name == "" {
		name = "tool_" + shortHash(toolID)[:6]
	}
	return "/" + name
}

func shortHash(s string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return fmt.Sprintf("%08x", h.Sum32())
}

// slug keeps lower-case letters, digits and what joins them.
func slug(s, joint string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			if gap && b.Len() > 0 {
				b.WriteString(joint)
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return strings.Trim(b.String(), "_-")
}

func (d *definer) displayName() string {
	name := asString(d.extra().Get("title"))
	if name == "" && d.w.Graph != nil {
		name = asString(d.w.Graph.raw.Get("title"))
	}
	if name == "" {
		base := filepath.Base(strings.ReplaceAll(d.o.FileName, `\`, "/"))
		base = strings.TrimSuffix(base, filepath.Ext(base))
		for _, end := range []string{".ui", ".api", ".workflow"} {
			base = strings.TrimSuffix(base, end)
		}
		name = strings.Join(strings.FieldsFunc(base, func(r rune) bool { return r == '_' || r == '-' || r == ' ' }), " ")
	}
	name = clipRunes(cleanLine(stripTags(name)), 80)
	if name == "" {
		return ToolID(d.o.FileName)
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (d *definer) toolDirective(t *registry.Tool, dir directive) {
	if id := slug(dir.args["id"], "-"); id != "" {
		t.ToolID = id
		if dir.args["command"] == "" {
			t.CommandName = CommandName(id)
		}
	}
	if c, ok := dir.args["command"]; ok {
		if name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(c), "/")); strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && len(name) > 0 && len(name) <= 32 {
			t.CommandName = "/" + name
		} else {
			d.f.find("directive-value", SeverityWarning, dir.note, "@tool: the command "+quote(c)+" can't be used", "take 1 to 32 of a-z, 0-9 and _")
		}
	}
	if name := clipRunes(cleanLine(stripTags(dir.args["name"])), 80); name != "" {
		t.DisplayName = name
	}
	if c := slug(dir.args["category"], "-"); c != "" {
		t.Category = c
	}
	if keep, _ := dir.flag("keep-workflow"); keep {
		t.Metadata[registry.KeepWorkflow] = true
	}
	if again, given := dir.flag("repeat"); given {
		t.Idempotent = again
	}
	d.visibility(t, dir)
	d.cost(t, dir)
}

func (d *definer) visibility(t *registry.Tool, dir directive) {
	v, ok := dir.args["visibility"]
	if !ok {
		return
	}
	known := []string{string(registry.VisibilityPublic), string(registry.VisibilityInternal), string(registry.VisibilityHidden)}
	if !slices.Contains(known, strings.ToLower(v)) {
		d.f.findings = append(d.f.findings, unknownWord(dir.note, "visibility "+v+" in @tool", v, known, ""))
		return
	}
	t.Visibility = registry.Visibility(strings.ToLower(v))
}

// cost reads cost=0.02 or 0.02/request, a price per run, and cost=0.0005/second, another rate for the time.
func (d *definer) cost(t *registry.Tool, dir directive) {
	text, ok := dir.args["cost"]
	if !ok {
		return
	}
	amount, unit, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "$"), "/")
	model := &registry.CostingModel{Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	switch strings.TrimSpace(unit) {
	case "", "request", "run":
	case "second", "s", "sec":
		model.Unit = registry.UnitSecond
	default:
		d.badValue(dir, "cost", text)
		return
	}
	if v, ok := directiveValue(registry.TypeNumber, strings.TrimSpace(amount)); ok && !strings.HasPrefix(strings.TrimSpace(amount), "-") {
		model.Rate = numberOf(v)
		t.CostingModel = model
		return
	}
	d.badValue(dir, "cost", text)
}

var sendAs = []string{"photo", "document", "video", "animation", "audio", "voice"}

func (d *definer) botDirective(t *registry.Tool, dir directive) {
	platform := slug(dir.target, "_")
	hint := registry.DeliveryHint{Filename: safeFileName(dir.args["filename"])}
	if as := strings.ToLower(dir.args["send-as"]); as != "" {
		if slices.Contains(sendAs, as) {
			hint.SendAs = as
		} else {
			d.f.findings = append(d.f.findings, unknownWord(dir.note, "send-as "+as+" in @bot", as, sendAs, ""))
		}
	}
	if platform == "" || hint == (registry.DeliveryHint{}) {
		return
	}
	if t.Delivery == nil {
		t.Delivery = registry.Delivery{}
	}
	t.Delivery[platform] = hint
}

// safeFileName keeps a bare file name.
func safeFileName(s string) string {
	s = cleanLine(filepath.Base(strings.ReplaceAll(s, `\`, "/")))
	if s == "." || s == "/" || strings.HasPrefix(s, "..") {
		return ""
	}
	return clipRunes(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"|?*`, r) {
			return -1
		}
		return r
	}, s), 80)
}

// hints tells the platforms what to ask for first: media before text.
func (d *definer) hints() *registry.PlatformHints {
	h := &registry.PlatformHints{PrimaryInput: "text"}
	for _, f := range d.fields {
		if f.Type.IsMedia() && (f.Required || h.PrimaryInput == "text" && !d.needsText()) {
			return &registry.PlatformHints{PrimaryInput: string(f.Type), SupportsFileCaption: true, SupportsReplyWithCommand: true}
		}
	}
	return h
}

func (d *definer) needsText() bool {
	for _, f := range d.fields {
		if f.Type == registry.TypeString && (f.Required || f.main) {
			return true
		}
	}
	return false
}

// category guesses what shelf the tool belongs on.
func (d *definer) category(outputs []BoundOutput) string {
	media := map[registry.InputType]bool{}
	for _, f := range d.fields {
		media[f.Type] = true
	}
	kinds := map[string]bool{}
	for _, o := range outputs {
		kinds[d.f.byID[o.Node].resultKind()] = true
	}
	image, video := media[registry.TypeImage], media[registry.TypeVideo]
	if kinds[kindImage] && d.animates() {
		kinds[kindVideo] = true
	}
	switch {
	case kinds[kind3D]:
		return "3d"
	case kinds[kindVideo] && video:
		return "video-to-video"
	case kinds[kindVideo] && image:
		return "image-to-video"
	case kinds[kindVideo]:
		return "text-to-video"
	case kinds[kindAudio] && media[registry.TypeAudio]:
		return "audio-to-audio"
	case kinds[kindAudio]:
		return "text-to-audio"
	case kinds[kindImage]:
		return d.imageCategory(image)
	case kinds[kindText] && (image || video):
		return "image-to-text"
	case kinds[kindText]:
		return "text"
	}
	return ""
}

// animates tells moving pictures that are saved as pictures.
func (d *definer) animates() bool {
	for _, n := range d.f.nodes {
		if d.reached[n.ID] && (n.Class == "SaveAnimatedWEBP" || n.Class == "SaveAnimatedPNG") {
			return true
		}
	}
	return false
}

func (d *definer) imageCategory(image bool) string {
	upscale := false
	for _, n := range d.f.nodes {
		upscale = upscale || d.reached[n.ID] && (n.Class == "ImageUpscaleWithModel" || strings.Contains(n.Class, "UltimateSDUpscale"))
	}
	switch {
	case upscale && !d.sampled:
		return "upscale"
	case image && !d.sampled && !d.needsText():
		return "image-processing"
	case image:
		return "image-to-image"
	case !d.sampled && !d.needsText():
		return "image-processing"
	}
	return "text-to-image"
}
