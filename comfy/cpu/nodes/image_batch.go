package nodes

import (
	"context"
	"math"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func imageBatchNodes() []node.Node {
	return []node.Node{
		imageBatch(), batchImages(), repeatImageBatch(), imageFromBatch(), rebatchImages(), mergeImageLists(), imageGrid(),
		imageDeduplication(), shuffleDataset(), shuffleImageTextDataset(),
	}
}

func imageBatch() node.Node {
	return imageNode(node.Spec{
		Class: "ImageBatch", DisplayName: "Batch Images (DEPRECATED)", Category: "image/batch", Module: "nodes", Legacy: true,
		Description:   "Puts two batches into one; the second gets the size of the first.",
		SearchAliases: []string{"combine images", "merge images", "stack images"},
		Required: []node.Input{
			node.Socket("image1", "IMAGE"),
			node.Socket("image2", "IMAGE"),
		},
		Deprecated: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		return joinBatch(c, []*tensor.Image{c.Image("image1"), c.Image("image2")})
	})
}

// joinBatch puts pictures of any size into one batch.
func joinBatch(c *node.Call, parts []*tensor.Image) (*tensor.Image, error) {
	n := 0
	for _, p := range parts {
		n += p.B
	}
	if err := c.CheckSize(n, parts[0].H, parts[0].W); err != nil {
		return nil, err
	}
	return tensor.Batch(parts)
}

func batchImages() node.Node {
	return imageNode(node.Spec{
		Class: "BatchImagesNode", DisplayName: "Batch Images", Category: "image/batch", Module: "comfy_extras.nodes_post_processing", Essentials: "Image Tools",
		Description:   "Puts pictures into one batch; all get the size of the first.",
		SearchAliases: []string{"batch", "image batch", "batch images", "combine images", "merge images", "stack images"},
		Required:      []node.Input{node.Autogrow("images", node.Socket("image", "IMAGE"), "image", 1, 50)},
	}, func(c *node.Call) (*tensor.Image, error) {
		var parts []*tensor.Image
		for _, v := range c.Group("images") {
			if m, ok := v.(*tensor.Image); ok {
				parts = append(parts, m)
			}
		}
		if len(parts) == 0 {
			return nil, node.ValueError("no images to put into a batch")
		}
		return joinBatch(c, parts)
	})
}

func repeatImageBatch() node.Node {
	return imageNode(node.Spec{
		Class: "RepeatImageBatch", DisplayName: "Repeat Image Batch", Category: "image/batch", Module: "comfy_extras.nodes_images",
		Description:   "Repeats the batch.",
		SearchAliases: []string{"duplicate image", "clone image"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("amount").Default(1).Range(1, 4096),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		m, n := c.Image("image"), c.Int("amount")
		if err := c.CheckSize(m.B*n, m.H, m.W); err != nil {
			return nil, err
		}
		return m.RepeatTo(m.B * n)
	})
}

func imageFromBatch() node.Node {
	return imageNode(node.Spec{
		Class: "ImageFromBatch", DisplayName: "Get Image from Batch", Category: "image/batch", Module: "comfy_extras.nodes_images",
		Description:   "Takes pictures out of a batch; negative numbers count from the end.",
		SearchAliases: []string{"select image", "pick from batch", "extract image"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("batch_index").Default(0).Range(-16384, 16384),
			node.Int("length").Default(1).Range(1, 4096),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		m, from := c.Image("image"), c.Int("batch_index")
		if from < 0 {
			from += m.B
		}
		from = max(0, min(m.B-1, from))
		return m.Frames(from, from+min(m.B-from, c.Int("length"))), nil
	})
}

// listNode is a node that turns one list of images into another.
func listNode(spec node.Spec, f func(c *node.Call) ([]*tensor.Image, error)) node.Node {
	return oneOutput("IMAGE", spec, func(c *node.Call) ([]any, error) {
		out, err := f(c)
		return anys(out), err
	})
}

func rebatchImages() node.Node {
	return listNode(node.Spec{
		Class: "RebatchImages", DisplayName: "Rebatch Images", Category: "image/batch", Module: "comfy_extras.nodes_rebatch",
		Description: "Cuts all pictures of a list into batches of a size.",
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Int("batch_size").Default(1).Range(1, 4096),
		},
		Outputs:   []node.Output{{Type: "IMAGE", List: node.List}},
		InputList: true,
	}, func(c *node.Call) ([]*tensor.Image, error) {
		return tensor.Rebatch(c.Images("images"), c.Int("batch_size"))
	})
}

// singlePictures splits all batches of a list input into pictures.
func singlePictures(c *node.Call) []*tensor.Image {
	var out []*tensor.Image
	for _, m := range c.Images("images") {
		out = append(out, m.Split()...)
	}
	return out
}

func mergeImageLists() node.Node {
	return listNode(node.Spec{
		Class: "MergeImageLists", DisplayName: "Merge Image Lists (DEPRECATED)", Category: "image/batch", Module: "comfy_extras.nodes_dataset",
		Description:   "Joins lists of pictures.",
		SearchAliases: []string{"list", "merge list", "make list"},
		Required:      []node.Input{node.Socket("images", "IMAGE")},
		Outputs:       []node.Output{{Name: "images", Type: "IMAGE", List: node.List}},
		InputList:     true, Experimental: true,
	}, func(c *node.Call) ([]*tensor.Image, error) { return c.Images("images"), nil })
}

func imageGrid() node.Node {
	return imageNode(node.Spec{
		Class: "ImageGrid", DisplayName: "Make Image Grid", Category: "image/batch", Module: "comfy_extras.nodes_dataset",
		Description:   "Lays pictures out in rows and columns.",
		SearchAliases: []string{"grid", "collage", "combine"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Int("columns").Default(4).Range(1, 20),
			node.Int("cell_width").Default(256).Range(32, 2048).Advanced(),
			node.Int("cell_height").Default(256).Range(32, 2048).Advanced(),
			node.Int("padding").Default(4).Range(0, 50).Advanced(),
		},
		Outputs:   []node.Output{{Name: "images", Type: "IMAGE"}},
		InputList: true, Experimental: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		pictures, columns := singlePictures(c), c.Int("columns")
		w, h, padding := c.Int("cell_width"), c.Int("cell_height"), c.Int("padding")
		if len(pictures) == 0 {
			return nil, node.ValueError("Cannot create grid from empty image list")
		}
		rows := (len(pictures) + columns - 1) / columns
		if err := c.CheckSize(1, rows*(h+padding), columns*(w+padding)); err != nil {
			return nil, err
		}
		return tensor.Grid(pictures, columns, w, h, padding)
	})
}

func imageDeduplication() node.Node {
	return listNode(node.Spec{
		Class: "ImageDeduplication", DisplayName: "Deduplicate Images", Category: "image/batch", Module: "comfy_extras.nodes_dataset",
		Description:   "Leaves out pictures that look like an earlier one.",
		SearchAliases: []string{"deduplicate", "remove duplicates", "similarity filter"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Float("similarity_threshold").Default(0.95).Range(0.0, 1.0).Advanced(),
		},
		Outputs:   []node.Output{{Name: "images", Type: "IMAGE", List: node.List}},
		InputList: true, Experimental: true,
	}, func(c *node.Call) ([]*tensor.Image, error) {
		return tensor.Deduplicate(singlePictures(c), c.Float("similarity_threshold"))
	})
}

func shuffleDataset() node.Node {
	return listNode(node.Spec{
		Class: "ShuffleDataset", DisplayName: "Shuffle Images List", Category: "image/batch", Module: "comfy_extras.nodes_dataset",
		Description:   "Brings a list of pictures into random order.",
		SearchAliases: []string{"shuffle", "randomize", "mix"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.Int("seed").Default(0).Range(0, uint64(math.MaxUint64)),
		},
		Outputs:   []node.Output{{Name: "images", Type: "IMAGE", List: node.List}},
		InputList: true, Experimental: true,
	}, func(c *node.Call) ([]*tensor.Image, error) {
		pictures := c.Images("images")
		out := make([]*tensor.Image, len(pictures))
		for i, from := range tensor.Permutation(c.Uint64("seed"), len(pictures)) {
			out[i] = pictures[from]
		}
		return out, nil
	})
}

func shuffleImageTextDataset() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "ShuffleImageTextDataset", DisplayName: "Shuffle Pairs of Image-Text", Category: "image/batch", Module: "comfy_extras.nodes_dataset",
		Description:   "Brings pictures and their texts into the same random order.",
		SearchAliases: []string{"shuffle", "randomize", "mix"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.String("texts").ForceInput(),
			node.Int("seed").Default(0).Range(0, uint64(math.MaxUint64)),
		},
		Outputs:   []node.Output{{Name: "images", Type: "IMAGE", List: node.List}, {Name: "texts", Type: "STRING", List: node.List}},
		InputList: true, Experimental: true,
	}, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		pictures, captions := c.Images("images"), c.Texts("texts")
		if len(captions) < len(pictures) {
			return nil, node.Raise("IndexError", "list index out of range: %d images have only %d texts", len(pictures), len(captions))
		}
		var outPictures, outCaptions []any
		for _, from := range tensor.Permutation(c.Uint64("seed"), len(pictures)) {
			outPictures = append(outPictures, pictures[from])
			outCaptions = append(outCaptions, captions[from])
		}
		return node.Out(outPictures, outCaptions), nil
	}}
}

