package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed static/*
var staticFiles embed.FS

// bundle is the pages' styles, scripts and symbols. Their addresses carry a hash of them all, so that
// browsers keep them for good and a new build is seen at once; scripts name each other relatively.
type bundle struct {
	hash  string
	files map[string]staticFile
}

type staticFile struct {
	kind        string
	raw, zipped []byte
}

func newBundle() (bundle, error) {
	b := bundle{files: map[string]staticFile{}}
	sum := sha256.New()
	err := fs.WalkDir(staticFiles, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		sum.Write(raw)
		b.files[path.Base(name)] = staticFile{kind: staticType(name), raw: raw, zipped: zipped(raw, gzip.BestCompression)}
		return nil
	})
	b.hash = hex.EncodeToString(sum.Sum(nil)[:6])
	return b, err
}

// staticType does not ask the machine's own tables, which differ.
func staticType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// address is where a file of the bundle is found.
func (b bundle) address(name string) string { return "/static/" + b.hash + "/" + name }

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	file, ok := s.bundle.files[r.PathValue("file")]
	if !ok {
		s.notFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("Cache-Control", "public, max-age=300") // an address of another build, e.g. on a page that stayed open
	if r.PathValue("hash") == s.bundle.hash {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		w.Write(file.zipped)
		return
	}
	w.Write(file.raw)
}

// acceptsGzip reads the header as far as browsers write it: a list of names, some with a weight.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if name == "gzip" && strings.TrimSpace(weight) != "q=0" {
			return true
		}
	}
	return false
}

func zipped(raw []byte, level int) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		panic(err) // the levels are constants of ours
	}
	z.Write(raw) // a buffer takes everything
	z.Close()
	return out.Bytes()
}
