package nodes

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func maskNodes() []node.Node {
	return []node.Node{
		solidMask(), maskToImage(), imageToMask(), imageColorToMask(), batchMasks(), thresholdMask(), invertMask(),
		voidQuadmaskPreprocess(),
	}
}

// nonEmpty refuses masks without pixels.
func nonEmpty(m *tensor.Mask) error {
	if m.B*m.H*m.W == 0 {
		return fmt.Errorf("the mask has no pixels: its shape is [%d, %d, %d]", m.B, m.H, m.W)
	}
	return nil
}

func solidMask() node.Node {
	return maskNode(node.Spec{
		Class: "SolidMask", DisplayName: "Create Solid Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description: "Makes a mask of one value.",
		Required: []node.Input{
			node.Float("value").Default(1.0).Range(0.0, 1.0).Step(0.01),
			node.Int("width").Default(512).Range(1, 16384).Step(1),
			node.Int("height").Default(512).Range(1, 16384).Step(1),
		},
	}, func(c *node.Call) (*tensor.Mask, error) {
		w, h := c.Int("width"), c.Int("height")
		if err := c.CheckSize(1, h, w); err != nil {
			return nil, err
		}
		return tensor.SolidMask(w, h, c.Float("value"))
	})
}

func maskToImage() node.Node {
	return imageNode(node.Spec{
		Class: "MaskToImage", DisplayName: "Convert Mask to Image", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Shows a mask as a grey picture.",
		SearchAliases: []string{"convert mask"},
		Required:      []node.Input{node.Socket("mask", "MASK")},
	}, func(c *node.Call) (*tensor.Image, error) {
		if err := nonEmpty(c.Mask("mask")); err != nil {
			return nil, err
		}
		return c.Mask("mask").Gray()
	})
}

func imageToMask() node.Node {
	channels := map[string]int{"red": 0, "green": 1, "blue": 2, "alpha": 3}
	return maskNode(node.Spec{
		Class: "ImageToMask", DisplayName: "Convert Image to Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Takes one channel as a mask.",
		SearchAliases: []string{"extract channel", "channel to mask"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Combo("channel", "red", "green", "blue", "alpha"),
		},
	}, func(c *node.Call) (*tensor.Mask, error) {
		m, channel := c.Image("image"), channels[c.Text("channel")]
		if channel >= m.C {
			return nil, node.Raise("IndexError", "index %d is out of bounds for dimension 3 with size %d: the image has no %s channel", channel, m.C, c.Text("channel"))
		}
		return m.Channel(channel), nil
	})
}

func imageColorToMask() node.Node {
	return maskNode(node.Spec{
		Class: "ImageColorToMask", DisplayName: "Convert Image Color to Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Finds the pixels of one exact colour.",
		SearchAliases: []string{"color keying", "chroma key"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("color").Default(0).Range(0, 16777215).Step(1).With("display", "number"),
		},
	}, func(c *node.Call) (*tensor.Mask, error) {
		return tensor.ColorMask(c.Image("image"), c.Int("color"))
	})
}

func batchMasks() node.Node {
	return maskNode(node.Spec{
		Class: "BatchMasksNode", DisplayName: "Batch Masks", Category: "image/mask", Module: "comfy_extras.nodes_post_processing",
		Description:   "Puts masks into one batch; all get the size of the first.",
		SearchAliases: []string{"combine masks", "stack masks", "merge masks"},
		Required:      []node.Input{node.Autogrow("masks", node.Socket("mask", "MASK"), "mask", 1, 50)},
	}, func(c *node.Call) (*tensor.Mask, error) {
		var parts []*tensor.Mask
		for _, v := range c.Group("masks") {
			if m, ok := v.(*tensor.Mask); ok {
				parts = append(parts, m)
			}
		}
		if len(parts) == 0 {
			return nil, errors.New("no masks to put into a batch")
		}
		return tensor.BatchMasks(parts)
	})
}

func thresholdMask() node.Node {
	return maskNode(node.Spec{
		Class: "ThresholdMask", DisplayName: "Threshold Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Makes a mask black and white.",
		SearchAliases: []string{"binary mask"},
		Required: []node.Input{
			node.Socket("mask", "MASK"),
			node.Float("value").Default(0.5).Range(0.0, 1.0).Step(0.01),
		},
	}, func(c *node.Call) (*tensor.Mask, error) {
		return tensor.Threshold(c.Mask("mask"), c.Float("value")), nil
	})
}

func invertMask() node.Node {
	return maskNode(node.Spec{
		Class: "InvertMask", DisplayName: "Invert Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Swaps inside and outside.",
		SearchAliases: []string{"reverse mask", "flip mask"},
		Required:      []node.Input{node.Socket("mask", "MASK")},
	}, func(c *node.Call) (*tensor.Mask, error) {
		return tensor.InvertMask(c.Mask("mask")), nil
	})
}

