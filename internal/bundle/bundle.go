// Package bundle serves the styles, scripts and symbols of pages, compressed once, under addresses that carry a hash of
// them all: browsers keep them for good, and a new build is seen at once.
package bundle

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

// Bundle is a set of files. Scripts in it name each other relatively.
type Bundle struct {
	root, hash string
	files      map[string]file
}

type file struct {
	kind   string
	raw    func() []byte
	zipped func() []byte // made when it is first asked for; nil: no smaller
}

// New reads all files below a folder. They are served under root, which ends in a slash, as ROOT{hash}/{file}.
func New(files fs.FS, folder, root string) (Bundle, error) {
	read := map[string][]byte{}
	err := fs.WalkDir(files, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		read[path.Base(name)] = raw
		return nil
	})
	return Of(read, root), err
}

// Of is New for files that were read, by their names.
func Of(files map[string][]byte, root string) Bundle {
	b := Bundle{root: root, files: map[string]file{}}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		raw := files[name]
		sum.Write(raw)
		f := file{kind: typeOf(name), raw: func() []byte { return raw }}
		if !strings.HasPrefix(f.kind, "image/jp") { // which are as small as they get
			f.zipped = sync.OnceValue(func() []byte { return Zipped(raw, gzip.BestCompression) })
		}
		b.files[name] = f
	}
	b.hash = hex.EncodeToString(sum.Sum(nil)[:6])
	return b
}

// Add adds a picture that is made of files of the bundle, when it is first asked for.
func (b Bundle) Add(name string, content func() []byte) {
	b.files[name] = file{kind: typeOf(name), raw: sync.OnceValue(content)}
}

// typeOf does not ask the machine's own tables, which differ.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".txt":
		return "text/plain; charset=utf-8"
	case ".jpg":
		return "image/jpeg"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// Address is where a file is found.
func (b Bundle) Address(name string) string { return b.root + b.hash + "/" + name }

// Serve answers a request whose path values hash and file name a file; false where there is none of that name. The scope
// is "public", or "private" for what is not everybody's.
func (b Bundle) Serve(w http.ResponseWriter, r *http.Request, scope string) bool {
	found, ok := b.files[r.PathValue("file")]
	if !ok {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", found.kind)
	h.Set("Cache-Control", scope+", max-age=300") // an address of another build, e.g. on a page that stayed open
	if r.PathValue("hash") == b.hash {
		h.Set("Cache-Control", scope+", max-age=31536000, immutable")
	}
	h.Set("Vary", "Accept-Encoding")
	if found.zipped != nil && AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		w.Write(found.zipped())
		return true
	}
	w.Write(found.raw())
	return true
}

// AcceptsGzip reads the header as far as browsers write it: a list of names, some with a weight.
func AcceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if name == "gzip" && strings.TrimSpace(weight) != "q=0" {
			return true
		}
	}
	return false
}

// Zipped compresses with gzip at one of its levels.
func Zipped(raw []byte, level int) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		panic(err) // the levels are constants of ours
	}
	z.Write(raw) // a buffer takes everything
	z.Close()
	return out.Bytes()
}
