package tensor

import "math"

// lab is a batch in CIE L*a*b* (D65), as kornia converts it: channels planar per frame, so that statistics are plain
// loops.
type lab struct {
	n   int // pixels per frame
	pix [][3][]float32
}

func toLab(m *Image) lab {
	out := lab{n: m.W * m.H, pix: make([][3][]float32, m.B)}
	light := lightTable()
	for b := range out.pix {
		for k := range 3 {
			out.pix[b][k] = make([]float32, out.n)
		}
		src := m.Frame(b)
		for i := range out.n {
			l, a, bb := labOfLight(light.of(src[i*m.C]), light.of(src[i*m.C+1]), light.of(src[i*m.C+2]))
			out.pix[b][0][i], out.pix[b][1][i], out.pix[b][2][i] = l, a, bb
		}
	}
	return out
}

// The reference white and the bounds of the piecewise curves.
const (
	whiteX       = 0.95047
	whiteZ       = 1.08883
	labThreshold = 0.008856
	labInverse   = 0.2068966
)

func labOfLight(r, g, b float32) (l, a, bb float32) {
	x := float32(0.412453*r) + float32(0.35758*g) + float32(0.180423*b)
	y := float32(0.212671*r) + float32(0.71516*g) + float32(0.072169*b)
	z := float32(0.019334*r) + float32(0.119193*g) + float32(0.950227*b)
	fx, fy, fz := labCurve(x/whiteX), labCurve(y), labCurve(z/whiteZ)
	return float32(116*fy) - 16, 500 * (fx - fy), 200 * (fy - fz)
}

func linear(v float32) float32 {
	if v > 0.04045 {
		return pow32((v+0.055)/1.055, 2.4)
	}
	return v / 12.92
}

// lights holds the light of every byte value, which most values of pictures are.
type lights [256]float32

func lightTable() *lights {
	var t lights
	for i := range t {
		t[i] = linear(FromByte(uint8(i)))
	}
	return &t
}

func (t *lights) of(v float32) float32 {
	if i := int(v*255 + 0.5); i >= 0 && i < 256 && FromByte(uint8(i)) == v {
		return t[i]
	}
	return linear(v)
}

func labCurve(v float32) float32 {
	if v > labThreshold {
		return float32(math.Cbrt(float64(v)))
	}
	return float32(7.787*v) + 4.0/29
}

func pow32(v float32, e float64) float32 { return float32(math.Pow(float64(v), e)) }

// rgbOf is the way back, clamped.
func rgbOf(l, a, bb float32) (r, g, b float32) {
	fy := (l + 16) / 116
	fx := a/500 + fy
	fz := max(fy-bb/200, 0)
	x, y, z := labUncurve(fx)*whiteX, labUncurve(fy), labUncurve(fz)*whiteZ
	r = float32(3.2404813432005266*x) + float32(-1.5371515162713185*y) + float32(-0.4985363261688878*z)
	g = float32(-0.9692549499965682*x) + float32(1.8759900014898907*y) + float32(0.0415559265582928*z)
	b = float32(0.0556466391351772*x) + float32(-0.2040413383665112*y) + float32(1.0573110696453443*z)
	return gamma(r), gamma(g), gamma(b)
}

func labUncurve(v float32) float32 {
	if v > labInverse {
		return v * v * v
	}
	return (v - 4.0/29) / 7.787
}

func gamma(v float32) float32 {
	if v > 0.0031308 {
		return clamp01(float32(1.055*pow32(v, 1/2.4)) - 0.055)
	}
	return clamp01(12.92 * v)
}

// stats are the mean of each channel and the covariance between channels of a set of pixels.
type stats struct {
	mean [3]float64
	cov  [3][3]float64
}

