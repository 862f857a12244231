package nodes

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func imageSaveNodes() []node.Node {
	return []node.Node{saveImage(), saveImageAdvanced(), saveAnimatedPNG(), saveAnimatedWEBP()}
}

// savedTexts is what saved files tell of the workflow that made them.
func savedTexts(c *node.Call) []codec.Text {
	out := make([]codec.Text, len(c.Meta))
	for i, t := range c.Meta {
		out[i] = codec.Text{Key: t.Key, Value: t.Text}
	}
	return out
}

// savePictures writes each picture of a batch as a PNG file of its own.
func savePictures(ctx context.Context, c *node.Call, saver *node.Saver, m *tensor.Image) ([]node.FileRef, error) {
	if m.W == 0 || m.H == 0 {
		return nil, node.ValueError("tile cannot extend outside image")
	}
	refs := make([]node.FileRef, 0, m.B)
	for i := range m.B {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ref, err := saver.Save(i, "png", func(w io.Writer) error { return codec.EncodePNG(w, m, i, savedTexts(c)) })
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

func saveImage() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "SaveImage", DisplayName: "Save Image", Category: "image", Module: "nodes", Legacy: true, Essentials: "Basics",
		Description:   "Writes each picture as a PNG file with the workflow inside.",
		SearchAliases: []string{"save", "save image", "export image", "output image", "write image", "download"},
		Required: []node.Input{
			node.Socket("images", "IMAGE").Braces(),
			node.Input{Name: "filename_prefix", Type: "STRING"}.Default("ComfyUI"),
		},
		Hidden:     node.SaveHidden(),
		OutputNode: true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		m := c.Image("images")
		saver, err := c.Files.Saver(node.OutFolder, c.Text("filename_prefix"), m.W, m.H)
		if err != nil {
			return nil, err
		}
		refs, err := savePictures(ctx, c, saver, m)
		if err != nil {
			return nil, err
		}
		return node.Show("images", anys(refs)), nil
	}}
}

func saveImageAdvanced() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "SaveImageAdvanced", DisplayName: "Save Image (Advanced)", Category: "image", Module: "comfy_extras.nodes_images", Essentials: "Basics",
		Description:   "Writes each picture as PNG of 8 or 16 bits, or as EXR in scene light.",
		SearchAliases: []string{"save", "save image", "export image", "output image", "write image"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.String("filename_prefix").Default("ComfyUI"),
			node.DynamicCombo("format",
				node.Choice{Key: "png", Required: []node.Input{node.Combo("bit_depth", "8-bit", "16-bit").Default("8-bit").Advanced(), node.Combo("input_color_space", "sRGB").Default("sRGB").Advanced()}},
				node.Choice{Key: "exr", Required: []node.Input{node.Combo("bit_depth", "32-bit float").Default("32-bit float").Advanced(), node.Combo("input_color_space", "sRGB", "HDR", "linear").Default("sRGB").Advanced()}},
			),
		},
		Hidden:     node.SaveHidden(),
		OutputNode: true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		m := c.Image("images")
		encode, ext := advancedEncoder(c)
		saver, err := c.Files.Saver(node.OutFolder, c.Text("filename_prefix"), m.W, m.H)
		if err != nil {
			return nil, err
		}
		var items []any
		for i := range m.B {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			ref, err := saver.SavePlain(i, ext, func(w io.Writer) error { return encode(w, m, i) })
			if err != nil {
				return nil, err
			}
			items = append(items, ref)
		}
		return node.Show("images", items), nil
	}}
}

// advancedEncoder gives the encoder of the chosen format and its extension.
func advancedEncoder(c *node.Call) (func(w io.Writer, m *tensor.Image, i int) error, string) {
	if c.Text("format") == "exr" {
		space := codec.ColorSpace(c.Text("format.input_color_space"))
		return func(w io.Writer, m *tensor.Image, i int) error {
			return codec.EncodeEXR(w, m, i, space, savedTexts(c))
		}, "exr"
	}
	if c.Text("format.bit_depth") == "16-bit" {
		return func(w io.Writer, m *tensor.Image, i int) error { return codec.EncodePNG16(w, m, i, savedTexts(c)) }, "png"
	}
	return func(w io.Writer, m *tensor.Image, i int) error { return codec.EncodePNG(w, m, i, savedTexts(c)) }, "png"
}

