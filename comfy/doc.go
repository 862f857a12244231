// Package comfy is the ComfyUI provider: it makes tools of workflow files and runs them on a fleet of
// ComfyUI servers (engines), the embedded CPU engine among them.
//
// The facts of the protocol were read from ComfyUI's own server; a Client speaks it, a Fleet knows
// which engine has which nodes and models and places runs, Workflows turns files into tools, and a
// Provider carries a run from submission to its results. Package comfytest has the server that its tests run against.
package comfy
