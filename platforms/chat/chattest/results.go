package chattest

import (
	"bytes"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// results are what runs can give, one test for each kind.
func results() map[string]func(*scene) {
	return map[string]func(*scene){
		"a video comes as a video":                                                  videoResult,
		"a sound comes as a sound":                                                  soundResult,
		"a 3D model comes as a file with its preview":                               modelResult,
		"a file too large for the platform becomes a link":                          tooLargeResult,
		"pictures are described where the platform can, and adult ones are covered": describedResult,
	}
}

func (s *scene) single(o registry.Output) Seen {
	s.t.Helper()
	s.say("/series a cat")
	s.Succeed(s.Call(0), o)
	return s.AwaitMedia(s.room, "Series", "a cat")
}

func videoResult(s *scene) {
	data := clip()
	m := s.single(registrytest.File("video", "video", registry.MediaInfo{Name: "cat.mp4", MIMEType: "video/mp4", Width: 16, Height: 16}, data))
	if m.Media.Kind != chat.KindVideo || !bytes.Equal(m.Media.Data, data) {
		s.t.Errorf("the video came as %s with %d bytes", m.Media.Kind, len(m.Media.Data))
	}
}

// clip is the beginning of an MP4 file, which is all that platforms look at.
func clip() []byte {
	return append([]byte("\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2avc1mp41"), make([]byte, 200)...)
}

func soundResult(s *scene) {
	data := append([]byte("ID3\x03\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00"), make([]byte, 200)...)
	m := s.single(registrytest.File("sound", "audio", registry.MediaInfo{Name: "cat.mp3", MIMEType: "audio/mpeg"}, data))
	if m.Media.Kind != chat.KindAudio || !bytes.Equal(m.Media.Data, data) {
		s.t.Errorf("the sound came as %s with %d bytes", m.Media.Kind, len(m.Media.Data))
	}
}

func modelResult(s *scene) {
	model := append([]byte("glTF\x02\x00\x00\x00"), make([]byte, 100)...)
	s.say("/series a cat")
	s.Succeed(s.Call(0), PictureOutput("preview"),
		registrytest.File("model", "file", registry.MediaInfo{Name: "cat.glb", MIMEType: "model/gltf-binary"}, model))
	s.Await(s.room, "3D model", func(m Seen) bool {
		return m.Media != nil && m.Media.Kind == chat.KindDocument && bytes.Equal(m.Media.Data, model)
	})
	s.Await(s.room, "preview", func(m Seen) bool { return m.Media != nil && m.Media.Kind == chat.KindPhoto })
	s.AwaitText(s.room, "Series", "a cat")
}

func tooLargeResult(s *scene) {
	s.Stop()
	s.Link = func(runs.Run, int) string { return "https://signalbox.example/files/cat" }
	s.Start()
	most := max(s.Caps.Uploads[chat.KindVideo], s.Caps.Uploads[chat.KindDocument])
	s.say("/series a cat")
	data := append(clip(), make([]byte, most)...)
	s.Succeed(s.Call(0), registrytest.File("video", "video", registry.MediaInfo{Name: "cat.mp4", MIMEType: "video/mp4"}, data))
	s.AwaitText(s.room, "Series", "“cat.mp4” is too large to be sent here", "Open it here")
	s.Idle()
}

func describedResult(s *scene) {
	m := s.painted()
	if s.Caps.AltLimit > 0 && m.Alt != "Painter: a red bicycle" {
		s.t.Errorf("the picture is described as %q", m.Alt)
	}
	if m.Spoiler {
		s.t.Error("a harmless picture is covered")
	}
	tool := PainterTool()
	tool.ToolID, tool.CommandName, tool.DisplayName = "nude", "/nude", "Nude"
	tool.Metadata = map[string]any{"adult": true}
	s.Loader.Set(append(Tools(), tool)...)
	s.Reload()
	if group := s.Harness.Group("Painters"); !group.none() {
		s.sayIn(group, "/nude a statue")
		s.AwaitText(group, "Nude", "adults", "Nothing was charged")
	}
	s.say("/nude a statue")
	s.Succeed(s.Call(1), PictureOutput("picture"))
	if m := s.AwaitMedia(s.room, "Nude"); !m.Spoiler {
		s.t.Error("the picture is not covered")
	}
}
