// Package graph reads ComfyUI workflow files and makes prompts of them.
//
// Parse reads a file in any of the forms found in the wild: the graph the editor saves, the prompt the server takes, and
// the wrappers that tools put around them. Convert makes of it the Prompt a server would be sent, with the declarations of
// that server's nodes, or with what package objectinfo knows of the common ones.
//
// Between the two stands Flat: the nodes that execute, with subgraphs unfolded, every link resolved and every widget
// value under its name. Convert prints it; package workflow reads it to find what a caller may set. It is apart from that
// package because it knows the editor and nothing of tools.
//
// Everything in a workflow file is untrusted: size, depth and expansion are bounded.
package graph
