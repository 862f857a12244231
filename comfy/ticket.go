package comfy

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/registry"
)

// plan is what a ticket carries to read a prompt's progress and results without its workflow.
type plan struct {
	Tool    string            `json:"tool,omitempty"`
	Group   string            `json:"group,omitempty"` // where it was asked for
	Titles  map[string]string `json:"titles"`          // by node id, all nodes of the prompt
	Classes map[string]string `json:"classes"`         // likewise
	Outputs []planOutput      `json:"outputs"`
	// Fees are what partners' services take, in US dollars by node id; nil where that is not known.
	Fees map[string]json.Number `json:"fees"`
	// Loads says that the engine had to load models for it.
	Loads bool `json:"loads,omitempty"`
}

type planOutput struct {
	Name string `json:"name"` // key of the tool's OutputSchema
	Node string `json:"node"`
}

// What a ticket's Extra has.
const (
	planKey   = "plan"
	clientKey = "client" // the id to whose socket the engine sends the prompt's events
)

func newPlan(tpl *loader.Template, prompt graph.Prompt) plan {
	pl := plan{Titles: map[string]string{}, Classes: map[string]string{}}
	for _, n := range prompt {
		pl.Classes[n.ID] = n.Class
		pl.Titles[n.ID] = cleanTitle(n.Title, n.Class)
	}
	for _, o := range tpl.Binding.Outputs {
		pl.Outputs = append(pl.Outputs, planOutput{Name: o.Name, Node: o.Node})
	}
	return pl
}

// ticket makes the ticket of a prompt that an engine got from a client.
func (pl plan) ticket(c registry.Call, e *Engine, client string) (registry.Ticket, error) {
	pl.Tool, pl.Group = c.Tool.ToolID, c.Group
	data, err := json.Marshal(pl)
	if err != nil {
		return registry.Ticket{}, fmt.Errorf("ticket of run %s: %w", c.RunID, err)
	}
	ref, _ := c.Tool.Metadata[loader.TemplateKey].(string)
	return registry.Ticket{
		RunID: c.RunID, Service: loader.Service, ProviderID: handleOf(c), Endpoint: e.Name,
		Extra: map[string]string{planKey: string(data), clientKey: client, loader.TemplateKey: ref},
	}, nil
}

func planOf(t registry.Ticket) (plan, error) {
	var p plan
	if err := json.Unmarshal([]byte(t.Extra[planKey]), &p); err != nil {
		return plan{}, fmt.Errorf("ticket of run %s: %w", t.RunID, err)
	}
	return p, nil
}

// clientOf is the client id of a ticket's prompt. Where it is not known there are no events, and asking has to do.
func clientOf(t registry.Ticket) string { return cmp.Or(t.Extra[clientKey], t.ProviderID) }

// handleOf is the prompt id of a call.
func handleOf(c registry.Call) string {
	if c.Handle != "" {
		return c.Handle
	}
	return c.RunID
}

// cleanTitle is what people see of a running node: its title, one short line.
func cleanTitle(title, class string) string {
	title = cmp.Or(title, class)
	return api.Short(title)
}
