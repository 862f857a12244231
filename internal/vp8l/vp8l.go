// Package vp8l writes the lossless form of WebP, as the "WebP Lossless Bitstream Specification" describes it: colours less green, predicted
// from their neighbours tile by tile, runs as references to the left or above, and one set of prefix codes. Reading is golang.org/x/image's.
package vp8l

import (
	"math/bits"
	"slices"
	"sort"
)

// MaxSide is the largest width and height of the format, in pixels.
const MaxSide = 1 << 14

// Encode gives the bitstream of a picture, the content of a VP8L chunk. pix has one byte for each channel, line by line: grey, red green
// blue, or red green blue alpha (not premultiplied). Width and height are 1 to MaxSide.
func Encode(pix []uint8, width, height, channels int) []byte {
	s := &bitSink{out: []byte{0x2f}}
	s.put(uint32(width-1), 14)
	s.put(uint32(height-1), 14)
	s.flag(channels == 4)
	s.put(0, 3)
	colors := lessGreen(pix, channels)
	s.flag(true)
	s.put(2, 2)
	s.flag(true)
	s.put(0, 2)
	s.put(tileBits-2, 3)
	modes, residual, across := predict(colors, width, height)
	s.image(modes, across, false)
	s.flag(false)
	s.image(residual, width, true)
	return s.bytes()
}

// bitSink packs bits, lowest first.
type bitSink struct {
	out  []byte
	hold uint64
	n    uint
}

func (s *bitSink) put(v uint32, n uint) {
	s.hold |= uint64(v) << s.n
	for s.n += n; s.n >= 8; s.n -= 8 {
		s.out = append(s.out, byte(s.hold))
		s.hold >>= 8
	}
}

func (s *bitSink) flag(on bool) {
	if on {
		s.put(1, 1)
	} else {
		s.put(0, 1)
	}
}

func (s *bitSink) bytes() []byte {
	if s.n > 0 {
		s.put(0, 8-s.n)
	}
	return s.out
}

// argb is a pixel in the order of the format.
type argb [4]uint8

const (
	alphaAt = iota
	redAt
	greenAt
	blueAt
)

func lessGreen(pix []uint8, channels int) []argb {
	out := make([]argb, len(pix)/channels)
	for i := range out {
		p := pix[i*channels : (i+1)*channels]
		c := argb{255, p[0], p[0], p[0]}
		if channels >= 3 {
			c[greenAt], c[blueAt] = p[1], p[2]
		}
		if channels == 4 {
			c[alphaAt] = p[3]
		}
		c[redAt] -= c[greenAt]
		c[blueAt] -= c[greenAt]
		out[i] = c
	}
	return out
}

// tileBits gives the side of the tiles that share a prediction, as a power of two.
const tileBits = 5

// predictors are the ones tried, by their number in the format: left, above, their mean, and left + above - corner.
var predictors = []uint8{1, 2, 7, 12}

func predictPixel(mode uint8, left, top, corner argb) argb {
	switch mode {
	case 1:
		return left
	case 2:
		return top
	}
	var out argb
	for k := range out {
		if mode == 7 {
			out[k] = uint8((int(left[k]) + int(top[k])) / 2)
		} else {
			out[k] = uint8(min(max(int(left[k])+int(top[k])-int(corner[k]), 0), 255))
		}
	}
	return out
}

// predict chooses a prediction for each tile and gives the chosen modes as an image, and what is left of the pixels.
func predict(pix []argb, w, h int) (modes, residual []argb, across int) {
	const side = 1 << tileBits
	residual = make([]argb, len(pix))
	across = (w + side - 1) / side
	for y0 := 0; y0 < h; y0 += side {
		for x0 := 0; x0 < w; x0 += side {
			best, least := uint8(0), -1
			for _, mode := range predictors {
				if cost := tileResidual(pix, nil, w, h, x0, y0, mode); least < 0 || cost < least {
					best, least = mode, cost
				}
			}
			tileResidual(pix, residual, w, h, x0, y0, best)
			modes = append(modes, argb{alphaAt: 255, greenAt: best})
		}
	}
	return modes, residual, across
}

