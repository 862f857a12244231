package main

import "testing"

func TestGarbageUnderLoad(t *testing.T) {
	t.Parallel()
	percent := restPercent
	for _, step := range []struct {
		bytes uint64
		want  int
	}{
		{tidyQuiet, restPercent}, {tidyLoad, restPercent}, {tidyLoad + 1, loadPercent}, {tidyLoad, loadPercent},
		{tidyQuiet, loadPercent}, {tidyQuiet - 1, restPercent},
	} {
		if percent = percentFor(step.bytes, percent); percent != step.want {
			t.Errorf("after %d bytes: %d%%, want %d%%", step.bytes, percent, step.want)
		}
	}
}
