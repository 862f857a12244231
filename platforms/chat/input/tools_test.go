package input

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestUsageShowsHowToWriteACommand(t *testing.T) {
	t.Parallel()
	tool := registry.Tool{ToolID: "painter", CommandName: "/painter", InputSchema: registry.InputSchema{
		{Name: "negative prompt", Type: registry.TypeString, Default: "no fog"},
		{Name: "prompt", Type: registry.TypeString, Required: true, DisplayName: "Prompt"},
		{Name: "photo", Type: registry.TypeImage}, {Name: "rare", Type: registry.TypeNumber, Advanced: true},
	}}
	if got, want := Usage(&tool), `/painter <prompt> negative_prompt="no fog"`; got != want {
		t.Errorf("usage %q, want %q", got, want)
	}
	tool.CommandName = ""
	if got := Usage(&tool); !strings.HasPrefix(got, "/run painter <prompt>") {
		t.Errorf("usage without a command is %q", got)
	}
}
