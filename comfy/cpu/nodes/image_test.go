package nodes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// folders are an engine's folders for one test.
type folders struct {
	*node.Files
	dir string
}

func openFolders(t *testing.T) folders {
	t.Helper()
	dir := t.TempDir()
	files, err := node.OpenFiles(filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "temp"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	return folders{files, dir}
}

// names lists the files of one folder, by their paths.
func (f folders) names(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	root := filepath.Join(f.dir, folder)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (f folders) write(t *testing.T, name string, data []byte) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (f folders) writePicture(t *testing.T, name string, m *tensor.Image) {
	t.Helper()
	var file strings.Builder
	if err := codec.EncodePNG(&file, m, 0, nil); err != nil {
		t.Fatal(err)
	}
	f.write(t, name, []byte(file.String()))
}

func runClass(ctx context.Context, f folders, class string, values map[string]any) (*node.Result, error) {
	for _, n := range All() {
		if n.Spec.Class == class {
			return n.Run(ctx, node.NewCall(&n.Spec, f.Files, values))
		}
	}
	return nil, errors.New("no class " + class)
}

func solid(t *testing.T, b, h, w int, red float32) *tensor.Image {
	t.Helper()
	m, err := tensor.Solid(b, h, w, [3]float32{red, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDataSetsAreSaved(t *testing.T) {
	t.Parallel()
	f := openFolders(t)
	save := func(folder, mode string) error {
		_, err := runClass(t.Context(), f, "SaveImageTextDataSetToFolder", map[string]any{
			"images": []any{solid(t, 2, 2, 2, 0), solid(t, 1, 3, 3, 1)}, "texts": []any{"one", "two"},
			"folder_name": []any{folder}, "filename_prefix": []any{"im"}, "mode": []any{mode},
		})
		return err
	}
	for _, mode := range []string{"overwrite", "overwrite", "increment"} {
		if err := save("set", mode); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"set/im_00000.png", "set/im_00000.txt", "set/im_00001.png", "set/im_00001.txt", "set/im_00001_00000.png", "set/im_00001_00000.txt",
		"set/im_00002.png", "set/im_00002_00001.png", "set/im_00002_00001.txt", "set/im_00003_00002.png",
	}
	if got := f.names(t, "out"); !slices.Equal(got, want) {
		t.Errorf("files are\n%q, want\n%q", got, want)
	}
	for _, folder := range []string{"../out2", "/tmp/x", "", ".", "a/../../b"} {
		if err := save(folder, "overwrite"); err == nil {
			t.Errorf("the folder %q was accepted", folder)
		}
	}
}

func TestDataSetsAreLoaded(t *testing.T) {
	t.Parallel()
	f := openFolders(t)
	f.writePicture(t, "in/set/b.png", solid(t, 1, 2, 2, 0))
	f.writePicture(t, "in/set/a.PNG", solid(t, 1, 3, 3, 0))
	f.writePicture(t, "in/set/2_cats/c.png", solid(t, 1, 4, 4, 0))
	f.write(t, "in/set/a.txt", []byte("  first \n"))
	f.write(t, "in/set/notes.md", nil)
	out, err := runClass(t.Context(), f, "LoadImageTextDataSetFromFolder", map[string]any{"folder": "set"})
	if err != nil {
		t.Fatal(err)
	}
	var widths []int
	for _, m := range out.Outputs[0].([]any) {
		widths = append(widths, m.(*tensor.Image).W)
	}
	if !slices.Equal(widths, []int{3, 2, 4, 4}) {
		t.Errorf("pictures of width %v", widths)
	}
	if texts := out.Outputs[1].([]any); texts[0] != "first" || texts[1] != "" {
		t.Errorf("texts %q", texts)
	}
	for _, folder := range []string{"none", "..", "/"} {
		if _, err := runClass(t.Context(), f, "LoadImageDataSetFromFolder", map[string]any{"folder": folder}); err == nil {
			t.Errorf("the folder %q was accepted", folder)
		}
	}
}

func TestLoadersStayInTheirFolders(t *testing.T) {
	t.Parallel()
	f := openFolders(t)
	f.writePicture(t, "secret.png", solid(t, 1, 2, 2, 0))
	f.writePicture(t, "out/made.png", solid(t, 1, 5, 5, 0))
	for _, name := range []string{"../secret.png", filepath.Join(f.dir, "secret.png"), "", ".", "none.png"} {
		for class, values := range map[string]map[string]any{
			"LoadImage": {"image": name}, "LoadImageMask": {"image": name, "channel": "red"}, "LoadImageOutput": {"image": name}, "WebcamCapture": {"image": name},
		} {
			if _, err := runClass(t.Context(), f, class, values); err == nil {
				t.Errorf("%s opened %q", class, name)
			}
		}
	}
	out, err := runClass(t.Context(), f, "LoadImage", map[string]any{"image": "made.png [output]"})
	if err != nil || out.Outputs[0].(*tensor.Image).W != 5 {
		t.Errorf("a picture of the output folder: %v", err)
	}
}

func TestBoxesInManyForms(t *testing.T) {
	t.Parallel()
	f := openFolders(t)
	m := solid(t, 1, 20, 30, 0.5)
	box := pyval.D("x", int64(-10), "y", 2.7, "width", int64(6), "height", int64(4))
	out, err := runClass(t.Context(), f, "ImageCropV2", map[string]any{"image": m, "crop_region": box})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Outputs[0].(*tensor.Image); got.W != 6 || got.H != 4 {
		t.Errorf("a corner before the start gives %d x %d", got.W, got.H)
	}
	inside := pyval.D("x", int64(1), "y", int64(1), "width", int64(6), "height", int64(4))
	for name, boxes := range map[string]any{"one": inside, "list": []any{inside, inside}, "lists": []any{[]any{inside}}} {
		out, err := runClass(t.Context(), f, "CropByBBoxes", map[string]any{
			"image": m, "bboxes": boxes, "output_width": int64(64), "output_height": int64(72), "padding": int64(0), "keep_aspect": "pad",
		})
		if err != nil || out.Outputs[0].(*tensor.Image).H != 72 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := runClass(t.Context(), f, "DrawBBoxes", map[string]any{"bboxes": boxes}); err != nil {
			t.Errorf("drawing %s: %v", name, err)
		}
	}
	for name, boxes := range map[string]any{"text": "x", "number": int64(3), "no numbers": pyval.D("x", "a")} {
		if _, err := runClass(t.Context(), f, "ImageCropV2", map[string]any{"image": m, "crop_region": boxes}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestLongMaskGrowthStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	mask, err := tensor.SolidMask(8, 8, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	_, err = runClass(ctx, openFolders(t), "GrowMask", map[string]any{"mask": mask, "expand": int64(-16384), "tapered_corners": true})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSizesOfNodesAreBounded(t *testing.T) {
	t.Parallel()
	f := openFolders(t)
	m := solid(t, 1, 64, 64, 0)
	for class, values := range map[string]map[string]any{
		"EmptyImage":                {"width": int64(16384), "height": int64(16384), "batch_size": int64(4096), "color": int64(0)},
		"SolidMask":                 {"width": int64(16384), "height": int64(16384), "value": 1.0},
		"ImageScale":                {"image": m, "width": int64(16384), "height": int64(16384), "upscale_method": "lanczos", "crop": "disabled"},
		"ImageScaleBy":              {"image": m, "scale_by": 8.0, "upscale_method": "area"},
		"RepeatImageBatch":          {"image": m, "amount": int64(4096)},
		"ImagePadForOutpaint":       {"image": m, "left": int64(16384), "top": int64(16384), "right": int64(0), "bottom": int64(0), "feathering": int64(0)},
		"ResizeImagesByLongerEdge":  {"images": m, "longer_edge": int64(8192)},
		"ResizeImagesByShorterEdge": {"images": m, "shorter_edge": int64(8192)},
		"ResizeAndPadImage":         {"image": m, "target_width": int64(16384), "target_height": int64(16384), "padding_color": "white", "interpolation": "area"},
		"SplitImageToTileList":      {"image": solid(t, 1, 256, 256, 0), "tile_width": int64(128), "tile_height": int64(128), "overlap": int64(4096)},
		"ImageMergeTileList":        {"image_list": []any{m}, "final_width": []any{int64(32768)}, "final_height": []any{int64(32768)}, "overlap": []any{int64(0)}},
		"ImageGrid":                 {"images": []any{m}, "columns": []any{int64(20)}, "cell_width": []any{int64(2048)}, "cell_height": []any{int64(2048)}, "padding": []any{int64(0)}},
	} {
		for _, n := range All() {
			if n.Spec.Class != class {
				continue
			}
			c := node.NewCall(&n.Spec, f.Files, values)
			c.MaxPixels = 1 << 17
			_, err := n.Run(t.Context(), c)
			var refused *node.Exception
			if !errors.As(err, &refused) || refused.Type != "MemoryError" {
				t.Errorf("%s: %v", class, err)
			}
		}
	}
}
