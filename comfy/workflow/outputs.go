package workflow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/notes"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// results finds the nodes that give the results of a workflow.
type results struct {
	f          *graph.Flat
	uses       map[string][]graph.Use
	chosen     []string // ids that the author's app names
	directives []notes.Directive
}

func (d *definer) results() results {
	_, chosen := d.w.App()
	return results{f: d.f, uses: d.uses, chosen: chosen, directives: d.notice.Directives}
}

// outputs chooses the nodes whose results the tool gives: those of @output lines, else those of the author's
// app, else all that save something or, kind by kind, show it. Several stay several.
func (r results) outputs() []binding.Output {
	if out := r.directiveOutputs(); len(out) > 0 {
		return out
	}
	nodes := r.appOutputs()
	if len(nodes) == 0 {
		nodes = r.savers()
		r.judgeOutputs(nodes)
	}
	if len(nodes) == 0 {
		nodes = r.ends()
	}
	out := make([]binding.Output, 0, len(nodes))
	names := map[string]int{}
	for _, n := range nodes {
		kind := n.ResultKind()
		out = append(out, binding.Output{Name: outputName(n, kind, names), Type: outputType(kind), Node: n.ID})
	}
	return out
}

func outputType(kind string) string {
	if kind == graph.Kind3D {
		return graph.KindFile
	}
	return kind
}

