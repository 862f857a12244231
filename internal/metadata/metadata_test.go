package metadata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/signalbox/signalbox/internal/metadata"
)

const secret = `{"6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a secret harbour"}}}`

func clean(t *testing.T, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	n, err := metadata.Copy(&out, iotest.HalfReader(bytes.NewReader(file)))
	if err != nil || n != int64(out.Len()) {
		t.Fatalf("copied %d of %d bytes: %v", n, out.Len(), err)
	}
	for _, text := range []string{"secret harbour", "class_type", "CLIPTextEncode"} {
		if bytes.Contains(out.Bytes(), []byte(text)) {
			t.Errorf("%q is still in the file", text)
		}
	}
	return out.Bytes()
}

func picture() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 9, 7))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 37)
	}
	return img
}

func chunk(name, content string) []byte {
	body := append([]byte(name), content...)
	out := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	return binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
}

// tiff is EXIF data with an orientation and a text.
func tiff(orientation uint16, text string) string {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x02")
	b = append(b, 1, 0x0f, 0, 2, 0, 0, 0, byte(len(text)), 0, 0, 0, 38) // make
	b = append(b, 1, 0x12, 0, 3, 0, 0, 0, 1, byte(orientation>>8), byte(orientation), 0, 0)
	return string(append(append(b, 0, 0, 0, 0), text...))
}

func TestPNG(t *testing.T) {
	t.Parallel()
	var plain bytes.Buffer
	if err := png.Encode(&plain, picture()); err != nil {
		t.Fatal(err)
	}
	whole := plain.Bytes()
	const afterIHDR, iend = 33, 12
	with := func(before, after []byte) []byte {
		return slices.Concat(whole[:afterIHDR], before, whole[afterIHDR:len(whole)-iend], after, whole[len(whole)-iend:])
	}
	t.Run("a picture without metadata is the same to the byte", func(t *testing.T) {
		if got := clean(t, whole); !bytes.Equal(got, whole) {
			t.Errorf("%d bytes became %d", len(whole), len(got))
		}
	})
	t.Run("texts go, before and behind the pixels, also those of animations", func(t *testing.T) {
		file := with(slices.Concat(chunk("tEXt", "prompt\x00"+secret), chunk("iTXt", "workflow\x00\x00\x00\x00\x00"+secret)),
			slices.Concat(chunk("comf", "prompt\x00"+secret), chunk("tEXt", "parameters\x00"+secret)))
		if got := clean(t, file); !bytes.Equal(got, whole) {
			t.Errorf("%d bytes are left of %d, want %d", len(got), len(file), len(whole))
		}
	})
	t.Run("the colour profile and the orientation stay", func(t *testing.T) {
		profile := chunk("iCCP", "Display P3\x00\x00not really")
		got := clean(t, with(slices.Concat(profile, chunk("eXIf", tiff(6, secret))), nil))
		if !bytes.Contains(got, profile) || !bytes.Contains(got, []byte("eXIf")) {
			t.Errorf("%q", got)
		}
		at := bytes.Index(got, []byte("eXIf"))
		size := binary.BigEndian.Uint32(got[at-4:])
		if sum := crc32.ChecksumIEEE(got[at : at+4+int(size)]); binary.BigEndian.Uint32(got[at+4+int(size):]) != sum || got[at+4+18] != 6 {
			t.Errorf("the chunk is %x", got[at:at+4+int(size)+4])
		}
	})
	t.Run("a broken file passes", func(t *testing.T) {
		for n := range whole {
			if got := clean(t, whole[:n]); !bytes.Equal(got, whole[:n]) {
				t.Fatalf("%d bytes became %d", n, len(got))
			}
		}
	})
}

func TestJPEG(t *testing.T) {
	t.Parallel()
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, picture(), nil); err != nil {
		t.Fatal(err)
	}
	whole := plain.Bytes()
	segment := func(kind byte, content string) []byte {
		return append([]byte{0xff, kind, byte((len(content) + 2) >> 8), byte(len(content) + 2)}, content...)
	}
	profile := segment(0xe2, "ICC_PROFILE\x00\x01\x01not really")
	file := slices.Concat(whole[:2], segment(0xe0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00"), segment(0xe1, "Exif\x00\x00"+tiff(8, secret)),
		segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+secret), profile, segment(0xed, secret), segment(0xfe, secret), whole[2:])
	got := clean(t, file)
	if !bytes.Contains(got, profile) || !bytes.Contains(got, []byte("JFIF")) || !bytes.HasSuffix(got, whole[2:]) {
		t.Errorf("%q", got)
	}
	if at := bytes.Index(got, []byte("Exif\x00\x00II")); at < 0 || got[at+6+18] != 8 {
		t.Errorf("the orientation is gone: %q", got[:60])
	}
	if _, err := jpeg.Decode(bytes.NewReader(got)); err != nil {
		t.Error(err)
	}
	if got := clean(t, whole); !bytes.Equal(got, whole) {
		t.Error("a picture without metadata has changed")
	}
}

