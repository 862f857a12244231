package cpu_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/cpu"
)

// listedElsewhere are inputs whose options a server reads from its disk.
var listedElsewhere = map[string]bool{
	"LoadImage.image": true, "LoadImageMask.image": true, "LoadImageOutput.image": true, "LoadAudio.audio": true,
	"LoadImageDataSetFromFolder.folder": true, "LoadImageTextDataSetFromFolder.folder": true,
}

// TestObjectInfo compares the declaration of every class with the one of the real server. Texts for people are our own.
func TestObjectInfo(t *testing.T) {
	t.Parallel()
	var want map[string]any
	readJSON(t, shared(t, "corpus", "object_info.json"), &want)
	srv := newServer(t, cpu.Config{})
	got := srv.do(t, "GET", "/object_info", nil, nil).json(t).(map[string]any)
	if len(got) < 100 {
		t.Errorf("only %d classes", len(got))
	}
	for class, ours := range got {
		theirs, ok := want[class]
		if !ok {
			if class != "SaveImageWebsocket" {
				t.Errorf("%s is no class of the real server", class)
			}
			continue
		}
		w, g := readable(class, theirs), readable(class, ours)
		if d := same(w, g); d != "" {
			t.Errorf("%s%s", class, d)
		}
	}
}

// readable brings a declaration into the form to compare: no lists that depend on the disk, none of the names that the
// collection's stand-in libraries print for enumerations.
func readable(class string, v any) any {
	d := v.(map[string]any)
	input, _ := d["input"].(map[string]any)
	for _, part := range input {
		inputs, _ := part.(map[string]any)
		for name, decl := range inputs {
			list, ok := decl.([]any)
			if !ok || len(list) == 0 {
				continue
			}
			options := map[string]any{}
			if len(list) > 1 {
				options = list[1].(map[string]any)
			}
			if listedElsewhere[class+"."+name] {
				delete(options, "options")
				if _, ok := list[0].([]any); ok {
					list[0] = "listed"
				}
			}
			if text, ok := options["control_after_generate"].(string); ok && text == "ControlAfterGenerate.fixed" {
				options["control_after_generate"] = "fixed"
			}
			if list[0] == "COMFY_DYNAMICCOMBO_V3" {
				for _, choice := range options["options"].([]any) {
					delete(choice.(map[string]any), "key") // printed as names of an enumeration there
				}
			}
		}
	}
	return d
}

func TestBatchesAreBoundedWhereTheEngineSaysSo(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{MaxBatch: 64})
	info := srv.do(t, "GET", "/object_info", nil, nil).json(t).(map[string]any)
	for class, name := range map[string]string{"EmptyImage": "batch_size", "EmptyLatentImage": "batch_size", "RepeatImageBatch": "amount"} {
		input := info[class].(map[string]any)["input"].(map[string]any)["required"].(map[string]any)[name].([]any)
		if most := input[1].(map[string]any)["max"]; fmt.Sprint(most) != "64" {
			t.Errorf("%s offers %s up to %v", class, name, most)
		}
	}
	prompt := func(batch int) []byte {
		return fmt.Appendf(nil, `{"prompt": {"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 16, "batch_size": %d, "color": 0}},
			"2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}}}}`, batch)
	}
	if r := srv.do(t, "POST", "/prompt", nil, prompt(65)); r.status != http.StatusBadRequest || !strings.Contains(string(r.body), "value_bigger_than_max") {
		t.Errorf("65: %d %s", r.status, r.body)
	}
	if r := srv.do(t, "POST", "/prompt", nil, prompt(64)); r.status != http.StatusOK {
		t.Errorf("64: %d %s", r.status, r.body)
	}
}
