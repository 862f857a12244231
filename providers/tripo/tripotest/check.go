package tripotest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, 1003)
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if code := s.check(body); code != 0 {
		refuse(w, http.StatusBadRequest, code)
		return
	}
	if running := slices.DeleteFunc(slices.Clone(s.All), (*Task).over); len(running) >= mostAtOnce {
		refuse(w, http.StatusTooManyRequests, 2000)
		return
	}
	task := &Task{ID: uuid.NewString(), Type: body["type"].(string), Status: "queued", Queue: len(s.All), Body: body, Output: map[string]any{}, Credits: 25}
	s.All = append(s.All, task)
	s.wake()
	good(w, map[string]any{"task_id": task.ID})
}

// kind is what a task of a type takes.
type kind struct {
	required, optional []string
}

var (
	made    = []string{"model_version", "face_limit", "texture", "pbr", "model_seed", "texture_seed", "texture_quality", "geometry_quality", "auto_size", "quad", "compress", "generate_parts", "smart_low_poly", "export_uv"}
	picture = append(slices.Clone(made), "texture_alignment", "orientation", "enable_image_autofix")
	kinds   = map[string]kind{
		"text_to_model":      {[]string{"prompt"}, append(slices.Clone(made), "negative_prompt", "image_seed")},
		"image_to_model":     {[]string{"file"}, picture},
		"multiview_to_model": {[]string{"files"}, picture},
		"refine_model":       {[]string{"draft_model_task_id"}, nil},
		"texture_model":      {[]string{"original_model_task_id"}, []string{"texture_prompt", "texture", "pbr", "model_seed", "texture_seed", "texture_quality", "texture_alignment", "part_names", "compress", "bake", "model_version"}},
		"animate_rig":        {[]string{"original_model_task_id"}, []string{"model_version", "out_format", "rig_type", "spec"}},
		"animate_retarget":   {[]string{"original_model_task_id", "animation"}, []string{"out_format", "bake_animation", "export_with_geometry", "animate_in_place"}},
		"stylize_model":      {[]string{"original_model_task_id", "style"}, []string{"block_size"}},
		"convert_model": {[]string{"original_model_task_id", "format"}, []string{
			"quad", "force_symmetry", "face_limit", "flatten_bottom", "flatten_bottom_threshold", "texture_size", "texture_format", "scale_factor", "pivot_to_center_bottom",
			"with_animation", "pack_uv", "bake", "part_names", "export_vertex_colors", "fbx_preset", "export_orientation", "animate_in_place",
		}},
	}
	values = map[string][]string{
		"texture_quality": {"standard", "detailed"}, "geometry_quality": {"standard", "detailed"}, "compress": {"geometry"},
		"texture_alignment": {"original_image", "geometry"}, "orientation": {"default", "align_image"}, "out_format": {"glb", "fbx"}, "spec": {"mixamo", "tripo"},
		"rig_type": {"biped", "quadruped", "hexapod", "octopod", "avian", "serpentine", "aquatic", "others"},
		"style":    {"lego", "voxel", "voronoi", "minecraft"}, "format": {"GLTF", "USDZ", "FBX", "OBJ", "STL", "3MF"},
		"fbx_preset": {"blender", "mixamo", "3dsmax"}, "export_orientation": {"+x", "-x", "+y", "-y"},
	}
	versions = map[string][]string{
		"text_to_model":      {"P1-20260311", "Turbo-v1.0-20250506", "v3.1-20260211", "v3.0-20250812", "v2.5-20250123", "v2.0-20240919", "v1.4-20240625"},
		"image_to_model":     {"P1-20260311", "Turbo-v1.0-20250506", "v3.1-20260211", "v3.0-20250812", "v2.5-20250123", "v2.0-20240919", "v1.4-20240625"},
		"multiview_to_model": {"P1-20260311", "v3.1-20260211", "v3.0-20250812", "v2.5-20250123", "v2.0-20240919", "v1.4-20240625"},
		"texture_model":      {"v2.5-20250123", "v3.0-20250812"},
		"animate_rig":        {"v1.0-20240301", "v2.0-20250506"},
	}
	texts = map[string]int{"prompt": 1024, "negative_prompt": 255}
	flags = []string{
		"texture", "pbr", "auto_size", "quad", "generate_parts", "smart_low_poly", "export_uv", "enable_image_autofix", "bake_animation", "animate_in_place", "force_symmetry",
		"flatten_bottom", "pivot_to_center_bottom", "with_animation", "pack_uv",
	}
	numbers = []string{"face_limit", "image_seed", "model_seed", "texture_seed", "block_size", "texture_size", "scale_factor"}
)

// check gives the code of a refusal, or 0; the lock is held.
func (s *Server) check(body map[string]any) int {
	name, _ := body["type"].(string)
	k, known := kinds[name]
	if !known {
		return 2002
	}
	for _, field := range k.required {
		if body[field] == nil || body[field] == "" {
			return 1004
		}
	}
	for field, value := range body {
		if field != "type" && !slices.Contains(k.required, field) && !slices.Contains(k.optional, field) || !fits(name, field, value) {
			return 1004
		}
	}
	return s.checkReferences(body)
}

// fits reports whether a value is one that the field takes.
func fits(kind, field string, value any) bool {
	text, isText := value.(string)
	_, isNumber := value.(json.Number)
	_, isFlag := value.(bool)
	switch {
	case field == "model_version":
		return slices.Contains(versions[kind], text)
	case field == "animation":
		return strings.HasPrefix(text, "preset:")
	case values[field] != nil:
		return slices.Contains(values[field], text)
	case texts[field] > 0:
		return isText && len([]rune(text)) <= texts[field]
	case slices.Contains(flags, field):
		return isFlag
	case slices.Contains(numbers, field):
		return isNumber
	}
	return true
}

// checkReferences looks for the pictures and the models that a request names.
func (s *Server) checkReferences(body map[string]any) int {
	files, _ := body["files"].([]any)
	if body["files"] != nil && (len(files) != 4 || len(asObject(files[0])) == 0) {
		return 1004
	}
	style := asObject(body["texture_prompt"])
	for _, file := range append(files, body["file"], style["image"], style["style_image"]) {
		if ref := asObject(file); len(ref) > 0 && (s.pictures[fmt.Sprint(ref["file_token"])] == "" || s.pictures[fmt.Sprint(ref["file_token"])] != ref["type"]) {
			return 2003
		}
	}
	for _, field := range []string{"original_model_task_id", "draft_model_task_id"} {
		if id, given := body[field].(string); given {
			if source := s.Find(id); source == nil || source.Status != "success" {
				return 2006
			}
		}
	}
	return 0
}

func asObject(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}
