package registry

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

// InputSchema is the ordered map of a tool's inputs. In JSON it is an object whose key order is kept.
type InputSchema []InputField

// OutputSchema is the ordered map of a tool's results. In JSON it is an object whose key order is kept.
type OutputSchema []OutputField

// Data is the output that is a tool's data as a whole: the only one, a text that has a schema.
func (s OutputSchema) Data() (OutputField, bool) {
	if len(s) != 1 || s[0].Type != "text" || s[0].Schema == nil {
		return OutputField{}, false
	}
	return s[0], true
}

// Get finds an input by name.
func (s InputSchema) Get(name string) (InputField, bool) {
	for _, f := range s {
		if f.Name == name {
			return f, true
		}
	}
	return InputField{}, false
}

// MarshalJSON writes an object in field order; an empty schema is {}.
func (s InputSchema) MarshalJSON() ([]byte, error) {
	return marshalOrdered(s, func(f InputField) string { return f.Name })
}

// MarshalJSON writes an object in field order; an empty schema is {}.
func (s OutputSchema) MarshalJSON() ([]byte, error) {
	return marshalOrdered(s, func(f OutputField) string { return f.Name })
}

func marshalOrdered[F any](fields []F, name func(F) string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := ordered.Marshal(name(f))
		if err != nil {
			return nil, err
		}
		value, err := ordered.Marshal(f)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name(f), err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

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
