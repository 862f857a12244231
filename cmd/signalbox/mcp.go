package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/cmd/signalbox/logs"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/mcp"
	mcpservers "github.com/signalbox/signalbox/providers/mcp"
	"github.com/signalbox/signalbox/registry"
)

// newMCP is the registry as an MCP server. secret signs what people confirm.
func (a *app) newMCP(secret []byte) (http.Handler, error) {
	server, err := mcp.New(mcp.Config{
		Registry: a.registry, Runs: a.runs, Users: a.users, Caller: web.Caller, Budget: web.Budget, ByAgent: web.ByAgent, Secret: secret, Public: strings.TrimSuffix(a.cfg.PublicURL, "/"),
		FilePath: func(owner string, ref registry.Media, name string) string { return a.web.FilePath(owner, ref, name) },
		Version:  version, Search: a.search, Points: a.cfg.Points, Logger: logs.Quiet(a.log).With("component", "mcp"),
	})
	if err != nil {
		return nil, err
	}
	return server.Handler(), nil
}

// newMCPServers makes the tools of the MCP servers that MCP_SERVERS names.
func (a *app) newMCPServers(guard *http.Client) *mcpservers.Provider {
	var servers *mcpservers.Provider
	a.OnStop("MCP servers", func(ctx context.Context) error { return servers.Close(ctx) }) // after their news
	servers = mcpservers.New(mcpservers.Config{
		File: a.cfg.MCPServers, Guard: guard, Version: version, Logger: a.log.With("component", "mcp servers"),
		Changed: a.Soon("MCP servers' news", func(ctx context.Context) {
			if _, err := a.registry.Reload(ctx, mcpservers.LoaderName); err != nil && ctx.Err() == nil {
				a.log.Warn("some tools of MCP servers could not be loaded", "error", err)
			}
		}),
	})
	return servers
}
