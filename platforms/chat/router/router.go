package router

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/menus"
	"github.com/signalbox/signalbox/platforms/chat/results"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// Config is what a Router works with. The members up to Logger are required.
type Config struct {
	Deliverer *show.Deliverer // has the adapters, too
	Pool      *pgxpool.Pool
	Tools     turn.Tools
	Runs      turn.Runs
	Accounts  turn.Accounts
	Wallets   turn.Wallets
	Groups    turn.Groups
	Logger    *slog.Logger

	Operator    turn.Operator
	Near        catalog.Nearness // nil: tools are searched by words alone
	DefaultTool turn.Saying      // see turn.Services
	Example     func(language string) (turn.Example, error)
	Agent       turn.Agent      // nil: no model is connected
	Site        turn.Site       // nil: there is none
	Missions    turn.Missions   // nil: there are none
	Exports     turn.Exports    // nil: nobody gets an archive
	Moderation  turn.Moderation // nil: nothing is reported
	// Acknowledged is told how long after an update's reception its sender first heard of it; nil: nobody is.
	Acknowledged func(platform string, after time.Duration)
	// Privately says something to the owner of an account where nobody else reads it; nil: nobody can.
	Privately func(ctx context.Context, accountID, text string) error

	Concurrency int           // updates of one platform handled at once; default 32
	Waiting     int           // updates of one platform waiting in memory; default 10,000
	AlbumWait   time.Duration // how long parts of an album, or of a text, are waited for; default 1 s
	AnswerWait  time.Duration // how long a question stays open; default 10 min

	Clock clock.Clock // what repeats wait by; nil: the system's
}

// Router turns what people write into runs and answers them, on all platforms at once. It is a Receiver.
type Router struct {
	cfg      Config
	services *turn.Services
	presses  map[string]press
	process  *claims.Process // the sign of life behind what this Router has claimed
	inbox    inbox

	mu       sync.Mutex
	queues   map[string]*queues // by platform: one that lets us write slowly holds up no other; set by Start
	stopping chan struct{}      // closed by Stop
	stopped  context.CancelCauseFunc
	wg       sync.WaitGroup // what goes on beside the queues: pruning, commands, what turns leave behind
}

var _ chat.Receiver = (*Router)(nil)

// How long the platform's wish to be left alone is respected, and a database that is away is waited for, before an answer is given up.
const (
	handleAttempts = 4
	longestWait    = time.Minute
	awayFor        = 20 * time.Second
	awayPause      = 500 * time.Millisecond
)

