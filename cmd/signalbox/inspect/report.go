package inspect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// Report is what is said about one file. Its JSON is one object on one line; members that do not apply
// are left out.
type Report struct {
	File            string          `json:"file"`
	Format          string          `json:"format,omitempty"` // ui or api
	Tool            *registry.Tool  `json:"tool,omitempty"`
	Notes           []string        `json:"notes,omitzero"` // of the root graph, in reading order, as written
	Nodes           *int            `json:"nodes,omitempty"`
	ActiveNodes     *int            `json:"activeNodes,omitempty"`
	ExecutableNodes *int            `json:"executableNodes,omitempty"`
	Links           *int            `json:"links,omitempty"`
	ClassTypes      []string        `json:"classTypes,omitzero"`
	Lint            []graph.Finding `json:"lint,omitzero"`
	Error           string          `json:"error,omitempty"`

	facts graph.Facts
}

// line is the report as one line of JSON, without HTML escapes.
func (r Report) line() ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// Text is the report for people, at most width columns wide; 0 means 100.
func (r Report) Text(width int) string {
	if width <= 0 {
		width = 100
	}
	p := printer{width: max(width, 40)}
	p.line("%s", plain.Line(r.File))
	if r.Error != "" {
		p.line("  error: %s", r.Error)
		return p.b.String()
	}
	p.counts(r)
	if r.Tool != nil {
		p.tool(r.Tool)
	}
	p.lint(r.Lint)
	return p.b.String()
}

type printer struct {
	b     strings.Builder
	width int
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(&p.b, format+"\n", args...)
}

func (p *printer) counts(r Report) {
	form := "graph"
	if r.Format == "api" {
		form = "prompt"
	}
	p.line("  %-12s %s of %d nodes (%d active, %d execute), %d links", "form", form, *r.Nodes, *r.ActiveNodes, *r.ExecutableNodes, *r.Links)
	if len(r.facts.Notes)+len(r.facts.SubgraphNotes) > 0 {
		p.line("  %-12s %d", "notes", len(r.facts.Notes)+len(r.facts.SubgraphNotes))
	}
}

func (p *printer) tool(t *registry.Tool) {
	p.line("  %-12s %s  %s", "tool", t.ToolID, t.CommandName)
	p.line("  %-12s %s%s", "name", t.DisplayName, parenthesis(t.Category))
	if t.Status != nil {
		p.line("  %-12s %s", string(t.Status.State), t.Status.Reason)
	}
	first, _, _ := strings.Cut(t.Description, "\n")
	if first != "" {
		p.line("  %-12s %s", "about", p.fit(first, 15))
	}
	p.inputs(t.InputSchema)
	for i, o := range t.OutputSchema {
		label := ""
		if i == 0 {
			label = "outputs"
		}
		p.line("  %-12s %s", label, strings.TrimSpace(fmt.Sprintf("%s  %s  %s", o.Name, o.Type, o.Description)))
	}
}

// inputs aligns the names; a star marks required ones, advanced ones are listed by name only.
func (p *printer) inputs(schema registry.InputSchema) {
	wide := 0
	var advanced []string
	for _, f := range schema {
		if f.Advanced {
			advanced = append(advanced, f.Name)
			continue
		}
		wide = max(wide, uniseg.StringWidth(f.Name))
	}
	wide = min(wide, 28)
	label := "inputs"
	for _, f := range schema {
		if f.Advanced {
			continue
		}
		mark := " "
		if f.Required {
			mark = "*"
		}
		name := f.Name + strings.Repeat(" ", max(0, wide-uniseg.StringWidth(f.Name)))
		p.line("  %-12s %s", label, p.fit(fmt.Sprintf("%s%s  %-7s  %s", mark, name, f.Type, describe(f)), 15))
		label = ""
	}
	if len(advanced) > 0 {
		p.line("  %-12s %s", "advanced", p.fit(strings.Join(advanced, ", "), 15))
	}
}

// describe puts default and range of an input in a few words.
func describe(f registry.InputField) string {
	var parts []string
	if f.Default != nil && f.Default != "" {
		parts = append(parts, plain.Clip(plain.Line(fmt.Sprint(f.Default)), 40))
	}
	switch {
	case f.Seed:
		parts = []string{"random"}
	case len(f.Choices) > 0:
		parts = append(parts, fmt.Sprintf("one of %d", len(f.Choices)))
	case f.Min != "" && f.Max != "" && bounded(f.Max):
		parts = append(parts, fmt.Sprintf("(%s to %s)", f.Min, f.Max))
	}
	return strings.Join(parts, " ")
}

func (p *printer) lint(findings []graph.Finding) {
	for _, f := range findings {
		p.line("  %-12s %s: %s", string(f.Severity), f.Code, f.Message)
		if f.Advice != "" {
			p.line("  %-12s %s", "", f.Advice)
		}
	}
}

// fit cuts s to the columns left after indent.
func (p *printer) fit(s string, indent int) string {
	s = strings.TrimRight(s, " ")
	room := p.width - indent
	if uniseg.StringWidth(s) <= room {
		return s
	}
	var b strings.Builder
	used := 1
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		if used += g.Width(); used > room {
			break
		}
		b.WriteString(g.Str())
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "  (" + s + ")"
}

// bounded tells an upper end that people would give from one that only says how large numbers can be.
func bounded(upper json.Number) bool {
	f, err := upper.Float64()
	return err == nil && f < 1e9
}
