package chat

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Runs is what the Router needs of the runs service.
type Runs interface {
	Bind(ctx context.Context, q runs.Request) (runs.Bound, error)
	Quote(ctx context.Context, b runs.Bound) (billing.Quote, error)
	AcceptBound(ctx context.Context, b runs.Bound) (runs.Run, error)
	Confirm(ctx context.Context, runID, accountID string) (runs.Run, error)
	ConfirmBy(ctx context.Context, runID, accountID string, a runs.Affirmation) (runs.Run, error)
	Answer(ctx context.Context, runID, accountID, questionID string, reply registry.Reply) (runs.Run, error)
	Get(ctx context.Context, runID string) (runs.Run, error)
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
	Delete(ctx context.Context, runID, accountID string) error
	Usage(ctx context.Context, accountID string) (runs.Usage, error)
	MarkDelivered(ctx context.Context, runID string) error
	Subscribe(runID string) (<-chan runs.Run, func())
	PutMedia(ctx context.Context, accountID string, r io.Reader, name string) (string, registry.MediaInfo, error)
}

// Wallets tells what people have.
type Wallets interface {
	Balance(ctx context.Context, accountID string) (billing.Balance, error)
}

// Tools is the catalogue of tools; the registry is one.
type Tools interface {
	Snapshot() *catalog.Snapshot
}

// Operator is what those who run this bot say about it, each a text or an address. Where one is empty
// the command says what holds anyway and whom to ask.
type Operator struct {
	Support string // whom to ask about payments: /paysupport
	Terms   string // /terms
	Privacy string // /privacy
}

// Config is what a Router works with. The members up to Logger are required.
type Config struct {
	Deliverer *Deliverer // has the adapters, too
	Pool      *pgxpool.Pool
	Tools     Tools
	Runs      Runs
	Accounts  Accounts
	Wallets   Wallets
	Logger    *slog.Logger

	Operator Operator
	// Acknowledged is told how long after an update's reception its sender first heard of it; nil: nobody is.
	Acknowledged func(platform string, after time.Duration)

	Concurrency int           // updates of one platform handled at once; default 32
	Waiting     int           // updates of one platform waiting in memory; default 10,000
	AlbumWait   time.Duration // how long parts of an album are waited for; default 1 s
	AnswerWait  time.Duration // how long a question stays open; default 10 min
}

// Router turns what people write into runs and answers them, on all platforms at once. It is a Receiver.
type Router struct {
	cfg Config
	*desk
	presence *presence
	inbox    inbox
	prompts  prompts
	marks    marks
	uses     uses
	recents  recents
	warned   warned
	log      *slog.Logger

	following sync.Map // ids of the runs whose status messages are kept up to date

	mu       sync.Mutex
	lanes    map[string]*lanes // by platform: one that lets us write slowly holds up no other; set by Start
	stopping chan struct{}     // closed by Stop
	stopped  context.CancelCauseFunc
	wg       sync.WaitGroup // what goes on beside the lanes: following runs, pruning, commands
}

var _ Receiver = (*Router)(nil)

// How long the platform's wish to be left alone is respected before an answer is given up.
const (
	handleAttempts = 4
	longestWait    = time.Minute
)

// errStopping is the cause of what ends because the Router stops.
var errStopping = errors.New("the program is stopping")

// NewRouter makes a Router; Start sets it to work.
func NewRouter(cfg Config) (*Router, error) {
	switch {
	case cfg.Deliverer == nil || cfg.Pool == nil || cfg.Tools == nil || cfg.Runs == nil:
		return nil, errors.New("chat: Deliverer, Pool, Tools and Runs are needed")
	case cfg.Accounts == nil || cfg.Wallets == nil || cfg.Logger == nil:
		return nil, errors.New("chat: Accounts, Wallets and Logger are needed")
	}
	cfg.Concurrency = defaultTo(cfg.Concurrency, 32)
	cfg.Waiting = defaultTo(cfg.Waiting, 10_000)
	cfg.AlbumWait = defaultTo(cfg.AlbumWait, time.Second)
	cfg.AnswerWait = defaultTo(cfg.AnswerWait, 10*time.Minute)
	alive := newPresence(cfg.Pool)
	return &Router{
		cfg: cfg, desk: cfg.Deliverer.desk, presence: alive, inbox: inbox{cfg.Pool, cfg.Deliverer.writer, alive.id}, prompts: prompts{cfg.Pool}, marks: marks{cfg.Pool}, uses: newUses(cfg.Pool),
		log: cfg.Logger.With("component", "chat"),
	}, nil
}

