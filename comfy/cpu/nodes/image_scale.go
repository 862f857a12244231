package nodes

import (
	"context"
	"math"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func imageScaleNodes() []node.Node {
	return []node.Node{
		imageScale(), imageScaleBy(), imageScaleToMaxDimension(), imageScaleToTotalPixels(), resizeImageMask(),
		resizeAndPadImage(), resizeImagesByShorterEdge(), resizeImagesByLongerEdge(), fluxKontextImageScale(),
	}
}

// resize scales an image; crop "center" first cuts it to the new aspect.
func resize(c *node.Call, m *tensor.Image, w, h int, method, crop string) (*tensor.Image, error) {
	if err := c.CheckSize(m.B, h, w); err != nil {
		return nil, err
	}
	if crop == "center" {
		return tensor.CropResize(m, w, h, tensor.Method(method))
	}
	return tensor.Resize(m, w, h, tensor.Method(method))
}

// fillSize computes the side that is 0 from the other one, keeping the aspect.
func fillSize(m *tensor.Image, w, h int) (int, int) {
	switch {
	case w == 0 && m.H != 0:
		w = max(1, tensor.Round(float64(m.W)*float64(h)/float64(m.H)))
	case h == 0 && m.W != 0:
		h = max(1, tensor.Round(float64(m.H)*float64(w)/float64(m.W)))
	}
	return w, h
}

// edgeSize gives the sizes at which the longer (or shorter) side is edge.
func edgeSize(m *tensor.Image, edge int, longer bool) (w, h int) {
	byHeight := m.H > m.W
	if !longer {
		byHeight = m.H < m.W
	}
	switch {
	case m.H == m.W:
		return edge, edge
	case byHeight:
		return tensor.Round(float64(m.W) / float64(m.H) * float64(edge)), edge
	default:
		return edge, tensor.Round(float64(m.H) / float64(m.W) * float64(edge))
	}
}

func imageScale() node.Node {
	return imageNode(node.Spec{
		Class: "ImageScale", DisplayName: "Upscale Image", Category: "image/upscaling", Module: "nodes", Legacy: true, Essentials: "Image Tools",
		Description:   "Scales to a width and height; a side of 0 follows from the other one.",
		SearchAliases: []string{"resize", "resize image", "scale image", "image resize", "zoom", "zoom in", "change size"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.OldCombo("upscale_method", "nearest-exact", "bilinear", "area", "bicubic", "lanczos"),
			node.Int("width").Default(512).Range(0, 16384).Step(1),
			node.Int("height").Default(512).Range(0, 16384).Step(1),
			node.OldCombo("crop", "disabled", "center"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		m, w, h := c.Image("image"), c.Int("width"), c.Int("height")
		if w == 0 && h == 0 {
			return m, nil
		}
		w, h = fillSize(m, w, h)
		return resize(c, m, w, h, c.Text("upscale_method"), c.Text("crop"))
	})
}

func imageScaleBy() node.Node {
	return imageNode(node.Spec{
		Class: "ImageScaleBy", DisplayName: "Upscale Image By", Category: "image/upscaling", Module: "nodes", Legacy: true, Essentials: "Image Tools",
		Description: "Scales by a factor.",
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.OldCombo("upscale_method", "nearest-exact", "bilinear", "area", "bicubic", "lanczos"),
			node.Float("scale_by").Default(1.0).Range(0.01, 8.0).Step(0.01),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		m, by := c.Image("image"), c.Float("scale_by")
		if math.IsNaN(by) {
			return nil, node.ValueError("cannot convert float NaN to integer")
		}
		w, h := tensor.Round(float64(m.W)*by), tensor.Round(float64(m.H)*by)
		return resize(c, m, w, h, c.Text("upscale_method"), "disabled")
	})
}

func imageScaleToMaxDimension() node.Node {
	return imageNode(node.Spec{
		Class: "ImageScaleToMaxDimension", DisplayName: "Scale Image to Max Dimension", Category: "image/upscaling", Module: "comfy_extras.nodes_images",
		Description: "Scales so that the longer side has the given length.",
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Combo("upscale_method", "area", "lanczos", "bilinear", "nearest-exact", "bilinear", "bicubic"),
			node.Int("largest_size").Default(512).Range(0, 16384).Step(1),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		m := c.Image("image")
		w, h := edgeSize(m, c.Int("largest_size"), true)
		return resize(c, m, w, h, c.Text("upscale_method"), "disabled")
	})
}

func imageScaleToTotalPixels() node.Node {
	return imageNode(node.Spec{
		Class: "ImageScaleToTotalPixels", DisplayName: "Scale Image to Total Pixels", Category: "image/upscaling", Module: "comfy_extras.nodes_post_processing",
		Description: "Scales to a number of megapixels, keeping the shape.",
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Combo("upscale_method", "nearest-exact", "bilinear", "area", "bicubic", "lanczos"),
			node.Float("megapixels").Default(1.0).Range(0.01, 16.0).Step(0.01),
			node.Int("resolution_steps").Default(1).Range(1, 256).Advanced(),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		m, steps := c.Image("image"), c.Int("resolution_steps")
		total := c.Float("megapixels") * 1024 * 1024
		by := math.Sqrt(total / float64(m.W*m.H))
		w := tensor.Round(float64(m.W)*by/float64(steps)) * steps
		h := tensor.Round(float64(m.H)*by/float64(steps)) * steps
		return resize(c, m, w, h, c.Text("upscale_method"), "disabled")
	})
}

func resizeImageMask() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "ResizeImageMaskNode", DisplayName: "Resize Image/Mask", Category: "image/transform", Module: "comfy_extras.nodes_post_processing",
		Description:   "Scales an image or a mask in one of many ways.",
		SearchAliases: []string{"resize", "resize image", "resize mask", "scale", "scale image", "scale mask", "image resize", "change size", "dimensions", "shrink", "enlarge"},
		Required: []node.Input{
			node.Match("input", "input_type", "IMAGE,MASK"),
			node.DynamicCombo("resize_type",
				node.Choice{Key: "scale dimensions", Required: []node.Input{node.Int("width").Default(512).Range(0, 16384).Step(1), node.Int("height").Default(512).Range(0, 16384).Step(1), node.Combo("crop", "disabled", "center").Default("center")}},
				node.Choice{Key: "scale by multiplier", Required: []node.Input{node.Float("multiplier").Default(1.0).Range(0.01, 8.0).Step(0.01)}},
				node.Choice{Key: "scale longer dimension", Required: []node.Input{node.Int("longer_size").Default(512).Range(0, 16384).Step(1)}},
				node.Choice{Key: "scale shorter dimension", Required: []node.Input{node.Int("shorter_size").Default(512).Range(0, 16384).Step(1)}},
				node.Choice{Key: "scale width", Required: []node.Input{node.Int("width").Default(512).Range(0, 16384).Step(1)}},
				node.Choice{Key: "scale height", Required: []node.Input{node.Int("height").Default(512).Range(0, 16384).Step(1)}},
				node.Choice{Key: "scale total pixels", Required: []node.Input{node.Float("megapixels").Default(1.0).Range(0.01, 16.0).Step(0.01)}},
				node.Choice{Key: "match size", Required: []node.Input{node.Socket("match", "IMAGE,MASK"), node.Combo("crop", "disabled", "center").Default("center")}},
				node.Choice{Key: "scale to multiple", Required: []node.Input{node.Int("multiple").Default(8).Range(1, 16384).Step(1)}},
			),
			node.Combo("scale_method", "nearest-exact", "bilinear", "area", "bicubic", "lanczos").Default("area"),
		},
		Outputs: []node.Output{{Name: "resized", Type: "COMFY_MATCHTYPE_V3", MatchID: "input_type"}},
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		mask, isMask := c.Value("input").(*tensor.Mask)
		if !isMask {
			out, err := resizeByType(c, c.Image("input"))
			if err != nil {
				return nil, err
			}
			return node.Out(out), nil
		}
		out, err := resizeByType(c, mask.Plane())
		if err != nil {
			return nil, err
		}
		return node.Out(out.Channel(0)), nil
	}}
}

