package metadata

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/bits"
)

// readUpTo gives the rest of a file, or writes it unchanged where it is longer.
func readUpTo(c *copier, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(c.r, most+1))
	if err == nil && int64(len(content)) > most {
		err = c.odd(content)
	}
	return content, err
}

// cleanMP4 overwrites the boxes for people's data, wherever in the description of a film they are. The boxes stay as long as
// they are, since others are found by their place in the file.
func cleanMP4(c *copier) error {
	for !c.atEnd() {
		head, err := c.read(8)
		if err != nil {
			return err
		}
		size, name := int64(binary.BigEndian.Uint32(head))-8, string(head[4:])
		switch size {
		case -8: // up to the end
			size = 1<<62 - 1
		case 1 - 8:
			long, err := c.read(8)
			if err != nil {
				return c.odd(head)
			}
			head, size = append(head, long...), int64(binary.BigEndian.Uint64(long))-16
		}
		if size < 0 {
			return c.odd(head)
		}
		switch name {
		case "moov", "trak":
			err = c.write(head) // and on with what is in it
		case "udta":
			copy(head[4:], "free")
			if err = c.write(head); err == nil {
				err = c.blank(size)
			}
		case "meta":
			// A still picture has its parts in a box of this name, at the top of the file and before any film.
			err = c.mp4Meta(head, size)
		default:
			if err = c.write(head); err == nil {
				err = c.pass(size)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mp4Meta overwrites a box with keys and values, which says that it is one: its handler is "mdta" or "mdir".
func (c *copier) mp4Meta(head []byte, size int64) error {
	begin, _ := c.r.Peek(int(min(size, 64)))
	if !bytes.Contains(begin, []byte("mdta")) && !bytes.Contains(begin, []byte("mdir")) {
		if err := c.write(head); err != nil {
			return err
		}
		return c.pass(size)
	}
	copy(head[4:], "free")
	if err := c.write(head); err != nil {
		return err
	}
	return c.blank(size)
}

// IDs of the elements of a Matroska file, which a WebM is.
const (
	mkvSegment = 0x18538067
	mkvCluster = 0x1f43b675
	mkvTags    = 0x1254c367
	mkvVoid    = 0xec
)

// cleanMatroska puts nothing in place of the tags.
func cleanMatroska(c *copier) error {
	for !c.atEnd() {
		id, idBytes, err := c.mkvNumber(false)
		if err != nil {
			return err
		}
		size, sizeBytes, err := c.mkvNumber(true)
		if err != nil {
			return c.odd(idBytes)
		}
		unknown := size == 1<<(7*len(sizeBytes))-1
		switch {
		case id == mkvSegment, id == mkvCluster && unknown:
			err = c.write(idBytes, sizeBytes) // and on with what is in it
		case unknown:
			return c.odd(idBytes, sizeBytes)
		case id == mkvTags:
			err = c.mkvVoid(len(idBytes), len(sizeBytes), size)
		default:
			if err = c.write(idBytes, sizeBytes); err == nil {
				err = c.pass(size)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mkvNumber reads a number of one to eight bytes, whose first tells how many they are. A size is told without that mark.
func (c *copier) mkvNumber(size bool) (n int64, raw []byte, err error) {
	first, err := c.r.Peek(1)
	if err != nil {
		return 0, nil, ended(err)
	}
	length := bits.LeadingZeros8(first[0]) + 1
	if length > 8 {
		return 0, nil, errOdd
	}
	if raw, err = c.read(int64(length)); err != nil {
		return 0, nil, err
	}
	for i, b := range raw {
		if size && i == 0 {
			b &^= 0x80 >> (length - 1)
		}
		n = n<<8 | int64(b)
	}
	return n, raw, nil
}

// mkvVoid writes an element that means nothing, as long as the one it replaces.
func (c *copier) mkvVoid(idLength, sizeLength int, size int64) error {
	head := int64(idLength + sizeLength)
	length := min(sizeLength+1, 8)
	left := head + size - 1 - int64(length)
	number := make([]byte, 8)
	binary.BigEndian.PutUint64(number, uint64(left)|1<<(7*length))
	if err := c.write([]byte{mkvVoid}, number[8-length:], make([]byte, left-size)); err != nil {
		return err
	}
	return c.blank(size)
}

// cleanFLAC makes padding of comments.
func cleanFLAC(c *copier) error {
	if err := c.pass(4); err != nil {
		return err
	}
	const last, comments, padding = 0x80, 4, 1
	for {
		head, err := c.read(4)
		if err != nil {
			return err
		}
		size := int64(binary.BigEndian.Uint32(head) & 0xffffff)
		if head[0]&^last == comments {
			head[0] = head[0]&last | padding
			if err = c.write(head); err == nil {
				err = c.blank(size)
			}
		} else if err = c.write(head); err == nil {
			err = c.pass(size)
		}
		if err != nil || head[0]&last != 0 {
			return err
		}
	}
}

// oggPage is a page of an Ogg file: a header, the lengths of the segments, and these.
type oggPage struct {
	raw  []byte
	body []byte // a part of raw
	ends bool   // a packet ends in it
}

// cleanOgg blanks the values of the comments of Opus and Vorbis sounds. They are the second packet.
func cleanOgg(c *copier) error {
	first, err := c.oggPage()
	if err != nil {
		return err
	}
	if err := c.write(first.raw); err != nil {
		return err
	}
	var pages []oggPage
	var packet []byte
	for {
		page, err := c.oggPage()
		if err != nil || len(packet) > maxHeld {
			for _, p := range pages {
				if err := c.write(p.raw); err != nil {
					return err
				}
			}
			if err == nil {
				err = c.odd(page.raw)
			}
			return err
		}
		pages, packet = append(pages, page), append(packet, page.body...)
		if page.ends {
			break
		}
	}
	blankComments(packet)
	for _, p := range pages {
		packet = packet[copy(p.body, packet):]
		copy(p.raw[22:], []byte{0, 0, 0, 0})
		binary.LittleEndian.PutUint32(p.raw[22:], oggSum(p.raw))
		if err := c.write(p.raw); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) oggPage() (p oggPage, err error) {
	head, err := c.read(27)
	if err != nil {
		return p, err
	}
	if string(head[:4]) != "OggS" {
		return p, c.odd(head)
	}
	lengths, err := c.read(int64(head[26]))
	if err != nil {
		return p, c.odd(head)
	}
	size := 0
	for _, n := range lengths {
		size += int(n)
		p.ends = p.ends || n < 255
	}
	body, err := c.read(int64(size))
	if err != nil {
		return p, err
	}
	p.raw = append(append(head, lengths...), body...)
	p.body = p.raw[27+len(lengths):]
	return p, nil
}

// blankComments overwrites the values of comments with spaces, but for a cover.
func blankComments(packet []byte) {
	var rest []byte
	switch {
	case bytes.HasPrefix(packet, []byte("OpusTags")):
		rest = packet[8:]
	case bytes.HasPrefix(packet, []byte("\x03vorbis")):
		rest = packet[7:]
	}
	next := func() []byte {
		if len(rest) < 4 {
			rest = nil
			return nil
		}
		size := int64(binary.LittleEndian.Uint32(rest))
		if size > int64(len(rest)-4) {
			rest = nil
			return nil
		}
		text := rest[4 : 4+size]
		rest = rest[4+size:]
		return text
	}
	next() // the name of the program
	if len(rest) < 4 {
		return
	}
	rest = rest[4:]
	for len(rest) > 0 {
		text := next()
		key, value, found := bytes.Cut(text, []byte("="))
		if !found || bytes.EqualFold(key, []byte("METADATA_BLOCK_PICTURE")) {
			continue
		}
		for i := range value {
			value[i] = ' '
		}
	}
}

// oggSum is the check sum of a page.
func oggSum(page []byte) (sum uint32) {
	for _, b := range page {
		sum ^= uint32(b) << 24
		for range 8 {
			if carry := sum & 0x80000000; carry != 0 {
				sum = sum<<1 ^ 0x04c11db7
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}

// cleanID3 makes padding of the tag before an MP3.
func cleanID3(c *copier) error {
	head, err := c.read(10)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, b := range head[6:] {
		size = size<<7 | int64(b&0x7f)
	}
	head[5] &^= 0x40 // no extended header either
	if err := c.write(head); err != nil {
		return err
	}
	return c.blank(size)
}

// cleanGLB takes the extras out of the description of a 3D model's file.
func cleanGLB(c *copier) error {
	head, err := c.read(20)
	if err != nil {
		return err
	}
	size := int64(binary.LittleEndian.Uint32(head[12:]))
	if string(head[16:]) != "JSON" || size > maxHeld {
		return c.odd(head)
	}
	text, err := c.read(size)
	if err != nil {
		return err
	}
	if clean := withoutExtras(text); clean != nil {
		text = append(clean, bytes.Repeat([]byte(" "), len(text)-len(clean))...)
	}
	return c.write(head, text)
}

// withoutExtras is the JSON of a model without its asset's extras, nil where there are none or it would be longer.
func withoutExtras(text []byte) []byte {
	var model, about map[string]json.RawMessage
	if json.Unmarshal(text, &model) != nil || json.Unmarshal(model["asset"], &about) != nil || about["extras"] == nil {
		return nil
	}
	delete(about, "extras")
	asset, err := json.Marshal(about)
	if err != nil {
		return nil
	}
	model["asset"] = asset
	clean, err := json.Marshal(model)
	if err != nil || len(clean) > len(text) {
		return nil
	}
	return clean
}
