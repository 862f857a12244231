package nodes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
	"github.com/signalbox/signalbox/internal/errs"
)

func imageDatasetNodes() []node.Node {
	return []node.Node{
		loadImageDataSetFromFolder(), loadImageTextDataSetFromFolder(), saveImageDataSetToFolder(), saveImageTextDataSetToFolder(),
	}
}

func inputFolders(f *node.Files) []string { return f.Folders(node.InFolder) }

// datasetExtensions are the pictures that data sets consist of.
var datasetExtensions = map[string]bool{".png": true, ".jpg": true, ".jpeg": true, ".webp": true}

func isDatasetPicture(name string) bool { return datasetExtensions[strings.ToLower(path.Ext(name))] }

// loadFolder reads the pictures with the given names inside the input folder.
func loadFolder(ctx context.Context, c *node.Call, names []string) ([]any, error) {
	if len(names) == 0 {
		return nil, node.ValueError("No valid images found in input")
	}
	// Repeated names share one picture.
	loaded := map[string]*tensor.Image{}
	out := make([]any, len(names))
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if loaded[name] == nil {
			m, err := decodeStill(c, name)
			if err != nil {
				return nil, err
			}
			loaded[name] = m.Take(3)
		}
		out[i] = loaded[name]
	}
	return out, nil
}

// datasetPictures lists the pictures in a folder of the input folder.
func datasetPictures(c *node.Call, folder string) ([]string, error) {
	files, err := c.Files.ListIn(node.InFolder, folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range files {
		if isDatasetPicture(name) {
			names = append(names, path.Join(folder, name))
		}
	}
	return names, nil
}

func loadImageDataSetFromFolder() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "LoadImageDataSetFromFolder", DisplayName: "Load Image (from Folder)", Category: "image", Module: "comfy_extras.nodes_dataset",
		Description:   "Reads all pictures of a folder as a list.",
		SearchAliases: []string{"load folder", "load from folder", "load dataset", "load images", "import dataset"},
		Required:      []node.Input{node.Combo("folder").From(inputFolders)},
		Outputs:       []node.Output{{Name: "images", Type: "IMAGE", List: node.List}},
		Experimental:  true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		names, err := datasetPictures(c, c.Text("folder"))
		if err != nil {
			return nil, err
		}
		pictures, err := loadFolder(ctx, c, names)
		if err != nil {
			return nil, err
		}
		return node.Out(pictures), nil
	}}
}

func loadImageTextDataSetFromFolder() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "LoadImageTextDataSetFromFolder", DisplayName: "Load Image-Text (from Folder)", Category: "image", Module: "comfy_extras.nodes_dataset",
		Description:   "Reads all pictures of a folder with the texts beside them.",
		SearchAliases: []string{"load folder", "load from folder", "load dataset", "load images", "import dataset"},
		Required:      []node.Input{node.Combo("folder").From(inputFolders)},
		Outputs:       []node.Output{{Name: "images", Type: "IMAGE", List: node.List}, {Name: "texts", Type: "STRING", List: node.List}},
		Experimental:  true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		names, err := captionedPictures(c, c.Text("folder"))
		if err != nil {
			return nil, err
		}
		pictures, err := loadFolder(ctx, c, names)
		if err != nil {
			return nil, err
		}
		captions := make([]any, len(names))
		for i, name := range names {
			if captions[i], err = caption(c, name); err != nil {
				return nil, err
			}
		}
		return node.Out(pictures, captions), nil
	}}
}

// captionedPictures adds the pictures of subfolders; one named "<n>_<text>" counts n times, as training tools lay
// their data out.
func captionedPictures(c *node.Call, folder string) ([]string, error) {
	names, err := datasetPictures(c, folder)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(c.Files.Root(node.InFolder).FS(), path.Clean(folder))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		inner, err := datasetPictures(c, path.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		head, _, _ := strings.Cut(entry.Name(), "_")
		repeat, err := strconv.Atoi(head)
		if err != nil {
			repeat = 1
		}
		for range min(repeat, maxRepeat) {
			names = append(names, inner...)
		}
	}
	return names, nil
}

// maxRepeat bounds the repetitions that a folder's name asks for.
const maxRepeat = 1000

