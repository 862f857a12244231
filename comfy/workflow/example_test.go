package workflow_test

import (
	"fmt"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/workflow"
)

// A graph as the editor saves it: a note, a picture, and a node that saves it.
const smallest = `{"nodes": [
  {"id": 1, "type": "Note", "widgets_values": ["Gives your photo back.\n@input 2.image label=\"Your photo\""]},
  {"id": 2, "type": "LoadImage", "widgets_values": ["example.png", "image"]},
  {"id": 3, "type": "SaveImage", "inputs": [{"name": "images", "type": "IMAGE", "link": 1}], "widgets_values": ["photo"]}],
  "links": [[1, 2, 0, 3, 0, "IMAGE"]], "version": 0.4}`

func ExampleDefine() {
	w, err := graph.Parse([]byte(smallest))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := workflow.Define(w, workflow.Options{FileName: "photo back.json"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Tool.CommandName, "-", d.Tool.Description)
	for _, f := range d.Tool.InputSchema {
		fmt.Println(f.Name, f.Type, f.Label())
	}
	applied, err := d.Binding.Apply(nil, map[string][]string{"image": {"upload.png"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := applied.Prompt.MarshalJSON()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(body))
	// Output:
	// /photo_back - Gives your photo back.
	//
	// Inputs: Your photo.
	// image image Your photo
	// {"2":{"class_type":"LoadImage","inputs":{"image":"upload.png"},"_meta":{"title":"LoadImage"}},"3":{"class_type":"SaveImage","inputs":{"filename_prefix":"photo","images":["2",0]},"_meta":{"title":"SaveImage"}}}
}
