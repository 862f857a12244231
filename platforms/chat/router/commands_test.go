package router

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

func TestCommandListPrefersWhatIsUsed(t *testing.T) {
	t.Parallel()
	var tools []*registry.Tool
	for i := range 20 {
		tools = append(tools, &registry.Tool{ToolID: fmt.Sprint(i), DisplayName: "Tool", CommandName: fmt.Sprintf("/tool%02d", i)})
	}
	tools = append(tools, &registry.Tool{ToolID: "h", DisplayName: "Mine", CommandName: "/help"}, &registry.Tool{ToolID: "n", DisplayName: "None"})
	bot := ownCommands(turn.Operator{}, allRooms)
	own := len(bot)
	limits := chat.CommandLimits{Max: own + 3, NameChars: 32, NamePattern: `[a-z0-9_]+`, DescriptionLimit: 10}
	list := commandList{limits: limits, bot: bot, tools: tools, uses: map[string]int64{"17": 5, "4": 9}}.in(inEnglish(t), chat.ChatPrivate)
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
		if c.Description == "" || chat.Length(c.Description) > 10 {
			t.Errorf("the description of %s is %q", c.Name, c.Description)
		}
	}
	if got := strings.Join(names[:3], " "); got != "tool04 tool17 tool00" || len(list) != own+3 {
		t.Errorf("%d commands, first %q", len(list), got)
	}
	if n := strings.Count(strings.Join(names, " ")+" ", "help "); n != 1 {
		t.Errorf("/help is there %d times", n)
	}
}

func TestKeyboardDataFits64Bytes(t *testing.T) {
	t.Parallel()
	k := store.Keyboard{ID: store.NewID()}
	for word := range presses() {
		data := k.Data(word + "999")
		id, action, ok := store.ParseData(data)
		if !ok || id != k.ID || action != word+"999" || len(data) > 64 {
			t.Errorf("%q is read as %q, %q, %v", data, id, action, ok)
		}
	}
}

func inEnglish(t *testing.T) show.Voice {
	t.Helper()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	return show.Voice{Voice: texts.Voice("en")}
}

func TestReportIsInTheMenuOfMessages(t *testing.T) {
	t.Parallel()
	onMessages := func(there rooms) (uses string) {
		limits := chat.CommandLimits{Max: 100, NameChars: 32, NamePattern: `[a-z0-9_]+`, DescriptionLimit: 100, OnMessages: 5}
		for _, c := range (commandList{limits: limits, bot: ownCommands(turn.Operator{}, there)}).in(inEnglish(t), chat.ChatGroup) {
			if c.OnMessages {
				uses += c.Use + " "
			}
		}
		return uses
	}
	if got := onMessages(rooms{moderation: true}); got != "use report " {
		t.Errorf("the menu of a message has %q", got)
	}
	if got := onMessages(rooms{}); got != "use " {
		t.Errorf("where nothing is reported it has %q", got)
	}
}

func TestWhatAMuteLeavesIsThere(t *testing.T) {
	t.Parallel()
	own, words := ownCommands(turn.Operator{}, allRooms), presses()
	for _, name := range muteLeavesCommands {
		if _, there := own.Find(name); !there {
			t.Errorf("there is no command %s", name)
		}
	}
	for _, word := range muteLeavesPresses {
		if _, there := words[word]; !there {
			t.Errorf("no button carries %s", word)
		}
	}
}
