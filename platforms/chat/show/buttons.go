package show

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Under a result are at most two rows of at most five buttons, beside those that its own answer asks for.
const (
	rowLength  = 5
	mostButton = 2 * rowLength
)

// ranked is a button, and how soon it gives way where there are too many: the lowest stays.
type ranked struct {
	chat.Button
	rank int
}

// ResultButtons are the buttons under a result: what can be made of it, then what can be done with it. Under a set, each
// picture has its own instead, and the others are a press away.
func (v Voice) ResultButtons(run runs.Run, k store.Keyboard) [][]chat.Button {
	rows := followUpButtons(run, k)
	if _, ok := subjectOf(run); ok {
		return append(rows, inRows(v.versionButtons(run, k))...)
	}
	if k.State.Pictures > 0 {
		return append(rows, v.setButtons(run, k)...)
	}
	return append(rows, inRows(append(v.makeButtons(run, k), v.keepButtons(run, k)...))...)
}

// MoreButtons are those under a set that have no room beside the pictures' own.
func (v Voice) MoreButtons(run runs.Run, k store.Keyboard) [][]chat.Button {
	var all []ranked
	if HowToVary(run, k.State, 0) != words.VaryNot {
		all = append(all, ranked{chat.Button{Label: v.Line("button.vary"), Data: k.Data("vary")}, 2})
	}
	all = append(all, v.keepButtons(run, k)...)
	return inRows(append(all, ranked{chat.Button{Label: v.Line("button.back"), Data: k.Data("front")}, 0}))
}

// setButtons are U1 to Un, each picture by itself, and V1 to Vn, one like it. Where there is none like it, the whole set can be
// made anew or, where that would be the same, its row has what can be done with the set.
func (v Voice) setButtons(run runs.Run, k store.Keyboard) [][]chat.Button {
	var single, vary []chat.Button
	for i := range k.State.Pictures {
		n := strconv.Itoa(i + 1)
		single = append(single, chat.Button{Label: "U" + n, Data: k.Data("u" + n)})
		vary = append(vary, chat.Button{Label: "V" + n, Data: k.Data("v" + n)})
	}
	again := chat.Button{Label: v.Line("button.again"), Data: k.Data("again")}
	more := chat.Button{Label: v.Line("button.more"), Data: k.Data("others")}
	switch each := eachVaries(run.Tool, k.State); {
	case each && apart(k.State.Pictures):
		return slices.Concat(evenRows(single), evenRows(vary), [][]chat.Button{{again, more}})
	case each:
		return slices.Concat(evenRows(append(single, again)), evenRows(append(vary, more)))
	case HowToVary(run, k.State, 0) != words.VaryNot:
		return append(evenRows(append(single, again)), []chat.Button{{Label: v.Line("button.vary"), Data: k.Data("vary")}, more})
	}
	keep := plainButtons(v.keepButtons(run, k))
	if len(keep) > rowLength {
		keep = []chat.Button{more}
	}
	return append(evenRows(append(single, again)), keep)
}

// apart reports whether the buttons of n pictures take fewer rows when those of the set have one to themselves.
func apart(n int) bool { return 2*rowsFor(n)+1 < 2*rowsFor(n+1) }

// setRows is how many rows the buttons of n pictures take.
func setRows(n int) int { return min(2*rowsFor(n)+1, 2*rowsFor(n+1)) }

func rowsFor(buttons int) int { return (buttons + rowLength - 1) / rowLength }

// evenRows puts buttons into as few rows as there can be, all of about the same length.
func evenRows(all []chat.Button) [][]chat.Button {
	rows := max(1, rowsFor(len(all)))
	return RowsOf(all, (len(all)+rows-1)/rows)
}

// makeButtons make something new of a result.
func (v Voice) makeButtons(run runs.Run, k store.Keyboard) []ranked {
	all := []ranked{{chat.Button{Label: v.Line("button.again"), Data: k.Data("again")}, 1}}
	near, _ := k.State.NextFor(registry.FollowVary)
	if HowToVary(run, k.State, k.State.Of) != words.VaryNot {
		all = append(all, ranked{chat.Button{Label: v.Line("button.vary"), Data: k.Data("vary")}, 2})
	}
	if _, far := run.Tool.InputSchema.Strength(); near.Strength || far && variesSlightly(run.Tool) {
		all = append(all,
			ranked{chat.Button{Label: v.Line("button.weaker"), Data: k.Data("weaker")}, 8},
			ranked{chat.Button{Label: v.Line("button.stronger"), Data: k.Data("stronger")}, 8})
	}
	for i, next := range k.State.Next {
		if next.Does != registry.FollowVary {
			all = append(all, ranked{chat.Button{Label: v.Line("follow." + string(next.Does)), Data: k.Data("next" + strconv.Itoa(i))}, 6 + i})
		}
	}
	if len(input.Swappable(run.Tool.InputSchema, run.Inputs)) > 1 {
		all = append(all, ranked{chat.Button{Label: v.Line("button.swap"), Data: k.Data("swap")}, 9})
	}
	return all
}

