package nodes

import (
	"context"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func imageBoxNodes() []node.Node {
	return []node.Node{primitiveBoundingBox(), imageCropV2(), cropByBBoxes(), drawBBoxes()}
}

func primitiveBoundingBox() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "PrimitiveBoundingBox", DisplayName: "Bounding Box", Category: "utilities/primitive", Module: "comfy_extras.nodes_images",
		Description: "Gives a rectangle.",
		Required: []node.Input{
			node.Int("x").Default(0).Range(0, 16384),
			node.Int("y").Default(0).Range(0, 16384),
			node.Int("width").Default(512).Range(1, 16384),
			node.Int("height").Default(512).Range(1, 16384),
		},
		Outputs: node.Outs("BOUNDING_BOX"),
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		box := &pyval.Dict{}
		for _, name := range []string{"x", "y", "width", "height"} {
			box.Set(name, c.Int64(name))
		}
		return node.Out(box), nil
	}}
}

// readBox reads a BOUNDING_BOX, a mapping of x, y, width and height; what it lacks is taken from the defaults.
func readBox(v any, defaults tensor.Rect) (tensor.Rect, error) {
	d, ok := v.(*pyval.Dict)
	if !ok {
		return tensor.Rect{}, node.Raise("TypeError", "a bounding box must be a mapping of x, y, width and height, got %s", pyval.TypeName(v))
	}
	for name, to := range map[string]*float64{"x": &defaults.X, "y": &defaults.Y, "width": &defaults.W, "height": &defaults.H} {
		if n, ok := d.Get(name); ok {
			f, ok := pyval.Float(n)
			if !ok {
				return tensor.Rect{}, node.Raise("TypeError", "%q of a bounding box must be a number, got %s", name, pyval.TypeName(n))
			}
			*to = f
		}
	}
	return defaults, nil
}

// boxLists reads one box, a list of boxes, or a list of lists of boxes, one list for each picture.
func boxLists(v any) ([][]tensor.Rect, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{[]any{v}}
	} else if len(list) > 0 {
		if _, flat := list[0].(*pyval.Dict); flat {
			list = []any{list}
		}
	}
	out := make([][]tensor.Rect, len(list))
	for i, inner := range list {
		members, _ := inner.([]any)
		for _, member := range members {
			r, err := readBox(member, tensor.Rect{})
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], r)
		}
	}
	return out, nil
}

func imageCropV2() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "ImageCropV2", DisplayName: "Crop Image", Category: "image/transform", Module: "comfy_extras.nodes_images", Essentials: "Image Tools",
		Description:   "Cuts out a rectangle drawn on the picture.",
		SearchAliases: []string{"crop", "cut", "trim"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Socket("crop_region", "BOUNDING_BOX").Default(map[string]any{"x": 0, "y": 0, "width": 512, "height": 512}).With("socketless", true).With("component", "ImageCrop"),
		},
		Outputs:      node.Outs("IMAGE"),
		Intermediate: true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		r, err := readBox(c.Value("crop_region"), tensor.Rect{W: 512, H: 512})
		if err != nil {
			return nil, err
		}
		out := cropAt(c.Image("image"), int(r.X), int(r.Y), int(r.W), int(r.H))
		ui, err := showPicture(ctx, c, out)
		if err != nil {
			return nil, err
		}
		return &node.Result{Outputs: []any{out}, UI: ui}, nil
	}}
}

func cropByBBoxes() node.Node {
	return imageNode(node.Spec{
		Class: "CropByBBoxes", DisplayName: "Crop By Bounding Boxes", Category: "image/transform", Module: "comfy_extras.nodes_sdpose",
		Description:   "Cuts out what lies in rectangles and scales it to one size.",
		SearchAliases: []string{"crop", "face crop", "bbox crop", "pose", "bounding box"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Socket("bboxes", "BOUNDING_BOX").Default(map[string]any{"x": 0, "y": 0, "width": 512, "height": 512}).ForceInput().With("socketless", true),
			node.Int("output_width").Default(512).Range(64, 4096).Step(8),
			node.Int("output_height").Default(512).Range(64, 4096).Step(8),
			node.Int("padding").Default(0).Range(0, 1024).Step(1),
			node.Combo("keep_aspect", "stretch", "pad").Default("stretch"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		m := c.Image("image")
		boxes, err := boxLists(c.Value("bboxes"))
		if err != nil {
			return nil, err
		}
		w, h := c.Int("output_width"), c.Int("output_height")
		if err := c.CheckSize(m.B, h, w); err != nil {
			return nil, err
		}
		return tensor.CropBoxes(m, boxes, w, h, c.Int("padding"), c.Text("keep_aspect") == "pad")
	})
}

func drawBBoxes() node.Node {
	return imageNode(node.Spec{
		Class: "DrawBBoxes", DisplayName: "Draw BBoxes", Category: "image/detection", Module: "comfy_extras.nodes_rtdetr",
		Description:   "Draws frames around rectangles.",
		SearchAliases: []string{"bbox", "bounding box", "object detection", "rt_detr", "visualize detections", "coco"},
		Required: []node.Input{
			node.Socket("bboxes", "BOUNDING_BOX").Default(map[string]any{"x": 0, "y": 0, "width": 512, "height": 512}).ForceInput().With("socketless", true),
		},
		Optional: []node.Input{
			node.Socket("image", "IMAGE"),
		},
		Outputs: []node.Output{{Name: "out_image", Type: "IMAGE"}},
	}, func(c *node.Call) (*tensor.Image, error) {
		boxes, err := boxLists(c.Value("bboxes"))
		if err != nil {
			return nil, err
		}
		m := c.Image("image")
		if m == nil {
			w, h := tensor.BoxesSize(boxes)
			if err := c.CheckSize(1, h, w); err != nil {
				return nil, err
			}
			if m, err = tensor.NewImage(max(1, len(boxes)), h, w, 3); err != nil {
				return nil, err
			}
		}
		return tensor.DrawBoxes(m, boxes), nil
	})
}
