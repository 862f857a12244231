package nodes

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// textPreviewNodes show values as text.
func textPreviewNodes() []node.Node {
	spec := node.Spec{Class: "PreviewAny", DisplayName: "Preview as Text", Category: "utilities", Module: "comfy_extras.nodes_preview_any", Legacy: true,
		Required: []node.Input{node.Socket("source", "*").Braces()}, Outputs: node.Outs("STRING"), OutputNode: true,
		SearchAliases: []string{"show output", "inspect", "debug", "print value", "show text"}}
	return []node.Node{{Spec: spec, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		text := shownText(c.Value("source"))
		return node.Show("text", []any{text}, text), nil
	}}}
}

// shownText is the text of a value: as it is, as a number, as indented JSON, or as Python would print it.
func shownText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil, bool, int64, float64, *big.Int:
		return pyval.Str(v)
	case []any, *pyval.Dict:
		if plainJSON(v) {
			return pyval.DumpsIndent(v, "    ")
		}
	}
	return printed(v)
}

// plainJSON tells whether a value can be written as JSON.
func plainJSON(v any) bool {
	switch v := v.(type) {
	case nil, bool, int64, float64, *big.Int, string:
		return true
	case []any:
		for _, item := range v {
			if !plainJSON(item) {
				return false
			}
		}
		return true
	case *pyval.Dict:
		for _, key := range v.Keys() {
			if !plainJSON(v.At(key)) {
				return false
			}
		}
		return true
	}
	return false
}

// printed shows values that are no JSON by their shape.
func printed(v any) string {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = printed(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *tensor.Image:
		return fmt.Sprintf("tensor(shape=[%d, %d, %d, %d])", v.B, v.H, v.W, v.C)
	case *tensor.Mask:
		return fmt.Sprintf("tensor(shape=[%d, %d, %d])", v.B, v.H, v.W)
	case *node.Audio:
		return fmt.Sprintf("{'waveform': tensor(shape=[%d, %d, %d]), 'sample_rate': %d}", len(v.Wave), v.Channels(), v.Samples(), v.Rate)
	case fmt.Stringer:
		return v.String()
	}
	return pyval.Repr(v)
}
