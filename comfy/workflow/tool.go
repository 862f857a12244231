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

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/notes"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

func (d *definer) costing() *registry.CostingModel {
	m := &registry.CostingModel{Rate: d.o.Rate, Unit: registry.UnitSecond, RateSource: registry.RateStatic}
	if d.o.ByMachine {
		m.RateSource = registry.RateMachine
	}
	m.Fees = slices.ContainsFunc(d.f.Nodes, apiNode)
	return m
}

// tool puts the definition together.
func (d *definer) tool(outputs []binding.Output, needs Requirements) registry.Tool {
	t := registry.Tool{
		ToolID: ToolID(d.o.FileName), Service: d.o.Service, Description: d.notice.Description,
		Advice:       registry.Advice{Guidance: d.blueprint()},
		CostingModel: d.costing(),
		// An engine that is lost with a run costs its time; a paid service may have been paid.
		Execution:   registry.Execution{DeliveryMode: registry.DeliveryAsync, Idempotent: !slices.ContainsFunc(d.f.Nodes, apiNode)},
		Listing:     registry.Listing{Kind: "workflow"},
		InputSchema: registry.InputSchema{}, OutputSchema: d.results().outputSchema(outputs),
		Metadata: d.metadata(needs),
	}
	for _, f := range d.fields {
		t.InputSchema = append(t.InputSchema, f.InputField)
	}
	t.Category = d.category(outputs)
	t.PlatformHints = d.hints()
	t.CommandName = CommandName(t.ToolID)
	t.DisplayName = d.displayName()
	for _, dir := range d.notice.Directives {
		switch dir.Word {
		case "tool":
			d.toolDirective(&t, dir)
		case "bot":
			d.botDirective(&t, dir)
		}
	}
	t.Localized = d.localized(t)
	if t.Idempotent { // an engine that ran out of memory is asked once more, when it has let go of other models
		t.RetryPolicy = &registry.RetryPolicy{MaxAttempts: 2}
	}
	if t.Description != "" {
		t.Description += d.inputLine(t.Description)
	}
	switch {
	case len(d.f.Nodes) == 0:
		t.Status = registry.SayStatus(registry.StateUnavailable, said.ReasonNothing.With())
	case len(outputs) == 0 && !d.results().unknownEnd():
		t.Status = registry.SayStatus(registry.StateUnavailable, said.ReasonEmpty.With())
	}
	return t
}

