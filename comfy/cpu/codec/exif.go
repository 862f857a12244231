package codec

import (
	"bytes"
	"encoding/binary"
)

// orientation finds the EXIF orientation of a JPEG, PNG or WebP file; 1 (upright) when there is none.
func orientation(data []byte) int {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xd8}):
		return tiffOrientation(jpegExif(data))
	case bytes.HasPrefix(data, []byte(pngMagic)):
		for _, c := range pngChunks(data) {
			if c.kind == "eXIf" {
				return tiffOrientation(c.data)
			}
		}
	case len(data) > 12 && string(data[8:12]) == "WEBP":
		for _, c := range riffChunks(data[12:]) {
			if c.kind == "EXIF" {
				return tiffOrientation(bytes.TrimPrefix(c.data, []byte("Exif\x00\x00")))
			}
		}
	}
	return 1
}

// jpegExif gives the TIFF block of the APP1 segment.
func jpegExif(data []byte) []byte {
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker, size := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
		if marker == 0xda || size < 2 || at+2+size > len(data) {
			return nil
		}
		if exif, ok := bytes.CutPrefix(data[at+4:at+2+size], []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return exif
		}
		at += 2 + size
	}
	return nil
}

// tiffOrientation reads tag 0x0112 of the first directory.
func tiffOrientation(block []byte) int {
	if len(block) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if block[0] == 'M' {
		order = binary.BigEndian
	}
	at := uint64(order.Uint32(block[4:]))
	if at+2 > uint64(len(block)) {
		return 1
	}
	entries := block[at+2:]
	for n := order.Uint16(block[at:]); n > 0 && len(entries) >= 12; n-- {
		if order.Uint16(entries) == 0x0112 {
			if v := int(order.Uint16(entries[8:])); v >= 1 && v <= 8 {
				return v
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}

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
