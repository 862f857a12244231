package codec

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"io"
	"math"
	"testing"

	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func TestPNGKeepsPixelsAndTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []int{1, 3, 4} {
		m := noise(2, 5, 6, c)
		var file bytes.Buffer
		if err := EncodePNG(&file, m, 1, []Text{{"prompt", "{}"}, {"note", "é→"}}); err != nil {
			t.Fatal(err)
		}
		back, err := DecodeStill(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.H * m.W {
			for k := range c {
				if back.Pix[4*i+k] != m.Frame(1)[i*c+k] {
					t.Fatalf("%d channels: pixel %d has %v, want %v", c, i, back.Pix[4*i:4*i+4], m.Frame(1)[i*c:i*c+c])
				}
			}
		}
		var texts []string
		for _, chunk := range pngChunks(file.Bytes()) {
			if chunk.kind == "tEXt" {
				texts = append(texts, string(chunk.data))
			}
		}
		if len(texts) != 2 || texts[0] != "prompt\x00{}" || texts[1] != "note\x00\xe9?" {
			t.Errorf("texts %q", texts)
		}
	}
}

// TestPNGKeepsOpaqueAlpha: Pillow writes four channels because the picture has four, not because something is transparent. An
// animation whose first frame is opaque has one colour type, too.
func TestPNGKeepsOpaqueAlpha(t *testing.T) {
	t.Parallel()
	m := &tensor.Image{B: 2, H: 1, W: 1, C: 4, Pix: []float32{0, 0.5, 1, 1, 1, 1, 1, 0}}
	const colourType, rgba = 25, 6 // the byte in the header
	for name, encode := range map[string]func(w io.Writer) error{
		"8 bits":    func(w io.Writer) error { return EncodePNG(w, m, 0, nil) },
		"16 bits":   func(w io.Writer) error { return EncodePNG16(w, m, 0, nil) },
		"animation": func(w io.Writer) error { return EncodeAPNG(w, m, 1, 4, nil) },
	} {
		var file bytes.Buffer
		if err := encode(&file); err != nil {
			t.Fatal(err)
		}
		if got := file.Bytes()[colourType]; got != rgba {
			t.Errorf("%s: colour type %d, want %d", name, got, rgba)
		}
	}
}

func TestPNG16IsDeep(t *testing.T) {
	t.Parallel()
	m := &tensor.Image{B: 1, H: 1, W: 2, C: 4, Pix: []float32{0, 0.5, 1, 1, 2, -1, 0.25, 0.5}}
	var file bytes.Buffer
	if err := EncodePNG16(&file, m, 0, nil); err != nil {
		t.Fatal(err)
	}
	back, err := png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	deep, ok := back.(*image.NRGBA64)
	if !ok {
		t.Fatalf("%T", back)
	}
	want := []uint16{0, 32767, 65535, 65535, 65535, 0, 16383, 32767}
	for i, v := range want {
		if got := binary.BigEndian.Uint16(deep.Pix[2*i:]); got != v {
			t.Errorf("value %d is %d, want %d", i, got, v)
		}
	}
}

func TestEXRHoldsLight(t *testing.T) {
	t.Parallel()
	m := &tensor.Image{B: 1, H: 2, W: 1, C: 3, Pix: []float32{0, 0.5, 1, 1, 0.02, 2}}
	var file bytes.Buffer
	if err := EncodeEXR(&file, m, 0, SRGB, []Text{{"prompt", "{}"}}); err != nil {
		t.Fatal(err)
	}
	data := file.Bytes()
	if !bytes.HasPrefix(data, []byte{0x76, 0x2f, 0x31, 0x01, 2}) || !bytes.Contains(data, []byte("prompt\x00string\x00\x02\x00\x00\x00{}")) {
		t.Fatal("not the head of an EXR file")
	}
	line := 8 + 3*4
	value := func(y, channel int) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(data[len(data)-(2-y)*line+8+4*channel:]))
	}
	for _, c := range []struct {
		y, channel int
		want       float32
	}{{0, 0, 1}, {0, 1, 0.21404114}, {0, 2, 0}, {1, 0, 4.9538}, {1, 1, 0.02 / 12.92}, {1, 2, 1}} {
		if got := value(c.y, c.channel); math.Abs(float64(got-c.want)) > 1e-3 {
			t.Errorf("line %d channel %d is %v, want %v", c.y, c.channel, got, c.want)
		}
	}
	table := binary.LittleEndian.Uint64(data[len(data)-2*line-16:])
	if table != uint64(len(data)-2*line) {
		t.Errorf("the first line is said to be at %d of %d bytes", table, len(data))
	}
}
