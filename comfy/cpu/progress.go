package cpu

import (
	"time"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// progressInterval is the least time between two progress events of a node, the first and the last excepted.
const progressInterval = 100 * time.Millisecond

// progress tells the client how far each node of a run is.
type progress struct {
	hub    *hub
	client string
	prompt string
	now    func() time.Time

	nodes *pyval.Dict // *pyval.Dict by node id
	last  map[string]time.Time
}

func newProgress(h *hub, client, prompt string, now func() time.Time) *progress {
	return &progress{hub: h, client: client, prompt: prompt, now: now, nodes: &pyval.Dict{}, last: map[string]time.Time{}}
}

func (p *progress) set(id string, value, limit any, state string) {
	p.nodes.Set(id, pyval.D("value", value, "max", limit, "state", state, "node_id", id, "prompt_id", p.prompt,
		"display_node_id", id, "parent_node_id", nil, "real_node_id", id))
	// Without a client everybody is told, as on the real server.
	if p.hub.heard(p.client) {
		p.hub.send(p.client, "progress_state", pyval.D("prompt_id", p.prompt, "nodes", p.nodes))
	}
}

func (p *progress) start(id string) { p.set(id, 0.0, 1.0, "running") }

func (p *progress) finish(id string) {
	var limit any = 1.0
	if d, ok := p.nodes.At(id).(*pyval.Dict); ok {
		limit = d.At("max")
	}
	p.set(id, limit, limit, "finished")
}

func (p *progress) update(id string, value, limit int, picture []byte, format node.PreviewFormat) {
	last, begun := p.last[id]
	now := p.now()
	if begun && value < limit && picture == nil && now.Sub(last) < progressInterval {
		return
	}
	p.last[id] = now
	p.set(id, int64(value), int64(limit), "running")
	p.hub.send(p.client, "progress", pyval.D("value", int64(value), "max", int64(limit), "prompt_id", p.prompt, "node", id))
	if picture != nil {
		p.hub.preview(p.client, format, picture, pyval.D("node_id", id, "prompt_id", p.prompt, "display_node_id", id,
			"parent_node_id", nil, "real_node_id", id, "image_type", map[node.PreviewFormat]string{node.PreviewJPEG: "image/jpeg", node.PreviewPNG: "image/png"}[format]))
	}
}
