package chattest

import (
	"strings"
	"testing"
)

func TestConversations(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	group := s.group()
	s.say("/painter a cat")
	s.Call(0)
	s.say("/painter a dog")
	s.Call(1)
	s.sayIn(group, "/painter a boat")
	first, second, elsewhere := s.Call(0).Context, s.Call(1).Context, s.Call(2).Context
	t.Run("B15 the conversation is the session of its runs", func(t *testing.T) {
		if first.SessionID == "" || first.SessionID != second.SessionID || first.SessionID == elsewhere.SessionID {
			t.Errorf("the sessions are %q, %q and %q", first.SessionID, second.SessionID, elsewhere.SessionID)
		}
	})
	t.Run("a run is told whether others read its result", func(t *testing.T) {
		if first.Shared || !elsewhere.Shared {
			t.Errorf("in private %v, in a group %v", first.Shared, elsewhere.Shared)
		}
	})
	t.Run("B16 B27 people type for themselves: no planner is named, and what changes something runs", func(t *testing.T) {
		if first.PlannerProvider != "" || first.TraceID != "" || s.Call(0).UserID == "" {
			t.Errorf("got %+v of %q", first, s.Call(0).UserID)
		}
	})
}

func TestToolsBesideTheMenu(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	beside := tool("poem", "Poem")
	beside.CommandName, beside.DisplayName, beside.Metadata = "", "Beside the menu", map[string]any{"menu": false}
	s.set(PainterTool(), beside)
	s.say("/help")
	if m := s.AwaitText(s.room, "/settings", "/painter – Painter"); strings.Contains(m.Text, "Beside the menu") {
		t.Errorf("/help says %s", m.Text)
	}
	s.say("/help poem")
	s.AwaitText(s.room, "Beside the menu")
}