// tileResidual gives the sum of what a prediction leaves in a tile and, unless to is nil, writes it there. Pixels of
// the first row and column have predictions of their own.
func tileResidual(pix, to []argb, w, h, x0, y0 int, mode uint8) int {
	cost := 0
	for y := y0; y < min(y0+1<<tileBits, h); y++ {
		for x := x0; x < min(x0+1<<tileBits, w); x++ {
			i := y*w + x
			guess := argb{alphaAt: 255}
			switch {
			case x > 0 && y > 0:
				guess = predictPixel(mode, pix[i-1], pix[i-w], pix[i-w-1])
			case x > 0:
				guess = pix[i-1]
			case y > 0:
				guess = pix[i-w]
			}
			var rest argb
			for k := range rest {
				rest[k] = pix[i][k] - guess[k]
				cost += min(int(rest[k]), 256-int(rest[k]))
			}
			if to != nil {
				to[i] = rest
			}
		}
	}
	return cost
}

// token is a pixel, or a copy of n pixels from the left (distance code 2) or from above (1).
type token struct {
	pixel    argb
	n        int
	distance uint32
}

// The bounds of what one copy covers: below the least, plain pixels are no longer.
const (
	leastRun = 4
	mostRun  = 4096
)

func tokens(pix []argb, w int) []token {
	var out []token
	for i := 0; i < len(pix); {
		left, above := runLength(pix, i, 1), runLength(pix, i, w)
		switch {
		case left >= leastRun && left >= above:
			out = append(out, token{n: left, distance: 2})
			i += left
		case above >= leastRun:
			out = append(out, token{n: above, distance: 1})
			i += above
		default:
			out = append(out, token{pixel: pix[i]})
			i++
		}
	}
	return out
}

func runLength(pix []argb, i, back int) int {
	if i < back {
		return 0
	}
	n := 0
	for n < mostRun && i+n < len(pix) && pix[i+n] == pix[i+n-back] {
		n++
	}
	return n
}

// prefixed splits a length or distance into its prefix symbol and the bits after it.
func prefixed(v uint32) (symbol int, extra uint32, n uint) {
	if v <= 4 {
		return int(v - 1), 0, 0
	}
	v--
	high := uint(bits.Len32(v) - 1)
	return int(2*high) + int(v>>(high-1)&1), v & (1<<(high-1) - 1), high - 1
}

// image writes pixels with their prefix codes; main says that it is the picture itself, which has one flag more.
func (s *bitSink) image(pix []argb, w int, main bool) {
	s.flag(false) // no colour cache
	if main {
		s.flag(false) // one set of codes for all
	}
	list := tokens(pix, w)
	green, red, blue, alpha, distance := make([]int, 256+24), make([]int, 256), make([]int, 256), make([]int, 256), make([]int, 40)
	for _, t := range list {
		if t.n > 0 {
			symbol, _, _ := prefixed(uint32(t.n))
			green[256+symbol]++
			distance[t.distance-1]++
			continue
		}
		green[t.pixel[greenAt]]++
		red[t.pixel[redAt]]++
		blue[t.pixel[blueAt]]++
		alpha[t.pixel[alphaAt]]++
	}
	g, r, b, a, d := s.code(green), s.code(red), s.code(blue), s.code(alpha), s.code(distance)
	for _, t := range list {
		if t.n > 0 {
			symbol, extra, n := prefixed(uint32(t.n))
			g.put(s, 256+symbol)
			s.put(extra, n)
			d.put(s, int(t.distance-1))
			continue
		}
		g.put(s, int(t.pixel[greenAt]))
		r.put(s, int(t.pixel[redAt]))
		b.put(s, int(t.pixel[blueAt]))
		a.put(s, int(t.pixel[alphaAt]))
	}
}

// prefixCode holds the reversed code and its length for each symbol.
type prefixCode struct {
	codes   []uint32
	lengths []uint8
}

func (c prefixCode) put(s *bitSink, symbol int) { s.put(c.codes[symbol], uint(c.lengths[symbol])) }

// code makes a prefix code for the counts and writes it.
func (s *bitSink) code(counts []int) prefixCode {
	lengths := codeLengths(counts, 15)
	var used []int
	for symbol, n := range lengths {
		if n > 0 {
			used = append(used, symbol)
		}
	}
	if len(used) == 0 {
		used = []int{0}
	}
	if len(used) <= 2 && used[len(used)-1] < 256 {
		s.flag(true)
		s.put(uint32(len(used)-1), 1)
		s.flag(true)
		for _, symbol := range used {
			s.put(uint32(symbol), 8)
		}
	} else {
		s.flag(false)
		s.lengths(lengths)
	}
	return canonical(lengths)
}

