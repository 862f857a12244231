package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

// Markdown writes the public tools as a Markdown page for people: what each does, its command, what
// it takes, gives and costs. Equal catalogues give equal bytes.
func Markdown(s *Snapshot) []byte {
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

func byCategory(tools []*registry.Tool) []*registry.Tool {
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b *registry.Tool) int {
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

func categoryName(t *registry.Tool) string { return cmp.Or(t.Category, "Other") }

func writeEntry(b *strings.Builder, t *registry.Tool) {
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
			markdown(shownDefault(f)), markdown(registry.Allowed(f)), markdown(scrub(f.Description)))
	}
}

func stateLine(t *registry.Tool) string {
	switch {
	case t.State() == registry.StateUnavailable:
		return "Unavailable: " + scrub(t.Status.Reason)
	case t.State() == registry.StateDeprecated:
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

func shownDefault(f registry.InputField) string {
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
