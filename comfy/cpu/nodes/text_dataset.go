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
		spec := node.Spec{Class: class, DisplayName: title, Category: "text", Module: "comfy_extras.nodes_dataset", Experimental: true,
			Required: append([]node.Input{node.String("texts")}, inputs...),
			Outputs:  []node.Output{{Type: "STRING", Name: "texts", List: node.Unstated}}}
		return textFunc(spec, func(c *node.Call) (any, error) { return []any{fn(c.Text("texts"), c)}, nil })
	}
	merge := node.Spec{Class: "MergeTextLists", DisplayName: "Merge Text Lists (DEPRECATED)", Category: "text", Module: "comfy_extras.nodes_dataset",
		Experimental: true, InputList: true,
		Required: []node.Input{node.String("texts")},
		Outputs:  []node.Output{{Type: "STRING", Name: "texts", List: node.Unstated}}}
	return []node.Node{
		each("TextToLowercase", "Convert Text to Lowercase (DEPRECATED)", func(s string, _ *node.Call) string { return lower(s) }),
		each("TextToUppercase", "Convert Text to Uppercase (DEPRECATED)", func(s string, _ *node.Call) string { return upper(s) }),
		each("TruncateText", "Truncate Text", func(s string, c *node.Call) string {
			runes := []rune(s)
			return string(runes[:min(len(runes), c.Int("max_length"))])
		}, node.Int("max_length").Default(77).Range(1, 10000)),
		each("AddTextPrefix", "Add Text Prefix (DEPRECATED)", func(s string, c *node.Call) string { return c.Text("prefix") + s },
			node.String("prefix").Default("")),
		each("AddTextSuffix", "Add Text Suffix (DEPRECATED)", func(s string, c *node.Call) string { return s + c.Text("suffix") },
			node.String("suffix").Default("")),
		each("ReplaceText", "Replace Text (DEPRECATED)", func(s string, c *node.Call) string {
			return strings.ReplaceAll(s, c.Text("find"), c.Text("replace"))
		}, node.String("find").Default(""), node.String("replace").Default("")),
		each("StripWhitespace", "Strip Whitespace (DEPRECATED)", func(s string, _ *node.Call) string { return strings.TrimFunc(s, pyval.IsSpace) }),
		{Spec: merge, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			return node.Out([]any{c.List("texts")}), nil
		}},
	}
}
