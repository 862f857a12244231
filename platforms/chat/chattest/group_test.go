package chattest

import (
	"errors"
	"strings"
	"testing"
)

func TestGroupAdminsMayDelete(t *testing.T) {
	t.Parallel()
	s, fake := newScene(t)
	fake.Promote(s.ben)
	group := fake.Group("Painters")
	s.sayIn(group, "/painter a cat")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	m := s.AwaitMedia(group, "Painter")
	if a := fake.Press(t, s.ben, group, m.ID, "Again"); !strings.Contains(a.Text, "Only the person") {
		t.Errorf("Again of an admin answers %q", a.Text)
	}
	fake.FailNext("admin", Fault{Err: errors.New("the platform does not say")})
	if a := fake.Press(t, s.ben, group, m.ID, "Delete"); !strings.Contains(a.Text, "Only the person") {
		t.Errorf("Delete of somebody who may be an admin answers %q", a.Text)
	}
	if a := fake.Press(t, s.ben, group, m.ID, "Delete"); a.Text != "Deleted here." {
		t.Errorf("Delete of an admin answers %q", a.Text)
	}
	s.until(group, "empty group", func(list []Seen) bool { return len(list) == 0 })
	s.Idle()
	if n := s.CountRuns(); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
}
