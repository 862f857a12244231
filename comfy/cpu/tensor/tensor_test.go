package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// noise makes a batch of random bytes, the same for the same sizes.
func noise(b, h, w, c int) *Image {
	r := rand.New(rand.NewPCG(uint64(b<<16|h), uint64(w<<16|c)))
	m := &Image{B: b, H: h, W: w, C: c, Pix: make([]float32, b*h*w*c)}
	for i := range m.Pix {
		m.Pix[i] = FromByte(uint8(r.IntN(256)))
	}
	return m
}

func noiseMask(b, h, w int) *Mask { return planeMask(noise(b, h, w, 1)) }

// operations are all functions from pictures to a picture, with parameters that fit any size.
func operations(other *Image, mask *Mask) map[string]func(m *Image) (*Image, error) {
	plain := func(f func(m *Image) *Image) func(m *Image) (*Image, error) {
		return func(m *Image) (*Image, error) { return f(m), nil }
	}
	ops := map[string]func(m *Image) (*Image, error){
		"crop":       plain(func(m *Image) *Image { return Crop(m, 1, 0, 3, 2) }),
		"center":     plain(func(m *Image) *Image { return CropCenter(m, 3, 99) }),
		"random":     plain(func(m *Image) *Image { return CropRandom(m, 2, 2, 7) }),
		"flip x":     plain(FlipHorizontal),
		"flip y":     plain(FlipVertical),
		"rotate":     plain(func(m *Image) *Image { return Rotate(m, 1) }),
		"invert":     plain(Invert),
		"brightness": plain(func(m *Image) *Image { return Brightness(m, 1.5) }),
		"contrast":   plain(func(m *Image) *Image { return Contrast(m, 1.5) }),
		"normalize":  plain(func(m *Image) *Image { return Normalize(m, 0.5, 0.2) }),
		"noise":      plain(func(m *Image) *Image { return AddNoise(m, 3, 0.5) }),
		"eight bit":  plain(EightBit),
		"boxes":      plain(func(m *Image) *Image { return DrawBoxes(m, [][]Rect{{{X: -2, Y: 1, W: 50, H: 3}}}) }),
		"pad":        func(m *Image) (*Image, error) { return pad(m, Edges{1, 2, 3, 4}, 0.25) },
		"fit":        func(m *Image) (*Image, error) { return FitPad(m, 40, 30, 1, Area) },
		"batch":      func(m *Image) (*Image, error) { return Batch([]*Image{m, other}) },
		"blur":       func(m *Image) (*Image, error) { return Blur(m, 1, 1) },
		"sharpen":    func(m *Image) (*Image, error) { return Sharpen(m, 1, 1, 1) },
		"canny":      func(m *Image) (*Image, error) { return Canny(m, 0.1, 0.2) },
		"composite":  func(m *Image) (*Image, error) { return Composite(m, other, mask, 1, 0, false) },
		"composite resized": func(m *Image) (*Image, error) {
			return Composite(m, other, nil, 0, 0, true)
		},
		"join alpha": func(m *Image) (*Image, error) { return JoinAlpha(m, mask) },
		"boxes crop": func(m *Image) (*Image, error) {
			return CropBoxes(m, [][]Rect{{{X: 0, Y: 0, W: 2, H: 2}}}, 64, 64, 1, true)
		},
	}
	for _, method := range []Method{Nearest, Bilinear, Area, Bicubic, Lanczos} {
		ops["resize "+string(method)] = func(m *Image) (*Image, error) { return Resize(m, 9, 6, method) }
		ops["crop resize "+string(method)] = func(m *Image) (*Image, error) { return CropResize(m, 5, 11, method) }
	}
	for _, mode := range []BlendMode{"normal", "multiply", "screen", "overlay", "soft_light", "difference"} {
		ops["blend "+string(mode)] = func(m *Image) (*Image, error) { return Blend(m, other, 0.4, mode) }
	}
	for _, op := range []Operation{"erode", "dilate", "open", "close", "gradient", "top_hat", "bottom_hat"} {
		ops["morph "+string(op)] = func(m *Image) (*Image, error) { return Morph(m, op, 4) }
	}
	for _, dither := range []Dither{NoDither, FloydSteinberg, Bayer2, Bayer16} {
		ops["quantize "+string(dither)] = func(m *Image) (*Image, error) { return Quantize(m, 3, dither) }
	}
	for mode := range porterDuffModes {
		ops["porter duff "+mode] = func(m *Image) (*Image, error) {
			out, err := PorterDuff(Layer{m, mask}, Layer{m, mask}, mode)
			return out.Image, err
		}
	}
	for _, method := range []string{"reinhard_lab", "mkl_lab", "histogram"} {
		ops["transfer "+method] = func(m *Image) (*Image, error) {
			return TransferColors(m, other, method, Baseline{Mode: "per_frame"}, 0.7)
		}
	}
	for _, side := range []Side{Left, Right, Up, Down} {
		ops["stitch "+string(side)] = func(m *Image) (*Image, error) { return Stitch(m, other, side, false, Gap{Width: 3}) }
	}
	return ops
}

