package comfy_test

import (
	"io/fs"
	"log/slog"
	"testing"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/learned"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
)

// An output node that nobody knows is a file until it has run. Then it is what it gave, also for the next process.
func TestUnknownOutputsAreWhatTheyGave(t *testing.T) {
	t.Parallel()
	for want, ui := range map[string]string{
		"text":  `{"text": ["a cat on a mat"]}`,
		"image": `{"text": ["beside it"], "images": [{"filename": "a.png", "subfolder": "", "type": "output"}]}`,
		"video": `{"gifs": [{"filename": "a.mp4", "subfolder": "", "type": "output"}]}`,
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			pool, changed := postgrestest.New(t), 0
			source := newFolder(map[string]string{"it.json": resultFlow(t, ui)})
			w := newWorld(t, source, comfytest.New(t, comfytest.Options{}))
			start := func(learned *learned.Store) registry.Tool {
				w.loader = loader.New(loader.Config{Sources: []fs.FS{source}, Engines: w.fleet, Store: w.store, Learned: learned})
				w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader})
				w.load(t)
				return w.tools["it"]
			}
			tool := start(learned.New(pool, slog.New(slog.DiscardHandler), func() { changed++ }))
			if got := tool.OutputSchema[0].Type; got != "file" {
				t.Fatalf("declared as %s before it ran", got)
			}
			for range 2 {
				if p := w.run(t, tool, nil); p.State != registry.RunSucceeded {
					t.Fatalf("%+v", p)
				}
			}
			w.load(t)
			if got := w.tools["it"].OutputSchema[0].Type; got != want || changed != 1 {
				t.Errorf("declared as %s, want %s; told %d times", got, want, changed)
			}
			if got := start(learned.New(pool, slog.New(slog.DiscardHandler), nil)).OutputSchema[0].Type; got != want {
				t.Errorf("after a restart declared as %s, want %s", got, want)
			}
		})
	}
}
