package workflow

import (
	"regexp"
	"slices"
	"strings"
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
func (f *flat) fillPlaceholders() {
	for _, n := range f.nodes {
		for i := range n.Inputs {
			in := &n.Inputs[i]
			if !isPlaceholder(in.Value) {
				continue
			}
			f.find("placeholder", SeverityWarning, n.ID, "the value "+quote(asString(in.Value))+" of "+quote(in.Name)+" waits for another program to replace it", "put a usual value in its place: callers set it here")
			if s := n.specOf(in.Name); s != nil && s.Default != nil && s.Type != "STRING" {
				in.Value = s.Default
			}
		}
	}
}

// clearPlaceholders empties the texts that are left.
func (f *flat) clearPlaceholders() {
	for _, n := range f.nodes {
		for i := range n.Inputs {
			if in := &n.Inputs[i]; isPlaceholder(in.Value) && n.takesText(in.Name) {
				in.Value = ""
			}
		}
	}
}