// NewRouter makes a Router; Start sets it to work.
func NewRouter(cfg Config) (*Router, error) {
	switch {
	case cfg.Deliverer == nil || cfg.Pool == nil || cfg.Tools == nil || cfg.Runs == nil:
		return nil, errors.New("chat: Deliverer, Pool, Tools and Runs are needed")
	case cfg.Accounts == nil || cfg.Wallets == nil || cfg.Groups == nil || cfg.Logger == nil:
		return nil, errors.New("chat: Accounts, Wallets, Groups and Logger are needed")
	}
	cfg.Concurrency = defaultTo(cfg.Concurrency, 32)
	cfg.Waiting = defaultTo(cfg.Waiting, 10_000)
	cfg.AlbumWait = defaultTo(cfg.AlbumWait, time.Second)
	cfg.AnswerWait = defaultTo(cfg.AnswerWait, 10*time.Minute)
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	d := cfg.Deliverer
	r := &Router{cfg: cfg, presses: presses(), inbox: inbox{cfg.Pool, d.Store().Writer, store.NewID(), newHeld()}}
	r.services = &turn.Services{
		Deliverer: d, Progress: show.NewProgress(d, cfg.Runs), Store: d.Store(), Texts: d.Texts(), Tools: cfg.Tools, Runs: cfg.Runs,
		Accounts: cfg.Accounts, Wallets: cfg.Wallets, Groups: cfg.Groups, Operator: cfg.Operator, Near: cfg.Near, DefaultTool: cfg.DefaultTool, Example: cfg.Example, Agent: cfg.Agent, Site: cfg.Site, Missions: cfg.Missions, Exports: cfg.Exports, Moderation: cfg.Moderation,
		Commands: ownCommands(cfg.Operator, rooms{site: cfg.Site != nil, agent: cfg.Agent != nil, missions: cfg.Missions != nil, exports: cfg.Exports != nil, moderation: cfg.Moderation != nil}), Log: cfg.Logger.With("component", "chat"),
		AnswerWait: cfg.AnswerWait, Acknowledged: cfg.Acknowledged, Answered: r.inbox.answered, Go: r.wg.Go,
	}
	r.process = claims.NewProcess(claims.ProcessConfig{
		Pool: cfg.Pool, Log: r.services.Log, ID: r.inbox.claimant, Table: "chat_routers", Lock: locks.Router, Again: r.freeOrphans, Release: r.inbox.release,
	})
	return r, nil
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
	if r.queues != nil {
		return errors.New("chat: started twice")
	}
	active, err := r.activeRuns(ctx)
	if err != nil {
		return err
	}
	if err := r.process.Begin(ctx); err != nil {
		return err
	}
	r.freeOrphans(ctx)
	left := map[string][]turn.Update{}
	for _, platform := range r.services.Deliverer.Platforms() {
		list, err := r.inbox.take(ctx, platform, math.MaxInt32)
		if err != nil {
			r.process.Abandon(ctx) // with it our claims are void
			return err
		}
		left[platform] = list
	}
	working, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	r.stopped, r.stopping = stop, make(chan struct{})
	r.queues = map[string]*queues{}
	for platform, list := range left {
		// What is left over fits in any case, so that the start can't block.
		l := newQueues(working, r.cfg.Concurrency, r.cfg.Waiting+len(list), r.cfg.AlbumWait, r.services.Deliverer.Platform(platform).Caps.SplitsAt, r.handle)
		r.queues[platform] = l
		if err := l.reserve(working, len(list)); err != nil {
			return err
		}
		l.add(list...)
		r.wg.Go(func() { r.takeOver(working, platform, l) })
	}
	for _, run := range active {
		r.services.Progress.Resume(working, run)
	}
	r.wg.Go(func() { r.process.Keep(working) })
	r.wg.Go(func() { r.keepTidy(working) })
	r.wg.Go(func() { keepCommands(working, r.services) })
	return nil
}

// freeOrphans frees what Routers on the same database had claimed that are gone.
func (r *Router) freeOrphans(ctx context.Context) {
	err := r.inbox.meet(ctx)
	if err == nil {
		_, err = r.process.TakeOver(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.services.Log.WarnContext(ctx, "updates of processes that are gone were not looked for", "error", err)
	}
}

// takeOverEvery is how often a Router looks for what others have left behind.
const takeOverEvery = 2 * time.Second

// takeOver handles a platform's updates that Routers on the same database have left behind.
func (r *Router) takeOver(ctx context.Context, platform string, l *queues) {
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
		err := r.inbox.freeLost(ctx, platform)
		var left []turn.Update
		if err == nil {
			left, err = r.inbox.take(ctx, platform, r.cfg.Waiting)
		}
		if err == nil {
			err = l.reserve(ctx, len(left))
		}
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, errStopping) {
				r.services.Log.WarnContext(ctx, "updates left over were not looked for", "error", err)
			}
			continue
		}
		l.add(left...)
	}
}

// softStop is how long a stop lets handlers end by themselves: a platform that is slow to take what they say would hold up all that stops after them.
const softStop = 3 * time.Second

// Stop takes nothing more, lets what is being handled end within softStop, breaks off the rest, and waits. What was received and not
// handled is taken up at the next start. An error says that ctx ended before.
func (r *Router) Stop(ctx context.Context) error {
	r.mu.Lock()
	queues := r.queues
	if queues == nil {
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
		for _, l := range queues {
			all.Go(l.stop)
		}
		all.Wait()
		r.stopped(errStopping)
		r.wg.Wait()
		r.services.Progress.Wait()
		r.giveBack(context.WithoutCancel(ctx))
	}()
	soft := time.NewTimer(softStop)
	defer soft.Stop()
	select {
	case <-done:
		return nil
	case <-soft.C:
	case <-ctx.Done():
	}
	r.stopped(errStopping)
	<-done
	return context.Cause(ctx)
}

// giveBack lets other Routers have at once what was not handled here.
func (r *Router) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := r.process.End(ctx, true); err != nil {
		r.services.Log.WarnContext(ctx, "updates that were not handled wait until others look for them", "error", err)
	}
}

