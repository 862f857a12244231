package nodes

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// widest is the bound of primitive numbers.
const widest = 9223372036854775807

// primitiveNodes hold one value each.
func primitiveNodes() []node.Node {
	primitive := func(class, title string, in node.Input) node.Node {
		spec := node.Spec{Class: class, DisplayName: title, Category: "utilities/primitive", Module: "comfy_extras.nodes_primitive",
			Required: []node.Input{in}, Outputs: node.Outs(in.Type)}
		return textFunc(spec, func(c *node.Call) (any, error) { return c.Value("value"), nil })
	}
	aliases := func(n node.Node, essentials string, words ...string) node.Node {
		n.Spec.SearchAliases, n.Spec.Essentials = words, essentials
		return n
	}
	return []node.Node{
		aliases(primitive("PrimitiveString", "Text String", node.String("value")), "", "text", "string", "text box", "prompt"),
		aliases(primitive("PrimitiveStringMultiline", "Text String (Multiline)", node.Text("value")), "Basics",
			"text", "string", "text multiline", "string multiline", "text box", "prompt"),
		primitive("PrimitiveInt", "Int", node.Int("value").Range(-widest, widest).With("control_after_generate", "fixed")),
		primitive("PrimitiveFloat", "Float", node.Float("value").Range(int64(-widest), int64(widest)).Step(0.1)),
		primitive("PrimitiveBoolean", "Boolean", node.Bool("value")),
	}
}

// logicNodes decide.
func logicNodes() []node.Node {
	spec := func(class, title, category, about string, out []node.Output, aliases []string, inputs ...node.Input) node.Spec {
		return node.Spec{Class: class, DisplayName: title, Category: category, Description: about, Module: "comfy_extras.nodes_logic",
			Required: inputs, Outputs: out, SearchAliases: aliases}
	}
	group := node.Autogrow("values", node.Socket("value", "*"), "value", 1, 10)
	truth := node.Outs("BOOLEAN")
	return []node.Node{
		textFunc(spec("ComfyAndNode", "And", "utilities/logic", "True when every value counts as true, as Python sees it.", truth, []string{"all", "every"}, group),
			func(c *node.Call) (any, error) {
				return !slices.ContainsFunc(c.Group("values"), func(v any) bool { return !pyval.Truth(v) }), nil
			}),
		textFunc(spec("ComfyOrNode", "Or", "utilities/logic", "True when at least one value counts as true, as Python sees it.", truth, []string{"any", "some"}, group),
			func(c *node.Call) (any, error) { return slices.ContainsFunc(c.Group("values"), pyval.Truth), nil }),
		textFunc(spec("ComfyNotNode", "Not", "utilities/logic", "True when the value counts as false, as Python sees it.", truth,
			[]string{"invert", "toggle", "negate", "flip boolean"}, node.Socket("value", "*")),
			func(c *node.Call) (any, error) { return !pyval.Truth(c.Value("value")), nil }),
		switchNode(spec("ComfySwitchNode", "Switch", "utilities/logic", "", []node.Output{{Type: node.TypeMatch, Name: "output", MatchID: "switch"}}, nil,
			node.Bool("switch"), node.Match("on_false", "switch", "*").Lazy(), node.Match("on_true", "switch", "*").Lazy())),
		comboNode(spec("CustomCombo", "Custom Combo", "utilities", "", []node.Output{{Type: "STRING"}, {Type: "INT", Name: "INDEX"}}, nil, node.Combo("choice"))),
	}
}

// switchNode passes on one of two values; the other is not even computed.
func switchNode(spec node.Spec) node.Node {
	spec.Experimental = true
	chosen := func(c *node.Call) string {
		if c.Bool("switch") {
			return "on_true"
		}
		return "on_false"
	}
	n := textFunc(spec, func(c *node.Call) (any, error) { return c.Value(chosen(c)), nil })
	n.Lazy = func(c *node.Call) []string {
		if name := chosen(c); !c.Has(name) {
			return []string{name}
		}
		return nil
	}
	return n
}

// comboNode passes on a choice and its place among options that only the editor knows: it puts both into the prompt,
// the place as an undeclared input.
func comboNode(spec node.Spec) node.Node {
	spec.Experimental, spec.AcceptAll = true, true
	return node.Node{Spec: spec,
		Checks: []string{"choice"},
		Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			place := c.Value("index")
			if place == nil {
				place = int64(0)
			}
			return node.Out(c.Text("choice"), place), nil
		}}
}

