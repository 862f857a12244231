package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Rank is an agent's place among others: it may call those of lower ranks.
type Rank string

// The ranks, the highest first.
const (
	Director    Rank = "director"
	Coordinator Rank = "coordinator"
	Specialist  Rank = "specialist"
)

var ranks = []Rank{Director, Coordinator, Specialist}

// Definition is an agent as data: a file *.agent.json.
type Definition struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Description  string   `json:"description,omitempty"` // what it is good for, for those who call it
	Rank         Rank     `json:"rank"`
	Model        string   `json:"model,omitempty"` // anthropic or openai; empty: as for questions that name none
	Instructions string   `json:"instructions"`
	ToolIDs      []string `json:"toolIds"`
	AgentIDs     []string `json:"agentIds,omitempty"` // agents of lower ranks that it may call
	// Services and Gives choose more tools, of those that there are: all of these services, and all that give these kinds of output.
	Services []string `json:"services,omitempty"`
	Gives    []string `json:"gives,omitempty"`
	// Rules and Example are for those who call it: what it has to be told, and a query that does.
	Rules   string `json:"rules,omitempty"`
	Example string `json:"example,omitempty"`
}

// parseDefinition reads a file strictly.
func parseDefinition(data []byte) (Definition, error) {
	var d Definition
	if err := registry.ReadStrict(data, &d); err != nil {
		return d, fmt.Errorf("expected an agent such as {\"id\":\"painter\",\"name\":\"Painter\",\"rank\":\"specialist\",\"instructions\":\"...\",\"toolIds\":[]}: %w", err)
	}
	return d, d.check()
}

var agentID = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$`)

func (d Definition) check() error {
	switch {
	case !agentID.MatchString(d.ID):
		return fmt.Errorf("id: found %.80q, expected up to 64 letters, digits, dots, dashes and underscores that begin with a letter", d.ID)
	case strings.TrimSpace(d.Name) == "" || strings.TrimSpace(d.Instructions) == "":
		return fmt.Errorf("%s: expected a name and instructions", d.ID)
	case !slices.Contains(ranks, d.Rank):
		return fmt.Errorf("%s: rank: found %.40q, expected one of %v", d.ID, d.Rank, ranks)
	}
	return nil
}

// checkTeam finds what is wrong with agents beside each other: ids that are taken or unknown, ranks the wrong way round,
// circles. Problems are by the id of the agent that has them.
func checkTeam(team []Definition) map[string]error {
	byID := make(map[string]Definition, len(team))
	problems := map[string]error{}
	for _, d := range team {
		if _, taken := byID[d.ID]; taken {
			problems[d.ID] = fmt.Errorf("two agents have the id %s", d.ID)
		}
		byID[d.ID] = d
	}
	for _, d := range team {
		if err := d.checkBeside(byID); err != nil && problems[d.ID] == nil {
			problems[d.ID] = err
		}
	}
	return problems
}

func (d Definition) checkBeside(team map[string]Definition) error {
	if circle := d.circle(team, nil); circle != nil {
		return fmt.Errorf("%s: agents call each other in a circle: %s", d.ID, strings.Join(circle, " > "))
	}
	for _, id := range d.AgentIDs {
		if _, ok := team[id]; !ok {
			return fmt.Errorf("%s: agentIds: there is no agent %s", d.ID, id)
		}
	}
	for _, id := range d.Tools() {
		if other, ok := team[id]; ok && slices.Index(ranks, other.Rank) <= slices.Index(ranks, d.Rank) {
			return fmt.Errorf("%s: a %s can't call %s, which is a %s", d.ID, d.Rank, id, other.Rank)
		}
	}
	return nil
}

// circle gives the way from an agent back to itself, or nil.
func (d Definition) circle(team map[string]Definition, way []string) []string {
	if slices.Contains(way, d.ID) {
		if way[0] == d.ID {
			return append(way, d.ID)
		}
		return nil // of others
	}
	for _, id := range d.Tools() {
		if next, ok := team[id]; ok {
			if circle := next.circle(team, append(slices.Clone(way), d.ID)); circle != nil {
				return circle
			}
		}
	}
	return nil
}

// Tools are the ids of all that it may call, agents among them; none is not nil.
func (d Definition) Tools() []string { return append(append([]string{}, d.AgentIDs...), d.ToolIDs...) }
