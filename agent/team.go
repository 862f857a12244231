package agent

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/folder"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// Service is the service that agents are tools of, Kind their kind.
const (
	Service = "agents"
	Kind    = "agent"
	suffix  = ".agent.json"
)

//go:embed agents/*.agent.json
var bundledFiles embed.FS

// BundledTeam are the agents that come with the program.
func BundledTeam() fs.FS {
	sub, err := fs.Sub(bundledFiles, "agents")
	if err != nil {
		panic("agent: the embedded agents: " + err.Error())
	}
	return sub
}

// TeamConfig wires a Team; all but Bundled, Bound, Quote and May is required.
type TeamConfig struct {
	Dir string // with files *.agent.json; one that is missing is empty
	// Bundled has the agents that come with the program, each of which is there as far as its tools and agents are; those of Dir go before
	// them. nil: none.
	Bundled fs.FS
	// Store keeps what agents are told, by content: it stands in no tool, where people would read it.
	Store registry.SpecStore
	// Ask has an agent answer. It is called for runs of its tool.
	Ask func(ctx context.Context, d Definition, q Question) (Answer, error)
	// Bound is what an answer of an agent costs who asks at most, 0 where nobody who asks pays; nil: all are free. It is asked at each load.
	Bound func(d Definition) (billing.NanoUSD, error)
	// Quote is what the answer to a question costs who asks it: at least, and at most. Both are 0 where the question in whose course it
	// is asked pays for it. Required with Bound.
	Quote func(ctx context.Context, d Definition, q Question) (least, most billing.NanoUSD, err error)
	// May says as what an account may use a tool with the budget of its key, or why not in a *registry.Error; nil: all may all.
	May func(ctx context.Context, accountID, toolID, budget string) (registry.Audience, error)
	// Snapshot is the present catalogue, by which tools that an agent names are known.
	Snapshot func() *catalog.Snapshot
}

// Team makes tools of agents that stand in files. It is a registry.Loader, a registry.Caller, a registry.Readier and a registry.Pricer.
type Team struct {
	cfg   TeamConfig
	known sync.Map // Definition by the reference of its spec
}

var (
	_ registry.Loader  = (*Team)(nil)
	_ registry.Caller  = (*Team)(nil)
	_ registry.Readier = (*Team)(nil)
	_ registry.Pricer  = (*Team)(nil)
)

// NewTeam reads nothing yet.
func NewTeam(cfg TeamConfig) *Team { return &Team{cfg: cfg} }

// Name names the loader.
func (t *Team) Name() string { return Service }

// Load reads all files. One that is wrong, alone or beside the others, is a problem with its name, and the others are loaded.
func (t *Team) Load(ctx context.Context) ([]registry.Tool, error) {
	var problems registry.Problems
	refuse := func(id, message string) {
		problems = append(problems, registry.Problem{Loader: Service, ToolID: id, Field: "agent", Message: message})
	}
	team, err := t.read(ctx, refuse)
	if err != nil {
		return nil, fmt.Errorf("read the agents in %s: %w", t.cfg.Dir, err)
	}
	wrong := checkTeam(team)
	for _, d := range team {
		if err := wrong[d.ID]; err != nil {
			refuse(d.ID, err.Error())
		}
	}
	team = slices.DeleteFunc(team, func(d Definition) bool { return wrong[d.ID] != nil })
	specs, err := t.keep(ctx, team)
	if err != nil {
		return nil, err
	}
	var tools []registry.Tool
	for i, d := range team {
		tool := d.tool(specs[i])
		if tool.CostingModel, err = t.costs(d); err != nil {
			return nil, err
		}
		tools = append(tools, t.checked(ctx, tool))
	}
	if len(problems) > 0 {
		return tools, &registry.PartialError{Problems: problems}
	}
	return tools, nil
}

// read gives the agents of the folder, and those of the program that none of them replaces.
func (t *Team) read(ctx context.Context, refuse func(id, message string)) ([]Definition, error) {
	var team []Definition
	err := folder.Walk(ctx, t.cfg.Dir, func(relative string, entry fs.DirEntry) error {
		if entry.IsDir() || !strings.HasSuffix(relative, suffix) {
			return nil
		}
		data, err := os.ReadFile(filepath.Join(t.cfg.Dir, relative))
		if err != nil {
			return err
		}
		d, err := parseDefinition(data)
		if err != nil {
			refuse(relative, err.Error())
			return nil
		}
		team = append(team, d)
		return nil
	})
	if err != nil || t.cfg.Bundled == nil {
		return team, err
	}
	bundled, err := t.bundled(team)
	return append(team, bundled...), err
}