// inputLine joins the notes with the inputs that were found. Where the notes explain the inputs themselves,
// it adds those that they do not name.
func (d *definer) inputLine(notes string) string {
	head, explained := "Inputs", inputParagraph.MatchString(notes)
	if explained {
		head = "More inputs"
	}
	var names []string
	for _, f := range d.fields {
		if !f.Advanced && !(explained && (mentions(notes, f.Label()) || mentions(notes, f.Name))) {
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
	return plain.Clip(plain.Line(notes.StripTags(d.w.Blueprint())), 500)
}

// ToolID makes a tool's id of a file's name: "Flux General.ui.json" gives "flux-general".
func ToolID(fileName string) string {
	base := filepath.Base(strings.ReplaceAll(fileName, `\`, "/"))
	lower := strings.ToLower(base)
	for _, end := range []string{".json", ".ui", ".api", ".apiwrapped", ".runpod", ".workflow"} {
		lower = strings.TrimSuffix(lower, end)
	}
	id := plain.Slug(lower, "-")
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
	name := strings.Trim(strings.ReplaceAll(plain.Slug(toolID, "_"), "-", "_"), "_")
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

func (d *definer) displayName() string {
	name := d.w.Title()
	if name == "" {
		base := filepath.Base(strings.ReplaceAll(d.o.FileName, `\`, "/"))
		base = strings.TrimSuffix(base, filepath.Ext(base))
		for _, end := range []string{".ui", ".api", ".workflow"} {
			base = strings.TrimSuffix(base, end)
		}
		name = strings.Join(strings.FieldsFunc(base, func(r rune) bool { return r == '_' || r == '-' || r == ' ' }), " ")
	}
	name = plain.Clip(plain.Line(notes.StripTags(name)), 80)
	if name == "" {
		return ToolID(d.o.FileName)
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (d *definer) toolDirective(t *registry.Tool, dir notes.Directive) {
	if id := plain.Slug(dir.Args["id"], "-"); id != "" {
		t.ToolID = id
		if dir.Args["command"] == "" {
			t.CommandName = CommandName(id)
		}
	}
	if c, ok := dir.Args["command"]; ok {
		if name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(c), "/")); strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && len(name) > 0 && len(name) <= 32 {
			t.CommandName = "/" + name
		} else {
			d.f.AddFinding("directive-value", graph.SeverityWarning, dir.Note, "@tool: the command "+plain.Quote(c)+" can't be used", "take 1 to 32 of a-z, 0-9 and _")
		}
	}
	if name := plain.Clip(plain.Line(notes.StripTags(dir.Args["name"])), 80); name != "" {
		t.DisplayName = name
	}
	if c := plain.Slug(dir.Args["category"], "-"); c != "" {
		t.Category = c
	}
	if keep, _ := dir.Flag("keep-workflow"); keep {
		t.Metadata[registry.KeepWorkflow] = true
	}
	if again, given := dir.Flag("repeat"); given {
		t.Idempotent = again
	}
	d.visibility(t, dir)
	d.follows(t, dir)
	d.cost(t, dir)
}

// follows reads what the tool does with another tool's result.
func (d *definer) follows(t *registry.Tool, dir notes.Directive) {
	word := registry.Follow(strings.ToLower(dir.Args["follows"]))
	if word == "" {
		return
	}
	if !slices.Contains(append(registry.Follows(), registry.FollowNone), word) {
		known := []string{string(registry.FollowNone)}
		for _, follow := range registry.Follows() {
			known = append(known, string(follow))
		}
		d.f.Findings = append(d.f.Findings, notes.Unknown(dir.Note, "follows "+string(word)+" in @tool", string(word), known, ""))
		return
	}
	t.Follows = word
}

func (d *definer) visibility(t *registry.Tool, dir notes.Directive) {
	v, ok := dir.Args["visibility"]
	if !ok {
		return
	}
	known := []string{string(registry.VisibilityPublic), string(registry.VisibilityInternal), string(registry.VisibilityHidden)}
	if !slices.Contains(known, strings.ToLower(v)) {
		d.f.Findings = append(d.f.Findings, notes.Unknown(dir.Note, "visibility "+v+" in @tool", v, known, ""))
		return
	}
	t.Visibility = registry.Visibility(strings.ToLower(v))
}

// cost reads cost=0.02 or 0.02/request, a price per run, and cost=0.0005/second, another rate for the time.
func (d *definer) cost(t *registry.Tool, dir notes.Directive) {
	text, ok := dir.Args["cost"]
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

func (d *definer) botDirective(t *registry.Tool, dir notes.Directive) {
	platform := plain.Slug(dir.Target, "_")
	hint := registry.DeliveryHint{Filename: safeFileName(dir.Args["filename"])}
	if as := strings.ToLower(dir.Args["send-as"]); as != "" {
		if slices.Contains(sendAs, as) {
			hint.SendAs = as
		} else {
			d.f.Findings = append(d.f.Findings, notes.Unknown(dir.Note, "send-as "+as+" in @bot", as, sendAs, ""))
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
	s = plain.Line(filepath.Base(strings.ReplaceAll(s, `\`, "/")))
	if s == "." || s == "/" || strings.HasPrefix(s, "..") {
		return ""
	}
	return plain.Clip(strings.Map(func(r rune) rune {
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
		if f.Type.IsMedia() && f.Role != registry.RoleOwn && (f.Required || h.PrimaryInput == "text" && !d.needsText()) {
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
func (d *definer) category(outputs []binding.Output) string {
	media := map[registry.InputType]bool{}
	for _, f := range d.fields {
		media[f.Type] = media[f.Type] || f.Role != registry.RoleOwn
	}
	kinds := map[string]bool{}
	for _, o := range outputs {
		kinds[d.f.ByID[o.Node].ResultKind()] = true
	}
	image, video := media[registry.TypeImage], media[registry.TypeVideo]
	if kinds[graph.KindImage] && d.animates() {
		kinds[graph.KindVideo] = true
	}
	switch {
	case kinds[graph.Kind3D]:
		return "3d"
	case kinds[graph.KindVideo] && video:
		return "video-to-video"
	case kinds[graph.KindVideo] && image:
		return "image-to-video"
	case kinds[graph.KindVideo] && media[registry.TypeAudio]:
		return "audio-to-video"
	case kinds[graph.KindVideo]:
		return "text-to-video"
	case kinds[graph.KindAudio] && media[registry.TypeAudio]:
		return "audio-to-audio"
	case kinds[graph.KindAudio]:
		return "text-to-audio"
	case kinds[graph.KindImage]:
		return d.imageCategory(image)
	case kinds[graph.KindText] && (image || video):
		return "image-to-text"
	case kinds[graph.KindText]:
		return "text"
	}
	return ""
}

// animates tells moving pictures that are saved as pictures.
func (d *definer) animates() bool {
	for _, n := range d.f.Nodes {
		if d.reached[n.ID] && (n.Class == "SaveAnimatedWEBP" || n.Class == "SaveAnimatedPNG") {
			return true
		}
	}
	return false
}

func (d *definer) imageCategory(image bool) string {
	upscale := false
	for _, n := range d.f.Nodes {
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
