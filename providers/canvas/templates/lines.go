package templates

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// verbs begin the lines of the small language; with them the numbers that each needs.
var verbs = map[string]int{"board": 2, "rect": 4, "circle": 3, "ellipse": 4, "line": 4, "text": 3}

// isLines tells whether a text is in the language of lines: all lines begin with a verb and a number.
func isLines(text string) bool {
	seen := false
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if _, verb := verbs[strings.ToLower(f[0])]; !verb || len(f) < 2 {
			return false
		}
		if _, err := strconv.ParseFloat(f[1], 64); err != nil {
			return false
		}
		seen = true
	}
	return seen
}

// AddsTo tells whether words are lines that go on with the present drawing: those that begin no board of their own.
func AddsTo(words string) bool {
	return isLines(words) && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(words)), "board")
}

var token = regexp.MustCompile(`"[^"]*"|\S+`)

// lines draws what each line says: a verb, numbers, then colours, a text in quotes, and names with values: radius=8, rotate=15, opacity=0.5,
// width=3, size=24, font=serif, weight=700.
func lines(s *scene.Scene, text string) (*scene.Shape, error) {
	var board *scene.Shape
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		at := linePosition{i + 1, strconv.Quote(strings.TrimSpace(line))}
		sh, err := drawLine(s, board, line, at)
		var wrong *scene.Error
		if errors.As(err, &wrong) {
			err = &scene.Error{Field: "text", Message: fmt.Sprintf("line %d, %s: %v", at.n, at.line, err)}
		}
		if err != nil {
			return nil, err
		}
		if sh.Type == scene.Board {
			board = sh
		} else if board == nil {
			board = s.Root(sh)
		}
	}
	return board, nil
}

// linePosition is where in a text a line stands, for what is refused.
type linePosition struct {
	n    int    // from 1
	line string // in quotes
}

func drawLine(s *scene.Scene, board *scene.Shape, line string, at linePosition) (*scene.Shape, error) {
	words := token.FindAllString(line, -1)
	verb := strings.ToLower(words[0])
	n := verbs[verb]
	if len(words) < n+1 {
		return nil, registry.Say(registry.CodeInvalidInput, said.DrawLineNumbers, "n", at.n, "line", at.line, "verb", verb, "count", n).At("text")
	}
	v := make([]float64, n)
	for i := range v {
		var err error
		if v[i], err = strconv.ParseFloat(words[i+1], 64); err != nil {
			return nil, registry.Say(registry.CodeInvalidInput, said.DrawLineNumber, "n", at.n, "line", at.line, "word", strconv.Quote(words[i+1])).At("text")
		}
	}
	p := scene.Props{}
	if board == nil && verb != "board" { // the board that a conversation draws on
		for _, sh := range s.Children("") {
			if sh.Type == scene.Board {
				board = sh
			}
		}
	}
	if board != nil && verb != "board" {
		p.ParentID = &board.ID
		v[0], v[1] = v[0]+board.X, v[1]+board.Y
		if verb == "line" {
			v[2], v[3] = v[2]+board.X, v[3]+board.Y
		}
	}
	stroke := scene.Stroke{Color: "#000000", Opacity: 1, Style: "solid", Width: 2}
	hasText := false
	for _, w := range words[n+1:] {
		if err := lineWord(&p, &stroke, &hasText, w, at); err != nil {
			return nil, err
		}
	}
	return verbShape(s, verb, v, p, stroke)
}

// lineWord reads what follows the numbers.
func lineWord(p *scene.Props, stroke *scene.Stroke, text *bool, w string, at linePosition) error {
	if strings.HasPrefix(w, `"`) {
		words := strings.Trim(w, `"`)
		p.Characters, *text = &words, true
		return nil
	}
	name, value, option := strings.Cut(w, "=")
	if !option {
		color, ok := ColorNamed(w)
		if !ok {
			return registry.Say(registry.CodeInvalidInput, said.DrawLineWord, "n", at.n, "line", at.line, "word", strconv.Quote(w)).At("text")
		}
		p.Color, stroke.Color = &color, color
		return nil
	}
	if name == "font" {
		p.FontFamily = &value
		return nil
	}
	if name == "weight" {
		weight := scene.Word(value)
		p.FontWeight = &weight
		return nil
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return registry.Say(registry.CodeInvalidInput, said.DrawLineNumber, "n", at.n, "line", at.line, "word", strconv.Quote(value)).At("text")
	}
	figure := scene.Figure(number)
	switch name {
	case "radius":
		p.BorderRadius = &number
	case "rotate":
		p.Rotation = &number
	case "opacity":
		p.Opacity = &number
	case "size":
		p.FontSize = &figure
	case "width":
		stroke.Width = number
	default:
		return registry.Say(registry.CodeInvalidInput, said.DrawLineOption, "n", at.n, "line", at.line, "word", strconv.Quote(name), "options", "radius, rotate, opacity, width, size, font, weight").At("text")
	}
	return nil
}

func verbShape(s *scene.Scene, verb string, v []float64, p scene.Props, stroke scene.Stroke) (*scene.Shape, error) {
	place := func(x, y, w, h float64) { p.X, p.Y, p.Width, p.Height = &x, &y, &w, &h }
	switch verb {
	case "board":
		x := 0.0
		for _, other := range s.Children("") {
			x = max(x, other.X+other.Width+80)
		}
		place(x, 0, v[0], v[1])
		return s.Create(scene.Board, p)
	case "rect":
		place(v[0], v[1], v[2], v[3])
		return s.Create(scene.Rectangle, p)
	case "ellipse":
		place(v[0], v[1], v[2], v[3])
		return s.Create(scene.Ellipse, p)
	case "circle":
		place(v[0]-v[2], v[1]-v[2], 2*v[2], 2*v[2])
		return s.Create(scene.Ellipse, p)
	case "line":
		p.Color, p.Fills, p.Strokes = nil, &[]scene.Fill{}, &[]scene.Stroke{stroke}
		p.Content = points(geom.Point{X: v[0], Y: v[1]}, geom.Point{X: v[2], Y: v[3]})
		return s.Create(scene.PathShape, p)
	}
	size := scene.Figure(v[2])
	p.X, p.Y, p.FontSize = &v[0], &v[1], &size
	p.TextColor, p.Color = p.Color, nil
	return s.Create(scene.TextShape, p)
}
