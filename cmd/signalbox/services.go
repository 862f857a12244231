package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/hosted"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/seal"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/toolapi"
	"github.com/signalbox/signalbox/providers/canvas"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/imagegen"
	"github.com/signalbox/signalbox/providers/knowledge"
	mcpservers "github.com/signalbox/signalbox/providers/mcp"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/providers/services"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// newServices makes the services that tools come from: those that need the rest of the program, and those of others (hosted).
func (a *app) newServices() ([]hosted.Service, error) {
	c, guard := a.cfg, outbound.NewClient(a.cfg.Allow)
	pictures, err := imagegen.New(imagegen.Config{
		OpenAIKey: c.OpenAIAPIKey, OpenAIURL: c.OpenAIBaseURL, GeminiKey: c.GeminiAPIKey, GeminiURL: c.GeminiBaseURL,
	})
	if err != nil {
		return nil, fmt.Errorf("the image services: %w", err)
	}
	if a.remote, err = a.newRemote(guard); err != nil {
		return nil, err
	}
	site, err := a.content.open()
	if err != nil {
		return nil, fmt.Errorf("the site: %w", err)
	}
	list := []hosted.Service{hosted.Calls(imagegen.Service, pictures), hosted.Calls(remote.Service, a.remote), hosted.Calls(agent.Service, a.agents.team()), site}
	if a.db != nil {
		if a.knowledge, err = a.newDocuments(guard); err != nil {
			return nil, err
		}
		list = append(list, hosted.Calls(knowledge.Service, a.knowledge.Provider))
		if a.canvas, err = a.newCanvas(pictures); err != nil {
			return nil, fmt.Errorf("the drawing tools: %w", err)
		}
		list = append(list, hosted.Calls(canvas.Service, a.canvas))
		list = append(list, hosted.Jobs(missions.ChainService, missions.NewChains(a.db.Pool, func() *missions.Service { return a.missions })))
	}
	if c.MCPServers != "" {
		servers := a.newMCPServers(guard)
		list = append(list, hosted.Calls(mcpservers.Service, servers))
	}
	list = append(list, a.newFiles(guard)...)
	if docs := config.List(c.OpenAPIDocs); c.ToolsDir != "" || len(docs) > 0 {
		a.documents = openapi.New(openapi.Config{
			Dir: c.ToolsDir, Documents: docs, Allow: config.List(c.OpenAPIAllow), Store: a.templates,
			Guard: outbound.NewClient(append(openapi.Hosts(docs), c.Allow...)),
		})
		list = append(list, hosted.Calls(openapi.Service, a.documents))
	}
	others, err := hosted.New(c, hosted.House{Guard: guard, Media: a.media, MediaURL: a.mediaURL, UploadPath: a.uploadPath, Imported: a.content.imported, Logger: a.log})
	if err != nil {
		return nil, err
	}
	return append(list, others...), nil
}

// uploadPath is the address here of a file that a tool keeps.
func (a *app) uploadPath(owner string, ref registry.Media, name string) string {
	return a.web.UploadPath(owner, ref, name)
}

// newFiles makes the tools over HTTP that files describe: those of the program, and those of TOOLS_DIR.
func (a *app) newFiles(guard *http.Client) []hosted.Service {
	keys := a.cfg.BundledKeys()
	files := httptools.New(httptools.Config{
		Dir: a.cfg.ToolsDir, Bundled: services.Files, Words: services.Words(), Store: a.templates, Guard: guard, MediaURL: a.mediaURL, Reports: a.post.reports(),
		Lookup: func(name string) (string, bool) {
			if key, ours := keys[name]; ours {
				return key, key != ""
			}
			return os.LookupEnv(name)
		},
	})
	return []hosted.Service{
		{Name: httptools.Service, Loader: files, Provider: runs.Provider{Submitter: files.Jobs()}},
		{Name: httptools.ServiceNow, Provider: runs.Provider{Caller: files.Calls()}},
	}
}

// newRemote makes the remote tools: those of the operator's file and, where there is a database, those that are
// registered at run time.
func (a *app) newRemote(guard *http.Client) (*remote.Provider, error) {
	c := remote.Config{File: a.cfg.ToolManifest, Store: a.templates, Guard: guard, SiteID: a.siteID(), Logger: a.log.With("component", "remote tools")}
	if a.db != nil {
		key, err := a.keyFor("headers of remote tools")
		if err != nil {
			return nil, err
		}
		if c.Seal, err = seal.New(key); err != nil {
			return nil, err
		}
		c.Pool = a.db.Pool
	}
	return remote.New(c), nil
}

// newToolAPI is how tools are registered at run time.
func (a *app) newToolAPI() http.Handler {
	return toolapi.Handler(toolapi.Config{
		Registry: a.registry, Loader: remote.LoaderName, Service: remote.Service, Caller: web.Caller, Remove: a.remote.Remove,
		Register: func(ctx context.Context, raw []byte, by string) (toolapi.Registration, error) {
			done, err := a.remote.Register(ctx, raw, by)
			return toolapi.Registration(done), err
		},
		Logger: a.log.With("component", "remote tools"),
	})
}
