package registry_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

func TestManyChoices(t *testing.T) { // not parallel: it counts allocations
	allocations := func(choices int) float64 {
		tool := mustDecode(t, registrytest.Complete)
		f := registry.InputField{Name: "model", Type: registry.TypeString}
		for i := range choices {
			f.Choices = append(f.Choices, registry.Choice{Value: fmt.Sprintf("model%d.safetensors", i)})
		}
		tool.InputSchema = append(tool.InputSchema, f)
		return testing.AllocsPerRun(5, func() {
			if err := validate.Tool(tool); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(100), allocations(300); many > 4*few {
		t.Errorf("%v allocations for 300 choices, %v for 100: each is compared with each at a cost", many, few)
	}
}

func BenchmarkDecode(b *testing.B) {
	b.SetBytes(int64(len(registrytest.Complete)))
	for b.Loop() {
		mustDecode(b, registrytest.Complete)
	}
}
