package objectinfo

import (
	"testing"
)

func TestControlOfSeeds(t *testing.T) {
	t.Parallel()
	info, err := Parse([]byte(`{"Sampler": {"input": {"required": {
		"seed": ["INT", {"control_after_generate": true}], "noise_seed": ["INT", {}], "fixed": ["INT", {"control_after_generate": true}], "steps": ["INT", {}]
	}}, "output": []}}`))
	if err != nil {
		t.Fatal(err)
	}
	sampler, ok := info.Class("Sampler")
	if !ok || len(sampler.Inputs) != 4 {
		t.Fatalf("Sampler is %+v", sampler)
	}
	for i, want := range []bool{true, true, true, false} {
		if in := &sampler.Inputs[i]; in.HasControl() != want {
			t.Errorf("a control value follows %s: %v, expected %v", in.Name, !want, want)
		}
	}
}
