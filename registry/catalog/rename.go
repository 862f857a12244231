package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Renamed is a tool that was found again under another id (A90).
type Renamed struct {
	From string `json:"from"` // the id it had
	To   string `json:"to"`   // the id it has
	// Command is the command it had, where that is now another or none.
	Command string `json:"command,omitempty"`
	// Inputs are those that have other names now. They alone are told where From and To are the same.
	Inputs []registry.Rename `json:"inputs,omitempty"`
}

// findRenamed matches tools that went with tools that came: the same but for the name. Where more
// than two are the same nobody can tell which became which, and none is matched.
func findRenamed(gone, fresh []*registry.Tool) []Renamed {
	if len(gone) == 0 || len(fresh) == 0 {
		return nil
	}
	were, are := byBody(gone), byBody(fresh)
	var renamed []Renamed
	for body, now := range are {
		was := were[body]
		if len(was) != 1 || len(now) != 1 {
			continue
		}
		r := Renamed{From: was[0].ToolID, To: now[0].ToolID, Inputs: was[0].Migrations}
		if was[0].CommandName != now[0].CommandName {
			r.Command = was[0].CommandName
		}
		renamed = append(renamed, r)
	}
	slices.SortFunc(renamed, func(a, b Renamed) int { return strings.Compare(a.To, b.To) })
	return renamed
}

// byBody groups tools by all that a change of name leaves alone. Tools without a description or
// metadata are too much alike to be told apart.
func byBody(tools []*registry.Tool) map[string][]*registry.Tool {
	groups := make(map[string][]*registry.Tool)
	for _, t := range tools {
		if t.Description == "" && len(t.Metadata) == 0 {
			continue
		}
		body := *t
		body.ToolID, body.DisplayName, body.CommandName, body.APIPath = "", "", "", ""
		body.Version, body.Aliases, body.Status, body.Migrations = "", nil, nil, nil
		if data, err := registry.Encode(body); err == nil {
			groups[string(data)] = append(groups[string(data)], t)
		}
	}
	return groups
}

func placeOf(t *registry.Tool, input string) string {
	places, _ := t.Metadata[registry.InputPlaces].(map[string]any)
	place, _ := places[input].(string)
	return place
}

// findRenamedInputs matches inputs that have another name: by what they stand for, where the tool says that. Else they have to
// be in the same place and as they were: what has neither words nor choices of its own is too much like any other then, as is
// what looks like another input of the tool. Nobody's setting is to become one of something else.
func findRenamedInputs(was, is *registry.Tool) []registry.Rename {
	var renamed []registry.Rename
	for i, old := range was.InputSchema {
		if _, kept := is.InputSchema.Get(old.Name); kept {
			continue
		}
		for k, now := range is.InputSchema {
			if _, known := was.InputSchema.Get(now.Name); known || old.Type != now.Type {
				continue
			}
			before, after := placeOf(was, old.Name), placeOf(is, now.Name)
			same := before == after
			if before == "" || after == "" {
				same = i == k && isRetold(was.InputSchema, is.InputSchema, i)
			}
			if same {
				renamed = append(renamed, registry.Rename{From: old.Name, To: now.Name})
				break
			}
		}
	}
	return renamed
}

// isRetold reports whether what is at a place in both schemas is the same but for its name, and nothing else is.
func isRetold(was, is registry.InputSchema, i int) bool {
	return len(was) == len(is) && isTellable(was[i], is[i]) && countSame(was, was[i]) == 1 && countSame(is, was[i]) == 1
}

func isTellable(was, is registry.InputField) bool {
	return was.Description != "" || len(was.Choices) > 1 || was.DisplayName != "" && was.DisplayName == is.DisplayName
}

// countSame counts the inputs that are as f but for the names.
func countSame(schema registry.InputSchema, f registry.InputField) (n int) {
	for _, other := range schema {
		if other.Type == f.Type && sameInput(other, f) {
			n++
		}
	}
	return n
}

