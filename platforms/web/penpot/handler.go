package penpot

import (
	"cmp"
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
	// Pair uses up the code of a request.
	Pair   func(r *http.Request, code string) (Pairing, error)
	Logger *slog.Logger
}

// Pairing is a plugin that was paired, for as long as its owner lets it be.
type Pairing struct {
	Account string
	Ended   func(ctx context.Context) bool // whether its owner has ended it
	Leave   func(ctx context.Context)      // ends it: the plugin has gone
}

type server struct{ Config }

// Handler serves the plugin's files and its WebSocket. They are public: Penpot fetches the files from another origin, and the code says whose the
// connection is.
func Handler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
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

const maxAnswer = 16 << 20 // bytes of an answer

// socket pairs a plugin by its code and carries messages until one side goes.
func (s server) socket(w http.ResponseWriter, r *http.Request) {
	paired, err := s.Pair(r, r.URL.Query().Get("code"))
	if err != nil {
		http.Error(w, "The code is not valid, or was used: get another one with /link.", http.StatusForbidden)
		return
	}
	defer paired.Leave(context.WithoutCancel(r.Context()))
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
	leave := s.Hub.join(paired.Account, l)
	defer leave()
	go s.keep(ctx, cancel, conn, l, paired)
	s.Logger.InfoContext(ctx, "a Penpot was connected", "account", paired.Account)
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

// keep ends the connection when another takes its place, when its owner has ended it, or when nobody answers its pings.
func (s server) keep(ctx context.Context, end context.CancelFunc, conn *websocket.Conn, l *link, paired Pairing) {
	tick := time.NewTicker(s.Hub.beat)
	defer tick.Stop()
	defer end()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.gone:
			return
		case <-tick.C:
			if paired.Ended(ctx) {
				return
			}
			pinging, cancel := context.WithTimeout(ctx, s.Hub.beat)
			err := conn.Ping(pinging)
			cancel()
			if err != nil {
				return
			}
		}
	}
}
