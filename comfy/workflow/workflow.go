// Package workflow makes tools of ComfyUI workflows.
//
// Define is its door: from a workflow that package graph has read it makes the tool, the binding that writes a caller's
// values into the prompt, what an engine must have, and the findings of lint. It reads the graph only in its flattened
// form, so that the graph the editor saves and the prompt a server takes become the same tool. What the author says
// counts before what can be guessed: external nodes, the inputs of the editor's app mode, directives in notes, and only
// then the usual widgets of samplers and loaders.
//
// The package does no network or file access. Secrets
// found in widgets never leave it.
package workflow

import (
	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
)

// Define makes the tool of a workflow: its inputs by the author's external nodes, app inputs and directives and by
// good guesses, its outputs, and the binding between both and the prompt. The tool passes
// validate.Tool; one that can't run at all is unavailable, with the reason.
func Define(w *graph.Workflow, o Options) (*Definition, error) {
	d := newDefiner(w, o)
	d.inputs()
	outputs := d.results().outputs()
	linter{d}.lint()
	d.inlineDeploy()
	d.clearPlaceholders()
	prompt, err := d.f.Prompt().MarshalJSON()
	if err != nil {
		return nil, err
	}
	def := &Definition{Needs: d.requirements(), Binding: &binding.Binding{Prompt: prompt, Outputs: outputs}}
	def.Needs.PicturesOnly = d.results().picturesOnly(outputs)
	def.Needs.Tags = d.tags()
	def.Tool = d.tool(outputs, def.Needs)
	for _, f := range d.fields {
		def.Binding.Inputs = append(def.Binding.Inputs, binding.Input{Field: f.InputField, Targets: f.targets})
	}
	sortFindings(d.f.Findings)
	def.Findings = d.f.Findings[:min(len(d.f.Findings), maxFindings)]
	return def, nil
}
