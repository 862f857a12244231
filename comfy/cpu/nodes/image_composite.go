package nodes

import (
	"context"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func imageCompositeNodes() []node.Node {
	return []node.Node{imageCompositeMasked(), porterDuffImageComposite(), joinImageWithAlpha(), splitImageWithAlpha()}
}

func imageCompositeMasked() node.Node {
	return imageNode(node.Spec{
		Class: "ImageCompositeMasked", DisplayName: "Image Composite Masked", Category: "image/compositing", Module: "comfy_extras.nodes_mask",
		Description:   "Lays a picture over another one through a mask.",
		SearchAliases: []string{"overlay", "layer", "paste image", "images composition"},
		Required: []node.Input{
			node.Socket("destination", "IMAGE"),
			node.Socket("source", "IMAGE"),
			node.Int("x").Default(0).Range(0, 16384).Step(1),
			node.Int("y").Default(0).Range(0, 16384).Step(1),
			node.Bool("resize_source").Default(false),
		},
		Optional: []node.Input{
			node.Socket("mask", "MASK"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Composite(c.Image("destination"), c.Image("source"), c.Mask("mask"), c.Int("x"), c.Int("y"), c.Bool("resize_source"))
	})
}

func porterDuffImageComposite() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "PorterDuffImageComposite", DisplayName: "Porter-Duff Image Composite", Category: "image/compositing", Module: "comfy_extras.nodes_compositing",
		Description:   "Composes two pictures with alpha by the rules of Porter and Duff.",
		SearchAliases: []string{"alpha composite", "blend modes", "layer blend", "transparency blend"},
		Required: []node.Input{
			node.Socket("source", "IMAGE"),
			node.Socket("source_alpha", "MASK"),
			node.Socket("destination", "IMAGE"),
			node.Socket("destination_alpha", "MASK"),
			node.Combo("mode", "ADD", "CLEAR", "DARKEN", "DST", "DST_ATOP", "DST_IN", "DST_OUT", "DST_OVER", "LIGHTEN", "MULTIPLY", "OVERLAY", "SCREEN", "SRC", "SRC_ATOP", "SRC_IN", "SRC_OUT", "SRC_OVER", "XOR").Default("DST"),
		},
		Outputs: node.Outs("IMAGE", "MASK"),
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		source := tensor.Layer{Image: c.Image("source"), Mask: c.Mask("source_alpha")}
		destination := tensor.Layer{Image: c.Image("destination"), Mask: c.Mask("destination_alpha")}
		out, err := tensor.PorterDuff(source, destination, c.Text("mode"))
		if err != nil {
			return nil, err
		}
		return node.Out(out.Image, out.Mask), nil
	}}
}

func joinImageWithAlpha() node.Node {
	return imageNode(node.Spec{
		Class: "JoinImageWithAlpha", DisplayName: "Join Image with Alpha", Category: "image/compositing", Module: "comfy_extras.nodes_compositing",
		Description:   "Makes the masked parts of a picture transparent.",
		SearchAliases: []string{"add transparency", "apply alpha", "composite alpha", "RGBA"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Socket("alpha", "MASK"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.JoinAlpha(c.Image("image"), c.Mask("alpha"))
	})
}

func splitImageWithAlpha() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "SplitImageWithAlpha", DisplayName: "Split Image with Alpha", Category: "image/compositing", Module: "comfy_extras.nodes_compositing",
		Description:   "Separates colours and transparency.",
		SearchAliases: []string{"extract alpha", "separate transparency", "remove alpha"},
		Required:      []node.Input{node.Socket("image", "IMAGE")},
		Outputs:       node.Outs("IMAGE", "MASK"),
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		m, alpha := tensor.SplitAlpha(c.Image("image"))
		return node.Out(m, alpha), nil
	}}
}