// bundled are the agents of the program of which something is there, without what is not.
func (t *Team) bundled(own []Definition) ([]Definition, error) {
	names, err := fs.Glob(t.cfg.Bundled, "*"+suffix)
	if err != nil {
		return nil, err
	}
	snapshot := t.cfg.Snapshot()
	there := map[string]bool{}
	for _, d := range own {
		there[d.ID] = true
	}
	var list []Definition
	for _, name := range names {
		data, err := fs.ReadFile(t.cfg.Bundled, name)
		if err != nil {
			return nil, err
		}
		d, err := parseDefinition(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if there[d.ID] {
			continue
		}
		there[d.ID] = len(d.AgentIDs) > 0 || snapshot.Len() == 0 || len(d.chosen(snapshot)) > 0
		list = append(list, d)
	}
	for i := range list {
		list[i].AgentIDs = slices.DeleteFunc(list[i].AgentIDs, func(id string) bool { return !there[id] })
	}
	return slices.DeleteFunc(list, func(d Definition) bool {
		return !there[d.ID] || snapshot.Len() > 0 && len(d.AgentIDs) == 0 && len(d.chosen(snapshot)) == 0
	}), nil
}

// chosen are the ids of the tools of Services and those that give what Gives names, other agents left out.
func (d Definition) chosen(snapshot *catalog.Snapshot) (ids []string) {
	for _, tool := range snapshot.Offered(registry.Everyone) {
		gives := slices.ContainsFunc(tool.OutputSchema, func(o registry.OutputField) bool { return slices.Contains(d.Gives, o.Type) })
		if tool.Service != Service && (gives || slices.Contains(d.Services, tool.Service)) {
			ids = append(ids, tool.ToolID)
		}
	}
	return ids
}

// keep stores the agents as they are, and remembers them.
func (t *Team) keep(ctx context.Context, team []Definition) ([]registry.Media, error) {
	contents := make([][]byte, len(team))
	for i, d := range team {
		var err error
		if contents[i], err = json.Marshal(d); err != nil {
			return nil, err
		}
	}
	if len(team) == 0 {
		return nil, nil
	}
	refs, err := t.cfg.Store.PutSpecs(ctx, contents)
	if err != nil {
		return nil, fmt.Errorf("keep what agents are told: %w", err)
	}
	for i, ref := range refs {
		t.known.Store(ref, team[i])
	}
	return refs, nil
}

// definition is the agent of a tool, as it was when the tool was made.
func (t *Team) definition(ctx context.Context, tool registry.Tool) (Definition, error) {
	ref, _ := tool.Metadata[specKey].(string)
	if d, ok := t.known.Load(ref); ok {
		return d.(Definition), nil
	}
	content, _, err := t.cfg.Store.OpenMedia(ctx, ref)
	if err != nil {
		return Definition{}, fmt.Errorf("what the agent %s is told: %w", tool.ToolID, err)
	}
	defer content.Close()
	data, err := io.ReadAll(io.LimitReader(content, maxDefinition))
	if err != nil {
		return Definition{}, fmt.Errorf("what the agent %s is told: %w", tool.ToolID, err)
	}
	d, err := parseDefinition(data)
	if err == nil {
		t.known.Store(ref, d)
	}
	return d, err
}

// maxDefinition bounds a file, in bytes.
const maxDefinition = 1 << 20

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

// costs is the price of an agent's answers; nil: they are free.
func (t *Team) costs(d Definition) (*registry.CostingModel, error) {
	if t.cfg.Bound == nil {
		return nil, nil
	}
	most, err := t.cfg.Bound(d)
	if err != nil {
		return nil, fmt.Errorf("what the agent %s costs: %w", d.ID, err)
	}
	if most == 0 {
		return nil, nil
	}
	return &registry.CostingModel{Rate: json.Number(most.Decimal()), Unit: registry.UnitRequest, RateSource: registry.RateAPI, UpTo: true}, nil
}

// specKey is where a tool's metadata names the agent's spec, so that a run is carried out by the one that was accepted.
const specKey = "spec"

func (d Definition) tool(spec registry.Media) registry.Tool {
	about := d.Description
	if about == "" {
		about = "Asks " + d.Name + "."
	}
	return registry.Tool{
		ToolID: d.ID, Service: Service, DisplayName: d.Name, Description: about, Listing: registry.Listing{Kind: Kind, Category: "agents"}, Execution: registry.Execution{Capability: registry.CapabilityRead},
		InputSchema:   registry.InputSchema{{Name: "query", Type: registry.TypeString, Required: true, Multiline: true, Description: "What is to be done, with all that has to be known for it"}},
		OutputSchema:  registry.OutputSchema{{Name: "answer", Type: "text", Description: "What was done and found"}},
		Metadata:      map[string]any{"rank": string(d.Rank), specKey: spec},
		PlatformHints: &registry.PlatformHints{PrimaryInput: "text"},
	}
}

// Ready says which tools an agent names that there are not.
func (t *Team) Ready(ctx context.Context, tool registry.Tool) error {
	d, err := t.definition(ctx, tool)
	if err != nil {
		return err
	}
	snapshot := t.cfg.Snapshot()
	var missing []string
	for _, id := range d.Tools() {
		if _, ok := snapshot.Resolve(id); !ok && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return registry.Errorf(registry.CodeUnavailable, "toolIds: there is no %s", strings.Join(missing, ", "))
	}
	return nil
}

// Price is what the answer costs: what the model needs to begin, up to the bound of an agent.
func (t *Team) Price(ctx context.Context, c registry.Call) (registry.Price, error) {
	d, q, err := t.asked(ctx, c)
	if err != nil || t.cfg.Quote == nil {
		return registry.Price{}, err
	}
	least, most, err := t.cfg.Quote(ctx, d, q)
	return registry.Price{CostUSD: most.Decimal(), LowUSD: least.Decimal()}, err
}

// Call has the agent of a tool answer, for the account whose run it is.
func (t *Team) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	if err := t.Ready(ctx, c.Tool); err != nil {
		return registry.Result{}, err
	}
	d, q, err := t.asked(ctx, c)
	if err != nil {
		return registry.Result{}, err
	}
	promise := billing.NanoUSD(c.Promised)
	q.RunID, q.Promise = c.RunID, &promise
	answer, err := t.cfg.Ask(ctx, d, q)
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
	result := registry.Result{Outputs: []registry.Output{{Name: "answer", Type: "text", Text: text}}}
	if c.Tool.CostingModel != nil {
		result.Usage.CostUSD = min(answer.Cost, promise).Decimal() // what is within another question is paid by that one
	}
	return result, nil
}

