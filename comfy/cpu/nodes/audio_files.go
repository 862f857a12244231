package nodes

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"

	"github.com/signalbox/signalbox/comfy/cpu/node"
)

// maxSoundFile bounds the bytes of a sound that is loaded.
const maxSoundFile = 512 << 20

// flacBlock is the number of samples in one FLAC frame.
const flacBlock = 4096

// audioFileNodes read and write sound files. MP3 and Opus are not among them: there is no encoder for them in Go.
func audioFileNodes() []node.Node {
	save := audioSpec("SaveAudio", "Save Audio (FLAC) (Deprecated)", "", []string{"export flac"}, nil,
		node.Socket("audio", "AUDIO"), node.String("filename_prefix").Default("audio/ComfyUI"))
	save.OutputNode, save.Deprecated, save.Essentials, save.Hidden = true, true, "Audio", node.SaveHidden()
	preview := audioSpec("PreviewAudio", "Preview Audio", "", []string{"play audio"}, nil, node.Socket("audio", "AUDIO"))
	preview.OutputNode, preview.Hidden = true, node.SaveHidden()
	load := audioSpec("LoadAudio", "Load Audio", "", []string{"import audio", "open audio", "audio file"}, audioOut,
		node.Combo("audio").From(func(f *node.Files) []string { return f.List(node.InFolder, audioName) }).With("audio_upload", true))
	load.Essentials = "Audio"
	return []node.Node{
		{Spec: save, Run: saveSound},
		{Spec: advancedSpec(), Run: func(ctx context.Context, c *node.Call) (*node.Result, error) {
			if format := c.Text("format"); format != "flac" {
				return nil, node.ValueError("this engine writes FLAC only: it has no encoder for %s", format)
			}
			return saveSound(ctx, c)
		}},
		{Spec: preview, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			saver, err := c.Files.TempSaver(0, 0)
			if err != nil {
				return nil, err
			}
			return saveAudio(c, saver)
		}},
		{Spec: load, Run: loadAudio, Checks: []string{"audio"}, Fingerprint: soundPrint,
			Validate: func(c *node.Call) error {
				if name := c.Text("audio"); !c.Files.Exists(name) {
					return node.ValueError("Invalid audio file: %s", name)
				}
				return nil
			}},
	}
}

// advancedSpec declares the saving node with a choice of formats, of which this engine can write the first.
func advancedSpec() node.Spec {
	mp3 := []node.Input{node.Combo("quality", "V0", "128k", "320k").Default("V0")}
	opus := []node.Input{node.Combo("quality", "64k", "96k", "128k", "192k", "320k").Default("128k")}
	spec := audioSpec("SaveAudioAdvanced", "Save Audio (Advanced)", "Saves a sound to the output folder.",
		[]string{"save audio", "export audio", "output audio", "write audio", "flac", "mp3", "opus"}, nil,
		node.Socket("audio", "AUDIO"), node.String("filename_prefix").Default("audio/ComfyUI"),
		node.DynamicCombo("format", node.Choice{Key: "flac"}, node.Choice{Key: "mp3", Required: mp3}, node.Choice{Key: "opus", Required: opus}))
	spec.OutputNode, spec.Hidden = true, node.SaveHidden()
	return spec
}

func saveSound(_ context.Context, c *node.Call) (*node.Result, error) {
	saver, err := c.Files.Saver(node.OutFolder, c.Text("filename_prefix"), 0, 0)
	if err != nil {
		return nil, err
	}
	return saveAudio(c, saver)
}

func saveAudio(c *node.Call, saver *node.Saver) (*node.Result, error) {
	a := c.Audio("audio")
	var saved []any
	for b, channels := range a.Wave {
		ref, err := saver.SavePlain(b, "flac", func(w io.Writer) error { return writeFLAC(w, channels, a.Rate, c.Meta) })
		if err != nil {
			return nil, err
		}
		saved = append(saved, ref)
	}
	return node.Show("audio", saved), nil
}