func saveAnimatedPNG() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "SaveAnimatedPNG", DisplayName: "Save Animated PNG", Category: "image", Module: "comfy_extras.nodes_images",
		Description: "Writes the batch as one animated PNG.",
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.String("filename_prefix").Default("ComfyUI"),
			node.Float("fps").Default(6.0).Range(0.01, 1000.0).Step(0.01),
			node.Int("compress_level").Default(4).Range(0, 9).Advanced(),
		},
		Hidden:     node.SaveHidden(),
		OutputNode: true,
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		return saveAnimation(c, "png", func(w io.Writer, m *tensor.Image) error {
			return codec.EncodeAPNG(w, m, c.Float("fps"), c.Int("compress_level"), savedTexts(c))
		})
	}}
}

func saveAnimatedWEBP() node.Node {
	return node.Node{
		// Pure Go writes lossless WebP only: "lossless", "quality" and "method" make no difference to the pixels.
		Spec: node.Spec{
			Class: "SaveAnimatedWEBP", DisplayName: "Save Animated WEBP", Category: "image", Module: "comfy_extras.nodes_images",
			Description: "Writes the batch as one animated WebP. This engine always writes it lossless.",
			Required: []node.Input{
				node.Socket("images", "IMAGE"),
				node.String("filename_prefix").Default("ComfyUI"),
				node.Float("fps").Default(6.0).Range(0.01, 1000.0).Step(0.01),
				node.Bool("lossless").Default(true),
				node.Int("quality").Default(80).Range(0, 100),
				node.Combo("method", "default", "fastest", "slowest"),
			},
			Hidden:     node.SaveHidden(),
			OutputNode: true,
		},
		Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			return saveAnimation(c, "webp", func(w io.Writer, m *tensor.Image) error {
				return codec.EncodeWebP(w, m, c.Float("fps"), codec.WebPTexts(savedTexts(c)))
			})
		},
	}
}

// saveAnimation writes a batch into one file.
func saveAnimation(c *node.Call, ext string, encode func(w io.Writer, m *tensor.Image) error) (*node.Result, error) {
	m := c.Image("images")
	saver, err := c.Files.Saver(node.OutFolder, c.Text("filename_prefix"), m.W, m.H)
	if err != nil {
		return nil, err
	}
	ref, err := saver.Save(0, ext, func(w io.Writer) error { return encode(w, m) })
	if err != nil {
		return nil, err
	}
	return &node.Result{UI: map[string][]any{"images": {ref}, "animated": {m.B != 1}}}, nil
}

func imagePreviewNodes() []node.Node {
	return []node.Node{previewImage(), maskPreview(), imageCompare(), painter()}
}

func previewImage() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "PreviewImage", DisplayName: "Preview Image", Category: "image", Module: "nodes", Legacy: true, Essentials: "Basics",
		Description:   "Shows the pictures without keeping them.",
		SearchAliases: []string{"preview", "preview image", "show image", "view image", "display image", "image viewer"},
		Required:      []node.Input{node.Socket("images", "IMAGE")},
		Hidden:        node.SaveHidden(),
		OutputNode:    true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		m := c.Image("images")
		saver, err := c.Files.TempSaver(m.W, m.H)
		if err != nil {
			return nil, err
		}
		refs, err := savePictures(ctx, c, saver, m)
		if err != nil {
			return nil, err
		}
		return node.Show("images", anys(refs)), nil
	}}
}

// showPicture is the UI entry of nodes that show a picture beside their outputs.
func showPicture(ctx context.Context, c *node.Call, m *tensor.Image) (map[string][]any, error) {
	saver, err := c.Files.TempSaver(m.W, m.H)
	if err != nil {
		return nil, err
	}
	refs, err := savePictures(ctx, c, saver, m)
	if err != nil {
		return nil, err
	}
	return map[string][]any{"images": anys(refs), "animated": {false}}, nil
}

func maskPreview() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "MaskPreview", DisplayName: "Preview Mask", Category: "image/mask", Module: "comfy_extras.nodes_mask",
		Description:   "Shows the mask without keeping it.",
		SearchAliases: []string{"show mask", "view mask", "inspect mask", "debug mask"},
		Required:      []node.Input{node.Socket("mask", "MASK")},
		Hidden:        node.SaveHidden(),
		OutputNode:    true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		m, err := c.Mask("mask").Gray()
		if err != nil {
			return nil, err
		}
		ui, err := showPicture(ctx, c, m)
		if err != nil {
			return nil, err
		}
		return &node.Result{UI: ui}, nil
	}}
}

