package workflow

import (
	"encoding/json"
	"strings"
)

// packs holds the widgets of classes of well-known node packs, for graphs of the time when files did not name
// them. A class has a line for each version whose widgets differ. It is never modified.
var packs = parsePacks()

// packWidgets is written as builtinWidgets is; a ~ in a name stands for a space.
const packWidgets = `
Efficient~Loader: ckpt_name=C vae_name=C clip_skip=I lora_name=C lora_model_strength=F lora_clip_strength=F positive=M negative=M token_normalization=C weight_interpretation=C empty_latent_width=I empty_latent_height=I batch_size=I
Efficient~Loader: ckpt_name=C vae_name=C clip_skip=I lora_name=C lora_model_strength=F lora_clip_strength=F positive=M negative=M empty_latent_width=I empty_latent_height=I batch_size=I
Eff.~Loader~SDXL: base_ckpt_name=C base_clip_skip=I refiner_ckpt_name=C refiner_clip_skip=I positive_ascore=F negative_ascore=F vae_name=C positive=M negative=M token_normalization=C weight_interpretation=C empty_latent_width=I empty_latent_height=I batch_size=I
KSampler~(Efficient): seed=I steps=I cfg=F sampler_name=C scheduler=C denoise=F preview_method=C vae_decode=C
KSampler~Adv.~(Efficient): add_noise=C noise_seed=I steps=I cfg=F sampler_name=C scheduler=C start_at_step=I end_at_step=I return_with_leftover_noise=C preview_method=C vae_decode=C
KSampler~SDXL~(Eff.): noise_seed=I steps=I cfg=F sampler_name=C scheduler=C start_at_step=I refine_at_step=I preview_method=C vae_decode=C
ImpactWildcardEncode: wildcard_text=M populated_text=M mode=B Select~to~add~LoRA=C Select~to~add~Wildcard=C seed=I
ImpactWildcardEncode: wildcard_text=M populated_text=M mode=C Select~to~add~LoRA=C Select~to~add~Wildcard=C seed=I
ImpactWildcardProcessor: wildcard_text=M populated_text=M mode=B seed=I Select~to~add~Wildcard=C
ImpactWildcardProcessor: wildcard_text=M populated_text=M mode=C seed=I Select~to~add~Wildcard=C
FaceDetailer: guide_size=F guide_size_for=B max_size=F seed=I steps=I cfg=F sampler_name=C scheduler=C denoise=F feather=I noise_mask=B force_inpaint=B bbox_threshold=F bbox_dilation=I bbox_crop_factor=F sam_detection_hint=C sam_dilation=I sam_threshold=F sam_bbox_expansion=I sam_mask_hint_threshold=F sam_mask_hint_use_negative=C drop_size=I wildcard=M cycle=I
FaceDetailer: guide_size=F guide_size_for=B max_size=F seed=I steps=I cfg=F sampler_name=C scheduler=C denoise=F feather=I noise_mask=B force_inpaint=B bbox_threshold=F bbox_dilation=I bbox_crop_factor=F sam_detection_hint=C sam_dilation=I sam_threshold=F sam_bbox_expansion=I sam_mask_hint_threshold=F sam_mask_hint_use_negative=C drop_size=I wildcard=M cycle=I inpaint_model=B noise_mask_feather=I
UltralyticsDetectorProvider: model_name=C
SAMLoader: model_name=C device_mode=C
SAMLoader: model_name=C
UltimateSDUpscale: upscale_by=F seed=I steps=I cfg=F sampler_name=C scheduler=C denoise=F mode_type=C tile_width=I tile_height=I mask_blur=I tile_padding=I seam_fix_mode=C seam_fix_denoise=F seam_fix_width=I seam_fix_mask_blur=I seam_fix_padding=I force_uniform_tiles=B tiled_decode=B
UltimateSDUpscale: upscale_by=F seed=I steps=I cfg=F sampler_name=C scheduler=C denoise=F mode_type=C tile_width=I tile_height=I mask_blur=I tile_padding=I seam_fix_mode=C seam_fix_denoise=F seam_fix_width=I seam_fix_mask_blur=I seam_fix_padding=I force_uniform_tiles=B
Text~Multiline: text=M
Seed~(rgthree): seed=I
INTConstant: value=I
FloatConstant: value=F
StringConstant: string=S
StringConstantMultiline: string=M strip_newlines=B
ImageResizeKJ: width=I height=I upscale_method=C keep_proportion=B divisible_by=I width_input=I height_input=I crop=C
WanVideoTextEncode: positive_prompt=M negative_prompt=M force_offload=B
WanVideoEmptyEmbeds: width=I height=I num_frames=I
HyVideoTextEncode: prompt=M force_offload=B prompt_template=C
CogVideoTextEncode: prompt=M strength=F force_offload=B
SDXLPromptStyler: text_positive=M text_negative=M style=C log_prompt=C
SDXLPromptStyler: text_positive=M text_negative=M style=C log_prompt=B
CR~Prompt~Text: prompt=M
CR~Text: text=M
CR~Seed: seed=I
easy~positive: positive=M
easy~negative: negative=M
easy~seed: seed=I
easy~a1111Loader: ckpt_name=C vae_name=C clip_skip=I lora_name=C lora_model_strength=F lora_clip_strength=F resolution=C empty_latent_width=I empty_latent_height=I positive=M negative=M batch_size=I a1111_prompt_style=B
easy~preSampling: steps=I cfg=F sampler_name=C scheduler=C denoise=F seed=I
easy~kSampler: image_output=C link_id=I save_prefix=S
BNK_CLIPTextEncodeAdvanced: text=M token_normalization=C weight_interpretation=C
String~Literal: string=M
JWStringMultiline: text=M
JWInteger: value=I
JWFloat: value=F
LayerUtility:~TextBox: text=M
CLIPTextEncodeControlnet: text=M
RIFE~VFI: ckpt_name=C clear_cache_after_n_frames=I multiplier=I fast_mode=B ensemble=B scale_factor=F
IPAdapterAdvanced: weight=F weight_type=C combine_embeds=C start_at=F end_at=F embeds_scaling=C
IPAdapterAdvanced: weight=F weight_type=C combine_embeds=C start_at=F end_at=F
IPAdapterUnifiedLoader: preset=C
IPAdapter: weight=F start_at=F end_at=F weight_type=C
`

