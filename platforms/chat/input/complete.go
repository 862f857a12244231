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
	for _, c := range offers(f, typed, recent, n) {
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

// offers gives values for an input while somebody types (A71): the choices or, where there are
// none, yes and no for a flag and the values used recently. Those that begin with what was typed come
// first, then those that contain it; at most limit.
func offers(f registry.InputField, typed string, recent []any, limit int) []registry.Choice {
	var begin, contain []registry.Choice
	typed = strings.ToLower(strings.TrimSpace(typed))
	for _, c := range completions(f, recent) {
		text := strings.ToLower(c.Text())
		switch {
		case strings.HasPrefix(text, typed):
			begin = append(begin, c)
		case strings.Contains(text, typed):
			contain = append(contain, c)
		}
	}
	all := append(begin, contain...)
	return all[:min(len(all), max(limit, 0))]
}

func completions(f registry.InputField, recent []any) []registry.Choice {
	switch {
	case len(f.Choices) > 0:
		return f.Choices
	case f.Type == registry.TypeBoolean:
		return []registry.Choice{{Value: true, Label: "yes"}, {Value: false, Label: "no"}}
	case f.Type.IsMedia():
		return nil
	}
	var offered []registry.Choice
	for _, value := range recent {
		checked, err := registry.CheckValue(f, value)
		if err != nil || checked == nil || checked == "" || contains(offered, checked) {
			continue
		}
		offered = append(offered, registry.Choice{Value: checked})
	}
	return offered
}

func contains(choices []registry.Choice, value any) bool {
	for _, c := range choices {
		if registry.SameValue(c.Value, value) {
			return true
		}
	}
	return false
}
