package nodes

import (
	"math"

	"github.com/signalbox/signalbox/comfy/cpu/node"
)

// biquad is a second-order filter with a0 brought to 1 (Bristow-Johnson, Audio EQ Cookbook).
type biquad struct{ b0, b1, b2, a1, a2 float64 }

// run filters one channel; the result is kept within [-1,1].
func (f biquad) run(row []float32) []float32 {
	out := make([]float32, len(row))
	var x1, x2, y1, y2 float64
	for i, v := range row {
		x := float64(v)
		y := f.b0*x + f.b1*x1 + f.b2*x2 - f.a1*y1 - f.a2*y2
		x1, x2, y1, y2 = x, x1, y, y1
		out[i] = float32(min(max(y, -1), 1))
	}
	return out
}

// shelf is a low shelf, or a high one with sign -1, at a frequency in Hz with a gain in dB and slope by Q.
func shelf(rate, frequency, gain, q, sign float64) biquad {
	w := 2 * math.Pi * frequency / rate
	alpha := math.Sin(w) / 2 / q
	a := math.Exp(gain / 40 * math.Ln10)
	root, minus, plus := 2*math.Sqrt(a)*alpha, (a-1)*math.Cos(w), (a+1)*math.Cos(w)
	a0 := (a + 1) + sign*minus + root
	return biquad{
		b0: a * ((a + 1) - sign*minus + root) / a0,
		b1: sign * 2 * a * ((a - 1) - sign*plus) / a0,
		b2: a * ((a + 1) - sign*minus - root) / a0,
		a1: -sign * 2 * ((a - 1) + sign*plus) / a0,
		a2: ((a + 1) + sign*minus - root) / a0,
	}
}

// peak raises or lowers the surroundings of a frequency.
func peak(rate, frequency, gain, q float64) biquad {
	w := 2 * math.Pi * frequency / rate
	a := math.Exp(gain / 40 * math.Ln10)
	alpha := math.Sin(w) / 2 / q
	a0 := 1 + alpha/a
	return biquad{b0: (1 + alpha*a) / a0, b1: -2 * math.Cos(w) / a0, b2: (1 - alpha*a) / a0, a1: -2 * math.Cos(w) / a0, a2: (1 - alpha/a) / a0}
}

// shelfQ is the fixed slope of the equalizer's outer bands.
const shelfQ = 0.707

func equalize(c *node.Call) (*node.Audio, error) {
	a := c.Audio("audio")
	rate := float64(a.Rate)
	bands := []struct {
		gain   float64
		filter biquad
	}{
		{c.Float("low_gain_dB"), shelf(rate, c.Float("low_freq"), c.Float("low_gain_dB"), shelfQ, 1)},
		{c.Float("mid_gain_dB"), peak(rate, c.Float("mid_freq"), c.Float("mid_gain_dB"), c.Float("mid_q"))},
		{c.Float("high_gain_dB"), shelf(rate, c.Float("high_freq"), c.Float("high_gain_dB"), shelfQ, -1)},
	}
	for _, band := range bands {
		if band.gain != 0 {
			a = mapSamples(a, band.filter.run)
		}
	}
	return a, nil
}

// The low-pass of resample: zero crossings on each side and the share of the band that is kept.
const (
	resampleWidth   = 6
	resampleRolloff = 0.99
)

// resample changes the rate by windowed-sinc interpolation (J. O. Smith, Digital Audio Resampling; Hann window).
func resample(a *node.Audio, rate int) *node.Audio {
	if a.Rate == rate || a.Rate <= 0 || rate <= 0 {
		return a
	}
	divisor := gcd(a.Rate, rate)
	from, to := a.Rate/divisor, rate/divisor
	base := float64(min(from, to)) * resampleRolloff
	width := int(math.Ceil(resampleWidth * float64(from) / base))
	kernels := make([][]float32, to)
	for phase := range kernels {
		kernels[phase] = make([]float32, 2*width+from)
		for i := range kernels[phase] {
			t := (float64(i-width)/float64(from) - float64(phase)/float64(to)) * base
			t = min(max(t, -resampleWidth), resampleWidth)
			window := math.Cos(t * math.Pi / resampleWidth / 2)
			kernels[phase][i] = float32(sinc(t) * window * window * base / float64(from))
		}
	}
	out := mapSamples(a, func(row []float32) []float32 { return resampleRow(row, kernels, from, to, width) })
	out.Rate = rate
	return out
}

func resampleRow(row []float32, kernels [][]float32, from, to, width int) []float32 {
	out := make([]float32, (len(row)*to+from-1)/from)
	for i := range out {
		begin := i/to*from - width
		var sum float32
		for j, k := range kernels[i%to] {
			if at := begin + j; at >= 0 && at < len(row) {
				sum += row[at] * k
			}
		}
		out[i] = sum
	}
	return out
}

func sinc(t float64) float64 {
	if t == 0 {
		return 1
	}
	return math.Sin(math.Pi*t) / (math.Pi * t)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
