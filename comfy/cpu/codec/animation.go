package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"

	"golang.org/x/image/vp8l"
	"golang.org/x/image/webp"
)

const pngMagic = "\x89PNG\r\n\x1a\n"

// stage is the canvas on which animations put their partial frames.
type stage struct {
	canvas *image.NRGBA
	before []uint8 // to go back to
}

func newStage(w, h int) *stage {
	return &stage{canvas: image.NewNRGBA(image.Rect(0, 0, w, h))}
}

// put draws a frame at x, y, over what is there or instead of it.
func (s *stage) put(m image.Image, x, y int, over bool) error {
	at := image.Rectangle{Max: m.Bounds().Size()}.Add(image.Pt(x, y))
	if !at.In(s.canvas.Rect) {
		return fmt.Errorf("a frame at %v leaves the picture of %v", at, s.canvas.Rect.Max)
	}
	op := draw.Src
	if over {
		op = draw.Over
	}
	draw.Draw(s.canvas, at, m, m.Bounds().Min, op)
	return nil
}

func (s *stage) save() { s.before = append(s.before[:0], s.canvas.Pix...) }

func (s *stage) restore() { copy(s.canvas.Pix, s.before) }

func (s *stage) erase(r image.Rectangle) {
	draw.Draw(s.canvas, r, image.Transparent, image.Point{}, draw.Src)
}

// gif reads all frames, each as it looks on the screen.
func (r *reel) gif(data []byte) error {
	conf, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := r.open(conf.Width, conf.Height, max(1, gifFrames(data))); err != nil {
		return err
	}
	r.hasAlpha, r.planes = true, true
	s := newStage(conf.Width, conf.Height)
	if r.still {
		m, err := gif.Decode(bytes.NewReader(data))
		if err != nil {
			return err
		}
		if err := s.put(m, m.Bounds().Min.X, m.Bounds().Min.Y, true); err != nil {
			return err
		}
		return r.add(s.canvas)
	}
	all, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for i, m := range all.Image {
		if all.Disposal[i] == gif.DisposalPrevious {
			s.save()
		}
		if err := s.put(m, m.Rect.Min.X, m.Rect.Min.Y, true); err != nil {
			return err
		}
		if err := r.add(s.canvas); err != nil {
			return err
		}
		switch all.Disposal[i] {
		case gif.DisposalBackground:
			s.erase(m.Rect)
		case gif.DisposalPrevious:
			s.restore()
		}
	}
	return nil
}

// gifFrames counts the frames without unpacking any, so that a small file that unfolds to a huge one is refused first.
func gifFrames(data []byte) int {
	if len(data) < 13 {
		return 0
	}
	frames, at := 0, 13+gifTable(data[10])
	for at < len(data) {
		switch data[at] {
		case 0x2c: // a frame: nine bytes of place and size, a colour table, the code size, then blocks
			if at+10 > len(data) {
				return frames
			}
			frames++
			at = gifSkip(data, at+11+gifTable(data[at+9]))
		case 0x21: // an extension
			at = gifSkip(data, at+2)
		default:
			return frames
		}
	}
	return frames
}

