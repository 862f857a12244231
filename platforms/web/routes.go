package web

import "net/http"

// people adds the pages that people use.
func (s *Server) people(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.page(s.home))
	mux.HandleFunc("GET /tool/{id}", s.page(s.tool))
	mux.HandleFunc("POST /tool/{id}", s.page(s.start))
	mux.HandleFunc("POST /tool/{id}/price", s.page(s.toolPrice))
	mux.HandleFunc("GET /run/{id}", s.page(s.run))
	mux.HandleFunc("POST /run/{id}/confirm", s.page(s.confirmFromPage))
	mux.HandleFunc("POST /run/{id}/cancel", s.page(s.cancelFromPage))
	mux.HandleFunc("POST /run/{id}/again", s.page(s.again))
	mux.HandleFunc("GET /history", s.page(s.history))
	mux.HandleFunc("GET /prices", s.page(s.prices))
	mux.HandleFunc("GET /developers", s.page(s.developers))
	mux.HandleFunc("POST /developers", s.page(s.makeKey))
	mux.HandleFunc("GET /changes", s.page(s.changes))
	mux.HandleFunc("GET /static/{hash}/{file}", s.static)
	mux.HandleFunc("GET /files/{sig}/{hash}/{name}", s.file)
}
