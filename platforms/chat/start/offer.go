package start

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/lexicon"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// othersOffered is how many tools are offered below the one that is most likely meant.
const othersOffered = 4

// OfferWords offers tools for what somebody wrote without a command: the one that this person uses for words, with its
// price, and below it others that fit. Nothing runs without a press. It offers nothing for greetings, or where no tool takes
// words.
func OfferWords(ctx context.Context, t *turn.Turn) (offered bool, err error) {
	words := t.In.Text
	if !strings.ContainsFunc(words, unicode.IsLetter) || SmallTalk(t) {
		return false, nil
	}
	if tool, named := t.FindTool(words); named {
		return true, offerNamed(ctx, t, tool)
	}
	return OfferFor(ctx, t, words, t.In.Message)
}

// SmallTalk reports whether somebody greets, thanks or the like, in words or by a sign alone, and asks for nothing.
func SmallTalk(t *turn.Turn) bool {
	said := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return t.In.Text != "" && !strings.ContainsFunc(t.In.Text, said) || lexicon.Standard().Read(t.In.Text, t.Language()).SmallTalk
}

// WordsTool is the tool that words are probably meant for: the one whose name they begin with, else the one that this person uses for words.
func WordsTool(ctx context.Context, t *turn.Turn, words string) (tool *registry.Tool, rest string, ok bool, err error) {
	if tool, rest, ok = withoutSlash(t, words); !ok {
		tool, ok, err = usualTool(ctx, t)
	}
	return tool, rest, ok, err
}

// OfferFor offers tools for words that a message said.
func OfferFor(ctx context.Context, t *turn.Turn, words string, asked chat.MessageRef) (offered bool, err error) {
	usual, words, ok, err := WordsTool(ctx, t, words)
	if err != nil {
		return false, err
	}
	others := fitting(ctx, t, words, []registry.InputType{})
	if !ok {
		return offerSaid(ctx, t, store.KeyboardState{Query: words, Asked: asked}, t.Say.Text("chatter.found"), nil, others)
	}
	return offerSaid(ctx, t, store.KeyboardState{Query: words, Asked: asked}, t.Say.Text("offer.words", "tool", usual.DisplayName), usual, others)
}