// keepButtons do something with what is there.
func (v Voice) keepButtons(run runs.Run, k store.Keyboard) []ranked {
	var all []ranked
	if _, ok := input.TextInput(run.Tool.InputSchema); ok {
		all = append(all, ranked{chat.Button{Label: v.Line("button.editPrompt"), Data: k.Data("edit")}, 3})
	}
	if len(run.Tool.InputSchema) > 0 {
		all = append(all, ranked{chat.Button{Label: v.Line("button.settings"), Data: k.Data("settings")}, 10})
	}
	if HasFiles(run) {
		all = append(all,
			ranked{chat.Button{Label: v.Line("button.original"), Data: k.Data("original")}, 5},
			ranked{chat.Button{Label: v.Line("button.use"), Data: k.Data("use")}, 4})
	}
	if k.State.Placed {
		all = append(all, ranked{chat.Button{Label: v.Line("button.place"), Data: k.Data("place")}, 4})
	}
	if run.Cost > 0 {
		all = append(all, ranked{chat.Button{Label: v.Line("card.receipt"), Data: k.Data("receipt")}, 9})
	}
	return append(all, ranked{chat.Button{Label: v.Line("button.delete"), Data: k.Data("delete"), Style: chat.ButtonDanger}, 0})
}

// versionButtons are those under a picture of something that goes on changing, whose own follow-ups say how: what else can be made of the picture,
// and done with it. What its run was asked for can't be asked for again, since it was said of the version before.
func (v Voice) versionButtons(run runs.Run, k store.Keyboard) []ranked {
	var all []ranked
	for _, b := range append(v.makeButtons(run, k), v.keepButtons(run, k)...) {
		_, action, _ := store.ParseData(b.Data)
		if strings.HasPrefix(action, "next") || slices.Contains([]string{"use", "place", "receipt", "delete"}, action) {
			all = append(all, b)
		}
	}
	return all
}

// inRows puts buttons into two rows, without those that have no room.
func inRows(all []ranked) [][]chat.Button {
	for len(all) > mostButton {
		last := slices.MaxFunc(all, func(a, b ranked) int { return a.rank - b.rank })
		all = slices.DeleteFunc(all, func(b ranked) bool { return b.Data == last.Data })
	}
	return RowsOf(plainButtons(all), max(2, (len(all)+1)/2))
}

func plainButtons(all []ranked) []chat.Button {
	buttons := make([]chat.Button, len(all))
	for i, b := range all {
		buttons[i] = b.Button
	}
	return buttons
}

// HowToVary says how another like a run's result is made: like its picture number n or, with 0, like the whole.
func HowToVary(run runs.Run, k store.KeyboardState, n int) words.Vary {
	_, byTool := k.NextFor(registry.FollowVary)
	return words.HowToVary(run, byTool, n)
}

// eachVaries reports whether there can be another like one picture of a set: by a tool that takes it, or by a seed of small changes.
func eachVaries(tool registry.Tool, k store.KeyboardState) bool {
	_, byTool := k.NextFor(registry.FollowVary)
	return byTool || variesSlightly(tool)
}

func variesSlightly(tool registry.Tool) bool {
	_, ok := tool.InputSchema.WithRole(registry.RoleVariation)
	return ok
}

// FailureButtons are the buttons under a failure.
func (v Voice) FailureButtons(k store.Keyboard) [][]chat.Button {
	return [][]chat.Button{{
		{Label: v.Line("button.retry"), Data: k.Data("retry"), Style: chat.ButtonPrimary},
		{Label: v.Line("button.settings"), Data: k.Data("settings")},
	}}
}

// followUpButtons are the buttons of follow-up actions, two in a row, short ones three; those that change a result where it stands have rows of their own.
func followUpButtons(run runs.Run, k store.Keyboard) [][]chat.Button {
	var inPlace, others []chat.Button
	inRow := 3
	for i, a := range words.FollowUps(run) {
		b := chat.Button{Label: a.Label, Data: k.Data("follow" + strconv.Itoa(i))}
		if a.InPlace {
			inPlace = append(inPlace, b)
			continue
		}
		if others = append(others, b); utf8.RuneCountInString(a.Label) > shortLabel {
			inRow = 2
		}
	}
	return append(RowsOf(inPlace, 2), RowsOf(others, inRow)...)
}

// shortLabel is the length of a label of which three find room in a row on a phone, in characters.
const shortLabel = 6