var rgbText = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// numberNodes convert and choose numbers.
func numberNodes() []node.Node {
	convert := node.Spec{Class: "ComfyNumberConvert", DisplayName: "Convert Number", Category: "utilities", Module: "comfy_extras.nodes_number_convert",
		Required: []node.Input{node.Socket("value", "INT,FLOAT,STRING,BOOLEAN").With("display_name", "value")}, Outputs: node.Outs("FLOAT", "INT"),
		SearchAliases: []string{"int to float", "float to int", "number convert", "int2float", "float2int", "cast", "parse number", "string to number", "bool to int"}}
	color := node.Spec{Class: "ColorToRGBInt", DisplayName: "Color Picker", Category: "utilities", Module: "comfy_extras.nodes_color",
		Description: "Gives a colour as a number and as text.",
		Required:    []node.Input{node.Socket("color", "COLOR").Default("#ffffff").With("socketless", true)},
		Outputs:     []node.Output{{Type: "INT", Name: "rgb_int"}, {Type: "COLOR", Name: "hex"}}}
	return []node.Node{
		{Spec: convert, Run: convertNumber},
		{Spec: color, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			text, _ := c.Value("color").(string)
			if !rgbText.MatchString(text) {
				return nil, node.ValueError("Color must be in format #RRGGBB")
			}
			n, err := strconv.ParseInt(text[1:], 16, 64)
			return node.Out(n, text), err
		}},
		resolutionNode(),
		mathNode(),
	}
}

func convertNumber(_ context.Context, c *node.Call) (*node.Result, error) {
	v := c.Value("value")
	text, isText := v.(string)
	if !isText {
		f, err := pyval.ToFloat(v)
		if err != nil {
			return nil, node.Raise("TypeError", "Unsupported input type: %s", pyval.TypeName(v))
		}
		n, err := wholeNumber(v, f)
		return node.Out(f, n), err
	}
	text = strings.TrimFunc(text, pyval.IsSpace)
	if text == "" {
		return nil, node.ValueError("Cannot convert empty string to number.")
	}
	f, err := pyval.ToFloat(text)
	if err != nil {
		return nil, node.ValueError("Cannot convert string to number: %s", pyval.Repr(v))
	}
	n, err := pyval.ToInt(text)
	if err != nil {
		n, err = wholeNumber(f, f)
	}
	return node.Out(f, n), err
}

// wholeNumber cuts a number to an integer, which cannot be done with infinity and the like.
func wholeNumber(v any, f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, node.ValueError("Cannot convert non-finite value to number: %s", pyval.FloatRepr(f))
	}
	return pyval.ToInt(v)
}

func resolutionNode() node.Node {
	ratios := []string{"1:1 (Square)", "2:3 (Portrait Photo)", "3:2 (Photo)", "3:4 (Portrait Standard)", "4:3 (Standard)",
		"9:16 (Portrait Widescreen)", "16:9 (Widescreen)", "21:9 (Ultrawide)"}
	spec := node.Spec{Class: "ResolutionSelector", DisplayName: "Resolution Selector", Category: "utilities", Module: "comfy_extras.nodes_resolution",
		Description: "Finds width and height for a shape and a number of megapixels.",
		Required: []node.Input{
			node.Combo("aspect_ratio", ratios...).Default(ratios[0]),
			node.Float("megapixels").Default(1.0).Range(0.1, 16.0).Step(0.1),
			node.Int("multiple").Default(8).Range(8, 128).Step(4).Advanced(),
		},
		Outputs: []node.Output{{Type: "INT", Name: "width"}, {Type: "INT", Name: "height"}}}
	return node.Node{Spec: spec, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		ratio, _, _ := strings.Cut(c.Text("aspect_ratio"), " ")
		left, right, _ := strings.Cut(ratio, ":")
		w, errW := strconv.ParseFloat(left, 64)
		h, errH := strconv.ParseFloat(right, 64)
		multiple := c.Float("multiple")
		if errW != nil || errH != nil || w <= 0 || h <= 0 || multiple <= 0 {
			return nil, node.ValueError("the aspect ratio %q is not of the form 16:9", c.Text("aspect_ratio"))
		}
		scale := math.Sqrt(c.Float("megapixels") * 1024 * 1024 / (w * h))
		size := func(side float64) int64 { return int64(math.RoundToEven(side*scale/multiple) * multiple) }
		return node.Out(size(w), size(h)), nil
	}}
}
