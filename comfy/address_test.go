package comfy_test

import (
	"context"
	"testing"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/registry"
)

func TestAddressInputs(t *testing.T) {
	t.Parallel()
	flow := `{"nodes": [
		{"id": 1, "type": "ComfyUIDeployExternalFile", "pos": [0, 0], "mode": 0, "inputs": [], "outputs": [{"name": "path", "type": "STRING", "links": [1]}], "widgets_values": ["document", "", "", ""]},
		{"id": 2, "type": "PreviewAny", "pos": [9, 0], "mode": 0, "inputs": [{"name": "source", "type": "*", "link": 1}], "outputs": []}],
		"links": [[1, 1, 0, 2, 0, "STRING"]], "version": 0.4}`
	fetch := node.Node{
		Spec: node.Spec{Class: "ComfyUIDeployExternalFile", Legacy: true, Required: []node.Input{node.String("input_id")},
			Optional: []node.Input{node.String("display_name"), node.String("description"), node.String("file_url")}, Outputs: node.Outs("STRING")},
		Run: func(_ context.Context, c *node.Call) (*node.Result, error) { return node.Out(c.Text("file_url")), nil },
	}
	s := comfytest.New(t, comfytest.Options{Nodes: []node.Node{fetch}})
	w, tool := oneTool(t, flow, s)
	if len(tool.InputSchema) != 1 || tool.InputSchema[0].Type != registry.TypeFile {
		t.Fatalf("%+v", tool.InputSchema)
	}
	call := w.call(tool, map[string]any{tool.InputSchema[0].Name: "https://169.254.169.254/latest/meta-data"})
	_, err := w.provider.Submit(t.Context(), call)
	if e := failure(t, err, registry.CodeUnavailable, false); e.Field != tool.InputSchema[0].Name || len(s.Calls("POST /prompt")) != 0 {
		t.Errorf("an address from a user reached the engine, field %q", e.Field)
	}
	w.provider = comfy.NewProvider(comfy.ProviderConfig{Fleet: w.fleet, Workflows: w.loader, MediaURL: func(context.Context, registry.Media) (string, error) {
		return "https://storage.example/file", nil
	}})
	if p := w.poll(t, w.submit(t, call)); p.State != registry.RunSucceeded || p.Result.Outputs[0].Text != "https://storage.example/file" {
		t.Errorf("%+v", p)
	}
}
