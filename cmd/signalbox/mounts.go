package main

import (
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/cmd/signalbox/drawings"
	"github.com/signalbox/signalbox/cmd/signalbox/sources"
	"github.com/signalbox/signalbox/payments/stripe"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/askapi"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/engineapi"
	"github.com/signalbox/signalbox/platforms/web/knowledgeapi"
	"github.com/signalbox/signalbox/platforms/web/mcp"
	"github.com/signalbox/signalbox/platforms/web/missionapi"
	"github.com/signalbox/signalbox/platforms/web/sceneapi"
	"github.com/signalbox/signalbox/platforms/web/siteapi"
	"github.com/signalbox/signalbox/platforms/web/siteeditor"
	"github.com/signalbox/signalbox/platforms/web/toolapi"
	"github.com/signalbox/signalbox/webhooks"
)

// mounted are the handlers that are served beside the page's own; nil: there is none.
type mounted struct {
	console, tools, mcp, ask             http.Handler
	knowledge, site, siteAPI, siteEditor http.Handler
	missions, engines                    http.Handler
	scenes, penpot                       http.Handler // drawings, and the plugin that shows them in Penpot
	inbox                                http.Handler // callbacks of services, which are signed or carry a token
	telegram, discord                    http.Handler // updates, which are signed or carry a secret
	stripe                               http.Handler // events about payments, which are signed
}

// mounts is the list of their addresses: what each does, and so who may come, is in the table of docs/people.md.
func (m mounted) mounts() []web.Mount {
	list := []web.Mount{
		{Path: "GET " + console.Root, Use: web.OperatorRead, Page: true, Handler: m.console},
		{Path: "POST " + console.Root, Use: web.OperatorChange, Page: true, Handler: m.console},
		{Path: "GET /tools", Use: web.Read, Handler: m.tools, Describe: toolapi.Describe()},
		{Path: "POST /tools/register", Use: web.OperatorChange, Handler: m.tools},
		{Path: "DELETE /tools/{name}", Use: web.OperatorChange, Handler: m.tools},
		{Path: "GET /mcp", Use: web.Run, Handler: m.mcp, Streams: mcp.Streams},
		{Path: "POST /mcp", Use: web.Run, Handler: m.mcp, Streams: mcp.Streams},
		{Path: "DELETE /mcp", Use: web.Run, Handler: m.mcp},
		{Path: "POST /api/ask", Use: web.Run, Handler: m.ask, AtOnce: askapi.AtOnce, Describe: askapi.Describe()},
		{Path: "POST " + askapi.ImprovePath, Use: web.Run, Handler: m.ask, AtOnce: askapi.AtOnce, Describe: askapi.DescribeImprove()},
		{Path: "DELETE /api/conversations/{id}", Use: web.Run, Handler: m.ask, Describe: askapi.DescribeForget()},
		{Path: "GET /api/knowledge/sources", Use: web.Content, Handler: m.knowledge, Describe: knowledgeapi.Describe()},
		{Path: "POST /api/knowledge/sources", Use: web.Manage, Handler: m.knowledge},
		{Path: "DELETE /api/knowledge/sources/{name}", Use: web.Manage, Handler: m.knowledge},
		{Path: "GET /api/scenes", Use: web.Content, Handler: m.scenes, Describe: sceneapi.Describe()},
		{Path: "GET /api/scenes/{file}", Use: web.Content, Handler: m.scenes, AtOnce: sceneapi.AtOnce},
		{Path: "GET /api/scenes/{id}/events", Use: web.Content, Handler: m.scenes, Streams: sceneapi.Streams},
		{Path: "POST /api/scenes/{id}/operations", Use: web.Content, Handler: m.scenes, AtOnce: sceneapi.AtOnce},
		{Path: "GET /api/missions", Use: web.Read, Handler: m.missions, Describe: missionapi.Describe()},
		{Path: "POST /api/missions", Use: web.Run, Handler: m.missions, AtOnce: missionapi.AtOnce},
		{Path: "GET /api/missions/{id}", Use: web.Read, Handler: m.missions},
		{Path: "GET /api/missions/{id}/events", Use: web.Read, Handler: m.missions, Streams: missionapi.Streams},
		{Path: "POST /api/missions/{id}/confirm", Use: web.Approve, Handler: m.missions},
		{Path: "POST /api/missions/{id}/cancel", Use: web.Run, Handler: m.missions},
		{Path: "GET /api/chains", Use: web.Read, Handler: m.missions},
		{Path: "POST /api/chains", Use: web.Manage, Handler: m.missions},
		{Path: "GET /api/chains/{id}", Use: web.Read, Handler: m.missions},
		{Path: "PUT /api/chains/{id}", Use: web.Manage, Handler: m.missions},
		{Path: "DELETE /api/chains/{id}", Use: web.Manage, Handler: m.missions},
		{Path: "GET /api/engines", Use: web.OperatorRead, Handler: m.engines, Describe: engineapi.Describe()},
		{Path: "PUT /api/engines/{engine}", Use: web.OperatorChange, Handler: m.engines},
		{Path: "GET /penpot/{file}", Use: web.Public, Handler: m.penpot},
		{Path: "POST " + webhooks.Root, Use: web.Public, Handler: m.inbox},
		{Path: "POST " + telegram.WebhookPath, Use: web.Public, Handler: m.telegram},
		{Path: "POST " + discord.InteractionsPath, Use: web.Public, Handler: m.discord},
		{Path: "POST " + stripe.WebhookPath, Use: web.Public, Handler: m.stripe},
		{Path: "GET " + sitePath + "/", Use: web.Public, Handler: m.site},
		{Path: "GET " + siteeditor.Root, Use: web.Person, Page: true, Handler: m.siteEditor},
	}
	for _, path := range siteapi.Reads() {
		list = append(list, web.Mount{Path: path, Use: web.Content, Handler: m.siteAPI})
	}
	for _, path := range siteapi.Changes() {
		list = append(list, web.Mount{Path: path, Use: web.Manage, Handler: m.siteAPI})
	}
	list[len(list)-1].Describe = siteapi.Describe()
	return slices.DeleteFunc(list, func(one web.Mount) bool { return one.Handler == nil })
}

// newMounts makes what is mounted. secret signs what people confirm by MCP.
func (a *app) newMounts(secret []byte) ([]web.Mount, error) {
	m := mounted{
		missions: a.newMissionAPI(), engines: a.engines().API(a.users, a.log.With("component", "engines")), tools: a.newToolAPI(), knowledge: sources.API(a.knowledge.Provider, a.knowledge.readAgain, a.log.With("component", "knowledge")),
		scenes: drawings.API(a.canvas, a.log.With("component", "drawings")), penpot: drawings.Penpot(a.penpot, a.users, a.log.With("component", "penpot")), inbox: a.post.inbox, site: a.content.visitors(), siteAPI: a.content.api(),
	}
	var err error
	if m.siteEditor, err = a.content.editor(); err != nil {
		return nil, err
	}
	if m.console, err = a.newConsole(); err != nil {
		return nil, err
	}
	if m.mcp, err = a.newMCP(secret); err != nil {
		return nil, err
	}
	if m.ask, err = a.agents.handler(); err != nil {
		return nil, err
	}
	if till := a.seller.Till(); till != nil {
		m.stripe = till
	}
	if a.chat.telegram != nil {
		m.telegram = a.chat.telegram.WebhookHandler()
	}
	if a.chat.discord != nil && a.chat.discord.TakesHTTP() {
		m.discord = a.chat.discord.EndpointHandler()
	}
	return m.mounts(), nil
}
