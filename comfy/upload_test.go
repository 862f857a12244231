package comfy

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestUploadName(t *testing.T) {
	t.Parallel()
	ref := "asset:" + strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct {
		ref, want string
		info      registry.MediaInfo
	}{
		{ref, "signalbox_0123456789abcdef0123456789abcdef.png", registry.MediaInfo{Name: "my holiday.jpg", MIMEType: "image/png"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.jpg", registry.MediaInfo{MIMEType: "image/jpeg; charset=binary"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.mov", registry.MediaInfo{MIMEType: "video/quicktime"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.mp3", registry.MediaInfo{MIMEType: "audio/mpeg"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.m4a", registry.MediaInfo{MIMEType: "audio/mp4"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.glb", registry.MediaInfo{MIMEType: "model/gltf-binary"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.exr", registry.MediaInfo{Name: "x.EXR", MIMEType: "image/x-exr"}},
		{ref, "signalbox_0123456789abcdef0123456789abcdef.bin", registry.MediaInfo{Name: "x.p/../h"}},
		{"https://x/../../a b.png", "signalbox_httpsxabpng.bin", registry.MediaInfo{}},
	} {
		if got := uploadName(c.ref, c.info); got != c.want {
			t.Errorf("%+v gives %s, expected %s", c.info, got, c.want)
		}
	}
}
