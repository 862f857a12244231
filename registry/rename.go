package registry

import (
	"maps"
	"slices"
	"strings"
)

// Renamed is a tool that was found again under another id (A90).
type Renamed struct {
	From string `json:"from"` // the id it had
	To   string `json:"to"`   // the id it has
	// Command is the command it had, where that is now another or none.
	Command string `json:"command,omitempty"`
}

// findRenamed matches tools that went with tools that came: the same but for the name. Where more
// than two are the same nobody can tell which became which, and none is matched.
func findRenamed(gone, fresh []*Tool) []Renamed {
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
		r := Renamed{From: was[0].ToolID, To: now[0].ToolID}
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
func byBody(tools []*Tool) map[string][]*Tool {
	groups := make(map[string][]*Tool)
	for _, t := range tools {
		if t.Description == "" && len(t.Metadata) == 0 {
			continue
		}
		body := *t
		body.ToolID, body.DisplayName, body.CommandName, body.APIPath = "", "", "", ""
		body.Version, body.Aliases, body.Status = "", nil, nil
		if data, err := Encode(body); err == nil {
			groups[string(data)] = append(groups[string(data)], t)
		}
	}
	return groups
}

// renames leads from ids and commands (with slash) that tools once had to the ids they have.
type renames map[string]string

// learn takes over what was renamed, and reports whether anything was news.
func (n renames) learn(renamed []Renamed) (news bool) {
	for _, r := range renamed {
		if n[r.From] == r.To || r.From == r.To {
			continue
		}
		news = true
		for alias, id := range n {
			if id == r.From { // what led there leads on
				n[alias] = r.To
			}
		}
		n[r.From] = r.To
		if r.Command != "" {
			n[r.Command] = r.To
		}
		delete(n, r.To) // it went back to a name it had
	}
	return news
}

// apply gives the tools the aliases they gained, those excepted that some definition claims.
func (n renames) apply(candidates []candidate) {
	if len(n) == 0 {
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
	for _, alias := range slices.Sorted(maps.Keys(n)) {
		if !taken[alias] {
			gained[n[alias]] = append(gained[n[alias]], alias)
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

// Learn tells the registry of tools that were renamed, so that their old ids and commands lead to
// them as aliases. What it sees itself in a reload it need not be told; this is for what happened
// before the program started. Told from a swap's hook it takes effect in the same reload, else in the
// next.
func (r *Registry) Learn(renamed ...Renamed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.renames.learn(renamed) {
		r.learned = true
	}
}