// writeFLAC writes one sound with 16 bits a sample and the texts as Vorbis comments.
func writeFLAC(w io.Writer, channels [][]float32, rate int, texts []node.MetaText) error {
	if len(channels) == 0 || len(channels) > 8 {
		return fmt.Errorf("a FLAC file holds 1 to 8 channels, not %d", len(channels))
	}
	rows := make([][]int32, len(channels))
	for i, row := range channels {
		rows[i] = pcm16(row)
	}
	info := &meta.StreamInfo{BlockSizeMin: flacBlock, BlockSizeMax: flacBlock, SampleRate: uint32(rate), NChannels: uint8(len(rows)),
		BitsPerSample: 16, NSamples: uint64(len(rows[0])), MD5sum: pcmSum(rows)}
	var b bytes.Buffer
	enc, err := flac.NewEncoder(&b, info, comments(texts))
	if err != nil {
		return err
	}
	for at := 0; at < len(rows[0]); at += flacBlock {
		if err := enc.WriteFrame(flacFrame(rows, at, rate)); err != nil {
			return err
		}
	}
	_, err = w.Write(b.Bytes())
	return err
}

// comments is the metadata block with the texts, without those that it has no room for. The encoder takes a block of length 0
// for an empty one and reckons the length itself otherwise.
func comments(texts []node.MetaText) *meta.Block {
	const most = 1<<24 - 1
	comment := &meta.VorbisComment{Vendor: "signalbox"}
	length := 8 + len(comment.Vendor)
	for _, t := range texts {
		if size := 5 + len(t.Key) + len(t.Text); size <= most-length {
			length += size
			comment.Tags = append(comment.Tags, [2]string{t.Key, t.Text})
		}
	}
	return &meta.Block{Header: meta.Header{Type: meta.TypeVorbisComment, Length: int64(length)}, Body: comment}
}

// flacFrame is the block of samples that begins at a place.
func flacFrame(rows [][]int32, at, rate int) *frame.Frame {
	end := min(at+flacBlock, len(rows[0]))
	f := &frame.Frame{Header: frame.Header{HasFixedBlockSize: true, BlockSize: uint16(end - at), SampleRate: uint32(rate),
		Channels: frame.Channels(len(rows) - 1), BitsPerSample: 16, Num: uint64(at / flacBlock)}}
	for _, row := range rows {
		f.Subframes = append(f.Subframes, &frame.Subframe{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, Samples: append([]int32(nil), row[at:end]...), NSamples: end - at})
	}
	return f
}

// pcm16 rounds samples to 16 bits.
func pcm16(row []float32) []int32 {
	out := make([]int32, len(row))
	for i, v := range row {
		if v == v { // silence for NaN
			out[i] = int32(min(max(math.RoundToEven(float64(v)*32768), -32768), 32767))
		}
	}
	return out
}

func pcmSum(rows [][]int32) [md5.Size]byte {
	data := make([]byte, 0, 2*len(rows)*len(rows[0]))
	for i := range rows[0] {
		for _, row := range rows {
			data = binary.LittleEndian.AppendUint16(data, uint16(row[i]))
		}
	}
	return md5.Sum(data)
}

func readSound(c *node.Call) ([]byte, error) {
	f, err := c.Files.Open(c.Text("audio"))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSoundFile+1))
	if err == nil && len(data) > maxSoundFile {
		err = fmt.Errorf("%q is larger than %d bytes", c.Text("audio"), maxSoundFile)
	}
	return data, errors.Join(err, f.Close())
}

func soundPrint(c *node.Call) (string, error) {
	data, err := readSound(c)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), nil
}

