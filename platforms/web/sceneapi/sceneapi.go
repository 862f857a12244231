// Package sceneapi gives drawings over HTTP to those whose they are: GET /api/scenes lists them, GET /api/scenes/{id}.svg, .png, .jpg, .webp,
// .pdf and .json are one in a format, GET /api/scenes/{id}/events tells when it changes, and POST /api/scenes/{id}/operations changes it. Another's drawing
// is not found.
package sceneapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Info is a drawing in a list.
type Info struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Version   int64     `json:"version"`
	ChangedAt time.Time `json:"changedAt"`
}

// Picture chooses what is shown of a drawing. Scale is in pixels for a pixel of the drawing.
type Picture struct {
	Board  string // the id of one; empty: all
	Format string
	Scale  float64
}

// Config wires a Handler; all but Logger are required. A drawing that is not there for an account, as its key opens it, is a *registry.Error with CodeLost.
type Config struct {
	List    func(ctx context.Context, a users.Account) ([]Info, error)
	Get     func(ctx context.Context, a users.Account, sceneID string) (Info, error)
	Picture func(ctx context.Context, a users.Account, sceneID string, p Picture) (content []byte, mime string, err error)
	// Export is the drawing as data.
	Export func(ctx context.Context, a users.Account, sceneID string) (json.RawMessage, error)
	// Edit carries out the operations of a request as one step. Its body is theirs to read, and so is the answer.
	Edit func(ctx context.Context, a users.Account, sceneID string, body json.RawMessage) (answer any, err error)
	// Caller is who sent the request of ctx.
	Caller func(ctx context.Context) (users.Account, bool)
	Logger *slog.Logger
}

type server struct{ Config }

// Handler serves the routes. Who may use them is decided where it is mounted; whose a drawing is, here.
func Handler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := server{cfg}
	mux := http.NewServeMux()
	answer := func(h door.Handler) http.HandlerFunc { return door.Answering(cfg.Caller, cfg.Logger, h) }
	mux.HandleFunc("GET /api/scenes", answer(s.list))
	mux.HandleFunc("GET /api/scenes/{file}", answer(s.file))
	mux.HandleFunc("GET /api/scenes/{id}/events", answer(s.events))
	mux.HandleFunc("POST /api/scenes/{id}/operations", answer(s.edit))
	return mux
}

// Streams tells the requests whose answer stays open.
func Streams(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/events") }

// AtOnce is how many drawings of one account are made into pictures at the same time.
const AtOnce = 4

func (s server) list(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.List(r.Context(), a)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"scenes": list})
	return nil
}

// Conflict is the error of an edit of what somebody else has changed meanwhile: see Config.Edit.
var Conflict = &problem.Problem{Status: http.StatusConflict, Code: "changed_meanwhile", Detail: "What this is about has been changed meanwhile. Read the drawing again."}

func (s server) edit(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var body json.RawMessage
	if err := door.ReadJSON(w, r, &body); err != nil {
		return err
	}
	answer, err := s.Edit(r.Context(), a, r.PathValue("id"), body)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusOK, answer)
	return nil
}

// formats are the endings of addresses.
var formats = []string{"svg", "png", "jpg", "webp", "pdf", "json"}

func (s server) file(w http.ResponseWriter, r *http.Request, a users.Account) error {
	id, format, _ := strings.Cut(r.PathValue("file"), ".")
	if !slices.Contains(formats, format) {
		return registry.Errorf(registry.CodeLost, "there is no drawing in the format %q; there are %s", format, strings.Join(formats, ", "))
	}
	info, err := s.Get(r.Context(), a, id)
	if err != nil {
		return err
	}
	p := Picture{Board: r.URL.Query().Get("board"), Format: format, Scale: 1}
	if asked := r.URL.Query().Get("scale"); asked != "" {
		if p.Scale, err = strconv.ParseFloat(asked, 64); err != nil || !(p.Scale >= 0.05 && p.Scale <= 8) {
			return registry.Errorf(registry.CodeInvalidInput, "scale is %q, expected 0.05 to 8", asked)
		}
	}
	tag := fmt.Sprintf(`"%d-%s-%g"`, info.Version, p.Board, p.Scale)
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox") // it is opened by itself, too
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	content, mime := []byte(nil), "application/json"
	if format == "json" {
		content, err = s.Export(r.Context(), a, id)
	} else {
		content, mime, err = s.Picture(r.Context(), a, id, p)
	}
	if err != nil {
		h.Del("ETag")
		return err
	}
	h.Set("Content-Type", mime)
	h.Set("Content-Disposition", `inline; filename="drawing.`+format+`"`)
	_, err = w.Write(content)
	return err
}

// look is how often a drawing that somebody watches is looked at.
const look = 400 * time.Millisecond

// events tells each new version as a server-sent event, the present one first.
func (s server) events(w http.ResponseWriter, r *http.Request, a users.Account) error {
	version := func(ctx context.Context) (door.Version, error) {
		info, err := s.Get(ctx, a, r.PathValue("id"))
		return door.Version{Number: info.Version, Body: info}, err
	}
	now, err := version(r.Context())
	if err != nil {
		return err
	}
	return door.Follow(w, r, "scene", look, now, version)
}
