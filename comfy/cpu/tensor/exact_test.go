package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestRandomNumbersOfOthers(t *testing.T) {
	t.Parallel()
	t.Run("the twister's first value for its default seed", func(t *testing.T) {
		if v := newTwister(5489).uint32(); v != 3499211612 {
			t.Fatal(v)
		}
	})
	for n, want := range map[int][]float32{
		4:  {1.5410, -0.2934, -2.1788, 0.5684},
		16: {-1.1258, -1.1524, -0.2506, -0.4339},
	} {
		t.Run(fmt.Sprintf("torch.manual_seed(0); torch.randn(%d)", n), func(t *testing.T) {
			got := torchNormal(0, n)
			for i, v := range want {
				if math.Abs(float64(got[i]-v)) > 1e-4 {
					t.Fatalf("value %d is %v, want %v", i, got[i], v)
				}
			}
		})
	}
	t.Run("numpy.random.seed(0); numpy.random.permutation(10)", func(t *testing.T) {
		if got := Permutation(0, 10); !slices.Equal(got, []int{2, 8, 4, 9, 1, 6, 7, 3, 0, 5}) {
			t.Fatal(got)
		}
	})
}

func TestSavingTruncates(t *testing.T) {
	t.Parallel()
	for n := range 256 {
		if got := Byte(FromByte(uint8(n))); int(got) != n {
			t.Errorf("byte %d comes back as %d", n, got)
		}
	}
	for v, want := range map[float32]uint8{-1: 0, 0.999: 254, 1: 255, 1.5: 255, float32(math.NaN()): 0, float32(math.Inf(1)): 255} {
		if got := Byte(v); got != want {
			t.Errorf("%v is saved as %d, want %d", v, got, want)
		}
	}
	lower := 0
	m := Invert(&Image{B: 1, H: 1, W: 256, C: 1, Pix: func() (p []float32) {
		for n := range 256 {
			p = append(p, FromByte(uint8(n)))
		}
		return p
	}()})
	for n, v := range m.Pix {
		if int(Byte(v)) == 254-n {
			lower++
		}
	}
	if lower != 159 {
		t.Errorf("inverting is one lower for %d values, a real server has 159", lower)
	}
}

func TestResizingKeepsAFlatPicture(t *testing.T) {
	t.Parallel()
	m := &Image{B: 1, H: 5, W: 7, C: 3, Pix: make([]float32, 105)}
	fill(m.Pix, FromByte(200))
	for _, method := range []Method{Nearest, Bilinear, Area, Bicubic, Lanczos} {
		for _, size := range [][2]int{{1, 1}, {7, 5}, {14, 10}, {3, 2}, {200, 3}, {1, 300}} {
			out, err := Resize(m, size[0], size[1], method)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range out.Pix {
				if math.Abs(float64(v)*255-200) > 1e-3 {
					t.Fatalf("%s to %v gives %v", method, size, v*255)
				}
			}
		}
	}
}

func TestWindowsAgreeWithTheirDefinition(t *testing.T) {
	t.Parallel()
	m := noise(1, 9, 11, 2)
	for _, size := range []int{1, 2, 3, 4, 7, 20, 999} {
		low, high := erode(m, size), dilate(m, size)
		for y := range m.H {
			for x := range m.W {
				for c := range m.C {
					lo, hi := float32(2), float32(-1)
					for yy := max(0, y-size/2); yy <= min(m.H-1, y+size-1-size/2); yy++ {
						for xx := max(0, x-size/2); xx <= min(m.W-1, x+size-1-size/2); xx++ {
							v := m.Pix[(yy*m.W+xx)*m.C+c]
							lo, hi = min(lo, v), max(hi, v)
						}
					}
					at := (y*m.W+x)*m.C + c
					if low.Pix[at] != lo || high.Pix[at] != hi {
						t.Fatalf("size %d at %d, %d: %v..%v, want %v..%v", size, x, y, low.Pix[at], high.Pix[at], lo, hi)
					}
				}
			}
		}
	}
}

func TestBlurAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	m := noise(1, 6, 8, 3)
	radius, sigma := 3, 0.6
	out, err := Blur(m, radius, sigma)
	if err != nil {
		t.Fatal(err)
	}
	for y := range m.H {
		for x := range m.W {
			sum, weights := 0.0, 0.0
			for j := -radius; j <= radius; j++ {
				for i := -radius; i <= radius; i++ {
					u, v := float64(i)/float64(radius), float64(j)/float64(radius)
					weight := math.Exp(-(u*u + v*v) / (2 * sigma * sigma))
					sum += weight * float64(m.Pix[(reflect(y+j, m.H)*m.W+reflect(x+i, m.W))*3])
					weights += weight
				}
			}
			if got := float64(out.Pix[(y*m.W+x)*3]); math.Abs(got-sum/weights) > 1e-6 {
				t.Fatalf("at %d, %d: %v, want %v", x, y, got, sum/weights)
			}
		}
	}
	if _, err := Blur(m, 6, 1); err == nil {
		t.Error("a radius as large as the picture was accepted")
	}
}

func TestGrowStopsWhenNothingChanges(t *testing.T) {
	t.Parallel()
	m := &Mask{B: 1, H: 3, W: 5, Pix: make([]float32, 15)}
	m.Pix[7] = 1
	if got := Grow(m, 1, true); !slices.Equal(got.Pix, []float32{0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0}) {
		t.Errorf("tapered: %v", got.Pix)
	}
	if got := Grow(m, 1, false); !slices.Equal(got.Pix, []float32{0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0}) {
		t.Errorf("square: %v", got.Pix)
	}
	if got := Grow(m, math.MaxInt, true); slices.Contains(got.Pix, 0) {
		t.Errorf("far: %v", got.Pix)
	}
	if got := Grow(m, -1, true); slices.Contains(got.Pix, 1) {
		t.Errorf("shrunk: %v", got.Pix)
	}
}

func TestQuantizeFindsFewColors(t *testing.T) {
	t.Parallel()
	m := noise(1, 40, 40, 3)
	for _, colors := range []int{1, 2, 7, 256} {
		out, err := Quantize(m, colors, NoDither)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[[3]float32]bool{}
		for i := 0; i < len(out.Pix); i += 3 {
			seen[[3]float32(out.Pix[i:i+3])] = true
		}
		delete(seen, [3]float32{}) // unused entries are black
		if len(seen) > colors {
			t.Errorf("%d colours, asked for %d", len(seen), colors)
		}
	}
	big := noise(1, 300, 300, 3) // more distinct colours than are counted one by one
	if out, err := Quantize(big, 16, FloydSteinberg); err != nil || !out.sameShape(big) {
		t.Errorf("large picture: %v", err)
	}
}

func TestColoursThereAndBack(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]float32{{0, 0, 0}, {1, 1, 1}, {1, 0, 0}, {0.2, 0.4, 0.6}, {0.01, 0.02, 0.9}} {
		l, a, b := labOfLight(linear(c[0]), linear(c[1]), linear(c[2]))
		r, g, bb := rgbOf(l, a, b)
		for i, v := range []float32{r, g, bb} {
			if math.Abs(float64(v-c[i])) > 2e-3 {
				t.Errorf("%v comes back as %v", c, []float32{r, g, bb})
				break
			}
		}
	}
	values, vectors := eigen([3][3]float64{{4, 1, 2}, {1, 3, 0}, {2, 0, 5}})
	diagonal := [3][3]float64{{values[0], 0, 0}, {0, values[1], 0}, {0, 0, values[2]}}
	back := product(product(vectors, diagonal), transpose(vectors))
	for i, row := range [3][3]float64{{4, 1, 2}, {1, 3, 0}, {2, 0, 5}} {
		for j, want := range row {
			if math.Abs(back[i][j]-want) > 1e-9 {
				t.Errorf("the decomposition gives %v", back)
			}
		}
	}
}

func TestDuplicatesAreLeftOut(t *testing.T) {
	t.Parallel()
	a, b := noise(1, 20, 20, 3), noise(1, 21, 20, 3)
	kept, err := Deduplicate([]*Image{a, b, Brightness(a, 0.98), b}, 0.95)
	if err != nil || len(kept) != 2 || kept[0] != a || kept[1] != b {
		t.Errorf("kept %d pictures, %v", len(kept), err)
	}
}
