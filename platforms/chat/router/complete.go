package router

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// completeInput offers values of an input. A text that is typed is itself a value.
func completeInput(f registry.InputField, typed string, recent []any, n int) []chat.Choice {
	chosen := choices{most: n, seen: map[any]bool{}}
	if free := isTyped(f); free && strings.TrimSpace(typed) != "" {
		if value, bad := registry.ParseText(f, typed); bad == nil {
			chosen.add(chat.Choice{Label: typed, Value: value})
		}
	}
	for _, c := range registry.Complete(f, typed, recent, n) {
		chosen.add(chat.Choice{Label: c.Text(), Value: c.Value})
	}
	for _, c := range f.Choices { // one slip is forgiven
		if typed != "" && sameWord(strings.ToLower(typed), strings.ToLower(c.Text())) {
			chosen.add(chat.Choice{Label: c.Text(), Value: c.Value})
		}
	}
	return chosen.list
}

// choices are offered values, each once.
type choices struct {
	list []chat.Choice
	seen map[any]bool
	most int
}

func (c *choices) add(choice chat.Choice) {
	if key := fmt.Sprint(choice.Value); len(c.list) < c.most && !c.seen[key] && choice.Label != "" {
		c.seen[key] = true
		c.list = append(c.list, choice)
	}
}
