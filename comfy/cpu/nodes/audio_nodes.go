package nodes

import (
	"context"
	"math"
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
)

// audioOut is the output of most audio nodes.
var audioOut = []node.Output{{Type: "AUDIO"}}

func audioSpec(class, title, about string, aliases []string, outputs []node.Output, inputs ...node.Input) node.Spec {
	return node.Spec{Class: class, DisplayName: title, Category: "audio", Description: about, Module: "comfy_extras.nodes_audio",
		Required: inputs, Outputs: outputs, SearchAliases: aliases}
}

// audioFunc makes a node of a function with one AUDIO result.
func audioFunc(spec node.Spec, fn func(c *node.Call) (*node.Audio, error)) node.Node {
	return textFunc(spec, func(c *node.Call) (any, error) { return fn(c) })
}

// audioNodes load, change and save sounds.
func audioNodes() []node.Node {
	lowest := new(big.Int).Neg(new(big.Int).SetUint64(math.MaxUint64))
	audio := node.Socket("audio", "AUDIO")
	pair := []node.Input{node.Socket("audio1", "AUDIO"), node.Socket("audio2", "AUDIO")}
	equalizer := audioSpec("AudioEqualizer3Band", "Audio Equalizer (3-Band)", "", []string{"eq", "bass boost", "treble boost", "equalizer"}, audioOut, audio,
		node.Float("low_gain_dB").Default(0.0).Range(-24.0, 24.0).Step(0.1),
		node.Int("low_freq").Default(100).Range(20, 500),
		node.Float("mid_gain_dB").Default(0.0).Range(-24.0, 24.0).Step(0.1),
		node.Int("mid_freq").Default(1000).Range(200, 4000),
		node.Float("mid_q").Default(0.707).Range(0.1, 10.0).Step(0.1),
		node.Float("high_gain_dB").Default(0.0).Range(-24.0, 24.0).Step(0.1),
		node.Int("high_freq").Default(5000).Range(1000, 15000))
	equalizer.Experimental = true
	return append([]node.Node{
		audioFunc(audioSpec("EmptyAudio", "Empty Audio", "", []string{"blank audio"}, audioOut,
			node.Float("duration").Default(60.0).Range(0.0, uint64(math.MaxUint64)).Step(0.01),
			node.Int("sample_rate").Default(44100).Range(1, 192000).Advanced(),
			node.Int("channels").Default(2).Range(1, 2).Advanced()), emptyAudio),
		audioFunc(audioSpec("TrimAudioDuration", "Trim Audio Duration", "Keeps the part of a sound between two points in time.",
			[]string{"cut audio", "audio clip", "shorten audio"}, audioOut, audio,
			node.Float("start_index").Default(0.0).Range(lowest, uint64(math.MaxUint64)).Step(0.01),
			node.Float("duration").Default(60.0).With("min", 0.0).Step(0.01)), trimAudio),
		{Spec: audioSpec("SplitAudioChannels", "Split Audio Channels", "Takes a stereo sound apart into its two sides.", []string{"stereo to mono"},
			[]node.Output{{Type: "AUDIO", Name: "left"}, {Type: "AUDIO", Name: "right"}}, audio), Run: splitChannels},
		audioFunc(audioSpec("JoinAudioChannels", "Join Audio Channels", "Makes one stereo sound of two mono ones.", nil,
			[]node.Output{{Type: "AUDIO", Name: "audio"}}, node.Socket("audio_left", "AUDIO"), node.Socket("audio_right", "AUDIO")), joinChannels),
		audioFunc(audioSpec("AudioConcat", "Concatenate Audio", "Puts one sound behind the other.",
			[]string{"join audio", "combine audio", "append audio"}, audioOut,
			append(slices.Clone(pair), node.Combo("direction", "after", "before").Default("after"))...), concatAudio),
		audioFunc(audioSpec("AudioMerge", "Merge Audio", "Lays two sounds over each other.",
			[]string{"mix audio", "overlay audio", "layer audio"}, audioOut,
			append(slices.Clone(pair), node.Combo("merge_method", "add", "mean", "subtract", "multiply"))...), mergeAudio),
		audioFunc(audioSpec("AudioAdjustVolume", "Adjust Audio Volume", "Makes a sound louder or softer by some decibels.",
			[]string{"audio gain", "loudness", "audio level"}, audioOut, audio,
			node.Int("volume").Default(1).Range(-100, 100)), adjustVolume),
		audioFunc(equalizer, equalize),
	}, audioFileNodes()...)
}

// mapSamples gives a sound of the same shape, each row made by fn.
func mapSamples(a *node.Audio, fn func(row []float32) []float32) *node.Audio {
	out := &node.Audio{Rate: a.Rate, Wave: make([][][]float32, len(a.Wave))}
	for b, channels := range a.Wave {
		out.Wave[b] = make([][]float32, len(channels))
		for c, row := range channels {
			out.Wave[b][c] = fn(row)
		}
	}
	return out
}

// frames is a time in samples, rounded as Python rounds.
func frames(seconds float64, rate int) int {
	n := math.RoundToEven(seconds * float64(rate))
	return int(min(max(n, -1<<52), 1<<52))
}

func emptyAudio(c *node.Call) (*node.Audio, error) {
	rate, channels := c.Int("sample_rate"), c.Int("channels")
	n := frames(c.Float("duration"), rate)
	if n < 0 {
		return nil, node.ValueError("a sound cannot last %s seconds", shownText(c.Float("duration")))
	}
	if err := c.CheckSize(channels, 1, n); err != nil {
		return nil, err
	}
	wave := make([][]float32, channels)
	for i := range wave {
		wave[i] = make([]float32, n)
	}
	return &node.Audio{Rate: rate, Wave: [][][]float32{wave}}, nil
}