func loadAudio(_ context.Context, c *node.Call) (*node.Result, error) {
	data, err := readSound(c)
	if err != nil {
		return nil, err
	}
	var a *node.Audio
	switch {
	case bytes.HasPrefix(data, []byte("RIFF")):
		a, err = readWAV(data)
	case bytes.HasPrefix(data, []byte("fLaC")):
		a, err = readFLAC(data, c)
	default:
		err = errors.New("only WAV and FLAC can be read")
	}
	if err != nil {
		return nil, node.ValueError("%s: %s", c.Text("audio"), err)
	}
	if err := c.CheckSize(a.Channels(), 1, a.Samples()); err != nil {
		return nil, err
	}
	return node.Out(a), nil
}

func readFLAC(data []byte, c *node.Call) (*node.Audio, error) {
	stream, err := flac.New(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	channels := int(stream.Info.NChannels)
	wave := make([][]float32, channels)
	unit := float32(1) / float32(uint64(1)<<(stream.Info.BitsPerSample-1))
	for {
		f, err := stream.ParseNext()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(f.Subframes) != channels {
			return nil, errors.New("the number of channels changes")
		}
		for i, sub := range f.Subframes {
			for _, v := range sub.Samples {
				wave[i] = append(wave[i], float32(v)*unit)
			}
		}
		if err := c.CheckSize(channels, 1, len(wave[0])); err != nil {
			return nil, err
		}
	}
	return &node.Audio{Rate: int(stream.Info.SampleRate), Wave: [][][]float32{wave}}, nil
}

// wavFormat is the "fmt " chunk of a WAV file.
type wavFormat struct {
	tag      uint16 // 1: integers, 3: floats
	channels int
	rate     int
	bits     int
}

// readWAV reads PCM of 8 to 32 bits and floats.
func readWAV(data []byte) (*node.Audio, error) {
	if len(data) < 12 || string(data[8:12]) != "WAVE" {
		return nil, errors.New("not a WAV file")
	}
	var format wavFormat
	for rest := data[12:]; len(rest) >= 8; {
		kind, size := string(rest[:4]), int(binary.LittleEndian.Uint32(rest[4:8]))
		body := rest[8:]
		body = body[:min(max(size, 0), len(body))]
		switch kind {
		case "fmt ":
			if len(body) < 16 {
				return nil, errors.New("the format chunk is too short")
			}
			format = wavFormat{binary.LittleEndian.Uint16(body), int(binary.LittleEndian.Uint16(body[2:])), int(binary.LittleEndian.Uint32(body[4:])), int(binary.LittleEndian.Uint16(body[14:]))}
			if format.tag == 0xfffe && len(body) >= 26 {
				format.tag = binary.LittleEndian.Uint16(body[24:])
			}
		case "data":
			return format.decode(body)
		}
		rest = rest[min(8+len(body)+len(body)%2, len(rest)):]
	}
	return nil, errors.New("the file has no data chunk")
}

func (f wavFormat) decode(data []byte) (*node.Audio, error) {
	width := f.bits / 8
	known := (f.tag == 1 && width >= 1 && width <= 4) || (f.tag == 3 && (width == 4 || width == 8))
	if !known || f.bits%8 != 0 || f.channels < 1 || f.channels > 64 || f.rate < 1 {
		return nil, fmt.Errorf("the format %d with %d bits, %d channels, %d Hz cannot be read", f.tag, f.bits, f.channels, f.rate)
	}
	n := len(data) / width / f.channels
	wave := make([][]float32, f.channels)
	for i := range wave {
		wave[i] = make([]float32, n)
		for j := range wave[i] {
			at := (j*f.channels + i) * width
			wave[i][j] = f.sample(data[at : at+width])
		}
	}
	return &node.Audio{Rate: f.rate, Wave: [][][]float32{wave}}, nil
}

func (f wavFormat) sample(b []byte) float32 {
	switch {
	case f.tag == 3 && len(b) == 4:
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	case f.tag == 3:
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case len(b) == 1:
		return (float32(b[0]) - 128) / 128
	}
	var v uint32
	for i, c := range b {
		v |= uint32(c) << (8 * (4 - len(b) + i))
	}
	return float32(float64(int32(v)) / (1 << 31))
}
