package words

import (
	"slices"

	"github.com/signalbox/signalbox/internal/i18n"
)

// stages are the stages of runs that the program knows: what ComfyUI itself calls its nodes, and what those of the workflows that come with the
// program are called. By the text after "stage." that says it.
var stages = map[string][]string{
	"model":     {"Load Checkpoint", "Load Diffusion Model", "UNETLoader", "Load VAE", "VAE", "Load CLIP", "Load LoRA", "Load Upscale Model", "DualCLIPLoader", "Flux model", "Text encoders"},
	"words":     {"CLIP Text Encode (Prompt)", "Prompt", "No negative prompt", "ConditioningZeroOut"},
	"guidance":  {"FluxGuidance", "Guidance"},
	"open":      {"Load Image", "Photo"},
	"encoding":  {"VAE Encode", "VAE Encode (for Inpainting)"},
	"canvas":    {"Empty Latent Image", "EmptySD3LatentImage", "Size"},
	"sampling":  {"KSampler", "KSampler (Advanced)", "SamplerCustom", "SamplerCustomAdvanced", "Sampler", "Sampling"},
	"decoding":  {"VAE Decode", "VAE Decode (Tiled)", "Decode", "Decoding"},
	"enlarging": {"Upscale Image", "Upscale Image (using Model)", "Upscale Latent", "Grow to full size"},
	"scaling":   {"Fit"},
	"saving":    {"Save Image", "Preview Image", "Save Video", "Save Audio (FLAC)", "Save Audio (MP3)", "Save WEBM", "Wallpaper", "Before and after", "After", "Contact sheet", "Film look", "Poster", "Sticker"},
	"video":     {"Create Video"},
	"colours":   {"Grey seedling", "Random colours", "Amber", "Warmth", "Black and white", "Negative"},
	"soften":    {"Soften", "Halo"},
	"flatten":   {"Flat colours", "Inks", "Five inks"},
	"light":     {"Brightness", "Contrast", "Tone", "Glow"},
	"sharpen":   {"Crispness"},
	"sheet":     {"Side by side", "Upper row", "Lower row", "Sheet", "Sheet of paper", "Lines over inks", "Print on vinyl"},
	"lines":     {"Find the lines", "Black lines"},
	"grain":     {"Grain"},
	"cut":       {"Light background", "Subject", "Rim", "Outside", "White vinyl", "Cut out"},
}

// Stage is what a run is at, in the reader's language; a stage that somebody else named stays as it is.
func Stage(v i18n.Voice, name string) string {
	for key, names := range stages {
		if slices.Contains(names, name) {
			return v.Line("stage." + key)
		}
	}
	return name
}

// Stages are all stages that are known, by their names in runs.
func Stages(v i18n.Voice) map[string]string {
	all := map[string]string{}
	for key, names := range stages {
		for _, name := range names {
			all[name] = v.Line("stage." + key)
		}
	}
	return all
}
