package codec

import (
	"encoding/binary"
)

// chunk is a named block of a PNG or RIFF file.
type chunk struct {
	kind string
	data []byte
}

// pngChunks lists the chunks up to the first broken one, without checking their sums.
func pngChunks(data []byte) []chunk {
	var out []chunk
	for rest := data[len(pngMagic):]; len(rest) >= 12; {
		size := uint64(binary.BigEndian.Uint32(rest))
		if size+12 > uint64(len(rest)) {
			break
		}
		out = append(out, chunk{kind: string(rest[4:8]), data: rest[8 : 8+size]})
		rest = rest[12+size:]
	}
	return out
}

// riffChunks lists the chunks after the file header, up to the first broken one.
func riffChunks(rest []byte) []chunk {
	var out []chunk
	for len(rest) >= 8 {
		size := uint64(binary.LittleEndian.Uint32(rest[4:]))
		if size+8 > uint64(len(rest)) {
			break
		}
		out = append(out, chunk{kind: string(rest[:4]), data: rest[8 : 8+size]})
		rest = rest[min(8+size+size%2, uint64(len(rest))):]
	}
	return out
}
