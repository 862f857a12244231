package input

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// accepts reports whether an input takes a file of that kind.
func accepts(f registry.InputField, a chat.Attachment) bool {
	switch f.Type {
	case registry.TypeImage:
		still := a.Kind == chat.KindSticker && (a.MIMEType == "" || strings.HasPrefix(a.MIMEType, "image/"))
		return a.Kind == chat.KindPhoto || still || isType(a, "image/")
	case registry.TypeVideo:
		return a.Kind == chat.KindVideo || a.Kind == chat.KindAnimation || isType(a, "video/")
	case registry.TypeAudio:
		return a.Kind == chat.KindAudio || a.Kind == chat.KindVoice || isType(a, "audio/")
	case registry.TypeFile:
		return true
	}
	return false
}

// KindsOf gives the kinds of input that files are for.
func KindsOf(files []chat.Attachment) []registry.InputType {
	var kinds []registry.InputType
	for _, a := range files {
		for _, kind := range []registry.InputType{registry.TypeImage, registry.TypeVideo, registry.TypeAudio, registry.TypeFile} {
			if accepts(registry.InputField{Type: kind}, a) {
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
				break
			}
		}
	}
	return kinds
}

// isType judges documents by what they say they are.
func isType(a chat.Attachment, prefix string) bool {
	return a.Kind == chat.KindDocument && strings.HasPrefix(a.MIMEType, prefix)
}

// Assign gives each file to the first input, in order, that takes its kind and has none yet; an
// input for several takes all that are left. taken tells which inputs have a value already. rest are the
// files no input takes.
func Assign(schema registry.InputSchema, files []chat.Attachment, taken func(name string) bool) (values map[string][]chat.Attachment, rest []chat.Attachment) {
	values = map[string][]chat.Attachment{}
	for _, file := range files {
		name := ""
		for _, f := range schema.Ordered() {
			full := len(values[f.Name]) > 0 && !f.Multiple || taken != nil && taken(f.Name)
			if f.Type.IsMedia() && !full && accepts(f, file) {
				name = f.Name
				break
			}
		}
		if name == "" {
			rest = append(rest, file)
			continue
		}
		values[name] = append(values[name], file)
	}
	return values, rest
}
