package pages

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// tools are those of the registry as an account sees them.
type tools struct {
	registry *catalog.Registry
	find     catalog.Searcher
}

func (s tools) snapshot() *catalog.Snapshot { return s.registry.Snapshot() }

// visible finds a tool that the account may see.
func (s tools) visible(id string, a users.Account) (registry.Tool, error) {
	t, ok := s.snapshot().Resolve(id)
	if !ok || !request.Knows(a, t) {
		return registry.Tool{}, runs.UnknownTool(s.registry, request.Audience(a), id)
	}
	return t.Clone(), nil
}

// listed are the tools that this account's lists show, shared and read-only.
func (s tools) listed(a users.Account) []*registry.Tool {
	return s.snapshot().Listed(request.Audience(a))
}

// forPeople are those of the list that people pick by hand or pay for. The others are free steps for models, such as moving a shape.
func (s tools) forPeople(a users.Account) []*registry.Tool {
	return slices.DeleteFunc(s.listed(a), func(t *registry.Tool) bool { return !t.InMenus() && t.CostingModel == nil })
}

// search finds tools by what an account types, shared and read-only.
func (s tools) search(ctx context.Context, a users.Account, query string) []*registry.Tool {
	var found []*registry.Tool
	for _, m := range s.find(ctx, query, catalog.SearchOptions{Audience: request.Audience(a), Limit: 30, WithUnavailable: true}) {
		found = append(found, m.Tool)
	}
	return found
}

// readIn puts tools into a list of our own as people read them in a language.
func readIn(language string, tools []*registry.Tool) []*registry.Tool {
	for i, t := range tools {
		tools[i] = t.In(language)
	}
	return tools
}

// inputFor finds the first input of a tool that a result fits into.
func inputFor(t registry.Tool, o runs.Output) (registry.InputField, bool) {
	for _, f := range t.InputSchema.Ordered() {
		if o.Media == "" {
			if f.Type == registry.TypeString && len(f.Choices) == 0 && !f.Advanced {
				return f, true
			}
		} else if string(f.Type) == o.Type || f.Type == registry.TypeFile {
			return f, true
		}
	}
	return registry.InputField{}, false
}