func gifTable(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

func gifSkip(data []byte, at int) int {
	for at < len(data) && data[at] != 0 {
		at += int(data[at]) + 1
	}
	return at + 1
}

// png reads a PNG file; an animated one gives all its frames.
func (r *reel) png(data []byte) error {
	conf, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	chunks := pngChunks(data)
	if len(chunks) == 0 || len(chunks[0].data) < 13 {
		return errors.New("it has no header")
	}
	frames := 0
	for _, c := range chunks {
		switch c.kind {
		case "fcTL":
			frames++
		case "tRNS":
			r.hasAlpha = true
		}
	}
	depth, kind := chunks[0].data[8], chunks[0].data[9]
	// Palettes count as alpha even when nothing in them is transparent.
	r.hasAlpha = r.hasAlpha || kind&4 != 0 || kind == 3
	r.planes = kind&^4 == 0 && depth <= 8
	if err := r.open(conf.Width, conf.Height, max(1, frames)); err != nil {
		return err
	}
	if frames > 0 && !r.still {
		return r.apng(chunks)
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return r.add(m)
}

// control is an fcTL chunk: where a frame of an animated PNG goes and what happens before and after.
type control struct {
	w, h, x, y      int
	dispose, source byte // dispose: 0 keep, 1 clear, 2 restore; source: 0 replace, 1 over
}

func readControl(data []byte) (control, error) {
	if len(data) < 26 {
		return control{}, errors.New("a frame control chunk is too short")
	}
	number := func(at int) int { return int(binary.BigEndian.Uint32(data[at:]) & 0x7fffffff) }
	return control{w: number(4), h: number(8), x: number(12), y: number(16), dispose: data[24], source: data[25]}, nil
}

// apng reads the frames of an animated PNG: each is brought into the form of a PNG file of its own.
func (r *reel) apng(chunks []chunk) error {
	var head []byte
	var shared []chunk
	var open *control
	var pixels []byte
	s := newStage(r.w, r.h)
	flush := func() error {
		if open == nil || len(pixels) == 0 {
			return nil
		}
		err := r.apngFrame(s, *open, head, shared, pixels)
		open, pixels = nil, nil
		return err
	}
	for _, c := range chunks {
		var err error
		switch c.kind {
		case "IHDR":
			head = c.data
		case "PLTE", "tRNS":
			shared = append(shared, c)
		case "fcTL":
			if err = flush(); err == nil {
				var next control
				next, err = readControl(c.data)
				open = &next
			}
		case "IDAT":
			if open != nil {
				pixels = append(pixels, c.data...)
			}
		case "fdAT":
			if len(c.data) >= 4 {
				pixels = append(pixels, c.data[4:]...)
			}
		}
		if err != nil {
			return err
		}
	}
	return flush()
}

func (r *reel) apngFrame(s *stage, c control, head []byte, shared []chunk, pixels []byte) error {
	if len(head) < 13 || c.w <= 0 || c.h <= 0 || c.w > r.w || c.h > r.h {
		return fmt.Errorf("a frame of %d x %d is in a file of %d x %d", c.w, c.h, r.w, r.h)
	}
	own := append([]byte(nil), head...)
	binary.BigEndian.PutUint32(own, uint32(c.w))
	binary.BigEndian.PutUint32(own[4:], uint32(c.h))
	file := appendChunk([]byte(pngMagic), "IHDR", own)
	for _, extra := range shared {
		file = appendChunk(file, extra.kind, extra.data)
	}
	file = appendChunk(appendChunk(file, "IDAT", pixels), "IEND", nil)
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return err
	}
	if c.dispose == 2 {
		s.save()
	}
	if err := s.put(m, c.x, c.y, c.source == 1); err != nil {
		return err
	}
	if err := r.add(s.canvas); err != nil {
		return err
	}
	switch c.dispose {
	case 1:
		s.erase(image.Rect(c.x, c.y, c.x+c.w, c.y+c.h))
	case 2:
		s.restore()
	}
	return nil
}

// appendChunk adds a PNG chunk with its length and sum.
func appendChunk(file []byte, kind string, data []byte) []byte {
	file = binary.BigEndian.AppendUint32(file, uint32(len(data)))
	start := len(file)
	file = append(append(file, kind...), data...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[start:]))
}

// webp reads a WebP file; an animated one gives all its frames.
func (r *reel) webp(data []byte) error {
	chunks := riffChunks(data[12:])
	frames, animated, lossless := 0, false, false
	for _, c := range chunks {
		switch c.kind {
		case "ANMF":
			frames++
		case "VP8L":
			r.hasAlpha, lossless = true, true
		case "ALPH":
			r.hasAlpha = true
		case "VP8X":
			animated = len(c.data) >= 10 && c.data[0]&2 != 0
			r.hasAlpha = r.hasAlpha || animated && c.data[0]&16 != 0
			r.w, r.h = uint24(c.data, 4)+1, uint24(c.data, 7)+1
		}
	}
	if animated {
		if err := r.open(r.w, r.h, frames); err != nil {
			return err
		}
		return r.webpFrames(chunks)
	}
	conf, err := webp.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := r.open(conf.Width, conf.Height, 1); err != nil {
		return err
	}
	m, err := webp.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.planes = !lossless
	return r.add(Studio(m))
}

// uint24 reads three bytes, little end first; 0 beyond the end.
func uint24(data []byte, at int) int {
	if at+3 > len(data) {
		return 0
	}
	return int(data[at]) | int(data[at+1])<<8 | int(data[at+2])<<16
}