func TestGIF(t *testing.T) {
	t.Parallel()
	img := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Black, color.White})
	var plain bytes.Buffer
	if err := gif.EncodeAll(&plain, &gif.GIF{Image: []*image.Paletted{img, img}, Delay: []int{3, 4}, LoopCount: 2}); err != nil {
		t.Fatal(err)
	}
	whole := plain.Bytes()
	comment := slices.Concat([]byte("!\xfe"), []byte{byte(len(secret))}, []byte(secret), []byte{0})
	if got := clean(t, slices.Concat(whole[:len(whole)-1], comment, whole[len(whole)-1:])); !bytes.Equal(got, whole) {
		t.Errorf("%d bytes, want %d", len(got), len(whole))
	}
}

func riff(kind string, chunks ...string) []byte {
	body := kind + strings.Join(chunks, "")
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func riffChunk(name, content string) string {
	out := string(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(content)))) + content
	if len(content)%2 == 1 {
		out += "\x00"
	}
	return out
}

func TestRIFF(t *testing.T) {
	t.Parallel()
	pixels := riffChunk("VP8L", "\x2fpixels")
	file := riff("WEBP", riffChunk("VP8X", "\x2c\x00\x00\x00\x08\x00\x00\x06\x00\x00"), riffChunk("ICCP", "a profile"), pixels,
		riffChunk("EXIF", tiff(3, secret)), riffChunk("XMP ", secret))
	got := clean(t, file)
	if len(got) != len(file) || !bytes.Contains(got, []byte(pixels)) || !bytes.Contains(got, []byte("a profile")) {
		t.Errorf("%q", got)
	}
	if got[20] != 0x28 {
		t.Errorf("flags %x, want those of a profile and of EXIF", got[20])
	}
	if at := bytes.Index(got, []byte("II*")); at < 0 || got[at+18] != 3 {
		t.Error("the orientation is gone")
	}
	samples := riffChunk("data", "samples!")
	sound := clean(t, riff("WAVE", riffChunk("fmt ", "0123456789abcdef"), riffChunk("LIST", "INFOICMT"+secret), samples))
	if !bytes.HasSuffix(sound, []byte(samples)) {
		t.Errorf("%q", sound)
	}
}

func box(name string, content ...string) string {
	body := strings.Join(content, "")
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))) + name + body
}

func TestMP4(t *testing.T) {
	t.Parallel()
	handler := "\x00\x00\x00\x00" + box("hdlr", "\x00\x00\x00\x00\x00\x00\x00\x00mdta", strings.Repeat("\x00", 13))
	picture := box("meta", "\x00\x00\x00\x00"+box("hdlr", "\x00\x00\x00\x00\x00\x00\x00\x00pict"), "items")
	tables := box("mdia", box("minf", box("stbl", box("stco", "places"))))
	file := []byte(box("ftyp", "isom") + picture + box("mdat", "frames") + box("moov", box("mvhd", "times"), box("trak", tables, box("udta", secret)),
		box("udta", box("meta", secret)), box("meta", handler, box("ilst", secret))))
	got := clean(t, file)
	if len(got) != len(file) {
		t.Fatalf("%d bytes became %d: the tables no longer fit", len(file), len(got))
	}
	for _, part := range []string{picture, box("mdat", "frames"), tables, box("mvhd", "times")} {
		if !bytes.Contains(got, []byte(part)) {
			t.Errorf("%q is gone", part)
		}
	}
}

func element(id string, content ...string) string {
	body := strings.Join(content, "")
	size := make([]byte, 8)
	binary.BigEndian.PutUint64(size, uint64(len(body))|1<<28)
	return id + string(size[4:]) + body
}

func TestMatroska(t *testing.T) {
	t.Parallel()
	const ebml, segment, cluster, tags, info = "\x1a\x45\xdf\xa3", "\x18\x53\x80\x67", "\x1f\x43\xb6\x75", "\x12\x54\xc3\x67", "\x15\x49\xa9\x66"
	frames := element(cluster, "frames "+tags)
	for name, size := range map[string]string{"of known size": "", "of a live film": "\x01\xff\xff\xff\xff\xff\xff\xff"} {
		t.Run(name, func(t *testing.T) {
			inner := element(info, "times") + element(tags, secret) + frames
			body := element(segment, inner)
			if size != "" {
				body = segment + size + inner
			}
			file := []byte(element(ebml, "webm") + body)
			got := clean(t, file)
			if len(got) != len(file) || !bytes.HasSuffix(got, []byte(frames)) {
				t.Fatalf("%q", got)
			}
			// What is there in place of the tags is one element up to the frames.
			at := bytes.Index(got, []byte(element(info, "times"))) + len(element(info, "times"))
			if got[at] != 0xec || got[at+1] != 0x08 {
				t.Fatalf("found %x", got[at:at+8])
			}
			n := int(binary.BigEndian.Uint32(got[at+2:]))
			if next := at + 1 + 5 + n; !bytes.HasPrefix(got[next:], []byte(frames)) {
				t.Errorf("the element ends at %d, want %d", next, bytes.Index(got, []byte(frames)))
			}
		})
	}
}

