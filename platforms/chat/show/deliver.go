package show

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// DelivererConfig is what a Deliverer works with. All but Link, Points, Tools and Places are required.
type DelivererConfig struct {
	Adapters []chat.Adapter
	Pool     *pgxpool.Pool
	Media    registry.MediaOpener
	Logger   *slog.Logger
	// Link gives a public address of a run's output, for files a platform does not take, or "".
	Link func(run runs.Run, output int) string
	// Points shows amounts in points as well; the zero value does not.
	Points billing.Points
	// Tools are those that can go on with results; nil: none is offered.
	Tools Catalogue
	// Places reports whether an account can put results into a site; nil: nobody can.
	Places func(ctx context.Context, accountID string) (bool, error)
}

// Deliverer shows results in chats. It is made before the runs service, which hands it what is over, and
// the Router after it.
type Deliverer struct {
	platforms map[string]*Platform // by platform
	store     *store.Store
	texts     *i18n.Catalogue
	live      liveMessages
	media     registry.MediaOpener
	link      func(runs.Run, int) string
	tools     Catalogue
	places    func(ctx context.Context, accountID string) (bool, error)
	log       *slog.Logger
}

// NewDeliverer makes a Deliverer for these adapters.
func NewDeliverer(cfg DelivererConfig) (*Deliverer, error) {
	if cfg.Pool == nil || cfg.Media == nil || cfg.Logger == nil {
		return nil, errors.New("chat: Pool, Media and Logger are needed")
	}
	texts, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	if cfg.Link == nil {
		cfg.Link = func(runs.Run, int) string { return "" }
	}
	d := &Deliverer{
		platforms: map[string]*Platform{}, store: store.New(cfg.Pool), texts: texts.WithUnit(cfg.Points.Unit()),
		media: cfg.Media, link: cfg.Link, tools: cfg.Tools, places: cfg.Places, log: cfg.Logger.With("component", "chat"),
	}
	for _, a := range cfg.Adapters {
		if d.platforms[a.Platform()] != nil {
			return nil, fmt.Errorf("chat: two adapters for %q", a.Platform())
		}
		d.platforms[a.Platform()] = newPlatform(a)
	}
	return d, nil
}

// Platforms names the platforms this Deliverer serves.
func (d *Deliverer) Platforms() []string { return slices.Sorted(maps.Keys(d.platforms)) }

// Platform gives the platform of a name; nil: it is not served here.
func (d *Deliverer) Platform(name string) *Platform { return d.platforms[name] }

// Store is where the Deliverer keeps what it must not forget.
func (d *Deliverer) Store() *store.Store { return d.store }

// Texts are the texts in all languages, with amounts as they are shown here.
func (d *Deliverer) Texts() *i18n.Catalogue { return d.texts }

// Voice gives the voice for the first of these languages that there are texts in; English where there is none.
func (d *Deliverer) Voice(languages ...string) Voice { return Voice{d.texts.Voice(languages...)} }

// Deliver shows a finished run where it was asked for, in place of its status message where that is
// possible. It may be called again after an error or a crash: what people see already is not shown again.
// An error that wraps runs.ErrUndeliverable means that the chat can't be reached; the result is then
// offered at the next contact.
func (d *Deliverer) Deliver(ctx context.Context, run runs.Run) error {
	s := d.platforms[run.Origin.Platform]
	where, err := store.TargetOf(run)
	if err != nil || s == nil {
		return fmt.Errorf("%w: no chat to deliver run %s to", runs.ErrUndeliverable, run.ID)
	}
	if where.Asked != "" && run.ConfirmedAt == nil && !HasFiles(run) {
		return nil // the answer of the model that asked tells it
	}
	if where.Quiet && run.Status != runs.StatusSucceeded {
		return nil // what it is part of tells it at its end
	}
	unlock := d.live.lock(run.ID)
	defer unlock()
	rec, err := d.store.Deliveries.Begin(ctx, run)
	if err != nil || rec.Finished {
		return err
	}
	// Several attempts must not add up to several messages, so each leaves its trace in rec.
	say := d.Voice(where.Language)
	w := showing{out: s.In(where.Chat), say: say, run: say.Read(run), where: where, rec: rec}
	err = d.show(ctx, &w)
	if errors.Is(err, chat.ErrNoRight) {
		err = d.showWithoutRight(ctx, &w, err)
	}
	if where.Chat.Inline != nil && errors.Is(err, chat.ErrUnreachable) { // its files can't get there, a text can
		err = errors.Join(err, d.main(ctx, &w, chat.Message{Text: chat.Lines(chat.Text{{Style: chat.StyleBold, Text: w.run.Tool.DisplayName}}, w.say.Text("inline.kept"))}))
	}
	if errors.Is(err, chat.ErrUnreachable) || errors.Is(err, chat.ErrNoRight) {
		return fmt.Errorf("%w: %w", runs.ErrUndeliverable, errors.Join(err, d.store.Deliveries.Miss(ctx, run.ID)))
	}
	if err != nil {
		return fmt.Errorf("deliver run %s: %w", run.ID, err)
	}
	return d.store.Deliveries.Finish(ctx, run.ID)
}