// caption reads the text file beside a picture; "" when there is none.
func caption(c *node.Call, picture string) (string, error) {
	name := strings.TrimSuffix(picture, path.Ext(picture)) + ".txt"
	if !c.Files.Exists(name) {
		return "", nil
	}
	data, err := readFile(c.Files, name)
	return strings.TrimSpace(string(data)), err
}

func saveImageDataSetToFolder() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "SaveImageDataSetToFolder", DisplayName: "Save Image (to Folder) (DEPRECATED)", Category: "image", Module: "comfy_extras.nodes_dataset",
		Description:   "Writes a list of pictures into a folder.",
		SearchAliases: []string{"save folder", "save to folder", "save dataset", "save images", "export dataset"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.String("folder_name").Default("dataset"),
			node.String("filename_prefix").Default("image").Advanced(),
			node.Combo("mode", "overwrite", "increment").Default("overwrite"),
		},
		Hidden:     node.SaveHidden(),
		OutputNode: true, InputList: true, Deprecated: true, Experimental: true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		_, err := saveDataset(ctx, c)
		return &node.Result{}, err
	}}
}

func saveImageTextDataSetToFolder() node.Node {
	return node.Node{Spec: node.Spec{
		Class: "SaveImageTextDataSetToFolder", DisplayName: "Save Image-Text (to Folder)", Category: "image", Module: "comfy_extras.nodes_dataset",
		Description:   "Writes pictures and their texts into a folder.",
		SearchAliases: []string{"save folder", "save to folder", "save dataset", "save images", "save text", "export dataset"},
		Required: []node.Input{
			node.Socket("images", "IMAGE"),
			node.String("folder_name").Default("dataset"),
			node.String("filename_prefix").Default("image").Advanced(),
			node.Combo("mode", "overwrite", "increment").Default("overwrite"),
		},
		Optional: []node.Input{
			node.String("texts").ForceInput(),
		},
		Hidden:     node.SaveHidden(),
		OutputNode: true, InputList: true, Experimental: true,
	}, Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
		names, err := saveDataset(ctx, c)
		if err != nil {
			return nil, err
		}
		for i, text := range c.Texts("texts") {
			if i >= len(names) {
				break
			}
			name := strings.ReplaceAll(names[i], ".png", ".txt")
			if err := writeOutput(c, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
				return nil, err
			}
		}
		return &node.Result{}, nil
	}}
}

// saveDataset writes all pictures into a folder of the output folder and gives the names of the files.
func saveDataset(ctx context.Context, c *node.Call) ([]string, error) {
	folder, err := node.Clean(c.Text("folder_name"))
	if err != nil {
		return nil, node.ValueError("Invalid folder name: %v", err)
	}
	if err := c.Files.Root(node.OutFolder).MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make folder %q: %w", folder, err)
	}
	prefix := c.Text("filename_prefix")
	var names []string
	for i, m := range singlePictures(c) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		stem := prefix
		if c.Text("mode") == "increment" {
			// The real server counts anew for each picture, so both numbers go up.
			stem = fmt.Sprintf("%s_%05d", prefix, nextNumber(c, folder, prefix))
		}
		name := path.Join(folder, fmt.Sprintf("%s_%05d.png", stem, i))
		if err := writeOutput(c, name, func(w io.Writer) error { return codec.EncodePNG(w, m, 0, nil) }); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// nextNumber is one more than the highest number of the files "<stem>_<number>_<index>.png" in the folder.
func nextNumber(c *node.Call, folder, stem string) int {
	files, err := c.Files.ListIn(node.OutFolder, folder)
	if err != nil {
		return 1
	}
	highest := 0
	for _, name := range files {
		rest, ok := strings.CutPrefix(name, stem+"_")
		if !ok {
			continue
		}
		digits, _, found := strings.Cut(rest, "_")
		if n, err := strconv.Atoi(digits); found && err == nil {
			highest = max(highest, n)
		}
	}
	return highest + 1
}

// writeOutput writes a file into the output folder, all of it or nothing.
func writeOutput(c *node.Call, name string, write func(io.Writer) error) error {
	if _, err := node.Clean(name); err != nil {
		return err
	}
	var data bytes.Buffer
	if err := write(&data); err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	err := c.Files.Root(node.OutFolder).WriteFile(name, data.Bytes(), 0o600)
	return errs.Wrap(err, "save %s", name)
}
