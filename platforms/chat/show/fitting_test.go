package show

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

func english(t *testing.T) Voice {
	t.Helper()
	c, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Voice{c.Voice("en")}
}

func TestStageAndPrice(t *testing.T) {
	t.Parallel()
	v := english(t)
	fraction := func(f float64) *float64 { return &f }
	for want, run := range map[string]runs.Run{
		"In the queue":                {Status: runs.StatusQueued},
		"In the queue, place 4":       {Status: runs.StatusSubmitted, QueuePosition: 4},
		"Handed over":                 {Status: runs.StatusSubmitted},
		"At work":                     {Status: runs.StatusRunning},
		"Sampling · 42 %":             {Status: runs.StatusRunning, Stage: "Sampling", Fraction: fraction(0.429)},
		"At work · 99 %":              {Status: runs.StatusRunning, Fraction: fraction(0.9999)},
		"At work · 100 %":             {Status: runs.StatusRunning, Fraction: fraction(7)},
		"Waits for your confirmation": {Status: runs.StatusAwaitingConfirmation},
	} {
		if got := v.Stage(run).String(); got != want {
			t.Errorf("stage %q, want %q", got, want)
		}
	}
	c, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"KSampler": "Bild entsteht", "Soften": "Wird weichgezeichnet", "Aunt Mary's mixer": "Aunt Mary's mixer"} {
		if got := (Voice{c.Voice("de")}).Stage(runs.Run{Status: runs.StatusRunning, Stage: name}).String(); got != want {
			t.Errorf("bot-ux 31 the stage %q is told as %q, want %q", name, got, want)
		}
	}
	for want, q := range map[string]billing.Quote{
		"":     {},
		"Free": {Source: "none"},
		"Price: under $0.01 · about 230 pictures for $1": {Source: "static", Low: 4_200_000, High: 4_200_000},
		"Price: $0.02 to $0.05 (a guess)":                {Source: "historical", Low: 20_000_000, High: 50_000_000, Basis: "a guess"},
		"Price: up to $0.041 (a guess)":                  {Source: "historical", Low: 337_000, High: 40_440_000, Basis: "a guess"},
	} {
		if got := v.Price(registry.Tool{OutputSchema: registry.OutputSchema{{Type: "image"}}}, q).String(); got != want {
			t.Errorf("price %q, want %q", got, want)
		}
	}
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	v := english(t)
	for want, run := range map[string]runs.Run{
		"Free":                         {Receipt: &billing.Receipt{}},
		"$0.05":                        {Cost: 50_000_000},
		"$0.0042":                      {Cost: 4_200_000, Receipt: &billing.Receipt{Rate: "0.0042", Unit: "request", Units: "1"}},
		"$0.005055 · 15 s × $0.000337": {Cost: 5_055_000, Receipt: &billing.Receipt{Rate: "0.000337", Unit: "second", Units: "15.000"}},
		"$0.000070433 · 0.209 s × $0.000337": {
			Cost: 70_433, Receipt: &billing.Receipt{Rate: "0.000337", Unit: "second", Units: "0.209", Source: "static", Machine: "a box"},
		},
		"$0.002 · 2 s × $0.001 · NVIDIA A10G": {
			Cost: 2_000_000, Receipt: &billing.Receipt{Rate: "0.001", Unit: "second", Units: "2", Source: "machine", Machine: "NVIDIA A10G"},
		},
		"$0.01 · 40 s × $0.001 · $0.04 in full, you pay what was promised": {
			Cost: 10_000_000, Receipt: &billing.Receipt{Rate: "0.001", Unit: "second", Units: "40", Cost: 10_000_000, Full: 40_000_000},
		},
		"$0.05 · 2 s × $0.001 · the least a run costs": {
			Cost: 50_000_000, Receipt: &billing.Receipt{Rate: "0.001", Unit: "second", Units: "2", Cost: 50_000_000, Minimum: 50_000_000},
		},
		"$0.0015 · 1,000 tokens × $0.0000015": {Cost: 1_500_000, Receipt: &billing.Receipt{Rate: "0.0000015", Unit: "token", Units: "1000"}},
	} {
		if got := v.Receipt(run).String(); got != want {
			t.Errorf("receipt %q, want %q", got, want)
		}
	}
}

func TestPriceOfARepeat(t *testing.T) {
	t.Parallel()
	v := english(t)
	for want, run := range map[string]runs.Run{
		"":                            {},
		"Again, Vary: $0.05":          {Cost: 50_000_000, Quote: billing.Quote{Low: 50_000_000, High: 50_000_000}},
		"Again, Vary: under $0.01":    {Cost: 70_433, Quote: billing.Quote{Low: 50_000, High: 90_000}},
		"Again, Vary: about $0.071":   {Cost: 70_433_000, Quote: billing.Quote{Low: 50_000_000, High: 90_000_000}},
		"Again, Vary: $0.05 to $0.09": {Quote: billing.Quote{Low: 50_000_000, High: 90_000_000}},
	} {
		if got := v.repeatPrice(run, "Again", "Vary").String(); got != want {
			t.Errorf("price of a repeat %q, want %q", got, want)
		}
	}
}

