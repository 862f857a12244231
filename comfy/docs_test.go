package comfy_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/registry"
)

// TestDocumentedDirectives defines a workflow with the directives of the page for people who run bots.
func TestDocumentedDirectives(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "comfyui.md"))
	if err != nil {
		t.Fatal(err)
	}
	var directives []string
	for line := range strings.Lines(string(page)) {
		if text, ok := strings.CutPrefix(line, "    @"); ok {
			directives = append(directives, "@"+strings.TrimSpace(text))
		}
	}
	note, err := json.Marshal("Makes posters.\n" + strings.Join(directives, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	node := func(id int, class, title, inputs, outputs, widgets string) string {
		return fmt.Sprintf(`{"id": %d, "type": %q, "title": %q, "mode": 0, "pos": [%d, 0], "inputs": [%s], "outputs": [%s], "widgets_values": [%s]}`, id, class, title, id, inputs, outputs, widgets)
	}
	in := func(name, typ string, link int) string {
		return fmt.Sprintf(`{"name": %q, "type": %q, "link": %d}`, name, typ, link)
	}
	out := func(typ, links string) string {
		return fmt.Sprintf(`{"name": %q, "type": %q, "links": [%s]}`, typ, typ, links)
	}
	flow := `{"nodes": [` + strings.Join([]string{
		node(1, "CheckpointLoaderSimple", "", "", out("MODEL", "1")+","+out("CLIP", "2,3")+","+out("VAE", "4"), `"sd.safetensors"`),
		node(6, "CLIPTextEncode", "", in("clip", "CLIP", 2), out("CONDITIONING", "5"), `"a cat"`),
		node(7, "CLIPTextEncode", "", in("clip", "CLIP", 3)+","+in("text", "STRING", 11), out("CONDITIONING", "6"), `""`),
		node(5, "EmptyLatentImage", "", "", out("LATENT", "7"), `64, 64, 1`),
		node(3, "KSampler", "My sampler", in("model", "MODEL", 1)+","+in("positive", "CONDITIONING", 5)+","+in("negative", "CONDITIONING", 6)+","+in("latent_image", "LATENT", 7),
			out("LATENT", "8"), `1, "randomize", 20, 8, "euler", "simple", 1`),
		node(8, "VAEDecode", "", in("samples", "LATENT", 8)+","+in("vae", "VAE", 4), out("IMAGE", "9"), ""),
		node(9, "SaveImage", "", in("images", "IMAGE", 9), "", `"poster"`),
		node(10, "PrimitiveString", "Style", "", out("STRING", "11"), `"ink"`),
		`{"id": 11, "type": "Note", "mode": 0, "pos": [0, 99], "widgets_values": [` + string(note) + `]}`,
	}, ",") + `], "links": [[1,1,0,3,0,"MODEL"],[2,1,1,6,0,"CLIP"],[3,1,1,7,0,"CLIP"],[4,1,2,8,1,"VAE"],[5,6,0,3,1,"CONDITIONING"],[6,7,0,3,2,"CONDITIONING"],
		[7,5,0,3,3,"LATENT"],[8,3,0,8,0,"LATENT"],[9,8,0,9,0,"IMAGE"],[11,10,0,7,1,"STRING"]], "version": 0.4}`
	w := newWorld(t, newFolder(nil), comfytest.New(t, comfytest.Options{Models: models()}))
	flows := loader.New(loader.Config{Sources: []fs.FS{newFolder(map[string]string{"x.json": flow, "flux general.json": plainFlow})}, Engines: w.fleet, Store: w.store})
	tools, err := flows.Load(t.Context())
	if err != nil || len(tools) != 2 {
		t.Fatalf("%v, %v", ids(tools), err)
	}
	if tools[0].ToolID != "flux-general" || tools[0].CommandName != "/flux_general" {
		t.Errorf("the page says /flux_general of flux-general, it is %s of %s", tools[0].CommandName, tools[0].ToolID)
	}
	tool := tools[1]
	for _, f := range flows.Findings()[tool.ToolID] {
		if strings.Contains(f.Code, "directive") {
			t.Errorf("%s: %s (%s)", f.Code, f.Message, f.Advice)
		}
	}
	fields := map[string]registry.InputField{}
	for _, f := range tool.InputSchema {
		fields[f.Name] = f
	}
	if tool.ToolID != "poster" || tool.DisplayName != "Big poster" || !strings.HasPrefix(tool.Description, "Makes posters.") || strings.Contains(tool.Description, "@") || tool.CostingModel.Rate != "0.02" || tool.Delivery["telegram"].Filename != "poster.png" {
		t.Errorf("%+v", tool)
	}
	if f := fields["prompt"]; f.DisplayName != "What to draw" || !f.Required {
		t.Errorf("%+v", f)
	}
	if f := fields["steps"]; f.Min != "4" || f.Max != "40" || !f.Advanced {
		t.Errorf("%+v of %+v", f, fields)
	}
}
