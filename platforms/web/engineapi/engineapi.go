// Package engineapi is what operators do about engines, over HTTP: GET /api/engines lists them, PUT /api/engines/{engine} cordons, drains or releases
// one, or gives it runs again. Who may do so is decided where it is mounted.
package engineapi

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Config wires a Handler; all but Logger are required.
type Config struct {
	// Names lists the engines, and List tells of them, as JSON.
	Names func() []string
	List  func() any
	// Order sets what is wanted of an engine: see orders.
	Order func(ctx context.Context, engine, order string) error
	// Record takes an order down in the audit log.
	Record func(ctx context.Context, e users.AuditEntry) error
	// Caller is who sent the request of ctx.
	Caller func(ctx context.Context) (users.Account, bool)
	Logger *slog.Logger
}

// orders are the words of the API, with the order of an engine and what the audit log calls it.
var orders = map[string]struct{ order, action string }{
	"cordon": {"cordoned", "engine.cordon"}, "drain": {"draining", "engine.drain"}, "release": {"released", "engine.release"}, "uncordon": {"", "engine.uncordon"},
}

const maxWhy = 500 // bytes of a reason

type server struct{ Config }

// Handler serves both routes.
func Handler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := server{cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/engines", s.list)
	mux.HandleFunc("PUT /api/engines/{engine}", door.Answering(cfg.Caller, cfg.Logger, s.order))
	return mux
}

func (s server) list(w http.ResponseWriter, _ *http.Request) {
	door.WriteJSON(w, http.StatusOK, map[string]any{"engines": s.List()})
}

func (s server) order(w http.ResponseWriter, r *http.Request, by users.Account) error {
	name := r.PathValue("engine")
	if !slices.Contains(s.Names(), name) {
		return &problem.Problem{Status: http.StatusNotFound, Code: problem.ErrNothingThere.Code, Detail: fmt.Sprintf("There is no engine %.80q. GET /api/engines lists them.", name)}
	}
	var body struct{ Do, Why string }
	if err := door.ReadJSON(w, r, &body); err != nil {
		return err
	}
	wanted, ok := orders[body.Do]
	if !ok {
		return invalid("do", "found %.40q, expected cordon, drain, release or uncordon", body.Do)
	}
	body.Why = strings.TrimSpace(body.Why)
	if body.Why == "" || len(body.Why) > maxWhy {
		return invalid("why", "a reason of 1 to %d characters is expected: the audit log keeps it", maxWhy)
	}
	if err := s.Order(r.Context(), name, wanted.order); err != nil {
		return err
	}
	says := fmt.Sprintf("Engine %s takes runs again.", name)
	if wanted.order != "" {
		says = fmt.Sprintf("Engine %s is %s.", name, wanted.order)
	}
	if err := s.Record(r.Context(), users.AuditEntry{By: by.ID, Action: wanted.action, Detail: says, Note: body.Why}); err != nil {
		return fmt.Errorf("%s It could not be taken down in the audit log: %w", says, err)
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"engine": name, "order": wanted.order})
	return nil
}

func invalid(field, format string, args ...any) error {
	e := registry.Errorf(registry.CodeInvalidInput, field+": "+format, args...)
	e.Field = field
	return e
}
