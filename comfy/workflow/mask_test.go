package workflow

import (
	"testing"

	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/registry"
)

const maskInfo = `{
 "LoadImage": {"input": {"required": {"image": [["example.png"], {"image_upload": true}]}}, "output": ["IMAGE", "MASK"], "name": "LoadImage"},
 "LoadImageMask": {"input": {"required": {"image": [["example.png"], {"image_upload": true}], "channel": [["alpha", "red", "green", "blue"]]}}, "output": ["MASK"], "name": "LoadImageMask"},
 "Fill": {"input": {"required": {"image": ["IMAGE"], "mask": ["MASK"]}}, "output": ["IMAGE"], "name": "Fill"},
 "SaveImage": {"input": {"required": {"images": ["IMAGE"], "filename_prefix": ["STRING", {"default": "ComfyUI"}]}}, "output": [], "output_node": true, "name": "SaveImage"}
}`

func TestHowFilesMarkAnArea(t *testing.T) {
	t.Parallel()
	info, err := objectinfo.Parse([]byte(maskInfo))
	if err != nil {
		t.Fatal(err)
	}
	loaded := func(maskFrom string, slot int, more func(*graphtest.Graph)) *graphtest.Graph {
		b := (&graphtest.Graph{}).Link(1, "1", 0, "3", "image", "IMAGE").Link(2, maskFrom, slot, "3", "mask", "MASK").Link(3, "3", 0, "4", "images", "IMAGE")
		b.Node("1", "LoadImage", `["a.png", "image"]`, "")
		more(b)
		return b.Node("3", "Fill", `[]`, "").Node("4", "SaveImage", `["x"]`, "")
	}
	own := func(channel string) func(*graphtest.Graph) {
		return func(b *graphtest.Graph) {
			b.Node("2", "LoadImageMask", `["m.png", "`+channel+`", "image"]`, `"title": "Mask",`)
		}
	}
	for name, c := range map[string]struct {
		graph *graphtest.Graph
		want  []registry.MaskKind // of the pictures, in order
	}{
		"the picture's own alpha, where the loader's mask is taken": {loaded("1", 1, func(*graphtest.Graph) {}), []registry.MaskKind{registry.MaskWithin}},
		"the alpha of a picture of its own":                         {loaded("2", 0, own("alpha")), []registry.MaskKind{"", registry.MaskAlpha}},
		"a colour of a picture of its own":                          {loaded("2", 0, own("red")), []registry.MaskKind{"", registry.MaskWhite}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []registry.MaskKind
			d, err := Define(graphtest.Parse(t, c.graph.String()), Options{FileName: "fill.json", ObjectInfo: info})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range d.Tool.InputSchema {
				if f.Type == registry.TypeImage {
					got = append(got, f.Mask)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("found %q, want %q", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("picture %d: found %q, want %q", i, got[i], c.want[i])
				}
			}
		})
	}
}
