package comfy

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/workflow"
)

// missing names the node classes and model files that a server with these declarations lacks. A model is
// there when a combo of one of the classes offers it; where the list is fetched by the editor (a remote
// combo) the declarations don't tell, and the model counts as there.
func missing(info *workflow.ObjectInfo, need workflow.Requirements) []string {
	var lacks []string
	var classes []*workflow.ClassInfo
	remote := false
	for _, name := range need.Classes {
		c, ok := info.Class(name)
		if !ok {
			lacks = append(lacks, "the node "+name)
			continue
		}
		classes = append(classes, c)
		remote = remote || slices.ContainsFunc(c.Inputs, func(in workflow.InputSpec) bool { return in.Remote })
	}
	if remote || len(lacks) > 0 && len(classes) == 0 {
		return lacks
	}
	for _, m := range need.Models {
		if !offered(classes, m.Name) {
			lacks = append(lacks, "the model "+m.Name)
		}
	}
	return lacks
}

func offered(classes []*workflow.ClassInfo, file string) bool {
	file = slashed(file)
	for _, c := range classes {
		for _, in := range c.Inputs {
			for _, option := range in.Options {
				if text, ok := option.(string); ok && slashed(text) == file {
					return true
				}
			}
		}
	}
	return false
}

// slashed makes a path of a Windows server comparable with one of another.
func slashed(s string) string { return strings.ReplaceAll(s, "\\", "/") }