// lengthOrder is the order in which the lengths of the code for lengths are written.
var lengthOrder = [19]int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// lengthToken is a code length, or 16, 17, 18 for a repetition with extra bits.
type lengthToken struct {
	symbol int
	extra  uint32
	n      uint
}

// lengths writes the code lengths of all symbols, themselves coded.
func (s *bitSink) lengths(lengths []uint8) {
	list := lengthTokens(lengths)
	counts := make([]int, 19)
	for _, t := range list {
		counts[t.symbol]++
	}
	inner := codeLengths(counts, 7)
	last := len(lengthOrder)
	for last > 4 && inner[lengthOrder[last-1]] == 0 {
		last--
	}
	s.put(uint32(last-4), 4)
	for _, symbol := range lengthOrder[:last] {
		s.put(uint32(inner[symbol]), 3)
	}
	s.flag(false) // the lengths of all symbols follow
	code := canonical(inner)
	for _, t := range list {
		code.put(s, t.symbol)
		s.put(t.extra, t.n)
	}
}

func lengthTokens(lengths []uint8) []lengthToken {
	var out []lengthToken
	for i := 0; i < len(lengths); {
		run := 1
		for i+run < len(lengths) && lengths[i+run] == lengths[i] {
			run++
		}
		switch {
		case lengths[i] == 0 && run >= 11:
			run = min(run, 138)
			out = append(out, lengthToken{18, uint32(run - 11), 7})
		case lengths[i] == 0 && run >= 3:
			out = append(out, lengthToken{17, uint32(run - 3), 3})
		case run >= 4:
			run = min(run, 7)
			out = append(out, lengthToken{symbol: int(lengths[i])}, lengthToken{16, uint32(run - 4), 2})
		default:
			run = 1
			out = append(out, lengthToken{symbol: int(lengths[i])})
		}
		i += run
	}
	return out
}

// canonical gives the codes for lengths: shorter ones first, then by symbol. A single symbol takes no bits.
func canonical(lengths []uint8) prefixCode {
	c := prefixCode{codes: make([]uint32, len(lengths)), lengths: slices.Clone(lengths)}
	used, next := 0, uint32(0)
	for n := uint8(1); n <= 15; n++ {
		for symbol, length := range lengths {
			if length != n {
				continue
			}
			used++
			c.codes[symbol] = bits.Reverse32(next) >> (32 - n)
			next++
		}
		next <<= 1
	}
	if used <= 1 {
		clear(c.lengths)
		clear(c.codes)
	}
	return c
}

// codeLengths gives Huffman code lengths of at most limit bits; symbols that do not occur have 0.
func codeLengths(counts []int, limit uint8) []uint8 {
	weights := slices.Clone(counts)
	for {
		lengths := huffman(weights)
		if slices.Max(lengths) <= limit {
			return lengths
		}
		// Flatter weights make flatter trees.
		for i, n := range weights {
			if n > 0 {
				weights[i] = n/2 + 1
			}
		}
	}
}

// tree is a node of a Huffman tree; leaves have a symbol and no branches.
type tree struct {
	weight      int
	symbol      int
	left, right *tree
}

// huffman joins the two lightest trees until one is left, keeping leaves and joined trees in two sorted queues.
func huffman(weights []int) []uint8 {
	lengths := make([]uint8, len(weights))
	var leaves, joined []*tree
	for symbol, n := range weights {
		if n > 0 {
			leaves = append(leaves, &tree{weight: n, symbol: symbol})
		}
	}
	if len(leaves) == 1 {
		lengths[leaves[0].symbol] = 1
	}
	if len(leaves) < 2 {
		return lengths
	}
	sort.SliceStable(leaves, func(i, j int) bool { return leaves[i].weight < leaves[j].weight })
	lightest := func() *tree {
		queue := &leaves
		if len(leaves) == 0 || len(joined) > 0 && joined[0].weight < leaves[0].weight {
			queue = &joined
		}
		t := (*queue)[0]
		*queue = (*queue)[1:]
		return t
	}
	for len(leaves)+len(joined) > 1 {
		a, b := lightest(), lightest()
		joined = append(joined, &tree{weight: a.weight + b.weight, left: a, right: b})
	}
	joined[0].measure(lengths, 0)
	return lengths
}

func (t *tree) measure(lengths []uint8, depth uint8) {
	if t.left == nil {
		lengths[t.symbol] = depth
		return
	}
	t.left.measure(lengths, depth+1)
	t.right.measure(lengths, depth+1)
}
