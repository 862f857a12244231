package web

import "net/http"

// OwnPaths are the addresses that no tool may have as its apiPath, with all that is below them: those of the pages, of the API, and
// of what is mounted beside them. A tool there would never be reached, while the API's document told that it is.
func OwnPaths() []string {
	return []string{
		"/api/ask", "/api/balance", "/api/changes", "/api/invitations", "/api/keys", "/api/quote", "/api/runs", "/api/status", "/api/tools",
		"/api/uploads", "/api/webhooks", "/mcp", "/openapi.json", "/tools", "/webhooks",
		"/account", ChatPath, "/developers", "/files", "/healthz", "/history", "/invite", "/link", "/llms.txt", "/metrics", "/operator", "/prices",
		"/readyz", "/run", "/s", "/sessions", "/signin", "/signout", "/static", "/tool", "/uploads",
	}
}

// people adds the pages that people use.
func (s *Server) people(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.page(s.home))
	mux.HandleFunc("GET /tool/{id}", s.page(s.tool))
	mux.HandleFunc("POST /tool/{id}", s.page(s.start))
	mux.HandleFunc("POST /tool/{id}/price", s.page(s.toolPrice))
	mux.HandleFunc("POST /tool/{id}/settings", s.page(s.saveSettings))
	mux.HandleFunc("POST /tool/{id}/settings/reset", s.page(s.resetSettings))
	mux.HandleFunc("POST /tool/{id}/presets", s.page(s.savePreset))
	mux.HandleFunc("POST /tool/{id}/presets/delete", s.page(s.deletePreset))
	mux.HandleFunc("GET /run/{id}", s.page(s.run))
	mux.HandleFunc("POST /run/{id}/share", s.page(s.shareFromPage))
	mux.HandleFunc("POST /run/{id}/unshare", s.page(s.unshareFromPage))
	mux.HandleFunc("GET /s/{link}", s.shared)
	mux.HandleFunc("POST /run/{id}/confirm", s.page(s.confirmFromPage))
	mux.HandleFunc("POST /run/{id}/cancel", s.page(s.cancelFromPage))
	mux.HandleFunc("POST /run/{id}/again", s.page(s.again))
	mux.HandleFunc("GET /history", s.page(s.history))
	mux.HandleFunc("GET /account", s.page(s.accountPage))
	mux.HandleFunc("POST /account/code", s.page(s.linkCode))
	mux.HandleFunc("POST /account/unlink", s.page(s.unlink))
	mux.HandleFunc("POST /account/language", s.page(s.setLanguage))
	mux.HandleFunc("POST /account/limits", s.page(s.setCaps))
	mux.HandleFunc("POST /account/keys", s.page(s.makeKey))
	mux.HandleFunc("POST /account/keys/{id}/revoke", s.page(s.revokeKey))
	mux.HandleFunc("POST /account/erase", s.page(s.eraseAccount))
	mux.HandleFunc("GET /prices", s.page(s.prices))
	mux.HandleFunc("GET /developers", s.page(s.developers))
	mux.HandleFunc("GET /llms.txt", s.llms)
	mux.HandleFunc("GET /static/{hash}/{file}", s.static)
	mux.HandleFunc("GET /files/{sig}/{hash}/{name}", s.file)
	mux.HandleFunc("GET /uploads/{sig}/{hash}/{name}", s.file)
	s.chatForms(mux)
}
