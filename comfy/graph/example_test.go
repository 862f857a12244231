package graph_test

import (
	"fmt"

	"github.com/signalbox/signalbox/comfy/graph"
)

func ExampleConvert() {
	w, err := graph.Parse([]byte(`{"nodes": [{"id": 1, "type": "Note", "widgets_values": ["A note."]}, {"id": 2, "type": "LoadImage", "widgets_values": ["example.png", "image"]},
		{"id": 3, "type": "SaveImage", "inputs": [{"name": "images", "type": "IMAGE", "link": 1}], "widgets_values": ["photo"]}], "links": [[1, 2, 0, 3, 0, "IMAGE"]], "version": 0.4}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	prompt, _, err := graph.Convert(w, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range prompt {
		fmt.Println(n.ID, n.Class)
	}
	// Output:
	// 2 LoadImage
	// 3 SaveImage
}
