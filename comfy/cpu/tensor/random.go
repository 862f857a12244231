package tensor

import "math"

// twister is the 32-bit Mersenne twister (MT19937, Matsumoto and Nishimura 1998), seeded with one number as torch and
// numpy do.
type twister struct {
	state [624]uint32
	next  int
}

func newTwister(seed uint32) *twister {
	t := &twister{next: 624}
	t.state[0] = seed
	for i := uint32(1); i < 624; i++ {
		prev := t.state[i-1]
		t.state[i] = 1812433253*(prev^prev>>30) + i
	}
	return t
}

func (t *twister) uint32() uint32 {
	if t.next == len(t.state) {
		t.refill()
	}
	y := t.state[t.next]
	t.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (t *twister) refill() {
	n := len(t.state)
	for i := range n {
		y := t.state[i]&0x80000000 | t.state[(i+1)%n]&0x7fffffff
		v := t.state[(i+397)%n] ^ y>>1
		if y&1 != 0 {
			v ^= 0x9908b0df
		}
		t.state[i] = v
	}
	t.next = 0
}

// below draws uniformly from 0..limit by rejection, as numpy's legacy generator does.
func (t *twister) below(limit uint32) uint32 {
	if limit == 0 {
		return 0
	}
	mask := limit
	for shift := 1; shift < 32; shift *= 2 {
		mask |= mask >> shift
	}
	for {
		if v := t.uint32() & mask; v <= limit {
			return v
		}
	}
}

// float32 draws from [0,1) with 24 bits, as torch does.
func (t *twister) float32() float32 {
	return float32(t.uint32()&(1<<24-1)) / (1 << 24)
}

// float64 draws from [0,1) with 53 bits, as torch does.
func (t *twister) float64() float64 {
	hi, lo := uint64(t.uint32()), uint64(t.uint32())
	return float64((hi<<32|lo)&(1<<53-1)) / (1 << 53)
}

// torchNormal gives the first n values of torch.randn on the CPU after torch.manual_seed(seed).
func torchNormal(seed uint64, n int) []float32 {
	t := newTwister(uint32(seed))
	if n < 16 {
		return t.fewNormals(n)
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = t.float32()
	}
	for i := 0; i+16 <= n; i += 16 {
		boxMuller(data[i : i+16])
	}
	if n%16 != 0 {
		// The last 16 values are drawn again, whatever they overlap.
		tail := data[n-16:]
		for i := range tail {
			tail[i] = t.float32()
		}
		boxMuller(tail)
	}
	return data
}

// fewNormals is the path torch takes below 16 values: pairs in double precision.
func (t *twister) fewNormals(n int) []float32 {
	data := make([]float32, n)
	for i := 0; i < n; i += 2 {
		u1, u2 := t.float64(), t.float64()
		r := math.Sqrt(-2 * math.Log1p(-u2))
		data[i] = float32(r * math.Cos(2*math.Pi*u1))
		if i+1 < n {
			data[i+1] = float32(r * math.Sin(2*math.Pi*u1))
		}
	}
	return data
}

// boxMuller turns 16 uniform values into normal ones, pairing the halves.
func boxMuller(data []float32) {
	for j := range 8 {
		u1, u2 := 1-data[j], data[j+8]
		radius := sqrt32(-2 * float32(math.Log(float64(u1))))
		theta := float64(float32(2*math.Pi) * u2)
		data[j] = radius * float32(math.Cos(theta))
		data[j+8] = radius * float32(math.Sin(theta))
	}
}

// numpySeed is how the dataset nodes bring a 64-bit seed into numpy's range.
func numpySeed(seed uint64) uint32 { return uint32(seed % (1<<32 - 1)) }

// Permutation is numpy.random.permutation(n) after numpy.random.seed with the node's seed.
func Permutation(seed uint64, n int) []int {
	t := newTwister(numpySeed(seed))
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := t.below(uint32(i))
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// CropRandom cuts w x h at a place drawn with numpy's generator; a picture that is too small stays whole on that axis.
func CropRandom(m *Image, w, h int, seed uint64) *Image {
	t := newTwister(numpySeed(seed))
	x := int(t.below(uint32(max(0, m.W-w))))
	y := int(t.below(uint32(max(0, m.H-h))))
	return Crop(m, x, y, w, h)
}
