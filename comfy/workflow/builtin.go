package workflow

import (
	"strings"
)

// builtins holds the widgets of ComfyUI-Deploy's nodes, which no core server declares, and of the commonest
// core classes for use without a server. It is never modified.
var builtins = parseBuiltins()

func builtinClass(name string) *ClassInfo { return builtins[name] }

// builtinWidgets lists class: widget widget ..., in the order of their values. A widget is name=type, the
// type one of I(nt), F(loat), S(tring), M(ultiline string), B(oolean), C(ombo) or a bare upper-case socket
// type; an upload combo is U and the kind.
const builtinWidgets = `
KSampler: model=MODEL seed=I steps=I cfg=F sampler_name=C scheduler=C positive=CONDITIONING negative=CONDITIONING latent_image=LATENT denoise=F
KSamplerAdvanced: add_noise=C noise_seed=I steps=I cfg=F sampler_name=C scheduler=C start_at_step=I end_at_step=I return_with_leftover_noise=C
SamplerCustom: add_noise=B noise_seed=I cfg=F
RandomNoise: noise_seed=I
BasicScheduler: scheduler=C steps=I denoise=F
KSamplerSelect: sampler_name=C
CFGGuider: cfg=F
FluxGuidance: guidance=F
ModelSamplingFlux: max_shift=F base_shift=F width=I height=I
ModelSamplingSD3: shift=F
ModelSamplingAuraFlow: shift=F
CLIPTextEncode: text=M
CLIPTextEncodeFlux: clip_l=M t5xxl=M guidance=F
CLIPTextEncodeSDXL: width=I height=I crop_w=I crop_h=I target_width=I target_height=I text_g=M text_l=M
CLIPTextEncodeSDXLRefiner: ascore=F width=I height=I text=M
CLIPTextEncodeSD3: clip_l=M clip_g=M t5xxl=M empty_padding=C
CLIPSetLastLayer: stop_at_clip_layer=I
EmptyLatentImage: width=I height=I batch_size=I
EmptySD3LatentImage: width=I height=I batch_size=I
EmptyHunyuanLatentVideo: width=I height=I length=I batch_size=I
EmptyMochiLatentVideo: width=I height=I length=I batch_size=I
EmptyLTXVLatentVideo: width=I height=I length=I batch_size=I
WanImageToVideo: width=I height=I length=I batch_size=I
LatentUpscale: upscale_method=C width=I height=I crop=C
LatentUpscaleBy: upscale_method=C scale_by=F
CheckpointLoaderSimple: ckpt_name=C
UNETLoader: unet_name=C weight_dtype=C
CLIPLoader: clip_name=C type=C device=C
DualCLIPLoader: clip_name1=C clip_name2=C type=C device=C
TripleCLIPLoader: clip_name1=C clip_name2=C clip_name3=C
CLIPVisionLoader: clip_name=C
VAELoader: vae_name=C
LoraLoader: lora_name=C strength_model=F strength_clip=F
LoraLoaderModelOnly: lora_name=C strength_model=F
ControlNetLoader: control_net_name=C
ControlNetApply: strength=F
ControlNetApplyAdvanced: strength=F start_percent=F end_percent=F
UpscaleModelLoader: model_name=C
StyleModelLoader: style_model_name=C
LoadImage: image=Uimage
LoadImageMask: image=Uimage channel=C
LoadVideo: file=Uvideo
LoadAudio: audio=Uaudio
SaveImage: filename_prefix=S
SaveAnimatedWEBP: filename_prefix=S fps=F lossless=B quality=I method=C
SaveAnimatedPNG: filename_prefix=S fps=F compress_level=I
SaveVideo: filename_prefix=S format=C codec=C
SaveWEBM: filename_prefix=S codec=C fps=F crf=F
SaveAudio: filename_prefix=S
SaveAudioMP3: filename_prefix=S quality=C
CreateVideo: fps=F
ImageScale: upscale_method=C width=I height=I crop=C
ImageScaleBy: upscale_method=C scale_by=F
ImageScaleToTotalPixels: upscale_method=C megapixels=F resolution_steps=I
ImagePadForOutpaint: left=I top=I right=I bottom=I feathering=I
ImageCrop: width=I height=I x=I y=I
ImageBlend: blend_factor=F blend_mode=C
ImageBlur: blur_radius=I sigma=F
ImageQuantize: colors=I dither=C
ImageSharpen: sharpen_radius=I sigma=F alpha=F
ImageCompositeMasked: x=I y=I resize_source=B
EmptyImage: width=I height=I batch_size=I color=I
SolidMask: value=F width=I height=I
GrowMask: expand=I tapered_corners=B
FeatherMask: left=I top=I right=I bottom=I
ThresholdMask: value=F
VAEEncodeForInpaint: grow_mask_by=I
VAEDecodeTiled: tile_size=I overlap=I temporal_size=I temporal_overlap=I
PrimitiveString: value=S
PrimitiveStringMultiline: value=M
PrimitiveInt: value=I
PrimitiveFloat: value=F
PrimitiveBoolean: value=B
StringConcatenate: string_a=M string_b=M delimiter=S
CLIPVisionEncode: crop=C
StyleModelApply: strength=F strength_type=C
FreeU_V2: b1=F b2=F s1=F s2=F
ComfyUIDeployExternalText: input_id=S default_value=M display_name=S description=M
ComfyUIDeployExternalTextSingleLine: input_id=S default_value=S display_name=S description=M
ComfyUIDeployExternalTextAny: input_id=S default_value=M display_name=S description=M
ComfyUIDeployExternalTextList: input_id=S text=M
ComfyUIDeployExternalImage: input_id=S default_value=IMAGE display_name=S description=M default_value_url=S
ComfyUIDeployExternalImageAlpha: input_id=S default_value=IMAGE display_name=S description=M
ComfyUIDeployExternalImageBatch: input_id=S images=S default_value=IMAGE display_name=S description=M
ComfyUIDeployExternalNumber: input_id=S default_value=F display_name=S description=M
ComfyUIDeployExternalNumberInt: input_id=S default_value=I display_name=S description=M
ComfyUIDeployExternalNumberSlider: input_id=S default_value=F min_value=F max_value=F display_name=S description=M
ComfyUIDeployExternalSlider: input_id=S default_value=F min_value=F max_value=F display_name=S description=M
ComfyUIDeployExternalNumberSliderInt: input_id=S default_value=I min_value=I max_value=I display_name=S description=M
ComfyUIDeployExternalBoolean: input_id=S default_value=B display_name=S description=M
ComfyUIDeployExternalSeed: input_id=S default_value=I min_value=I max_value=I display_name=S description=M
ComfyUIDeployExternalEnum: input_id=S default_value=S options=M display_name=S description=M
ComfyUIDeployExternalLora: input_id=S default_lora_name=C lora_save_name=S display_name=S description=M lora_url=S bearer_token=S
ComfyUIDeployExternalCheckpoint: input_id=S default_value=C display_name=S description=M
ComfyUIDeployExternalFaceModel: input_id=S default_face_model_name=C face_model_save_name=S display_name=S description=M face_model_url=S
ComfyUIDeployExternalVideo: input_id=S force_rate=I force_size=C custom_width=I custom_height=I frame_load_cap=I skip_first_frames=I select_every_nth=I meta_batch=VHS_BatchManager vae=VAE default_video=Uvideo display_name=S description=M default_value_url=S
ComfyUIDeployExternalVid: input_id=S meta_batch=VHS_BatchManager default_value=Uvideo
ComfyUIDeployExternalAudio: input_id=S audio_file=S default_value=AUDIO display_name=S description=S
ComfyUIDeployExternalEXR: input_id=S exr_file=S tonemap=C default_image=IMAGE default_mask=MASK display_name=S description=S
ComfyUIDeployExternalFile: input_id=S display_name=S description=M file_url=S
ComfyDeployWebscoketImageInput: input_id=S seed=I default_value=IMAGE client_id=S
ComfyDeployWebscoketImageOutput: output_id=S images=IMAGE file_type=C quality=I client_id=S
ComfyDeployOutputImage: images=IMAGE filename_prefix=S file_type=C quality=I output_id=S
ComfyDeployOutputText: text=S file_type=C filename_prefix=S output_id=S
ComfyDeployOutputFile: file_path=S output_id=S
`

func parseBuiltins() map[string]*ClassInfo {
	out := map[string]*ClassInfo{}
	for line := range strings.Lines(builtinWidgets) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		c := &ClassInfo{Name: name, OutputNode: outputKind(name) != ""}
		for field := range strings.FieldsSeq(rest) {
			widget, typ, _ := strings.Cut(field, "=")
			c.Inputs = append(c.Inputs, builtinSpec(widget, typ))
		}
		out[name] = c
	}
	return out
}

func builtinSpec(name, typ string) InputSpec {
	s := InputSpec{Name: name, Type: typ, Required: true}
	switch typ {
	case "I":
		s.Type, s.widget = "INT", true
	case "F":
		s.Type, s.widget = "FLOAT", true
	case "S", "M":
		s.Type, s.Multiline, s.widget = "STRING", typ == "M", true
	case "B":
		s.Type, s.widget = "BOOLEAN", true
	case "C":
		s.Type, s.widget = "COMBO", true
	}
	if kind, ok := strings.CutPrefix(typ, "U"); ok && kind == strings.ToLower(kind) {
		s.Type, s.Upload, s.widget = "COMBO", kind, true
	}
	return s
}
