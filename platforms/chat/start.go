package chat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// draft is a run being put together. It is kept while a question is open.
type draft struct {
	Tool    string                         `json:"tool"`
	Values  map[runs.Source]map[string]any `json:"values"`
	Request MessageRef                     `json:"request"` // the message that asked for the run
	// Key makes the run that comes of the draft one, however often the draft is handled.
	Key    string   `json:"key"`
	Parent string   `json:"parent,omitempty"`
	Notes  []string `json:"notes,omitempty"` // hints to show with the next message
}

func (d *draft) set(from runs.Source, name string, value any) {
	if d.Values == nil {
		d.Values = map[runs.Source]map[string]any{}
	}
	if d.Values[from] == nil {
		d.Values[from] = map[string]any{}
	}
	d.Values[from][name] = value
}

func (d *draft) has(name string) bool {
	for _, values := range d.Values {
		if _, ok := values[name]; ok {
			return true
		}
	}
	return false
}

// newDraft begins a run of a tool for this update.
func (t *turn) newDraft(tool *registry.Tool) draft {
	return draft{
		Tool: tool.ToolID, Request: t.in.Message,
		Key: t.in.platform + ":" + t.in.Chat.Chat + ":" + t.in.Message.ID,
	}
}

// toolCommand starts a tool with what came after its command, with files, and with what is replied to.
func (t *turn) toolCommand(ctx context.Context, tool *registry.Tool, typed string) error {
	if refused, err := t.refuse(ctx, tool); refused || err != nil {
		return err
	}
	if err := t.prompts.abandon(ctx, t.in.platform, t.in.Chat.Chat, t.account.ID); err != nil {
		return err
	}
	d := t.newDraft(tool)
	if notice := tool.Notice(); notice != "" {
		d.Notes = append(d.Notes, t.deprecation(tool))
	}
	if hint := t.typed(&d, tool, typed); hint != nil {
		_, err := t.reply(ctx, hint)
		return err
	}
	hint, err := t.attached(ctx, &d, tool)
	if hint != nil || err != nil {
		return t.hintOr(ctx, hint, err)
	}
	if err := t.repliedTo(ctx, &d, tool); err != nil {
		return t.hintOr(ctx, nil, err)
	}
	return t.proceed(ctx, d)
}

// refuse tells why a tool can't be run now, if it can't.
func (t *turn) refuse(ctx context.Context, tool *registry.Tool) (bool, error) {
	if tool.Refusal(t.audience()) == nil {
		return false, nil
	}
	text := t.say("tool.unavailable", "tool", tool.DisplayName)
	if s := tool.Status; s != nil {
		if s.Reason != "" {
			text = lines(text, Plain(s.Reason))
		}
		if next, ok := t.cfg.Tools.Snapshot().ByID(s.Replacement); ok {
			text = lines(text, t.say("tool.instead", "command", commandOf(next)))
		}
	}
	_, err := t.reply(ctx, text)
	return true, err
}

func (t *turn) deprecation(tool *registry.Tool) string {
	text := t.say("tool.deprecated", "tool", tool.DisplayName)
	if tool.Status.Reason != "" {
		text = lines(text, Plain(tool.Status.Reason))
	}
	if next, ok := t.cfg.Tools.Snapshot().ByID(tool.Status.Replacement); ok {
		text = lines(text, t.say("tool.instead", "command", commandOf(next)))
	}
	return text.String()
}

// hintOr tells a hint, or what is wrong with a file; other errors stay errors.
func (t *turn) hintOr(ctx context.Context, hint Text, err error) error {
	var large *tooLarge
	switch {
	case errors.As(err, &large):
		hint = t.say("file.tooLarge", "limit", megabytes(large.limit))
	case errors.Is(err, ErrGone):
		hint = t.say("file.gone")
	case err != nil:
		return err
	}
	_, err = t.reply(ctx, hint)
	return err
}

func megabytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MB" }

// typed reads text and options. A hint says what is wrong with them.
func (t *turn) typed(d *draft, tool *registry.Tool, text string) (hint Text) {
	args, err := parseArguments(text, tool.InputSchema)
	var unknown *unknownOption
	var missing *missingValue
	switch {
	case errors.As(err, &unknown):
		return t.say("option.unknown", "option", unknown.name, "nearest", unknown.nearest)
	case errors.As(err, &missing):
		return t.say("option.empty", "option", missing.name)
	}
	for name, value := range args.values {
		if s, ok := value.(string); ok && registry.IsMediaRef(s) && strings.HasPrefix(s, "asset:") {
			return t.say("file.gone") // files of the house are given by hand, not by name
		}
		d.set(runs.FromArgument, name, value)
	}
	for name, value := range t.in.Options {
		if s, ok := value.(string); !ok || !strings.HasPrefix(s, "attachment:") {
			d.set(runs.FromArgument, name, value)
		}
	}
	if args.text == "" {
		return nil
	}
	if f, ok := freeInput(tool.InputSchema); !ok {
		d.Notes = append(d.Notes, t.line("hint.noText", "tool", tool.DisplayName))
	} else if !d.has(f.Name) {
		d.set(runs.FromArgument, f.Name, args.text)
	}
	return nil
}

