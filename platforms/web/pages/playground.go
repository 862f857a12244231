package pages

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// shape is a ratio of width to height that a tool's form offers, with the size that it stands for.
type shape struct {
	Name          string // 16:9
	Width, Height int
	X, Y, W, H    float64 // its picture in a square of 24
}

// ratios are the shapes that people ask for, wide ones first.
var ratios = [...]struct {
	name string
	w, h float64
}{{"16:9", 16, 9}, {"3:2", 3, 2}, {"4:3", 4, 3}, {"1:1", 1, 1}, {"3:4", 3, 4}, {"2:3", 2, 3}, {"9:16", 9, 16}}

// shapes are the ratios that a tool with a width and a height can make, about as large as what it makes by itself.
func shapes(in registry.InputSchema) []shape {
	width, okWidth := in.Get("width")
	height, okHeight := in.Get("height")
	if !okWidth || !okHeight || !width.Integer || !height.Integer {
		return nil
	}
	area := usualSize(width) * usualSize(height)
	if area == 0 {
		return nil
	}
	var list []shape
	for _, r := range ratios {
		high := math.Sqrt(area * r.h / r.w)
		s := shape{Name: r.name, Width: sized(width, high*r.w/r.h), Height: sized(height, high)}
		if got := float64(s.Width) / float64(s.Height); math.Abs(got/(r.w/r.h)-1) > 0.04 {
			continue // the tool's bounds don't let it be
		}
		side := 20 / max(r.w, r.h)
		s.W, s.H = side*r.w, side*r.h
		s.X, s.Y = (24-s.W)/2, (24-s.H)/2
		list = append(list, s)
	}
	return list
}

func usualSize(f registry.InputField) float64 {
	n, isNumber := f.Default.(json.Number)
	size, err := n.Float64()
	if !isNumber || err != nil || size < 1 {
		return 0
	}
	return size
}

// sized is the value of an input that is nearest to a size: in its steps, or in those of eight pixels that models like.
func sized(f registry.InputField, size float64) int {
	step := 8.0
	if s, err := f.Step.Float64(); err == nil && s >= 1 {
		step = s
	}
	size = math.Round(size/step) * step
	low, high, ok := bounds(f)
	if ok {
		size = min(max(size, low), high)
	}
	return max(int(size), 1)
}

// manyPrompts is how many earlier texts a form offers, out of the account's latest runs.
const manyPrompts = 12

// prompts are the texts that an account gave to tools lately, each once, the latest first.
func (s *forms) prompts(ctx context.Context, a users.Account) ([]string, error) {
	latest, err := s.runs.List(ctx, runs.Filter{AccountID: a.ID, Limit: latestRuns})
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, run := range latest {
		name := promptOf(run.Tool.InputSchema)
		text, _ := run.Inputs[name].(string)
		typed := run.Sources[name] != runs.FromDefault
		if text = strings.TrimSpace(text); typed && text != "" && !slices.Contains(texts, text) && len(texts) < manyPrompts {
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// promptOf names the input in which people say what they want: the first for any text. "" where there is none.
func promptOf(in registry.InputSchema) string {
	for _, f := range in.Ordered() {
		if f.IsText() && !f.Advanced && !f.Multiple {
			return f.Name
		}
	}
	return ""
}

// seedsOf are the seeds of a run by input, as JSON, so that a form can keep one.
func seedsOf(run runs.Run) string {
	seeds := map[string]string{}
	for _, f := range run.Tool.InputSchema {
		if value, ok := run.Inputs[f.Name]; ok && f.Seed {
			seeds[f.Name] = plain(value)
		}
	}
	text, err := json.Marshal(seeds)
	if err != nil {
		return "{}" // texts can be written
	}
	return string(text)
}