// refusals are the operations that may say no to small pictures or to pictures with alpha.
var refusals = map[string]bool{
	"blur": true, "sharpen": true, "canny": true, "transfer reinhard_lab": true, "transfer mkl_lab": true, "transfer histogram": true,
}

func TestOperationsTakeAnySize(t *testing.T) {
	t.Parallel()
	for _, size := range [][4]int{{1, 1, 1, 3}, {2, 1, 5, 3}, {1, 5, 1, 4}, {2, 7, 4, 4}, {1, 16, 33, 3}} {
		m, other, mask := noise(size[0], size[1], size[2], size[3]), noise(1, 6, 8, 3), noiseMask(2, 6, 8)
		before := slices.Clone(m.Pix)
		for name, op := range operations(other, mask) {
			t.Run(fmt.Sprint(size, " ", name), func(t *testing.T) {
				out, err := op(m)
				if !slices.Equal(before, m.Pix) {
					t.Fatal("the operation changed its argument")
				}
				if err != nil {
					if !refusals[name] {
						t.Fatal(err)
					}
					return
				}
				if len(out.Pix) != out.B*out.H*out.W*out.C {
					t.Fatalf("%d values for a shape of %d x %d x %d x %d", len(out.Pix), out.B, out.H, out.W, out.C)
				}
			})
		}
	}
}

// TestAreaTakesSizesOfNothing: the other methods refuse them. A line of 8 pixels fits into 4 x 4 as 4 pixels of height int(0.5), so
// that nothing but padding remains.
func TestAreaTakesSizesOfNothing(t *testing.T) {
	t.Parallel()
	line := noise(1, 1, 8, 3)
	out, err := Resize(line, 4, 0, Area)
	if err != nil || out.W != 4 || out.H != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	padded, err := FitPad(line, 4, 4, 1, Area)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range padded.Pix {
		if v != 1 {
			t.Fatalf("value %d of %d is %v", i, len(padded.Pix), v)
		}
	}
	for _, method := range []Method{Nearest, Bilinear, Bicubic, Lanczos} {
		if _, err := Resize(line, 4, 0, method); err == nil {
			t.Errorf("%s took a height of 0", method)
		}
	}
}

// TestAMaskBeyondTheOther: at 5 of 4 pixels -1 is visible, so that 2 of the source's 3 do not fit none; at 6 one is left, which does.
func TestAMaskBeyondTheOther(t *testing.T) {
	t.Parallel()
	under, over := &Mask{B: 1, H: 1, W: 4, Pix: []float32{1, 1, 1, 1}}, &Mask{B: 1, H: 1, W: 3, Pix: []float32{0, 0, 0}}
	for x, fits := range map[int]bool{3: true, 4: true, 5: false, 6: true, 1000: true} {
		out, err := CombineMasks(under, over, x, 0, "multiply")
		if fits != (err == nil) {
			t.Errorf("at %d: %v", x, err)
		}
		if x >= 4 && err == nil && !slices.Equal(out.Pix, under.Pix) {
			t.Errorf("at %d the mask became %v", x, out.Pix)
		}
	}
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	m := noise(1, 4, 4, 3)
	for name, f := range map[string]func() error{
		"image":       func() error { _, err := NewImage(1<<20, 1<<20, 1<<20, 3); return err },
		"mask":        func() error { _, err := NewMask(1, 1<<30, 1<<30); return err },
		"negative":    func() error { _, err := NewImage(1, -1, 5, 3); return err },
		"resize":      func() error { _, err := Resize(m, 1<<20, 1<<20, Nearest); return err },
		"resize to 0": func() error { _, err := Resize(m, 0, 3, Bicubic); return err },
		"lanczos":     func() error { _, err := Resize(m, 1, 1<<30, Lanczos); return err },
		"pad":         func() error { _, err := pad(m, Edges{Left: 1 << 30}, 0); return err },
		"pad by -1":   func() error { _, err := pad(m, Edges{Left: -1}, 0); return err },
		"repeat":      func() error { _, err := m.RepeatTo(1 << 30); return err },
		"solid":       func() error { _, err := SolidMask(1<<20, 1<<20, 1); return err },
		"grid":        func() error { _, err := Grid([]*Image{m}, 1, 1<<15, 1<<15, 0); return err },
		"tiles":       func() error { _, err := MergeTiles([]*Image{m}, 1<<20, 1<<20, 0); return err },
		"stitch":      func() error { _, err := Stitch(m, m, Right, false, Gap{Width: 1 << 30}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if f() == nil {
				t.Fatal("no error")
			}
		})
	}
}

