package canvas

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/providers/canvas/draw"
)

// TestFormats: every format is written, with its own mark at the head.
func TestFormats(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := scenes(t)
	var c corpusScene
	readJSON(t, filepath.Join(dir, "everything.json"), &c)
	b.drawScene(t, c, dir)
	for format, head := range map[draw.Format]string{draw.SVG: "<svg ", draw.PNG: "\x89PNG", draw.JPEG: "\xff\xd8\xff", draw.WebP: "RIFF", draw.PDF: "%PDF-1.7"} {
		p := b.picture(t, b.done[0].id, format)
		if !bytes.HasPrefix(p.Content, []byte(head)) || p.Width != 560 || p.Height != 420 {
			t.Errorf("%s begins with %q and has %d by %d pixels", format, p.Content[:8], p.Width, p.Height)
		}
		if out := os.Getenv("CANVAS_OUT"); out != "" {
			_ = os.WriteFile(filepath.Join(out, "everything."+string(format)), p.Content, 0o600)
		}
	}
}

// TestPDFBoardsMixWithinThemselves: a board that lets what lies below it be seen is a picture of its own where something in it blends, since it mixes
// with nothing outside.
func TestPDFBoardsMixWithinThemselves(t *testing.T) {
	t.Parallel()
	for mode, pictures := range map[string]int{"normal": 0, "multiply": 1} {
		b := newBench(t)
		page := b.must(t, "create-board", in{"x": 0, "y": 0, "width": 100, "height": 100}).id
		board := b.must(t, "create-board", in{"x": 0, "y": 0, "width": 100, "height": 100, "parentId": page, "fills": []any{}}).id
		b.must(t, "create-rectangle", in{"x": 10, "y": 10, "width": 50, "height": 50, "parentId": board, "blendMode": mode, "fills": []any{in{"fillColor": "#AA3355"}}})
		pdf := b.picture(t, page, draw.PDF).Content
		if n := bytes.Count(pdf, []byte("/SMask")); n != pictures {
			t.Errorf("%s: the file has %d pictures, want %d", mode, n, pictures)
		}
		if bytes.Contains(pdf, []byte("/BM /Multiply")) {
			t.Errorf("%s: what is in the board blends with what lies below it", mode)
		}
	}
}
