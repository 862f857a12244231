package needs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/comfy/workflow"
)

func TestRemembered(t *testing.T) {
	with := func(names string) string {
		return `{"Loader": {"input": {"required": {"ckpt_name": [[` + names + `], {}]}}}}`
	}
	need := func(models ...string) workflow.Requirements {
		r := workflow.Requirements{Classes: []string{"Loader"}}
		for _, name := range models {
			r.Models = append(r.Models, workflow.Model{Folder: "checkpoints", Name: name})
		}
		return r
	}
	before, after := objectInfo(t, with(`"a"`)), objectInfo(t, with(`"a", "b"`))
	var r Remembered
	expect := func(what string, got []string, lacks ...string) {
		t.Helper()
		if !slices.Equal(got, lacks) {
			t.Errorf("%s: lacks %q, expected %q", what, got, lacks)
		}
	}
	expect("at first", r.Missing(before, "one", need("b")), "the model b")
	same := need("b")
	if n := testing.AllocsPerRun(10, func() { r.Missing(before, "one", same) }); n > 0 {
		t.Errorf("what is known is worked out again, with %v allocations", n)
	}
	lacks := r.Missing(before, "one", same)
	_ = append(lacks, "what a caller adds")
	_ = append(lacks, "what another adds")
	expect("once more", r.Missing(before, "one", same), "the model b")
	expect("another tool", r.Missing(before, "two", need("a")))
	expect("the tool needs another model", r.Missing(before, "one", need("a")))
	expect("and one more", r.Missing(before, "one", need("a", "c")), "the model c")
	expect("the tool has another node", r.Missing(before, "one", workflow.Requirements{Classes: []string{"Gone"}}), "the node Gone")
	same.Models[0].Name = "a"
	expect("a need that is changed in place", r.Missing(before, "one", same))
	expect("before the model comes", r.Missing(before, "one", need("b")), "the model b")
	expect("the model came", r.Missing(after, "one", need("b")))
	expect("and went", r.Missing(before, "one", need("b")), "the model b")
	for i := range 2*maxTools + 1 {
		r.Missing(before, fmt.Sprint(i), same)
	}
	if len(r.byTool) > maxTools {
		t.Errorf("%d tools are remembered, at most %d should be", len(r.byTool), maxTools)
	}
}
