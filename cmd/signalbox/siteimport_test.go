package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
	"github.com/signalbox/signalbox/cmd/signalbox/siteimport"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/test/housetest"
)

func TestSiteImport(t *testing.T) {
	t.Parallel()
	a := newApp(config.Config{}, slog.New(slog.DiscardHandler))
	a.cfg.DataDir = t.TempDir()
	a.db = &database.DB{Pool: postgrestest.New(t)}
	a.media = media.Store{Assets: housetest.NewFiles(t, a.db.Pool).Store, Client: outbound.NewClient(nil)}
	if _, err := a.content.open(); err != nil {
		t.Fatal(err)
	}
	bring := func(files fstest.MapFS, replace bool) (string, error) {
		t.Helper()
		var out bytes.Buffer
		report := siteimport.NewReport(&out)
		if err := a.content.importFolder(t.Context(), store.House, files, replace, report.Tell); err != nil {
			t.Fatal(err)
		}
		err := report.End()
		return out.String(), err
	}
	about := &fstest.MapFile{Data: []byte("---\ntitle: About us\nweight: 1\n---\nWe are [four](blog/four.md).\n\n![inside](http://127.0.0.1:1/x.png)\n")}
	folder := fstest.MapFS{"about.md": about, "blog/four.md": {Data: []byte("# Four\n\nOf us.")}, "broken.md": {Data: []byte("---\ntitle: [\n---\n")}}
	t.Run("it tells of each file, takes all but the broken one, and fails by it", func(t *testing.T) {
		out, err := bring(folder, false)
		for _, want := range []string{"about.md: added as page about\n  line 3: weight has no place here\n", "blog/four.md: added as post four\n", "broken.md:2: broken: its head is no YAML", "3 files: 2 added, 1 broken.\n", "line 7: the picture http://127.0.0.1:1/x.png stays a link"} {
			if !strings.Contains(out, want) {
				t.Errorf("there is no %q in:\n%s", want, out)
			}
		}
		if err == nil || !strings.Contains(err.Error(), "1 of 3 files") {
			t.Errorf("got %v", err)
		}
		w := httptest.NewRecorder()
		a.content.public.ServeHTTP(w, httptest.NewRequest("GET", "/site/about", nil))
		if !strings.Contains(w.Body.String(), `<a href="/site/blog/four">four</a>`) {
			t.Errorf("visitors see %s", w.Body)
		}
	})
	t.Run("again it says that nothing changed, and what it would take", func(t *testing.T) {
		delete(folder, "broken.md")
		if out, err := bring(folder, false); err != nil || out != "2 files: 2 unchanged.\n" {
			t.Errorf("got %q, %v", out, err)
		}
		folder["about.md"] = &fstest.MapFile{Data: []byte("# About all of us")}
		if out, err := bring(folder, false); err != nil || !strings.Contains(out, "about.md: left: the site has another page about: --replace takes the file's\n") {
			t.Errorf("got %q, %v", out, err)
		}
		if out, err := bring(folder, true); err != nil || !strings.Contains(out, "about.md: replaced as page about\n") {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("it goes into the site of a group, and nowhere that is no site", func(t *testing.T) {
		if _, err := a.content.store.SwitchOn(t.Context(), store.Group{Platform: "telegram", Place: "chat:1"}, store.Site{Slug: "painters", Title: "Painters", Language: "de"}, "00000000-0000-4000-8000-000000000001"); err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{"kiln.md": {Data: []byte("---\ntitle: Ofen\nlanguage: de\n---\n[Wir](we.md)")}, "we.md": {Data: []byte("# Wir\n\nVier.")}, "en/kiln.md": {Data: []byte("---\ntitle: Kiln\nlanguage: en\n---\nHot.")}}
		report := siteimport.NewReport(io.Discard)
		if err := a.content.importFolder(t.Context(), "painters", files, false, report.Tell); err != nil || report.End() != nil {
			t.Fatal(err, report.End())
		}
		for path, want := range map[string]string{"/site/painters/kiln": `<a href="/site/painters/we">Wir</a>`, "/site/painters/en/kiln": "Hot.", "/site/painters/search?q=ofen": "/site/painters/kiln", "/site/painters/en/search?q=hot": "/site/painters/en/kiln"} {
			w := httptest.NewRecorder()
			a.content.public.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %s", path, w.Body)
			}
		}
		if err := a.content.importFolder(t.Context(), "poets", files, false, report.Tell); err == nil || !strings.Contains(err.Error(), `"poets"`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a folder without Markdown, and one that can't be written about, are errors", func(t *testing.T) {
		if _, err := bring(fstest.MapFS{"a.txt": {}}, false); err == nil || !strings.Contains(err.Error(), ".md") {
			t.Errorf("got %v", err)
		}
		report := siteimport.NewReport(full{})
		if err := a.content.importFolder(t.Context(), store.House, folder, false, report.Tell); err != nil || !errors.Is(report.End(), errFull) {
			t.Errorf("got %v", err)
		}
	})
}

var errFull = errors.New("the disk is full")

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
