package words

import "github.com/signalbox/signalbox/registry"

// Makes is the kind of what a tool gives first (image, video, audio, text, file), "" where that is not known.
func Makes(t registry.Tool) string {
	if len(t.OutputSchema) == 0 {
		return ""
	}
	return t.OutputSchema[0].Type
}
