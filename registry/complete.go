package registry

import (
	"strings"
)

// Complete offers values for an input while somebody types (A71): the choices or, where there are
// none, yes and no for a flag and the values used recently. Those that begin with what was typed come
// first, then those that contain it; at most limit.
func Complete(f InputField, typed string, recent []any, limit int) []Choice {
	var begin, contain []Choice
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

func completions(f InputField, recent []any) []Choice {
	switch {
	case len(f.Choices) > 0:
		return f.Choices
	case f.Type == TypeBoolean:
		return []Choice{{Value: true, Label: "yes"}, {Value: false, Label: "no"}}
	case f.Type.IsMedia():
		return nil
	}
	var offered []Choice
	for _, value := range recent {
		checked, err := CheckValue(f, value)
		if err != nil || checked == nil || checked == "" || contains(offered, checked) {
			continue
		}
		offered = append(offered, Choice{Value: checked})
	}
	return offered
}

func contains(choices []Choice, value any) bool {
	for _, c := range choices {
		if sameValue(c.Value, value) {
			return true
		}
	}
	return false
}
