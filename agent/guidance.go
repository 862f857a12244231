package agent

import (
	"bytes"
	_ "embed" // for the hints that come with the program
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed tool-guidance.json
var bundledGuidance []byte

// Guidance is one line by tool: what neither its description nor its schema says. It is shown for tools that the model
// sees, and for no others.
type Guidance map[string]string

// maxHint is how long a line may be, in tokens.
const maxHint = 40

// DefaultGuidance are the lines that come with the program.
func DefaultGuidance() (Guidance, error) { return ParseGuidance(bundledGuidance) }

// ParseGuidance reads a file of {"toolId": "line"}.
func ParseGuidance(data []byte) (Guidance, error) {
	var g Guidance
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&g); err != nil {
		return nil, fmt.Errorf("guidance: expected an object of lines by tool: %w", err)
	}
	for tool, line := range g {
		if n := Tokens(line); line == "" || strings.ContainsAny(line, "\n<>") || n > maxHint {
			return nil, fmt.Errorf("guidance: %s: expected one line of at most %d tokens without < and >, found %d tokens", tool, maxHint, n)
		}
	}
	return g, nil
}

// Unknown are the names in it that are none of the tools, in alphabetical order.
func (g Guidance) Unknown(known func(tool string) bool) []string {
	var unknown []string
	for tool := range g {
		if !known(tool) {
			unknown = append(unknown, tool)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// block writes the lines of the tools that are shown, in their order, one element for each.
func (g Guidance) block(shown []Tool) string {
	var b strings.Builder
	for _, t := range shown {
		if line := g[t.Name]; line != "" {
			name := legal(t.Name)
			fmt.Fprintf(&b, "<%s>%s</%s>\n", name, line, name)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "<tool-guidance>\n" + b.String() + "</tool-guidance>\n"
}

// Tokens estimates how many tokens a text is, a little above what services count: a token for each four letters of a
// word, and one for each other sign.
func Tokens(text string) int {
	n, word := 0, 0
	for _, r := range text {
		switch {
		case r == ' ' || r == '\n' || r == '\t':
			word = 0
		case r > 0x2E80: // Chinese and its neighbours
			n, word = n+1, 0
		default:
			if word%4 == 0 {
				n++
			}
			word++
		}
	}
	return n
}