func trimAudio(c *node.Call) (*node.Audio, error) {
	a := c.Audio("audio")
	length := a.Samples()
	if length == 0 {
		return a, nil
	}
	start := frames(c.Float("start_index"), a.Rate)
	if start < 0 {
		start += length
	}
	start = max(start, 0)
	end := min(start+frames(c.Float("duration"), a.Rate), length)
	if start >= end {
		return nil, node.ValueError("TrimAudioDuration: Start time must be less than end time and be within the audio length.")
	}
	return mapSamples(a, func(row []float32) []float32 { return row[start:end] }), nil
}

func splitChannels(_ context.Context, c *node.Call) (*node.Result, error) {
	a := c.Audio("audio")
	if n := a.Channels(); n != 2 {
		return nil, node.ValueError("AudioSplit: Input audio must be stereo (2 channels), got %d channel(s).", n)
	}
	side := func(i int) *node.Audio {
		out := &node.Audio{Rate: a.Rate}
		for _, channels := range a.Wave {
			out.Wave = append(out.Wave, [][]float32{channels[i]})
		}
		return out
	}
	return node.Out(side(0), side(1)), nil
}

// sameRate brings two sounds to the higher of their rates.
func sameRate(a, b *node.Audio) (*node.Audio, *node.Audio) {
	rate := max(a.Rate, b.Rate)
	return resample(a, rate), resample(b, rate)
}

func joinChannels(c *node.Call) (*node.Audio, error) {
	left, right := c.Audio("audio_left"), c.Audio("audio_right")
	if left.Channels() != 1 || right.Channels() != 1 {
		return nil, node.ValueError("AudioJoin: Both input audios must be mono.")
	}
	left, right = sameRate(left, right)
	n := min(left.Samples(), right.Samples())
	out := &node.Audio{Rate: left.Rate}
	for b := range min(len(left.Wave), len(right.Wave)) {
		out.Wave = append(out.Wave, [][]float32{left.Wave[b][0][:n], right.Wave[b][0][:n]})
	}
	return out, nil
}

// stereo doubles the channel of a mono sound.
func stereo(a *node.Audio) *node.Audio {
	if a.Channels() != 1 {
		return a
	}
	out := &node.Audio{Rate: a.Rate}
	for _, channels := range a.Wave {
		out.Wave = append(out.Wave, [][]float32{channels[0], channels[0]})
	}
	return out
}

func concatAudio(c *node.Call) (*node.Audio, error) {
	first, second := sameRate(stereo(c.Audio("audio1")), stereo(c.Audio("audio2")))
	if c.Text("direction") == "before" {
		first, second = second, first
	}
	if first.Channels() != second.Channels() || len(first.Wave) != len(second.Wave) {
		return nil, node.Raise("RuntimeError", "sounds of %d and %d channels cannot follow each other", first.Channels(), second.Channels())
	}
	out := &node.Audio{Rate: first.Rate, Wave: make([][][]float32, len(first.Wave))}
	for b := range first.Wave {
		for i := range first.Wave[b] {
			out.Wave[b] = append(out.Wave[b], slices.Concat(first.Wave[b][i], second.Wave[b][i]))
		}
	}
	return out, nil
}

// mergeAudio lays the second sound over the first, cut or filled with silence to its length, and scales the result down
// where it is too loud.
func mergeAudio(c *node.Call) (*node.Audio, error) {
	first, second := sameRate(c.Audio("audio1"), c.Audio("audio2"))
	method := c.Text("merge_method")
	channels := max(first.Channels(), second.Channels())
	if (first.Channels() != 1 && first.Channels() != channels) || (second.Channels() != 1 && second.Channels() != channels) || len(first.Wave) != len(second.Wave) {
		return nil, node.Raise("RuntimeError", "sounds of %d and %d channels cannot be merged", first.Channels(), second.Channels())
	}
	var loudest float32
	out := &node.Audio{Rate: first.Rate, Wave: make([][][]float32, len(first.Wave))}
	for b := range first.Wave {
		for i := range channels {
			x := first.Wave[b][min(i, first.Channels()-1)]
			y := second.Wave[b][min(i, second.Channels()-1)]
			row := make([]float32, len(x))
			for j := range x {
				var v float32
				if j < len(y) {
					v = y[j]
				}
				row[j] = mix(method, x[j], v)
				loudest = max(loudest, float32(math.Abs(float64(row[j]))))
			}
			out.Wave[b] = append(out.Wave[b], row)
		}
	}
	if loudest > 1 {
		for _, row := range slices.Concat(out.Wave...) {
			for i := range row {
				row[i] /= loudest
			}
		}
	}
	return out, nil
}

func mix(method string, a, b float32) float32 {
	switch method {
	case "subtract":
		return a - b
	case "multiply":
		return a * b
	case "mean":
		return (a + b) / 2
	default:
		return a + b
	}
}

func scaled(row []float32, factor float32) []float32 {
	out := make([]float32, len(row))
	for i, v := range row {
		out[i] = v * factor
	}
	return out
}

func adjustVolume(c *node.Call) (*node.Audio, error) {
	volume := c.Int("volume")
	if volume == 0 {
		return c.Audio("audio"), nil
	}
	gain := float32(math.Pow(10, float64(volume)/20))
	return mapSamples(c.Audio("audio"), func(row []float32) []float32 { return scaled(row, gain) }), nil
}

// audioName tells the names of sound files.
func audioName(name string) bool {
	return slices.Contains([]string{".wav", ".flac", ".mp3", ".ogg", ".m4a", ".aac", ".opus", ".mp4", ".webm", ".mov", ".mkv"}, strings.ToLower(path.Ext(name)))
}
