package registry

import (
	"testing"
)

func TestMasks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field InputField
		want  MaskKind
	}{
		"as it says":                      {InputField{Name: "mask", Type: TypeImage, Mask: MaskAlpha}, MaskAlpha},
		"a picture that is called a mask": {InputField{Name: "mask_image", Type: TypeImage}, MaskWhite},
		"another picture":                 {InputField{Name: "image", Type: TypeImage}, ""},
		"no picture":                      {InputField{Name: "mask", Type: TypeString}, ""},
		"several pictures":                {InputField{Name: "mask", Type: TypeImage, Multiple: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.field.MarksBy(); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}
