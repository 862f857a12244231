// Package workflows holds the workflows that come with the program, and pictures that they made. Those in WORKFLOWS_DIR are added to
// them, and replace a bundled one of the same name.
package workflows

import "embed"

//go:generate sh -c "UPDATE_EXAMPLES=1 go test -count=1 -run '^TestExamples$' ../comfy"

// FS holds the files.
//
//go:embed *.json
var FS embed.FS

// Examples has a picture for each tool that the embedded engine can run, examples/{tool's id}.jpg, made with its defaults.
//
//go:embed examples/*.jpg
var Examples embed.FS