// attached gives the files that came with the command to the inputs that take them.
func (t *turn) attached(ctx context.Context, d *draft, tool *registry.Tool) (hint Text, err error) {
	named := map[int]bool{}
	for name, value := range t.in.Options {
		i, ok := attachmentIndex(value)
		f, known := tool.InputSchema.Get(name)
		if !ok || !known || i >= len(t.in.Attachments) {
			continue
		}
		named[i] = true
		if err := t.take(ctx, d, runs.FromArgument, f, t.in.Attachments[i:i+1]); err != nil {
			return nil, err
		}
	}
	var files []Attachment
	for i, a := range t.in.Attachments {
		if !named[i] {
			files = append(files, a)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	if hints := tool.Hints(); !hints.SupportsFileCaption {
		if hints.SupportsReplyWithCommand {
			return t.say("hint.noCaptionButReply", "tool", tool.DisplayName, "command", commandOf(tool)), nil
		}
		return t.say("hint.noCaption", "tool", tool.DisplayName, "command", commandOf(tool)), nil
	}
	return nil, t.takeAll(ctx, d, runs.FromAttachment, tool, files)
}

// attachmentIndex reads "attachment:N".
func attachmentIndex(value any) (int, bool) {
	s, ok := value.(string)
	if !ok {
		return 0, false
	}
	digits, ok := strings.CutPrefix(s, "attachment:")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}

// repliedTo takes files, or the text, of the message that the command replies to.
func (t *turn) repliedTo(ctx context.Context, d *draft, tool *registry.Tool) error {
	q := t.in.ReplyTo
	if q == nil {
		return nil
	}
	if len(q.Attachments) > 0 {
		if !tool.Hints().SupportsReplyWithCommand {
			d.Notes = append(d.Notes, t.line("hint.noReply", "tool", tool.DisplayName))
			return nil
		}
		return t.takeAll(ctx, d, runs.FromReply, tool, q.Attachments)
	}
	f, ok := textInput(tool.InputSchema)
	if ok && q.Text != "" && !q.Own && !d.has(f.Name) {
		d.set(runs.FromReply, f.Name, q.Text)
	}
	return nil
}

// takeAll assigns files to inputs and fetches them. Files that no input takes are noted.
func (t *turn) takeAll(ctx context.Context, d *draft, from runs.Source, tool *registry.Tool, files []Attachment) error {
	assigned, rest := assignFiles(tool.InputSchema, files, d.has)
	for _, f := range tool.InputSchema.Ordered() {
		if len(assigned[f.Name]) == 0 {
			continue
		}
		if err := t.take(ctx, d, from, f, assigned[f.Name]); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		d.Notes = append(d.Notes, t.line("hint.filesLeft", "tool", tool.DisplayName, "n", len(rest)))
	}
	return nil
}

func (t *turn) take(ctx context.Context, d *draft, from runs.Source, f registry.InputField, files []Attachment) error {
	value, err := t.store(ctx, f, files)
	if err != nil {
		return err
	}
	d.set(from, f.Name, value)
	return nil
}

// proceed takes a draft as far as it goes: to a question about what is missing, or to a run.
func (t *turn) proceed(ctx context.Context, d draft) error {
	request := runs.Request{
		AccountID: t.account.ID, ToolID: d.Tool, Values: d.Values, Parent: d.Parent, IdempotencyKey: d.Key,
		Origin: runs.Origin{Platform: t.in.platform}, Audience: t.audience(),
	}
	bound, err := t.cfg.Runs.Bind(ctx, request)
	if err != nil {
		return t.notStarted(ctx, MessageRef{}, d, err)
	}
	if len(bound.Missing) > 0 {
		return t.ask(ctx, d, &bound.Tool, primaryFirst(&bound.Tool, bound.Missing))
	}
	quote, err := t.cfg.Runs.Quote(ctx, bound)
	if err != nil {
		t.log.WarnContext(ctx, "no quote for a run", "tool", d.Tool, "error", err)
	}
	return t.accept(ctx, d, bound, quote)
}

// accept shows the status message and asks for the run. The message comes first, so that the run knows
// from its first moment where its state is shown.
func (t *turn) accept(ctx context.Context, d draft, bound runs.Bound, quote billing.Quote) error {
	buttons := t.keyboard(keyboardState{Tool: d.Tool})
	pending := runs.Run{Tool: bound.Tool, Status: firstStatus(bound.Tool), Quote: quote}
	first := t.statusMessage(pending, buttons, d.Notes)
	first.To, first.ReplyTo = t.in.Chat.Place, d.Request
	status, err := t.postStatus(ctx, first)
	if err != nil {
		return fmt.Errorf("show the status of a run: %w", err)
	}
	where := target{Chat: t.in.Chat, Request: d.Request, Status: status, Language: t.language(), Person: t.in.From.ExternalID}
	bound.Request.Origin.Target = where.encode()
	run, err := t.cfg.Runs.AcceptBound(ctx, bound)
	if err != nil && ctx.Err() != nil {
		return err // taken up again at the next start, with this status message
	}
	if err != nil {
		return t.notStarted(ctx, status, d, err)
	}
	if kept, err := targetOf(run); err == nil && kept.Status.ID != status.ID {
		// The request was accepted before, and its state is shown there.
		return t.Delete(ctx, status)
	}
	buttons.state.Run = run.ID
	if err := t.keyboards.save(ctx, buttons); err != nil {
		t.log.WarnContext(ctx, "the buttons of a status message won't work", "run", run.ID, "error", err)
	}
	if err := t.uses.count(ctx, run.Tool.ToolID); err != nil {
		t.log.WarnContext(ctx, "the use of a tool was not counted", "error", err)
	}
	t.follow(ctx, run, where, buttons, d.Notes, first.Text.String())
	return nil
}

// postStatus posts a status message. One that was posted before a crash is used again, as it is: by now it may
// show the result.
func (t *turn) postStatus(ctx context.Context, m Message) (MessageRef, error) {
	if !t.in.answer.IsZero() {
		return t.in.answer, nil
	}
	ref, err := t.post(ctx, m)
	if err != nil {
		return ref, err
	}
	t.in.answer = ref
	return ref, t.inbox.answered(context.WithoutCancel(ctx), t.in, ref)
}

// firstStatus is the state a run of a tool begins in.
func firstStatus(tool registry.Tool) runs.Status {
	if tool.Confirmation != "" {
		return runs.StatusAwaitingConfirmation
	}
	return runs.StatusQueued
}

// language is the language this person is answered in.
func (t *turn) language() string {
	if t.account.Language != "" {
		return t.account.Language
	}
	return t.in.From.Language
}

// primaryFirst puts the kind of input the tool is mainly fed with (A36) before others.
func primaryFirst(tool *registry.Tool, missing []registry.InputField) []registry.InputField {
	primary := tool.Hints().PrimaryInput
	isPrimary := func(f registry.InputField) bool {
		return string(f.Type) == primary || primary == "text" && f.Type == registry.TypeString
	}
	sorted := slices.Clone(missing)
	slices.SortStableFunc(sorted, func(a, b registry.InputField) int {
		switch {
		case isPrimary(a) == isPrimary(b):
			return 0
		case isPrimary(a):
			return -1
		}
		return 1
	})
	return sorted
}

// notStarted says why no run came of a draft: in place of the status message where there is one.
func (t *turn) notStarted(ctx context.Context, status MessageRef, d draft, cause error) error {
	m, err := t.whyNotStarted(ctx, d, cause)
	if err != nil && status.IsZero() {
		return err
	}
	if err != nil {
		// One message per request, so the apology takes the place of the status message.
		code := errorCode()
		t.log.ErrorContext(ctx, "a run was not accepted", "code", code, "tool", d.Tool, "error", err)
		m.Text = lines(t.apology(code), t.say("nothing.charged"))
	}
	if status.IsZero() {
		m.ReplyTo = t.answering(nil).ReplyTo
		_, err = t.post(ctx, m)
		return err
	}
	_, err = t.change(ctx, status, m)
	return err
}

// whyNotStarted puts into words why a run was not accepted. A cause that is no answer to the request is
// given back as the error.
func (t *turn) whyNotStarted(ctx context.Context, d draft, cause error) (Message, error) {
	m := Message{To: t.in.Chat.Place}
	var short billing.ErrInsufficient
	var bad *registry.Error
	switch {
	case errors.As(cause, &short):
		m.Text = t.say("start.insufficient", "need", short.Need, "have", short.Have)
	case errors.Is(cause, runs.ErrUnknownTool):
		m.Text = t.say("tool.gone")
	case errors.As(cause, &bad) && bad.Code != registry.CodeInternal:
		m.Text = t.refusedInput(ctx, d, bad)
	default:
		return m, cause
	}
	m.Text = join("\n\n", t.notes(d.Notes), m.Text)
	return m, nil
}

// refusedInput says what is wrong with a value, and how the tool is used.
func (t *turn) refusedInput(ctx context.Context, d draft, bad *registry.Error) Text {
	text := Plain(sentence(bad.Message))
	tool, ok := t.cfg.Tools.Snapshot().Resolve(d.Tool)
	if !ok || bad.Field == "" {
		return lines(text, t.say("nothing.charged"))
	}
	if f, ok := tool.InputSchema.Get(bad.Field); ok {
		text = t.wrongValue(f, bad)
	}
	return lines(text, t.say("nothing.charged"), t.say("input.usage", "example", usage(tool)))
}

// wrongValue says what is wrong with the value of an input. In groups it does not repeat what somebody
// wrote, which the registry's own words may do.
func (t *turn) wrongValue(f registry.InputField, bad *registry.Error) Text {
	if t.in.Chat.Kind != ChatPrivate {
		return t.wrongKind(f)
	}
	text := Plain(sentence(bad.Message))
	if !strings.Contains(bad.Message, f.Label()) {
		text = append(Text{{Style: StyleBold, Text: f.Label()}, {Text: ": "}}, text...)
	}
	return text
}

// sentence gives a message a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	runes := []rune(s)
	runes[0] = []rune(strings.ToUpper(string(runes[0])))[0]
	s = string(runes)
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

// usage shows a command with its free text and up to three options.
func usage(tool *registry.Tool) string {
	parts := []string{commandOf(tool)}
	free, hasFree := freeInput(tool.InputSchema)
	if hasFree {
		parts = append(parts, "<"+strings.ToLower(free.Label())+">")
	}
	for _, f := range tool.InputSchema.Ordered() {
		if f.Type.IsMedia() || f.Advanced || hasFree && f.Name == free.Name || len(parts) > 4 {
			continue
		}
		if example := exampleOf(f); example != "" {
			parts = append(parts, optionName(f.Name)+"="+quoteIfNeeded(example))
		}
	}
	return strings.Join(parts, " ")
}

func quoteIfNeeded(s string) string {
	if strings.ContainsAny(s, " \t\n\"'") || s == "" {
		return strconv.Quote(s)
	}
	return s
}

func (t *turn) notes(notes []string) Text {
	return Plain(strings.Join(notes, "\n"))
}

// sign shows that the bot is at work, without making anybody wait for it.
func (t *turn) sign(ctx context.Context, what Activity) {
	t.wg.Go(func() {
		if err := t.Working(ctx, t.in.Chat.Place, what); err != nil {
			t.log.DebugContext(ctx, "no sign of work", "error", err)
		}
	})
}

// signForTool shows that a tool's command has arrived, before anything is looked up in the database. The bot's
// own commands are answered as quickly as a sign.
func (t *turn) signForTool(ctx context.Context) {
	if t.in.Kind != KindMessage || t.in.Command == "" {
		return
	}
	if _, ok := t.cfg.Tools.Snapshot().ByCommand(t.in.Command); ok || strings.EqualFold(t.in.Command, "run") {
		t.sign(ctx, ActivityTyping)
	}
}

// repeat makes a draft of an earlier run: what was given then counts again, what was drawn by chance is
// drawn anew.
func (t *turn) repeat(run runs.Run, key string) draft {
	d := draft{
		Tool: run.Tool.ToolID, Request: t.requestOf(run), Key: key, Parent: run.ID,
		Values: map[runs.Source]map[string]any{},
	}
	for name, value := range run.Inputs {
		switch from := run.Sources[name]; from {
		case runs.FromRandom, runs.FromDefault:
		default:
			d.set(from, name, value)
		}
	}
	if d.Values[runs.FromPreference] == nil {
		// Settings changed since then don't count.
		d.Values[runs.FromPreference] = map[string]any{}
	}
	return d
}

// requestOf is the message a repeated run answers: the one the first run answered, if it is in this chat.
func (t *turn) requestOf(run runs.Run) MessageRef {
	where, err := targetOf(run)
	if err != nil || where.Chat.Chat != t.in.Chat.Chat {
		return MessageRef{}
	}
	return where.Request
}

// freshSeed makes a draft draw its seeds anew.
func freshSeed(d *draft, schema registry.InputSchema) {
	for _, f := range schema {
		if !f.Seed {
			continue
		}
		for _, values := range maps.Clone(d.Values) {
			delete(values, f.Name)
		}
		d.set(runs.FromArgument, f.Name, "random")
	}
}
