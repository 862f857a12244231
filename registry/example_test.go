package registry_test

import (
	"fmt"

	"github.com/signalbox/signalbox/registry"
)

func ExampleDecodeTool() {
	_, err := registry.DecodeTool([]byte(`{"toolId": "poster", "displayname": "Poster", "timeoutMs": "60"}`))
	fmt.Println(err)
	// Output:
	// tool "poster": timeoutMs: must be of type number, found string "60"
	// tool "poster": displayname: unknown key; did you mean "displayName"?
}
