package nodes

import (
	"bytes"
	"context"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/node"
)

// socketNodes give results to the client that listens, instead of to files.
func socketNodes() []node.Node {
	spec := node.Spec{Class: "SaveImageWebsocket", Category: "api/image", Module: "custom_nodes.websocket_image_save", Legacy: true,
		Required: []node.Input{node.Socket("images", "IMAGE")}, OutputNode: true}
	return []node.Node{{Spec: spec, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		m := c.Image("images")
		for i := range m.B {
			var b bytes.Buffer
			if err := codec.EncodePNG(&b, m, i, nil); err != nil {
				return nil, err
			}
			c.Preview(i, m.B, node.PreviewPNG, b.Bytes())
		}
		return nil, nil
	}}}
}
