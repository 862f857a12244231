package penpot

import (
	"context"
	"embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

//go:embed static
var static embed.FS

// Config wires a Handler; all but Logger are required.
type Config struct {
	Hub *Hub
	// Pair uses up the code of a request and tells whose it was.
	Pair   func(r *http.Request, code string) (accountID string, err error)
	Logger *slog.Logger
}

type server struct{ Config }

// Handler serves the plugin's files and its WebSocket. They are public: Penpot fetches the files from another origin, and the code says whose the
// connection is.
func Handler(cfg Config) http.Handler {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := server{cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /penpot/socket", s.socket)
	mux.HandleFunc("GET /penpot/{file}", s.file)
	return mux
}

// types are the media types of the plugin's files.
var types = map[string]string{"manifest.json": "application/json", "plugin.js": "text/javascript", "ui.html": "text/html; charset=utf-8", "ui.js": "text/javascript", "icon.svg": "image/svg+xml"}

func (s server) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	mime, ok := types[name]
	content, err := static.ReadFile("static/" + name)
	if !ok || err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", mime)
	h.Set("Access-Control-Allow-Origin", "*") // Penpot is another origin
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "no-cache")
	if name == "ui.html" { // it is shown in a frame of Penpot
		h.Del("X-Frame-Options")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self' ws: wss:; frame-ancestors *")
		h.Set("Referrer-Policy", "no-referrer") // the address may have a code
	}
	_, _ = w.Write(content)
}

const (
	maxAnswer = 16 << 20 // bytes of an answer
	beat      = 20 * time.Second
)

// socket pairs a plugin by its code and carries messages until one side goes.
func (s server) socket(w http.ResponseWriter, r *http.Request) {
	account, err := s.Pair(r, r.URL.Query().Get("code"))
	if err != nil {
		http.Error(w, "The code is not valid, or was used: get another one with /link.", http.StatusForbidden)
		return
	}
	// Any origin may connect: there are no cookies involved, and without a code nobody gets here.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // it has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxAnswer)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	l := &link{gone: make(chan struct{}), waiting: map[string]chan answer{}}
	l.send = func(ctx context.Context, m message) error { return wsjson.Write(ctx, conn, m) }
	leave := s.Hub.join(account, l)
	defer leave()
	go s.keep(ctx, cancel, conn, l)
	s.Logger.InfoContext(ctx, "a Penpot was connected", "account", account)
	for {
		_, raw, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var a answer
		if json.Unmarshal(raw, &a) == nil {
			l.take(a)
		}
	}
}

// keep ends the connection when another takes its place, or when nobody answers its pings.
func (s server) keep(ctx context.Context, end context.CancelFunc, conn *websocket.Conn, l *link) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	defer end()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.gone:
			return
		case <-tick.C:
			pinging, cancel := context.WithTimeout(ctx, beat)
			err := conn.Ping(pinging)
			cancel()
			if err != nil {
				return
			}
		}
	}
}
