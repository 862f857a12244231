package nodes

import (
	"context"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// listNodes make and pass on lists.
func listNodes() []node.Node {
	create := node.Spec{Class: "CreateList", DisplayName: "Create List", Category: "utilities", Module: "comfy_extras.nodes_toolkit", InputList: true,
		Required:      []node.Input{node.Autogrow("inputs", node.Match("input", "type", "*"), "input", 1, 10)},
		Outputs:       []node.Output{{Type: node.TypeMatch, Name: "list", List: node.List, MatchID: "type"}},
		SearchAliases: []string{"Image Iterator", "Text Iterator", "Iterator"}}
	curve := node.Spec{Class: "CurveEditor", DisplayName: "Curve Editor", Category: "utilities", Module: "comfy_extras.nodes_curve",
		Required: []node.Input{node.Socket("curve", "CURVE").With("socketless", true).Default(map[string]any{
			"points": []any{[]any{0.0, 0.0}, []any{1.0, 1.0}}, "interpolation": "monotone_cubic"})},
		Optional: []node.Input{node.Socket("histogram", "HISTOGRAM")},
		Outputs:  []node.Output{{Type: "CURVE", Name: "curve"}}}
	return []node.Node{
		{Spec: create, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
			all := []any{}
			for _, name := range c.GroupNames("inputs") {
				all = append(all, c.List("inputs."+name)...)
			}
			return node.Out(all), nil
		}},
		textFunc(curve, func(c *node.Call) (any, error) { return readCurve(c.Value("curve")) }),
	}
}

// Curve is a curve of an editor: points by x, and how to go between them.
type Curve struct {
	Points        [][2]float64
	Interpolation string
}

// String shows the curve as the real server prints it.
func (c *Curve) String() string {
	name := "MonotoneCubicCurve"
	if c.Interpolation == "linear" {
		name = "LinearCurve"
	}
	points := "["
	for i, p := range c.Points {
		if i > 0 {
			points += ", "
		}
		points += "(" + pyval.FloatRepr(p[0]) + ", " + pyval.FloatRepr(p[1]) + ")"
	}
	return name + "(points=" + points + "])"
}

func readCurve(v any) (*Curve, error) {
	d, ok := v.(*pyval.Dict)
	if !ok {
		return nil, node.ValueError("a curve is an object with points and interpolation, got %s", pyval.TypeName(v))
	}
	curve := &Curve{Interpolation: pyval.Str(d.At("interpolation"))}
	points, _ := d.At("points").([]any)
	for _, p := range points {
		pair, ok := p.([]any)
		if !ok || len(pair) != 2 {
			return nil, node.ValueError("a point of a curve is a pair of numbers, got %s", pyval.Repr(p))
		}
		x, okX := pyval.Float(pair[0])
		y, okY := pyval.Float(pair[1])
		if !okX || !okY {
			return nil, node.ValueError("a point of a curve is a pair of numbers, got %s", pyval.Repr(p))
		}
		curve.Points = append(curve.Points, [2]float64{x, y})
	}
	return curve, nil
}
