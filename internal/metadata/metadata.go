// Package metadata takes out of files what programs write into their metadata: the workflow, the prompt and the parameters that a
// picture, film or sound was made with, comments, names, places.
//
// Nothing is decoded: pixels and samples pass as they are, and with them what decides how they look, such as a colour profile and
// the orientation. Containers whose parts are found by their place in the file keep their size: what goes is overwritten.
package metadata

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Copy is io.Copy that leaves metadata out. A file of a kind that it does not know, and the rest of a broken one, passes unchanged.
func Copy(to io.Writer, from io.Reader) (int64, error) {
	c := &copier{r: bufio.NewReaderSize(from, 64<<10), w: &counter{w: to}}
	head, err := c.r.Peek(16)
	if err != nil && err != io.EOF {
		return 0, fmt.Errorf("read a file: %w", err)
	}
	if clean := cleanerFor(head); clean != nil {
		if err := clean(c); err != nil && !errors.Is(err, errOdd) {
			return c.w.n, err
		}
	}
	_, err = io.Copy(c.w, c.r)
	return c.w.n, err
}

// cleanerFor chooses by the first bytes.
func cleanerFor(head []byte) func(*copier) error {
	begins := func(at int, text string) bool {
		return len(head) >= at+len(text) && string(head[at:at+len(text)]) == text
	}
	switch {
	case begins(0, pngSignature):
		return cleanPNG
	case begins(0, "\xff\xd8\xff"):
		return cleanJPEG
	case begins(0, "GIF8"):
		return cleanGIF
	case begins(0, "RIFF") && begins(8, "WEBP"), begins(0, "RIFF") && begins(8, "WAVE"):
		return cleanRIFF
	case begins(4, "ftyp"):
		return cleanMP4
	case begins(0, "\x1a\x45\xdf\xa3"):
		return cleanMatroska
	case begins(0, "fLaC"):
		return cleanFLAC
	case begins(0, "OggS"):
		return cleanOgg
	case begins(0, "ID3"):
		return cleanID3
	case begins(0, "glTF"):
		return cleanGLB
	case begins(0, "<svg"), begins(0, "<?xml"):
		return cleanSVG
	}
	return nil
}

// orientationTag is the number of the tag in EXIF that tells how a picture is to be turned.
const orientationTag = 0x0112

// EXIFOrientation is Orientation of EXIF data, as any file carries it.
func EXIFOrientation(exif []byte) int {
	exif = bytes.TrimPrefix(exif, []byte("Exif\x00\x00"))
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if exif[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(exif[4:]))
	if at+2 > int64(len(exif)) {
		return 1
	}
	count := int(order.Uint16(exif[at:]))
	for entry := exif[at+2:]; count > 0 && len(entry) >= 12; count, entry = count-1, entry[12:] {
		if value := order.Uint16(entry[8:]); order.Uint16(entry) == orientationTag && value >= 1 && value <= 8 {
			return int(value)
		}
	}
	return 1
}

// exifWith is EXIF data with an orientation and nothing else.
func exifWith(orientation int) []byte {
	b := []byte{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, orientationTag & 0xff, orientationTag >> 8, 3, 0, 1, 0, 0, 0}
	b = binary.LittleEndian.AppendUint16(b, uint16(orientation))
	return append(b, 0, 0, 0, 0, 0, 0)
}
