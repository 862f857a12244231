package registry

import "strings"

// About is the description with what a model should know besides: when to use the tool, that it goes, its price.
func (t *Tool) About() string {
	parts := []string{t.Description, t.Guidance, t.Notice()}
	if t.CostingModel != nil {
		parts = append(parts, "Price: "+t.CostingModel.Summary()+".")
	}
	var said []string
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, "\n")
}
