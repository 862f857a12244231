package registry

import "strings"

// MaskKind says how a picture marks the area of another one that is to be worked on. Forms offer a brush for it.
type MaskKind string

// The kinds of masks.
const (
	MaskWithin MaskKind = "within" // the picture itself, transparent where it is marked, as ComfyUI's LoadImage reads it
	MaskAlpha  MaskKind = "alpha"  // a picture of its own, transparent where it marks
	MaskWhite  MaskKind = "white"  // a picture of its own, white where it marks and black elsewhere
)

// MarksBy tells how the input marks an area: as Mask says or, where it says nothing, white for a picture that is called a mask, as
// most services have it. Empty: it is no mask.
func (f InputField) MarksBy() MaskKind {
	if f.Mask != "" || f.Type != TypeImage || f.Multiple {
		return f.Mask
	}
	switch strings.ToLower(f.Name) {
	case "mask", "mask_image", "mask_url", "mask_image_url", "maskimage", "maskurl":
		return MaskWhite
	}
	return ""
}