// ShowAgain shows once more how a run ended, as new messages where somebody asks for it by trigger.
func (d *Deliverer) ShowAgain(ctx context.Context, on *Platform, v Voice, run runs.Run, where store.Target, trigger *chat.Incoming) error {
	return d.showAgain(ctx, &showing{out: on.In(where.Chat), say: v, run: v.Read(run), where: where, trigger: trigger})
}

func (d *Deliverer) showAgain(ctx context.Context, w *showing) error {
	if err := d.show(ctx, w); err != nil {
		return err
	}
	if err := d.store.Deliveries.ShownAgain(ctx, w.run, w.out.Platform(), w.sent); err != nil { // it was shown
		d.log.WarnContext(ctx, "a reply to a result that was shown again does not find its run", "run", w.run.ID, "error", err)
	}
	return nil
}

// showWithoutRight tells which right is missing where files can't be sent, and lets the person try again.
func (d *Deliverer) showWithoutRight(ctx context.Context, w *showing, cause error) error {
	k, err := d.buttons(ctx, w, nil)
	if err != nil {
		return err
	}
	return d.main(ctx, w, chat.Message{
		Text:    chat.Lines(chat.Text{{Style: chat.StyleBold, Text: w.run.Tool.DisplayName}}, w.say.Text("result.noRight", "right", cause)),
		Buttons: [][]chat.Button{{{Label: w.say.Line("button.show"), Data: k.Data("show")}}},
	})
}

// showing is one attempt to show a finished run.
type showing struct {
	out   *Platform
	say   Voice
	run   runs.Run
	where store.Target
	// rec tells what was shown before; nil when somebody asked to see the result again.
	rec *store.Record
	// trigger is the update that asked to see it again.
	trigger *chat.Incoming
	// sent are the messages in which it was shown again.
	sent []chat.MessageRef
	// of is the number of the picture that is shown by itself, among those of its set; 0: all are shown.
	of, among int
}

// late tells that a run has taken so long that nobody would notice its end in place of the status message.
func (w *showing) late() bool {
	wait := w.out.Caps.NoticedFor
	return wait > 0 && w.rec != nil && w.run.EndedAt != nil && w.run.EndedAt.Sub(w.run.CreatedAt) > wait
}

// show shows a run's end. A file that the platform refuses for its size is replaced by a smaller one or a
// link.
func (d *Deliverer) show(ctx context.Context, w *showing) error {
	if w.run.Status != runs.StatusSucceeded {
		return d.showFailure(ctx, w)
	}
	tooLarge := map[string]bool{}
	for {
		r := d.compose(ctx, w.out, w.say, w.run, tooLarge)
		err := d.showResult(ctx, w, r)
		if !errors.Is(err, chat.ErrTooLarge) || len(tooLarge) > 0 || len(r.media) == 0 {
			return err
		}
		for _, m := range r.media {
			tooLarge[m.Ref] = true
		}
	}
}

