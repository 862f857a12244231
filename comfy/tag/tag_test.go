package tag

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Set{"http://gpu1:8188": {}, "http://gpu1:8188#gpu=4090&room=cellar&rate=0.0004": {Tags: []string{"gpu=4090", "room=cellar", "rate=0.0004"}, Rate: "0.0004"},
		"http://gpu1:8188#only=tool:paint&wake=https://pods.example/start?id=1%26key=a%2Cb": {Tags: []string{"only=tool:paint"}, Tools: []string{"paint"}, Wake: "https://pods.example/start?id=1&key=a,b"}} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := Read(u); err != nil || !reflect.DeepEqual(s, want) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	for _, text := range []string{"http://gpu1:8188#fast", "http://gpu1:8188#=a", "http://gpu1:8188#gpu=", "http://gpu1:8188#vram=large", "http://gpu1:8188#rate=cheap", "http://gpu1:8188#rate=-1",
		"http://gpu1:8188#only=paint", "http://gpu1:8188#only=tool:", "http://gpu1:8188#only=group:ann"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(u); err == nil || !strings.Contains(err.Error(), "gpu1:8188") || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Tags are shown to people; what wakes an engine may have a key in it.
func TestKeysOfWakeAreNoTags(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"http://gpu1:8188#wake=https://pods.example/start?id=1&key=secret", "http://gpu1:8188#wake=https://pods.example/start?id=1&gpu=4090&key=secret", "http://gpu1:8188#wake=https://pods.example/start?secret=1&key"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Read(u)
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "gpu1:8188") || !strings.Contains(err.Error(), "expected %26") {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	u, err := url.Parse("http://gpu1:8188#gpu=4090&wake=https://pods.example/start?id=1%26key=a")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Read(u); err != nil || s.Wake != "https://pods.example/start?id=1&key=a" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestMemoryAsATag(t *testing.T) {
	t.Parallel()
	const card = 24 << 30
	var s Set
	if lacks := s.Lacks([]string{"vram=24"}, card); len(lacks) != 0 {
		t.Errorf("a card of 24 GB: %q", lacks)
	}
	if lacks := s.Lacks([]string{"vram=32"}, card); len(lacks) != 1 {
		t.Errorf("a card of 24 GB: %q", lacks)
	}
	s.Tags = []string{"vram=48"} // two cards that work as one
	if lacks := s.Lacks([]string{"vram=32"}, card); len(lacks) != 0 {
		t.Errorf("what the operator says counts: %q", lacks)
	}
}
