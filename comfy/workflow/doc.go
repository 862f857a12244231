// Package workflow turns ComfyUI workflow files into tools and prompts.
//
// Parse reads a file in any of the forms found in the wild: the graph the editor saves, the prompt
// the server takes, and the wrappers that tools put around them. From a parsed Workflow come its
// Facts, the Prompt a server would be sent (Convert), and the definition of a tool with the Binding
// that writes a caller's values into the prompt (Define). Lint findings travel beside all of them.
//
// The package does no network or file access except in Inspect's helpers, which read the files they
// are given. Everything in a workflow file is untrusted: size, depth and expansion are bounded, note
// texts are reduced to plain text, and secrets found in widgets never leave the package.
package workflow
