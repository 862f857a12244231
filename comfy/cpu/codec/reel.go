package codec

import (
	"fmt"
	"image"

	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// reel gathers decoded frames of equal size.
type reel struct {
	still       bool
	orientation int
	w, h        int // of the frames as stored
	frames      int
	hasAlpha    bool
	planes      bool // read through float planes, see pixel.planes
	colors      []float32
	alpha       []float32
}

// add takes a frame of the opened size.
func (r *reel) add(m image.Image) error {
	if size := m.Bounds().Size(); size.X != r.w || size.Y != r.h {
		return fmt.Errorf("a frame of %d x %d is in a file of %d x %d", size.X, size.Y, r.w, r.h)
	}
	if _, err := tensor.Count(r.frames+1, r.h, r.w, 4); err != nil {
		return err
	}
	n := r.w * r.h
	colors := append(r.colors, make([]float32, 3*n)...)
	alpha := append(r.alpha, make([]float32, n)...)
	at := r.frames * n
	readPixels(m, r.still, func(i int, p pixel) {
		if r.planes && !r.still {
			p = p.planes()
		}
		copy(colors[3*(at+i):], p[:3])
		alpha[at+i] = p[3]
	})
	r.colors, r.alpha = colors, alpha
	r.frames++
	return nil
}

// open refuses sizes that would not fit and must be called before anything is decoded.
func (r *reel) open(w, h, frames int) error {
	if w <= 0 || h <= 0 {
		return fmt.Errorf("it says its size is %d x %d", w, h)
	}
	if r.still {
		frames = 1
	}
	r.w, r.h = w, h
	_, err := tensor.Count(max(1, frames), h, w, 4)
	return err
}

// full reports that no more frames are wanted.
func (r *reel) full() bool { return r.still && r.frames > 0 }
