package graph

import (
	"regexp"
	"strings"
)

// Kinds of results, as Facts.OutputTypes names them.
const (
	KindImage = "image"
	KindVideo = "video"
	KindAudio = "audio"
	Kind3D    = "3d"
	KindText  = "text"
	KindFile  = "file"
)

// OutputKind says what a class leaves behind as a result, or "" for a class that is not known to.
func OutputKind(class string) string {
	switch class {
	case "SaveImage", "PreviewImage", "SaveAnimatedWEBP", "SaveAnimatedPNG", "SaveImageWebsocket", "SaveImageAdvanced", "MaskPreview", "ImageCompare",
		"Image Save", "MaskPreview+", "LayerMask: MaskPreview", "PreviewBridge", "SEGSPreview", "ImageSender", "Image Comparer (rgthree)", "SaveSVGNode",
		"ComfyDeployOutputImage", "ComfyDeployWebscoketImageOutput", "ETN_SendImageWebSocket", "SaveImageKJ", "Save Image w/Metadata", "SaveImageWithMetaData",
		"easy imageSave", "SaveImageExtended", "JWImageSaveToPath", "Image Saver", "SaveImageDataSetToFolder", "SAM3_TrackPreview":
		return KindImage
	case "SaveVideo", "SaveWEBM", "VHS_VideoCombine", "PreviewVideo", "Video Combine (VHS)", "ADE_AnimateDiffCombine", "ComfyDeployOutputVideo":
		return KindVideo
	case "SaveAudio", "SaveAudioMP3", "SaveAudioOpus", "SaveAudioAdvanced", "PreviewAudio", "VHS_SaveAudio", "ComfyDeployOutputAudio":
		return KindAudio
	case "SaveGLB", "Preview3D", "Preview3DAnimation", "Preview3DAdvanced", "PreviewGaussianSplat", "PreviewPointCloud",
		"[Comfy3D] Save 3D Mesh", "[Comfy3D] Preview 3DMesh", "[Comfy3D] Save 3DGS", "[Comfy3D] Preview 3DGS", "Hy3DExportMesh":
		return Kind3D
	case "PreviewAny", "ShowText|pysssss", "SaveString", "PreviewString", "AceStepShowText", "Display Any (rgthree)", "Display Int (rgthree)",
		"IF_LLM_DisplayText", "IF_LLM_DisplayOmni", "ComfyDeployOutputText", "easy showAnything", "ShowText", "Show any [Crystools]", "Save Text File", "SaveText|pysssss":
		return KindText
	case "ComfyDeployOutputFile", "ComfyDeployOutputEXR", "SaveLatent", "CheckpointSave", "CLIPSave", "VAESave", "ModelSave", "LoraSave", "ImageOnlyCheckpointSave":
		return KindFile
	}
	return ""
}

// IsPreview tells results that are looked at rather than kept.
func IsPreview(class string) bool {
	switch class {
	case "MaskPreview", "MaskPreview+", "LayerMask: MaskPreview", "SEGSPreview", "ImageCompare", "Image Comparer (rgthree)", "ImageSender", "SAM3_TrackPreview":
		return true
	}
	return strings.HasPrefix(class, "Preview") || strings.HasPrefix(class, "[Comfy3D] Preview") || strings.HasPrefix(class, "Display ")
}

// DeployPrefix starts the names of ComfyUI-Deploy's external input nodes.
const DeployPrefix = "ComfyUIDeployExternal"

// InputKind says what a class takes in from outside, or "".
func InputKind(class string) string {
	switch class {
	case "LoadImage", "ETN_LoadImageBase64", "LoadImageOutput":
		return KindImage
	case "LoadImageMask", "ETN_LoadMaskBase64":
		return "mask"
	case "LoadVideo", "VHS_LoadVideo", "VHS_LoadVideoPath", "VHS_LoadVideoFFmpeg":
		return KindVideo
	case "LoadAudio", "VHS_LoadAudio", "VHS_LoadAudioUpload":
		return KindAudio
	case "Load3D", "Load3DAnimation":
		return Kind3D
	}
	if kind, ok := strings.CutPrefix(class, DeployPrefix); ok {
		return "deploy:" + kind
	}
	return ""
}

// kindsOf gives the kinds of results and of external inputs of a set of classes, sorted.
func kindsOf(classes map[string]bool) (outputs, inputs []string) {
	out, in := map[string]bool{}, map[string]bool{}
	for c := range classes {
		if k := OutputKind(c); k != "" {
			out[k] = true
		}
		if k := InputKind(c); k != "" {
			in[k] = true
		}
	}
	return sorted(out), sorted(in)
}

// modelFile matches names of model files, and texts with one.
var modelFile = regexp.MustCompile(`(?i)\.(safetensors|ckpt|gguf|pth|pt|bin|onnx|sft|patch)\b`)

// NamesModel says whether a text names a model file.
func NamesModel(s string) bool { return modelFile.MatchString(s) }