func defaultTo[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Start takes up what was left over at the last stop: updates not handled, runs not over. It returns
// once the Router works; ctx is for the start only.
func (r *Router) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lanes != nil {
		return errors.New("chat: started twice")
	}
	if err := r.presence.begin(ctx); err != nil {
		return err
	}
	left := map[string][]received{}
	for _, platform := range r.platforms() {
		list, err := r.inbox.take(ctx, platform, math.MaxInt32)
		if err != nil {
			r.presence.end(ctx)
			return err
		}
		left[platform] = list
	}
	active, err := r.activeRuns(ctx)
	if err != nil {
		r.presence.end(ctx) // with it our claims are void
		return err
	}
	working, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	r.stopped, r.stopping = stop, make(chan struct{})
	r.lanes = map[string]*lanes{}
	for platform, list := range left {
		// What is left over fits in any case, so that the start can't block.
		l := newLanes(working, r.cfg.Concurrency, r.cfg.Waiting+len(list), r.cfg.AlbumWait, r.handle)
		r.lanes[platform] = l
		if err := l.reserve(working, len(list)); err != nil {
			return err
		}
		l.add(list...)
		r.wg.Go(func() { r.takeOver(working, platform, l) })
	}
	for _, run := range active {
		r.resume(working, run)
	}
	r.wg.Go(func() { r.presence.keep(working, r.log) })
	r.wg.Go(func() { r.keepTidy(working) })
	r.wg.Go(func() { r.keepCommands(working) })
	return nil
}

// takeOverEvery is how often a Router looks for what others have left behind.
const takeOverEvery = 2 * time.Second

// takeOver handles a platform's updates that Routers on the same database have left behind.
func (r *Router) takeOver(ctx context.Context, platform string, l *lanes) {
	tick := time.NewTicker(takeOverEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.stopping:
			return
		case <-tick.C:
		}
		left, err := r.inbox.take(ctx, platform, r.cfg.Waiting)
		if err == nil {
			err = l.reserve(ctx, len(left))
		}
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, errStopping) {
				r.log.WarnContext(ctx, "updates left over were not looked for", "error", err)
			}
			continue
		}
		l.add(left...)
	}
}

// Stop takes nothing more, lets what is being handled end within ctx, and waits. What was received and not
// handled is taken up at the next start.
func (r *Router) Stop(ctx context.Context) error {
	r.mu.Lock()
	lanes := r.lanes
	if lanes == nil {
		r.mu.Unlock()
		return nil
	}
	select {
	case <-r.stopping:
	default:
		close(r.stopping)
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all sync.WaitGroup
		for _, l := range lanes {
			all.Go(l.stop)
		}
		all.Wait()
		r.stopped(errStopping)
		r.wg.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		r.stopped(errStopping)
		<-done
		return context.Cause(ctx)
	}
}

// Receive stores updates and sees to it that they are handled, each once.
func (r *Router) Receive(ctx context.Context, platform string, updates ...Incoming) error {
	if _, ok := r.surfaces[platform]; !ok {
		return fmt.Errorf("updates from %q, which is no platform here", platform)
	}
	r.mu.Lock()
	l := r.lanes[platform]
	r.mu.Unlock()
	if l == nil {
		return errors.New("chat: updates before the start")
	}
	for part := range slices.Chunk(updates, r.cfg.Waiting) {
		// Room comes first: what is stored must be handled without waiting for the next start.
		if err := l.reserve(ctx, len(part)); err != nil {
			return fmt.Errorf("no room for updates from %s: %w", platform, err)
		}
		stored, err := r.inbox.store(ctx, platform, part)
		l.release(len(part) - len(stored))
		r.signCommands(ctx, stored)
		l.add(stored...)
		if err != nil {
			return err
		}
	}
	return nil
}

// signLimit bounds the showing of a sign of work.
const signLimit = 5 * time.Second

// signCommands shows for commands of tools that they have arrived. It comes with the reception: the handling may wait
// for others, when more people write than the platform lets us answer.
func (r *Router) signCommands(ctx context.Context, stored []received) {
	ctx = context.WithoutCancel(ctx) // a webhook's request ends before
	for _, u := range stored {
		t := &turn{Router: r, surface: r.surfaces[u.platform], in: u}
		if t.isForTool() && !t.overheard() {
			r.wg.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, signLimit)
				defer cancel()
				if err := t.Working(ctx, t.in.Chat.Place, ActivityTyping); err != nil {
					r.log.DebugContext(ctx, "no sign of work", "error", err)
				}
			})
		}
	}
}

// handle does what an update asks for. An update whose handling was broken off by a stop stays open; one
// that failed is over, and the person is told.
func (r *Router) handle(ctx context.Context, u received) {
	t := &turn{Router: r, surface: r.surfaces[u.platform], in: u, voice: r.voiceFor(u.From.Language)}
	err := t.patiently(ctx)
	if ctx.Err() != nil || errors.Is(err, errStopping) {
		return
	}
	if err != nil {
		code := errorCode()
		r.log.ErrorContext(ctx, "an update failed", "code", code, "platform", u.platform, "update", u.ids[0], "kind", u.Kind, "error", err)
		t.apologise(ctx, err, code)
	}
	if err := r.inbox.handled(ctx, u); err != nil {
		r.log.ErrorContext(ctx, "an update may be handled again", "update", u.ids[0], "error", err)
	}
}

