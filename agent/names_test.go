package agent_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/agent"
)

func TestNames(t *testing.T) {
	t.Parallel()
	t.Run("B31 names are legal, distinct and lead back", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("x", 70)
		ids := []string{"unsplash.search", "a.b", "a_b", "a-b", "a b", "a_b_2", long + ".1", long + ".2", "größe", ""}
		var tools []agent.Tool
		for _, id := range ids {
			tools = append(tools, agent.Tool{Name: id})
		}
		names := agent.NewNames(tools)
		slices.Reverse(tools)
		again := agent.NewNames(tools)
		seen := map[string]bool{}
		for _, id := range ids {
			alias := names.Alias(id)
			if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(alias) || seen[alias] || names.Tool(alias) != id || again.Alias(id) != alias {
				t.Errorf("%q goes by %q, leads back to %q", id, alias, names.Tool(alias))
			}
			seen[alias] = true
		}
		if names.Alias("unsplash.search") != "unsplash_search" || names.Alias("a_b") != "a_b" || names.Tool("made_up") != "made_up" {
			t.Errorf("got %+v", names)
		}
	})
}
