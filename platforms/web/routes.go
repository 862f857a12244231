package web

// OwnPaths are the addresses that no tool may have as its apiPath, with all that is below them: those of the pages, of the API, and
// of what is mounted beside them. A tool there would never be reached, while the API's document told that it is.
func OwnPaths() []string {
	return []string{
		"/api/ask", "/api/balance", "/api/changes", "/api/conversations", "/api/invitations", "/api/keys", "/api/quote", "/api/runs", "/api/status", "/api/tools",
		"/api/uploads", "/api/webhooks", "/mcp", "/openapi.json", "/tools", "/webhooks",
		"/account", ChatPath, "/developers", "/files", "/healthz", "/history", "/invite", "/link", "/llms.txt", "/metrics", "/operator", "/prices",
		"/readyz", "/run", "/s", "/sessions", "/signin", "/signout", "/static", "/thumbs", "/tool", "/uploads",
	}
}

// people adds the pages that people use.
func (s *Server) people(t *routes) {
	t.page("GET /{$}", Read, s.home)
	t.page("GET /tool/{id}", Read, s.tool)
	t.page("POST /tool/{id}", Person, s.start)
	t.page("POST /tool/{id}/price", Person, s.toolPrice)
	t.page("POST /tool/{id}/settings", Person, s.saveSettings)
	t.page("POST /tool/{id}/settings/reset", Person, s.resetSettings)
	t.page("POST /tool/{id}/presets", Person, s.savePreset)
	t.page("POST /tool/{id}/presets/delete", Person, s.deletePreset)
	t.page("GET /run/{id}", Read, s.run)
	t.page("POST /run/{id}/share", Person, s.shareFromPage)
	t.page("POST /run/{id}/unshare", Person, s.unshareFromPage)
	t.public("GET /s/{link}", s.shared)
	t.page("POST /run/{id}/confirm", Person, s.confirmFromPage)
	t.page("POST /run/{id}/answer", Person, s.answerFromPage)
	t.page("POST /run/{id}/cancel", Person, s.cancelFromPage)
	t.page("POST /run/{id}/delete", Person, s.deleteFromPage)
	t.page("POST /run/{id}/outputs/{n}/delete", Person, s.deleteOutputFromPage)
	t.page("POST /run/{id}/again", Person, s.again)
	t.page("GET /history", Read, s.history)
	t.page("GET /account", Person, s.accountPage)
	t.page("POST /account/code", Person, s.linkCode)
	t.page("POST /account/unlink", Person, s.unlink)
	t.page("POST /account/language", Person, s.setLanguage)
	t.page("POST /account/limits", Person, s.setCaps)
	t.page("POST /account/keys", Person, s.makeKey)
	t.page("POST /account/keys/{id}/revoke", Person, s.revokeKey)
	t.page("POST /account/erase", Person, s.eraseAccount)
	t.page("GET /prices", Read, s.prices)
	t.page("GET /developers", Read, s.developers)
	t.public("GET /llms.txt", s.llms)
	t.public("GET /static/{hash}/{file}", s.static)
	t.public("GET /files/{sig}/{hash}/{name}", s.file)
	t.public("GET /thumbs/{sig}/{hash}/{side}", s.thumbnail)
	t.public("GET /uploads/{sig}/{hash}/{name}", s.file)
}
