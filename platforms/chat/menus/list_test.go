package menus

import "testing"

func TestNamesThatPeopleRead(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Wallpaper": true, "Remove background": true, "SDXL Turbo": true, "Wan 2.2 video": true, "Upscale 4x": true, "3D model": true, "Bild vergrößern": true, "画像を拡大": true,
		"wf_03_upscale": false, "x7fq2 final": false, "01a20d6e-77aa": false, "flux.json": false, "my/tool": false, "2024": false,
		"A workflow of somebody who could not stop naming it": false,
	} {
		if got := isName(name); got != want {
			t.Errorf("isName(%q) = %v", name, got)
		}
	}
}