func (r *reel) webpFrames(chunks []chunk) error {
	s := newStage(r.w, r.h)
	for _, c := range chunks {
		if c.kind != "ANMF" || r.full() {
			continue
		}
		if len(c.data) < 16 {
			return errors.New("a frame chunk is too short")
		}
		x, y := 2*uint24(c.data, 0), 2*uint24(c.data, 3)
		w, h := uint24(c.data, 6)+1, uint24(c.data, 9)+1
		if w > r.w || h > r.h {
			return fmt.Errorf("a frame of %d x %d is in a file of %d x %d", w, h, r.w, r.h)
		}
		m, err := webpFrame(riffChunks(c.data[16:]), w, h)
		if err != nil {
			return err
		}
		flags := c.data[15]
		if err := s.put(m, x, y, flags&2 == 0); err != nil {
			return err
		}
		if err := r.add(s.canvas); err != nil {
			return err
		}
		if flags&1 != 0 {
			s.erase(image.Rect(x, y, x+w, y+h))
		}
	}
	return nil
}

// webpFrame decodes the chunks of one frame, whose size must be as announced.
func webpFrame(chunks []chunk, w, h int) (image.Image, error) {
	body := []byte("WEBP")
	for _, c := range chunks {
		switch c.kind {
		case "VP8L":
			conf, err := vp8l.DecodeConfig(bytes.NewReader(c.data))
			if err != nil || conf.Width != w || conf.Height != h {
				return nil, fmt.Errorf("a frame is not of the announced size %d x %d", w, h)
			}
			return vp8l.Decode(bytes.NewReader(c.data))
		case "ALPH":
			body = appendRiff(body, "VP8X", []byte{16, 0, 0, 0, byte(w - 1), byte((w - 1) >> 8), byte((w - 1) >> 16),
				byte(h - 1), byte((h - 1) >> 8), byte((h - 1) >> 16)})
			body = appendRiff(body, c.kind, c.data)
		case "VP8 ":
			body = appendRiff(body, c.kind, c.data)
		}
	}
	file := append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
	conf, err := webp.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if conf.Width != w || conf.Height != h {
		return nil, fmt.Errorf("a frame of %d x %d was announced as %d x %d", conf.Width, conf.Height, w, h)
	}
	m, err := webp.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return Studio(m), nil
}

// appendRiff adds a RIFF chunk, padded to an even length.
func appendRiff(file []byte, kind string, data []byte) []byte {
	file = binary.LittleEndian.AppendUint32(append(file, kind...), uint32(len(data)))
	file = append(file, data...)
	if len(data)%2 != 0 {
		file = append(file, 0)
	}
	return file
}

// Studio converts lossy WebP, whose brightness runs from 16 to 235 (ITU-R BT.601), which the standard YCbCr type takes
// for full range. Its colours, one for four pixels, are interpolated, as FFmpeg and libwebp do.
func Studio(m image.Image) image.Image {
	var source *image.YCbCr
	alpha := func(int, int) uint8 { return 255 }
	switch m := m.(type) {
	case *image.YCbCr:
		source = m
	case *image.NYCbCrA:
		source = &m.YCbCr
		alpha = func(x, y int) uint8 { return m.A[m.AOffset(x, y)] }
	default:
		return m
	}
	bounds := source.Rect
	out := image.NewNRGBA(bounds)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			luma := 76309 * 16 * (int32(source.Y[source.YOffset(x, y)]) - 16)
			cb, cr := sixteenths(source, x, y)
			out.SetNRGBA(x, y, color.NRGBA{
				R: clamp8((luma + 104597*cr + 1<<19) >> 20),
				G: clamp8((luma - 25674*cb - 53278*cr + 1<<19) >> 20),
				B: clamp8((luma + 132201*cb + 1<<19) >> 20),
				A: alpha(x, y),
			})
		}
	}
	return out
}

// sixteenths gives the colour of a pixel of a 4:2:0 picture in sixteenths, around 0: of the four samples around it, which
// lie between the pixels, a near one weighs three times as much as a far one in each direction.
func sixteenths(m *image.YCbCr, x, y int) (cb, cr int32) {
	beside := func(v, low, high int) int { return min(max(v+v%2*2-1, low), high-1) } // in the next pair of pixels
	farX, farY := beside(x, m.Rect.Min.X, m.Rect.Max.X), beside(y, m.Rect.Min.Y, m.Rect.Max.Y)
	for _, s := range [4]struct{ x, y, weight int }{{x, y, 9}, {farX, y, 3}, {x, farY, 3}, {farX, farY, 1}} {
		at := m.COffset(s.x, s.y)
		cb += int32(s.weight) * (int32(m.Cb[at]) - 128)
		cr += int32(s.weight) * (int32(m.Cr[at]) - 128)
	}
	return cb, cr
}

// clamp8 bounds a value to what a byte holds.
func clamp8(v int32) uint8 { return uint8(min(max(v, 0), 255)) }
