package chattest

import "testing"

func TestACallKnowsWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	t.Run("C54 the region is that of the person's language, where it names one", func(t *testing.T) {
		t.Parallel()
		s, _ := newScene(t)
		s.anna.Language = "en-GB"
		s.say("/series a cat")
		if c := s.Call(0).Context; c.Region != "GB" || c.DeviceKind != "" {
			t.Errorf("Anna is in %q on a %q", c.Region, c.DeviceKind)
		}
		s.Harness.Post(t, Post{From: s.ben, In: s.Harness.Private(s.ben), Text: "/series a dog"})
		if c := s.Call(1).Context; c.Region != "" {
			t.Errorf("Ben, who only speaks English, is in %q", c.Region)
		}
	})
}
