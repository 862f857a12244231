// Package needs tells which nodes and models of a workflow a server lacks, and writes file names as the server does.
package needs

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/tag"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/internal/said"
)

// Missing names the node classes and model files that a server with these declarations lacks. A model is
// there when a combo of one of the classes offers it. Where one of the classes takes file names that its declaration does not
// list, as from a combo that the editor fetches (remote) or a plain text, nobody can tell, and the model counts as
// there.
func Missing(info *objectinfo.Info, need workflow.Requirements) []string {
	var lacks []string
	var classes []*objectinfo.Class
	for _, name := range need.Classes {
		c, ok := info.Class(name)
		if !ok {
			lacks = append(lacks, "the node "+name)
		} else if len(need.Models) > 0 && len(c.Inputs) > 0 {
			classes = append(classes, c)
		}
	}
	if len(need.Models) == 0 || len(classes) == 0 && len(lacks) > 0 {
		return lacks // the models of classes that are not there can't be judged
	}
	for _, m := range notOffered(classes, need.Models) {
		lacks = append(lacks, "the model "+m.Name)
	}
	return lacks
}

// MissingModels are the models among what Missing names.
func MissingModels(info *objectinfo.Info, need workflow.Requirements) []workflow.Model {
	var classes []*objectinfo.Class
	for _, name := range need.Classes {
		if c, ok := info.Class(name); ok && len(c.Inputs) > 0 {
			classes = append(classes, c)
		}
	}
	if len(classes) == 0 {
		return nil
	}
	return notOffered(classes, need.Models)
}

// notOffered are the models that none of the classes offers, where all of them list what they take.
func notOffered(classes []*objectinfo.Class, models []workflow.Model) (missing []workflow.Model) {
	files := make([]file, len(models))
	for i, m := range models {
		files[i].name = slashed(m.Name)
	}
	for _, c := range classes {
		if !lookUp(files, c.Inputs) {
			return nil
		}
	}
	for i, m := range models {
		if !files[i].offered {
			missing = append(missing, m)
		}
	}
	return missing
}

// Returns is what an endpoint lacks for results that are no pictures.
const Returns = "the way back for results that are no pictures"

// Lacking says what Missing found: the first names of each kind.
func Lacking(names []string) said.Text {
	if len(names) == 1 && names[0] == Returns {
		return said.EngineReturns.With()
	}
	if tags := tag.Among(names); len(tags) > 0 {
		return said.EngineTags.With("names", Enumerate(tags, 6))
	}
	kinds := []struct {
		prefix    string
		one, many said.Sentence
	}{{"the node ", said.Node, said.Nodes}, {"the model ", said.Model, said.Models}}
	var found []any // the kind, then its names
	for _, kind := range kinds {
		var of []string
		for _, name := range names {
			if rest, ok := strings.CutPrefix(name, kind.prefix); ok {
				of = append(of, rest)
			}
		}
		switch {
		case len(of) == 1:
			found = append(found, kind.one, of[0])
		case len(of) > 1:
			found = append(found, kind.many, Enumerate(of, 6))
		}
	}
	if len(found) == 4 {
		return said.EngineLacksBoth.With("kind", found[0], "names", found[1], "other", found[2], "others", found[3])
	}
	return said.EngineLacks.With("kind", found[0], "names", found[1])
}

// Enumerate joins names, the first few of them, and counts the others in a way that reads alike in all languages.
func Enumerate(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (+%d)", strings.Join(names[:limit], ", "), len(names)-limit)
}

// file is one that a server must offer.
type file struct {
	name    string
	offered bool
}

// lookUp marks the files that are among the options of combos. They are closed when no input takes a file name that is not
// among them.
func lookUp(files []file, inputs []objectinfo.Input) (closed bool) {
	closed = true
	for i := range inputs {
		in := &inputs[i]
		for _, option := range in.Options {
			text, _ := option.(string)
			for i := range files {
				if f := &files[i]; len(text) == len(f.name) && !f.offered { // servers offer thousands, and this is asked for each run
					f.offered = slashed(text) == f.name
				}
			}
		}
		if in.Remote || in.Type == "STRING" && strings.HasSuffix(in.Name, "_name") {
			closed = false
		}
		for _, b := range in.Branches {
			closed = lookUp(files, b.Inputs) && closed
		}
		if in.Grow != nil {
			closed = lookUp(files, []objectinfo.Input{in.Grow.Input}) && closed
		}
	}
	return closed
}

// slashed makes a path of a Windows server comparable with one of another.
func slashed(s string) string { return strings.ReplaceAll(s, "\\", "/") }

// SameFile tells whether two names are those of one file, whatever the separators of the server's system.
func SameFile(a, b string) bool { return slashed(a) == slashed(b) }

// Spell writes the file names in a prompt as the server does, since it compares them letter by letter: with the
// separators of its own system.
func Spell(info *objectinfo.Info, prompt graph.Prompt) {
	for _, n := range prompt {
		class, ok := info.Class(n.Class)
		if !ok {
			continue
		}
		for _, in := range class.Inputs {
			value, _ := n.Inputs.Get(in.Name)
			text, ok := value.(string)
			if !ok || !strings.ContainsAny(text, `/\`) {
				continue
			}
			if same := spelling(in.Options, text); same != "" {
				n.Inputs.Set(in.Name, same)
			}
		}
	}
}

// spelling finds text among options, whatever its separators.
func spelling(options []any, text string) string {
	for _, option := range options {
		if o, ok := option.(string); ok && slashed(o) == slashed(text) {
			return o
		}
	}
	return ""
}
