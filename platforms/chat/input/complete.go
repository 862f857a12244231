package input

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// Complete offers values of an input. A text that is typed is itself a value.
func Complete(f registry.InputField, typed string, recent []any, n int) []chat.Choice {
	chosen := NewChoices(n)
	if free := IsTyped(f); free && strings.TrimSpace(typed) != "" {
		if value, bad := registry.ParseText(f, typed); bad == nil {
			chosen.Add(chat.Choice{Label: typed, Value: value})
		}
	}
	for _, c := range registry.Complete(f, typed, recent, n) {
		chosen.Add(chat.Choice{Label: c.Text(), Value: c.Value})
	}
	for _, c := range f.Choices { // one slip is forgiven
		if typed != "" && sameWord(strings.ToLower(typed), strings.ToLower(c.Text())) {
			chosen.Add(chat.Choice{Label: c.Text(), Value: c.Value})
		}
	}
	return chosen.List
}

// Choices are offered values, each once.
type Choices struct {
	List []chat.Choice
	seen map[any]bool
	most int
}

// NewChoices makes a list for at most so many.
func NewChoices(most int) *Choices { return &Choices{most: most, seen: map[any]bool{}} }

// Add appends a choice, unless it is there already, has no label, or the list is full.
func (c *Choices) Add(choice chat.Choice) {
	if key := fmt.Sprint(choice.Value); len(c.List) < c.most && !c.seen[key] && choice.Label != "" {
		c.seen[key] = true
		c.List = append(c.List, choice)
	}
}
