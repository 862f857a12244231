// Package tensor holds the pixel arrays of the CPU engine.
package tensor

// Image is a batch of pictures: float32 [B,H,W,C] in row-major order, nominally in [0,1], C is 3 or 4.
type Image struct {
	B, H, W, C int
	Pix        []float32
}

// Mask is a batch of single-channel planes: float32 [B,H,W] in row-major order, nominally in [0,1].
type Mask struct {
	B, H, W int
	Pix     []float32
}
