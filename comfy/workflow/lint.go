package workflow

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// lint adds what the author should know beyond what was found on the way.
func (d *definer) lint() {
	d.lintNotes()
	d.lintSecrets()
	d.lintModes()
	d.lintPaths()
	d.lintPaid()
	if d.o.ObjectInfo.Len() > 0 {
		d.lintModels()
		d.lintSockets()
	}
}

// sortFindings puts errors first; within a severity the order stays.
func sortFindings(list []Finding) {
	sort.SliceStable(list, func(i, j int) bool { return severityOrder(list[i].Severity) < severityOrder(list[j].Severity) })
}

func severityOrder(s Severity) int {
	switch s {
	case SeverityError:
		return 0
	case SeverityWarning:
		return 1
	}
	return 2
}

func (d *definer) lintNotes() {
	if d.notice.description != "" {
		return
	}
	advice := "write a Note in the workflow: what it is for, what to put in, when to use it"
	if d.w.Graph == nil {
		advice = "the prompt form has no notes: keep the workflow's own file, saved from the editor"
	}
	d.f.find("no-note", SeverityWarning, "", "no note describes the workflow", advice)
}

var secretText = regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|ghp_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|AIza[A-Za-z0-9_-]{30,}|AKIA[A-Z0-9]{16}|xox[abp]-[A-Za-z0-9-]{10,}|eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}|r8_[A-Za-z0-9]{30,})`)

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

// looksSecret tells values that are keys, by their look.
func looksSecret(s string) bool {
	if len(s) < 18 {
		return false
	}
	for i := 0; i+4 <= len(s); i++ {
		if i > 0 && isAlnum(s[i-1]) {
			continue
		}
		switch s[i : i+3] {
		case "sk-", "hf_", "ghp", "git", "AIz", "AKI", "xox", "eyJ", "r8_":
			if secretText.MatchString(s[i:]) {
				return true
			}
		}
	}
	return false
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// lintSecrets reports keys in widgets, those of muted nodes and of unknown classes too. Their values stay out
// of every text.
func (d *definer) lintSecrets() {
	told := map[string]bool{}
	for _, n := range d.f.nodes {
		for _, in := range n.Inputs {
			text, ok := in.Value.(string)
			if ok && !told[n.ID] && (secretName(in.Name) && likelyKey(text) || looksSecret(text)) {
				told[n.ID] = true
				d.findSecret(n.ID, "the widget "+quote(in.Name)+" of node "+n.ID)
			}
		}
	}
	if d.w.Graph != nil {
		d.lintStoredSecrets(d.w.Graph, told)
		for _, s := range d.w.Subgraphs {
			d.lintStoredSecrets(&s.Graph, told)
		}
	}
	for _, note := range append(append([]Note(nil), d.facts.Notes...), d.facts.SubgraphNotes...) {
		if looksSecret(note.Text) {
			d.f.find("secret-in-note", SeverityError, note.ID, "note "+note.ID+" holds a key or token", "take it out of the file and withdraw it")
		}
	}
}

func (d *definer) findSecret(node, what string) {
	d.f.find("secret-in-widget", SeverityError, node, what+" holds a key or token", "take it out of the file and withdraw it; give keys to the server, not to workflows")
}

func (d *definer) lintStoredSecrets(g *Graph, told map[string]bool) {
	for _, n := range g.Nodes {
		values, _ := n.values.([]any)
		if o, ok := n.values.(*object); ok {
			for _, m := range o.Members() {
				values = append(values, m.Value)
			}
		}
		for _, v := range values {
			if text, ok := v.(string); ok && !told[n.ID] && !isNote(n.Type) && looksSecret(text) {
				told[n.ID] = true
				d.findSecret(n.ID, "a widget of node "+n.ID)
			}
		}
	}
}

// likelyKey tells a value from the hint that stands in its place.
func likelyKey(s string) bool {
	lower := strings.ToLower(s)
	return len(s) >= 8 && !strings.ContainsAny(s, " <>{}") && !strings.HasPrefix(lower, "your") && !strings.HasPrefix(lower, "enter") && !strings.HasPrefix(lower, "xxx")
}

func (d *definer) lintModes() {
	if d.w.Graph == nil {
		return
	}
	for _, n := range d.w.Graph.Nodes {
		if n.active() || outputKind(n.Type) == "" {
			continue
		}
		how := "muted"
		if n.Mode == ModeBypassed {
			how = "bypassed"
		}
		d.f.find("muted-output", SeverityInfo, n.ID, fmt.Sprintf("node %s, %s, is %s and gives no result", n.ID, quote(n.Type), how), "switch it on if its result is wanted")
	}
}

var absolutePath = regexp.MustCompile(`^([a-zA-Z]:[\\/]|/(home|Users|mnt|root|workspace|opt|data|var|tmp|media|content)/|\\\\)`)

func (d *definer) lintPaths() {
	for _, n := range d.f.nodes {
		for _, in := range n.Inputs {
			if text, ok := in.Value.(string); ok && len(text) < 1000 && absolutePath.MatchString(text) {
				d.f.find("absolute-path", SeverityWarning, n.ID, "the widget "+quote(in.Name)+" of node "+n.ID+" holds a path of the author's machine", "choose a file the server has")
			}
		}
	}
}

func (d *definer) lintPaid() {
	for _, n := range d.f.nodes {
		if n.apiNode() {
			d.f.find("api-node", SeverityWarning, n.ID, "class "+quote(n.Class)+" calls a paid service", "its price is not in the tool's: set one with @tool cost=")
			return
		}
	}
}

// lintModels reports chosen files that the server does not list.
func (d *definer) lintModels() {
	for _, n := range d.f.nodes {
		for _, in := range n.Inputs {
			text, ok := in.Value.(string)
			s := n.specOf(in.Name)
			if !ok || s == nil || s.Type != "COMBO" || s.Remote || s.Upload != "" || hasOption(s.Options, text) {
				continue
			}
			folder := modelFolder(n.Class, in.Name)
			if folder == "" && len(s.Options) == 0 {
				continue // a list that the editor fills
			}
			if folder != "" {
				d.f.find("missing-model", SeverityWarning, n.ID, "the server has no "+quote(baseName(text))+" in "+folder, "put the file there or choose another")
				continue
			}
			d.f.find("value-not-in-list", SeverityWarning, n.ID, "the value of "+quote(in.Name)+" in node "+n.ID+" is none of the server's choices", "choose again with this version of the node")
		}
	}
}

// lintSockets reports required sockets that nothing is linked to: a server refuses what depends on them.
func (d *definer) lintSockets() {
	for _, n := range d.f.nodes {
		if n.spec == nil || n.builtin() || !d.reached[n.ID] {
			continue
		}
		for _, socket := range n.openSockets() {
			d.f.find("required-socket", SeverityError, n.ID, "nothing is linked to "+quote(socket)+" of node "+n.ID+", "+quote(n.Class), "link an output to it, or take the node out")
		}
	}
}

// openSockets names the required sockets of a node that have neither a link nor a value.
func (n *flatNode) openSockets() []string {
	var open []string
	for i := range n.spec.Inputs {
		s := &n.spec.Inputs[i]
		if !s.Required || s.widget && !s.ForceInput {
			continue
		}
		if _, has := n.Inputs.Get(s.Name); has || s.Grow != nil && (s.Grow.Min == 0 || n.grown(s.Name)) {
			continue
		}
		open = append(open, s.Name)
	}
	return open
}

// grown says whether an input that repeats has at least one.
func (n *flatNode) grown(name string) bool {
	for _, in := range n.Inputs {
		if strings.HasPrefix(in.Name, name+".") {
			return true
		}
	}
	return false
}

func hasOption(list []any, v string) bool {
	for _, o := range list {
		if o == any(v) {
			return true
		}
	}
	return false
}

// CommandClashes reports tools of several files that claim one command or one id: the file that comes first
// by name keeps it. The result has one finding list for each file with a clash.
func CommandClashes(tools map[string]registry.Tool) map[string][]Finding {
	files := make([]string, 0, len(tools))
	for name := range tools {
		files = append(files, name)
	}
	sort.Strings(files)
	owner := map[string]string{}
	out := map[string][]Finding{}
	for _, file := range files {
		t := tools[file]
		for _, claim := range []struct{ what, value string }{{"command", t.CommandName}, {"id", t.ToolID}} {
			key := claim.what + " " + claim.value
			first, taken := owner[key]
			if !taken {
				owner[key] = file
				continue
			}
			out[file] = append(out[file], Finding{Code: "command-clash", Severity: SeverityError,
				Message: fmt.Sprintf("%s claims the %s %s, which %s has", quote(baseName(file)), claim.what, claim.value, quote(baseName(first))),
				Advice:  "rename one of the files, or set @tool " + claim.what + "="})
		}
	}
	return out
}