func TestSounds(t *testing.T) {
	t.Parallel()
	block := func(kind byte, content string) string {
		return string([]byte{kind, 0, byte(len(content) >> 8), byte(len(content))}) + content
	}
	flac := clean(t, []byte("fLaC"+block(0, "stream info")+block(4, secret)+block(0x86, "cover")+"frames"))
	if want := "fLaC" + block(0, "stream info") + block(1, strings.Repeat("\x00", len(secret))) + block(0x86, "cover") + "frames"; string(flac) != want {
		t.Errorf("%q", flac)
	}
	mp3 := clean(t, []byte("ID3\x04\x00\x00\x00\x00\x01\x00TXXX"+secret+strings.Repeat("\x00", 124-len(secret))+"\xff\xfbframes"))
	if !bytes.HasPrefix(mp3, []byte("ID3")) || !bytes.HasSuffix(mp3, []byte("\xff\xfbframes")) {
		t.Errorf("%q", mp3)
	}
}

// page is a page of an Ogg file with one packet, or a part of one.
func page(number uint32, content string, ends bool) string {
	var lengths []byte
	for left := len(content); ; left -= 255 {
		if left < 255 {
			if ends {
				lengths = append(lengths, byte(left))
			}
			break
		}
		lengths = append(lengths, 255)
	}
	head := append([]byte("OggS\x00\x00"), make([]byte, 12)...)
	head = binary.LittleEndian.AppendUint32(head, number)
	head = append(head, 0, 0, 0, 0, byte(len(lengths)))
	return string(head) + string(lengths) + content
}

func TestOgg(t *testing.T) {
	t.Parallel()
	count := func(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	long := "prompt=" + strings.Repeat(secret, 20)
	cover := "METADATA_BLOCK_PICTURE=cover"
	packet := "OpusTags" + count(4) + "Lavf" + count(2) + count(len(long)) + long + count(len(cover)) + cover
	audio := page(3, "sound", true)
	file := page(0, "OpusHead", true) + page(1, packet[:765], false) + page(2, packet[765:], true) + audio
	got := string(clean(t, []byte(file)))
	if len(got) != len(file) || !strings.HasSuffix(got, audio) || !strings.Contains(got, cover) || !strings.Contains(got, "prompt=   ") {
		t.Errorf("%q", got)
	}
	// The check sum of a page whose own is zero, taken bit by bit as the format has it.
	first := []byte(got)[len(page(0, "OpusHead", true)):][:27+3+765]
	told := binary.LittleEndian.Uint32(first[22:])
	copy(first[22:], "\x00\x00\x00\x00")
	var sum uint32
	for _, b := range first {
		for bit := 7; bit >= 0; bit-- {
			top := sum>>31 ^ uint32(b>>bit&1)
			if sum <<= 1; top == 1 {
				sum ^= 0x04c11db7
			}
		}
	}
	if told != sum {
		t.Errorf("the check sum is %x, want %x", told, sum)
	}
}

func TestModelsAndDrawings(t *testing.T) {
	t.Parallel()
	text := `{"asset":{"version":"2.0","extras":{"prompt":` + secret + `}},"scenes":[{"nodes":[0]}],"big":12345678901234567890}`
	text += strings.Repeat(" ", (4-len(text)%4)%4)
	le := func(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	body := le(len(text)) + "JSON" + text + le(4) + "BIN\x00data"
	file := "glTF" + le(2) + le(12+len(body)) + body
	got := string(clean(t, []byte(file)))
	if len(got) != len(file) || !strings.HasSuffix(got, "BIN\x00data") || !strings.Contains(got, "12345678901234567890") || !strings.Contains(got, `"version":"2.0"`) {
		t.Errorf("%q", got)
	}
	svg := `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><metadata><![CDATA[` + secret + `]]></metadata><path d="M0 0"/></svg>`
	if got := string(clean(t, []byte(svg))); !strings.Contains(got, `<path d="M0 0"/>`) || strings.Contains(got, "CDATA") {
		t.Errorf("%q", got)
	}
}

func TestOthersPass(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "hello", "RIFF", strings.Repeat("text ", 30000)} {
		if got := clean(t, []byte(text)); string(got) != text {
			t.Errorf("%d bytes became %d", len(text), len(got))
		}
	}
	broken := errors.New("the line is dead")
	if _, err := metadata.Copy(io.Discard, io.MultiReader(strings.NewReader("\x89PNG\r\n\x1a\n\x00\x00"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a failed reading gives %v", err)
	}
}

func FuzzCopy(f *testing.F) {
	for _, head := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe1\x00", "GIF89a", "RIFFxxxxWEBPVP8X", "RIFFxxxxWAVELIST", "\x00\x00\x00\x08ftyp", "\x1a\x45\xdf\xa3", "fLaC", "OggS", "ID3", "glTF", "<svg"} {
		f.Add([]byte(head + strings.Repeat("\x00\x00\x00\x10", 12)))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var out bytes.Buffer
		if n, err := metadata.Copy(&out, bytes.NewReader(file)); err != nil || n > int64(len(file))+64 {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
	})
}
