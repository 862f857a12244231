package router

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/menus"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// maxChoicesTyped is how many choices an option lists; more are offered while one types.
const maxChoicesTyped = 25

// commandList makes the list of commands for a platform: the tools', the bot's own, and those on messages. Where they
// don't all fit, the tools used most come first, and the others stay reachable by /run.
type commandList struct {
	limits chat.CommandLimits
	bot    turn.Commands
	tools  []*registry.Tool
	uses   map[string]int64 // by tool id
	voices []show.Voice     // of all languages, where one list carries them all
}

// in writes the list for chats of a kind in a language.
func (l commandList) in(v show.Voice, kind chat.ChatKind) []chat.Command {
	own := l.own(v, kind)
	var list []chat.Command
	for _, tool := range l.choose(l.named(), max(0, l.limits.Max-len(own))) {
		list = append(list, l.toolCommand(tool, v))
	}
	list = append(list, own...)
	list = append(list[:min(len(list), l.limits.Max)], l.onMessages(v)...)
	return append(append(list, l.onPeople(v)...), l.entry(v)...)
}

// own are the bot's own commands.
func (l commandList) own(v show.Voice, kind chat.ChatKind) []chat.Command {
	var own []chat.Command
	for _, c := range l.bot {
		if c.Who == turn.ChatAdmins && kind == chat.ChatPrivate {
			continue
		}
		command := chat.Command{
			Name: c.Name, Description: chat.Brief(v.Line("command."+c.Name), l.limits.DescriptionLimit), Private: !c.Shared,
			Inputs: l.describe(c.Inputs, v), Localized: l.localizedOwn(c),
		}
		for _, f := range c.Inputs {
			if f.Name == toolInput {
				command.Completes = append(command.Completes, f.Name)
			}
		}
		own = append(own, command)
	}
	return own
}

// describe says in a language what a command of the bot takes.
func (l commandList) describe(inputs registry.InputSchema, v show.Voice) registry.InputSchema {
	described := slices.Clone(inputs)
	for i, f := range described {
		described[i].Description = v.Line("takes." + f.Name)
	}
	return described
}

// localizedOwn is what a command of the bot does and takes in all languages but English.
func (l commandList) localizedOwn(c turn.Command) map[string]func() chat.CommandText {
	return l.inEach(func(v show.Voice) chat.CommandText {
		return chat.CommandText{Description: chat.Brief(v.Line("command."+c.Name), l.limits.DescriptionLimit), Inputs: l.describe(c.Inputs, v)}
	})
}

// localized is a text in all languages but English, as descriptions of commands.
func (l commandList) localized(key string) map[string]func() chat.CommandText {
	return l.inEach(func(v show.Voice) chat.CommandText {
		return chat.CommandText{Description: chat.Brief(v.Line(key), l.limits.DescriptionLimit)}
	})
}

// inEach are the texts in all languages but the list's own.
func (l commandList) inEach(say func(show.Voice) chat.CommandText) map[string]func() chat.CommandText {
	texts := map[string]func() chat.CommandText{}
	for _, v := range l.voices[min(1, len(l.voices)):] {
		texts[v.Language()] = func() chat.CommandText { return say(v) }
	}
	return texts
}

// named are the tools whose commands the platform can list.
func (l commandList) named() []*registry.Tool {
	taken := map[string]bool{}
	for _, c := range l.bot {
		taken[c.Name] = true
	}
	pattern := regexp.MustCompile(`^(?:` + l.limits.NamePattern + `)$`)
	return slices.DeleteFunc(slices.Clone(l.tools), func(tool *registry.Tool) bool {
		name := strings.TrimPrefix(tool.CommandName, "/")
		return name == "" || taken[name] || len(name) > l.limits.NameChars || !pattern.MatchString(name)
	})
}

// toolCommand takes what the tool takes and, where there is room for it, a preset.
func (l commandList) toolCommand(tool *registry.Tool, v show.Voice) chat.Command {
	localized := l.localizedTool(tool)
	tool = tool.In(v.Language())
	inputs, completes := l.toolInputs(tool, v)
	return chat.Command{
		Name:        strings.TrimPrefix(tool.CommandName, "/"),
		Tool:        tool.ToolID,
		Description: l.purpose(tool),
		Localized:   localized,
		Inputs:      inputs,
		Completes:   completes,
	}
}

// toolInputs are what the command of a tool takes, and the names of those whose values are offered while they are typed.
func (l commandList) toolInputs(tool *registry.Tool, v show.Voice) (inputs registry.InputSchema, completes []string) {
	inputs = optionOrder(tool.InputSchema)
	if l.limits.Options > 0 {
		inputs = inputs[:min(len(inputs), l.limits.Options)]
	}
	completes = completed(inputs)
	if _, own := input.FieldNamed(tool.InputSchema, input.PresetWord); !own && len(inputs) < l.limits.Options {
		inputs = append(inputs, registry.InputField{Name: input.PresetWord, Type: registry.TypeString, Advanced: true, Description: v.Line("takes.name")})
	}
	return inputs, completes
}

