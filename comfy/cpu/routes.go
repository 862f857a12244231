package cpu

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// methods are the handlers of one path by HTTP method. A handler's error becomes a bare 500, as every uncaught exception
// does on the real server.
type methods map[string]func(w http.ResponseWriter, r *http.Request) error

func (e *Engine) routes() http.Handler {
	table := map[string]methods{
		"/":                            {"GET": e.getRoot},
		"/prompt":                      {"GET": e.getPrompt, "POST": e.postPrompt},
		"/queue":                       {"GET": e.getQueue, "POST": e.postQueue},
		"/interrupt":                   {"POST": e.postInterrupt},
		"/free":                        {"POST": e.postFree},
		"/history":                     {"GET": e.getHistory, "POST": e.postHistory},
		"/history/{id}":                {"GET": e.getHistoryEntry},
		"/view":                        {"GET": e.getView},
		"/view_metadata/{folder}":      {"GET": notFound},
		"/upload/image":                {"POST": e.postUploadImage},
		"/upload/mask":                 {"POST": e.postUploadMask},
		"/object_info":                 {"GET": e.getObjectInfo},
		"/object_info/{class}":         {"GET": e.getObjectInfoOf},
		"/system_stats":                {"GET": e.getSystemStats},
		"/features":                    {"GET": e.getFeatures},
		"/embeddings":                  {"GET": emptyList},
		"/extensions":                  {"GET": emptyList},
		"/models":                      {"GET": getModels},
		"/models/{folder}":             {"GET": getModelsOf},
		"/node_replacements":           {"GET": getReplacements},
		"/experiment/models":           {"GET": getModelFolders},
		"/experiment/models/{folder}":  {"GET": getModelsOf},
		"/workflow_templates":          {"GET": getWorkflowTemplates},
		"/users":                       {"GET": e.getUsers},
		"/settings":                    {"GET": e.getSettings, "POST": e.postSettings},
		"/settings/{id}":               {"GET": e.getSetting, "POST": e.postSetting},
		"/userdata":                    {"GET": e.listUserdata},
		"/v2/userdata":                 {"GET": e.listUserdataV2},
		"/userdata/{file}":             {"GET": e.getUserdata, "POST": e.postUserdata, "DELETE": e.deleteUserdata},
		"/userdata/{file}/move/{dest}": {"POST": e.moveUserdata},
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
			plain(w, http.StatusNotFound, "404: Not Found")
		default:
			w.Header().Set("Allow", strings.Join(allowed, ","))
			plain(w, http.StatusMethodNotAllowed, "405: Method Not Allowed")
		}
	}
}

func (e *Engine) answer(w http.ResponseWriter, r *http.Request, handle func(http.ResponseWriter, *http.Request) error) {
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Logger.Error("request failed in the engine itself", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			trouble(w)
		}
	}()
	err := handle(w, r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		plain(w, http.StatusRequestEntityTooLarge, "Maximum request body size exceeded")
	case err != nil:
		e.cfg.Logger.Debug("request refused", "path", r.URL.Path, "error", err)
		trouble(w)
	}
}

// guarded refuses requests that a foreign web page makes a browser send, and bounds bodies.
func (e *Engine) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.knownHost(r.Host) || r.Header.Get("Sec-Fetch-Site") == "cross-site" || foreignOrigin(r) {
			empty(w, http.StatusForbidden)
			return
		}
		if r.Method == http.MethodOptions {
			empty(w, http.StatusOK)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, e.cfg.MaxBody)
		// Go's query parser refuses a bare semicolon, which previews are asked for with.
		r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")
		next.ServeHTTP(w, r)
	})
}

// knownHost reports whether a request names the engine as whoever runs it does. A name that a stranger has led here is none.
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

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// trouble is the answer to everything the real server does not expect.
func trouble(w http.ResponseWriter) {
	plain(w, http.StatusInternalServerError, "500 Internal Server Error\n\nServer got itself in trouble")
}

func empty(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(status)
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, err := io.WriteString(w, pyval.Dumps(v))
	if err != nil {
		return nil // the client is gone
	}
	return nil
}

// body reads and parses a JSON body.
func body(r *http.Request) (any, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return pyval.Parse(text)
}

// dictBody reads a body that must be a JSON object.
func dictBody(r *http.Request) (*pyval.Dict, error) {
	return dictOf(r.Body)
}

func dictOf(r io.Reader) (*pyval.Dict, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	v, err := pyval.Parse(text)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*pyval.Dict)
	if !ok {
		return nil, errors.New("the body is not a JSON object")
	}
	return d, nil
}

func notFound(w http.ResponseWriter, _ *http.Request) error {
	empty(w, http.StatusNotFound)
	return nil
}

func emptyList(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, []any{})
}

func (e *Engine) getRoot(w http.ResponseWriter, _ *http.Request) error {
	plain(w, http.StatusOK, "This is Signalbox's ComfyUI-compatible engine. It has no page of its own: send prompts to POST /prompt, see GET /object_info for the nodes.\n")
	return nil
}

func (e *Engine) getSocket(w http.ResponseWriter, r *http.Request) error {
	e.hub.serve(w, r, e.queue.remaining, e.features())
	return nil
}