func TestTurningRound(t *testing.T) {
	t.Parallel()
	m := noise(2, 3, 5, 4)
	same := func(name string, got *Image) {
		if !got.sameShape(m) || !slices.Equal(got.Pix, m.Pix) {
			t.Errorf("%s does not give the picture back", name)
		}
	}
	same("four quarters", Rotate(Rotate(Rotate(Rotate(m, 1), 1), 1), 1))
	same("one quarter each way", Rotate(Rotate(m, 1), 3))
	same("two mirrors", FlipHorizontal(FlipHorizontal(m)))
	same("half a turn and both mirrors", FlipVertical(FlipHorizontal(Rotate(m, 2))))
	clockwise := Rotate(m, 1)
	if clockwise.W != 3 || clockwise.H != 5 || !slices.Equal(clockwise.Pix[:4], m.Pix[2*5*4:2*5*4+4]) {
		t.Error("a quarter does not bring the lower left corner to the upper left")
	}
}

func TestCropStaysInside(t *testing.T) {
	t.Parallel()
	m := noise(1, 4, 6, 3)
	for _, c := range []struct{ x, y, w, h, wantW, wantH int }{
		{0, 0, 6, 4, 6, 4}, {2, 1, 3, 2, 3, 2}, {5, 3, 9, 9, 1, 1}, {6, 0, 5, 5, 0, 4}, {-2, -2, 4, 4, 2, 2}, {0, 0, 1 << 62, 1 << 62, 6, 4}, {1, 1, 0, 0, 0, 0},
	} {
		if out := Crop(m, c.x, c.y, c.w, c.h); out.W != c.wantW || out.H != c.wantH {
			t.Errorf("Crop(%d, %d, %d, %d) is %d x %d, want %d x %d", c.x, c.y, c.w, c.h, out.W, out.H, c.wantW, c.wantH)
		}
	}
}

func TestTilesCoverThePicture(t *testing.T) {
	t.Parallel()
	for _, c := range [][5]int{{96, 80, 64, 64, 0}, {96, 80, 64, 64, 32}, {10, 10, 64, 64, 8}, {65, 64, 64, 64, 64}, {200, 100, 64, 64, 4096}} {
		w, h := c[0], c[1]
		seen := make([]bool, w*h)
		for _, b := range Tiles(w, h, c[2], c[3], c[4]) {
			if b.X0 < 0 || b.Y0 < 0 || b.X1 > w || b.Y1 > h || b.empty() {
				t.Fatalf("%v: tile %v", c, b)
			}
			for y := b.Y0; y < b.Y1; y++ {
				for x := b.X0; x < b.X1; x++ {
					seen[y*w+x] = true
				}
			}
		}
		if slices.Contains(seen, false) {
			t.Errorf("%v leaves pixels out", c)
		}
		m := noise(1, h, w, 3)
		var tiles []*Image
		for _, b := range Tiles(w, h, c[2], c[3], c[4]) {
			tiles = append(tiles, Crop(m, b.X0, b.Y0, b.X1-b.X0, b.Y1-b.Y0))
		}
		back, err := MergeTiles(tiles, w, h, c[4])
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range back.Pix {
			if d := v - m.Pix[i]; d > 1e-5 || d < -1e-5 {
				t.Fatalf("%v: value %d is %v after merging, was %v", c, i, v, m.Pix[i])
			}
		}
	}
}