// asked is the question of a call, and the agent that is to answer it, with the tools that there are for it now. The limit of the
// budget on which the question draws is for Ask and Quote to find.
func (t *Team) asked(ctx context.Context, c registry.Call) (Definition, Question, error) {
	d, err := t.definition(ctx, c.Tool)
	if err != nil {
		return Definition{}, Question{}, err
	}
	if d.Instructions, err = t.told(ctx, c, d); err != nil {
		return Definition{}, Question{}, err
	}
	d.ToolIDs = append(slices.Clone(d.ToolIDs), d.chosen(t.cfg.Snapshot())...)
	query, _ := c.Inputs["query"].(string)
	return d, Question{Text: query, AccountID: c.UserID, Key: runs.Budget{Name: c.Budget}, Context: c.Context, Within: c.Context.PlannerProvider != ""}, nil
}

// told are an agent's instructions with those that it can call for who asks: what each is for, what it has to be told, and an example.
func (t *Team) told(ctx context.Context, c registry.Call, d Definition) (string, error) {
	var b strings.Builder
	snapshot := t.cfg.Snapshot()
	for _, id := range d.AgentIDs {
		tool, ok := snapshot.Resolve(id)
		if !ok {
			continue // Ready refuses agents that name it
		}
		may, err := t.may(ctx, c, tool)
		if err != nil {
			return "", err
		}
		if !may {
			continue
		}
		other, err := t.definition(ctx, *tool)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n- %s: %s", id, tool.Description)
		if other.Rules != "" {
			b.WriteString(" Rules: " + other.Rules)
		}
		if other.Example != "" {
			b.WriteString(" Example: " + encode(map[string]string{"query": other.Example}))
		}
	}
	if b.Len() == 0 {
		return d.Instructions, nil
	}
	return d.Instructions + "\n\nThose you can call" + b.String(), nil
}

// may reports whether who asks may call an agent.
func (t *Team) may(ctx context.Context, c registry.Call, tool *registry.Tool) (bool, error) {
	if t.cfg.May == nil {
		return true, nil
	}
	as, err := t.cfg.May(ctx, c.UserID, tool.ToolID, c.Budget)
	if refused := new(registry.Error); errors.As(err, &refused) {
		return false, nil
	}
	return err == nil && tool.KnownTo(as), err
}
