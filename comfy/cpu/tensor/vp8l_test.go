package tensor

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/image/webp"
)

func TestWebPIsLossless(t *testing.T) {
	t.Parallel()
	gradient := func(h, w, c int) *Image {
		m := &Image{B: 1, H: h, W: w, C: c, Pix: make([]float32, h*w*c)}
		for i := range m.Pix {
			m.Pix[i] = fromByte(uint8(i/c%w + i/c/w*3 + i%c))
		}
		return m
	}
	flat := func(h, w, c int, v float32) *Image {
		m := &Image{B: 1, H: h, W: w, C: c, Pix: make([]float32, h*w*c)}
		fill(m.Pix, v)
		return m
	}
	skewed := noise(1, 300, 301, 3) // so unequal that plain Huffman codes would be too long
	for i := range skewed.Pix {
		v := byteOf(skewed.Pix[i])
		skewed.Pix[i] = fromByte(uint8(min(int(v&-v), 128)))
		if i%3 == 1 && i < 3<<16 {
			for n, step := 0, i/3; step > 0; step /= 2 {
				n++
				skewed.Pix[i] = fromByte(uint8(n * 11))
			}
		}
	}
	for name, m := range map[string]*Image{
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

func TestPrefixCodesKeepTheirLimit(t *testing.T) {
	t.Parallel()
	counts := make([]int, 40)
	a, b := 1, 1
	for i := range counts { // Fibonacci numbers make the deepest trees
		counts[i] = a
		a, b = b, a+b
	}
	for _, limit := range []uint8{7, 15} {
		lengths := codeLengths(counts, limit)
		room := 0
		for _, n := range lengths {
			if n == 0 || n > limit {
				t.Fatalf("limit %d: lengths %v", limit, lengths)
			}
			room += 1 << (limit - n)
		}
		if room != 1<<limit {
			t.Errorf("limit %d: the code is not complete: %s", limit, fmt.Sprint(lengths))
		}
	}
}