// OfferChange offers tools for words that were said about a file, as in a reply to a picture: those that take both, first the one that the words
// name, then those that change what one says. It offers nothing where no tool takes both. One that does not go on with what others made is offered,
// and first, where it is their maker, by its id.
func OfferChange(ctx context.Context, t *turn.Turn, words string, files []chat.Attachment, maker string) (offered bool, err error) {
	kinds := input.KindsOf(files[:1])
	if len(kinds) == 0 || !strings.ContainsFunc(words, unicode.IsLetter) || SmallTalk(t) {
		return false, nil
	}
	taking := FittingFirst(ctx, t, ToolsTaking(t, files, len(t.Offered())), words, files)
	own := func(tool *registry.Tool) bool { return tool.Follows == registry.FollowNone && tool.ToolID == maker }
	both := slices.DeleteFunc(slices.Clone(taking), func(tool *registry.Tool) bool {
		f, reads := input.TextInput(tool.InputSchema)
		return !reads || f.Advanced && !f.Required || tool.Follows == registry.FollowNone && !own(tool)
	})
	changes := func(tool *registry.Tool) int {
		does, _ := tool.FollowsWith(string(kinds[0]))
		switch {
		case own(tool):
			return 0
		case does == registry.FollowEdit:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(both, func(a, b *registry.Tool) int { return changes(a) - changes(b) })
	named, rest, ok := withoutSlash(t, words)
	if !ok {
		named, ok = t.FindTool(words)
	}
	if ok && slices.Contains(taking, named) {
		both, words = append([]*registry.Tool{named}, both...), rest
	}
	if len(both) == 0 {
		return false, nil
	}
	k := store.KeyboardState{Query: words, Files: files, Asked: t.In.Message, Meant: t.In.Answers()}
	return offerSaid(ctx, t, k, t.Say.Text("offer.change", "tool", both[0].DisplayName), both[0], both[1:])
}

// offerSaid offers tools for what was said: usual, if it is not nil, with its price, and below it some of the others.
func offerSaid(ctx context.Context, t *turn.Turn, said store.KeyboardState, text chat.Text, usual *registry.Tool, others []*registry.Tool) (offered bool, err error) {
	k := t.Keyboard(said)
	var rows [][]chat.Button
	if usual != nil {
		others = slices.DeleteFunc(slices.Clone(others), func(tool *registry.Tool) bool { return tool.ToolID == usual.ToolID })
		k.State.Tools = []string{usual.ToolID}
		rows = append(rows, []chat.Button{{Label: RunLabel(ctx, t, usual, said.Query), Data: k.Data("said0"), Style: chat.ButtonPrimary}})
	}
	others = others[:min(len(others), othersOffered)]
	if usual == nil && len(others) == 0 {
		return false, nil
	}
	if usual != nil && len(others) > 0 {
		text = chat.Lines(text, t.Say.Text("offer.others"))
	}
	var below []chat.Button
	for _, tool := range others {
		below = append(below, chat.Button{Label: tool.DisplayName, Data: k.Data(fmt.Sprint("said", len(k.State.Tools)))})
		k.State.Tools = append(k.State.Tools, tool.ToolID)
	}
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return false, err
	}
	_, err = t.Reply(ctx, text, append(rows, show.RowsOf(below, 2)...)...)
	return err == nil, err
}

// withoutSlash reads words that begin with a tool's command, where somebody left out the slash.
func withoutSlash(t *turn.Turn, words string) (tool *registry.Tool, rest string, ok bool) {
	command, rest, _ := strings.Cut(strings.TrimSpace(words), " ")
	if tool, ok = t.Tools.ByCommand(command); !ok || !slices.Contains(t.Offered(), tool) {
		return nil, words, false
	}
	return tool, strings.TrimSpace(rest), true
}

// offerNamed offers the tool that somebody wrote the name of, and nothing else.
func offerNamed(ctx context.Context, t *turn.Turn, tool *registry.Tool) error {
	k := t.Keyboard(store.KeyboardState{Tools: []string{tool.ToolID}, Asked: t.In.Message})
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	_, err := t.Reply(ctx, t.Say.Text("chatter.found"), []chat.Button{{Label: tool.DisplayName, Data: k.Data("tool0")}})
	return err
}

// RunLabel is the button that runs a tool with these words: its name and, where it is known, what that costs.
func RunLabel(ctx context.Context, t *turn.Turn, tool *registry.Tool, words string) string {
	d := NewDraft(t, tool)
	if _, reads := input.FreeInput(tool.InputSchema); !reads {
		_ = d.ReadOptions(tool, words) // the rest was not said to it
	} else if err := d.Read(tool, words, nil); err != nil {
		return t.Say.Line("button.run", "tool", tool.DisplayName)
	}
	quote, err := PriceOf(ctx, t, d)
	if err != nil {
		t.Services.Log.DebugContext(ctx, "a tool is offered without its price", "tool", tool.ToolID, "error", err)
		return t.Say.Line("button.run", "tool", tool.DisplayName)
	}
	return priced(t, tool, quote)
}

func priced(t *turn.Turn, tool *registry.Tool, q billing.Quote) string {
	switch {
	case q.Source == "":
		return t.Say.Line("button.run", "tool", tool.DisplayName)
	case q.High == 0:
		return t.Say.Line("button.runFree", "tool", tool.DisplayName)
	case q.Low == q.High, t.Say.AtMost(q.High) == t.Say.AtMost(max(q.Low, 1)): // both read "under $0.01"
		return t.Say.Line("button.runFor", "tool", tool.DisplayName, "price", q.High)
	}
	return t.Say.Line("button.runUpTo", "tool", tool.DisplayName, "price", q.High)
}

// Chosen is the tool of a keyboard's button, once the press is acknowledged; nil where the person was told that there is none.
func Chosen(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) (*registry.Tool, error) {
	if n < 0 || n >= len(k.State.Tools) {
		return nil, t.Alert(ctx, "press.tooOld")
	}
	tool, ok := t.Tools.Resolve(k.State.Tools[n])
	if !ok {
		return nil, t.Alert(ctx, "tool.gone")
	}
	return tool, t.Acknowledge(ctx)
}

// PressSaid runs the chosen tool with the words, and the files, that it was offered for.
func PressSaid(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	tool, err := Chosen(ctx, t, k, n)
	if tool == nil || err != nil {
		return err
	}
	if refused, err := Refuse(ctx, t, tool); refused || err != nil {
		return err
	}
	d := PressDraft(t, tool)
	d.Asked = k.State.Asked
	if hint, err := readSaid(ctx, t, &d, tool, k.State.Query); hint != nil || err != nil {
		return HintOr(ctx, t, hint, err)
	}
	if err := assignFiles(ctx, t, &d, runs.FromReply, tool, k.State.Files); err != nil {
		return HintOr(ctx, t, nil, err)
	}
	return ProceedFrom(ctx, t, k, d)
}

// readSaid reads words that were said before their tool was chosen, as after its command. A tool that reads no text takes
// the options among them: the rest was not said to it.
func readSaid(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool, words string) (hint chat.Text, err error) {
	if _, reads := input.FreeInput(tool.InputSchema); reads {
		return ReadText(ctx, t, d, tool, words)
	}
	if err := d.ReadOptions(tool, words); err != nil {
		t.Services.Log.DebugContext(ctx, "a tool does without the words that it was chosen for", "tool", tool.ToolID, "error", err)
	}
	noteFormat(t, d)
	return nil, nil
}

// looksBack is among how many of a person's latest runs the tool that they use for words is looked for.
const looksBack = 20

// usualTool is the tool that words of this person are probably meant for: the one they used last, else the chat's, else the
// house's, else the one that most people use for it.
func usualTool(ctx context.Context, t *turn.Turn) (*registry.Tool, bool, error) {
	list, err := t.Services.Runs.List(ctx, runs.Filter{AccountID: t.Account.ID, Limit: looksBack})
	if err != nil {
		return nil, false, fmt.Errorf("find the tool used last: %w", err)
	}
	var ids []string
	for _, run := range list {
		ids = append(ids, run.Tool.ToolID)
	}
	chosen, err := t.DefaultIn(ctx, t.ChatPlace())
	if err != nil {
		return nil, false, err
	}
	ids = append(ids, chosen, t.Services.DefaultTool.Now())
	takesWords := t.Offered()
	takesWords = slices.DeleteFunc(takesWords, func(tool *registry.Tool) bool { return !input.RunsOnWords(tool) })
	for _, id := range ids {
		if tool, ok := t.FindTool(id); ok && slices.Contains(takesWords, tool) {
			return tool, true, nil
		}
	}
	return mostLikely(ctx, t, takesWords)
}

// mostLikely is the tool for words that is used most, of those that make a picture where there are such.
func mostLikely(ctx context.Context, t *turn.Turn, tools []*registry.Tool) (*registry.Tool, bool, error) {
	uses, err := t.Services.Store.Uses.All(ctx)
	if err != nil || len(tools) == 0 {
		return nil, false, err
	}
	best := slices.MaxFunc(tools, func(a, b *registry.Tool) int {
		if draws := input.MakesPictures(a); draws != input.MakesPictures(b) {
			if draws {
				return 1
			}
			return -1
		}
		return cmp.Compare(uses[a.ToolID], uses[b.ToolID])
	})
	return best, true, nil
}

// fitting gives the tools that a search for the words finds, of those that may be offered here. has are the kinds of the files
// that came along.
func fitting(ctx context.Context, t *turn.Turn, words string, has []registry.InputType) []*registry.Tool {
	offered := t.Offered()
	var found []*registry.Tool
	for _, m := range t.Tools.Search(words, catalog.SearchOptions{People: true, Audience: t.Audience(), Language: t.Language(), Has: has, Near: t.Services.Near.Of(ctx, words)}) {
		if slices.Contains(offered, m.Tool) {
			found = append(found, m.Tool)
		}
	}
	return found
}

// FittingFirst puts the tools that a file's caption asks for before the others that take the file.
func FittingFirst(ctx context.Context, t *turn.Turn, tools []*registry.Tool, caption string, files []chat.Attachment) []*registry.Tool {
	if caption == "" {
		return tools
	}
	found := slices.DeleteFunc(fitting(ctx, t, caption, input.KindsOf(files)), func(tool *registry.Tool) bool { return !slices.Contains(tools, tool) })
	rest := slices.DeleteFunc(slices.Clone(tools), func(tool *registry.Tool) bool { return slices.Contains(found, tool) })
	return append(found, rest...)
}
