package chattest

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// Who sends in a form that has a field for a file in it gets nobody's file by its name.
func TestFormsTakeNoStoredFiles(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t, WithForms)
	painter := PainterTool()
	painter.InputSchema = append(painter.InputSchema, media("image", registry.TypeImage, false))
	s.set(painter)
	m := s.painted()
	opened := s.press(m, "Edit prompt")
	opened.Form.Fields = append(opened.Form.Fields, chat.FormField{Name: "image", Label: "image"})
	s.fill(m, opened, map[string]string{"prompt": "a blue bicycle", "image": storedFile})
	c := s.Call(1)
	s.input(c, "prompt", "a blue bicycle")
	s.input(c, "image", "<nil>")
}

// storedFile is the name of a stored file, which may be anybody's.
var storedFile = "asset:" + strings.Repeat("ab", 32)

// An answer and a row of a table are no ways to a stored file either.
func TestAnswersAndTablesTakeNoStoredFiles(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.set(fileTool("join", "Join", true, true, many(media("image", registry.TypeImage, true))))
	s.say("/join")
	s.AwaitText(s.room, "Join", "image")
	s.Handled()
	s.say("https://example.com/a.png," + storedFile)
	s.until(s.room, "second message", func(list []Seen) bool { return len(list) == 2 })
	s.send(Post{Text: "/batch join", Files: []File{table("image", `"https://example.com/a.png,`+storedFile+`"`)}})
	s.AwaitText(s.room, "no longer available")
	if n := s.CountRuns(); n != 0 {
		t.Errorf("%d runs were begun", n)
	}
}
