package nodes

import (
	"context"
	"math"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func imageFilterNodes() []node.Node {
	return []node.Node{
		imageBlend(), imageBlur(), imageSharpen(), imageQuantize(), imageAddNoise(), morphology(), canny(), colorTransfer(),
		ltxvPreprocess(),
	}
}

func imageBlend() node.Node {
	return imageNode(node.Spec{
		Class: "ImageBlend", DisplayName: "Blend Images", Category: "image/filters", Module: "comfy_extras.nodes_post_processing", Essentials: "Image Tools",
		Description:   "Mixes two pictures.",
		SearchAliases: []string{"mix images"},
		Required: []node.Input{
			node.Socket("image1", "IMAGE"),
			node.Socket("image2", "IMAGE"),
			node.Float("blend_factor").Default(0.5).Range(0.0, 1.0).Step(0.01),
			node.Combo("blend_mode", "normal", "multiply", "screen", "overlay", "soft_light", "difference"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Blend(c.Image("image1"), c.Image("image2"), c.Float("blend_factor"), tensor.BlendMode(c.Text("blend_mode")))
	})
}

func imageBlur() node.Node {
	return imageNode(node.Spec{
		Class: "ImageBlur", DisplayName: "Blur Image", Category: "image/filters", Module: "comfy_extras.nodes_post_processing",
		Description: "Blurs with a bell curve.",
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("blur_radius").Default(1).Range(1, 31).Step(1),
			node.Float("sigma").Default(1.0).Range(0.1, 10.0).Step(0.1),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Blur(c.Image("image"), c.Int("blur_radius"), c.Float("sigma"))
	})
}

func imageSharpen() node.Node {
	return imageNode(node.Spec{
		Class: "ImageSharpen", DisplayName: "Sharpen Image", Category: "image/filters", Module: "comfy_extras.nodes_post_processing",
		Description: "Sharpens by the difference to the blurred picture.",
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("sharpen_radius").Default(1).Range(1, 31).Step(1).Advanced(),
			node.Float("sigma").Default(1.0).Range(0.1, 10.0).Step(0.01).Advanced(),
			node.Float("alpha").Default(1.0).Range(0.0, 5.0).Step(0.01).Advanced(),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Sharpen(c.Image("image"), c.Int("sharpen_radius"), c.Float("sigma"), c.Float("alpha"))
	})
}

func imageQuantize() node.Node {
	return imageNode(node.Spec{
		Class: "ImageQuantize", DisplayName: "Quantize Image", Category: "image/filters", Module: "comfy_extras.nodes_post_processing",
		Description: "Reduces to a few colours, with or without dithering.",
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("colors").Default(256).Range(1, 256).Step(1),
			node.Combo("dither", "none", "floyd-steinberg", "bayer-2", "bayer-4", "bayer-8", "bayer-16"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Quantize(c.Image("image"), c.Int("colors"), tensor.Dither(c.Text("dither")))
	})
}

func imageAddNoise() node.Node {
	return imageNode(node.Spec{
		Class: "ImageAddNoise", DisplayName: "Add Noise to Image", Category: "image/filters", Module: "comfy_extras.nodes_images",
		Description:   "Adds normal noise.",
		SearchAliases: []string{"film grain"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("seed").Default(0).Range(0, uint64(math.MaxUint64)).With("control_after_generate", true),
			node.Float("strength").Default(0.5).Range(0.0, 1.0).Step(0.01),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.AddNoise(c.Image("image"), c.Uint64("seed"), c.Float("strength")), nil
	})
}

func morphology() node.Node {
	return imageNode(node.Spec{
		Class: "Morphology", DisplayName: "Apply Morphology", Category: "image/filters", Module: "comfy_extras.nodes_morphology",
		Description:   "Spreads or shrinks bright areas, and what is derived from that.",
		SearchAliases: []string{"erode", "dilate"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Combo("operation", "erode", "dilate", "open", "close", "gradient", "bottom_hat", "top_hat"),
			node.Int("kernel_size").Default(3).Range(3, 999).Step(1),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Morph(c.Image("image"), tensor.Operation(c.Text("operation")), c.Int("kernel_size"))
	})
}

func canny() node.Node {
	return imageNode(node.Spec{
		Class: "Canny", DisplayName: "Detect Edges (Canny)", Category: "image/filters", Module: "comfy_extras.nodes_canny", Essentials: "Image Tools",
		Description:   "Finds edges: white on black.",
		SearchAliases: []string{"edge detection", "outline", "contour detection", "line art"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Float("low_threshold").Default(0.4).Range(0.01, 0.99).Step(0.01),
			node.Float("high_threshold").Default(0.8).Range(0.01, 0.99).Step(0.01),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		low, high := c.Float("low_threshold"), c.Float("high_threshold")
		if low > high {
			return nil, node.Raise("Exception", "False not true.\nInvalid input thresholds. low_threshold should be smaller than the high_threshold. Got: %s>%s",
				pyval.FloatRepr(low), pyval.FloatRepr(high))
		}
		return tensor.Canny(c.Image("image"), low, high)
	})
}

func colorTransfer() node.Node {
	return imageNode(node.Spec{
		Class: "ColorTransfer", DisplayName: "Transfer Color", Category: "image/filters", Module: "comfy_extras.nodes_post_processing",
		Description:   "Gives a picture the colours of another one.",
		SearchAliases: []string{"color match", "color grading", "color correction", "match colors", "color transform", "mkl", "reinhard", "histogram"},
		Required: []node.Input{
			node.Socket("image_target", "IMAGE"),
			node.Socket("image_ref", "IMAGE"),
			node.Combo("method", "reinhard_lab", "mkl_lab", "histogram"),
			node.DynamicCombo("source_stats",
				node.Choice{Key: "per_frame"},
				node.Choice{Key: "uniform"},
				node.Choice{Key: "target_frame", Required: []node.Input{node.Int("target_index").Default(0).Range(0, 10000)}},
			),
			node.Float("strength").Default(1.0).Range(0.0, 10.0).Step(0.01),
		},
		Outputs: []node.Output{{Name: "image", Type: "IMAGE"}},
	}, func(c *node.Call) (*tensor.Image, error) {
		target, ref := c.Image("image_target"), c.Image("image_ref")
		if ref == nil {
			return target, nil
		}
		base := tensor.Baseline{Mode: c.Text("source_stats"), Index: c.Int("source_stats.target_index")}
		out, err := tensor.TransferColors(target, ref, c.Text("method"), base, c.Float("strength"))
		c.Progress(target.B, target.B)
		return out, err
	})
}

func ltxvPreprocess() node.Node {
	return imageNode(node.Spec{
		Class: "LTXVPreprocess", DisplayName: "LTXV Preprocess", Category: "video/preprocessors", Module: "comfy_extras.nodes_lt",
		Description: "Adds the artefacts of lossy compression, which video models expect.",
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("img_compression").Default(35).Range(0, 100),
		},
		Outputs: []node.Output{{Name: "output_image", Type: "IMAGE"}},
	}, func(c *node.Call) (*tensor.Image, error) {
		m, loss := c.Image("image"), c.Int("img_compression")
		if loss == 0 {
			return m, nil
		}
		return codec.Recompress(m, loss)
	})
}

func imageColorNodes() []node.Node {
	return []node.Node{
		imageInvert(), adjustBrightness(), adjustContrast(), normalizeImages(), imageRGBToYUV(), imageYUVToRGB(), imageHistogram(),
	}
}

func imageInvert() node.Node {
	return imageNode(node.Spec{
		Class: "ImageInvert", DisplayName: "Invert Image Colors", Category: "image/color", Module: "nodes", Legacy: true, Essentials: "Image Tools",
		Description:   "Gives the negative.",
		SearchAliases: []string{"reverse colors"},
		Required:      []node.Input{node.Socket("image", "IMAGE")},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Invert(c.Image("image")), nil
	})
}

func adjustBrightness() node.Node {
	return imageNode(node.Spec{
		Class: "AdjustBrightness", DisplayName: "Adjust Brightness", Category: "image/adjustments", Module: "comfy_extras.nodes_dataset",
		Description:   "Makes brighter or darker.",
		SearchAliases: []string{"brightness"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Float("factor").Default(1.0).Range(0.0, 2.0),
		},
		Outputs:      []node.Output{{Name: "images", Type: "IMAGE"}},
		Experimental: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Brightness(c.Image("images"), c.Float("factor")), nil
	})
}

func adjustContrast() node.Node {
	return imageNode(node.Spec{
		Class: "AdjustContrast", DisplayName: "Adjust Contrast", Category: "image/adjustments", Module: "comfy_extras.nodes_dataset",
		Description:   "Makes the contrast stronger or weaker.",
		SearchAliases: []string{"contrast"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Float("factor").Default(1.0).Range(0.0, 2.0),
		},
		Outputs:      []node.Output{{Name: "images", Type: "IMAGE"}},
		Experimental: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Contrast(c.Image("images"), c.Float("factor")), nil
	})
}

func normalizeImages() node.Node {
	return imageNode(node.Spec{
		Class: "NormalizeImages", DisplayName: "Normalize Image Colors", Category: "image/color", Module: "comfy_extras.nodes_dataset",
		Description:   "Subtracts a mean and divides by a deviation.",
		SearchAliases: []string{"normalize", "normalize colors"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Float("mean").Default(0.5).Range(0.0, 1.0).Advanced(),
			node.Float("std").Default(0.5).Range(0.001, 1.0).Advanced(),
		},
		Outputs:      []node.Output{{Name: "images", Type: "IMAGE"}},
		Experimental: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.Normalize(c.Image("images"), c.Float("mean"), c.Float("std")), nil
	})
}

func imageRGBToYUV() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "ImageRGBToYUV", DisplayName: "Image RGB to YUV", Category: "image/color", Module: "comfy_extras.nodes_morphology",
		Description:   "Splits into brightness and two colour differences.",
		SearchAliases: []string{"color space conversion"},
		Required:      []node.Input{node.Socket("image", "IMAGE")},
		Outputs:       []node.Output{{Name: "Y", Type: "IMAGE"}, {Name: "U", Type: "IMAGE"}, {Name: "V", Type: "IMAGE"}},
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		y, u, v, err := tensor.YUV(c.Image("image"))
		if err != nil {
			return nil, err
		}
		return node.Out(y, u, v), nil
	}}
}

func imageYUVToRGB() node.Node {
	return imageNode(node.Spec{
		Class: "ImageYUVToRGB", DisplayName: "Image YUV to RGB", Category: "image/color", Module: "comfy_extras.nodes_morphology",
		Description:   "Joins brightness and two colour differences.",
		SearchAliases: []string{"color space conversion"},
		Required: []node.Input{
			node.Socket("Y", "IMAGE"),
			node.Socket("U", "IMAGE"),
			node.Socket("V", "IMAGE"),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		return tensor.FromYUV(c.Image("Y"), c.Image("U"), c.Image("V"))
	})
}

func imageHistogram() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "ImageHistogram", DisplayName: "Image Histogram", Category: "utilities", Module: "comfy_extras.nodes_curve",
		Description: "Counts the values of the first picture.",
		Required:    []node.Input{node.Socket("image", "IMAGE")},
		Outputs:     []node.Output{{Name: "rgb", Type: "HISTOGRAM"}, {Name: "luminance", Type: "HISTOGRAM"}, {Name: "red", Type: "HISTOGRAM"}, {Name: "green", Type: "HISTOGRAM"}, {Name: "blue", Type: "HISTOGRAM"}},
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		h, err := tensor.CountValues(c.Image("image"))
		if err != nil {
			return nil, err
		}
		return node.Out(histogram(h.RGB), histogram(h.Luminance), histogram(h.Red), histogram(h.Green), histogram(h.Blue)), nil
	}}
}

// histogram is a HISTOGRAM: a list of whole numbers.
func histogram(bins [256]int) []any {
	out := make([]any, len(bins))
	for i, n := range bins {
		out[i] = int64(n)
	}
	return out
}
