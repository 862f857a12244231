package accept

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// screen refuses inputs with a text that the house does not take. It is asked of every run, whatever door it came by. What the tool itself
// has to choose from, and as its default, is its author's, also where a form sends it back.
func (s *Acceptor) screen(ctx context.Context, b runs.Bound) error {
	if s.Config.Screen == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(b.Inputs)) {
		if f, _ := b.Tool.InputSchema.Get(name); ofTool(b.Tool, f, b.Inputs[name]) {
			continue
		}
		if has, refused := s.refusedText(b.Inputs[name]); refused {
			s.Log.InfoContext(ctx, "a text was refused that the house does not take", "tool", b.Tool.ToolID, "account", b.Request.AccountID, "input", name, "entry", has)
			return registry.Say(registry.CodeInvalidInput, said.TextRefused).At(name)
		}
	}
	return nil
}

func ofTool(tool registry.Tool, f registry.InputField, value any) bool {
	return len(f.Choices) > 0 || reflect.DeepEqual(value, f.Default) || reflect.DeepEqual(value, tool.HumanDefaults[f.Name])
}

// refusedText looks at all texts in a value.
func (s *Acceptor) refusedText(value any) (has string, refused bool) {
	switch v := value.(type) {
	case string:
		return s.Config.Screen(v)
	case []any:
		for _, item := range v {
			if has, refused = s.refusedText(item); refused {
				return has, true
			}
		}
	case map[string]any:
		for key, item := range v {
			if has, refused = s.Config.Screen(key); refused {
				return has, true
			}
			if has, refused = s.refusedText(item); refused {
				return has, true
			}
		}
	}
	return "", false
}
