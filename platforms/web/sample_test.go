package web_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// studio is a tool with an input of every kind and a result of every kind.
func studio() registry.Tool {
	return registrytest.Tool("studio", func(t *registry.Tool) {
		t.DisplayName, t.CommandName, t.Category = "Studio", "/studio", "generate"
		t.Description = "Makes a scene from words and pictures: a picture, a clip, a voice, a model and the story.\nInputs: what is to be seen, and pictures to follow."
		t.InputSchema = registry.InputSchema{
			{Name: "prompt", DisplayName: "Scene", Type: registry.TypeString, Required: true, Multiline: true, Description: "Say in plain sentences what is to be seen."},
			{Name: "pictures", DisplayName: "Pictures to follow", Type: registry.TypeImage, Multiple: true},
			{Name: "style", DisplayName: "Style", Type: registry.TypeString, Default: "photo", Choices: []registry.Choice{{Value: "photo", Label: "Photo"}, {Value: "ink", Label: "Ink"}, {Value: "clay", Label: "Clay"}}},
			{Name: "mood", DisplayName: "Mood", Type: registry.TypeString, Default: "calm", Choices: []registry.Choice{{Value: "calm"}, {Value: "bright"}, {Value: "stormy"}, {Value: "dreamy"}, {Value: "grim"}, {Value: "festive"}}},
			{Name: "strength", DisplayName: "Strength", Type: registry.TypeNumber, Default: num("0.6"), Min: "0", Max: "1"},
			{Name: "transparent", DisplayName: "Transparent background", Type: registry.TypeBoolean, Default: false},
			{Name: "steps", DisplayName: "Steps", Type: registry.TypeNumber, Integer: true, Default: num("20"), Min: "1", Max: "50", Advanced: true},
			{Name: "seed", DisplayName: "Seed", Type: registry.TypeNumber, Integer: true, Seed: true, Min: "0", Max: "18446744073709551615", Advanced: true},
		}
		t.OutputSchema = registry.OutputSchema{{Name: "picture", Type: "image"}, {Name: "clip", Type: "video"}, {Name: "voice", Type: "audio"}, {Name: "model", Type: "file"}, {Name: "story", Type: "text"}}
		t.CostingModel = &registry.CostingModel{Rate: "0.02", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
		t.Localized = map[string]registry.Words{"de": {Inputs: map[string]registry.InputWords{"style": {Choices: map[string]string{"photo": "Fotografie"}}}, Outputs: map[string]string{"picture": "Das Bild zur Szene"}}}
	})
}

// sketch is a tool that works until the test ends it.
func sketch() registry.Tool {
	return registrytest.Tool("sketch", func(t *registry.Tool) {
		t.DisplayName, t.Description, t.Category = "Sketch", "Draws slowly, and shows how far it is.", "generate"
	})
}

func num(text string) any { return json.Number(text) }

// studioResult has one result of each kind.
func studioResult(t *testing.T) registry.Result {
	return registry.Result{Outputs: []registry.Output{
		registrytest.File("picture", "image", registry.MediaInfo{Name: "picture.png", MIMEType: "image/png"}, scene(t, 480, 320, 3)),
		registrytest.File("clip", "video", registry.MediaInfo{Name: "clip.mp4", MIMEType: "video/mp4"}, []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2mp41\x00\x00\x00\x08moov\x00\x00\x00\x0cmdatfilm")),
		registrytest.File("voice", "audio", registry.MediaInfo{Name: "voice.wav", MIMEType: "audio/wav"}, tone()),
		registrytest.File("model", "file", registry.MediaInfo{Name: "scene.glb", MIMEType: "model/gltf-binary"}, []byte("glTF\x02\x00\x00\x00\x0c\x00\x00\x00")),
		registrytest.Text("story", "A lamp at the end of the pier.\nSomebody left it on, and the sea came to look."),
	}, Usage: registry.Usage{}}
}

// scene is a picture worth looking at: hills under a sky, another one for each variant.
func scene(t *testing.T, width, height, variant int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	v := float64(variant)
	for y := range height {
		for x := range width {
			fx, fy := float64(x)/float64(width), float64(y)/float64(height)
			c := color.RGBA{uint8(250 - 60*fy), uint8(190 - 40*fy), uint8(120 + 90*fy), 255}
			if math.Hypot((fx-.68)*1.5, fy-.34) < .13 {
				c = color.RGBA{255, 236, 180, 255}
			}
			for i, base := range []float64{.55, .68, .82} {
				if fy > base+.07*math.Sin(fx*(5+float64(i)*2)+v+float64(i)) {
					c = color.RGBA{uint8(90 - 24*i), uint8(110 - 22*i), uint8(120 - 20*i), 255}
				}
			}
			img.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tone is a tenth of a second of sound.
func tone() []byte {
	const rate, samples = 8000, 800
	var b bytes.Buffer
	b.WriteString("RIFF")
	binary.Write(&b, binary.LittleEndian, uint32(36+samples))
	b.WriteString("WAVEfmt ")
	binary.Write(&b, binary.LittleEndian, uint32(16))
	for _, v := range []any{uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8)} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	b.WriteString("data")
	binary.Write(&b, binary.LittleEndian, uint32(samples))
	for i := range samples {
		b.WriteByte(byte(128 + 90*math.Sin(float64(i)/4)))
	}
	return b.Bytes()
}
