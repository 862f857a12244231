package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

// Diff is what changed between two snapshots. It is stored as JSON.
type Diff struct {
	Added   []ToolRef    `json:"added,omitempty"`
	Removed []ToolRef    `json:"removed,omitempty"`
	Changed []ToolChange `json:"changed,omitempty"`
	Renamed []Renamed    `json:"renamed,omitempty"` // these are among Added and Removed too
}

// ToolRef names a tool in one version.
type ToolRef struct {
	ToolID      string `json:"toolId"`
	DisplayName string `json:"displayName"`
	Version     string `json:"version,omitempty"`
}

// ToolChange is how one tool changed. The versions are equal where only the status did.
type ToolChange struct {
	ToolID     string            `json:"toolId"`
	OldVersion string            `json:"oldVersion,omitempty"`
	NewVersion string            `json:"newVersion,omitempty"`
	Fields     []FieldChange     `json:"fields"`
	Price      PriceMove         `json:"price,omitempty"`
	Inputs     []registry.Rename `json:"inputs,omitempty"` // inputs that were renamed
}

// FieldChange is one member that differs, by path: inputSchema.steps.default. Old and New are its
// compact JSON, empty where the member was absent.
type FieldChange struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// PriceMove says which way a rate went.
type PriceMove string

// The moves of a price. PriceChanged is a change that cannot be compared, such as of the unit.
const (
	PriceUp      PriceMove = "up"
	PriceDown    PriceMove = "down"
	PriceChanged PriceMove = "changed"
)

// Empty reports whether nothing changed.
func (d Diff) Empty() bool { return len(d.Added)+len(d.Removed)+len(d.Changed) == 0 }

// renamed lists the tools that were renamed, and those of whose inputs that can be said.
func (d Diff) Renames() []Renamed {
	renamed := slices.Clone(d.Renamed)
	for _, c := range d.Changed {
		if len(c.Inputs) > 0 {
			renamed = append(renamed, Renamed{From: c.ToolID, To: c.ToolID, Inputs: c.Inputs})
		}
	}
	return renamed
}

// Compare tells what has to change to make of the old catalogue the new one. A nil snapshot is an
// empty catalogue. All lists are ordered by id.
func Compare(before, after *Snapshot) Diff {
	if before == nil {
		before = &Snapshot{}
	}
	if after == nil {
		after = &Snapshot{}
	}
	var d Diff
	var gone, fresh []*registry.Tool
	for was := range before.Each() {
		if _, kept := after.ByID(was.ToolID); !kept {
			d.Removed = append(d.Removed, refTo(was))
			gone = append(gone, was)
		}
	}
	for is := range after.Each() {
		was, known := before.ByID(is.ToolID)
		if !known {
			d.Added = append(d.Added, refTo(is))
			fresh = append(fresh, is)
		} else if c, changed := compareTools(was, is); changed {
			d.Changed = append(d.Changed, c)
		}
	}
	d.Renamed = findRenamed(gone, fresh)
	return d
}

func refTo(t *registry.Tool) ToolRef { return ToolRef{t.ToolID, t.DisplayName, t.Version} }

func compareTools(was, is *registry.Tool) (ToolChange, bool) {
	if was.Version != "" && was.Version == is.Version && statusText(was.Status) == statusText(is.Status) {
		return ToolChange{}, false
	}
	c := ToolChange{ToolID: is.ToolID, OldVersion: was.Version, NewVersion: is.Version}
	compareTrees(toolTree(was), toolTree(is), "", &c.Fields)
	c.Price = priceMove(was.CostingModel, is.CostingModel)
	c.Inputs = findRenamedInputs(was, is)
	return c, len(c.Fields) > 0
}

// toolTree is the definition as its JSON tree, without the version, which is no content.
func toolTree(t *registry.Tool) any {
	bare := *t
	bare.Version = ""
	data, err := registry.Encode(bare)
	if err != nil {
		return new(ordered.Object) // a published tool was encoded before, for its version
	}
	v, err := ordered.Parse(data)
	if err != nil {
		return new(ordered.Object)
	}
	return v
}

