package registry_test

import (
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestOwnRateOfAMachine(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"NVIDIA L4", "", "cuda:0 A100 at $5"} {
		if rate, ok := registry.OwnRate(registry.MachineAt(name, "0.0004")); !ok || rate != "0.0004" {
			t.Errorf("%q: %q, %v", name, rate, ok)
		}
	}
	for _, name := range []string{"NVIDIA L4", "", "L4 at $", "L4 at $cheap", "L4 at $-1", "L4 at 5"} {
		if rate, ok := registry.OwnRate(name); ok {
			t.Errorf("%q: %q", name, rate)
		}
	}
}
