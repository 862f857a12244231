package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxName is how long a tool's name may be for every service, in characters: ^[a-zA-Z0-9_-]{1,64}$.
const maxName = 64

var foreign = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// Names translates between the registry's ids and the names that model services take. The translation goes by this table in
// both directions, since two ids may look alike in the services' letters.
type Names struct{ aliases, tools map[string]string }

// NewNames names tools. The same tools get the same names, whatever their order; an id that is a legal name keeps it.
func NewNames(tools []Tool) Names {
	n := Names{map[string]string{}, map[string]string{}}
	ids := make([]string, len(tools))
	for i, t := range tools {
		ids[i] = t.Name
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids {
		if legal(id) == id {
			n.aliases[id], n.tools[id] = id, id
		}
	}
	for _, id := range ids {
		if _, named := n.aliases[id]; !named {
			alias := n.free(legal(id))
			n.aliases[id], n.tools[alias] = alias, id
		}
	}
	return n
}

// free makes a name one that no tool has.
func (n Names) free(name string) string {
	alias := name
	for i := 2; ; i++ {
		if _, taken := n.tools[alias]; !taken {
			return alias
		}
		end := "_" + strconv.Itoa(i)
		alias = name[:min(len(name), maxName-len(end))] + end
	}
}

// legal writes an id in the services' letters.
func legal(id string) string {
	name := cmp.Or(foreign.ReplaceAllString(id, "_"), "_")
	return name[:min(len(name), maxName)]
}

// Alias is the service's name of a tool.
func (n Names) Alias(tool string) string {
	if alias, known := n.aliases[tool]; known {
		return alias
	}
	return legal(tool) // a tool that a model made up earlier
}

// Tool is the registry's id behind a service's name, or the name itself where there is none.
func (n Names) Tool(alias string) string {
	if tool, known := n.tools[alias]; known {
		return tool
	}
	return strings.ToValidUTF8(alias, "")
}