func imageTileNodes() []node.Node {
	return []node.Node{splitImageToTileList(), imageMergeTileList()}
}

func splitImageToTileList() node.Node {
	return listNode(node.Spec{
		Class: "SplitImageToTileList", DisplayName: "Split Image into List of Tiles", Category: "image/batch", Module: "comfy_extras.nodes_images",
		Description:   "Cuts a picture into overlapping tiles.",
		SearchAliases: []string{"split image", "tile image", "slice image"},
		Required: []node.Input{
			node.Socket("image", "IMAGE"),
			node.Int("tile_width").Default(1024).Range(64, 16384),
			node.Int("tile_height").Default(1024).Range(64, 16384),
			node.Int("overlap").Default(128).Range(0, 4096),
		},
		Outputs: []node.Output{{Type: "IMAGE", List: node.List}},
	}, func(c *node.Call) ([]*tensor.Image, error) {
		m := c.Image("image")
		boxes := tensor.Tiles(m.W, m.H, c.Int("tile_width"), c.Int("tile_height"), c.Int("overlap"))
		if err := c.CheckSize(m.B*len(boxes), min(c.Int("tile_height"), m.H), min(c.Int("tile_width"), m.W)); err != nil {
			return nil, err
		}
		var out []*tensor.Image
		for _, box := range boxes {
			out = append(out, tensor.Crop(m, box.X0, box.Y0, box.X1-box.X0, box.Y1-box.Y0))
		}
		return out, nil
	})
}

func imageMergeTileList() node.Node {
	return imageNode(node.Spec{
		Class: "ImageMergeTileList", DisplayName: "Merge List of Tiles to Image", Category: "image/batch", Module: "comfy_extras.nodes_images",
		Description:   "Joins tiles to a picture; overlaps fade into each other.",
		SearchAliases: []string{"split image", "tile image", "slice image"},
		Required: []node.Input{
			node.Socket("image_list", "IMAGE"),
			node.Int("final_width").Default(1024).Range(64, 32768),
			node.Int("final_height").Default(1024).Range(64, 32768),
			node.Int("overlap").Default(128).Range(0, 4096),
		},
		InputList: true,
	}, func(c *node.Call) (*tensor.Image, error) {
		w, h := c.Int("final_width"), c.Int("final_height")
		if err := c.CheckSize(1, h, w); err != nil {
			return nil, err
		}
		return tensor.MergeTiles(c.Images("image_list"), w, h, c.Int("overlap"))
	})
}
