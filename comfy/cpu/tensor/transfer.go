package tensor

import (
	"errors"
	"fmt"
	"sort"
)

// Baseline says whose colours count as the source's in TransferColors.
type Baseline struct {
	Mode  string // per_frame: each frame its own; uniform: all together; target_frame: those of frame Index
	Index int
}

// TransferColors gives the target the colours of the reference. Methods: reinhard_lab (mean and deviation),
// mkl_lab (full covariance), histogram (per channel, 256 steps). strength mixes between the target (0) and the full
// effect (1), and goes beyond it. With per_frame and several references, each frame has its own, the last one for all
// that follow.
func TransferColors(target, ref *Image, method string, base Baseline, strength float64) (*Image, error) {
	if strength == 0 {
		return target, nil
	}
	if target.B == 0 || ref.B == 0 || target.W*target.H == 0 || ref.W*ref.H == 0 {
		return nil, errors.New("cannot transfer colours of a picture without pixels")
	}
	switch base.Mode {
	case "per_frame", "uniform", "target_frame":
	default:
		return nil, fmt.Errorf("unknown source_stats %q: use per_frame, uniform or target_frame", base.Mode)
	}
	base.Index = min(max(base.Index, 0), target.B-1)
	if method == "histogram" {
		if target.C != ref.C {
			return nil, fmt.Errorf("target and reference must have the same number of channels, got %d and %d", target.C, ref.C)
		}
		return transferHistogram(target, ref, base, float32(strength)), nil
	}
	if target.C != 3 || ref.C != 3 {
		return nil, fmt.Errorf("transferring colours takes pictures of 3 channels, got %d and %d: split off the alpha channel first", target.C, ref.C)
	}
	fit := reinhard
	switch method {
	case "reinhard_lab":
	case "mkl_lab":
		fit = mongeKantorovich
	default:
		return nil, fmt.Errorf("unknown method %q: use reinhard_lab, mkl_lab or histogram", method)
	}
	return transferLab(target, ref, fit, base, float32(strength)), nil
}

func transferLab(target, ref *Image, fit func(from, to stats) affine, base Baseline, strength float32) *Image {
	from, to := toLab(target), toLab(ref)
	out := target.Like()
	var shared affine
	switch base.Mode {
	case "uniform":
		shared = fit(from.pooled(), to.pooled())
	case "target_frame":
		shared = fit(from.frames(base.Index, base.Index+1).pooled(), to.pooled())
	}
	for b := range target.B {
		f := shared
		if base.Mode == "per_frame" {
			r := min(b, ref.B-1)
			f = fit(from.frames(b, b+1).pooled(), to.frames(r, r+1).pooled())
		}
		dst := out.Frame(b)
		for i := range from.n {
			v := [3]float32{from.pix[b][0][i], from.pix[b][1][i], from.pix[b][2][i]}
			w := f.apply(v)
			for k := range 3 {
				w[k] = lerp(v[k], w[k], strength)
			}
			dst[3*i], dst[3*i+1], dst[3*i+2] = rgbOf(w[0], w[1], w[2])
		}
	}
	return out
}

// lerp goes from a to b, from whichever end is nearer, as torch does.
func lerp(a, b, t float32) float32 {
	switch {
	case t == 1:
		return b
	case t < 0.5:
		return a + float32(t*(b-a))
	default:
		return b - float32((b-a)*(1-t))
	}
}

// cumulative is the share of values at or below each of 256 steps, for each channel.
type cumulative [][256]float32

func (m *Image) cumulative(from, to int) cumulative {
	out := make(cumulative, m.C)
	for b := from; b < to; b++ {
		for i, v := range m.Frame(b) {
			out[i%m.C][step(v)]++
		}
	}
	for k := range out {
		sum := float32(0)
		for i, n := range out[k] {
			sum += n
			out[k][i] = sum
		}
		for i := range out[k] {
			out[k][i] /= sum
		}
	}
	return out
}

func step(v float32) int {
	return int(clamp(v*255, 0, 255))
}

// table maps each step of one distribution to the value of the first step of the other that is as high.
func (c cumulative) table(to cumulative) [][256]float32 {
	out := make([][256]float32, len(c))
	for k := range c {
		for i, share := range c[k] {
			found := sort.Search(256, func(j int) bool { return to[k][j] >= share })
			out[k][i] = float32(min(found, 255)) / 255
		}
	}
	return out
}

func transferHistogram(target, ref *Image, base Baseline, strength float32) *Image {
	out := target.Like()
	var shared [][256]float32
	switch base.Mode {
	case "uniform":
		shared = target.cumulative(0, target.B).table(ref.cumulative(0, ref.B))
	case "target_frame":
		shared = target.cumulative(base.Index, base.Index+1).table(ref.cumulative(0, ref.B))
	}
	for b := range target.B {
		table := shared
		if base.Mode == "per_frame" {
			r := min(b, ref.B-1)
			table = target.cumulative(b, b+1).table(ref.cumulative(r, r+1))
		}
		dst := out.Frame(b)
		for i, v := range target.Frame(b) {
			dst[i] = clamp01(lerp(v, table[i%target.C][step(v)], strength))
		}
	}
	return out
}