// Receive stores updates and sees to it that they are handled, each once.
func (r *Router) Receive(ctx context.Context, platform string, updates ...chat.Incoming) error {
	if r.services.Deliverer.Platform(platform) == nil {
		return fmt.Errorf("updates from %q, which is no platform here", platform)
	}
	r.mu.Lock()
	l := r.queues[platform]
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
func (r *Router) signCommands(ctx context.Context, stored []turn.Update) {
	ctx = context.WithoutCancel(ctx) // a webhook's request ends before
	tools := r.services.Tools.Snapshot()
	for _, u := range stored {
		t := r.turn(&u, tools)
		if t.IsForTool() && !t.Overheard() {
			r.wg.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, signLimit)
				defer cancel()
				if err := t.Out.Working(ctx, t.In.Chat.Place, chat.ActivityTyping); err != nil {
					r.services.Log.DebugContext(ctx, "no sign of work", "error", err)
				}
			})
		}
	}
}

// handle does what an update asks for. An update whose handling was broken off by a stop stays open; one
// that failed is over, and the person is told.
func (r *Router) handle(ctx context.Context, u turn.Update) {
	t := r.turn(&u, r.services.Tools.Snapshot())
	if moved, err := follow(ctx, t); err != nil || moved && u.Kind == chat.KindMembership { // who comes and goes in a former chat is of no interest
		r.conclude(ctx, t, err)
		return
	}
	err := r.patiently(ctx, t)
	if rest := t.In.GoesOn; rest != nil && err == nil {
		r.wg.Go(func() { r.conclude(ctx, t, sheltered(func() error { return rest(ctx) })) })
		return
	}
	r.conclude(ctx, t, err)
}

// follow turns to the chat that goes on in place of the one where an update came from. Its message stays where it is.
func follow(ctx context.Context, t *turn.Turn) (moved bool, err error) {
	teller, ok := t.Out.Adapter.(chat.MoveTeller)
	if !ok || t.In.Chat.Kind == chat.ChatPrivate {
		return false, nil
	}
	now, err := teller.Present(ctx, t.In.Chat.Chat)
	if err != nil || now == t.In.Chat.Chat {
		return false, err
	}
	t.In.Chat.Place = chat.Place{Chat: now}
	return true, nil
}

// conclude ends the handling of an update.
func (r *Router) conclude(ctx context.Context, t *turn.Turn, err error) {
	u := *t.In
	if ctx.Err() != nil || errors.Is(err, errStopping) {
		return
	}
	if errors.Is(err, chat.ErrNoRight) && u.Chat.Kind != chat.ChatPrivate && t.Account.ID != "" && r.cfg.Privately != nil {
		r.tellPrivately(ctx, t)
	} else if errors.Is(err, chat.ErrLateForm) {
		r.services.Log.InfoContext(ctx, "a dialog came too late", "platform", u.Platform, "update", u.IDs[0])
		_ = t.Answer(ctx, t.Say.Line("press.lateForm"), true)
	} else if err != nil {
		code := turn.ErrorCode()
		r.services.Log.ErrorContext(ctx, "an update failed", "code", code, "platform", u.Platform, "update", u.IDs[0], "kind", u.Kind, "error", err)
		apologise(ctx, t, err, code)
	}
	if err := r.inbox.handled(ctx, u); err != nil {
		r.services.Log.ErrorContext(ctx, "an update may be handled again", "update", u.IDs[0], "error", err)
	}
}

// tellPrivately tells somebody in private that the bot may not write where they wrote.
func (r *Router) tellPrivately(ctx context.Context, t *turn.Turn) {
	r.services.Log.InfoContext(ctx, "the bot may not write in a chat", "platform", t.In.Platform, "chat", t.In.Chat.Chat)
	text := t.Say.Line("result.mayNotWriteThere")
	if t.In.Chat.Title != "" {
		text = t.Say.Line("result.mayNotWrite", "chat", t.In.Chat.Title)
	}
	if t.In.Press != nil {
		_ = t.Answer(ctx, text, true) // harmless where the press was answered before
	} else if t.Out.Caps.Ephemeral { // the platform has a way to this person
		if _, err := t.Out.Post(ctx, chat.Message{To: t.In.Chat.Place, Text: chat.Plain(text), OnlyFor: t.In.From.ExternalID}); err == nil {
			return
		}
	}
	if err := r.cfg.Privately(ctx, t.Account.ID, text); err != nil {
		r.services.Log.WarnContext(ctx, "nobody was told that the bot may not write", "error", err)
	}
}

