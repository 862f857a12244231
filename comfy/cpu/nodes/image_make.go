package nodes

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func imageMakeNodes() []node.Node {
	return []node.Node{emptyImage(), getImageSize()}
}

func emptyImage() node.Node {
	return imageNode(node.Spec{
		Class: "EmptyImage", DisplayName: "Empty Image", Category: "image", Module: "nodes", Legacy: true,
		Description: "Makes pictures of one colour.",
		Required: []node.Input{
			node.Int("width").Default(512).Range(1, 16384).Step(1),
			node.Int("height").Default(512).Range(1, 16384).Step(1),
			node.Int("batch_size").Default(1).Range(1, 4096),
			node.Int("color").Default(0).Range(0, 16777215).Step(1).With("display", "color"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		b, h, w, rgb := c.Int("batch_size"), c.Int("height"), c.Int("width"), c.Int("color")
		if err := c.CheckSize(b, h, w); err != nil {
			return nil, err
		}
		channel := func(shift int) float32 { return float32(float64(rgb>>shift&255) / 255) }
		return tensor.Solid(b, h, w, [3]float32{channel(16), channel(8), channel(0)})
	})
}

func getImageSize() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "GetImageSize", DisplayName: "Get Image Size", Category: "image", Module: "comfy_extras.nodes_images",
		Description:   "Gives width, height and number of the pictures.",
		SearchAliases: []string{"dimensions", "resolution", "image info"},
		Required:      []node.Input{node.Socket("image", "IMAGE")},
		Hidden:        []node.Hidden{{Name: "unique_id", Type: "UNIQUE_ID"}},
		Outputs:       []node.Output{{Name: "width", Type: "INT"}, {Name: "height", Type: "INT"}, {Name: "batch_size", Type: "INT"}},
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		m := c.Image("image")
		c.Note(fmt.Sprintf("width: %d, height: %d\n batch size: %d", m.W, m.H, m.B))
		return node.Out(int64(m.W), int64(m.H), int64(m.B)), nil
	}}
}
