package nodes

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
)

// latentShrink is how many pixels one latent value stands for, along each side; latentChannels how many values there are.
const (
	latentShrink   = 8
	latentChannels = 4
)

// Latent is an empty latent picture. Without models nothing can be done with it but to look at it.
type Latent struct{ B, C, H, W int }

// String shows it as the real server prints it, large ones by their shape.
func (l *Latent) String() string {
	text := fmt.Sprintf("tensor(shape=[%d, %d, %d, %d])", l.B, l.C, l.H, l.W)
	if n := l.B * l.C * l.H * l.W; n > 0 && n <= 1000 && l.W <= 16 {
		text = "tensor(" + zeros([]int{l.B, l.C, l.H, l.W}, len("tensor(")+1) + ")"
	}
	return fmt.Sprintf("{'samples': %s, 'downscale_ratio_spacial': %d}", text, latentShrink)
}

// zeros prints nested lists of "0." with the line breaks of PyTorch.
func zeros(shape []int, indent int) string {
	if len(shape) == 0 {
		return "0."
	}
	parts := make([]string, shape[0])
	for i := range parts {
		parts[i] = zeros(shape[1:], indent+1)
	}
	between := ", "
	if depth := len(shape) - 1; depth > 0 {
		between = "," + strings.Repeat("\n", depth) + strings.Repeat(" ", indent)
	}
	return "[" + strings.Join(parts, between) + "]"
}

func latentNodes() []node.Node {
	spec := node.Spec{Class: "EmptyLatentImage", DisplayName: "Empty Latent Image", Category: "model/latent", Module: "nodes", Legacy: true,
		Description: "Makes a batch of empty latent pictures.",
		Required: []node.Input{
			node.Int("width").Default(512).Range(16, 16384).Step(8), node.Int("height").Default(512).Range(16, 16384).Step(8),
			node.Int("batch_size").Default(1).Range(1, 4096),
		},
		Outputs:       node.Outs("LATENT"),
		SearchAliases: []string{"empty", "empty latent", "new latent", "create latent", "blank latent", "blank"}}
	return []node.Node{{Spec: spec, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		return node.Out(&Latent{c.Int("batch_size"), latentChannels, c.Int("height") / latentShrink, c.Int("width") / latentShrink}), nil
	}}}
}
