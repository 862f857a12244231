package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

func studio() *catalog.Snapshot {
	make := func(id, name, category, description string, tags ...string) registry.Tool {
		return registry.Tool{
			ToolID: id, Service: "test", DisplayName: name, Listing: registry.Listing{Category: category}, Description: description,
			CommandName: "/" + id, Advice: registry.Advice{IntentTags: tags}, InputSchema: registry.InputSchema{},
		}
	}
	return catalog.NewSnapshot([]registry.Tool{
		make("fluxgeneral", "Flux General", "images", "Draws a picture from a description. Give it a prompt and a size.", "text to image"),
		make("inpaint", "Inpaint", "images", "Replaces the masked part of a photo with something new.", "retouch"),
		make("bgremove", "Background Remover", "images", "Cuts the subject out and leaves everything else transparent.", "cutout"),
		make("upscale4x", "Upscale 4x", "images", "Makes a small picture four times as large with sharp detail."),
		make("vidgen", "Text to Video", "video", "Makes a short film clip of a described scene."),
		make("animate", "Animate Photo", "video", "Brings a still photo to life as a moving clip."),
		make("mesh", "Image to 3D", "3d", "Builds a textured 3D model from one photo, as GLB file."),
		make("speak", "Text to Speech", "audio", "Reads a text aloud in a natural voice."),
		make("song", "Song Maker", "audio", "Composes music with vocals from lyrics and a genre."),
		make("wallpaper", "Wallpaper", "images", "Paints an abstract pattern of flat shapes."),
		make("sticker", "Sticker", "fun", "Turns a picture into a die-cut sticker with a white border."),
	}, noon)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := studio()
	for query, want := range map[string]string{
		"draw me a picture of a red bicycle":       "fluxgeneral",
		"please remove the background of my photo": "bgremove",
		"make this image bigger":                   "upscale4x",
		"turn my photo into a moving video":        "animate",
		"create a movie clip from a description":   "vidgen",
		"I want a 3d model of this object":         "mesh",
		"read this aloud with a voice":             "speak",
		"compose a song with lyrics":               "song",
		"make a sticker from this":                 "sticker",
		"replace the masked area":                  "inpaint",
	} {
		t.Run("A55 "+query, func(t *testing.T) {
			t.Parallel()
			got := s.Search(query, catalog.SearchOptions{})
			if len(got) == 0 || got[0].Tool.ToolID != want {
				for _, m := range got {
					t.Logf("%s %.2f", m.Tool.ToolID, m.Score)
				}
				t.Errorf("want %s first", want)
			}
		})
	}
	for typed, want := range map[string]string{
		"stikcer": "sticker", "upscael": "upscale4x", "bakground remvoer": "bgremove", "speach": "speak", "inpianting": "inpaint", "fluxgen": "fluxgeneral", "walpaper": "wallpaper", "walpapper": "wallpaper",
	} {
		t.Run("slips of the finger are forgiven: "+typed, func(t *testing.T) {
			t.Parallel()
			if got := s.Search(typed, catalog.SearchOptions{}); len(got) == 0 || got[0].Tool.ToolID != want {
				t.Errorf("got %v, want %s first", got, want)
			}
		})
	}
	t.Run("narrowed and limited", func(t *testing.T) {
		t.Parallel()
		if got := s.Search("photo", catalog.SearchOptions{Category: "Video"}); len(got) != 1 || got[0].Tool.ToolID != "animate" {
			t.Errorf("got %v", got)
		}
		if got := s.Search("picture", catalog.SearchOptions{Limit: 2}); len(got) != 2 {
			t.Errorf("got %v", got)
		}
		if got := s.Search("picture", catalog.SearchOptions{Service: "other"}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		if got := s.Search(" the of ", catalog.SearchOptions{}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
	for query, want := range map[string]string{
		"Mach bitte den Hintergrund weg": "bgremove", "quita el fondo de la foto": "bgremove", "убери фон с картинки": "bgremove", "把背景去掉": "bgremove",
		"das Bild vergrößern": "upscale4x", "hazla más grande": "upscale4x", "увеличь фото": "upscale4x", "把图片放大": "upscale4x",
		"сделай наклейку": "sticker", "lies mir das vor": "speak", "оживи фото": "animate", "写一首歌": "song", "Hintergrundentfernung": "bgremove",
	} {
		t.Run("D8 five languages find one tool: "+query, func(t *testing.T) {
			t.Parallel()
			if got := s.Search(query, catalog.SearchOptions{}); len(got) == 0 || got[0].Tool.ToolID != want {
				t.Errorf("got %v, want %s first", ids(got), want)
			}
		})
	}
	for _, chat := range []string{"good morning", "danke dir!", "hmm never mind", "muchas gracias", "спасибо", "你好"} {
		t.Run("D8 nobody who greets or thanks is offered a tool: "+chat, func(t *testing.T) {
			t.Parallel()
			if got := s.Search(chat, catalog.SearchOptions{Has: []registry.InputType{}}); len(got) > 0 {
				t.Errorf("got %v", ids(got))
			}
		})
	}
	t.Run("D8 each match says what speaks for it", func(t *testing.T) {
		t.Parallel()
		got := s.Search("please enlarge this", catalog.SearchOptions{})
		if len(got) == 0 || !slices.Contains(got[0].Why, "upscale") {
			t.Errorf("got %v", got)
		}
	})
}

func ids(matches []catalog.Match) []string {
	var ids []string
	for _, m := range matches {
		ids = append(ids, m.Tool.ToolID)
	}
	return ids
}

// What comes with a request tells which of two tools of one task is meant.
func TestSearchByKinds(t *testing.T) {
	t.Parallel()
	make := func(id, description string, main registry.InputType) registry.Tool {
		return registry.Tool{
			ToolID: id, Service: "test", DisplayName: id, Description: description, PlatformHints: &registry.PlatformHints{PrimaryInput: string(main)},
			InputSchema: registry.InputSchema{{Name: "in", Type: main, Required: true}},
		}
	}
	s := catalog.NewSnapshot([]registry.Tool{
		make("larger-picture", "Upscales.", registry.TypeImage), make("larger-video", "Upscales.", registry.TypeVideo),
	}, noon)
	for name, c := range map[string]struct {
		has  []registry.InputType
		want string
	}{
		"D8 who sends a video gets the tool for videos":        {[]registry.InputType{registry.TypeVideo}, "larger-video larger-picture"},
		"D8 who sends a picture gets the tool for pictures":    {[]registry.InputType{registry.TypeImage}, "larger-picture larger-video"},
		"D8 where it is not known what comes, nothing changes": {nil, "larger-picture larger-video"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(ids(s.Search("upscale", catalog.SearchOptions{Has: c.has})), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("a kind that there is not is refused by name", func(t *testing.T) {
		t.Parallel()
		if _, err := catalog.ParseKinds("image,smell"); err == nil || !strings.Contains(err.Error(), "smell") {
			t.Errorf("got %v", err)
		}
		if kinds, err := catalog.ParseKinds("text"); err != nil || kinds == nil || len(kinds) != 0 {
			t.Errorf("text alone: got %v, %v", kinds, err)
		}
	})
}