func (d *Deliverer) showFailure(ctx context.Context, w *showing) error {
	k, err := d.buttons(ctx, w, nil)
	if err != nil {
		return err
	}
	text := chat.Lines(w.say.failure(w.run, w.where.Chat.Kind), w.noted(), w.again(w.say.Line("button.retry")))
	return d.main(ctx, w, chat.Message{Text: text, Buttons: w.say.FailureButtons(k)})
}

// buttons makes the keyboard of the message that shows the run's end.
func (d *Deliverer) buttons(ctx context.Context, w *showing, refs []chat.MessageRef) (store.Keyboard, error) {
	k := store.Keyboard{
		ID: store.NewID(), Platform: w.out.Platform(), AccountID: w.run.AccountID,
		State: store.KeyboardState{Run: w.run.ID, Tool: w.run.Tool.ToolID, Refs: refs, Of: w.of},
	}
	if w.run.Status == runs.StatusSucceeded {
		k.State.Next, k.State.Pictures, k.State.Placed = d.next(w.run), w.out.numbered(w.run), d.placed(ctx, w.run)
	}
	return k, d.store.Keyboards.Save(ctx, k)
}

// placed reports whether a run made pictures that its owner can put into the site.
func (d *Deliverer) placed(ctx context.Context, run runs.Run) bool {
	if d.places == nil || !slices.ContainsFunc(run.Outputs, func(o runs.Output) bool { return o.Media != "" && o.Type == "image" }) {
		return false
	}
	may, err := d.places(ctx, run.AccountID)
	if err != nil { // the result is shown all the same
		d.log.WarnContext(ctx, "who may use a result in the site is not known", "run", run.ID, "error", err)
	}
	return may && err == nil
}

// showResult shows outputs: one file or text in place of the status message; several as albums and single
// messages, followed by a message with the buttons, whereupon the status message goes.
func (d *Deliverer) showResult(ctx context.Context, w *showing, r result) error {
	labels := []string{w.say.Line("button.again")}
	state := store.KeyboardState{Next: d.next(w.run)}
	if HowToVary(w.run, state, w.of).Itself() { // what another tool takes is not this one's price
		labels = append(labels, w.say.Line("button.vary"))
	}
	text := chat.Lines(append([]chat.Text{w.say.caption(w.run), w.numbers(state), w.noted(), w.again(labels...)}, r.unsent...)...)
	if r.text.Len() > 0 {
		if whole := chat.Join("\n\n", r.text, text); !r.partial && whole.Len() <= w.textLimit(len(r.media)) {
			text = whole
		} else {
			r.media = append(r.media, r.rawFile())
			text = chat.Join("\n\n", r.text.Cut(max(0, min(600, w.textLimit(1)-text.Len()-2))), text)
		}
	}
	if n := len(r.media); n > 1 && w.where.Chat.Inline != nil {
		r.media, text = r.media[:1], chat.Lines(text, w.say.Text("inline.first", "all", n))
	}
	if len(r.media) == 0 || len(r.media) == 1 && (w.out.Caps.EditToMedia || w.where.Status.IsZero()) {
		k, err := d.buttons(ctx, w, nil)
		if err != nil {
			return err
		}
		return d.main(ctx, w, chat.Message{Text: text, Media: r.media, Buttons: w.say.ResultButtons(w.run, k)})
	}
	return d.showSeveral(ctx, w, r, text)
}

// numbers says which picture of a set this is, or what the buttons with numbers do.
func (w *showing) numbers(k store.KeyboardState) chat.Text {
	n := w.out.numbered(w.run)
	switch vary := eachVaries(w.run.Tool, k); {
	case w.of > 0:
		return w.say.Text("set.one", "n", w.of, "all", w.among)
	case n > 0 && vary:
		return chat.Join(" ", w.say.Text("set.single", "n", n), w.say.Text("set.vary", "n", n))
	case n > 0:
		return w.say.Text("set.single", "n", n)
	}
	return nil
}

// noteLimit bounds a note in a result, where there is less room than in a message of its own.
const noteLimit = 300

