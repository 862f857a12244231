package comfy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/comfytest"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/registry"
)

func TestClient(t *testing.T) {
	t.Parallel()
	t.Run("a server below a path, with a name and a password", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		address := s.URL()
		address.Path = "/api"
		client := comfy.NewClient(address, nil)
		if stats, err := client.SystemStats(t.Context()); err != nil || stats.Version == "" || !slices.Equal(stats.GPUs, []string{"cpu"}) {
			t.Errorf("%+v, %v", stats, err)
		}
		socket, err := client.Dial(t.Context(), "0b0cf4a2-7b0e-4c50-8a3c-6a2a6f3b3a01")
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		if e, err := socket.Read(t.Context()); err != nil || e.Type != "status" || e.Queue != 0 {
			t.Errorf("%+v, %v", e, err)
		}
	})
	t.Run("an upload is stored under the name that comes back", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		client := comfy.NewClient(s.URL(), nil)
		for _, c := range []struct{ content, name string }{{"one", "a.png"}, {"one", "a.png"}, {"two", "a (1).png"}} {
			f, err := client.Upload(t.Context(), "dir/a.png", strings.NewReader(c.content))
			if err != nil || f.InputName() != c.name {
				t.Errorf("%+v, %v, expected %s", f, err, c.name)
			}
		}
	})
	t.Run("an upload whose content can't be read fails", func(t *testing.T) {
		t.Parallel()
		s := comfytest.New(t, comfytest.Options{})
		client := comfy.NewClient(s.URL(), nil)
		if _, err := client.Upload(t.Context(), "a.png", unreadable{}); err == nil {
			t.Error("no error")
		}
	})
}

// unreadable fails after the first byte.
type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, context.DeadlineExceeded }

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
