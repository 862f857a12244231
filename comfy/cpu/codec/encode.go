package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"github.com/signalbox/signalbox/comfy/cpu/tensor"
	"github.com/signalbox/signalbox/internal/vp8l"
)

// Text is a text chunk of a PNG file.
type Text struct{ Key, Value string }

// EncodePNG writes one picture of a batch with 8 bits a channel (RGB, RGBA or grey) and the texts after its header.
func EncodePNG(w io.Writer, m *tensor.Image, i int, texts []Text) error {
	return writePNG(w, pngPicture(m, i), texts, png.BestSpeed)
}

// EncodePNG16 is EncodePNG with 16 bits a channel.
func EncodePNG16(w io.Writer, m *tensor.Image, i int, texts []Text) error {
	deep := picture16(m, i)
	if m.C > 3 {
		deep = KeepAlpha(deep)
	}
	return writePNG(w, deep, texts, png.BestSpeed)
}

// pngPicture is Picture for files: what has four channels has them in the file.
func pngPicture(m *tensor.Image, i int) image.Image {
	if m.C > 3 {
		return KeepAlpha(m.Picture(i))
	}
	return m.Picture(i)
}

// KeepAlpha has the PNG encoder write the alpha channel also where nothing is transparent, as Pillow does.
func KeepAlpha(m image.Image) image.Image {
	if o, ok := m.(interface{ Opaque() bool }); ok && !o.Opaque() {
		return m
	}
	return translucent{m}
}

type translucent struct{ image.Image }

func (translucent) Opaque() bool { return false }

func writePNG(w io.Writer, m image.Image, texts []Text, level png.CompressionLevel) error {
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: level}).Encode(&file, m); err != nil {
		return err
	}
	const header = len(pngMagic) + 25
	out := append([]byte(nil), file.Bytes()[:header]...)
	for _, t := range texts {
		out = appendChunk(out, "tEXt", append([]byte(t.Key+"\x00"), latin1(t.Value)...))
	}
	_, err := w.Write(append(out, file.Bytes()[header:]...))
	return err
}

// latin1 is how text chunks are stored; what does not fit becomes a question mark. JSON texts are all ASCII.
func latin1(s string) []byte {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 255 {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return out
}

func picture16(m *tensor.Image, i int) image.Image {
	src := m.Frame(i)
	bounds := image.Rect(0, 0, m.W, m.H)
	if m.C == 1 {
		out := image.NewGray16(bounds)
		for p, v := range src {
			binary.BigEndian.PutUint16(out.Pix[2*p:], tensor.Word(v))
		}
		return out
	}
	out := image.NewNRGBA64(bounds)
	for p := range m.W * m.H {
		to := out.Pix[8*p : 8*p+8]
		to[6], to[7] = 255, 255
		for k, v := range src[p*m.C : (p+1)*m.C] {
			binary.BigEndian.PutUint16(to[2*k:], tensor.Word(v))
		}
	}
	return out
}

// EncodeAPNG writes the batch as an animated PNG that loops for ever, fps pictures a second.
func EncodeAPNG(w io.Writer, m *tensor.Image, fps float64, level int, texts []Text) error {
	if m.B == 0 {
		return errors.New("cannot write an animation of no pictures")
	}
	var out []byte
	sequence := uint32(0)
	for b := range m.B {
		var file bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: pngLevel(level)}).Encode(&file, pngPicture(m, b)); err != nil {
			return err
		}
		chunks := pngChunks(file.Bytes())
		if b == 0 {
			out = appendChunk([]byte(pngMagic), "IHDR", chunks[0].data)
			out = appendChunk(out, "acTL", binary.BigEndian.AppendUint64(nil, uint64(m.B)<<32))
			for _, t := range texts {
				out = appendChunk(out, "tEXt", append([]byte(t.Key+"\x00"), latin1(t.Value)...))
			}
		}
		out = appendChunk(out, "fcTL", frameControl(sequence, m, fps))
		sequence++
		for _, c := range chunks {
			if c.kind != "IDAT" {
				continue
			}
			if b == 0 {
				out = appendChunk(out, "IDAT", c.data)
				continue
			}
			out = appendChunk(out, "fdAT", append(binary.BigEndian.AppendUint32(nil, sequence), c.data...))
			sequence++
		}
	}
	_, err := w.Write(appendChunk(out, "IEND", nil))
	return err
}

// frameControl says that a frame covers the whole picture for 1/fps seconds, in whole milliseconds.
func frameControl(sequence uint32, m *tensor.Image, fps float64) []byte {
	var data []byte
	for _, n := range []uint32{sequence, uint32(m.W), uint32(m.H), 0, 0} {
		data = binary.BigEndian.AppendUint32(data, n)
	}
	data = binary.BigEndian.AppendUint16(data, uint16(milliseconds(fps, math.MaxUint16)))
	data = binary.BigEndian.AppendUint16(data, 1000)
	return append(data, 0, 0)
}

func milliseconds(fps float64, most int) int {
	return min(int(1000/fps), most)
}

// pngLevel brings zlib's 0..9 to what the standard encoder offers.
func pngLevel(level int) png.CompressionLevel {
	switch {
	case level == 0:
		return png.NoCompression
	case level < 4:
		return png.BestSpeed
	case level > 7:
		return png.BestCompression
	}
	return png.DefaultCompression
}

