package metadata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// ErrCut is what a reader of Whole gives in place of the end.
var ErrCut = fmt.Errorf("the file ends before its own end: %w", io.ErrUnexpectedEOF)

// Whole reads what r gives, with ErrCut in place of the end where a PNG, JPEG, WebP or MP4 ends too early by what its parts say, and where an MP4 or
// a WAV has no single frame or sample.
// What follows the end of a file does no harm, and other files pass.
func Whole(r io.Reader) io.Reader {
	w := &whole{Reader: r}
	w.then(12, w.kind)
	return w
}

// whole follows the parts of a file while it is read.
type whole struct {
	io.Reader
	head []byte       // of the next part, as far as it has been read
	size int          // of a whole head
	part func([]byte) // takes the head
	rest uint64       // bytes of the part that are to come
	open bool         // the end was not reached
	film []string     // the boxes that a film still lacks
}

// Read reads, and looks at what it has read.
func (w *whole) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.look(p[:n])
	if err == io.EOF && (w.rest > 0 || w.open) {
		err = ErrCut
	}
	return n, err
}

func (w *whole) look(p []byte) {
	for len(p) > 0 && (w.rest > 0 || w.part != nil) {
		if w.rest > 0 {
			n := min(w.rest, uint64(len(p)))
			w.rest, p = w.rest-n, p[n:]
			continue
		}
		n := len(p)
		if w.size > 0 {
			n = min(w.size-len(w.head), n)
		}
		w.head, p = append(w.head, p[:n]...), p[n:]
		if len(w.head) >= w.size {
			head := w.head
			w.head = nil
			w.part(head)
		}
	}
}

// then has the next part taken by a function, with a head of so many bytes; 0: all that is there.
func (w *whole) then(size int, part func([]byte)) { w.size, w.part = size, part }

// ends has nothing more looked at.
func (w *whole) ends() { w.part, w.open = nil, false }

// kind chooses by the first bytes, which are then looked at once more.
func (w *whole) kind(head []byte) {
	w.ends()
	switch {
	case bytes.HasPrefix(head, []byte(pngSignature)):
		w.open = true
		w.then(8, w.png)
		w.look(head[len(pngSignature):])
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		w.open = true
		w.then(4, w.jpeg)
		w.look(head[2:])
	case string(head[:4]) == "RIFF" && string(head[8:]) == "WEBP":
		w.rest = max(4, uint64(binary.LittleEndian.Uint32(head[4:]))) - 4
	case string(head[:4]) == "RIFF" && string(head[8:]) == "WAVE":
		w.open = true
		w.then(8, w.wav)
	case string(head[4:8]) == "ftyp":
		w.open, w.film = true, []string{"moov", "mdat"}
		w.then(8, w.mp4)
		w.look(head)
	}
}

func (w *whole) png(head []byte) {
	w.rest = uint64(binary.BigEndian.Uint32(head)) + 4
	if string(head[4:]) == "IEND" {
		w.ends()
	}
}

// jpeg passes the segments before the picture itself.
func (w *whole) jpeg(head []byte) {
	length := uint64(binary.BigEndian.Uint16(head[2:]))
	if kind := head[1]; head[0] == 0xff && kind >= 0xc0 && kind != 0xd9 && kind != 0xda && length >= 2 {
		w.rest = length - 2
		return
	}
	w.then(0, w.jpegEnd)
	w.look(head)
}

// jpegEnd looks for the marker of the end, which is nowhere in a picture itself.
func (w *whole) jpegEnd(part []byte) {
	w.then(0, w.jpegEnd)
	if bytes.Contains(part, []byte{0xff, 0xd9}) {
		w.ends()
	} else if last := len(part) - 1; part[last] == 0xff {
		w.size, w.head = 2, part[last:]
	}
}

// wav passes chunks, until there are samples. A stream does not know their length: whatever follows is some.
func (w *whole) wav(head []byte) {
	if string(head[:4]) == "data" {
		w.then(0, func([]byte) { w.ends() })
		return
	}
	size := uint64(binary.LittleEndian.Uint32(head[4:]))
	w.rest = size + size%2
}

// mp4 passes boxes, until there is a description of a film and what it describes; a still picture, as AVIF, has its own in place of both. A box
// without a size goes to the end, and what is no box is no part of a film.
func (w *whole) mp4(head []byte) {
	size := uint64(binary.BigEndian.Uint32(head))
	for _, b := range head[4:8] {
		if b < ' ' || b > '~' {
			w.ends()
			return
		}
	}
	switch name := string(head[4:8]); {
	case name == "meta":
		w.film = nil
	case name != "mdat" || size == 0 || size > 8 || size == 1 && len(head) == 16 && binary.BigEndian.Uint64(head[8:]) > 16: // an empty one holds no frame
		w.film = slices.DeleteFunc(w.film, func(lacked string) bool { return lacked == name })
	}
	w.open = len(w.film) > 0
	w.then(8, w.mp4)
	switch {
	case size == 1 && len(head) == 8:
		w.head = head
		w.then(16, w.mp4)
	case size == 1:
		w.rest = max(16, binary.BigEndian.Uint64(head[8:])) - 16
	case size < 8:
		w.part = nil
	default:
		w.rest = size - 8
	}
}
