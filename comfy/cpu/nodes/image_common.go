package nodes

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// imageNode is a node that makes one value, an IMAGE unless spec declares its output otherwise.
func imageNode(spec node.Spec, f func(c *node.Call) (*tensor.Image, error)) node.Node {
	return oneOutput("IMAGE", spec, f)
}

// maskNode is a node that makes one MASK.
func maskNode(spec node.Spec, f func(c *node.Call) (*tensor.Mask, error)) node.Node {
	return oneOutput("MASK", spec, f)
}

func oneOutput[T any](kind string, spec node.Spec, f func(c *node.Call) (T, error)) node.Node {
	if spec.Outputs == nil {
		spec.Outputs = node.Outs(kind)
	}
	return node.Node{Spec: spec, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		out, err := f(c)
		if err != nil {
			return nil, err
		}
		return node.Out(out), nil
	}}
}

// anys puts list elements into the form of a list output.
func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// parseHex reads "#rrggbb"; anything of another length is black.
func parseHex(text string) ([3]float32, error) {
	digits := strings.TrimLeft(text, "#")
	if len(digits) != 6 {
		return [3]float32{}, nil
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return [3]float32{}, node.ValueError("%q is not a colour: it must look like #3366cc", text)
	}
	var out [3]float32
	for i, v := range raw {
		out[i] = float32(float64(v) / 255)
	}
	return out, nil
}