func voidQuadmaskPreprocess() node.Node {
	return maskNode(node.Spec{
		Class: "VOIDQuadmaskPreprocess", DisplayName: "VOID Quadmask Preprocessor", Category: "image/mask", Module: "comfy_extras.nodes_void",
		Description: "Sorts a mask into the four levels that VOID models know.",
		Required: []node.Input{
			node.Socket("mask", "MASK"),
			node.Int("dilate_width").Default(0).Range(0, 50).Step(1),
		},
		Outputs: []node.Output{{Name: "quadmask", Type: "MASK"}},
	}, func(c *node.Call) (*tensor.Mask, error) {
		return tensor.Quadmask(c.Mask("mask"), c.Int("dilate_width")), nil
	})
}

func maskEditNodes() []node.Node {
	return []node.Node{cropMask(), maskComposite(), featherMask(), growMask()}
}

func cropMask() node.Node {
	return maskNode(node.Spec{
		Class: "CropMask", DisplayName: "Crop Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Cuts out a rectangle of a mask.",
		SearchAliases: []string{"cut mask", "extract mask region", "mask slice"},
		Required: []node.Input{
			node.Socket("mask", "MASK"),
			node.Int("x").Default(0).Range(0, 16384).Step(1),
			node.Int("y").Default(0).Range(0, 16384).Step(1),
			node.Int("width").Default(512).Range(1, 16384).Step(1),
			node.Int("height").Default(512).Range(1, 16384).Step(1),
		},
	}, func(c *node.Call) (*tensor.Mask, error) {
		m := c.Mask("mask")
		if err := nonEmpty(m); err != nil {
			return nil, err
		}
		return tensor.CropMask(m, c.Int("x"), c.Int("y"), c.Int("width"), c.Int("height")), nil
	})
}

func maskComposite() node.Node {
	return maskNode(node.Spec{
		Class: "MaskComposite", DisplayName: "Combine Masks", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Combines two masks.",
		SearchAliases: []string{"combine masks", "blend masks", "layer masks", "masks composition"},
		Required: []node.Input{
			node.Socket("destination", "MASK"),
			node.Socket("source", "MASK"),
			node.Int("x").Default(0).Range(0, 16384).Step(1),
			node.Int("y").Default(0).Range(0, 16384).Step(1),
			node.Combo("operation", "multiply", "add", "subtract", "and", "or", "xor"),
		},
	}, func(c *node.Call) (*tensor.Mask, error) {
		destination, source := c.Mask("destination"), c.Mask("source")
		if err := errors.Join(nonEmpty(destination), nonEmpty(source)); err != nil {
			return nil, err
		}
		return tensor.CombineMasks(destination, source, c.Int("x"), c.Int("y"), c.Text("operation"))
	})
}

func featherMask() node.Node {
	return maskNode(node.Spec{
		Class: "FeatherMask", DisplayName: "Feather Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Fades a mask towards its edges.",
		SearchAliases: []string{"soft edge mask", "blur mask edges", "gradient mask edge"},
		Required: []node.Input{
			node.Socket("mask", "MASK"),
			node.Int("left").Default(0).Range(0, 16384).Step(1),
			node.Int("top").Default(0).Range(0, 16384).Step(1),
			node.Int("right").Default(0).Range(0, 16384).Step(1),
			node.Int("bottom").Default(0).Range(0, 16384).Step(1),
		},
	}, func(c *node.Call) (*tensor.Mask, error) {
		m := c.Mask("mask")
		if err := nonEmpty(m); err != nil {
			return nil, err
		}
		return tensor.Feather(m, readEdges(c)), nil
	})
}

func growMask() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "GrowMask", DisplayName: "Grow Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Makes a mask larger or smaller.",
		SearchAliases: []string{"expand mask", "shrink mask"},
		Required: []node.Input{
			node.Socket("mask", "MASK"),
			node.Int("expand").Default(0).Range(-16384, 16384).Step(1),
			node.Bool("tapered_corners").Default(true).Advanced(),
		},
		Outputs: node.Outs("MASK"),
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		m, tapered := c.Mask("mask"), c.Bool("tapered_corners")
		if err := nonEmpty(m); err != nil {
			return nil, err
		}
		// In parts, so that a long way can be interrupted.
		const part = 64
		for left := c.Int("expand"); left != 0; {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			steps := min(max(left, -part), part)
			if !tapered {
				steps = left
			}
			m, left = tensor.Grow(m, steps, tapered), left-steps
		}
		return node.Out(m), nil
	}}
}
