package metadata_test

import (
	"bytes"
	"errors"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/signalbox/signalbox/internal/metadata"
)

func TestWhole(t *testing.T) {
	t.Parallel()
	var pngFile, jpegFile bytes.Buffer
	if err := errors.Join(png.Encode(&pngFile, picture()), jpeg.Encode(&jpegFile, picture(), nil)); err != nil {
		t.Fatal(err)
	}
	thumbnail := "\xff\xd8\xff\xe1\x00\x08Ex\xff\xd9if" + jpegFile.String()[2:]
	long := "\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x13abc"
	for _, c := range []struct {
		name, file string
		junk       string   // that does no harm behind it
		between    [][2]int // from where up to where nobody can tell that a box is to come
	}{
		{"PNG", pngFile.String(), "junk", nil},
		{"JPEG", jpegFile.String(), "\xff\xd8 another", nil},
		{"JPEG with the end of another one in a segment", thumbnail, "junk", nil},
		{"WebP", string(riff("WEBP", riffChunk("VP8 ", "pixels"))), "junk", nil},
		{"MP4", box("ftyp", "isom") + box("mdat", "samples") + box("moov", box("trak", "x")), "\x00\x00\x00\x00\x00\x00\x00\x00", nil},
		{"MP4 that is described first", box("ftyp", "isom") + box("moov", box("trak", "x")) + box("mdat", "samples"), "\x00\x00\x00\x00\x00\x00\x00\x00", nil},
		{"MP4 of many bytes", box("ftyp", "isom") + long + box("moov", "x"), "no box:\x01\x02\x03", nil},
		{"MP4 that goes on to the end", box("ftyp", "isom") + box("moov", "x") + "\x00\x00\x00\x00mdat", "anything", nil},
		{"MP4 in pieces", box("ftyp", "isom") + box("moov", "x") + box("moof", "y") + box("mdat", "samples") + box("mfra", "z"), "", [][2]int{{45, 53}}},
		{"AVIF", box("ftyp", "avif") + box("meta", "x") + box("mdat", "pixels"), "", [][2]int{{21, 29}}},
	} {
		for n := range len(c.file) + 1 {
			got, err := io.ReadAll(iotest.OneByteReader(metadata.Whole(strings.NewReader(c.file[:n]))))
			if all, all2 := io.ReadAll(metadata.Whole(strings.NewReader(c.file[:n]))); !errors.Is(err, all2) || !bytes.Equal(got, all) || string(got) != c.file[:n] {
				t.Fatalf("%s, %d bytes: %q and %v, read by bytes %q and %v", c.name, n, all, all2, got, err)
			}
			want := n >= 12 && n < len(c.file) && !slices.ContainsFunc(c.between, func(b [2]int) bool { return n >= b[0] && n < b[1] })
			if errors.Is(err, metadata.ErrCut) != want {
				t.Errorf("%s of %d bytes, the first %d: %v", c.name, len(c.file), n, err)
			}
		}
		if _, err := io.ReadAll(metadata.Whole(strings.NewReader(c.file + c.junk))); err != nil {
			t.Errorf("%s with something behind it: %v", c.name, err)
		}
	}
	for name, nothing := range map[string]string{
		"no frame":                box("ftyp", "isom") + box("moov", "x") + box("mdat", ""),
		"no frame, many bytes":    box("ftyp", "isom") + box("moov", "x") + "\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x10",
		"no sample of a sound":    string(riff("WAVE", riffChunk("fmt ", "0123456789abcdef"), riffChunk("data", ""))),
		"a sound that has no end": string(riff("WAVE", riffChunk("fmt ", "0123456789abcdef"))),
	} {
		if _, err := io.ReadAll(metadata.Whole(strings.NewReader(nothing))); !errors.Is(err, metadata.ErrCut) {
			t.Errorf("a film or sound with %s: %v", name, err)
		}
	}
	for name, sound := range map[string]string{
		"some samples":       string(riff("WAVE", riffChunk("fmt ", "0123456789abcdef"), riffChunk("data", "samples "))),
		"a stream's length":  "RIFF\xff\xff\xff\xffWAVEfmt \x04\x00\x00\x00abcddata\x00\x00\x00\x00samples",
		"a note before them": string(riff("WAVE", riffChunk("LIST", "note"), riffChunk("fmt ", "0123456789abcdef"), riffChunk("data", "ab"))),
	} {
		if _, err := io.ReadAll(metadata.Whole(strings.NewReader(sound))); err != nil {
			t.Errorf("a sound with %s: %v", name, err)
		}
	}
	for _, other := range []string{"", "a", "\x89PN", strings.Repeat("text ", 9), "\x89PNG\r\n\x1a\n"} {
		if _, err := io.ReadAll(metadata.Whole(strings.NewReader(other))); err != nil {
			t.Errorf("%q: %v", other, err)
		}
	}
	broken := metadata.Whole(io.MultiReader(strings.NewReader(pngFile.String()[:40]), iotest.ErrReader(errors.New("broken"))))
	if _, err := io.ReadAll(broken); err == nil || errors.Is(err, metadata.ErrCut) {
		t.Errorf("a broken connection gives %v", err)
	}
}
