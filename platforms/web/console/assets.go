package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
)

// The plots are drawn by uPlot (MIT, static/uplot-LICENSE.txt), as published on npm, unchanged.
//
//go:embed static/*
var staticFiles embed.FS

// assets are the console's styles and scripts, under addresses that carry a hash of them all.
type assets struct {
	hash  string
	files map[string][]byte
}

var assetTypes = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8"}

func readAssets() (assets, error) {
	a := assets{files: map[string][]byte{}}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		return a, err
	}
	sum := sha256.New()
	for _, e := range entries {
		if a.files[e.Name()], err = staticFiles.ReadFile(path.Join("static", e.Name())); err != nil {
			return a, err
		}
		sum.Write(a.files[e.Name()])
	}
	a.hash = hex.EncodeToString(sum.Sum(nil)[:6])
	return a, nil
}

func (a assets) address(name string) string { return Root + "static/" + a.hash + "/" + name }

func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	data, ok := c.assets.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", assetTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	w.Write(data)
}
