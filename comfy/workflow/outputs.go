package workflow

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// outputs chooses the nodes whose results the tool gives: those of @output lines, else those of the author's
// app, else all that save something or, kind by kind, show it. Several stay several.
func (d *definer) outputs() []BoundOutput {
	if out := d.directiveOutputs(); len(out) > 0 {
		return out
	}
	results := d.appOutputs()
	if len(results) == 0 {
		results = d.savers()
		d.judgeOutputs(results)
	}
	out := make([]BoundOutput, 0, len(results))
	names := map[string]int{}
	for _, n := range results {
		kind := n.resultKind()
		out = append(out, BoundOutput{Name: outputName(n, kind, names), Type: outputType(kind), Node: n.ID})
	}
	return out
}

func outputType(kind string) string {
	if kind == kind3D {
		return kindFile
	}
	return kind
}

// outputName is the external node's own id, or the kind with a number from the second on.
func outputName(n *flatNode, kind string, names map[string]int) string {
	name := kind
	if kind == kind3D {
		name = "model"
	}
	if strings.HasPrefix(n.Class, "ComfyDeployOutput") {
		if id := fieldName(firstString(n, "output_id")); id != "" {
			name = id
		}
	}
	names[name]++
	if c := names[name]; c > 1 {
		return name + strconv.Itoa(c)
	}
	return name
}

func (d *definer) directiveOutputs() []BoundOutput {
	var out []BoundOutput
	names := map[string]int{}
	for _, dir := range d.notice.directives {
		if dir.word != "output" {
			continue
		}
		n := d.f.named(dir.target)
		if n == nil {
			d.f.find("directive-target", SeverityWarning, dir.note, "@output "+quoteless(dir.target)+": no active node has this id, path or title", "name the node that saves the result")
			continue
		}
		kind := n.resultKind()
		if t := strings.ToLower(dir.args["type"]); t != "" {
			if t != kindImage && t != kindVideo && t != kindAudio && t != kindFile && t != kindText && t != kind3D {
				d.f.findings = append(d.f.findings, unknownWord(dir.note, "type "+t+" in @output", t, []string{kindImage, kindVideo, kindAudio, kindFile, kindText, kind3D}, ""))
			} else {
				kind = t
			}
		}
		name := slug(dir.args["name"], "_")
		if name == "" {
			name = outputName(n, kind, map[string]int{})
		}
		if names[name]++; names[name] > 1 {
			name += strconv.Itoa(names[name])
		}
		out = append(out, BoundOutput{Name: name, Type: outputType(kind), Node: n.ID})
	}
	return out
}

// named finds a node by id, path or title.
func (f *flat) named(name string) *flatNode {
	if n := f.byID[name]; n != nil {
		return n
	}
	for _, n := range f.nodes {
		if strings.EqualFold(n.Title, name) {
			return n
		}
	}
	return nil
}

func (d *definer) appOutputs() []*flatNode {
	var out []*flatNode
	for _, v := range asArray(asObject(d.extra().Get("linearData")).Get("outputs")) {
		id := asID(v)
		if n := d.f.byID[id]; n != nil {
			out = append(out, n)
			continue
		}
		for _, n := range d.f.nodes { // the instance that holds the saver was chosen
			if strings.HasPrefix(n.ID, id+":") && n.isResult() && !isPreview(n.Class) {
				out = append(out, n)
			}
		}
	}
	return out
}

// savers gives all results in the order of the file. What is only shown counts where nothing of its kind is
// saved: the preview beside a saved picture is no second result, the text that describes it is one.
func (d *definer) savers() []*flatNode {
	saved := map[string]bool{}
	for _, n := range d.f.nodes {
		if n.isResult() && !n.isolated() && !n.onlyShows() {
			saved[n.resultKind()] = true
		}
	}
	var out []*flatNode
	for _, n := range d.f.nodes {
		if n.isResult() && !n.isolated() && !(n.onlyShows() && saved[n.resultKind()]) {
			out = append(out, n)
		}
	}
	return out
}

// onlyShows tells previews and displays of text from what is saved.
func (n *flatNode) onlyShows() bool {
	return isPreview(n.Class) || outputKind(n.Class) == kindText && n.Class != "SaveString"
}

// isolated tells results that nothing is linked to.
func (n *flatNode) isolated() bool {
	return !n.hasLink() && !n.apiNode() && n.node != nil && len(n.node.Inputs) > 0
}

func (d *definer) judgeOutputs(results []*flatNode) {
	switch {
	case len(results) == 0 && d.unknownEnd():
		d.f.find("no-output", SeverityWarning, "", "no known node gives a result", "say which one does with @output, or give --object-info")
	case len(results) == 0 && len(d.unlinked()) > 0:
		n := d.unlinked()[0]
		d.f.find("no-output", SeverityError, n.ID, "no node gives a result: nothing is linked to node "+n.ID+", "+quote(n.Class), "link to it what it is to save")
	case len(results) == 0:
		d.f.find("no-output", SeverityError, "", "no node gives a result", "add a node that saves or previews, for example SaveImage")
	case len(results) > 1:
		var ids []string
		for _, n := range results {
			ids = append(ids, n.ID)
		}
		if len(ids) > 6 {
			ids = append(ids[:6], "…")
		}
		d.f.find("ambiguous-output", SeverityWarning, "", strconv.Itoa(len(results))+" nodes give results: "+strings.Join(ids, ", "), "choose with @output lines in a note, for example @output "+ids[0]+" name=result")
	}
	for _, n := range results {
		if n.resultKind() == kindFile && outputKind(n.Class) == "" && n.gave == "" {
			d.f.find("unknown-output", SeverityInfo, n.ID, "what "+quote(n.Class)+" gives is not known until it has run, it is treated as a file", "say it with @output "+n.ID+" type=image")
		}
	}
}

// unlinked are the nodes that would give a result if anything were linked to them.
func (d *definer) unlinked() []*flatNode {
	var out []*flatNode
	for _, n := range d.f.nodes {
		if n.isResult() && n.isolated() {
			out = append(out, n)
		}
	}
	return out
}

// unknownEnd says whether a node at the end of the graph may give a result that only its server knows of.
func (d *definer) unknownEnd() bool {
	for _, n := range d.f.nodes {
		if n.spec == nil && len(d.uses[n.ID]) == 0 {
			return true
		}
	}
	return false
}

// outputSchema describes the outputs; the titles authors gave serve as descriptions.
func (d *definer) outputSchema(outputs []BoundOutput) registry.OutputSchema {
	schema := registry.OutputSchema{}
	for _, o := range outputs {
		f := registry.OutputField{Name: o.Name, Type: o.Type}
		if n := d.f.byID[o.Node]; n != nil {
			f.Description = n.authorTitle()
		}
		schema = append(schema, f)
	}
	return schema
}
