package registry

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Distance says how far another result is to be from the one it is made of.
type Distance int

// The distances: as far as before, nearer, farther.
const (
	AsFar Distance = iota
	Weaker
	Stronger
)

// Departing is a value of an input that says how far a result may depart from its picture (InputSchema.Strength). It is told
// from what was before: nearer is three fifths of it, farther takes as much off what is left. Without one before, or at the least
// there is, it begins in the middle of the input's range, which is from 0 to 1 where none is told.
func (f InputField) Departing(was any, how Distance) json.Number {
	low, high := floatOr(f.Min, 0), floatOr(f.Max, 1)
	before, err := strconv.ParseFloat(fmt.Sprint(was), 64)
	if err != nil || before <= low { // nothing departs at all
		before = (low + high) / 2
	}
	high = max(high, before)
	const nearer = 0.6
	value := before
	switch how {
	case Weaker:
		value = low + (before-low)*nearer
	case Stronger:
		value = high - (high-before)*nearer
	}
	step := floatOr(f.Step, (high-low)/100)
	if f.Integer {
		step = max(step, 1)
	}
	value = min(high, max(low, low+math.Round((value-low)/step)*step))
	return json.Number(strconv.FormatFloat(math.Round(value*1e6)/1e6, 'f', -1, 64))
}

func floatOr(n json.Number, otherwise float64) float64 {
	if v, err := n.Float64(); err == nil {
		return v
	}
	return otherwise
}
