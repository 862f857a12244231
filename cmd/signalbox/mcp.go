package main

import (
	"crypto/rand"
	"strings"

	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/mcp"
	"github.com/signalbox/signalbox/registry"
)

// mcpMounts is the registry as an MCP server. secret signs what people confirm.
func (a *app) mcpMounts(secret []byte) ([]web.Mount, error) {
	server, err := mcp.New(mcp.Config{
		Registry: a.registry, Runs: a.runs, Users: a.users, Caller: web.Caller, Budget: web.Budget, Secret: secret, Public: strings.TrimSuffix(a.cfg.PublicURL, "/"),
		FilePath: func(ref registry.Media, name string) string { return a.web.FilePath(ref, name) },
		Version:  version, Random: rand.Reader, Logger: quiet(a.log).With("component", "mcp"),
	})
	if err != nil {
		return nil, err
	}
	return []web.Mount{{Path: "/mcp", Who: web.Keys, Handler: server.Handler()}}, nil
}
