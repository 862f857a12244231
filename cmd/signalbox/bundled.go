package main

import (
	"net/http"
	"os"

	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/services"
	"github.com/signalbox/signalbox/runs"
)

// bundledKeys are the secrets of the services that come as data, by the names that their files have for them.
func (c *Config) bundledKeys() map[string]string {
	return map[string]string{
		"BFL_API_KEY": c.BFLAPIKey, "RUNWAY_API_KEY": c.RunwayAPIKey, "LUMA_API_KEY": c.LumaAPIKey, "KLING_ACCESS_KEY": c.KlingAccessKey, "KLING_SECRET_KEY": c.KlingSecretKey,
		"ARK_API_KEY": c.ArkAPIKey, "GEMINI_API_KEY": c.GeminiAPIKey, "IDEOGRAM_API_KEY": c.IdeogramAPIKey, "RECRAFT_API_KEY": c.RecraftAPIKey,
		"STABILITY_API_KEY": c.StabilityAPIKey, "ELEVENLABS_API_KEY": c.ElevenLabsAPIKey, "MINIMAX_API_KEY": c.MiniMaxAPIKey,
	}
}

func (c *Config) checkBundled(p *problems) {
	for variable, key := range c.bundledKeys() {
		p.unless(fitsHeader(key), variable, "(hidden)", "a key without spaces, as the service shows it")
	}
}

// newFiles makes the tools over HTTP that files describe: those of the program, and those of TOOLS_DIR.
func (a *app) newFiles(guard *http.Client) []service {
	keys := a.cfg.bundledKeys()
	files := httptools.New(httptools.Config{
		Dir: a.cfg.ToolsDir, Bundled: services.Files, Store: a.templates, Guard: guard, MediaURL: a.mediaURL, Reports: a.post.reports(),
		Lookup: func(name string) (string, bool) {
			if key, ours := keys[name]; ours {
				return key, key != ""
			}
			return os.LookupEnv(name)
		},
	})
	return []service{
		{httptools.Service, files, runs.Provider{Submitter: files.Jobs()}},
		{name: httptools.ServiceNow, provider: runs.Provider{Caller: files.Calls()}},
	}
}
