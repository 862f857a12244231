package seal

import (
	"bytes"
	"testing"
)

func TestSealer(t *testing.T) {
	t.Parallel()
	s, err := New(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	secret := []byte("hunter2 and more")
	sealed := s.Close(secret, "ann")
	if bytes.Contains(sealed, secret[:7]) || bytes.Equal(sealed, s.Close(secret, "ann")) {
		t.Errorf("sealed as %q", sealed)
	}
	if opened, err := s.Open(sealed, "ann"); err != nil || !bytes.Equal(opened, secret) {
		t.Errorf("opened as %q (%v)", opened, err)
	}
	other, _ := New(bytes.Repeat([]byte{2}, 32))
	flipped := bytes.Clone(sealed)
	flipped[len(flipped)-1] ^= 1
	for what, open := range map[string]func() ([]byte, error){
		"as another's":     func() ([]byte, error) { return s.Open(sealed, "bob") },
		"with another key": func() ([]byte, error) { return other.Open(sealed, "ann") },
		"damaged":          func() ([]byte, error) { return s.Open(flipped, "ann") },
		"cut off":          func() ([]byte, error) { return s.Open(sealed[:5], "ann") },
	} {
		if opened, err := open(); err == nil {
			t.Errorf("%s it opens as %q", what, opened)
		}
	}
	if _, err := New([]byte("short")); err == nil {
		t.Error("a short key is taken")
	}
}
