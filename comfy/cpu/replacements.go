package cpu

import (
	"net/http"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// replacement says which newer class an editor may put in the place of an older one. The engine itself replaces nothing.
type replacement struct {
	old, new string
	widgets  any      // names of the old widgets in order, or nil
	inputs   [][2]any // pairs of new input and old input or setValue
	outputs  any
}

// setValue marks an input that gets a constant.
type setValue string

func replacements() []replacement {
	return []replacement{
		{"ResizeImagesByLongerEdge", "ImageScaleToMaxDimension", []any{"longer_edge"},
			[][2]any{{"image", "images"}, {"largest_size", "longer_edge"}, {"upscale_method", setValue("lanczos")}},
			[]any{pyval.D("new_idx", int64(0), "old_idx", int64(0))}},
		{"ImageBatch", "BatchImagesNode", nil, [][2]any{{"images.image0", "image1"}, {"images.image1", "image2"}}, nil},
		{"ImageScaleBy", "ResizeImageMaskNode", []any{"upscale_method", "scale_by"},
			[][2]any{{"input", "image"}, {"resize_type", setValue("scale by multiplier")}, {"resize_type.multiplier", "scale_by"}, {"scale_method", "upscale_method"}}, nil},
		{"T2IAdapterLoader", "ControlNetLoader", nil, [][2]any{{"control_net_name", "t2i_adapter_name"}}, nil},
		{"Load3DAnimation", "Load3D", nil, nil, nil},
		{"Preview3DAnimation", "Preview3D", nil, nil, nil},
		{"SDV_img2vid_Conditioning", "SVD_img2vid_Conditioning", nil, nil, nil},
		{"ConditioningAverage ", "ConditioningAverage", nil, nil, nil},
	}
}

func getReplacements(w http.ResponseWriter, _ *http.Request) error {
	d := &pyval.Dict{}
	for _, r := range replacements() {
		d.Set(r.old, []any{pyval.D("new_node_id", r.new, "old_node_id", r.old, "old_widget_ids", r.widgets,
			"input_mapping", mapping(r.inputs), "output_mapping", r.outputs)})
	}
	return reply.JSON(w, http.StatusOK, d)
}

func mapping(inputs [][2]any) any {
	if inputs == nil {
		return nil
	}
	out := []any{}
	for _, pair := range inputs {
		m := pyval.D("new_id", pair[0])
		if constant, ok := pair[1].(setValue); ok {
			m.Set("set_value", string(constant))
		} else {
			m.Set("old_id", pair[1])
		}
		out = append(out, m)
	}
	return out
}
