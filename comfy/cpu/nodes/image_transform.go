package nodes

import (
	"context"
	"math"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func imageCropNodes() []node.Node {
	return []node.Node{imageCrop(), centerCropImages(), randomCropImages(), imagePadForOutpaint()}
}

// cropAt cuts out a rectangle whose corner is first moved into the picture. Corners before the start count from the
// end, as Python's slices do.
func cropAt(m *tensor.Image, x, y, w, h int) *tensor.Image {
	x, y = min(x, m.W-1), min(y, m.H-1)
	x0, x1 := sliced(x, x+w, m.W)
	y0, y1 := sliced(y, y+h, m.H)
	return tensor.Crop(m, x0, y0, max(0, x1-x0), max(0, y1-y0))
}

// sliced gives the bounds of Python's slice from:to of n elements.
func sliced(from, to, n int) (lo, hi int) {
	bound := func(i int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	return bound(from), bound(to)
}

func imageCrop() node.Node {
	return imageNode(node.Spec{
		Class: "ImageCrop", DisplayName: "Crop Image (DEPRECATED)", Category: "image/transform", Module: "comfy_extras.nodes_images", Essentials: "Image Tools",
		Description:   "Cuts out a rectangle.",
		SearchAliases: []string{"trim"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("width").Default(512).Range(1, 16384).Step(1),
			node.Int("height").Default(512).Range(1, 16384).Step(1),
			node.Int("x").Default(0).Range(0, 16384).Step(1),
			node.Int("y").Default(0).Range(0, 16384).Step(1),
		},
		Deprecated: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return cropAt(c.Image("image"), c.Int("x"), c.Int("y"), c.Int("width"), c.Int("height")), nil
	})
}

func centerCropImages() node.Node {
	return imageNode(node.Spec{
		Class: "CenterCropImages", DisplayName: "Crop Image (Center)", Category: "image/transform", Module: "comfy_extras.nodes_dataset",
		Description:   "Cuts out the middle.",
		SearchAliases: []string{"crop", "cut", "trim"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Int("width").Default(512).Range(1, 8192),
			node.Int("height").Default(512).Range(1, 8192),
		},
		Outputs:      []node.Output{{Name: "images", Type: "IMAGE"}},
		Experimental: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.EightBit(tensor.CropCenter(c.Image("images"), c.Int("width"), c.Int("height"))), nil
	})
}

func randomCropImages() node.Node {
	return imageNode(node.Spec{
		Class: "RandomCropImages", DisplayName: "Crop Image (Random)", Category: "image/transform", Module: "comfy_extras.nodes_dataset",
		Description:   "Cuts out a rectangle at a random place.",
		SearchAliases: []string{"crop", "cut", "trim"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Int("width").Default(512).Range(1, 8192),
			node.Int("height").Default(512).Range(1, 8192),
			node.Int("seed").Default(0).Range(0, uint64(math.MaxUint64)),
		},
		Outputs:      []node.Output{{Name: "images", Type: "IMAGE"}},
		Experimental: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.EightBit(tensor.CropRandom(c.Image("images"), c.Int("width"), c.Int("height"), c.Uint64("seed"))), nil
	})
}

func imagePadForOutpaint() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "ImagePadForOutpaint", DisplayName: "Pad Image for Outpainting", Category: "image/transform", Module: "nodes", Legacy: true,
		Description:   "Adds grey borders and makes the mask of what is to be painted.",
		SearchAliases: []string{"extend canvas", "expand image"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("left").Default(0).Range(0, 16384).Step(8),
			node.Int("top").Default(0).Range(0, 16384).Step(8),
			node.Int("right").Default(0).Range(0, 16384).Step(8),
			node.Int("bottom").Default(0).Range(0, 16384).Step(8),
			node.Int("feathering").Default(40).Range(0, 16384).Step(1).Advanced(),
		},
		Outputs: node.Outs("IMAGE", "MASK"),
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		m := c.Image("image")
		e := readEdges(c)
		if err := c.CheckSize(m.B, m.H+e.Top+e.Bottom, m.W+e.Left+e.Right); err != nil {
			return nil, err
		}
		out, mask, err := tensor.PadForOutpaint(m, e, c.Int("feathering"))
		if err != nil {
			return nil, err
		}
		return node.Out(out, mask), nil
	}}
}

// readEdges reads the inputs left, top, right and bottom.
func readEdges(c *node.Call) tensor.Edges {
	return tensor.Edges{Left: c.Int("left"), Top: c.Int("top"), Right: c.Int("right"), Bottom: c.Int("bottom")}
}

func imageTurnNodes() []node.Node {
	return []node.Node{imageRotate(), imageFlip(), imageStitch()}
}

func imageRotate() node.Node {
	quarters := map[string]int{"90 degrees": 1, "180 degrees": 2, "270 degrees": 3}
	return imageNode(node.Spec{
		Class: "ImageRotate", DisplayName: "Rotate Image", Category: "image/transform", Module: "comfy_extras.nodes_images", Essentials: "Image Tools",
		Description:   "Turns clockwise by quarters.",
		SearchAliases: []string{"turn", "flip orientation"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Combo("rotation", "none", "90 degrees", "180 degrees", "270 degrees"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Rotate(c.Image("image"), quarters[c.Text("rotation")]), nil
	})
}

func imageFlip() node.Node {
	return imageNode(node.Spec{
		Class: "ImageFlip", DisplayName: "Flip Image", Category: "image/transform", Module: "comfy_extras.nodes_images",
		Description:   "Mirrors upside down or left to right.",
		SearchAliases: []string{"mirror", "reflect"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Combo("flip_method", "x-axis: vertically", "y-axis: horizontally"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		if c.Text("flip_method") == "x-axis: vertically" {
			return tensor.FlipVertical(c.Image("image")), nil
		}
		return tensor.FlipHorizontal(c.Image("image")), nil
	})
}

func imageStitch() node.Node {
	colors := map[string][3]float32{"white": {1, 1, 1}, "black": {}, "red": {1, 0, 0}, "green": {0, 1, 0}, "blue": {0, 0, 1}}
	return imageNode(node.Spec{
		Class: "ImageStitch", DisplayName: "Stitch Images", Category: "image/transform", Module: "comfy_extras.nodes_images",
		Description:   "Puts two pictures side by side, with a strip between them.",
		SearchAliases: []string{"combine images", "join images", "concatenate images", "side by side"},
		Required: []node.Input{
			node.Socket("image1", "IMAGE"),
			node.Combo("direction", "right", "down", "left", "up").Default("right"),
			node.Bool("match_image_size").Default(true),
			node.Int("spacing_width").Default(0).Range(0, 1024).Step(2).Advanced(),
			node.Combo("spacing_color", "white", "black", "red", "green", "blue").Default("white").Advanced(),
		},
		Optional: []node.Input{
			node.Socket("image2", "IMAGE"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		a, b := c.Image("image1"), c.Image("image2")
		if b == nil {
			return a, nil
		}
		gap := tensor.Gap{Width: c.Int("spacing_width"), Color: colors[c.Text("spacing_color")]}
		if c.Text("spacing_color") == "white" {
			gap.Pad = 1
		}
		return tensor.Stitch(a, b, tensor.Side(c.Text("direction")), c.Bool("match_image_size"), gap)
	})
}