// resizeByType applies the chosen resize_type; a mask comes as an image of one channel.
func resizeByType(c *node.Call, m *tensor.Image) (*tensor.Image, error) {
	number := func(name string) int { return c.Int("resize_type." + name) }
	var w, h int
	crop := "disabled"
	switch kind := c.Text("resize_type"); kind {
	case "scale dimensions":
		w, h, crop = number("width"), number("height"), c.Text("resize_type.crop")
	case "scale width":
		w, h = number("width"), 0
	case "scale height":
		w, h = 0, number("height")
	case "scale by multiplier":
		by := c.Float("resize_type.multiplier")
		w, h = tensor.Round(float64(m.W)*by), tensor.Round(float64(m.H)*by)
	case "scale longer dimension":
		w, h = edgeSize(m, number("longer_size"), true)
	case "scale shorter dimension":
		w, h = edgeSize(m, number("shorter_size"), false)
	case "scale total pixels":
		total := math.Trunc(c.Float("resize_type.megapixels") * 1024 * 1024)
		by := math.Sqrt(total / float64(m.W*m.H))
		w, h = tensor.Round(float64(m.W)*by), tensor.Round(float64(m.H)*by)
	case "match size":
		w, h = sizeOf(c.Value("resize_type.match"))
		crop = c.Text("resize_type.crop")
	case "scale to multiple":
		return coverMultiple(c, m, number("multiple"))
	default:
		return nil, node.ValueError("Unsupported resize type: %s", kind)
	}
	switch kind := c.Text("resize_type"); {
	case kind != "scale dimensions" && kind != "scale width" && kind != "scale height":
	case w == 0 && h == 0:
		return m, nil
	default:
		w, h = fillSize(m, w, h)
	}
	return resize(c, m, w, h, c.Text("scale_method"), crop)
}

