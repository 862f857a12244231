package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestAnimationsComeBack(t *testing.T) {
	t.Parallel()
	texts := []Text{{"prompt", `{"1": {}}`}, {"workflow", "{}"}}
	for _, c := range []int{3, 4} {
		m := noise(3, 7, 10, c)
		var apng, webp bytes.Buffer
		if err := EncodeAPNG(&apng, m, 6, 4, texts); err != nil {
			t.Fatal(err)
		}
		if err := EncodeWebP(&webp, m, 6, WebPTexts(texts)); err != nil {
			t.Fatal(err)
		}
		for name, file := range map[string][]byte{"png": apng.Bytes(), "webp": webp.Bytes()} {
			t.Run(fmt.Sprint(name, " of ", c, " channels"), func(t *testing.T) {
				back, mask, err := Decode(file)
				if err != nil {
					t.Fatal(err)
				}
				if back.B != 3 || !slices.Equal(back.Pix, m.Take(3).Pix) {
					t.Errorf("%d pictures of %d x %d come back, or other pixels", back.B, back.W, back.H)
				}
				if c == 4 {
					if _, want := tensor.SplitAlpha(m); !slices.Equal(mask.Pix, want.Pix) {
						t.Error("another mask comes back")
					}
				} else if mask.W != maskless || mask.B != 3 {
					t.Errorf("the mask of opaque pictures is %d x %d x %d", mask.B, mask.W, mask.H)
				}
				if !bytes.Contains(file, []byte(`{"1": {}}`)) {
					t.Error("the text is missing")
				}
			})
		}
	}
}