// pooled takes the statistics over all frames.
func (l lab) pooled() stats {
	var s stats
	total := float64(l.n * len(l.pix))
	for _, frame := range l.pix {
		for k, plane := range frame {
			for _, v := range plane {
				s.mean[k] += float64(v) / total
			}
		}
	}
	for _, frame := range l.pix {
		for i := range 3 {
			for j := range 3 {
				sum := 0.0
				for p, v := range frame[i] {
					sum += (float64(v) - s.mean[i]) * (float64(frame[j][p]) - s.mean[j])
				}
				s.cov[i][j] += sum / total
			}
		}
	}
	return s
}

func (l lab) frames(from, to int) lab { return lab{n: l.n, pix: l.pix[from:to]} }

// affine maps a colour v to m*v + t.
type affine struct {
	m [3][3]float64
	t [3]float64
}

// statsFloor keeps deviations from dividing by zero.
const statsFloor = 1e-6

// reinhard scales each channel from the deviation of one set of pixels to that of the other, around their means.
func reinhard(from, to stats) affine {
	var f affine
	for k := range 3 {
		dev := func(s stats) float64 { return max(math.Sqrt(s.cov[k][k]), statsFloor) }
		f.m[k][k] = dev(to) / dev(from)
	}
	f.centre(from, to)
	return f
}

// mongeKantorovich is the linear map of least movement that turns one covariance into the other.
func mongeKantorovich(from, to stats) affine {
	values, vectors := eigen(from.cov)
	var scaled, inverse [3][3]float64
	for i := range 3 {
		for j := range 3 {
			root := max(math.Sqrt(max(values[j], 0)), statsFloor)
			scaled[i][j] = vectors[i][j] * root
			inverse[i][j] = vectors[i][j] / root
		}
	}
	middle := product(product(transpose(scaled), to.cov), scaled)
	values, vectors = eigen(middle)
	half := vectors
	for i := range 3 {
		for j := range 3 {
			half[i][j] *= math.Sqrt(max(values[j], 0))
		}
	}
	half = product(half, transpose(vectors))
	f := affine{m: product(product(inverse, half), transpose(inverse))}
	f.centre(from, to)
	return f
}

// centre sets the shift so that one mean falls on the other.
func (f *affine) centre(from, to stats) {
	for i := range 3 {
		f.t[i] = to.mean[i]
		for j := range 3 {
			f.t[i] -= f.m[i][j] * from.mean[j]
		}
	}
}

func (f affine) apply(v [3]float32) [3]float32 {
	var out [3]float32
	for i := range 3 {
		sum := f.t[i]
		for j := range 3 {
			sum += f.m[i][j] * float64(v[j])
		}
		out[i] = float32(sum)
	}
	return out
}

func product(a, b [3][3]float64) (out [3][3]float64) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return out
}

func transpose(a [3][3]float64) (out [3][3]float64) {
	for i := range 3 {
		for j := range 3 {
			out[i][j] = a[j][i]
		}
	}
	return out
}

// eigen decomposes a symmetric matrix by Jacobi rotations; the vectors are columns.
func eigen(a [3][3]float64) (values [3]float64, vectors [3][3]float64) {
	for i := range 3 {
		vectors[i][i] = 1
	}
	for range 50 {
		off := math.Abs(a[0][1]) + math.Abs(a[0][2]) + math.Abs(a[1][2])
		if off < 1e-18 {
			break
		}
		for _, pair := range [3][2]int{{0, 1}, {0, 2}, {1, 2}} {
			p, q := pair[0], pair[1]
			if a[p][q] == 0 {
				continue
			}
			angle := 0.5 * math.Atan2(2*a[p][q], a[q][q]-a[p][p])
			rotation := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
			c, s := math.Cos(angle), math.Sin(angle)
			rotation[p][p], rotation[q][q], rotation[p][q], rotation[q][p] = c, c, s, -s
			a = product(product(transpose(rotation), a), rotation)
			vectors = product(vectors, rotation)
		}
	}
	return [3]float64{a[0][0], a[1][1], a[2][2]}, vectors
}
