// Package workflows holds the workflows that come with the program. Those in WORKFLOWS_DIR are added to
// them, and replace a bundled one of the same name.
package workflows

import "embed"

// FS holds the files.
//
//go:embed *.json
var FS embed.FS
