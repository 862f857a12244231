package meter

import (
	"errors"
	"testing"
	"time"
)

func TestAlternate(t *testing.T) {
	t.Parallel()
	// The machine has half of its speed from the third baseline on, and stands nearly still during the last work.
	bases, works := []float64{100, 100, 50, 50}, []float64{60, 45, 1}
	base := func() (Rate, error) {
		rate := Rate{bases[0], 10 * time.Microsecond}
		bases = bases[1:]
		return rate, nil
	}
	work := func() (Rate, error) {
		rate := Rate{works[0], 20 * time.Microsecond}
		works = works[1:]
		return rate, nil
	}
	rounds, err := Alternate(3, base, work)
	if err != nil {
		t.Fatal(err)
	}
	if m := rounds.Median(); m.Ratio() != 0.6 || m.CPURatio() != 0.5 || rounds.Range() != "0.02-0.60" || len(bases)+len(works) != 0 {
		t.Errorf("median %v %v of %s, %d and %d left", m.Ratio(), m.CPURatio(), rounds.Range(), len(bases), len(works))
	}
	broken := errors.New("broken")
	bases, works = []float64{1, 1}, []float64{1}
	if _, err := Alternate(1, base, func() (Rate, error) { return Rate{}, broken }); !errors.Is(err, broken) {
		t.Errorf("work that fails: %v", err)
	}
}
