package catalog_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// A service is added with a loader; everything else follows from the catalogue.
func Example() {
	definition := `{
		"toolId": "poster", "service": "demo", "displayName": "Poster", "commandName": "/poster",
		"description": "Prints big letters on a picture.",
		"inputSchema": {
			"title": {"name": "title", "type": "string", "required": true},
			"size":  {"name": "size", "type": "number", "required": false, "default": 64, "min": 8, "max": 512}
		}
	}`
	tool, err := registry.DecodeTool([]byte(definition))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := catalog.New(catalog.Config{Loaders: []registry.Loader{fixed("demo", tool)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	diff, err := r.Reload(context.Background())
	fmt.Println(strings.Join(diff.Lines(), "\n"), err)

	found, _ := r.Snapshot().ByCommand("/Poster@SignalboxBot")
	size, _ := found.InputSchema.Get("size")
	_, refusal := registry.ParseText(size, "4096")
	fmt.Println(refusal.Message)
	// Output:
	// added poster (Poster) <nil>
	// size: 4096 is too large; allowed is 8 to 512
}
