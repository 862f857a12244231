package comfy

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/api"
)

func TestReadTags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{"http://gpu1:8188": nil, "http://gpu1:8188#gpu=4090&room=cellar": {"gpu=4090", "room=cellar"},
		"http://gpu1:8188#only=tool:paint&wake=https://pods.example/start?id=1%26key=a%2Cb": {"only=tool:paint", "wake=https://pods.example/start?id=1&key=a,b"}} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if tags, err := ReadTags(u); err != nil || !slices.Equal(tags, want) {
			t.Errorf("%s: %q, %v", text, tags, err)
		}
	}
	for _, text := range []string{"http://gpu1:8188#fast", "http://gpu1:8188#=a", "http://gpu1:8188#gpu=", "http://gpu1:8188#vram=large", "http://gpu1:8188#rate=cheap", "http://gpu1:8188#rate=-1",
		"http://gpu1:8188#only=paint", "http://gpu1:8188#only=tool:", "http://gpu1:8188#only=group:ann"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTags(u); err == nil || !strings.Contains(err.Error(), "gpu1:8188") || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMemoryAsATag(t *testing.T) {
	t.Parallel()
	e := &Engine{known: knowledge{stats: api.SystemStats{Memory: api.Memory{Total: 24 << 30}}}}
	if lacks := e.lacksTags([]string{"vram=24"}); len(lacks) != 0 {
		t.Errorf("a card of 24 GB: %q", lacks)
	}
	if lacks := e.lacksTags([]string{"vram=32"}); len(lacks) != 1 {
		t.Errorf("a card of 24 GB: %q", lacks)
	}
	e.tags = []string{"vram=48"} // two cards that work as one
	if lacks := e.lacksTags([]string{"vram=32"}); len(lacks) != 0 {
		t.Errorf("what the operator says counts: %q", lacks)
	}
}
