package cpu

import (
	"bufio"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// protocolVersion is the version of ComfyUI whose protocol this engine speaks.
const protocolVersion = "0.24.0"

// modelFolders are the kinds of model folders that GET /models names; all are empty here.
var modelFolders = []string{
	"checkpoints", "configs", "loras", "vae", "text_encoders", "diffusion_models", "clip_vision", "style_models", "embeddings",
	"diffusers", "vae_approx", "controlnet", "gligen", "upscale_models", "latent_upscale_models", "custom_nodes", "hypernetworks",
	"photomaker", "classifiers", "model_patches", "audio_encoders", "background_removal", "frame_interpolation",
	"geometry_estimation", "optical_flow", "detection",
}

func (e *Engine) features() *pyval.Dict {
	return pyval.D(
		"supports_preview_metadata", true, "max_upload_size", e.cfg.MaxBody,
		"extension", pyval.D("manager", pyval.D("supports_v4", true)),
		"node_replacements", true, "assets", false,
	)
}

func (e *Engine) getFeatures(w http.ResponseWriter, _ *http.Request) error {
	return reply.JSON(w, http.StatusOK, e.features())
}

func (e *Engine) getObjectInfo(w http.ResponseWriter, _ *http.Request) error {
	d := &pyval.Dict{}
	for _, name := range e.names {
		d.Set(name, e.classes[name].Spec.Info(e.files))
	}
	return reply.JSON(w, http.StatusOK, d)
}

func (e *Engine) getObjectInfoOf(w http.ResponseWriter, r *http.Request) error {
	d := &pyval.Dict{}
	if n := e.classes[r.PathValue("class")]; n != nil {
		d.Set(n.Spec.Class, n.Spec.Info(e.files))
	}
	return reply.JSON(w, http.StatusOK, d)
}

func (e *Engine) getSystemStats(w http.ResponseWriter, _ *http.Request) error {
	total, free := memory()
	return reply.JSON(w, http.StatusOK, pyval.D(
		"system", pyval.D(
			"os", runtime.GOOS, "ram_total", total, "ram_free", free, "comfyui_version", protocolVersion,
			"required_frontend_version", nil, "installed_templates_version", nil, "required_templates_version", nil,
			"comfy_package_versions", []any{}, "python_version", "none (Go "+runtime.Version()+")", "pytorch_version", "none",
			"embedded_python", false, "deploy_environment", "signalbox", "argv", []any{},
		),
		"devices", []any{pyval.D("name", "cpu", "type", "cpu", "index", nil, "vram_total", total, "vram_free", free,
			"torch_vram_total", total, "torch_vram_free", free)},
	))
}

// memory gives total and free memory in bytes where the system tells it, else zeros.
func memory() (total, free int64) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "MemTotal:":
			total = kib << 10
		case "MemAvailable:":
			free = kib << 10
		}
	}
	return total, free
}

func getModels(w http.ResponseWriter, _ *http.Request) error {
	return reply.JSON(w, http.StatusOK, modelFolders)
}

func getModelsOf(w http.ResponseWriter, r *http.Request) error {
	if !slices.Contains(modelFolders, r.PathValue("folder")) {
		return reply.NotFound(w, r)
	}
	return reply.EmptyList(w, r)
}

// getModelFolders gives the kinds of folders that models are looked for in; no folder is searched here.
func getModelFolders(w http.ResponseWriter, _ *http.Request) error {
	list := []any{}
	for _, name := range modelFolders {
		if name != "configs" && name != "custom_nodes" {
			list = append(list, pyval.D("name", name, "folders", []any{}))
		}
	}
	return reply.JSON(w, http.StatusOK, list)
}

func getWorkflowTemplates(w http.ResponseWriter, _ *http.Request) error {
	return reply.JSON(w, http.StatusOK, &pyval.Dict{})
}
