package main

import (
	"net/http"
	"os"

	"github.com/signalbox/signalbox/cmd/signalbox/hosted"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/services"
	"github.com/signalbox/signalbox/runs"
)

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
