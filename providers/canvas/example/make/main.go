// Command make draws the pictures of package example. It is run by go generate there.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/example"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/templates"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

func main() {
	fonts := typeset.New(typeset.Config{})
	for _, language := range example.Languages() {
		if err := drawFor(fonts, language); err != nil {
			fmt.Fprintf(os.Stderr, "example in %s: %v\n", language, err)
			os.Exit(1)
		}
	}
}

// drawFor draws the words of a language as the tool draw does.
func drawFor(fonts *typeset.Setter, language string) error {
	s := scene.New(fonts, scene.Page{})
	board, err := templates.Draw(s, templates.Read(example.Words(language), nil, 0))
	if err != nil {
		return err
	}
	d := &draw.Drawer{Fonts: fonts}
	p, err := d.Draw(context.Background(), s, draw.Options{Board: board.ID, Format: draw.PNG, Scale: 0.5})
	if err != nil {
		return err
	}
	return os.WriteFile(language+".png", p.Content, 0o644)
}
