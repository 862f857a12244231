// Package workflow makes tools of ComfyUI workflows.
//
// Define is its door: from a workflow that package graph has read it makes the tool, the Binding that writes a caller's
// values into the prompt, what an engine must have, and the findings of lint. It reads the graph only in its flattened
// form, so that the graph the editor saves and the prompt a server takes become the same tool. What the author says
// counts before what can be guessed: external nodes, the inputs of the editor's app mode, directives in notes, and only
// then the usual widgets of samplers and loaders.
//
// The package does no network or file access except in Inspect's helpers, which read the files they are given. Secrets
// found in widgets never leave it.
package workflow