// TestLosslessWebPHasNoLoss: every value of every channel comes back, also that of grey and of alpha.
func TestLosslessWebPHasNoLoss(t *testing.T) {
	t.Parallel()
	m := image.NewNRGBA(image.Rect(0, 0, 256, 2))
	for x := range 256 {
		v := uint8(x)
		m.SetNRGBA(x, 0, color.NRGBA{v, 255 - v, v / 2, 255})
		m.SetNRGBA(x, 1, color.NRGBA{v, v, v, v})
	}
	var file bytes.Buffer
	if err := EncodeStillWebP(&file, m); err != nil {
		t.Fatal(err)
	}
	back, mask, err := Decode(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range m.Pix {
		got := 1 - mask.Pix[i/4]
		if i%4 < 3 {
			got = back.Pix[i/4*3+i%4]
		}
		if d := got - tensor.FromByte(v); d > 1e-7 || d < -1e-7 {
			t.Fatalf("byte %d: %v, want %d/255", i, got, v)
		}
	}
}

func TestGIFShowsWhatTheScreenShows(t *testing.T) {
	t.Parallel()
	pal := color.Palette{color.RGBA{255, 0, 0, 255}, color.RGBA{0, 255, 0, 255}, color.Transparent}
	frame := func(r image.Rectangle, index uint8) *image.Paletted {
		m := image.NewPaletted(r, pal)
		for i := range m.Pix {
			m.Pix[i] = index
		}
		return m
	}
	var file bytes.Buffer
	err := gif.EncodeAll(&file, &gif.GIF{
		Image:    []*image.Paletted{frame(image.Rect(0, 0, 4, 1), 0), frame(image.Rect(1, 0, 2, 1), 1), frame(image.Rect(2, 0, 3, 1), 1), frame(image.Rect(3, 0, 4, 1), 2)},
		Delay:    []int{1, 1, 1, 1},
		Disposal: []byte{gif.DisposalNone, gif.DisposalPrevious, gif.DisposalBackground, gif.DisposalNone},
		Config:   image.Config{ColorModel: pal, Width: 4, Height: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, mask, err := Decode(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for i := range m.B * m.W {
		switch {
		case mask.Pix[i] > 0.5:
			got += "."
		case m.Pix[3*i] > 0.5:
			got += "r"
		default:
			got += "g"
		}
	}
	if want := "rrrr" + "rgrr" + "rrgr" + "rr.r"; got != want {
		t.Errorf("frames are %s, want %s", got, want)
	}
}

func TestOrientationMarks(t *testing.T) {
	t.Parallel()
	// Two by three pixels, numbered by their red.
	stored := image.NewNRGBA(image.Rect(0, 0, 2, 3))
	for i := range 6 {
		stored.Pix[4*i], stored.Pix[4*i+3] = uint8(i), 255
	}
	plain := pngOf(t, stored)
	for mark, want := range map[int][]int{
		1: {0, 1, 2, 3, 4, 5}, 2: {1, 0, 3, 2, 5, 4}, 3: {5, 4, 3, 2, 1, 0}, 4: {4, 5, 2, 3, 0, 1},
		5: {0, 2, 4, 1, 3, 5}, 6: {4, 2, 0, 5, 3, 1}, 7: {5, 3, 1, 4, 2, 0}, 8: {1, 3, 5, 0, 2, 4},
	} {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			name := "MM\x00*"
			if order == binary.AppendByteOrder(binary.LittleEndian) {
				name = "II*\x00"
			}
			block := order.AppendUint32([]byte(name), 8)
			block = order.AppendUint16(order.AppendUint16(order.AppendUint16(block, 1), 0x0112), 3)
			block = order.AppendUint16(order.AppendUint32(block, 1), uint16(mark))
			file := appendChunk(slices.Clone(plain[:33]), "eXIf", append(block, 0, 0, 0, 0, 0, 0))
			m, _, err := Decode(append(file, plain[33:]...))
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for i := 0; i < len(m.Pix); i += 3 {
				got = append(got, int(tensor.Byte(m.Pix[i])))
			}
			if !slices.Equal(got, want) || (mark > 4) != (m.W == 3) {
				t.Errorf("mark %d: %v in %d columns, want %v", mark, got, m.W, want)
			}
		}
	}
}

func TestKindsOfFiles(t *testing.T) {
	t.Parallel()
	rgb := image.NewRGBA(image.Rect(0, 0, 5, 4))
	for i := range rgb.Pix {
		rgb.Pix[i] = 255
	}
	deep := image.NewGray16(image.Rect(0, 0, 5, 4))
	encode := func(f func(w *bytes.Buffer) error) []byte {
		var file bytes.Buffer
		if err := f(&file); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	for name, c := range map[string]struct {
		file  []byte
		alpha bool
	}{
		"rgb png":     {pngOf(t, rgb), false},
		"palette png": {pngOf(t, image.NewPaletted(image.Rect(0, 0, 5, 4), color.Palette{color.White, color.Black})), true},
		"deep png":    {pngOf(t, deep), false},
		"grey png":    {pngOf(t, image.NewGray(image.Rect(0, 0, 5, 4))), false},
		"jpeg":        {encode(func(w *bytes.Buffer) error { return jpeg.Encode(w, rgb, nil) }), false},
		"bmp":         {encode(func(w *bytes.Buffer) error { return bmp.Encode(w, rgb) }), false},
		"tiff":        {encode(func(w *bytes.Buffer) error { return tiff.Encode(w, deep, nil) }), false},
		"gif":         {encode(func(w *bytes.Buffer) error { return gif.Encode(w, rgb, nil) }), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, mask, err := Decode(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if m.B != 1 || m.W != 5 || m.H != 4 || m.C != 3 {
				t.Errorf("%d x %d x %d x %d", m.B, m.H, m.W, m.C)
			}
			if (mask.W == 5) != c.alpha {
				t.Errorf("the mask is %d wide", mask.W)
			}
			still, err := DecodeStill(c.file)
			if err != nil || still.C != 4 || still.W != 5 {
				t.Errorf("still: %v", err)
			}
		})
	}
}

// hugePNG says it has a billion pixels.
func hugePNG(t testing.TB) []byte {
	file := pngOf(t, image.NewGray(image.Rect(0, 0, 1, 1)))
	head := slices.Clone(file[16:29])
	binary.BigEndian.PutUint32(head, 40000)
	binary.BigEndian.PutUint32(head[4:], 40000)
	return append(appendChunk([]byte(pngMagic), "IHDR", head), file[33:]...)
}

// hugeWebP says it has ten thousand frames of 4096 x 4096.
func hugeWebP() []byte {
	body := appendRiff([]byte("WEBP"), "VP8X", []byte{2, 0, 0, 0, 0xff, 0x0f, 0, 0xff, 0x0f, 0})
	for range 10000 {
		body = appendRiff(body, "ANMF", make([]byte, 16))
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// hugeGIF says it has a hundred thousand frames of 2000 x 2000, without their pixels.
func hugeGIF() []byte {
	file := []byte("GIF89a\xd0\x07\xd0\x07\x80\x00\x00\x00\x00\x00\xff\xff\xff")
	for range 100000 {
		file = append(file, ",\x00\x00\x00\x00\xd0\x07\xd0\x07\x00\x02\x00"...)
	}
	return append(file, ';')
}

func TestBadFilesAreRefused(t *testing.T) {
	t.Parallel()
	good := pngOf(t, image.NewNRGBA(image.Rect(0, 0, 9, 9)))
	for name, file := range map[string][]byte{
		"empty":        nil,
		"text":         []byte("hello"),
		"cut png":      good[:len(good)/2],
		"head only":    good[:33],
		"huge png":     hugePNG(t),
		"huge webp":    hugeWebP(),
		"huge gif":     hugeGIF(),
		"webp shell":   []byte("RIFF\x04\x00\x00\x00WEBP"),
		"bmp head":     []byte("BM"),
		"jpeg start":   {0xff, 0xd8, 0xff, 0xe1, 0, 2},
		"tiff start":   []byte("II*\x00\x08\x00\x00\x00"),
		"no png chunk": []byte(pngMagic),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := Decode(file); err == nil {
				t.Error("no error")
			}
			if _, err := DecodeStill(file); err == nil && name != "huge webp" && name != "huge gif" {
				t.Error("no error for the first frame")
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	m := noise(2, 5, 6, 4)
	var apng, webp, jpg, anim bytes.Buffer
	if err := EncodeAPNG(&apng, m, 6, 4, nil); err != nil {
		f.Fatal(err)
	}
	if err := EncodeWebP(&webp, m, 6, nil); err != nil {
		f.Fatal(err)
	}
	if err := jpeg.Encode(&jpg, m.Picture(0), nil); err != nil {
		f.Fatal(err)
	}
	if err := gif.Encode(&anim, m.Picture(0), nil); err != nil {
		f.Fatal(err)
	}
	for _, file := range [][]byte{apng.Bytes(), webp.Bytes(), jpg.Bytes(), anim.Bytes(), []byte("BM"), []byte("II*\x00")} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<16 {
			return
		}
		m, mask, err := Decode(file)
		if err != nil {
			return
		}
		if len(m.Pix) != m.B*m.H*m.W*3 || m.B == 0 || mask.B != m.B || len(mask.Pix) != mask.B*mask.H*mask.W {
			t.Fatalf("%d values for %d x %d x %d, mask %d x %d x %d", len(m.Pix), m.B, m.H, m.W, mask.B, mask.H, mask.W)
		}
	})
}

// TestLossyWebPBlendsColours: a pixel's colour is 3/4 of the sample of its own pair of pixels and 1/4 of the next one's. Grey of 126 is
// (126-16)*255/219 = 128.1, and 100 steps of red add 159.6.
func TestLossyWebPBlendsColours(t *testing.T) {
	t.Parallel()
	m := image.NewYCbCr(image.Rect(0, 0, 4, 2), image.YCbCrSubsampleRatio420)
	for i := range m.Y {
		m.Y[i] = 126
	}
	copy(m.Cb, []uint8{128, 128})
	copy(m.Cr, []uint8{128, 228})
	out := Studio(m).(*image.NRGBA)
	for x, want := range []uint8{128, 168, 248, 255} {
		if got := out.NRGBAAt(x, 1).R; got != want {
			t.Errorf("red of pixel %d is %d, want %d", x, got, want)
		}
	}
}