func parsePacks() map[string][]*ClassInfo {
	out := map[string][]*ClassInfo{}
	for line := range strings.Lines(packWidgets) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		c := &ClassInfo{Name: strings.ReplaceAll(name, "~", " ")}
		for field := range strings.FieldsSeq(rest) {
			widget, typ, _ := strings.Cut(field, "=")
			c.Inputs = append(c.Inputs, builtinSpec(strings.ReplaceAll(widget, "~", " "), typ))
		}
		out[c.Name] = append(out[c.Name], c)
	}
	return out
}

// readPack maps a value list by the version of the class whose widgets it fits in number and kind.
func (n *flatNode) readPack(values []any) bool {
	for len(values) > 0 && (values[len(values)-1] == nil || values[len(values)-1] == "") {
		values = values[:len(values)-1] // buttons
	}
	for _, c := range packs[n.Class] {
		r := widgetReader{values: values, lax: true}
		if r.read(c.Inputs, ""); r.exact() && fits(c.Inputs, r.out) {
			n.Inputs, n.control = r.out, r.control
			return true
		}
	}
	return false
}

// fits says whether each value is of the kind its widget holds.
func fits(list []InputSpec, values Inputs) bool {
	for i := range list {
		v, ok := values.Get(list[i].Name)
		if !ok {
			return false
		}
		switch list[i].Type {
		case "INT", "FLOAT":
			_, ok = v.(json.Number)
		case "BOOLEAN":
			_, ok = v.(bool)
		default:
			_, ok = v.(string)
		}
		if !ok {
			return false
		}
	}
	return true
}