// keepTidy prunes what is old, now and then.
func (r *Router) keepTidy(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		err := errors.Join(r.inbox.prune(ctx), r.services.Store.Prune(ctx))
		if err != nil && ctx.Err() == nil {
			r.services.Log.WarnContext(ctx, "old chat data was not removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// turn begins the handling of an update with the tools that there are.
func (r *Router) turn(u *turn.Update, tools *catalog.Snapshot) *turn.Turn {
	t := &turn.Turn{Services: r.services, Out: r.services.Deliverer.Platform(u.Platform), In: u, Written: tools}
	t.Speak(u.From.Language)
	return t
}

// patiently handles the update and, where the platform refuses to be written to for a while or the database is away, handles it
// again later: whatever it starts is started once.
func (r *Router) patiently(ctx context.Context, t *turn.Turn) error {
	began := r.cfg.Clock.Now()
	for attempt := 1; ; attempt++ {
		err := sheltered(func() error { return r.handleOnce(ctx, t) })
		var wait time.Duration
		var refused *registry.Error
		switch limited := errors.As(err, &refused) && refused.Code == registry.CodeRateLimited && refused.RetryAfter > 0; {
		case limited && attempt < handleAttempts && refused.RetryAfter <= longestWait:
			wait = refused.RetryAfter
		case postgres.Away(err) && t.Repeatable() && r.cfg.Clock.Now().Sub(began) < awayFor:
			wait = awayPause
		default:
			return err
		}
		select {
		case <-r.cfg.Clock.After(wait):
		case <-r.stopping:
			return errStopping
		}
	}
}

// sheltered makes an error of a panic, since one bad message must not stop the program.
func sheltered(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

// handleOnce handles the update.
func (r *Router) handleOnce(ctx context.Context, t *turn.Turn) (err error) {
	if t.In.Kind == chat.KindEdited {
		if anew, err := corrected(ctx, t); !anew || err != nil {
			return err
		}
	}
	if t.Overheard() {
		return nil
	}
	if t.In.Membership == chat.MemberRemoved && t.In.Chat.Kind != chat.ChatPrivate {
		return menus.GroupLeft(ctx, t) // whoever did it
	}
	if t.Account, err = t.Services.Accounts.Identify(ctx, t.In.From); err != nil {
		return fmt.Errorf("identify the sender: %w", err)
	}
	t.Speak(t.Language())
	switch t.In.Kind {
	case chat.KindMessage:
		said := wordsHash(t) // commands take their words apart
		came, err := handleMessage(ctx, t)
		if err != nil {
			return err
		}
		markRefused(ctx, t, came, said)
	case chat.KindPress, chat.KindForm:
		return handlePress(ctx, t, r.presses)
	case chat.KindMembership:
		return handleMembership(ctx, t)
	case chat.KindPlaced:
		return notePlace(ctx, t)
	}
	return nil
}

// corrected reports whether an edited message is to be handled as if it were new: a command, where what stood there
// before is known to have led to nothing. All others are left alone: what was edited must not run, or cost, a second time.
func corrected(ctx context.Context, t *turn.Turn) (bool, error) {
	if t.In.Command == "" {
		return false, nil
	}
	whose, said, err := t.Services.Store.Marks.Of(ctx, store.MarkRefused, t.In.Platform, t.In.Chat.Chat, t.In.Message.ID)
	if whose == "" || err != nil {
		return false, err
	}
	if bytes.Equal(said, wordsHash(t)) { // platforms tell of edits that no person made, as of a link's preview
		return false, nil
	}
	t.In.Kind, t.In.Edited = chat.KindMessage, true
	return true, nil
}

// wordsHash is the hash of the message's words.
func wordsHash(t *turn.Turn) []byte {
	sum := sha256.Sum256([]byte(t.In.Command + "\x00" + t.In.Text))
	return sum[:]
}

// markRefused remembers a message that led to nothing, so that it can be corrected, and forgets one that was. said is the hash
// of its words, as they came.
func markRefused(ctx context.Context, t *turn.Turn, came turn.Outcome, said []byte) {
	var err error
	switch {
	case came == turn.Began && t.In.Edited:
		err = t.Services.Store.Marks.Clear(ctx, t.In.Platform, t.In.Chat.Chat, t.In.Message.ID)
	case came == turn.Nothing:
		err = t.Services.Store.Marks.Set(ctx, store.MarkRefused, t.In.Platform, t.In.Chat.Chat, t.In.Message.ID, t.Account.ID, said)
	}
	if err != nil { // the answer was given
		t.Services.Log.WarnContext(ctx, "a message can't be corrected by editing it", "error", err)
	}
}

// handleMessage handles a message: a command, an answer, or neither.
func handleMessage(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	if err := results.OfferMissed(ctx, t); err != nil {
		t.Services.Log.WarnContext(ctx, "missed results were not offered", "error", err)
	}
	if t.In.Edited && t.In.Album != "" {
		return turn.Nothing, t.Tell(ctx, "edited.album") // only one of its files comes with it
	}
	if t.In.Command != "" {
		return handleCommand(ctx, t)
	}
	for _, answer := range []func(context.Context, *turn.Turn) (bool, error){answerRepliedQuestion, answerPrompt, answerQuestion, results.Affirm} {
		if done, err := answer(ctx, t); done || err != nil {
			return turn.Answered, err
		}
	}
	return chatter(ctx, t)
}

// handleMembership: somebody who comes back is offered what was missed.
func handleMembership(ctx context.Context, t *turn.Turn) error {
	if t.In.Membership != chat.MemberJoined || t.In.Chat.Kind != chat.ChatPrivate {
		return nil
	}
	return results.OfferMissed(ctx, t)
}

// apologise sends the apology, as far as that is possible.
func apologise(ctx context.Context, t *turn.Turn, cause error, code string) {
	if errors.Is(cause, chat.ErrUnreachable) || t.In.Kind == chat.KindMembership {
		return
	}
	text, unsure := t.Apology(code), !t.In.Answer.IsZero() && postgres.Away(cause)
	switch {
	case unsure: // there may be a run, whose state or result stands there
		text = chat.Lines(t.Say.Text("error.unsure"), t.Say.Text("support.code", "code", code))
	case !t.In.Answer.IsZero(): // one message a request, and what stands there did not come true
		if _, err := t.Change(ctx, t.In.Answer, t.Answering(text)); err == nil {
			return
		}
	}
	if t.In.Press != nil && !unsure {
		// Harmless where the press was answered before.
		_ = t.Answer(ctx, text.String(), true)
		return
	}
	if t.In.Command == "" && t.In.Chat.Kind != chat.ChatPrivate && !unsure {
		return
	}
	t = t.Aside()
	if _, err := t.Reply(ctx, text); err != nil {
		t.Services.Log.WarnContext(ctx, "the apology was not delivered", "error", err)
	}
}

// PartyOver tells a group that its party is over.
func (r *Router) PartyOver(ctx context.Context, e groups.Ended) error {
	var where store.Target
	if err := decimal.Unmarshal(e.Chat, &where); err != nil {
		return err
	}
	platform := r.services.Deliverer.Platform(e.Platform)
	if platform == nil {
		return fmt.Errorf("%s is no platform here", e.Platform)
	}
	_, err := platform.Post(ctx, chat.Message{To: where.Chat.Place, Text: menus.PartyOver(r.services.Deliverer.Voice(where.Language), e)})
	if errors.Is(err, chat.ErrUnreachable) {
		return nil // the group is gone
	}
	return err
}

// activeRuns lists the runs of our platforms that are not over.
func (r *Router) activeRuns(ctx context.Context) ([]runs.Run, error) {
	var active []runs.Run
	for _, platform := range r.services.Deliverer.Platforms() {
		filter := runs.Filter{Platform: platform, Open: true, Limit: 200}
		for {
			page, err := r.services.Runs.List(ctx, filter)
			if err != nil {
				return nil, fmt.Errorf("list the runs to follow: %w", err)
			}
			active = append(active, page...)
			if len(page) < filter.Limit {
				break
			}
			filter.Before = page[len(page)-1].ID
		}
	}
	return active, nil
}
