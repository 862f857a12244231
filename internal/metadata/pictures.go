package metadata

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"regexp"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngKept are the chunks without which a picture would look different, and the proof of where it comes from. Of the others none
// is needed: a chunk whose name begins with a capital always is.
var pngKept = map[string]bool{
	"tRNS": true, "cHRM": true, "gAMA": true, "iCCP": true, "sBIT": true, "sRGB": true, "cICP": true, "mDCV": true, "cLLI": true,
	"pHYs": true, "bKGD": true, "hIST": true, "sPLT": true, "acTL": true, "fcTL": true, "fdAT": true, "caBX": true,
}

func cleanPNG(c *copier) error {
	if err := c.pass(int64(len(pngSignature))); err != nil {
		return err
	}
	for {
		head, err := c.read(8)
		if err != nil {
			return err
		}
		size, name := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		switch {
		case pngKept[name] || name[0] < 'a':
			err = c.write(head)
			if err == nil {
				err = c.pass(size + 4)
			}
		case name == "eXIf":
			err = c.pngOrientation(head, size)
		default:
			err = c.skip(size + 4)
		}
		if err != nil || name == "IEND" {
			return err
		}
	}
}

func (c *copier) pngOrientation(head []byte, size int64) error {
	if size > maxHeld {
		return c.odd(head)
	}
	exif, err := c.read(size + 4)
	if err != nil {
		return err
	}
	orientation := EXIFOrientation(exif)
	if orientation == 1 {
		return nil
	}
	chunk := append([]byte("eXIf"), exifWith(orientation)...)
	length := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4))
	return c.write(length, chunk, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk)))
}

// cleanJPEG looks at the segments before the picture itself. APP13 holds what editors of photos write.
func cleanJPEG(c *copier) error {
	if err := c.pass(2); err != nil {
		return err
	}
	for {
		marker, err := c.read(2)
		if err != nil {
			return err
		}
		kind := marker[1]
		if marker[0] != 0xff || kind == 0xda || kind == 0xd9 || kind == 0xff || kind >= 0xd0 && kind <= 0xd7 || kind == 0x01 {
			return c.odd(marker) // the picture begins, or something else does
		}
		length, err := c.read(2)
		if err != nil {
			return err
		}
		size := int64(binary.BigEndian.Uint16(length)) - 2
		if size < 0 {
			return c.odd(marker, length)
		}
		switch kind {
		case 0xe1:
			err = c.jpegOrientation(size)
		case 0xed, 0xfe:
			err = c.skip(size)
		default:
			if err = c.write(marker, length); err == nil {
				err = c.pass(size)
			}
		}
		if err != nil {
			return err
		}
	}
}

func (c *copier) jpegOrientation(size int64) error {
	segment, err := c.read(size)
	if err != nil || !bytes.HasPrefix(segment, []byte("Exif\x00\x00")) {
		return err
	}
	orientation := EXIFOrientation(segment)
	if orientation == 1 {
		return nil
	}
	exif := append([]byte("Exif\x00\x00"), exifWith(orientation)...)
	return c.write([]byte{0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(exif)+2)), exif)
}

// cleanGIF leaves out comments.
func cleanGIF(c *copier) error {
	head, err := c.read(13)
	if err != nil {
		return err
	}
	if err := c.write(head); err != nil {
		return err
	}
	if err := c.gifColours(head[10]); err != nil {
		return err
	}
	for {
		kind, err := c.read(1)
		if err != nil {
			return err
		}
		switch kind[0] {
		case '!':
			label, err := c.read(1)
			if err != nil {
				return c.odd(kind)
			}
			comment := label[0] == 0xfe
			if !comment {
				err = c.write(kind, label)
			}
			if err == nil {
				err = c.gifBlocks(!comment)
			}
			if err != nil {
				return err
			}
		case ',':
			picture, err := c.read(9)
			if err != nil {
				return err
			}
			if err := c.write(kind, picture); err != nil {
				return err
			}
			if err := c.gifColours(picture[8]); err != nil {
				return err
			}
			if err := c.pass(1); err != nil {
				return err
			}
			if err := c.gifBlocks(true); err != nil {
				return err
			}
		default:
			return c.odd(kind) // the end
		}
	}
}

func (c *copier) gifColours(flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	return c.pass(3 << (flags&7 + 1))
}

// gifBlocks passes or leaves out blocks up to the empty one.
func (c *copier) gifBlocks(keep bool) error {
	for {
		size, err := c.read(1)
		if err != nil {
			return err
		}
		block, err := c.read(int64(size[0]))
		if err == nil && keep {
			err = c.write(size, block)
		}
		if err != nil || size[0] == 0 {
			return err
		}
	}
}

const (
	webpXMP = 0x04 // flag of a WebP that says that it has XMP
)

// cleanRIFF cleans WebP pictures and WAVE sounds.
func cleanRIFF(c *copier) error {
	if err := c.pass(12); err != nil {
		return err
	}
	for !c.atEnd() {
		head, err := c.read(8)
		if err != nil {
			return err
		}
		name, size := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		switch name {
		case "VP8X":
			err = c.webpFlags(head, size)
		case "EXIF":
			err = c.webpOrientation(head, size)
		case "XMP ", "LIST", "id3 ", "ID3 ", "iXML":
			copy(head, "JUNK")
			if err = c.write(head); err == nil {
				err = c.blank(size)
			}
		default:
			if err = c.write(head); err == nil {
				err = c.pass(size)
			}
		}
		if err == nil && size%2 == 1 {
			err = c.pass(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) webpFlags(head []byte, size int64) error {
	if size > maxHeld || size < 1 {
		return c.odd(head)
	}
	flags, err := c.read(size)
	if err != nil {
		return err
	}
	flags[0] &^= webpXMP
	return c.write(head, flags)
}

// webpOrientation leaves the chunk as long as it is: the file says at its beginning that there is one.
func (c *copier) webpOrientation(head []byte, size int64) error {
	if size > maxHeld {
		return c.odd(head)
	}
	exif, err := c.read(size)
	if err != nil {
		return err
	}
	left := make([]byte, size)
	copy(left, exifWith(EXIFOrientation(exif)))
	return c.write(head, left)
}

var svgMetadata = regexp.MustCompile(`(?s)<metadata\b.*?</metadata>`)

func cleanSVG(c *copier) error {
	head, err := c.r.Peek(1024)
	if !bytes.Contains(head, []byte("<svg")) {
		return errOdd
	}
	if err != nil && len(head) == 0 {
		return err
	}
	text, err := readUpTo(c, maxHeld)
	if err != nil {
		return err
	}
	return c.write(svgMetadata.ReplaceAll(text, nil))
}