// noted is what was to be said at the start of the run.
func (w *showing) noted() chat.Text {
	var text chat.Text
	for _, note := range w.where.Notes {
		text = chat.Lines(text, chat.Plain(chat.Brief(note, noteLimit)))
	}
	return text
}

// again tells what the buttons below cost, where there are buttons.
func (w *showing) again(labels ...string) chat.Text {
	if w.out.Caps.Buttons.Rows == 0 {
		return nil
	}
	return w.say.repeatPrice(w.run, labels...)
}

// HasFiles reports whether a run has outputs that are files.
func HasFiles(run runs.Run) bool {
	for _, o := range run.Outputs {
		if o.Media != "" {
			return true
		}
	}
	return false
}

func (w *showing) textLimit(files int) int {
	if files > 0 {
		return w.out.Caps.CaptionLimit
	}
	return w.out.Caps.TextLimit
}

// showSeveral sends the files, then the message with text and buttons, and removes the status message. Where an album can
// have buttons, files that are one album are one message with them.
func (d *Deliverer) showSeveral(ctx context.Context, w *showing, r result, text chat.Text) error {
	groups := albums(r.media, w.out.Caps.AlbumMax)
	var together []chat.Media
	if w.out.Caps.AlbumButtons && len(groups) == 1 {
		together, groups = groups[0], nil
	}
	refs, doubtful, err := d.showFiles(ctx, w, groups)
	if err != nil {
		return err
	}
	k, err := d.buttons(ctx, w, refs)
	if err != nil {
		return err
	}
	m := chat.Message{Text: text, Media: together, Buttons: w.say.ResultButtons(w.run, k), Ping: w.pinged(w.late() || w.where.Status.IsZero())}
	if doubtful {
		m.Text = chat.Lines(text, w.say.Text("result.doubtful"))
		m.Buttons = append([][]chat.Button{{{Label: w.say.Line("button.show"), Data: k.Data("show")}}}, m.Buttons...)
	}
	sent, err := d.once(ctx, w, "summary", m)
	switch {
	case errors.Is(err, errDoubtful):
		err = d.offerAgain(ctx, w)
	case err == nil && len(sent) > 1: // Delete takes them all
		k.State.Refs = sent
		err = d.store.Keyboards.Save(ctx, k)
	}
	if err != nil || w.where.Status.IsZero() {
		return err
	}
	return w.out.Delete(ctx, w.where.Status)
}

// showFiles sends albums. What may have been sent before, and is not known to be, is doubtful.
func (d *Deliverer) showFiles(ctx context.Context, w *showing, groups [][]chat.Media) (refs []chat.MessageRef, doubtful bool, err error) {
	for i, group := range groups {
		sent, err := d.once(ctx, w, "files"+strconv.Itoa(i), chat.Message{Media: group})
		if errors.Is(err, errDoubtful) {
			doubtful = true
			continue
		}
		if err != nil {
			return nil, false, err
		}
		refs = append(refs, sent...)
	}
	return refs, doubtful, nil
}

// pinged is whom a new message notifies: who waits for it in a group, and nobody else.
func (w *showing) pinged(unnoticed bool) string {
	if !unnoticed || w.rec == nil || w.where.Chat.Kind == chat.ChatPrivate {
		return ""
	}
	return w.where.Person
}

// albums groups files that can be one message: pictures with videos, sounds, documents, each in order. What
// can't be in an album stands alone.
func albums(media []chat.Media, most int) [][]chat.Media {
	var groups [][]chat.Media
	open := map[chat.MediaKind]int{} // album kind -> its group that still has room
	for _, m := range media {
		kind := m.Kind
		if kind == chat.KindVideo {
			kind = chat.KindPhoto
		}
		i, ok := open[kind]
		if ok && len(groups[i]) < most && kind != chat.KindAnimation && kind != chat.KindVoice {
			groups[i] = append(groups[i], m)
			continue
		}
		open[kind] = len(groups)
		groups = append(groups, []chat.Media{m})
	}
	return groups
}

