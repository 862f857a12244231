package pages

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/jsonsample"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// formField is an input as the form shows it.
type formField struct {
	registry.InputField
	Control string // how it is drawn: file, switch, segments, select, slider, seed, number, area, text
	Value   string // what stands in the field at first
	Default string
	Source  runs.Source // where that value comes from; empty: typed
	Kept    []keptFile  // files that are there already
	Step    string      // of the slider
	Allowed string      // which values it takes, in words
	Error   string
	Marks   registry.MaskKind // how a mask that is painted marks; empty: none is
	Shapes  []shape           // ratios for the width that this is, with the height
	Earlier []string          // what was typed here before, and can be again
	Improve bool              // the text is a prompt that can be improved
}

// prefill is what a form is filled with before its settings and defaults.
type prefill struct {
	typed   map[string]any // by input name; overrides all
	values  request.Values // bound like the values of a run
	parent  string
	preset  string
	action  string // where the form is sent; empty: it makes a run on the page
	problem *problem.Problem
}

// field draws an input that is bound, or filled.
func (s views) field(v i18n.Voice, f registry.InputField, bound runs.Bound, fill prefill) formField {
	field := formField{InputField: f, Control: control(f), Default: plain(f.Default), Step: sliderStep(f), Allowed: allowed(v, f), Marks: f.MarksBy()}
	if f.Seed {
		field.Default = "" // an empty seed is a fresh one
	}
	value, typed := fill.typed[f.Name]
	if !typed && bound.Sources[f.Name] != runs.FromRandom {
		value, field.Source = bound.Inputs[f.Name], bound.Sources[f.Name]
	}
	switch {
	case f.Type.IsMedia():
		field.Kept = s.keptFiles(bound.Request.AccountID, f, value)
	case f.Seed && plain(value) == registry.RandomSeed.String():
	default:
		field.Value = plain(value)
	}
	if p := fill.problem; p != nil && (p.Field == f.Name || slices.Contains(p.Missing, f.Name)) {
		field.Error = p.Detail
	}
	return field
}

// manySegments is up to how many short choices stand side by side instead of in a list.
const manySegments = 4

// control decides how an input is drawn.
func control(f registry.InputField) string {
	switch {
	case f.Type.IsMedia():
		return "file"
	case f.Type == registry.TypeBoolean:
		return "switch"
	case len(f.Choices) > 0 && !f.Multiple:
		return choiceControl(f)
	case f.Seed:
		return "seed"
	case f.Type == registry.TypeNumber && slides(f):
		return "slider"
	case f.Type == registry.TypeNumber:
		return "number"
	case f.Multiline || f.Multiple || !f.IsText():
		return "area"
	}
	return "text"
}

func choiceControl(f registry.InputField) string {
	letters := 0
	for _, c := range f.Choices {
		letters += len([]rune(c.Text()))
	}
	if len(f.Choices) <= manySegments && letters <= 36 {
		return "segments"
	}
	return "select"
}

// slides reports whether a number has a range that a hand can choose from.
func slides(f registry.InputField) bool {
	low, high, ok := bounds(f)
	return ok && high > low && (!f.Integer || high-low <= 10_000)
}

func bounds(f registry.InputField) (low, high float64, ok bool) {
	low, errLow := f.Min.Float64()
	high, errHigh := f.Max.Float64()
	return low, high, errLow == nil && errHigh == nil
}

// sliderStep is the input's own step or, where it has none, a round hundredth of its range. It is for the hand
// only: the box beside takes every value.
func sliderStep(f registry.InputField) string {
	if f.Step != "" {
		return f.Step.String()
	}
	low, high, ok := bounds(f)
	if f.Integer || !ok || high <= low {
		return "1"
	}
	return strconv.FormatFloat(math.Pow(10, math.Floor(math.Log10((high-low)/50))), 'f', -1, 64)
}

// allowed says which values an input takes; a seed's range is of no use to anybody, choices are seen,
// and a field for files says itself what it takes.
func allowed(v i18n.Voice, f registry.InputField) string {
	if f.Seed || f.Type.IsMedia() || len(f.Choices) > 0 && !f.Multiple {
		return ""
	}
	if sample := jsonsample.Of(f.Schema); sample != "" && !f.IsText() && f.Type == registry.TypeString {
		return v.Line("web.allowed.json", "sample", sample)
	}
	var parts []string
	switch {
	case f.Min != "" && f.Max != "":
		parts = append(parts, v.Line("web.allowed.range", "low", f.Min.String(), "high", f.Max.String()))
	case f.Min != "":
		parts = append(parts, v.Line("web.allowed.low", "low", f.Min.String()))
	case f.Max != "":
		parts = append(parts, v.Line("web.allowed.high", "high", f.Max.String()))
	}
	if f.Step != "" {
		parts = append(parts, v.Line("web.allowed.step", "step", f.Step.String()))
	} else if f.Integer {
		parts = append(parts, v.Line("web.allowed.whole"))
	}
	if f.Multiple {
		several := v.Line("web.allowed.several")
		for i, c := range f.Choices {
			several += map[bool]string{true: ": ", false: ", "}[i == 0] + c.Text()
		}
		parts = append(parts, several)
	}
	return strings.Join(parts, ", ")
}

// acceptOf is the accept attribute of a file field.
func acceptOf(t registry.InputType) string {
	if t == registry.TypeFile {
		return ""
	}
	return string(t) + "/*"
}
