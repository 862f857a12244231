package registry_test

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	texts := func(choices []registry.Choice) []string {
		all := []string{}
		for _, c := range choices {
			all = append(all, c.Text())
		}
		return all
	}
	for name, c := range map[string]struct {
		field  registry.InputField
		typed  string
		recent []any
		want   []string
	}{
		"A71 choices, those that begin so first": {sampler, "e", nil, []string{"euler", "Euler"}},
		"A71 choices by a part of the label":     {sampler, "2m", nil, []string{"DPM++ 2M"}},
		"A71 recent values that are still valid": {width, "5", []any{"512", n("99999"), n("512"), "576"}, []string{"512", "576"}},
		"A71 yes and no":                         {flag, "", nil, []string{"yes", "no"}},
		"A71 nothing for files":                  {photo, "", []any{asset}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := texts(registry.Complete(c.field, c.typed, c.recent, 25)); !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Run("A71 no more than the platform takes", func(t *testing.T) {
		t.Parallel()
		if got := registry.Complete(sampler, "", nil, 2); len(got) != 2 {
			t.Errorf("got %v", got)
		}
	})
}