// main shows the message that the run's end consists of.
func (d *Deliverer) main(ctx context.Context, w *showing, m chat.Message) error {
	m.To = w.where.Chat.Place
	if of, ok := subjectOf(w.run); ok && w.rec != nil && len(m.Media) == 1 {
		return d.showVersion(ctx, w, of, m)
	}
	_, err := d.mainMessage(ctx, w, m)
	return err
}

// mainMessage shows a message in place of the status message, which may be repeated without harm, else as a new one, and gives
// where that is known.
func (d *Deliverer) mainMessage(ctx context.Context, w *showing, m chat.Message) (chat.MessageRef, error) {
	status := w.where.Status
	if w.rec != nil {
		// The fall-back was sent before: from then on it takes the place of the status message.
		if p := w.rec.Parts["main"]; len(p.Refs) > 0 {
			status = p.Refs[0]
		}
	}
	late := w.late()
	if w.out.Caps.Edit && !status.IsZero() && !late {
		shown, err := w.out.Edit(ctx, status, w.out.Fit(m))
		if !errors.Is(err, chat.ErrGone) {
			return shown, err
		}
	}
	m.Ping = w.pinged(true)
	sent, err := d.once(ctx, w, "main", m)
	if errors.Is(err, errDoubtful) {
		err = d.offerAgain(ctx, w)
	}
	if err == nil && late && !w.where.Status.IsZero() {
		err = w.out.Delete(ctx, w.where.Status)
	}
	if len(sent) == 0 {
		return chat.MessageRef{}, err
	}
	return sent[0], err
}

// offerAgain leaves it to the person whether a result that may have been shown is shown again. Unlike a result an offer may come twice, so it is
// made until the platform confirms it: what people hear of neither way is lost to them.
func (d *Deliverer) offerAgain(ctx context.Context, w *showing) error {
	const key = "offer"
	if w.rec.Parts[key].Sent {
		return nil
	}
	k, err := d.buttons(ctx, w, nil)
	if err != nil {
		return err
	}
	refs, err := w.out.Send(ctx, w.out.Fit(w.addressed(chat.Message{
		Text:    chat.Lines(chat.Text{{Style: chat.StyleBold, Text: w.run.Tool.DisplayName}}, w.say.Text("result.doubtful")),
		Buttons: [][]chat.Button{{{Label: w.say.Line("button.show"), Data: k.Data("show")}}},
	})))
	if err != nil {
		return err
	}
	return d.store.Deliveries.Note(context.WithoutCancel(ctx), w.rec, key, store.Part{Sent: true, Refs: refs})
}

// errDoubtful: the part may have been shown before a crash or a broken connection, so it is not sent again
// by itself.
var errDoubtful = errors.New("it is not known whether this was shown")

// addressed is a message for where the result goes.
func (w *showing) addressed(m chat.Message) chat.Message {
	m.To, m.ReplyTo, m.Trigger = w.where.Chat.Place, w.where.Request, w.trigger
	return m
}

// once sends a new message that belongs to a delivery, unless it was sent before.
func (d *Deliverer) once(ctx context.Context, w *showing, key string, m chat.Message) ([]chat.MessageRef, error) {
	m = w.addressed(m)
	if w.rec == nil {
		refs, err := w.out.Send(ctx, w.out.Fit(m))
		w.sent = append(w.sent, refs...)
		return refs, err
	}
	if p, ok := w.rec.Parts[key]; ok {
		if !p.Sent {
			return nil, errDoubtful
		}
		return p.Refs, nil
	}
	if err := d.store.Deliveries.Note(ctx, w.rec, key, store.Part{}); err != nil {
		return nil, err
	}
	refs, err := w.out.Send(ctx, w.out.Fit(m))
	// What became of it must be recorded, also when time is up.
	after := context.WithoutCancel(ctx)
	switch {
	case err == nil:
		return refs, d.store.Deliveries.Note(after, w.rec, key, store.Part{Sent: true, Refs: refs})
	case errors.Is(err, chat.ErrUncertain):
		return nil, errDoubtful
	case ctx.Err() != nil:
		return nil, err // broken off: nobody knows
	default:
		return nil, errors.Join(err, d.store.Deliveries.Forget(after, w.rec, key))
	}
}