// outputName is the external node's own id, or the kind with a number from the second on.
func outputName(n *graph.FlatNode, kind string, names map[string]int) string {
	name := kind
	if kind == graph.Kind3D {
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

func (r results) directiveOutputs() []binding.Output {
	var out []binding.Output
	names := map[string]int{}
	for _, dir := range r.directives {
		if dir.Word != "output" {
			continue
		}
		n := r.named(dir.Target)
		if n == nil {
			r.f.AddFinding("directive-target", graph.SeverityWarning, dir.Note, "@output "+plain.Short(dir.Target)+": no active node has this id, path or title", "name the node that saves the result")
			continue
		}
		kind := n.ResultKind()
		if t := strings.ToLower(dir.Args["type"]); t != "" {
			if t != graph.KindImage && t != graph.KindVideo && t != graph.KindAudio && t != graph.KindFile && t != graph.KindText && t != graph.Kind3D {
				r.f.Findings = append(r.f.Findings, notes.Unknown(dir.Note, "type "+t+" in @output", t, []string{graph.KindImage, graph.KindVideo, graph.KindAudio, graph.KindFile, graph.KindText, graph.Kind3D}, ""))
			} else {
				kind = t
			}
		}
		name := plain.Slug(dir.Args["name"], "_")
		if name == "" {
			name = outputName(n, kind, map[string]int{})
		}
		if names[name]++; names[name] > 1 {
			name += strconv.Itoa(names[name])
		}
		out = append(out, binding.Output{Name: name, Type: outputType(kind), Node: n.ID})
	}
	return out
}

// named finds a node by id, path or title.
func (r results) named(name string) *graph.FlatNode {
	if n := r.f.ByID[name]; n != nil {
		return n
	}
	for _, n := range r.f.Nodes {
		if strings.EqualFold(n.Title, name) {
			return n
		}
	}
	return nil
}

func (r results) appOutputs() []*graph.FlatNode {
	var out []*graph.FlatNode
	for _, id := range r.chosen {
		if n := r.f.ByID[id]; n != nil {
			out = append(out, n)
			continue
		}
		for _, n := range r.f.Nodes { // the instance that holds the saver was chosen
			if strings.HasPrefix(n.ID, id+":") && n.IsResult() && !graph.IsPreview(n.Class) {
				out = append(out, n)
			}
		}
	}
	return out
}

// savers gives all results in the order of the file, texts last. What is only shown counts where nothing of its kind is
// saved: the preview beside a saved picture is no second result, the text that describes it is one.
func (r results) savers() []*graph.FlatNode {
	saved := map[string]bool{}
	for _, n := range r.f.Nodes {
		if n.IsResult() && !isolated(n) && !onlyShows(n) {
			saved[n.ResultKind()] = true
		}
	}
	var out, texts []*graph.FlatNode
	for _, n := range r.f.Nodes {
		switch {
		case !r.isShape(n) && (!n.IsResult() || isolated(n)) || onlyShows(n) && saved[n.ResultKind()]:
		case n.ResultKind() == graph.KindText:
			texts = append(texts, n) // numbers and words on the way do not come before what the tool makes
		default:
			out = append(out, n)
		}
	}
	return append(out, texts...)
}

// isShape tells what shows or saves a shape by its name, of a pack that nobody declared: the picture of which it is made is often shown as well.
func (r results) isShape(n *graph.FlatNode) bool {
	return r.isEnd(n) && n.HasLink() && n.ResultKind() == graph.Kind3D && showsByName.MatchString(n.Class)
}

// onlyShows tells previews, displays of text and what is told not to save from what is saved.
func onlyShows(n *graph.FlatNode) bool {
	if saves, _ := n.Inputs.Get("save_output"); saves == false {
		return true
	}
	return graph.IsPreview(n.Class) || graph.OutputKind(n.Class) == graph.KindText && n.Class != "SaveString"
}

// isolated tells results that nothing is linked to.
func isolated(n *graph.FlatNode) bool {
	return !n.HasLink() && !apiNode(n) && n.Node != nil && len(n.Node.Inputs) > 0
}

func (r results) judgeOutputs(results []*graph.FlatNode) {
	switch {
	case len(results) == 0 && r.unknownEnd():
		r.f.AddFinding("no-output", graph.SeverityWarning, "", "no known node gives a result", "say which one does with @output, or give --object-info")
	case len(results) == 0 && len(r.unlinked()) > 0:
		n := r.unlinked()[0]
		r.f.AddFinding("no-output", graph.SeverityError, n.ID, "no node gives a result: nothing is linked to node "+n.ID+", "+plain.Quote(n.Class), "link to it what it is to save")
	case len(results) == 0:
		r.f.AddFinding("no-output", graph.SeverityError, "", "no node gives a result", "add a node that saves or previews, for example SaveImage")
	case len(results) > 1:
		var ids []string
		for _, n := range results {
			ids = append(ids, n.ID)
		}
		if len(ids) > 6 {
			ids = append(ids[:6], "…")
		}
		r.f.AddFinding("ambiguous-output", graph.SeverityWarning, "", strconv.Itoa(len(results))+" nodes give results: "+strings.Join(ids, ", "), "choose with @output lines in a note, for example @output "+ids[0]+" name=result")
	}
	for _, n := range results {
		if n.ResultKind() == graph.KindFile && graph.OutputKind(n.Class) == "" && n.Gave == "" {
			r.f.AddFinding("unknown-output", graph.SeverityInfo, n.ID, "what "+plain.Quote(n.Class)+" gives is not known until it has run, it is treated as a file", "say it with @output "+n.ID+" type=image")
		}
	}
}

// unlinked are the nodes that would give a result if anything were linked to them.
func (r results) unlinked() []*graph.FlatNode {
	var out []*graph.FlatNode
	for _, n := range r.f.Nodes {
		if n.IsResult() && isolated(n) {
			out = append(out, n)
		}
	}
	return out
}

// unknownEnd says whether a node at the end of the graph may give a result that only its server knows of.
func (r results) unknownEnd() bool { return slices.ContainsFunc(r.f.Nodes, r.isEnd) }

func (r results) isEnd(n *graph.FlatNode) bool { return n.Spec == nil && len(r.uses[n.ID]) == 0 }

// ends are the nodes at the end of the graph that nobody declared. Where no known node gives a result one of them must,
// since ComfyUI runs nothing else: those that say so by their names, else all.
func (r results) ends() (named []*graph.FlatNode) {
	var all []*graph.FlatNode
	for _, n := range r.f.Nodes {
		if !r.isEnd(n) || !n.HasLink() {
			continue
		}
		all = append(all, n)
		if showsByName.MatchString(n.Class) {
			named = append(named, n)
		}
	}
	if len(named) == 0 {
		return all
	}
	return named
}

var showsByName = regexp.MustCompile(`(?i)save|preview|show|display|view|compare|export|output`)

// outputSchema describes the outputs; the titles authors gave serve as descriptions.
func (r results) outputSchema(outputs []binding.Output) registry.OutputSchema {
	schema := registry.OutputSchema{}
	for _, o := range outputs {
		f := registry.OutputField{Name: o.Name, Type: o.Type}
		if n := r.f.ByID[o.Node]; n != nil {
			f.Description = n.AuthorTitle()
		}
		schema = append(schema, f)
	}
	return schema
}

// picturesOnly tells whether all results are pictures that nodes of ComfyUI's own make and name.
func (r results) picturesOnly(outputs []binding.Output) bool {
	for _, out := range outputs {
		n := r.f.ByID[out.Node]
		if n == nil || out.Type != graph.KindImage {
			return false
		}
		switch n.Class {
		case "SaveImage", "PreviewImage", "SaveAnimatedPNG", "SaveAnimatedWEBP", "SaveImageWebsocket", "ETN_SendImageWebSocket", "ComfyDeployWebscoketImageOutput":
		default:
			return false
		}
	}
	return len(outputs) > 0
}