// keepTidy prunes what is old, now and then.
func (r *Router) keepTidy(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		r.warned.prune(time.Now())
		err := errors.Join(r.inbox.prune(ctx), r.prompts.prune(ctx), r.questions.prune(ctx), r.marks.prune(ctx), r.keyboards.prune(ctx))
		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "old chat data was not removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// turn is one update being handled.
type turn struct {
	*Router
	*surface
	voice
	in      received
	account users.Account
	aside   bool   // answers are for the person only, where the platform can do that
	anew    bool   // this begins something else than what was asked before
	settled string // the question that was answered by this
	led     bool   // a run or a question came of this
	unread  bool   // nobody knew what to do with this
	edited  bool   // this is a message that led to nothing before
	heard   bool   // the sender has heard of this
}

// patiently handles the update and, where the platform refuses to be written to for a while, handles it
// again later: whatever it starts is started once.
func (t *turn) patiently(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := t.guarded(ctx)
		var refused *registry.Error
		limited := errors.As(err, &refused) && refused.Code == registry.CodeRateLimited && refused.RetryAfter > 0
		if !limited || attempt == handleAttempts || refused.RetryAfter > longestWait {
			return err
		}
		select {
		case <-time.After(refused.RetryAfter):
		case <-t.stopping:
			return errStopping
		}
	}
}

// guarded handles the update; a panic becomes an error, since one bad message must not stop the house.
func (t *turn) guarded(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if t.in.Kind == KindEdited {
		if anew, err := t.corrected(ctx); !anew || err != nil {
			return err
		}
	}
	if t.overheard() {
		return nil
	}
	if t.account, err = t.cfg.Accounts.Identify(ctx, t.in.From); err != nil {
		return fmt.Errorf("identify the sender: %w", err)
	}
	if t.account.Language != "" {
		t.voice = t.voiceFor(t.account.Language)
	}
	switch t.in.Kind {
	case KindMessage:
		said := t.said() // commands take their words apart
		if err := t.message(ctx); err != nil {
			return err
		}
		t.markRefused(ctx, said)
	case KindPress, KindForm:
		return t.press(ctx)
	case KindMembership:
		return t.membership(ctx)
	}
	return nil
}

// corrected reports whether an edited message is to be handled as if it were new: a command, where what stood there
// before is known to have led to nothing. All others are left alone: what was edited must not run, or cost, a second time.
func (t *turn) corrected(ctx context.Context) (bool, error) {
	if t.in.Command == "" {
		return false, nil
	}
	whose, said, err := t.marks.of(ctx, markRefused, t.in.platform, t.in.Chat.Chat, t.in.Message.ID)
	if whose == "" || err != nil {
		return false, err
	}
	if bytes.Equal(said, t.said()) { // platforms tell of edits that no person made, as of a link's preview
		return false, nil
	}
	t.in.Kind, t.edited = KindMessage, true
	return true, nil
}

// said is the hash of the message's words.
func (t *turn) said() []byte {
	sum := sha256.Sum256([]byte(t.in.Command + "\x00" + t.in.Text))
	return sum[:]
}

// markRefused remembers a message that led to nothing, so that it can be corrected, and forgets one that was. said is the hash
// of its words, as they came.
func (t *turn) markRefused(ctx context.Context, said []byte) {
	var err error
	switch {
	case t.led && t.edited:
		err = t.marks.clear(ctx, t.in.platform, t.in.Chat.Chat, t.in.Message.ID)
	case t.led, t.in.Command == "" && !t.unread:
	default:
		err = t.marks.set(ctx, markRefused, t.in.platform, t.in.Chat.Chat, t.in.Message.ID, t.account.ID, said)
	}
	if err != nil { // the answer was given
		t.log.WarnContext(ctx, "a message can't be corrected by editing it", "error", err)
	}
}

// overheard reports whether a message in a group was not said to the bot: it then neither answers nor takes
// note of who spoke.
func (t *turn) overheard() bool {
	if t.in.Kind != KindMessage || t.in.Chat.Kind == ChatPrivate || t.in.Addressed {
		return false
	}
	if t.in.Command == "" {
		return t.in.ReplyTo == nil || !t.in.ReplyTo.Own
	}
	if _, ours := t.houseCommand(t.in.Command); ours {
		return false
	}
	_, known := t.cfg.Tools.Snapshot().ByCommand(t.in.Command)
	return !known
}

