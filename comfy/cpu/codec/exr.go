package codec

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// ColorSpace says what the values of an image mean to EncodeEXR.
type ColorSpace string

// The colour spaces: sRGB values, HLG values of BT.2100, or light in proportion.
const (
	SRGB   ColorSpace = "sRGB"
	HDR    ColorSpace = "HDR"
	Linear ColorSpace = "linear"
)

// toLight gives scene light for a value: the inverse transfer curve of the space.
func (s ColorSpace) toLight(v float32) float32 {
	switch {
	case s == SRGB && v <= 0.04045:
		return v / 12.92
	case s == SRGB:
		return float32(math.Pow(float64((v+0.055)/1.055), 2.4))
	case s == HDR && v <= 0.5:
		return v * v / 3
	case s == HDR:
		return float32((math.Exp((float64(v)-0.55991073)/0.17883277) + 0.28466892) / 12)
	}
	return v
}

// primaries are the chromaticities of red, green, blue and white that the light is told in.
func (s ColorSpace) primaries() [8]float32 {
	if s == HDR {
		return [8]float32{0.708, 0.292, 0.17, 0.797, 0.131, 0.046, 0.3127, 0.329}
	}
	return [8]float32{0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329}
}

// EncodeEXR writes one picture of a batch as an OpenEXR file of 32-bit floats in scene light, uncompressed, one line
// a block. Values are not clamped; alpha is not converted.
func EncodeEXR(w io.Writer, m *tensor.Image, i int, space ColorSpace, texts []Text) error {
	channels := exrChannels(m.C)
	file := exrHeader(m, channels, space, texts)
	line := 4 * m.W * len(channels)
	offset := uint64(len(file) + 8*m.H)
	for y := range m.H {
		file = binary.LittleEndian.AppendUint64(file, offset+uint64(y*(line+8)))
	}
	src := m.Frame(i)
	for y := range m.H {
		file = binary.LittleEndian.AppendUint32(file, uint32(y))
		file = binary.LittleEndian.AppendUint32(file, uint32(line))
		for _, channel := range channels {
			for x := range m.W {
				v := src[(y*m.W+x)*m.C+channel.index]
				if channel.index < 3 {
					v = space.toLight(v)
				}
				file = binary.LittleEndian.AppendUint32(file, math.Float32bits(v))
			}
		}
	}
	_, err := w.Write(file)
	return err
}

type exrChannel struct {
	name  string
	index int
}

// exrChannels are sorted by name, as the format wants them.
func exrChannels(c int) []exrChannel {
	switch c {
	case 1:
		return []exrChannel{{"Y", 0}}
	case 4:
		return []exrChannel{{"A", 3}, {"B", 2}, {"G", 1}, {"R", 0}}
	}
	return []exrChannel{{"B", 2}, {"G", 1}, {"R", 0}}
}

func exrHeader(m *tensor.Image, channels []exrChannel, space ColorSpace, texts []Text) []byte {
	le := binary.LittleEndian
	var list []byte
	for _, channel := range channels {
		list = append(append(list, channel.name...), 0)
		list = le.AppendUint32(list, 2) // float
		list = le.AppendUint32(list, 0)
		list = le.AppendUint32(le.AppendUint32(list, 1), 1)
	}
	var window, colors []byte
	for _, n := range []int{0, 0, m.W - 1, m.H - 1} {
		window = le.AppendUint32(window, uint32(n))
	}
	for _, v := range space.primaries() {
		colors = le.AppendUint32(colors, math.Float32bits(v))
	}
	one := le.AppendUint32(nil, math.Float32bits(1))
	head := []byte{0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0}
	attribute := func(name, kind string, value []byte) {
		head = append(append(head, name...), 0)
		head = append(append(head, kind...), 0)
		head = append(le.AppendUint32(head, uint32(len(value))), value...)
	}
	attribute("channels", "chlist", append(list, 0))
	attribute("chromaticities", "chromaticities", colors)
	attribute("compression", "compression", []byte{0})
	attribute("dataWindow", "box2i", window)
	attribute("displayWindow", "box2i", window)
	attribute("lineOrder", "lineOrder", []byte{0})
	attribute("pixelAspectRatio", "float", one)
	attribute("screenWindowCenter", "v2f", make([]byte, 8))
	attribute("screenWindowWidth", "float", one)
	for _, t := range texts {
		if len(t.Key) < 32 { // longer names need another version of the format
			attribute(t.Key, "string", []byte(t.Value))
		}
	}
	return append(head, 0)
}
