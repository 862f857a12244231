package chattest

import (
	"encoding/json"

	"github.com/signalbox/signalbox/registry"
)

// sayings are how people say what they want.
func sayings() map[string]func(*scene) {
	return map[string]func(*scene){
		"words for a size become width and height, and the status says so": sizeInWords,
		"options are read as in other bots":                                optionsOfOthers,
		"settings are kept by a command":                                   settingsByCommand,
		"cancel cancels the only run":                                      cancelOnly,
	}
}

// banner paints a text in a size of one's own.
func banner() registry.Tool {
	side := func(name string) registry.InputField {
		return registry.InputField{Name: name, Type: registry.TypeNumber, Integer: true, Min: "256", Max: "2048", Step: "16", Default: json.Number("1024")}
	}
	t := tool("banner", "Banner",
		registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true},
		registry.InputField{Name: "negative_prompt", Type: registry.TypeString, Advanced: true},
		side("width"), side("height"),
		registry.InputField{Name: "noise_seed", Type: registry.TypeNumber, Integer: true, Seed: true, Advanced: true},
	)
	t.OutputSchema = registry.OutputSchema{{Name: "picture", Type: "image"}}
	return t
}

func (s *scene) withBanner() {
	s.t.Helper()
	s.Loader.Set(append(Tools(), banner())...)
	s.Reload()
}

func sizeInWords(s *scene) {
	s.withBanner()
	s.say("/banner a red bicycle, phone")
	c := s.Call(0)
	s.labelled("Cancel", "Banner", "Understood “phone”: 768 × 1360")
	for name, want := range map[string]string{"prompt": "a red bicycle", "width": "768", "height": "1360"} {
		s.input(c, name, want)
	}
	s.say("/banner a red bicycle, phone width=512")
	s.input(s.Call(1), "width", "512")
	s.input(s.Call(1), "height", "1024")
	s.say("/painter a red bicycle, square") // has no size
	s.input(s.Call(2), "prompt", "a red bicycle, square")
}

func optionsOfOthers(s *scene) {
	s.withBanner()
	s.say("/banner a red bicycle --ar 16:9 --seed 3 --no hands, text")
	c := s.Call(0)
	for name, want := range map[string]string{"prompt": "a red bicycle", "width": "1360", "height": "768", "noise_seed": "3", "negative_prompt": "hands, text"} {
		s.input(c, name, want)
	}
	s.say("/painter a cat, steps=5, dog")
	s.input(s.Call(1), "prompt", "a cat, dog")
	s.input(s.Call(1), "steps", "5")
}

func settingsByCommand(s *scene) {
	s.say("/settings painter steps=12 style=ink")
	s.AwaitText(s.room, "Settings · Painter", "steps", "12", "Ink")
	s.say("/settings painter steps=500")
	s.AwaitText(s.room, "Steps: 500", "1 to 50")
	s.say("/settings painter a green door")
	s.AwaitText(s.room, "“a green door”")
	s.say("/painter a cat")
	s.input(s.Call(0), "steps", "12")
	s.input(s.Call(0), "style", "ink")
	s.input(s.Call(0), "prompt", "a cat")
}

func cancelOnly(s *scene) {
	s.say("/painter a cat")
	s.Progress(s.Call(0), registry.Progress{State: registry.RunRunning})
	s.say("/cancel")
	s.AwaitText(s.room, "Canceling Painter")
	s.AwaitText(s.room, "Canceled", "Nothing was charged")
}