// EncodeWebP writes the batch as a lossless WebP animation that loops for ever, fps pictures a second. A batch of one
// is a still. exif, if any, is the TIFF block of the file's EXIF chunk.
func EncodeWebP(w io.Writer, m *tensor.Image, fps float64, exif []byte) error {
	if m.B == 0 {
		return errors.New("cannot write an animation of no pictures")
	}
	if err := vp8lFits(m.W, m.H); err != nil {
		return err
	}
	var frames []byte
	for b := range m.B {
		c := chunk{"VP8L", vp8l.Encode(m.Bytes(b), m.W, m.H, m.C)}
		if m.B > 1 {
			c = chunk{"ANMF", appendRiff(webpPlace(m, fps), c.kind, c.data)}
		}
		frames = appendRiff(frames, c.kind, c.data)
	}
	flags := byte(0)
	if m.C > 3 {
		flags |= 16
	}
	if exif != nil {
		flags |= 8
	}
	head := []byte{flags, 0, 0, 0}
	head = appendUint24(appendUint24(head, m.W-1), m.H-1)
	body := []byte("WEBP")
	if m.B > 1 {
		head[0] |= 2
		body = appendRiff(body, "VP8X", head)
		// White, see-through ground; no end to the loops.
		body = appendRiff(body, "ANIM", []byte{0, 0, 0, 0, 0, 0})
	} else {
		body = appendRiff(body, "VP8X", head)
	}
	body = append(body, frames...)
	if exif != nil {
		body = appendRiff(body, "EXIF", exif)
	}
	return writeRiff(w, body)
}

func writeRiff(w io.Writer, body []byte) error {
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body)))
	_, err := w.Write(append(file, body...))
	return err
}

// EncodeStillWebP writes any picture as a lossless WebP still of 8 bits a channel, without alpha if it is opaque.
func EncodeStillWebP(w io.Writer, m image.Image) error {
	size := m.Bounds().Size()
	if err := vp8lFits(size.X, size.Y); err != nil {
		return err
	}
	c := 4
	if o, ok := m.(interface{ Opaque() bool }); ok && o.Opaque() {
		c = 3
	}
	pix := make([]uint8, size.X*size.Y*c)
	readPixels(m, true, func(i int, p pixel) {
		for k := range c {
			pix[i*c+k] = tensor.Byte(p[k])
		}
	})
	return writeRiff(w, appendRiff([]byte("WEBP"), "VP8L", vp8l.Encode(pix, size.X, size.Y, c)))
}

func vp8lFits(w, h int) error {
	if w <= 0 || h <= 0 || w > vp8l.MaxSide || h > vp8l.MaxSide {
		return fmt.Errorf("WebP holds pictures of 1 x 1 to %d x %d pixels, got %d x %d", vp8l.MaxSide, vp8l.MaxSide, w, h)
	}
	return nil
}

// webpPlace is the head of a frame chunk: the whole picture, instead of what was there before.
func webpPlace(m *tensor.Image, fps float64) []byte {
	data := appendUint24(appendUint24(make([]byte, 6), m.W-1), m.H-1)
	data = appendUint24(data, milliseconds(fps, 1<<24-1))
	return append(data, 2)
}

func appendUint24(data []byte, v int) []byte {
	return append(data, byte(v), byte(v>>8), byte(v>>16))
}

// WebPTexts packs texts as a WebP file of the real server has them: an EXIF block whose tags count down from 0x0110
// (camera model), each holding "key:value".
func WebPTexts(texts []Text) []byte {
	if len(texts) == 0 {
		return nil
	}
	n := len(texts)
	block := []byte("II*\x00\x08\x00\x00\x00")
	block = binary.LittleEndian.AppendUint16(block, uint16(n))
	at := len(block) + 12*n + 4
	var values []byte
	for i := n - 1; i >= 0; i-- {
		value := append([]byte(texts[i].Key+":"+texts[i].Value), 0)
		block = binary.LittleEndian.AppendUint16(block, uint16(0x0110-i))
		block = binary.LittleEndian.AppendUint16(block, 2)
		block = binary.LittleEndian.AppendUint32(block, uint32(len(value)))
		if len(value) <= 4 {
			block = append(block, append(value, make([]byte, 4-len(value))...)...)
			continue
		}
		block = binary.LittleEndian.AppendUint32(block, uint32(at+len(values)))
		values = append(values, value...)
		if len(value)%2 != 0 {
			values = append(values, 0)
		}
	}
	return append(append(block, 0, 0, 0, 0), values...)
}

// Recompress sends each picture, cut to even sizes, through a lossy coder: quality goes from 0 (hardly any loss) to
// 100. It stands for the round trip through a video encoder that such nodes make on a real server: the kind of
// artefacts is the same, the pixels are not.
func Recompress(m *tensor.Image, loss int) (*tensor.Image, error) {
	cut := tensor.Crop(m, 0, 0, m.W/2*2, m.H/2*2).Take(min(m.C, 3))
	if cut.W == 0 || cut.H == 0 {
		return nil, fmt.Errorf("cannot compress a picture of %d x %d: it takes at least 2 x 2", m.W, m.H)
	}
	out := cut.Like()
	for b := range cut.B {
		var file bytes.Buffer
		if err := jpeg.Encode(&file, cut.Picture(b), &jpeg.Options{Quality: min(max(100-loss, 1), 100)}); err != nil {
			return nil, err
		}
		back, err := jpeg.Decode(&file)
		if err != nil {
			return nil, err
		}
		dst := out.Frame(b)
		readPixels(back, true, func(i int, p pixel) { copy(dst[i*cut.C:(i+1)*cut.C], p[:]) })
	}
	return out, nil
}
