package workflow

import (
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/registry"
)

// loader says which widget of a class names the file that it loads, and how a caller's file gets there.
type loader struct {
	input string
	kind  registry.InputType
	mode  binding.Mode
}

var loaders = map[string]loader{
	"LoadImage": {input: "image", kind: registry.TypeImage}, "LoadImageMask": {input: "image", kind: registry.TypeImage}, "LoadImageOutput": {input: "image", kind: registry.TypeImage},
	"ETN_LoadImageBase64": {"image", registry.TypeImage, binding.ModeReplaceLoader}, "ETN_LoadMaskBase64": {"mask", registry.TypeImage, binding.ModeReplaceLoader},
	"easy loadImageBase64": {"base64_data", registry.TypeImage, binding.ModeReplaceLoader},
	"LoadVideo":            {input: "file", kind: registry.TypeVideo}, "VHS_LoadVideo": {input: "video", kind: registry.TypeVideo}, "VHS_LoadVideoFFmpeg": {input: "video", kind: registry.TypeVideo},
	"VHS_LoadVideoPath": {"video", registry.TypeVideo, binding.ModePath}, "VHS_LoadVideoFFmpegPath": {"video", registry.TypeVideo, binding.ModePath},
	"LoadAudio": {input: "audio", kind: registry.TypeAudio}, "VHS_LoadAudioUpload": {input: "audio", kind: registry.TypeAudio}, "VHS_LoadAudio": {"audio_file", registry.TypeAudio, binding.ModePath},
	"Load3D": {input: "model_file", kind: registry.TypeFile}, "Load3DAnimation": {input: "model_file", kind: registry.TypeFile},
}

var (
	loadsByName = regexp.MustCompile(`(?i)load_?(image|video|audio)`)
	fileOfInput = regexp.MustCompile(`^[^:/\\][^:]*\.\w{2,5}$`) // in the folder of uploads: no address, no path of the author's
)

// loaderOf tells how a node loads its file. A class that nobody declared is told by its name, and by the file that a widget
// of the kind's name holds.
func loaderOf(n *graph.FlatNode) loader {
	l, known := loaders[n.Class]
	if m := loadsByName.FindStringSubmatch(n.Class); !known && n.Spec == nil && m != nil {
		kind := strings.ToLower(m[1])
		if file, _ := n.Inputs.Get(kind); fileOfInput.MatchString(textOf(file)) {
			return loader{input: kind, kind: registry.InputType(kind)}
		}
	}
	return l
}