func TestCaptionNamesWhatWasChosen(t *testing.T) {
	t.Parallel()
	field := func(name string) registry.InputField {
		return registry.InputField{Name: name, Type: registry.TypeString}
	}
	seed := registry.InputField{Name: "seed", Type: registry.TypeNumber, Seed: true}
	run := runs.Run{
		Tool: registry.Tool{DisplayName: "Painter", InputSchema: registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true}, field("style"), field("mood"), seed, {Name: "photo", Type: registry.TypeImage},
		}},
		Inputs: map[string]any{"prompt": "a  cat\nin rain", "style": "ink", "mood": "calm", "seed": "7", "photo": "asset:1"},
		Sources: map[string]runs.Source{
			"prompt": runs.FromArgument, "style": runs.FromPreference, "mood": runs.FromDefault, "seed": runs.FromRandom, "photo": runs.FromReply,
		},
	}
	want := "Painter\na cat in rain\nstyle ink · seed 7\nFree"
	if got := english(t).caption(run).String(); got != want {
		t.Errorf("caption %q, want %q", got, want)
	}
}

func TestAlbums(t *testing.T) {
	t.Parallel()
	var media []chat.Media
	for kind := range strings.FieldsSeq("photo document video audio animation photo document audio voice voice photo") {
		media = append(media, chat.Media{Kind: chat.MediaKind(kind)})
	}
	render := func(groups [][]chat.Media) string {
		var parts []string
		for _, g := range groups {
			var kinds []string
			for _, m := range g {
				kinds = append(kinds, string(m.Kind))
			}
			parts = append(parts, strings.Join(kinds, "+"))
		}
		return strings.Join(parts, " ")
	}
	want := "photo+video+photo document+document audio+audio animation voice voice photo"
	if got := render(albums(media, 3)); got != want {
		t.Errorf("albums %q, want %q", got, want)
	}
	if got := albums(media, 0); len(got) != len(media) {
		t.Errorf("a platform without albums gets %d messages, want %d", len(got), len(media))
	}
}

func TestHowPicturesAreShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outputType, mime, sendAs string
		want                     chat.MediaKind
	}{
		{"image", "image/png", "", chat.KindPhoto},
		{"image", "image/gif", "", chat.KindAnimation},
		{"image", "image/svg+xml", "", chat.KindDocument},
		{"image", "image/png", "document", chat.KindDocument},
		{"video", "video/mp4", "", chat.KindVideo},
		{"audio", "audio/mpeg", "voice", chat.KindVoice},
		{"file", "model/gltf-binary", "", chat.KindDocument},
	} {
		if got := kindOf(c.outputType, c.mime, registry.DeliveryHint{SendAs: c.sendAs}); got != c.want {
			t.Errorf("%s of %s, send as %q: %s, want %s", c.outputType, c.mime, c.sendAs, got, c.want)
		}
	}
	limits := chat.PhotoLimits{MaxSides: 10000, MaxRatio: 20}
	for size, want := range map[image.Point]bool{
		{X: 5000, Y: 5000}: true, {X: 5001, Y: 5000}: false, {X: 2000, Y: 100}: true, {X: 100, Y: 2001}: false, {}: true,
	} {
		if got := limits.Fits(size.X, size.Y); got != want {
			t.Errorf("%v as photo: %v, want %v", size, got, want)
		}
	}
}

func TestTransparent(t *testing.T) {
	t.Parallel()
	rect := image.Rect(0, 0, 3, 3)
	clear, opaque := image.NewPaletted(rect, color.Palette{color.Black, color.Transparent}), image.NewNRGBA(rect)
	for i := range opaque.Pix {
		opaque.Pix[i] = 255
	}
	if transparent(clear) {
		t.Error("a picture that uses no transparent colour is not transparent")
	}
	clear.SetColorIndex(2, 2, 1)
	if !transparent(clear) || transparent(opaque) || transparent(image.NewGray(rect)) || !transparent(image.NewRGBA(rect)) {
		t.Error("transparency was judged wrongly")
	}
}

func TestAPhotoMadeSmallerStandsUpright(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := jpeg.Encode(&file, image.NewRGBA(image.Rect(0, 0, 60, 30)), nil); err != nil {
		t.Fatal(err)
	}
	exif := "\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
	turned := slices.Concat(file.Bytes()[:2], []byte(exif), file.Bytes()[2:])
	made, err := smaller(t.Context(), func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(turned)), nil }, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if size, err := jpeg.DecodeConfig(bytes.NewReader(made)); err != nil || size.Width != 30 || size.Height != 60 {
		t.Errorf("%d x %d: %v", size.Width, size.Height, err)
	}
}
