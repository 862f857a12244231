package canvas

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// crowd is a board of so many shapes of all kinds.
func crowd(b testing.TB, n int) *scene.Scene {
	s := scene.New(testFonts(), scene.Page{})
	w, h := 1600.0, 1000.0
	board, err := s.Create(scene.Board, scene.Props{Width: &w, Height: &h})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		x, y, size, turn := float64(i*37%1500), float64(i*53%900), float64(20+i%60), float64(i%90)
		colour, words, opacity := fmt.Sprintf("#%06X", i*7919%0xFFFFFF), "Label", 0.8
		p := scene.Props{ParentID: &board.ID, X: &x, Y: &y, Width: &size, Height: &size, Color: &colour, Opacity: &opacity}
		kind := []scene.Type{scene.Rectangle, scene.Ellipse, scene.TextShape, scene.Rectangle}[i%4]
		switch i % 4 {
		case 0:
			p.Rotation = &turn
		case 1:
			p.Strokes = &[]scene.Stroke{{Color: "#000000", Opacity: 1, Style: "solid", Width: 2}}
		case 2:
			p.Color, p.TextColor, p.Characters = nil, &colour, &words
		case 3:
			p.BorderRadius = &turn
		}
		if _, err := s.Create(kind, p); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkPNG draws boards of 250, 1,000 and 4,000 shapes, and gives the processor time of a drawing and how often it is that of a quarter of the
// shapes. 1,000 shapes are to take less than 300 ms, and 4,000 at most 4.4 times as much. With -cpu 1 it is measured by one processor alone.
func BenchmarkPNG(b *testing.B) {
	d := &draw.Drawer{Fonts: testFonts()}
	for _, format := range []draw.Format{draw.PNG, draw.SVG} {
		quarter := 0.0
		for _, n := range []int{250, 1000, 4000} {
			s := crowd(b, n)
			b.Run(fmt.Sprintf("%d/%s", n, format), func(b *testing.B) {
				before := processorTime(b)
				for b.Loop() {
					if _, err := d.Draw(b.Context(), s, draw.Options{Format: format}); err != nil {
						b.Fatal(err)
					}
				}
				took := (processorTime(b) - before).Seconds() / float64(b.N)
				b.ReportMetric(1000*took, "cpu-ms/op")
				if quarter > 0 {
					b.ReportMetric(took/quarter, "x-quarter")
				}
				quarter = took
			})
		}
	}
}

// processorTime is what this process has taken up to now, with what the system did for it.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
