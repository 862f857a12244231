package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// turns is a tool that makes something of a picture.
func turns(id, category, gives string, inputs ...registry.InputField) registry.Tool {
	return registry.Tool{
		ToolID: id, Service: "test", DisplayName: id, Listing: registry.Listing{Category: category},
		InputSchema:  append(registry.InputSchema{{Name: "image", Type: registry.TypeImage, Required: true}}, inputs...),
		OutputSchema: registry.OutputSchema{{Name: "result", Type: gives}},
	}
}

func TestFollowing(t *testing.T) {
	t.Parallel()
	prompt := registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true}
	denoise := registry.InputField{Name: "denoise", Type: registry.TypeNumber}
	amount := registry.InputField{Name: "amount", Type: registry.TypeNumber, Role: registry.RoleStrength}
	style := registry.InputField{Name: "style", Type: registry.TypeImage, Required: true}
	said := turns("b-own-word", "toys", "image")
	said.Follows = registry.FollowUpscale
	never := turns("hush", "upscale", "image")
	never.Follows = registry.FollowNone
	away := turns("away", "upscale", "image")
	away.Status = &registry.Status{State: registry.StateUnavailable, Reason: "no model"}
	elsewhere := turns("a-elsewhere", "upscale", "image")
	elsewhere.Service = "other"
	painter := registry.Tool{ToolID: "painter", Service: "test", DisplayName: "Painter", InputSchema: registry.InputSchema{prompt}, OutputSchema: registry.OutputSchema{{Name: "picture", Type: "image"}}}
	s := catalog.NewSnapshot([]registry.Tool{
		painter, said, never, away, elsewhere, turns("x4", "upscale", "image"),
		turns("redo", "image-to-image", "image", prompt, denoise), turns("near", "image-to-image", "image", prompt, amount),
		turns("instruct", "image-to-image", "image", prompt), turns("grain", "image-processing", "image"),
		turns("move", "image-to-video", "video"), turns("mesh", "3d", "file"), turns("transfer", "image-to-image", "image", prompt, style),
	}, noon)
	for what, want := range map[string]string{
		"painter image": "vary near, vary redo, upscale b-own-word, upscale x4, upscale a-elsewhere, animate move, edit instruct",
		"redo image":    "vary redo, vary near, upscale b-own-word, upscale x4, upscale a-elsewhere, animate move, edit instruct",
		"x4 image":      "vary near, vary redo, upscale b-own-word, upscale a-elsewhere, animate move, edit instruct",
		"move video":    "",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			id, output, _ := strings.Cut(what, " ")
			of, _ := s.ByID(id)
			var got []string
			for _, f := range s.Following(of, output, registry.Everyone) {
				got = append(got, fmt.Sprint(f.Does, " ", f.Tool.ToolID))
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s is followed by %q, want %q", what, got, want)
			}
		})
	}
}
