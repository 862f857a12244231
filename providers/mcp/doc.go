// Package mcp makes tools of MCP servers (Model Context Protocol, 2026-07-28 and 2025-11-25), which run as programs
// beside ours or answer over streamable HTTP.
//
// The servers stand in a file of the operator's, in the form that MCP clients have in common:
//
//	{"mcpServers": {
//	  "files":  {"command": "mcp-files", "args": ["/data"], "env": {"LEVEL": "1"}},
//	  "search": {"url": "https://search.example/mcp", "headers": {"Authorization": "Bearer ${SEARCH_TOKEN}"},
//	             "tools": ["web*"], "usdPerCall": "0.005"}}}
//
// ${NAME} stands for a variable of the environment. A program gets its own env and, of ours, only what it needs to run:
// never our secrets. tools names those that are taken (* stands for any part), usdPerCall is what each call costs.
//
// A tool of a server is known as server.tool. Its annotations are taken as hints: one that says it only reads is of
// capability read, any other of capability write. A server that can't be reached keeps the tools that it had.
package mcp