func imageCompare() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "ImageCompare", DisplayName: "Compare Images", Category: "image", Module: "comfy_extras.nodes_image_compare", Essentials: "Image Tools",
		Description: "Shows two pictures, one over the other, with a slider.",
		Required:    []node.Input{node.Socket("compare_view", "IMAGECOMPARE").With("socketless", true)},
		Optional: []node.Input{
			node.Socket("image_a", "IMAGE"),
			node.Socket("image_b", "IMAGE"),
		},
		Hidden:     node.SaveHidden(),
		OutputNode: true, Experimental: true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		ui := map[string][]any{}
		for _, side := range []string{"a", "b"} {
			ui[side+"_images"] = []any{}
			m := c.Image("image_" + side)
			if m == nil || m.B == 0 {
				continue
			}
			saver, err := c.Files.Saver(node.TempFolder, "comfy.compare."+side+"_temp_"+randomLetters(), m.W, m.H)
			if err != nil {
				return nil, err
			}
			refs, err := savePictures(ctx, c, saver, m)
			if err != nil {
				return nil, err
			}
			ui[side+"_images"] = anys(refs)
		}
		return &node.Result{UI: ui}, nil
	}}
}

// randomLetters keep the previews of several runs apart.
func randomLetters() string {
	out := make([]byte, 5)
	for i := range out {
		out[i] = byte('a' + rand.IntN(26))
	}
	return string(out)
}

func painter() node.Node {
	return node.Node{
		Spec: node.Spec{
			Class: "Painter", DisplayName: "Painter", Category: "image", Module: "comfy_extras.nodes_painter",
			Description: "Lays painted strokes over a picture or a plain ground; the mask is where they are.",
			Required: []node.Input{
				node.String("mask").Default("").With("widgetType", "PAINTER").With("image_upload", true).With("socketless", true),
				node.Int("width").Default(512).Range(64, 4096).Step(64).With("hidden", true).With("socketless", true),
				node.Int("height").Default(512).Range(64, 4096).Step(64).With("hidden", true).With("socketless", true),
				node.Socket("bg_color", "COLOR").Default("#000000").With("socketless", true),
			},
			Optional: []node.Input{
				node.Socket("image", "IMAGE"),
			},
			Outputs:      node.Outs("IMAGE", "MASK"),
			Intermediate: true,
		},
		Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
			base, err := paintGround(c)
			if err != nil {
				return nil, err
			}
			out, mask, err := paint(c, base)
			if err != nil {
				return nil, err
			}
			ui, err := showPicture(ctx, c, out)
			if err != nil {
				return nil, err
			}
			return &node.Result{Outputs: []any{out, mask}, UI: ui}, nil
		},
		Fingerprint: pictureDigest("mask"),
	}
}

// paintGround is what Painter paints on: the first picture given, or one colour.
func paintGround(c *node.Call) (*tensor.Image, error) {
	if m := c.Image("image"); m != nil {
		return m.Frames(0, min(1, m.B)), nil
	}
	color, err := parseHex(c.Text("bg_color"))
	if err != nil {
		return nil, err
	}
	if err := c.CheckSize(1, c.Int("height"), c.Int("width")); err != nil {
		return nil, err
	}
	return tensor.Solid(1, c.Int("height"), c.Int("width"), color)
}

// paint lays the strokes, a picture file with alpha, over the ground; the mask is their alpha.
func paint(c *node.Call, ground *tensor.Image) (*tensor.Image, *tensor.Mask, error) {
	name := c.Text("mask")
	if strings.TrimSpace(name) == "" {
		mask, err := tensor.NewMask(1, ground.H, ground.W)
		return ground, mask, err
	}
	strokes, err := decodeStill(c, name)
	if err != nil {
		return nil, nil, err
	}
	if strokes, err = tensor.Resize(strokes, ground.W, ground.H, tensor.Lanczos); err != nil {
		return nil, nil, err
	}
	mask := strokes.Channel(3)
	out, err := tensor.Composite(ground, strokes, mask, 0, 0, false)
	return out, mask, err
}
