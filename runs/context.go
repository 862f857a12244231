package runs

import (
	"cmp"
	"encoding/json"

	"github.com/signalbox/signalbox/registry"
)

// encodeContext writes a context as it is stored; nil where there is none.
func encodeContext(c registry.CallContext) ([]byte, error) {
	if c == (registry.CallContext{}) {
		return nil, nil
	}
	return json.Marshal(c)
}

// Trace is the id under which all that a run does is found: the one of its request, or else its own id.
func (r Run) Trace() string { return cmp.Or(r.Context.TraceID, r.ID) }

// contextOf is a run's context as providers get it.
func (s *env) contextOf(r *Run) registry.CallContext {
	c := r.Context
	c.SiteID = cmp.Or(c.SiteID, s.config.SiteID)
	return c
}

// logOf gives the log of the work on a run.
func (s *env) logOf(r *Run) logger {
	log := s.log.With("run", r.ID, "tool", r.Tool.ToolID)
	if r.Context.TraceID != "" {
		log = log.With("traceId", r.Context.TraceID)
	}
	return log
}