// purpose says in a few words what a tool is for.
func (l commandList) purpose(tool *registry.Tool) string {
	return chat.InWords(chat.FirstSentence(chat.FirstNonEmpty(tool.Description, tool.DisplayName)), l.limits.DescriptionLimit)
}

// localizedTool is what a tool is for and takes in the languages that it has words in, where one list carries them all.
func (l commandList) localizedTool(tool *registry.Tool) map[string]func() chat.CommandText {
	return l.inEach(func(v show.Voice) (text chat.CommandText) {
		if read := tool.In(v.Language()); read != tool {
			text.Description = l.purpose(read)
			text.Inputs, _ = l.toolInputs(read, v)
		}
		return text
	})
}

// optionOrder puts what is needed first, then what is usual, then the rest: platforms want it so, and what is beyond
// their limit is then what is missed least.
func optionOrder(schema registry.InputSchema) registry.InputSchema {
	sorted := slices.Clone(schema.Ordered())
	rank := func(f registry.InputField) int {
		switch {
		case f.Required:
			return 0
		case !f.Advanced:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(sorted, func(a, b registry.InputField) int { return cmp.Compare(rank(a), rank(b)) })
	return sorted
}

// completed names the inputs whose values are offered while they are typed: long lists of choices, and texts, for
// which recent ones are offered.
func completed(inputs registry.InputSchema) []string {
	var names []string
	for _, f := range inputs {
		if len(f.Choices) > maxChoicesTyped || f.IsText() {
			names = append(names, f.Name)
		}
	}
	return names
}

// onMessages are the commands in the menu of a message: any tool by way of a choice, those used most that take a
// picture, and reporting it.
func (l commandList) onMessages(v show.Voice) []chat.Command {
	room := l.limits.OnMessages
	_, reports := l.bot.Find(reportCommand)
	if reports && room > 1 {
		room--
	}
	list := l.onPictures(v, room)
	if room < l.limits.OnMessages {
		list = append(list, chat.Command{Use: reportCommand, Name: v.Line("button.report"), Private: true, Localized: l.localizedName("button.report")})
	}
	for i := range list {
		list[i].OnMessages = true
	}
	return list
}

// onPeople are the same in the menu of a person, for their picture.
func (l commandList) onPeople(v show.Voice) []chat.Command {
	list := l.onPictures(v, l.limits.OnPeople)
	for i := range list {
		list[i].OnPeople = true
	}
	return list
}

// entry is what a list of apps opens: the tools.
func (l commandList) entry(v show.Voice) []chat.Command {
	if !l.limits.Entry {
		return nil
	}
	return []chat.Command{{
		Entry: true, Name: "open", Use: "tools", Description: chat.Brief(v.Line("command.tools"), l.limits.DescriptionLimit), Private: true,
		Localized: l.localized("command.tools"),
	}}
}

// onPictures are up to n commands for a picture: one for any tool, then the tools used most.
func (l commandList) onPictures(v show.Voice, n int) []chat.Command {
	if n == 0 {
		return nil
	}
	list := []chat.Command{{Use: start.UseWith, Name: v.Line("button.use"), Private: true, Localized: l.localizedName("button.use")}}
	photo := []chat.Attachment{{Kind: chat.KindPhoto}}
	taken := map[string]bool{}
	fitting := slices.DeleteFunc(l.named(), func(tool *registry.Tool) bool {
		name := chat.Brief(tool.DisplayName, l.limits.NameChars)
		unfit := taken[name] || !tool.Hints().SupportsReplyWithCommand || !input.Takes(tool, photo)
		taken[name] = taken[name] || !unfit
		return unfit
	})
	for _, tool := range l.choose(fitting, n-1) {
		list = append(list, chat.Command{
			Use: strings.TrimPrefix(tool.CommandName, "/"), Name: chat.Brief(tool.In(v.Language()).DisplayName, l.limits.NameChars),
			Localized: l.localizedToolName(tool),
		})
	}
	return list
}

// choose takes n tools: all in their order where there are no more, else those used most.
func (l commandList) choose(tools []*registry.Tool, n int) []*registry.Tool {
	if len(tools) <= n {
		return tools
	}
	return menus.MostUsed(tools, l.uses)[:n]
}

// localizedToolName is what a tool is called in the languages that it has words in, where one list carries them all.
func (l commandList) localizedToolName(tool *registry.Tool) map[string]func() chat.CommandText {
	return l.inEach(func(v show.Voice) (text chat.CommandText) {
		if read := tool.In(v.Language()); read != tool {
			text.Name = chat.Brief(read.DisplayName, l.limits.NameChars)
		}
		return text
	})
}

func (l commandList) localizedName(key string) map[string]func() chat.CommandText {
	return l.inEach(func(v show.Voice) chat.CommandText {
		return chat.CommandText{Name: chat.Brief(v.Line(key), l.limits.DescriptionLimit)}
	})
}
