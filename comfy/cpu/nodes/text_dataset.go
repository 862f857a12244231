package nodes

import (
	"context"
	"errors"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// textDatasetNodes are the older nodes that process lists of captions. Their result is one list in a plain output slot.
func textDatasetNodes() []node.Node {
	each := func(class, title string, fn func(s string, c *node.Call) (string, error), inputs ...node.Input) node.Node {
		spec := node.Spec{Class: class, DisplayName: title, Category: "text", Module: "comfy_extras.nodes_dataset", Experimental: true,
			Required: append([]node.Input{node.String("texts")}, inputs...),
			Outputs:  []node.Output{{Type: "STRING", Name: "texts", List: node.Unstated}}}
		return textFunc(spec, func(c *node.Call) (any, error) {
			text, err := fn(c.Text("texts"), c)
			return []any{text}, errors.Join(err, tooLong(len(text)))
		})
	}
	merge := node.Spec{Class: "MergeTextLists", DisplayName: "Merge Text Lists (DEPRECATED)", Category: "text", Module: "comfy_extras.nodes_dataset",
		Experimental: true, InputList: true,
		Required: []node.Input{node.String("texts")},
		Outputs:  []node.Output{{Type: "STRING", Name: "texts", List: node.Unstated}}}
	return []node.Node{
		each("TextToLowercase", "Convert Text to Lowercase (DEPRECATED)", func(s string, _ *node.Call) (string, error) { return lower(s), nil }),
		each("TextToUppercase", "Convert Text to Uppercase (DEPRECATED)", func(s string, _ *node.Call) (string, error) { return upper(s), nil }),
		each("TruncateText", "Truncate Text", func(s string, c *node.Call) (string, error) {
			runes := []rune(s)
			return string(runes[:min(len(runes), c.Int("max_length"))]), nil
		}, node.Int("max_length").Default(77).Range(1, 10000)),
		each("AddTextPrefix", "Add Text Prefix (DEPRECATED)", func(s string, c *node.Call) (string, error) { return c.Text("prefix") + s, nil },
			node.String("prefix").Default("")),
		each("AddTextSuffix", "Add Text Suffix (DEPRECATED)", func(s string, c *node.Call) (string, error) { return s + c.Text("suffix"), nil },
			node.String("suffix").Default("")),
		each("ReplaceText", "Replace Text (DEPRECATED)", func(s string, c *node.Call) (string, error) {
			return replaceAll(s, c.Text("find"), c.Text("replace"))
		}, node.String("find").Default(""), node.String("replace").Default("")),
		each("StripWhitespace", "Strip Whitespace (DEPRECATED)", func(s string, _ *node.Call) (string, error) { return strings.TrimFunc(s, pyval.IsSpace), nil }),
		{Spec: merge, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			return node.Out([]any{c.List("texts")}), nil
		}},
	}
}
