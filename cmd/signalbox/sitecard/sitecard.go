// Package sitecard draws what stands for a page of a site that has no picture, where its address is shared.
package sitecard

import (
	"context"

	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

// The card has the size that social networks ask for, and the colours of the site's theme.
const (
	width, height = 1200.0, 630.0
	margin        = 80.0
	titleHeight   = 340.0
	longestTitle  = 140 // letters
	paper         = "#FBFAF7"
	ink           = "#1D1B18"
	soft          = "#5F5A52"
	accent        = "#8A3B12"
)

// Draw makes the card of a page: its title, and what its site is called, as PNG.
func Draw(ctx context.Context, fonts *typeset.Setter, title, site string) ([]byte, error) {
	s := scene.New(fonts, scene.Page{})
	board, err := s.Create(scene.Board, box(0, 0, width, height, paper))
	if err != nil {
		return nil, err
	}
	bar := box(margin, margin, 96, 10, accent)
	bar.ParentID = &board.ID
	if _, err := s.Create(scene.Rectangle, bar); err != nil {
		return nil, err
	}
	title = plain.Clip(plain.Line(title), longestTitle)
	for _, t := range []struct {
		says, weight, colour string
		size, y              float64
	}{{title, "700", ink, fitting(fonts, title), margin + 50}, {plain.Clip(plain.Line(site), 60), "400", soft, 32, height - margin - 40}} {
		if t.says == "" {
			continue
		}
		text := box(margin, t.y, width-2*margin, titleHeight, "")
		size, weight, family := scene.Figure(t.size), scene.Word(t.weight), "serif"
		text.ParentID, text.Text, text.FontSize, text.FontWeight, text.FontFamily, text.TextColor = &board.ID, &t.says, &size, &weight, &family, &t.colour
		if _, err := s.Create(scene.TextShape, text); err != nil {
			return nil, err
		}
	}
	drawn, err := (&draw.Drawer{Fonts: fonts}).Draw(ctx, s, draw.Options{Format: draw.PNG})
	return drawn.Content, err
}

// fitting is the largest size of letters at which a title has room.
func fitting(fonts *typeset.Setter, title string) float64 {
	family, _ := fonts.Family("serif")
	for size := 88.0; size > 40; size -= 8 {
		t := scene.Text{Characters: title, FontFamily: family, FontSize: size, FontWeight: "700", FontStyle: "normal", LineHeight: 1.2, Align: "left", GrowType: "fixed"}
		if w, h := fonts.Measure(t, width-2*margin); w <= width-2*margin && h <= titleHeight {
			return size
		}
	}
	return 40
}

// box is a place, filled where there is a colour.
func box(x, y, w, h float64, colour string) scene.Props {
	p := scene.Props{X: &x, Y: &y, Width: &w, Height: &h}
	if colour != "" {
		p.Fills = &[]scene.Fill{{Color: colour, Opacity: 1}}
	}
	return p
}
