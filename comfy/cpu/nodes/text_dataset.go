package nodes

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// textDatasetNodes are the older nodes that process lists of captions. Their result is one list in a plain output slot.
func textDatasetNodes() []node.Node {
	each := func(class, title string, fn func(s string, c *node.Call) string, inputs ...node.Input) node.Node {
		spec := node.Spec{Class: class, DisplayName: title + " (DEPRECATED)", Category: "text", Module: "comfy_extras.nodes_dataset", Experimental: true,
			Required: append([]node.Input{node.String("texts").Tooltip("Text to process.")}, inputs...),
			Outputs:  []node.Output{{Type: "STRING", Name: "texts", List: node.Unstated}}}
		return textFunc(spec, func(c *node.Call) (any, error) { return []any{fn(c.Text("texts"), c)}, nil })
	}
	merge := node.Spec{Class: "MergeTextLists", DisplayName: "Merge Text Lists (DEPRECATED)", Category: "text", Module: "comfy_extras.nodes_dataset",
		Experimental: true, InputList: true,
		Required: []node.Input{node.String("texts").Tooltip("List of texts to process.")},
		Outputs:  []node.Output{{Type: "STRING", Name: "texts", List: node.Unstated}}}
	return []node.Node{
		each("TextToLowercase", "Convert Text to Lowercase", func(s string, _ *node.Call) string { return lower(s) }),
		each("TextToUppercase", "Convert Text to Uppercase", func(s string, _ *node.Call) string { return upper(s) }),
		each("TruncateText", "Truncate Text", func(s string, c *node.Call) string {
			runes := []rune(s)
			return string(runes[:min(len(runes), c.Int("max_length"))])
		}, node.Int("max_length").Default(77).Range(1, 10000).Tooltip("Maximum text length.")),
		each("AddTextPrefix", "Add Text Prefix", func(s string, c *node.Call) string { return c.Text("prefix") + s },
			node.String("prefix").Default("").Tooltip("Prefix to add.")),
		each("AddTextSuffix", "Add Text Suffix", func(s string, c *node.Call) string { return s + c.Text("suffix") },
			node.String("suffix").Default("").Tooltip("Suffix to add.")),
		each("ReplaceText", "Replace Text", func(s string, c *node.Call) string {
			return strings.ReplaceAll(s, c.Text("find"), c.Text("replace"))
		}, node.String("find").Default("").Tooltip("Text to find."), node.String("replace").Default("").Tooltip("Text to replace with.")),
		each("StripWhitespace", "Strip Whitespace", func(s string, _ *node.Call) string { return strings.TrimFunc(s, pyval.IsSpace) }),
		{Spec: merge, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			return node.Out([]any{c.List("texts")}), nil
		}},
	}
}
