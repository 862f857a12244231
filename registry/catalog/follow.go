package catalog

import (
	"cmp"
	"slices"

	"github.com/signalbox/signalbox/registry"
)

// Following is a tool that goes on with a result of another.
type Following struct {
	Does registry.Follow
	Tool *registry.Tool
}

// Following gives the tools that go on with a result of a tool, of the type output (image, video, audio, file): by what they
// do in the order of registry.Follows, and for each the best first. That is one that says so itself; then the tool that
// made the result, one of its service, and one that needs the least beside it. Only tools offered to a are among them.
func (s *Snapshot) Following(of *registry.Tool, output string, a registry.Audience) []Following {
	var found []Following
	needs := map[*registry.Tool]int{}
	for t := range s.Each() {
		if !t.OfferedTo(a) {
			continue
		}
		does, by := t.FollowsWith(output)
		own := t.ToolID == of.ToolID
		if does == registry.FollowNone || own && does != registry.FollowVary || !own && by.Role == registry.RoleOwn {
			continue
		}
		found = append(found, Following{does, t})
		for _, f := range t.InputSchema {
			if f.Required && f.Default == nil && f.Name != by.Name {
				needs[t]++
			}
		}
	}
	order := registry.Follows()
	less := func(yes bool) int { // what is so comes first
		if yes {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b Following) int {
		rank := func(f Following) []int {
			return []int{
				slices.Index(order, f.Does), less(f.Tool.Follows != ""), less(f.Tool.ToolID == of.ToolID), less(f.Tool.Service == of.Service), needs[f.Tool],
			}
		}
		return cmp.Or(slices.Compare(rank(a), rank(b)), cmp.Compare(a.Tool.ToolID, b.Tool.ToolID))
	})
	return found
}
