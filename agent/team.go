package agent

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/folder"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// Service is the service that agents are tools of, Kind their kind.
const (
	Service = "agents"
	Kind    = "agent"
	suffix  = ".agent.json"
)

// TeamConfig wires a Team; all is required.
type TeamConfig struct {
	Dir string // with files *.agent.json; one that is missing is empty
	// Ask has an agent answer. It is called for runs of its tool.
	Ask func(ctx context.Context, d Definition, q Question) (Answer, error)
	// Snapshot is the present catalogue, by which tools that an agent names are known.
	Snapshot func() *catalog.Snapshot
}

// Team makes tools of agents that stand in files. It is a registry.Loader, a registry.Caller and a registry.Readier.
type Team struct{ cfg TeamConfig }

var (
	_ registry.Loader  = (*Team)(nil)
	_ registry.Caller  = (*Team)(nil)
	_ registry.Readier = (*Team)(nil)
)

// NewTeam reads nothing yet.
func NewTeam(cfg TeamConfig) *Team { return &Team{cfg} }

// Name names the loader.
func (t *Team) Name() string { return Service }

// Load reads all files. One that is wrong, alone or beside the others, is a problem with its name, and the others are
// loaded.
func (t *Team) Load(ctx context.Context) ([]registry.Tool, error) {
	var problems registry.Problems
	refuse := func(id, message string) {
		problems = append(problems, registry.Problem{Loader: Service, ToolID: id, Field: "agent", Message: message})
	}
	var team []Definition
	err := folder.Walk(ctx, t.cfg.Dir, func(relative string, entry fs.DirEntry) error {
		if entry.IsDir() || !strings.HasSuffix(relative, suffix) {
			return nil
		}
		data, err := os.ReadFile(filepath.Join(t.cfg.Dir, relative))
		if err != nil {
			return err
		}
		d, err := ParseDefinition(data)
		if err != nil {
			refuse(relative, err.Error())
			return nil
		}
		team = append(team, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the agents in %s: %w", t.cfg.Dir, err)
	}
	wrong := CheckTeam(team)
	var tools []registry.Tool
	for _, d := range team {
		if err := wrong[d.ID]; err != nil {
			refuse(d.ID, err.Error())
			continue
		}
		tools = append(tools, t.checked(ctx, d.tool()))
	}
	if len(problems) > 0 {
		return tools, &registry.PartialError{Problems: problems}
	}
	return tools, nil
}

// checked lists an agent whose tools are not all there as unavailable. The first catalogue has nothing to check by yet; Call
// checks once more.
func (t *Team) checked(ctx context.Context, tool registry.Tool) registry.Tool {
	if t.cfg.Snapshot().Len() == 0 {
		return tool
	}
	if err := t.Ready(ctx, tool); err != nil {
		tool.Status = &registry.Status{State: registry.StateUnavailable, Reason: registry.AsError(err).Message, Checked: true}
	}
	return tool
}

// definitionKey is where a tool's metadata has the agent, so that a run is carried out by the one that was accepted.
const definitionKey = "agent"

func (d Definition) tool() registry.Tool {
	about := d.Description
	if about == "" {
		about = "Asks " + d.Name + "."
	}
	return registry.Tool{
		ToolID: d.ID, Service: Service, DisplayName: d.Name, Description: about, Listing: registry.Listing{Kind: Kind, Category: "agents"}, Execution: registry.Execution{Capability: registry.CapabilityRead},
		InputSchema:  registry.InputSchema{{Name: "query", Type: registry.TypeString, Required: true, Multiline: true, Description: "What is to be done, with all that has to be known for it"}},
		OutputSchema: registry.OutputSchema{{Name: "answer", Type: "text", Description: "What was done and found"}},
		Metadata: map[string]any{definitionKey: map[string]any{
			"rank": string(d.Rank), "model": d.Model, "instructions": d.Instructions, "toolIds": texts(d.ToolIDs), "agentIds": texts(d.AgentIDs),
		}},
		PlatformHints: &registry.PlatformHints{PrimaryInput: "text"},
	}
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// definitionOf reads an agent out of its tool.
func definitionOf(t registry.Tool) Definition {
	kept, _ := t.Metadata[definitionKey].(map[string]any)
	text := func(key string) string { s, _ := kept[key].(string); return s }
	list := func(key string) (ids []string) {
		for _, one := range anyList(kept[key]) {
			if id, ok := one.(string); ok {
				ids = append(ids, id)
			}
		}
		return ids
	}
	return Definition{t.ToolID, t.DisplayName, t.Description, Rank(text("rank")), text("model"), text("instructions"), list("toolIds"), list("agentIds")}
}

func anyList(v any) []any { list, _ := v.([]any); return list }

// Ready says which tools an agent names that there are not.
func (t *Team) Ready(_ context.Context, tool registry.Tool) error {
	snapshot := t.cfg.Snapshot()
	var missing []string
	for _, id := range definitionOf(tool).Tools() {
		if _, ok := snapshot.Resolve(id); !ok && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return registry.Errorf(registry.CodeUnavailable, "toolIds: there is no %s", strings.Join(missing, ", "))
	}
	return nil
}

// Call has the agent of a tool answer, for the account whose run it is.
func (t *Team) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	if err := t.Ready(ctx, c.Tool); err != nil {
		return registry.Result{}, err
	}
	query, _ := c.Inputs["query"].(string)
	answer, err := t.cfg.Ask(ctx, definitionOf(c.Tool), Question{Text: query, AccountID: c.UserID, Context: c.Context, Within: c.Context.PlannerProvider != ""})
	if err != nil {
		return registry.Result{}, err
	}
	text := answer.Text
	if answer.Notice != "" {
		text += "\n" + answer.Notice
	}
	for _, s := range answer.Steps {
		if s.Card != nil {
			text += fmt.Sprintf("\nWaits for approval: %s (run %s)", s.Tool, s.Card.RunID)
		}
	}
	return registry.Result{Outputs: []registry.Output{{Name: "answer", Type: "text", Text: text}}}, nil
}
