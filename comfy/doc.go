// Package comfy is the ComfyUI provider: it runs workflows on a fleet of ComfyUI servers (engines), the embedded CPU engine among them.
//
// The facts of the protocol were read from ComfyUI's own server; package api speaks it. A Fleet knows which engine has which nodes and
// models and places runs, a Provider carries a run from submission to its results. Package loader makes tools of the workflow
// files; comfytest has the server that the tests run against.
package comfy
