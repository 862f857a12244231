package registry

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/edit"
)

// Problem is one thing that is wrong with a definition, said so that its author can find and mend it.
type Problem struct {
	Loader  string `json:"loader,omitempty"`
	ToolID  string `json:"toolId,omitempty"` // or "tool 3" where the definition has no id
	Field   string `json:"field,omitempty"`  // path inside the definition: inputSchema.seed.default
	Source  string `json:"source,omitempty"` // the file or address it was read from
	Message string `json:"message"`
}

// String gives one line: which source, which tool, which field, what is wrong.
func (p Problem) String() string {
	var b strings.Builder
	if p.Source != "" {
		b.WriteString(p.Source + ": ")
	}
	if p.ToolID != "" {
		fmt.Fprintf(&b, "tool %q: ", p.ToolID)
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is an error that lists everything that is wrong at once, one line each.
type Problems []Problem

// Error gives all problems, one a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Err is p as an error, or nil where there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// PartialError is what a Loader returns beside its tools when some of its sources were bad but the
// tools it returns are good and complete: the Registry takes the tools and shows the problems.
type PartialError struct {
	Problems Problems
}

// Error gives all problems, one a line.
func (e *PartialError) Error() string { return e.Problems.Error() }

// Unwrap gives the Problems.
func (e *PartialError) Unwrap() error { return e.Problems }

// didYouMean is an ending for an error message, empty where nothing is near.
func didYouMean(word string, candidates []string) string {
	if near := edit.Nearest(word, candidates); near != "" {
		return `; did you mean "` + near + `"?`
	}
	return "; known are " + listed(candidates, 12)
}

// listed joins up to limit words.
func listed(words []string, limit int) string {
	if len(words) <= limit {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:limit], ", ") + ", ..."
}
