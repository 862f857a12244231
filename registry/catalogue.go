package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
)

// Catalogue writes the public tools as a Markdown page for people: what each does, its command, what
// it takes, gives and costs. Equal catalogues give equal bytes.
func Catalogue(s *Snapshot) []byte {
	var b strings.Builder
	b.WriteString("# Tools\n")
	category := ""
	for _, t := range byCategory(s.Public()) {
		if name := categoryName(t); name != category {
			category = name
			fmt.Fprintf(&b, "\n## %s\n", markdown(name))
		}
		writeEntry(&b, t)
	}
	return []byte(b.String())
}

func byCategory(tools []*Tool) []*Tool {
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b *Tool) int {
		// What has no category comes last.
		return cmp.Or(cmp.Compare(btoi(a.Category == ""), btoi(b.Category == "")),
			strings.Compare(strings.ToLower(a.Category), strings.ToLower(b.Category)), strings.Compare(a.Category, b.Category))
	})
	return sorted
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func categoryName(t *Tool) string { return cmp.Or(t.Category, "Other") }

func writeEntry(b *strings.Builder, t *Tool) {
	fmt.Fprintf(b, "\n### %s\n\n", markdown(t.DisplayName))
	if notice := stateLine(t); notice != "" {
		fmt.Fprintf(b, "**%s**\n\n", markdown(notice))
	}
	if t.Description != "" {
		fmt.Fprintf(b, "%s\n\n", markdownText(scrub(t.Description)))
	}
	if t.CommandName != "" {
		fmt.Fprintf(b, "- Command: `%s`\n", t.CommandName)
	}
	fmt.Fprintf(b, "- Id: `%s` (%s)\n- Price: %s\n", strings.ReplaceAll(t.ToolID, "`", "'"), markdown(t.Service), markdown(t.CostingModel.Summary()))
	for _, o := range t.OutputSchema {
		fmt.Fprintf(b, "- Gives: %s\n", markdown(strings.TrimSpace(o.Name+", "+o.Type+" "+scrub(o.Description))))
	}
	if len(t.InputSchema) == 0 {
		return
	}
	b.WriteString("\n| Input | Type | Required | Default | Allowed | Meaning |\n|---|---|---|---|---|---|\n")
	for _, f := range t.InputSchema.Ordered() {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", markdown(f.Label()), f.Type, yesNo(f.Required),
			markdown(shownDefault(f)), markdown(Allowed(f)), markdown(scrub(f.Description)))
	}
}

func stateLine(t *Tool) string {
	switch {
	case t.State() == StateUnavailable:
		return "Unavailable: " + scrub(t.Status.Reason)
	case t.State() == StateDeprecated:
		return scrub(t.Notice())
	case t.Incomplete:
		return "Incomplete definition"
	}
	return ""
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func shownDefault(f InputField) string {
	if f.Default == nil || isSecretName(f.Name) {
		return ""
	}
	if s, ok := f.Default.(string); ok {
		return scrub(s)
	}
	data, err := ordered.Marshal(f.Default)
	if err != nil {
		return ""
	}
	return scrub(string(data))
}

// Allowed says in a few words which values an input takes, such as "64 to 2048 in steps of 8", or
// nothing where all of its type are.
func Allowed(f InputField) string {
	if len(f.Choices) > 0 {
		return listed(choiceLabels(f), 20)
	}
	var parts []string
	if f.Min != "" || f.Max != "" {
		parts = append(parts, strings.TrimPrefix(allowedRange(f), "allowed is "))
	}
	if f.Step != "" {
		parts = append(parts, "in steps of "+f.Step.String())
	} else if f.Integer {
		parts = append(parts, "whole numbers")
	}
	if f.Multiple {
		parts = append(parts, "several")
	}
	return strings.Join(parts, ", ")
}

// Summary says in a few words what a run costs (A49).
func (m *CostingModel) Summary() string {
	switch {
	case m == nil:
		return "free"
	case m.RateSource == RateStatic:
		return fmt.Sprintf("%s USD per %s", PlainDecimal(m.Rate), m.Unit)
	case m.RateSource == RateMachine:
		return fmt.Sprintf("by the machine that runs it, per %s", m.Unit)
	case m.RateSource == RateHistorical:
		return fmt.Sprintf("as it has cost lately, per %s", m.Unit)
	}
	return "as the service charges it"
}

var markdownEscaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "|", `\|`, "#", `\#`, "\r", "", "\n", " ")

// markdown makes of any text one line that shows as it is.
func markdown(s string) string { return markdownEscaper.Replace(s) }

// markdownText keeps line ends, which authors of descriptions use.
func markdownText(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = markdown(strings.TrimSpace(line))
		if i < len(lines)-1 && lines[i] != "" {
			lines[i] += "  " // two blanks break the line
		}
	}
	return strings.Join(lines, "\n")
}
