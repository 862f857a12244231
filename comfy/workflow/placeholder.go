package workflow

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/internal/plain"
)

// placeholder matches values that another program was to replace before it sent the prompt.
var placeholder = regexp.MustCompile(`^\s*(\{\{[^{}|]+\}\}|\$\{[^{}]+\}|%[A-Za-z_]\w*%)\s*$`)

// nameTokens are what the server itself replaces in the names of files it saves.
var nameTokens = []string{"%year%", "%month%", "%day%", "%hour%", "%minute%", "%second%", "%width%", "%height%", "%batch_num%", "%date%"}

func isPlaceholder(v any) bool {
	text, ok := v.(string)
	return ok && len(text) < 100 && placeholder.MatchString(text) && !slices.Contains(nameTokens, strings.TrimSpace(text))
}

// fillPlaceholders puts what the class declares in the place of numbers and switches that are to come: no server
// takes the text there. Texts keep it until the fields are made, since equal ones belong together.
func (d *definer) fillPlaceholders() {
	for _, n := range d.f.Nodes {
		for i := range n.Inputs {
			in := &n.Inputs[i]
			if !isPlaceholder(in.Value) {
				continue
			}
			d.f.AddFinding("placeholder", graph.SeverityWarning, n.ID, "the value "+plain.Quote(textOf(in.Value))+" of "+plain.Quote(in.Name)+" waits for another program to replace it", "put a usual value in its place: callers set it here")
			if s := n.SpecOf(in.Name); s != nil && s.Default != nil && s.Type != "STRING" {
				in.Value = s.Default
			}
		}
	}
}

// clearPlaceholders empties the texts that are left.
func (d *definer) clearPlaceholders() {
	for _, n := range d.f.Nodes {
		for i := range n.Inputs {
			if in := &n.Inputs[i]; isPlaceholder(in.Value) && takesText(n, in.Name) {
				in.Value = ""
			}
		}
	}
}