// sameInput compares all but the names.
func sameInput(a, b registry.InputField) bool {
	a.Name, a.DisplayName, b.Name, b.DisplayName = "x", "", "x", ""
	before, errBefore := registry.Encode(registry.Tool{InputSchema: registry.InputSchema{a}})
	after, errAfter := registry.Encode(registry.Tool{InputSchema: registry.InputSchema{b}})
	return errBefore == nil && errAfter == nil && string(before) == string(after)
}

// renames are the names that tools and their inputs once had.
type renames struct {
	tools  map[string]string            // from ids and commands (with slash) to the ids of now
	inputs map[string][]registry.Rename // by the id of now
}

func newRenames() renames {
	return renames{tools: make(map[string]string), inputs: make(map[string][]registry.Rename)}
}

// learn takes over what was renamed, and reports whether anything was news.
func (n renames) learn(renamed []Renamed) (news bool) {
	for _, r := range renamed {
		if r.From != r.To && n.tools[r.From] != r.To {
			n.learnTool(r)
			news = true
		}
		for _, m := range r.Inputs {
			if len(m.When) == 0 { // else it is only an author's to say
				news = n.learnInput(r.To, m) || news
			}
		}
	}
	return news
}

func (n renames) learnTool(r Renamed) {
	for alias, id := range n.tools {
		if id == r.From { // what led there leads on
			n.tools[alias] = r.To
		}
	}
	n.tools[r.From] = r.To
	if r.Command != "" {
		n.tools[r.Command] = r.To
	}
	delete(n.tools, r.To) // it went back to a name it had
}

func (n renames) learnInput(toolID string, m registry.Rename) (news bool) {
	known := n.inputs[toolID]
	if slices.ContainsFunc(known, func(k registry.Rename) bool { return k.From == m.From && k.To == m.To }) {
		return false
	}
	next := make([]registry.Rename, 0, len(known)+1)
	for _, k := range known {
		if k.To == m.From { // what led there leads on
			k.To = m.To
		}
		if k.From != m.From && k.From != k.To { // else it went back to a name it had
			next = append(next, k)
		}
	}
	n.inputs[toolID] = append(next, m)
	return true
}

// apply gives the tools the aliases and migrations they gained, those excepted that some definition claims.
func (n renames) apply(candidates []candidate) {
	n.applyInputs(candidates)
	if len(n.tools) == 0 {
		return
	}
	taken := make(map[string]bool, 2*len(candidates))
	for _, c := range candidates {
		taken[c.tool.ToolID] = true
		taken[c.tool.CommandName] = true
		for _, alias := range c.tool.Aliases {
			taken[alias] = true
		}
	}
	gained := make(map[string][]string)
	for _, alias := range slices.Sorted(maps.Keys(n.tools)) {
		if !taken[alias] {
			gained[n.tools[alias]] = append(gained[n.tools[alias]], alias)
		}
	}
	for i := range candidates {
		t := candidates[i].tool
		if len(gained[t.ToolID]) == 0 {
			continue
		}
		t.Aliases = slices.Concat(t.Aliases, gained[t.ToolID])
		if t.Seal() == nil { // it was sealed before, so it can be
			candidates[i].tool = t
		}
	}
}

func (n renames) applyInputs(candidates []candidate) {
	if len(n.inputs) == 0 {
		return
	}
	for i := range candidates {
		t := candidates[i].tool
		migrations := t.Migrations
		for _, m := range n.inputs[t.ToolID] {
			_, taken := t.InputSchema.Get(m.From)
			_, there := t.InputSchema.Get(m.To)
			if there && !taken && !slices.ContainsFunc(migrations, func(k registry.Rename) bool { return k.From == m.From }) {
				migrations = slices.Concat(migrations, []registry.Rename{m})
			}
		}
		if len(migrations) == len(t.Migrations) {
			continue
		}
		t.Migrations = migrations
		if t.Seal() == nil { // it was sealed before, so it can be
			candidates[i].tool = t
		}
	}
}

// Learn tells the registry of tools that were renamed, so that their old ids and commands lead to
// them as aliases, and the old names of their inputs to the new ones. What it sees itself in a reload it need not be told; this is for what happened
// before the program started. Told from a swap's hook it takes effect in the same reload, else in the
// next.
func (r *Registry) Learn(renamed ...Renamed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.renames.learn(renamed) {
		r.learned = true
	}
}