func sizeOf(v any) (w, h int) {
	switch m := v.(type) {
	case *tensor.Image:
		return m.W, m.H
	case *tensor.Mask:
		return m.W, m.H
	}
	return 0, 0
}

// coverMultiple brings both sides down to multiples: the picture is scaled to cover them and cut to size in the middle.
func coverMultiple(c *node.Call, m *tensor.Image, multiple int) (*tensor.Image, error) {
	if multiple <= 1 {
		return m, nil
	}
	w, h := m.W/multiple*multiple, m.H/multiple*multiple
	if w == 0 || h == 0 || w == m.W && h == m.H {
		return m, nil
	}
	byWidth, byHeight := float64(w)/float64(m.W), float64(h)/float64(m.H)
	scaledW, scaledH := w, h
	if byWidth >= byHeight {
		scaledH = max(h, int(math.Ceil(float64(m.H)*byWidth)))
	} else {
		scaledW = max(w, int(math.Ceil(float64(m.W)*byHeight)))
	}
	out, err := resize(c, m, scaledW, scaledH, c.Text("scale_method"), "disabled")
	if err != nil {
		return nil, err
	}
	return tensor.Crop(out, (scaledW-w)/2, (scaledH-h)/2, w, h), nil
}

func resizeAndPadImage() node.Node {
	return imageNode(node.Spec{
		Class: "ResizeAndPadImage", DisplayName: "Resize And Pad Image", Category: "image/transform", Module: "comfy_extras.nodes_images",
		Description:   "Scales to fit and fills up with black or white.",
		SearchAliases: []string{"fit to size"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("target_width").Default(512).Range(1, 16384).Step(1),
			node.Int("target_height").Default(512).Range(1, 16384).Step(1),
			node.Combo("padding_color", "white", "black").Advanced(),
			node.Combo("interpolation", "area", "bicubic", "nearest-exact", "bilinear", "lanczos").Advanced(),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		m, w, h := c.Image("image"), c.Int("target_width"), c.Int("target_height")
		if err := c.CheckSize(m.B, h, w); err != nil {
			return nil, err
		}
		color := float32(1)
		if c.Text("padding_color") == "black" {
			color = 0
		}
		return tensor.FitPad(m, w, h, color, tensor.Method(c.Text("interpolation")))
	})
}

func resizeImagesByShorterEdge() node.Node {
	return imageNode(node.Spec{
		Class: "ResizeImagesByShorterEdge", DisplayName: "Resize Images by Shorter Edge (DEPRECATED)", Category: "image/transform", Module: "comfy_extras.nodes_dataset",
		Description: "Scales so that the shorter side has the given length.",
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Int("shorter_edge").Default(512).Range(1, 8192),
		},
		Outputs:      []node.Output{{Name: "images", Type: "IMAGE"}},
		Experimental: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return resizeEdge(c, c.Int("shorter_edge"), false)
	})
}

func resizeImagesByLongerEdge() node.Node {
	return imageNode(node.Spec{
		Class: "ResizeImagesByLongerEdge", DisplayName: "Resize Images by Longer Edge (DEPRECATED)", Category: "image/transform", Module: "comfy_extras.nodes_dataset",
		Description: "Scales so that the longer side has the given length.",
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Int("longer_edge").Default(1024).Range(1, 8192),
		},
		Outputs:      []node.Output{{Name: "images", Type: "IMAGE"}},
		Experimental: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return resizeEdge(c, c.Int("longer_edge"), true)
	})
}

func resizeEdge(c *node.Call, edge int, longer bool) (*tensor.Image, error) {
	m := c.Image("images")
	w, h, err := tensor.EdgeSize(m, edge, longer)
	if err != nil {
		return nil, err
	}
	return resize(c, m, w, h, string(tensor.Lanczos), "disabled")
}

// kontextSizes are the resolutions the Flux Kontext models were trained on, of about one megapixel each.
var kontextSizes = [...][2]int{
	{672, 1568}, {688, 1504}, {720, 1456}, {752, 1392}, {800, 1328}, {832, 1248}, {880, 1184}, {944, 1104}, {1024, 1024},
	{1104, 944}, {1184, 880}, {1248, 832}, {1328, 800}, {1392, 752}, {1456, 720}, {1504, 688}, {1568, 672},
}

func fluxKontextImageScale() node.Node {
	return imageNode(node.Spec{
		Class: "FluxKontextImageScale", Category: "advanced/conditioning/flux", Module: "comfy_extras.nodes_flux",
		Description: "Scales and crops to the nearest of the sizes that Flux Kontext was trained on.",
		Required:    []node.Input{node.Socket("image", "IMAGE")},
	}, func(c *node.Call) (*tensor.Image, error) {
		m := c.Image("image")
		aspect := float64(m.W) / float64(m.H)
		best, nearest := kontextSizes[0], math.Inf(1)
		for _, size := range kontextSizes {
			if d := math.Abs(aspect - float64(size[0])/float64(size[1])); d < nearest {
				best, nearest = size, d
			}
		}
		return resize(c, m, best[0], best[1], string(tensor.Lanczos), "center")
	})
}