func compareTrees(before, after any, path string, changes *[]FieldChange) {
	was, wasObject := before.(*ordered.Object)
	is, isObject := after.(*ordered.Object)
	if !wasObject || !isObject {
		if old, now := ordered.Compact(before), ordered.Compact(after); old != now {
			*changes = append(*changes, FieldChange{path, old, now})
		}
		return
	}
	var oldOrder, newOrder []string
	for _, m := range was.Members() {
		at := under(path, m.Name)
		if is.Has(m.Name) {
			oldOrder = append(oldOrder, m.Name)
			compareTrees(m.Value, is.Get(m.Name), at, changes)
		} else {
			*changes = append(*changes, FieldChange{Path: at, Old: ordered.Compact(m.Value)})
		}
	}
	for _, m := range is.Members() {
		if was.Has(m.Name) {
			newOrder = append(newOrder, m.Name)
		} else {
			*changes = append(*changes, FieldChange{Path: under(path, m.Name), New: ordered.Compact(m.Value)})
		}
	}
	if !slices.Equal(oldOrder, newOrder) {
		*changes = append(*changes, FieldChange{under(path, "(order)"), strings.Join(oldOrder, ", "), strings.Join(newOrder, ", ")})
	}
}

// under is the path of a member.
func under(path, member string) string { return strings.TrimPrefix(path+"."+member, ".") }

func priceMove(was, is *registry.CostingModel) PriceMove {
	zero := registry.CostingModel{Rate: "0"}
	if was == nil && is == nil {
		return ""
	}
	if was == nil {
		was = &registry.CostingModel{Rate: zero.Rate, Unit: is.Unit, RateSource: is.RateSource}
	}
	if is == nil {
		is = &registry.CostingModel{Rate: zero.Rate, Unit: was.Unit, RateSource: was.RateSource}
	}
	if was.Unit != is.Unit || was.RateSource != is.RateSource {
		return PriceChanged
	}
	before, errBefore := decimal.Parse(was.Rate)
	after, errAfter := decimal.Parse(is.Rate)
	if errBefore != nil || errAfter != nil {
		if was.Rate != is.Rate {
			return PriceChanged
		}
		return ""
	}
	switch after.Cmp(before) {
	case 1:
		return PriceUp
	case -1:
		return PriceDown
	}
	return ""
}

// Lines tells the diff to a person, one line for each thing that changed.
func (d Diff) Lines() []string {
	lines := d.comings()
	for _, c := range d.Changed {
		if c.Price != "" {
			lines = append(lines, c.ToolID+": price "+string(c.Price))
		}
		for _, f := range c.Fields {
			lines = append(lines, c.ToolID+": "+f.line())
		}
	}
	return lines
}

// maxNamedFields bounds the members that are named of one tool.
const maxNamedFields = 5

// Brief tells the diff in one line for each tool: what is new or gone, and of a tool that changed which members did.
func (d Diff) Brief() []string {
	lines := d.comings()
	for _, c := range d.Changed {
		var what []string
		if c.Price != "" {
			what = append(what, "price "+string(c.Price))
		}
		for i, f := range c.Fields {
			if i == maxNamedFields {
				what = append(what, fmt.Sprintf("%d more", len(c.Fields)-i))
				break
			}
			what = append(what, f.Path)
		}
		lines = append(lines, "changed "+c.ToolID+": "+strings.Join(what, ", "))
	}
	return lines
}

// comings tells of tools that are new, gone or have another name.
func (d Diff) comings() (lines []string) {
	told := make(map[string]bool, 2*len(d.Renamed))
	for _, r := range d.Renamed {
		told[r.From], told[r.To] = true, true
		lines = append(lines, fmt.Sprintf("renamed %s to %s", r.From, r.To))
	}
	for _, t := range d.Added {
		if !told[t.ToolID] {
			lines = append(lines, fmt.Sprintf("added %s (%s)", t.ToolID, t.DisplayName))
		}
	}
	for _, t := range d.Removed {
		if !told[t.ToolID] {
			lines = append(lines, fmt.Sprintf("removed %s (%s)", t.ToolID, t.DisplayName))
		}
	}
	return lines
}

func (f FieldChange) line() string {
	switch {
	case f.Old == "":
		return f.Path + " added: " + brief(f.New)
	case f.New == "":
		return f.Path + " removed, was " + brief(f.Old)
	}
	return f.Path + ": " + brief(f.Old) + " -> " + brief(f.New)
}

func brief(text string) string {
	const most = 80
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "... (" + strconv.Itoa(len(runes)) + " characters)"
}
