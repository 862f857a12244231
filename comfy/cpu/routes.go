package cpu

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/folders"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// methods are the handlers of one path by HTTP method. A handler's error becomes a bare 500, as every uncaught exception
// does on the real server.
type methods map[string]func(w http.ResponseWriter, r *http.Request) error

func (e *Engine) routes() http.Handler {
	pictures := folders.Pictures{Files: e.files, MaxPixels: e.cfg.MaxPixels}
	table := map[string]methods{
		"/":                            {"GET": e.getRoot},
		"/prompt":                      {"GET": e.getPrompt, "POST": e.postPrompt},
		"/queue":                       {"GET": e.getQueue, "POST": e.postQueue},
		"/interrupt":                   {"POST": e.postInterrupt},
		"/free":                        {"POST": e.postFree},
		"/history":                     {"GET": e.getHistory, "POST": e.postHistory},
		"/history/{id}":                {"GET": e.getHistoryEntry},
		"/view":                        {"GET": pictures.View},
		"/view_metadata/{folder}":      {"GET": reply.NotFound},
		"/upload/image":                {"POST": pictures.Upload},
		"/upload/mask":                 {"POST": pictures.UploadMask},
		"/object_info":                 {"GET": e.getObjectInfo},
		"/object_info/{class}":         {"GET": e.getObjectInfoOf},
		"/system_stats":                {"GET": e.getSystemStats},
		"/features":                    {"GET": e.getFeatures},
		"/embeddings":                  {"GET": reply.EmptyList},
		"/extensions":                  {"GET": reply.EmptyList},
		"/models":                      {"GET": getModels},
		"/models/{folder}":             {"GET": getModelsOf},
		"/node_replacements":           {"GET": getReplacements},
		"/experiment/models":           {"GET": getModelFolders},
		"/experiment/models/{folder}":  {"GET": getModelsOf},
		"/workflow_templates":          {"GET": getWorkflowTemplates},
		"/users":                       {"GET": e.user.Users},
		"/settings":                    {"GET": e.user.GetSettings, "POST": e.user.PostSettings},
		"/settings/{id}":               {"GET": e.user.GetSetting, "POST": e.user.PostSetting},
		"/userdata":                    {"GET": e.user.List},
		"/v2/userdata":                 {"GET": e.user.ListV2},
		"/userdata/{file}":             {"GET": e.user.Get, "POST": e.user.Post, "DELETE": e.user.Delete},
		"/userdata/{file}/move/{dest}": {"POST": e.user.Move},
		"/internal/logs":               {"GET": e.getLogs},
		"/internal/logs/raw":           {"GET": e.getRawLogs},
		"/internal/logs/subscribe":     {"PATCH": e.patchLogs},
		"/ws":                          {"GET": e.getSocket},
		"/api/jobs":                    {"GET": e.getJobs},
		"/api/jobs/{id}":               {"GET": e.getJob},
	}
	mux := http.NewServeMux()
	for path, m := range table {
		if path == "/" {
			path = "/{$}"
		}
		mux.HandleFunc(path, e.dispatch(m))
		mux.HandleFunc("/api"+path, e.dispatch(m))
	}
	mux.HandleFunc("/", e.dispatch(methods{}))
	return e.guarded(mux)
}

// dispatch answers as the real server does, where everything below / is also a place of files: GET of an unknown path is
// 404, any other method 405.
func (e *Engine) dispatch(m methods) http.HandlerFunc {
	allowed := []string{"GET", "HEAD"}
	for method := range m {
		if !slices.Contains(allowed, method) {
			allowed = append(allowed, method)
		}
	}
	slices.Sort(allowed)
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		handle, ok := m[method]
		switch {
		case ok:
			e.answer(w, r, handle)
		case method == http.MethodGet:
			reply.Plain(w, http.StatusNotFound, "404: Not Found")
		default:
			w.Header().Set("Allow", strings.Join(allowed, ","))
			reply.Plain(w, http.StatusMethodNotAllowed, "405: Method Not Allowed")
		}
	}
}

func (e *Engine) answer(w http.ResponseWriter, r *http.Request, handle func(http.ResponseWriter, *http.Request) error) {
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Logger.Error("request failed in the engine itself", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			reply.Trouble(w)
		}
	}()
	err := handle(w, r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		reply.Plain(w, http.StatusRequestEntityTooLarge, "Maximum request body size exceeded")
	case err != nil:
		e.cfg.Logger.Debug("request refused", "path", r.URL.Path, "error", err)
		reply.Trouble(w)
	}
}

// guarded refuses requests that a foreign web page makes a browser send, and bounds bodies.
func (e *Engine) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.knownHost(r.Host) || r.Header.Get("Sec-Fetch-Site") == "cross-site" || foreignOrigin(r) {
			reply.Empty(w, http.StatusForbidden)
			return
		}
		if r.Method == http.MethodOptions {
			reply.Empty(w, http.StatusOK)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, e.cfg.MaxBody)
		// Go's query parser refuses a bare semicolon, which previews are asked for with.
		r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")
		next.ServeHTTP(w, r)
	})
}

// knownHost reports whether a request names the engine as the one who runs it does. A name that a stranger has led here is none.
func (e *Engine) knownHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() || e.cfg.Listen != "" && strings.EqualFold(host, e.cfg.Listen) {
		return true
	}
	// Who listens everywhere is reached by any address, and by names of the inner network, which have no dot.
	all := net.ParseIP(e.cfg.Listen)
	return all != nil && all.IsUnspecified() && (ip != nil || host != "" && !strings.Contains(host, "."))
}

// foreignOrigin tells an Origin header of another host, on a server reached by a loopback name.
func foreignOrigin(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Host == "" {
		return r.Header.Get("Origin") != "" && err != nil
	}
	host, from := strings.ToLower(r.Host), strings.ToLower(origin.Host)
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), ""
	}
	ip := net.ParseIP(name)
	if name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return false
	}
	if origin.Port() == "" {
		host = name
	}
	if port == "" {
		from = strings.ToLower(origin.Hostname())
	}
	return host != from
}

func (e *Engine) getRoot(w http.ResponseWriter, _ *http.Request) error {
	reply.Plain(w, http.StatusOK, "This is Signalbox's ComfyUI-compatible engine. It has no page of its own: send prompts to POST /prompt, see GET /object_info for the nodes.\n")
	return nil
}

func (e *Engine) getSocket(w http.ResponseWriter, r *http.Request) error {
	e.hub.serve(w, r, e.queue.remaining, e.features())
	return nil
}