// message handles a message: a command, an answer, or neither.
func (t *turn) message(ctx context.Context) error {
	if err := t.offerMissed(ctx); err != nil {
		t.log.WarnContext(ctx, "missed results were not offered", "error", err)
	}
	if t.edited && t.in.Album != "" {
		return t.tell(ctx, "edited.album") // only one of its files comes with it
	}
	if t.in.Command != "" {
		return t.command(ctx)
	}
	for _, answered := range []func(context.Context) (bool, error){t.answerRepliedQuestion, t.answerPrompt, t.answerQuestion} {
		if done, err := answered(ctx); done || err != nil {
			return err
		}
	}
	if affirmed, err := t.affirm(ctx); affirmed || err != nil {
		return err
	}
	return t.chatter(ctx)
}

// membership: somebody who comes back is offered what was missed.
func (t *turn) membership(ctx context.Context) error {
	if t.in.Membership != MemberJoined || t.in.Chat.Kind != ChatPrivate {
		return nil
	}
	return t.offerMissed(ctx)
}

// audience says which tools this person gets to see.
func (t *turn) audience() registry.Audience {
	if t.account.Operator {
		return registry.Insiders
	}
	return registry.Everyone
}

// reply answers the update's message.
func (t *turn) reply(ctx context.Context, text Text, rows ...[]Button) (MessageRef, error) {
	return t.post(ctx, t.answering(text, rows...))
}

// post sends a message that answers the update.
func (t *turn) post(ctx context.Context, m Message) (MessageRef, error) {
	m.Trigger = &t.in.Incoming
	ref, err := t.surface.post(ctx, m)
	return ref, t.acknowledged(err)
}

// answer answers the press, within the platform's limit.
func (t *turn) answer(ctx context.Context, text string, alert bool) error {
	return t.acknowledged(t.surface.answer(ctx, *t.in.Press, text, alert))
}

// acknowledged notes that the sender has heard of the update unless err says otherwise, and gives err back.
func (t *turn) acknowledged(err error) error {
	if err == nil && !t.heard && t.cfg.Acknowledged != nil && !t.in.at.IsZero() {
		t.cfg.Acknowledged(t.in.platform, time.Since(t.in.at))
	}
	t.heard = t.heard || err == nil
	return err
}

// change edits a message, because of the update.
func (t *turn) change(ctx context.Context, ref MessageRef, m Message) (MessageRef, error) {
	m.Trigger = &t.in.Incoming
	ref, err := t.surface.change(ctx, ref, m)
	return ref, t.acknowledged(err)
}

// only gives the person that an answer is for alone, or "" where all in the chat see it.
func (t *turn) only() string {
	if t.aside && t.in.Chat.Kind != ChatPrivate {
		return t.in.From.ExternalID
	}
	return ""
}

// respond sends a message that was drawn before as the answer to the update's message.
func (t *turn) respond(ctx context.Context, m Message) error {
	m.ReplyTo, m.OnlyFor = t.answering(nil).ReplyTo, t.only()
	_, err := t.post(ctx, m)
	return err
}

// answering is a message that answers the update's message; in private chats, where it is clear what is
// answered, it quotes nothing.
func (t *turn) answering(text Text, rows ...[]Button) Message {
	m := Message{To: t.in.Chat.Place, Text: text, Buttons: rows, OnlyFor: t.only()}
	if t.in.Chat.Kind != ChatPrivate && t.in.Kind == KindMessage {
		m.ReplyTo = t.in.Message
	}
	return m
}

// tell is reply for when the message's reference does not matter.
func (t *turn) tell(ctx context.Context, key string, pairs ...any) error {
	_, err := t.reply(ctx, t.say(key, pairs...))
	return err
}

// errorCode makes the code under which a failure of ours is found in the log.
func errorCode() string { return newID()[:6] }

// apology says that something failed on our side, and under which code support finds it.
func (t *turn) apology(code string) Text {
	return lines(t.say("error.internal"), t.say("support.code", "code", code))
}

// apologise sends the apology, as far as that is possible.
func (t *turn) apologise(ctx context.Context, cause error, code string) {
	if errors.Is(cause, ErrUnreachable) || t.in.Kind == KindMembership {
		return
	}
	if t.in.Press != nil {
		// Harmless where the press was answered before.
		_ = t.answer(ctx, t.apology(code).String(), true)
		return
	}
	if t.in.Command == "" && t.in.Chat.Kind != ChatPrivate {
		return
	}
	t.aside = true
	if _, err := t.reply(ctx, t.apology(code)); err != nil {
		t.log.WarnContext(ctx, "the apology was not delivered", "error", err)
	}
}

// keyboard makes the buttons' common state for a new message to this person.
func (t *turn) keyboard(state keyboardState) keyboard {
	return keyboard{id: newID(), platform: t.in.platform, accountID: t.account.ID, state: state}
}
