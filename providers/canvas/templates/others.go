package templates

import (
	"math"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// Draw makes what a brief wants on a new board.
func Draw(s *scene.Scene, b Brief) (*scene.Shape, error) {
	switch b.Kind {
	case Card:
		return card(s, b)
	case Quote:
		return quote(s, b)
	case Chart:
		return chart(s, b)
	case Meme:
		return meme(s, b)
	case Lines:
		return lines(s, b.Words)
	}
	return poster(s, b)
}

func card(s *scene.Scene, b Brief) (*scene.Shape, error) {
	p := newSheet(s, b, "Card", 1200, 800)
	setFills(p, fade(p.Second, p.Accent))
	p.disc("disc", 1110, 90, 240, p.Paper, faded(0.25))
	p.disc("disc 2", 80, 760, 190, p.Deep, faded(0.22))
	p.rect("card", box{X: 110, Y: 95, W: 980, H: 610}, p.Paper, rounded(36), shadowed(24, 60, 0.28, p.Deep))
	p.rect("mark", box{X: 190, Y: 185, W: 84, H: 10}, p.Accent, rounded(5))
	y := 225.0
	if b.Kicker != "" {
		p.write("occasion", b.Kicker, box{X: 190, Y: 225, W: 820, H: 40}, face{family: "Inter", weight: "700", caps: true, color: p.Deep, line: 1.2, spacing: 0.14, most: 28, least: 14})
		y = 280
	}
	words := face{family: "Literata", weight: "700", color: p.Ink, line: 1.1, spacing: -0.015, most: 104, least: 28}
	room := 240.0
	if len(b.Details) == 0 { // the title has the card to itself
		room, words.most, words.middle = 640-y, 150, true
	}
	title := p.write("title", b.Title, box{X: 190, Y: y, W: 820, H: room}, words)
	y += p.height(title) + 28
	p.write("detail", strings.Join(b.Details, "\n"), box{X: 190, Y: y, W: 820, H: 640 - y}, face{family: "Inter", weight: "400", color: p.Ink, line: 1.35, most: 38, least: 16})
	return p.board, p.err
}

func quote(s *scene.Scene, b Brief) (*scene.Shape, error) {
	p := newSheet(s, b, "Quote", 1080, 1080)
	if b.Picture != nil {
		p.add(scene.Rectangle, "picture", box{W: 1080, H: 1080}, scene.Props{BackgroundImage: &b.Picture.Ref})
		p.rect("shade", box{W: 1080, H: 1080}, p.Ink, faded(0.72))
	} else {
		setFills(p, fade(p.Deep, p.Deep))
		p.disc("disc", 960, 960, 420, p.Accent, faded(0.24))
		p.disc("disc 2", 1040, 760, 220, p.Second, faded(0.17))
	}
	p.write("mark", "“", box{X: 84, Y: 40, W: 400, H: 400}, face{family: "Literata", weight: "700", color: p.Accent, line: 1, most: 360, least: 300})
	p.write("title", b.Title, box{X: 96, Y: 300, W: 880, H: 520}, face{family: "Literata", weight: "400", italic: true, color: p.Paper, line: 1.22, spacing: -0.01, most: 92, least: 26, middle: true})
	if len(b.Details) > 0 {
		p.rect("rule", box{X: 100, Y: 905, W: 70, H: 6}, p.Second, rounded(3))
		p.write("detail", strings.Join(b.Details, ", "), box{X: 195, Y: 880, W: 780, H: 58}, face{family: "Inter", weight: "600", color: p.Paper, line: 1.2, spacing: 0.02, most: 36, least: 16, middle: true})
	}
	return p.board, p.err
}

// meme lays words over the head and the foot of a picture, in its size.
func meme(s *scene.Scene, b Brief) (*scene.Shape, error) {
	w, h := 1000.0, 1000.0
	if b.Picture != nil && b.Picture.Width > 0 && b.Picture.Height > 0 {
		f := min(1200/float64(b.Picture.Width), 1200/float64(b.Picture.Height))
		w, h = math.Round(float64(b.Picture.Width)*f), math.Round(float64(b.Picture.Height)*f)
	}
	p := newSheet(s, b, "Meme", w, h)
	if b.Picture != nil {
		p.add(scene.Rectangle, "picture", box{W: w, H: h}, scene.Props{BackgroundImage: &b.Picture.Ref})
	} else {
		setFills(p, fade(p.Accent, p.Deep))
	}
	texts := b.Details
	if len(texts) == 1 && b.Picture == nil {
		texts = []string{texts[0], ""}
	} else if len(texts) == 1 {
		texts = []string{"", texts[0]}
	}
	for i, words := range texts[:min(len(texts), 2)] {
		f := face{family: "Oswald", weight: "700", caps: true, color: "#FFFFFF", align: "center", line: 1.12, most: w / 8, least: 18, bottom: i == 1}
		at := box{X: w * 0.04, Y: h * 0.03, W: w * 0.92, H: h * 0.28}
		if i == 1 {
			at.Y = h*0.97 - at.H
		}
		t := p.write([]string{"top", "bottom"}[i], words, at, f)
		if t.Text != nil && p.err == nil {
			outline := []scene.Stroke{{Color: "#000000", Opacity: 1, Style: "solid", Width: math.Round(t.Text.FontSize / 14), Alignment: "outer"}}
			_, p.err = p.Modify(scene.TextShape, t.ID, scene.Props{Strokes: &outline}, nil)
		}
	}
	return p.board, p.err
}
