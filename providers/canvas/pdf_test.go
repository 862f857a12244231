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
