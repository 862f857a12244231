package workflow

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/internal/plain"
)

// linter reports what is wrong with a workflow, or could be better.
type linter struct{ d *definer }

// lint adds what the author should know beyond what was found on the way.
func (l linter) lint() {
	l.lintNotes()
	l.lintSecrets()
	l.lintModes()
	l.lintPaths()
	l.lintPaid()
	if l.d.o.ObjectInfo.Len() > 0 {
		l.lintModels()
		l.lintSockets()
	}
}

// sortFindings puts errors first; within a severity the order stays.
func sortFindings(list []graph.Finding) {
	sort.SliceStable(list, func(i, j int) bool { return severityOrder(list[i].Severity) < severityOrder(list[j].Severity) })
}

func severityOrder(s graph.Severity) int {
	switch s {
	case graph.SeverityError:
		return 0
	case graph.SeverityWarning:
		return 1
	}
	return 2
}

func (l linter) lintNotes() {
	if l.d.notice.Description != "" {
		return
	}
	advice := "write a Note in the workflow: what it is for, what to put in, when to use it"
	if l.d.w.Graph == nil {
		advice = "the prompt form has no notes: keep the workflow's own file, saved from the editor"
	}
	l.d.f.AddFinding("no-note", graph.SeverityWarning, "", "no note describes the workflow", advice)
}

// secretName tells widgets that hold keys, by their name.
func secretName(input string) bool {
	lower := strings.ToLower(input)
	for _, word := range []string{"api_key", "apikey", "api-key", "api key", "secret", "token", "password", "passwd", "credential", "credentials"} {
		if rest, ok := strings.CutSuffix(lower, word); ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], "_-. ")) {
			return true
		}
	}
	return false
}

// lintSecrets reports keys in widgets, those of muted nodes and of unknown classes too. Their values stay out
// of every text.
func (l linter) lintSecrets() {
	told := map[string]bool{}
	for _, n := range l.d.f.Nodes {
		for _, in := range n.Inputs {
			text, ok := in.Value.(string)
			if ok && !told[n.ID] && (secretName(in.Name) && likelyKey(text) || plain.HoldsKey(text)) {
				told[n.ID] = true
				l.findSecret(n.ID, "the widget "+plain.Quote(in.Name)+" of node "+n.ID)
			}
		}
	}
	if l.d.w.Graph != nil {
		l.lintStoredSecrets(l.d.w.Graph, told)
		for _, s := range l.d.w.Subgraphs {
			l.lintStoredSecrets(&s.Graph, told)
		}
	}
	for _, note := range append(append([]graph.Note(nil), l.d.facts.Notes...), l.d.facts.SubgraphNotes...) {
		if plain.HoldsKey(note.Text) {
			l.d.f.AddFinding("secret-in-note", graph.SeverityError, note.ID, "note "+note.ID+" holds a key or token", "take it out of the file and withdraw it")
		}
	}
}

func (l linter) findSecret(node, what string) {
	l.d.f.AddFinding("secret-in-widget", graph.SeverityError, node, what+" holds a key or token", "take it out of the file and withdraw it; give keys to the server, not to workflows")
}

func (l linter) lintStoredSecrets(g *graph.Graph, told map[string]bool) {
	for _, n := range g.Nodes {
		for _, text := range n.Texts() {
			if !told[n.ID] && !graph.IsNote(n.Type) && plain.HoldsKey(text) {
				told[n.ID] = true
				l.findSecret(n.ID, "a widget of node "+n.ID)
			}
		}
	}
}

// likelyKey tells a value from the hint that stands in its place.
func likelyKey(s string) bool {
	lower := strings.ToLower(s)
	return len(s) >= 8 && !strings.ContainsAny(s, " <>{}") && !strings.HasPrefix(lower, "your") && !strings.HasPrefix(lower, "enter") && !strings.HasPrefix(lower, "xxx")
}

