package codec

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/image/webp"

	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func TestWebPIsLossless(t *testing.T) {
	t.Parallel()
	gradient := func(h, w, c int) *tensor.Image {
		m := &tensor.Image{B: 1, H: h, W: w, C: c, Pix: make([]float32, h*w*c)}
		for i := range m.Pix {
			m.Pix[i] = tensor.FromByte(uint8(i/c%w + i/c/w*3 + i%c))
		}
		return m
	}
	flat := func(h, w, c int, v float32) *tensor.Image {
		m := &tensor.Image{B: 1, H: h, W: w, C: c, Pix: make([]float32, h*w*c)}
		for i := range m.Pix {
			m.Pix[i] = v
		}
		return m
	}
	skewed := noise(1, 300, 301, 3) // so unequal that plain Huffman codes would be too long
	for i := range skewed.Pix {
		v := tensor.Byte(skewed.Pix[i])
		skewed.Pix[i] = tensor.FromByte(uint8(min(int(v&-v), 128)))
		if i%3 == 1 && i < 3<<16 {
			for n, step := 0, i/3; step > 0; step /= 2 {
				n++
				skewed.Pix[i] = tensor.FromByte(uint8(n * 11))
			}
		}
	}
	for name, m := range map[string]*tensor.Image{
		"one pixel": noise(1, 1, 1, 3), "a row": noise(1, 1, 77, 4), "a column": noise(1, 77, 1, 3), "noise": noise(1, 130, 170, 4),
		"gradient": gradient(200, 100, 3), "black": flat(64, 64, 3, 0), "clear": flat(33, 65, 4, 0), "white": flat(5, 5000, 3, 1), "skewed": skewed,
		"large noise": noise(1, 1024, 1024, 3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var file bytes.Buffer
			if err := EncodeWebP(&file, m, 1, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := webp.Decode(bytes.NewReader(file.Bytes())); err != nil {
				t.Fatal(err)
			}
			back, err := DecodeStill(file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(back.Take(m.C).Pix, m.Pix) {
				t.Error("other pixels come back")
			}
			file.Reset()
			if err := EncodeStillWebP(&file, m.Picture(0)); err != nil {
				t.Fatal(err)
			}
			if back, err = DecodeStill(file.Bytes()); err != nil || !slices.Equal(back.Take(m.C).Pix, m.Pix) {
				t.Error("other pixels come back from a still", err)
			}
		})
	}
	t.Run("flat pictures are small", func(t *testing.T) {
		var file bytes.Buffer
		if err := EncodeWebP(&file, flat(512, 512, 3, 0.5), 1, nil); err != nil || file.Len() > 1000 {
			t.Errorf("%d bytes, %v", file.Len(), err)
		}
	})
}

// noise makes a batch of random bytes, the same for the same sizes.
func noise(b, h, w, c int) *tensor.Image {
	r := rand.New(rand.NewPCG(uint64(b<<16|h), uint64(w<<16|c)))
	m := &tensor.Image{B: b, H: h, W: w, C: c, Pix: make([]float32, b*h*w*c)}
	for i := range m.Pix {
		m.Pix[i] = tensor.FromByte(uint8(r.IntN(256)))
	}
	return m
}

func TestRecompressTakesAnySize(t *testing.T) {
	t.Parallel()
	for _, side := range [][2]int{{2, 2}, {3, 5}, {64, 33}} {
		m, err := Recompress(noise(2, side[0], side[1], 4), 30)
		if err != nil || m.B != 2 || m.H != side[0]/2*2 || m.W != side[1]/2*2 || m.C != 3 {
			t.Errorf("%v: %+v, %v", side, m, err)
		}
	}
	if _, err := Recompress(noise(1, 1, 9, 3), 30); err == nil {
		t.Error("a picture of one line has no even size")
	}
}
