package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// press is what a button does, and how often.
type press struct {
	do    func(ctx context.Context, t *turn, k store.Keyboard, n int) error
	often howOften
}

// howOften says what becomes of a button that is pressed more than once.
type howOften int

const (
	always howOften = iota // each press acts
	once                   // one press acts, whoever presses how often
	spared                 // each press acts, but a double press acts once: what it sends costs nothing
)

// presses is the table of the words that buttons carry. A word may be followed by a number, which do gets.
func presses() map[string]press {
	return map[string]press{
		"again":    {plain(pressAgain), once},
		"vary":     {plain(pressVary), once},
		"retry":    {plain(pressAgain), once},
		"settings": {plain(pressSettings), always},
		"original": {plain(pressOriginal), spared},
		"delete":   {plain(pressDelete), always},
		"show":     {plain(pressShow), spared},
		"follow":   {pressFollowUp, once},
		"missed":   {plain(pressMissed), once},
		"stop":     {plain(pressStop), always},
		"confirm":  {plain(pressConfirm), always},
		"stop#":    {pressStopListed, always},
		"no":       {plain(pressCancelPrompt), always},
		"c":        {pressChoice, always},
		"tool":     {pressTool, always},
		"list":     {pressList, always},
		"hist":     {pressHistory, always},
		"older":    {plain(pressOlder), always},
		"set":      {pressSetting, always},
		"val":      {pressValue, always},
		"page":     {pressPage, always},
		"reset":    {pressReset, always},
		"more":     {plain(pressAdvanced), always},
		"back":     {plain(pressBack), always},
		"close":    {plain(pressClose), always},
		"use":      {plain(pressUse), always},
		"with":     {pressWith, always},
		"join":     {plain(pressJoin), once},
		"merge":    {plain(pressMerge), once},
		"unlink":   {pressUnlink, always},
		"leave":    {pressLeave, once},
		"lang":     {pressLanguage, always},
		"langs":    {plain(pressLanguages), always},
		"preset":   {pressPreset, always},
		"erase":    {plain(pressErase), once},
		"ppage":    {pressPlacePage, always},
		"ptool":    {pressPlaceTool, always},
		"padult":   {plain(pressAdult), always},
		"preach":   {pressReach, always},
		"formall":  {plain(pressAllFields), always},
		"formset":  {pressSetting, always},
		"setform":  {plain(settingsFilled), always},
		"vals":     {plain(pressValues), always},
		"form":     {plain(pressAnswer), always},
		"answer":   {plain(answerFilled), always},
		"q":        {pressQuestionChoice, always},
		"qyes":     {plain(pressAgree), always},
		"qno":      {plain(pressDecline), always},
		"qskip":    {plain(pressSkip), always},
		"qform":    {plain(pressQuestionForm), always},
		"qanswer":  {plain(questionFilled), always},
	}
}

// plain makes a press of what takes no number.
func plain(do func(context.Context, *turn, store.Keyboard) error) func(context.Context, *turn, store.Keyboard, int) error {
	return func(ctx context.Context, t *turn, k store.Keyboard, _ int) error { return do(ctx, t, k) }
}

// handlePress handles a pressed button: it must be one of ours, the person's own, and not spent.
func (r *Router) handlePress(ctx context.Context, t *turn) error {
	id, action, ok := store.ParseData(t.in.Press.Data)
	if !ok {
		return t.alert(ctx, "press.tooOld")
	}
	k, err := findKeyboard(ctx, t, id)
	if errors.Is(err, store.ErrTooOld) {
		return t.alert(ctx, "press.tooOld")
	}
	if err != nil {
		return err
	}
	word := strings.TrimRight(action, "0123456789")
	n := chosenNumber(action[len(word):], t.in.Press.Values)
	if !t.owns(ctx, k) && (word != "delete" || !t.byAdmin(ctx)) {
		return t.alert(ctx, "press.notYours")
	}
	what, ok := r.presses[word]
	if !ok {
		return t.alert(ctx, "press.tooOld")
	}
	do := func() error { return what.do(ctx, t, k, n) }
	switch what.often {
	case once:
		return pressOnce(ctx, t, k, action, do)
	case spared:
		return pressSparingly(ctx, t, k, action, do)
	}
	return do()
}

