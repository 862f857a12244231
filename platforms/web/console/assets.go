package console

import (
	"embed"
	"net/http"
)

// The plots are drawn by uPlot (MIT, static/uplot-LICENSE.txt), as published on npm, unchanged.
//
//go:embed static/*
var staticFiles embed.FS

func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	if !c.bundle.Serve(w, r, "private") {
		http.NotFound(w, r)
	}
}
