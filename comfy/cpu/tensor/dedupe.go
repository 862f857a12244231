package tensor

import (
	"fmt"
	"math/bits"
)

// Deduplicate keeps each picture that is not as similar as threshold (0..1) to one already kept. Similarity is the
// share of equal bits of a perceptual hash: 8 x 8 grey pixels, each above their average or not.
func Deduplicate(pictures []*Image, threshold float64) ([]*Image, error) {
	var kept []*Image
	var hashes []uint64
next:
	for i, p := range pictures {
		hash, err := perceptualHash(p)
		if err != nil {
			return nil, fmt.Errorf("image %d: %w", i, err)
		}
		for _, other := range hashes {
			if 1-float64(bits.OnesCount64(hash^other))/64 >= threshold {
				continue next
			}
		}
		kept, hashes = append(kept, p), append(hashes, hash)
	}
	return kept, nil
}

func perceptualHash(m *Image) (uint64, error) {
	if m.B == 0 || m.W == 0 || m.H == 0 {
		return 0, fmt.Errorf("it has no pixels")
	}
	small, err := m.raster8(0).lanczos(8, 8)
	if err != nil {
		return 0, err
	}
	grey, sum := small.luma(), 0
	for _, v := range grey {
		sum += int(v)
	}
	hash := uint64(0)
	for i, v := range grey {
		if int(v)*len(grey) > sum {
			hash |= 1 << i
		}
	}
	return hash, nil
}
