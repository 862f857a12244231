package catalog_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// TestCommandsOfPeople resolves commands of tools that people made: the house's tool first, then the own one, then what somebody shares.
func TestCommandsOfPeople(t *testing.T) {
	t.Parallel()
	made := func(id, owner, command string, v registry.Visibility) registry.Tool {
		tool := registrytest.Tool(id)
		tool.Owner, tool.CommandName, tool.Visibility = owner, command, v
		return tool
	}
	snapshot := catalog.NewSnapshot([]registry.Tool{
		made("anns", "ann", "/poster", registry.VisibilityHidden), made("bobs", "bob", "/poster", registry.VisibilityHidden),
		made("shared", "cleo", "/poster", registry.VisibilityPublic), made("anns-too", "ann", "/paint", registry.VisibilityHidden),
		made("cleos", "cleo", "/paint", registry.VisibilityPublic), made("paint", "", "/paint", registry.VisibilityPublic),
		made("anns-alone", "ann", "/mine", registry.VisibilityHidden),
	}, time.Now())
	for _, c := range []struct{ who, command, want string }{
		{"ann", "/poster", "anns"}, {"bob", "/Poster@bot", "bobs"}, {"dora", "/poster", "shared"}, {"", "/poster", "shared"},
		{"ann", "/paint", "paint"}, {"ann", "/mine", "anns-alone"}, {"bob", "/mine", ""}, {"", "/mine", ""},
	} {
		found := ""
		if tool, ok := snapshot.For(c.who).ByCommand(c.command); ok {
			found = tool.ToolID
		}
		if found != c.want {
			t.Errorf("%s of %q leads to %q, want %q", c.command, c.who, found, c.want)
		}
	}
	if !snapshot.HasCommand("/mine") || snapshot.HasCommand("/yours") {
		t.Error("which commands there are")
	}
	if problems := snapshot.Problems(); len(problems) != 1 || problems[0].ToolID != "cleos" {
		t.Errorf("got %v", problems)
	}
}
