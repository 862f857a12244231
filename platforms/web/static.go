package web

import (
	"embed"
	"net/http"
)

// staticFiles are the pages' styles, scripts and symbols.
//
//go:embed static/*
var staticFiles embed.FS

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	if !s.bundle.Serve(w, r, "public") {
		s.notFound(w, r)
	}
}
