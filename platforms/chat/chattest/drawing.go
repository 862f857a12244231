package chattest

import (
	"bytes"
	"fmt"
	"image/color"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// drawings are what becomes of pictures of something that goes on changing.
func drawings() map[string]func(*scene) {
	return map[string]func(*scene){
		"each change of a drawing edits the message that shows it":         drawingChanges,
		"Undo under a drawing edits that message, as often as it is there": drawingUndone,
		"a drawing as a file is another message":                           drawingAsFile,
		"a change that fails is told, and the drawing stays":               drawingNotChanged,
		"a picture of an earlier version does not replace a later one":     drawingOvertaken,
		"a drawing whose message is gone comes as a new one":               drawingGone,
		"another drawing has a message of its own":                         drawingElsewhere,
	}
}

// sketcher is a tool that draws something, and changes it.
func (s *scene) sketcher() {
	s.t.Helper()
	sketch := tool("sketch", "Sketch", registry.InputField{Name: "text", Type: registry.TypeString, Required: true})
	sketch.Capability = registry.CapabilityRead
	sketch.PlatformHints = &registry.PlatformHints{PrimaryInput: "text"}
	s.with(sketch)
}

// drawn is the answer of a sketch: a picture in a colour of its own for each version, and what can be done next.
func drawn(id string, version int) []registry.Output {
	name := fmt.Sprintf("%s in version %d", id, version)
	picture := registrytest.File("picture", "image", registry.MediaInfo{Name: "drawing.png", MIMEType: "image/png", Width: 16, Height: 16}, versionPicture(version))
	picture.Subject = registry.Subject{ID: id, Version: int64(version)}
	card := fmt.Sprintf(`{"title": %q, "actions": [{"label": "Undo", "tool": "sketch", "inputs": {"text": "undo"}, "inPlace": true},
		{"label": "PDF", "tool": "sketch", "inputs": {"text": "pdf"}}]}`, name)
	return []registry.Output{picture, registrytest.Text("next", card)}
}

func versionPicture(version int) []byte {
	return Picture(16, 16, color.NRGBA{R: uint8(20 * version), G: 80, B: 120, A: 255})
}

// sketched asks for a sketch and gives the message that shows it.
func (s *scene) sketched(text, id string, version int) Seen {
	s.t.Helper()
	n := len(s.Provider.Calls())
	s.say("/sketch " + text)
	s.Succeed(s.Call(n), drawn(id, version)...)
	return s.shows(id, version)
}

// shows waits until a picture shows a version, and gives its message once nothing more is going to change.
func (s *scene) shows(id string, version int) Seen {
	s.t.Helper()
	m := s.AwaitMedia(s.room, fmt.Sprintf("%s in version %d", id, version))
	s.Idle()
	if m.Media.Kind == chat.KindPhoto && m.Media.MIMEType == "image/png" && !bytes.Equal(m.Media.Data, versionPicture(version)) {
		s.t.Errorf("the picture under the words of version %d is another", version)
	}
	return m
}

// alone fails unless a message is the bot's only one.
func (s *scene) alone(m Seen) {
	s.t.Helper()
	all := s.Harness.Messages(s.t, s.room)
	if len(all) != 1 || all[0].ID != m.ID {
		s.t.Errorf("the bot's messages are %+v, want only %s", all, m.ID)
	}
}

func drawingChanges(s *scene) {
	s.sketcher()
	first := s.sketched("a poster", "d1", 1)
	for i, words := range []string{"make it blue", "bigger"} {
		if m := s.sketched(words, "d1", i+2); m.ID != first.ID || !m.shows("Undo") || !m.contains(words) {
			s.t.Errorf("%q gave %+v, want the message %s changed", words, m, first.ID)
		}
	}
	s.alone(first)
}

func drawingUndone(s *scene) {
	s.sketcher()
	m := s.sketched("a poster", "d1", 1)
	for version := 2; version <= 3; version++ {
		n := len(s.Provider.Calls())
		s.press(m, "Undo")
		c := s.Call(n)
		s.input(c, "text", "undo")
		s.alone(m)
		s.Succeed(c, drawn("d1", version)...)
		if now := s.shows("d1", version); now.ID != m.ID || !now.shows("Undo") {
			s.t.Errorf("the message is %+v, want %s changed, with Undo", now, m.ID)
		}
	}
	s.alone(m)
}

func drawingAsFile(s *scene) {
	s.sketcher()
	m := s.sketched("a poster", "d1", 1)
	s.press(m, "PDF")
	pdf := []byte("%PDF-1.7\n%%EOF\n")
	s.Succeed(s.Call(1), registrytest.File("file", "file", registry.MediaInfo{Name: "poster.pdf", MIMEType: "application/pdf"}, pdf))
	file := s.Await(s.room, "the file", func(m Seen) bool { return m.Media != nil && m.Media.Kind == chat.KindDocument })
	if !bytes.Equal(file.Media.Data, pdf) || file.ID == m.ID {
		s.t.Errorf("the file is %+v", file)
	}
	if now := s.sketched("make it blue", "d1", 2); now.ID != m.ID {
		s.t.Errorf("after the file the drawing is shown in %s, want %s", now.ID, m.ID)
	}
}

func drawingNotChanged(s *scene) {
	s.sketcher()
	m := s.sketched("a poster", "d1", 1)
	s.press(m, "Undo")
	s.Fail(s.Call(1), registry.CodeInvalidInput, "there is nothing to take back")
	if told := s.AwaitText(s.room, "nothing to take back"); told.ID == m.ID {
		s.t.Error("the failure took the picture's place")
	}
	s.shows("d1", 1)
}

func drawingOvertaken(s *scene) {
	s.sketcher()
	m := s.sketched("a poster", "d1", 1)
	s.say("/sketch make it blue")
	slow := s.Call(1)
	s.say("/sketch make it red")
	s.Succeed(s.Call(2), drawn("d1", 3)...)
	s.AwaitMedia(s.room, "d1 in version 3")
	s.Succeed(slow, drawn("d1", 2)...)
	s.Idle()
	if now := s.shows("d1", 3); now.ID != m.ID {
		s.t.Errorf("the latest version is in %s, want %s", now.ID, m.ID)
	}
	s.alone(m)
}

func drawingGone(s *scene) {
	s.sketcher()
	m := s.sketched("a poster", "d1", 1)
	s.Harness.DeleteMessage(s.t, s.room, m.ID)
	now := s.sketched("make it blue", "d1", 2)
	if now.ID == m.ID {
		s.t.Error("a message that is gone was edited")
	}
	if later := s.sketched("bigger", "d1", 3); later.ID != now.ID {
		s.t.Errorf("the next change is in %s, want %s", later.ID, now.ID)
	}
}

func drawingElsewhere(s *scene) {
	s.sketcher()
	first, other := s.sketched("a poster", "d1", 1), s.sketched("a card", "d2", 1)
	if first.ID == other.ID {
		s.t.Error("another drawing took the place of the first")
	}
	if again := s.sketched("bigger", "d1", 2); again.ID != first.ID {
		s.t.Errorf("the first drawing is in %s, want %s", again.ID, first.ID)
	}
}