// chosenNumber is the number of what was pressed: it is part of a button's data, and the value of a menu's entry.
func chosenNumber(digits string, values []string) int {
	if digits == "" && len(values) == 1 {
		digits = values[0]
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// owns reports whether the buttons are this person's, also when they were made before accounts were joined.
func (t *turn) owns(ctx context.Context, k store.Keyboard) bool {
	if k.AccountID == t.account.ID {
		return true
	}
	owner, err := t.svc.Accounts.ByID(ctx, k.AccountID)
	return err == nil && owner.ID == t.account.ID
}

// adminWait is how long a pressed button waits to learn who pressed it: it must be answered within a second.
const adminWait = 700 * time.Millisecond

// byAdmin reports whether the sender runs the group, as far as the platform tells.
func (t *turn) byAdmin(ctx context.Context) bool {
	teller, ok := t.out.Adapter.(chat.AdminTeller)
	switch {
	case t.in.Chat.Kind == chat.ChatPrivate:
		return false
	case t.in.Admin || !ok:
		return t.in.Admin
	}
	ctx, cancel := context.WithTimeout(ctx, adminWait)
	defer cancel()
	admin, err := teller.IsAdmin(ctx, t.in.Incoming)
	if err != nil {
		t.svc.Log.DebugContext(ctx, "nobody knows whether this is an admin", "chat", t.in.Chat.Chat, "error", err)
	}
	return admin && err == nil
}

// findKeyboard looks twice: the buttons of a status message are stored just after they are shown.
func findKeyboard(ctx context.Context, t *turn, id string) (store.Keyboard, error) {
	k, err := t.svc.Store.Keyboards.Find(ctx, t.in.platform, id)
	if !errors.Is(err, store.ErrTooOld) {
		return k, err
	}
	select {
	case <-time.After(200 * time.Millisecond):
		return t.svc.Store.Keyboards.Find(ctx, t.in.platform, id)
	case <-ctx.Done():
		return k, context.Cause(ctx)
	}
}

// errNotDone: a button could not do its work, and the person was told. It may be pressed again.
var errNotDone = errors.New("nothing was done")

// pressOnce does what a button that acts once does, unless another press was first. What fails may be
// pressed again.
func pressOnce(ctx context.Context, t *turn, k store.Keyboard, action string, do func() error) error {
	mine, err := t.svc.Store.Keyboards.Use(ctx, k.ID, action, t.in.ids[0])
	if err != nil {
		return err
	}
	if !mine {
		return t.alert(ctx, "press.used")
	}
	err = do()
	if errors.Is(err, errNotDone) {
		return t.svc.Store.Keyboards.Release(ctx, k.ID, action)
	}
	if err != nil {
		if ctx.Err() == nil {
			err = errors.Join(err, t.svc.Store.Keyboards.Release(ctx, k.ID, action))
		}
		return err
	}
	if k.State.Run != "" {
		k.Used[action] = t.in.ids[0]
		relabel(ctx, t, k)
	}
	return nil
}

// pressSparingly does what a button does, unless it was pressed a moment before. What fails may be pressed again at once.
func pressSparingly(ctx context.Context, t *turn, k store.Keyboard, action string, do func() error) error {
	action += "@" // not used up, so not marked as such
	mine, err := t.svc.Store.Keyboards.UseAt(ctx, k.ID, action, t.in.ids[0], t.in.At)
	if err != nil {
		return err
	}
	if !mine {
		return t.acknowledge(ctx)
	}
	if err = do(); err != nil && ctx.Err() == nil {
		err = errors.Join(err, t.svc.Store.Keyboards.Release(ctx, k.ID, action))
	}
	return err
}

// relabel marks the used buttons under a run's end, so that nobody presses them twice in vain.
func relabel(ctx context.Context, t *turn, k store.Keyboard) {
	run, err := t.runOf(ctx, k)
	if err != nil {
		return
	}
	rows := t.say.FailureButtons(k)
	if run.Status == runs.StatusSucceeded {
		rows = t.say.ResultButtons(run, k, show.HasFiles(run))
	}
	marked := false
	for _, row := range rows {
		for i, b := range row {
			_, action, _ := store.ParseData(b.Data)
			if _, used := k.Used[action]; used {
				row[i].Label, marked = "✓ "+b.Label, true
			}
		}
	}
	if !marked {
		return // a message with other buttons
	}
	if err := t.out.EditButtons(ctx, t.in.Message, t.out.FitButtons(rows, t.out.Caps.Buttons.Rows)); err != nil {
		t.svc.Log.DebugContext(ctx, "a used button was not marked", "run", run.ID, "error", err)
	}
}

// acknowledge ends the button's waiting state. It comes before anything slow.
func (t *turn) acknowledge(ctx context.Context) error { return t.answer(ctx, "", false) }

// alert answers a press with a text that only this person sees.
func (t *turn) alert(ctx context.Context, key string, pairs ...any) error {
	return t.answer(ctx, t.say.Line(key, pairs...), true)
}

// note answers a press with a short notice.
func (t *turn) note(ctx context.Context, key string, pairs ...any) error {
	return t.answer(ctx, t.say.Line(key, pairs...), false)
}

// runOf gives the run that the buttons are about.
func (t *turn) runOf(ctx context.Context, k store.Keyboard) (runs.Run, error) {
	run, err := t.svc.Runs.Get(ctx, k.State.Run)
	if err == nil && run.AccountID != t.account.ID {
		err = runs.ErrNotFound
	}
	return run, err
}

// withRun does something with the buttons' run; a run that is gone is told.
func (t *turn) withRun(ctx context.Context, k store.Keyboard, do func(runs.Run) error) error {
	run, err := t.runOf(ctx, k)
	if errors.Is(err, runs.ErrNotFound) {
		return t.alert(ctx, "press.tooOld")
	}
	if err != nil {
		return err
	}
	return do(run)
}

func pressAgain(ctx context.Context, t *turn, k store.Keyboard) error {
	return pressRepeat(ctx, t, k, "again", func(*input.Draft, *registry.Tool) {})
}

func pressVary(ctx context.Context, t *turn, k store.Keyboard) error {
	return pressRepeat(ctx, t, k, "vary", func(d *input.Draft, tool *registry.Tool) { input.FreshSeed(d, tool.InputSchema) })
}

// pressRepeat runs what an earlier run was made of once more, with the tool as it is now; change says how it
// differs. One that can't be run any more says so, and the button stays for when it can.
func pressRepeat(ctx context.Context, t *turn, k store.Keyboard, word string, change func(*input.Draft, *registry.Tool)) error {
	return t.withRun(ctx, k, func(run runs.Run) error {
		tool, ok := t.tools.Resolve(run.Tool.ToolID)
		if !ok {
			if err := t.alert(ctx, "tool.gone"); err != nil {
				return err
			}
			return errNotDone
		}
		if err := t.note(ctx, "press.started"); err != nil {
			return err
		}
		if refused, err := refuse(ctx, t, tool); refused || err != nil {
			return errors.Join(err, errNotDone)
		}
		d := input.Repeat(run, requestOf(t, run), t.in.platform+":"+k.ID+":"+word)
		d.Notes = t.deprecation(tool)
		change(&d, tool)
		for _, values := range d.Values {
			for name := range values {
				if _, known := tool.InputSchema.Get(name); !known {
					delete(values, name) // the tool has lost this input since
				}
			}
		}
		t.sign(ctx, show.ActivityOf(*tool))
		_, err := proceed(ctx, t, d)
		return err
	})
}

// pressStop cancels the run of a status message.
func pressStop(ctx context.Context, t *turn, k store.Keyboard) error {
	return t.withRun(ctx, k, func(run runs.Run) error { return stopRun(ctx, t, run) })
}

// stopRun cancels a run. The Deliverer then shows how it ended.
func stopRun(ctx context.Context, t *turn, run runs.Run) error {
	if run.Status.Final() {
		return t.note(ctx, "press.over")
	}
	if err := t.note(ctx, "press.canceling"); err != nil {
		return err
	}
	if _, err := t.svc.Runs.Cancel(ctx, run.ID, t.account.ID); err != nil {
		return fmt.Errorf("cancel run %s: %w", run.ID, err)
	}
	return nil
}

// pressConfirm lets a run that waits for it go ahead.
func pressConfirm(ctx context.Context, t *turn, k store.Keyboard) error {
	run, err := t.svc.Runs.Confirm(ctx, k.State.Run, t.account.ID)
	refused, err := notConfirmed(ctx, t, run, err)
	switch {
	case err != nil:
		return err
	case refused != nil:
		return t.answer(ctx, refused.String(), true)
	}
	return t.note(ctx, "press.started")
}

// notConfirmed is what a person is told whose run does not go ahead; nil: it does.
func notConfirmed(ctx context.Context, t *turn, run runs.Run, err error) (chat.Text, error) {
	var short billing.ErrInsufficient
	var gate *runs.GateError
	switch {
	case errors.As(err, &gate) && gate.Reason == runs.NoPriorSummary:
		return t.say.Text("press.over"), nil
	case errors.As(err, &gate):
		return t.say.Text("press.expired", "n", int(runs.SummaryLife.Minutes())), nil
	case errors.As(err, &short):
		return insufficient(ctx, t, short, false), nil
	case errors.Is(err, runs.ErrNotFound):
		return t.say.Text("press.tooOld"), nil
	case err != nil:
		return nil, fmt.Errorf("confirm a run: %w", err)
	case run.Status.Final():
		return t.say.Text("press.over"), nil
	}
	return nil, nil
}

// affirm takes "yes", and what else says it and nothing more, as the answer to a run's question whether it may go ahead:
// to the one that is replied to, or in private to the only one that waits.
func affirm(ctx context.Context, t *turn) (bool, error) {
	if len(t.in.Attachments) > 0 || !runs.Affirms(t.in.Text) {
		return false, nil
	}
	waiting, err := t.svc.Runs.List(ctx, runs.Filter{AccountID: t.account.ID, Status: runs.StatusAwaitingConfirmation, Platform: t.in.platform})
	if err != nil {
		return false, fmt.Errorf("find what waits for a confirmation: %w", err)
	}
	waiting = slices.DeleteFunc(waiting, func(run runs.Run) bool {
		where, err := store.TargetOf(run)
		if err != nil || where.Chat.Chat != t.in.Chat.Chat {
			return true
		}
		if t.in.ReplyTo != nil {
			return where.Status.ID != t.in.ReplyTo.Ref.ID
		}
		return t.in.Chat.Kind != chat.ChatPrivate
	})
	if len(waiting) != 1 {
		return false, nil
	}
	summary := waiting[0].Summary()
	run, err := t.svc.Runs.ConfirmBy(ctx, waiting[0].ID, t.account.ID, runs.Affirmation{Kind: summary.Kind, Hash: summary.Hash(), Latest: t.in.Text})
	refused, err := notConfirmed(ctx, t, run, err)
	if err != nil {
		return true, err
	}
	if refused != nil {
		_, err = t.reply(ctx, refused)
	}
	return true, err
}

// pressOriginal sends a result's files as they are, without a platform's compression.
func pressOriginal(ctx context.Context, t *turn, k store.Keyboard) error {
	return t.withRun(ctx, k, func(run runs.Run) error {
		if err := t.acknowledge(ctx); err != nil {
			return err
		}
		t.sign(ctx, chat.ActivityDocument)
		for i, o := range run.Outputs {
			if o.Media == "" {
				continue
			}
			if err := sendOriginal(ctx, t, run, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// sendOriginal sends an output as it was stored or, where it is too large for that, says where it is.
func sendOriginal(ctx context.Context, t *turn, run runs.Run, i int) error {
	file, fits := t.svc.Deliverer.Original(t.out.In(t.in.Chat), run, i)
	err := chat.ErrTooLarge
	if fits {
		_, err = t.post(ctx, chat.Message{To: t.in.Chat.Place, ReplyTo: t.in.Message, Media: []chat.Media{file}})
	}
	if errors.Is(err, chat.ErrTooLarge) {
		_, err = t.post(ctx, chat.Message{To: t.in.Chat.Place, ReplyTo: t.in.Message, Text: t.svc.Deliverer.Unsent(t.say, run, i)})
	}
	return err
}

// pressDelete deletes a run with its files and removes it from the chat, for its requester. An admin removes what is shown
// here; it stays in the requester's history.
func pressDelete(ctx context.Context, t *turn, k store.Keyboard) error {
	said := "press.deleted"
	if !t.owns(ctx, k) {
		said = "press.deletedHere"
	}
	if err := t.note(ctx, said); err != nil {
		return err
	}
	for _, ref := range append(k.State.Refs, t.in.Message) {
		if err := t.out.Delete(ctx, ref); err != nil {
			return fmt.Errorf("delete a result: %w", err)
		}
	}
	if !t.owns(ctx, k) || k.State.Run == "" {
		return nil
	}
	if err := t.svc.Runs.Delete(ctx, k.State.Run, t.account.ID); err != nil && !errors.Is(err, runs.ErrNotFound) {
		return err
	}
	return nil
}

// pressShow shows a run's result again, as new messages.
func pressShow(ctx context.Context, t *turn, k store.Keyboard) error {
	return t.withRun(ctx, k, func(run runs.Run) error {
		if err := t.acknowledge(ctx); err != nil {
			return err
		}
		return showAgain(ctx, t, run)
	})
}

// showAgain shows how a run ended, in the chat of this update.
func showAgain(ctx context.Context, t *turn, run runs.Run) error {
	if !run.Status.Final() {
		_, err := t.reply(ctx, chat.Lines(chat.Text{{Style: chat.StyleBold, Text: run.Tool.DisplayName}}, t.say.Stage(run)))
		return err
	}
	t.sign(ctx, show.ActivityOf(run.Tool))
	where := store.Target{Chat: t.in.Chat, Request: requestOf(t, run), Language: t.language(), Person: t.in.From.ExternalID}
	if asked, err := store.TargetOf(run); err == nil {
		where.Notes = asked.Notes
	}
	return t.svc.Deliverer.ShowAgain(ctx, t.out, t.say, run, where, &t.in.Incoming)
}

// pressMissed shows what could not be delivered before.
func pressMissed(ctx context.Context, t *turn, k store.Keyboard) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	for _, id := range k.State.Runs {
		run, err := t.svc.Runs.Get(ctx, id)
		if errors.Is(err, runs.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := showAgain(ctx, t, run); err != nil {
			return err
		}
		removeStatus(ctx, t, run)
		if err := errors.Join(t.svc.Store.Deliveries.Finish(ctx, id), t.svc.Runs.MarkDelivered(ctx, id)); err != nil {
			return err
		}
	}
	return nil
}

// removeStatus deletes the status message of a run that was shown elsewhere.
func removeStatus(ctx context.Context, t *turn, run runs.Run) {
	where, err := store.TargetOf(run)
	if err == nil && !where.Status.IsZero() {
		err = t.out.Delete(ctx, where.Status)
	}
	if err != nil {
		t.svc.Log.DebugContext(ctx, "a status message stays", "run", run.ID, "error", err)
	}
}

// offerMissed tells somebody who is back what could not be delivered. Only in private: results were not
// meant for whoever reads along elsewhere.
func offerMissed(ctx context.Context, t *turn) error {
	if t.in.Chat.Kind != chat.ChatPrivate {
		return nil
	}
	ids, err := t.svc.Store.Deliveries.Missed(ctx, t.account.ID, t.in.platform)
	if err != nil || len(ids) == 0 {
		return err
	}
	k := t.keyboard(store.KeyboardState{Runs: ids})
	err = t.svc.Store.Keyboards.Save(ctx, k)
	if err == nil {
		_, err = t.reply(ctx, t.say.Text("missed.offer", "n", len(ids)), []chat.Button{{Label: t.say.Line("button.show"), Data: k.Data("missed")}})
	}
	if err != nil {
		return errors.Join(err, t.svc.Store.Deliveries.Unoffer(context.WithoutCancel(ctx), ids))
	}
	return nil
}

// pressFollowUp starts the tool that a follow-up action names. The inputs are a service's words, not the person's: what
// costs or changes something shows them with the price, and waits to be confirmed.
func pressFollowUp(ctx context.Context, t *turn, k store.Keyboard, n int) error {
	return t.withRun(ctx, k, func(run runs.Run) error {
		actions := words.FollowUps(run)
		if n >= len(actions) {
			return t.alert(ctx, "press.tooOld")
		}
		tool, ok := t.findTool(actions[n].Tool)
		if !ok {
			return notFollowed(ctx, t, "card.noTool", "tool", chat.Brief(actions[n].Tool, 60))
		}
		if words.HoldsAsset(actions[n].Inputs) {
			return notFollowed(ctx, t, "file.gone") // files of the house are given by hand, not by name
		}
		if err := t.note(ctx, "press.started"); err != nil {
			return err
		}
		if refused, err := refuse(ctx, t, tool); err != nil {
			return err
		} else if refused {
			return errNotDone
		}
		d := pressDraft(t, tool)
		d.Approval = runs.ApproveWrites
		if tool.CostingModel != nil {
			d.Approval = runs.ApproveAll
		}
		for name, value := range actions[n].Inputs {
			if _, known := tool.InputSchema.Get(name); !known {
				d.Notes = append(d.Notes, t.say.Line("card.noInput", "tool", tool.DisplayName, "input", chat.Brief(name, 60)))
				continue
			}
			d.Set(runs.FromArgument, name, value)
		}
		_, err := proceed(ctx, t, d)
		return err
	})
}

// notFollowed tells why a follow-up action can't be done; its button stays.
func notFollowed(ctx context.Context, t *turn, key string, pairs ...any) error {
	if err := t.alert(ctx, key, pairs...); err != nil {
		return err
	}
	return errNotDone
}
