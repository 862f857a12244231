package router

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/chat/chains"
	"github.com/signalbox/signalbox/platforms/chat/menus"
	"github.com/signalbox/signalbox/platforms/chat/results"
	"github.com/signalbox/signalbox/platforms/chat/settings"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/sitemenu"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

// press is what a button does, and how often.
type press struct {
	do    func(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error
	often howOften
}

// howOften says what becomes of a button that is pressed more than once.
type howOften int

const (
	always howOften = iota // each press acts
	once                   // one press acts, no matter who presses and how often
	spared                 // each press acts, but a double press acts once: what it sends costs nothing
)

// presses is the table of the words that buttons carry. A word may be followed by a number, which do gets.
func presses() map[string]press {
	return map[string]press{
		"again":    {plain(results.PressAgain), once},
		"vary":     {plain(results.PressVary), spared},
		"weaker":   {plain(results.PressWeaker), spared},
		"stronger": {plain(results.PressStronger), spared},
		"u":        {results.PressSingle, spared},
		"v":        {results.PressVaryOne, spared},
		"others":   {plain(results.PressMore), always},
		"front":    {plain(results.PressFront), always},
		"next":     {results.PressNext, spared},
		"swap":     {plain(results.PressSwap), spared},
		"edit":     {plain(results.PressEdit), always},
		"edited":   {plain(results.Edited), always},
		"retry":    {plain(results.PressRetry), once},
		"settings": {plain(settings.PressSettings), always},
		"original": {plain(results.PressOriginal), spared},
		"receipt":  {plain(results.PressReceipt), always},
		"delete":   {plain(results.PressDelete), always},
		"show":     {plain(results.PressShow), spared},
		"follow":   {results.PressFollowUp, once},
		"missed":   {plain(results.PressMissed), once},
		"stop":     {plain(results.PressStop), always},
		"confirm":  {plain(results.PressConfirm), always},
		"stop#":    {results.PressStopListed, always},
		"no":       {plain(start.PressCancelPrompt), always},
		"c":        {start.PressChoice, always},
		"pic":      {start.PressPicture, always},
		"tool":     {menus.PressTool, always},
		"list":     {menus.PressList, always},
		"hist":     {results.PressHistory, always},
		"older":    {plain(results.PressOlder), always},
		"set":      {settings.PressSetting, always},
		"val":      {settings.PressValue, always},
		"page":     {settings.PressPage, always},
		"reset":    {settings.PressReset, always},
		"more":     {plain(settings.PressAdvanced), always},
		"back":     {plain(settings.PressBack), always},
		"buy":      {menus.PressBuy, spared},
		"ask":      {plain(settings.PressAsk), always},
		"askfrom":  {settings.PressAskFrom, always},
		"close":    {plain(settings.PressClose), always},
		"use":      {plain(start.PressUse), always},
		"with":     {start.PressWith, always},
		"said":     {start.PressSaid, once},
		"style":    {results.PressStyle, always},
		"better":   {plain(results.PressBetter), once},
		"mine":     {plain(results.PressMine), once},
		"inline":   {start.PressInline, once},
		"pdefault": {plain(settings.PressChatDefault), always},
		"join":     {plain(menus.PressJoin), once},
		"merge":    {plain(menus.PressMerge), once},
		"unlink":   {menus.PressUnlink, always},
		"leave":    {menus.PressLeave, once},
		"lang":     {settings.PressLanguage, always},
		"langs":    {plain(settings.PressLanguages), always},
		"preset":   {settings.PressPreset, always},
		"erase":    {plain(menus.PressErase), once},
		"wallet":   {plain(menus.PressWallet), always},
		"wpays":    {menus.PressPays, always},
		"wclose":   {plain(menus.PressCloseWallet), always},
		"wclosed":  {plain(menus.PressWalletClosed), once},
		"wsponsor": {plain(menus.PressSponsor), once},
		"wparty":   {plain(menus.PressParty), once},
		"ppage":    {settings.PressChatPage, always},
		"ptool":    {settings.PressAllowedTool, always},
		"padult":   {plain(settings.PressAdult), always},
		"pagent":   {plain(settings.PressAgent), always},
		"preach":   {settings.PressReach, always},
		"formall":  {plain(settings.PressAllFields), always},
		"formset":  {settings.PressSetting, always},
		"setform":  {plain(settings.Filled), always},
		"vals":     {plain(settings.PressValues), always},
		"form":     {plain(start.PressAnswer), always},
		"answer":   {plain(start.AnswerFilled), always},
		"q":        {pressQuestionChoice, always},
		"qyes":     {plain(pressAgree), always},
		"qno":      {plain(pressDecline), always},
		"qskip":    {plain(pressSkip), always},
		"qform":    {plain(pressQuestionForm), always},
		"qanswer":  {plain(questionFilled), always},
		"rep":      {results.PressReason, always},
		"repgone":  {plain(results.PressRemoveHere), always},
		"repfine":  {plain(results.PressDismiss), always},
		"site":     {onSite(sitemenu.PressMenu), always},
		"slist":    {onSite(sitemenu.PressList), always},
		"sopen":    {onSite(sitemenu.PressOpen), always},
		"sback":    {onSite(plain(sitemenu.PressItem)), always},
		"spub":     {onSite(plain(sitemenu.PressPublish)), always},
		"sedit":    {onSite(plain(sitemenu.PressEdit)), always},
		"sfield":   {onSite(sitemenu.PressField), always},
		"sedited":  {onSite(plain(sitemenu.Edited)), always},
		"sdel":     {onSite(plain(sitemenu.PressDelete)), always},
		"sgone":    {onSite(plain(sitemenu.PressConfirmDelete)), always},
		"stools":   {onSite(sitemenu.PressTools), always},
		"stool":    {onSite(sitemenu.PressTool), always},
		"sopt":     {onSite(sitemenu.PressGroup), always},
		"place":    {plain(sitemenu.PressPlace), always},
		"into":     {onSite(sitemenu.PressInto), always},
		"mgo":      {onMissions(chains.PressConfirm), once},
		"mno":      {onMissions(chains.PressDecline), always},
		"mstop":    {onMissions(chains.PressStop), always},
		"mfailed":  {onMissions(chains.PressFailed), once},
		"legyes":   {onMissions(chains.PressLegConfirm), always},
		"legno":    {onMissions(chains.PressLegDecline), always},
		"chshare":  {onMissions(chains.PressShare), always},
		"chdel":    {onMissions(chains.PressDelete), always},
		"askstop":  {toAgent(turn.Agent.Stop), always},
		"askyes":   {toAgent(turn.Agent.Confirm), once},
		"askno":    {toAgent(turn.Agent.Decline), once},
	}
}

// plain makes a press of what takes no number.
func plain(do func(context.Context, *turn.Turn, store.Keyboard) error) func(context.Context, *turn.Turn, store.Keyboard, int) error {
	return func(ctx context.Context, t *turn.Turn, k store.Keyboard, _ int) error { return do(ctx, t, k) }
}

// onSite makes a press of what needs the site that the message is about: where it is not the one of this chat any more, the button is
// too old.
func onSite(do func(context.Context, *turn.Turn, store.Keyboard, int) error) func(context.Context, *turn.Turn, store.Keyboard, int) error {
	return func(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
		here, err := t.Site(ctx)
		if err != nil {
			return err
		}
		if t.Services.Site == nil || k.State.Site.Site != here.Slug {
			return t.Alert(ctx, "press.tooOld")
		}
		return do(ctx, t, k, n)
	}
}

// onMissions makes a press of what needs missions: where there are none any more, the button is too old.
func onMissions(do func(context.Context, *turn.Turn, store.Keyboard) error) func(context.Context, *turn.Turn, store.Keyboard, int) error {
	return func(ctx context.Context, t *turn.Turn, k store.Keyboard, _ int) error {
		if t.Services.Missions == nil {
			return t.Alert(ctx, "press.tooOld")
		}
		return do(ctx, t, k)
	}
}

// toAgent makes a press of what the agent does with its buttons, which may be there no more.
func toAgent(do func(turn.Agent, context.Context, *turn.Turn, store.Keyboard) error) func(context.Context, *turn.Turn, store.Keyboard, int) error {
	return func(ctx context.Context, t *turn.Turn, k store.Keyboard, _ int) error {
		if t.Services.Agent == nil {
			return t.Alert(ctx, "press.tooOld")
		}
		return do(t.Services.Agent, ctx, t, k)
	}
}

// handlePress handles a pressed button: it must be one of ours, the person's own, and not spent.
func handlePress(ctx context.Context, t *turn.Turn, table map[string]press) error {
	id, action, ok := store.ParseData(t.In.Press.Data)
	if !ok {
		return t.Alert(ctx, "press.tooOld")
	}
	k, err := findKeyboard(ctx, t, id)
	if errors.Is(err, store.ErrTooOld) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err != nil {
		return err
	}
	word := strings.TrimRight(action, "0123456789")
	n := chosenNumber(action[len(word):], t.In.Press.Values)
	if !t.Owns(ctx, k) && (word != "delete" && !k.State.Anonymous || !t.ByAdmin(ctx)) {
		return t.Alert(ctx, "press.notYours")
	}
	what, ok := table[word]
	if !ok {
		return t.Alert(ctx, "press.tooOld")
	}
	if stopped, err := muted(ctx, t, word, muteLeavesPresses); stopped || err != nil {
		return err
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

// findKeyboard looks twice: the buttons of a status message are stored just after they are shown.
func findKeyboard(ctx context.Context, t *turn.Turn, id string) (store.Keyboard, error) {
	k, err := t.Services.Store.Keyboards.Find(ctx, t.In.Platform, id)
	if !errors.Is(err, store.ErrTooOld) {
		return k, err
	}
	select {
	case <-time.After(200 * time.Millisecond):
		return t.Services.Store.Keyboards.Find(ctx, t.In.Platform, id)
	case <-ctx.Done():
		return k, context.Cause(ctx)
	}
}

// pressOnce does what a button that acts once does, unless another press was first. What fails may be
// pressed again.
func pressOnce(ctx context.Context, t *turn.Turn, k store.Keyboard, action string, do func() error) error {
	mine, err := t.Services.Store.Keyboards.Use(ctx, k.ID, action, t.In.IDs[0])
	if err != nil {
		return err
	}
	if !mine {
		return t.Alert(ctx, "press.used")
	}
	err = do()
	if errors.Is(err, turn.ErrNotDone) {
		return t.Services.Store.Keyboards.Release(ctx, k.ID, action)
	}
	if errors.Is(err, turn.ErrReplaces) {
		return nil
	}
	if err != nil {
		if ctx.Err() == nil {
			err = errors.Join(err, t.Services.Store.Keyboards.Release(ctx, k.ID, action))
		}
		return err
	}
	if k.State.Run != "" {
		k.Used[action] = t.In.IDs[0]
		relabel(ctx, t, k)
	}
	return nil
}

// pressSparingly does what a button does, unless it was pressed a moment before. What fails may be pressed again at once.
func pressSparingly(ctx context.Context, t *turn.Turn, k store.Keyboard, action string, do func() error) error {
	action += "@" // not used up, so not marked as such
	mine, err := t.Services.Store.Keyboards.UseAt(ctx, k.ID, action, t.In.IDs[0], t.In.At)
	if err != nil {
		return err
	}
	if !mine {
		return t.Acknowledge(ctx)
	}
	err = do()
	if errors.Is(err, turn.ErrNotDone) {
		return t.Services.Store.Keyboards.Release(ctx, k.ID, action)
	}
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, t.Services.Store.Keyboards.Release(ctx, k.ID, action))
	}
	return err
}

// relabel marks the used buttons under a run's end, so that nobody presses them twice in vain.
func relabel(ctx context.Context, t *turn.Turn, k store.Keyboard) {
	run, err := t.RunOf(ctx, k)
	if err != nil {
		return
	}
	rows := t.Say.FailureButtons(k)
	if only, ok := show.Only(run, k.State.Of); ok && run.Status == runs.StatusSucceeded {
		rows = t.Say.ResultButtons(only, k)
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
	if err := t.Out.EditButtons(ctx, t.In.Message, t.Out.FitButtons(rows, t.Out.Caps.Buttons.Rows)); err != nil {
		t.Services.Log.DebugContext(ctx, "a used button was not marked", "run", run.ID, "error", err)
	}
}
