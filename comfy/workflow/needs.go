package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// requirements lists classes and model files the prompt needs.
func (d *definer) requirements() Requirements {
	classes := map[string]bool{}
	for _, n := range d.f.Nodes {
		classes[strings.Clone(n.Class)] = true
	}
	r := Requirements{Classes: slices.Sorted(maps.Keys(classes))}
	urls := d.modelURLs()
	seen := map[Model]bool{}
	for _, n := range d.f.Nodes {
		if !d.reached[n.ID] {
			continue
		}
		for _, in := range n.Inputs {
			folder := modelFolder(n.Class, in.Name)
			name, ok := in.Value.(string)
			if !ok || folder == "" || !graph.NamesModel(name) {
				continue
			}
			m := Model{Folder: folder, Name: strings.Clone(name)}
			if !seen[m] {
				seen[m] = true
				m.URL = urls[baseName(name)]
				r.Models = append(r.Models, m)
			}
		}
	}
	return r
}

// tags reads what notes ask of an engine: @tool needs gpu=4090 vram=24.
func (d *definer) tags() (tags []string) {
	for _, dir := range d.notice.Directives {
		if dir.Word != "tool" {
			continue
		}
		for field := range strings.FieldsSeq(dir.Args["needs"]) {
			name, value, _ := strings.Cut(field, "=")
			if plain.Slug(name, "-") != name || value == "" || len(field) > 60 {
				d.badValue(dir, "needs", field)
				continue
			}
			tags = append(tags, name+"="+value)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

func baseName(s string) string {
	return s[strings.LastIndexAny(s, `/\`)+1:]
}

// modelURLs collects where authors say their models come from: properties.models of nodes and the file's own
// list. Only web addresses without credentials are taken.
func (d *definer) modelURLs() map[string]string {
	urls := map[string]string{}
	for name, url := range d.w.Models() {
		if name != "" && strings.HasPrefix(url, "https://") && !strings.ContainsAny(url, "@?\n \"<>") && len(url) < 500 {
			urls[strings.Clone(baseName(name))] = strings.Clone(url)
		}
	}
	return urls
}

// modelFolder names the server's folder for a widget that chooses a model file, or "".
func modelFolder(class, input string) string {
	switch input {
	case "ckpt_name":
		return "checkpoints"
	case "unet_name":
		return "diffusion_models"
	case "vae_name":
		return "vae"
	case "lora_name":
		return "loras"
	case "control_net_name":
		return "controlnet"
	case "style_model_name":
		return "style_models"
	case "gligen_name":
		return "gligen"
	case "hypernetwork_name":
		return "hypernetworks"
	case "text_encoder", "clip_name1", "clip_name2", "clip_name3", "clip_name4":
		return "text_encoders"
	case "clip_name":
		if strings.Contains(class, "Vision") {
			return "clip_vision"
		}
		return "text_encoders"
	case "model_name":
		if strings.Contains(class, "Upscale") {
			return "upscale_models"
		}
	case "default_lora_name":
		return "loras"
	}
	return ""
}

// metadata holds facts about the source for operators and for listings.
func (d *definer) metadata(needs Requirements) map[string]any {
	source := map[string]any{
		"format": d.facts.Format.Short(), "nodes": jsonInt(d.facts.ExecutableNodes),
	}
	m := map[string]any{"workflow": source, "classes": anyList(needs.Classes)}
	if len(needs.Models) > 0 {
		var models []any
		for _, model := range needs.Models {
			entry := map[string]any{"folder": model.Folder, "name": model.Name}
			if model.URL != "" {
				entry["url"] = model.URL
			}
			models = append(models, entry)
		}
		m["models"] = models
	}
	places := make(map[string]any, len(d.fields))
	for _, f := range d.fields {
		if len(f.targets) > 0 {
			places[f.Name] = f.targets[0].Node + "." + f.targets[0].Input
		}
	}
	if len(places) > 0 {
		m[registry.InputPlaces] = places
	}
	if packs := d.packs(); len(packs) > 0 {
		m["customNodes"] = anyList(packs)
	}
	if example := plain.Clip(strings.TrimSpace(plain.Text(d.example)), 300); example != "" && !plain.HoldsKey(example) && !isPlaceholder(example) {
		m["example"] = example
	}
	return m
}

// packs names the custom node packs the file says it uses.
func (d *definer) packs() []string {
	set := map[string]bool{}
	for _, n := range d.f.Nodes {
		if n.Node == nil {
			continue
		}
		if id := n.Node.Pack(); id != "" && id != "comfy-core" {
			set[plain.Clip(plain.Line(id), 80)] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func jsonInt(n int) json.Number { return json.Number(string(ordered.Append(nil, n))) }

func numberOf(v any) json.Number { n, _ := v.(json.Number); return n }

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
