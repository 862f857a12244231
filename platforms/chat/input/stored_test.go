package input

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// Who knows what a stored file is called here does not get it by writing that, however it is written.
func TestStoredFilesAreNotTakenByName(t *testing.T) {
	t.Parallel()
	tool := &registry.Tool{InputSchema: registry.InputSchema{
		{Name: "image", Type: registry.TypeImage}, {Name: "images", Type: registry.TypeImage, Multiple: true}, {Name: "prompt", Type: registry.TypeString},
	}}
	one, other := "asset:"+strings.Repeat("ab", 32), "asset:"+strings.Repeat("cd", 32)
	for _, words := range []string{
		"image=" + one, `image=" ` + one + `"`, "images=" + one, "images=" + one + " images=" + other, "images=" + one + "," + other, `images="` + one + "\n" + other + `"`,
		"images=https://example.com/a.png," + one, "prompt=" + one,
	} {
		var d Draft
		if err := d.Read(tool, words, nil); !errors.Is(err, errStoredFile) {
			t.Errorf("%q gives %v and %v", words, d.Values, err)
		}
	}
	for name, value := range map[string]any{"image": one, "images": []any{"attachment:0", other}, "prompt": one} {
		var d Draft
		if err := d.Read(tool, "", map[string]any{name: value}); !errors.Is(err, errStoredFile) {
			t.Errorf("the typed option %s=%v gives %v and %v", name, value, d.Values, err)
		}
	}
	var d Draft
	if err := d.Read(tool, "images=https://example.com/a.png images=https://example.com/b.png what "+one+" shows", nil); err != nil {
		t.Errorf("addresses, and a text that quotes a file's name, give %v", err)
	}
}