func (l linter) lintModes() {
	if l.d.w.Graph == nil {
		return
	}
	for _, n := range l.d.w.Graph.Nodes {
		if n.Active() || graph.OutputKind(n.Type) == "" {
			continue
		}
		how := "muted"
		if n.Mode == graph.ModeBypassed {
			how = "bypassed"
		}
		l.d.f.AddFinding("muted-output", graph.SeverityInfo, n.ID, fmt.Sprintf("node %s, %s, is %s and gives no result", n.ID, plain.Quote(n.Type), how), "switch it on if its result is wanted")
	}
}

var absolutePath = regexp.MustCompile(`^([a-zA-Z]:[\\/]|/(home|Users|mnt|root|workspace|opt|data|var|tmp|media|content)/|\\\\)`)

func (l linter) lintPaths() {
	for _, n := range l.d.f.Nodes {
		for _, in := range n.Inputs {
			if text, ok := in.Value.(string); ok && len(text) < 1000 && absolutePath.MatchString(text) {
				l.d.f.AddFinding("absolute-path", graph.SeverityWarning, n.ID, "the widget "+plain.Quote(in.Name)+" of node "+n.ID+" holds a path of the author's machine", "choose a file the server has")
			}
		}
	}
}

func (l linter) lintPaid() {
	for _, n := range l.d.f.Nodes {
		if apiNode(n) {
			l.d.f.AddFinding("api-node", graph.SeverityWarning, n.ID, "class "+plain.Quote(n.Class)+" calls a paid service", "its price is not in the tool's: set one with @tool cost=")
			return
		}
	}
}

// lintModels reports chosen files that the server does not list.
func (l linter) lintModels() {
	for _, n := range l.d.f.Nodes {
		for _, in := range n.Inputs {
			text, ok := in.Value.(string)
			s := n.SpecOf(in.Name)
			if !ok || s == nil || s.Type != "COMBO" || s.Remote || s.Upload != "" || slices.Contains(s.Options, any(text)) {
				continue
			}
			folder := modelFolder(n.Class, in.Name)
			if folder == "" && len(s.Options) == 0 {
				continue // a list that the editor fills
			}
			if folder != "" {
				l.d.f.AddFinding("missing-model", graph.SeverityWarning, n.ID, "the server has no "+plain.Quote(baseName(text))+" in "+folder, "put the file there or choose another")
				continue
			}
			l.d.f.AddFinding("value-not-in-list", graph.SeverityWarning, n.ID, "the value of "+plain.Quote(in.Name)+" in node "+n.ID+" is none of the server's choices", "choose again with this version of the node")
		}
	}
}

// lintSockets reports required sockets that nothing is linked to: a server refuses what depends on them.
func (l linter) lintSockets() {
	for _, n := range l.d.f.Nodes {
		if n.Spec == nil || n.Builtin() || !l.d.reached[n.ID] {
			continue
		}
		for _, socket := range openSockets(n) {
			l.d.f.AddFinding("required-socket", graph.SeverityError, n.ID, "nothing is linked to "+plain.Quote(socket)+" of node "+n.ID+", "+plain.Quote(n.Class), "link an output to it, or take the node out")
		}
	}
}

// openSockets names the required sockets of a node that have neither a link nor a value.
func openSockets(n *graph.FlatNode) []string {
	var open []string
	for i := range n.Spec.Inputs {
		s := &n.Spec.Inputs[i]
		if !s.Required || s.Widget && !s.ForceInput {
			continue
		}
		if _, has := n.Inputs.Get(s.Name); has || s.Grow != nil && (s.Grow.Min == 0 || grown(n, s.Name)) {
			continue
		}
		open = append(open, s.Name)
	}
	return open
}

// grown says whether an input that repeats has at least one.
func grown(n *graph.FlatNode, name string) bool {
	for _, in := range n.Inputs {
		if strings.HasPrefix(in.Name, name+".") {
			return true
		}
	}
	return false
}
