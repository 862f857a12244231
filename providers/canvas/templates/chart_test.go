package templates

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// textsOf are the texts of a drawing whose names begin so.
func textsOf(s *scene.Scene, begin string) (list []*scene.Shape) {
	for _, sh := range s.All() {
		if sh.Text != nil && strings.HasPrefix(sh.Name, begin) {
			list = append(list, sh)
		}
	}
	return list
}

func TestCharts(t *testing.T) {
	t.Parallel()
	drawn := func(t *testing.T, words string) *scene.Scene {
		t.Helper()
		s := newScene(t)
		board, err := Draw(s, Read(words, nil, 1))
		if err != nil {
			t.Fatal(err)
		}
		look(t, s, board, strings.ReplaceAll(t.Name(), "/", "_"))
		return s
	}
	var days []string
	for i := range 61 {
		days = append(days, fmt.Sprintf("d%d %d", i, i))
	}
	t.Run("labels have one size, and slant where they would be small", func(t *testing.T) {
		for words, slants := range map[string]bool{
			"chart of Rain: January 3, February 10, March 17, April 24, May 31, June 38, July 5, August 12, September 19, October 26, November 33, December 40": true,
			"chart of Answers: Strongly agree with everything 12, Neither agree nor disagree 8, Strongly disagree 3":                                            false,
		} {
			labels := textsOf(drawn(t, words), "label")
			for _, l := range labels {
				if l.Text.FontSize != labels[0].Text.FontSize || l.Text.FontSize < 14 || (l.Rotation != 0) != slants {
					t.Errorf("%q has size %v, turned by %v", l.Text.Characters, l.Text.FontSize, l.Rotation)
				}
			}
		}
	})
	t.Run("slanting labels have one size where one of them is long", func(t *testing.T) {
		labels := textsOf(drawn(t, "chart of Rain: January 3, February 10, March 17, April 24, May 31, June 38, July 5, August and what was left of the other summer 12, September 19, October 26, November 33, December 40"), "label")
		for _, l := range labels {
			if l.Text.FontSize != labels[0].Text.FontSize || l.Rotation == 0 {
				t.Errorf("%q has size %v, others %v", l.Text.Characters, l.Text.FontSize, labels[0].Text.FontSize)
			}
		}
	})
	t.Run("a long title is no part of the first label", func(t *testing.T) {
		title := "how many people came to the garden on each of the days of the last week of the summer, rain or not"
		s := drawn(t, "chart of "+title+": Mon 12, Tue 18")
		if texts := textsOf(s, "title"); len(texts) != 1 || texts[0].Text.Characters != capital(title) {
			t.Errorf("the titles are %v", texts)
		}
		if labels := textsOf(s, "label"); len(labels) != 2 || labels[0].Text.Characters != "Mon" {
			t.Errorf("the first label is %q", labels[0].Text.Characters)
		}
	})
	t.Run("large numbers are written out, apart by thousands", func(t *testing.T) {
		scale := textsOf(drawn(t, "chart of Population: Cairo 20900604, Mexico 21782378"), "scale")
		if last := scale[len(scale)-1].Text; last.Characters != "30\u202F000\u202F000" || last.FontSize != 22 {
			t.Errorf("the scale ends with %q in size %v", last.Characters, last.FontSize)
		}
		for n, want := range map[float64]string{-1234567.5: "-1\u202F234\u202F567.5", 1000: "1000", 0.25: "0.25", math.Pow(10, 15): "1\u202F000\u202F000\u202F000\u202F000\u202F000"} {
			if got := figure(n); got != want {
				t.Errorf("%v is %q, expected %q", n, got, want)
			}
		}
	})
	t.Run("the number of a low point of a line is below it", func(t *testing.T) {
		s := drawn(t, "line chart of Visitors: Wed 7, Thu 24, Fri 31, Sat -5, Sun 0")
		point, value := map[string]float64{}, map[string]float64{}
		for _, sh := range s.All() {
			if label, is := strings.CutPrefix(sh.Name, "point "); is {
				point[label] = sh.Y
			}
			if label, is := strings.CutPrefix(sh.Name, "value "); is {
				value[label] = sh.Y
			}
		}
		for label, below := range map[string]bool{"Wed": true, "Fri": false, "Sat": true} {
			if (value[label] > point[label]) != below {
				t.Errorf("%s: the point is at %v, its number at %v", label, point[label], value[label])
			}
		}
	})
	t.Run("no number is left out unsaid", func(t *testing.T) {
		if bars := len(textsOf(drawn(t, "chart of days: "+strings.Join(days[:31], ", ")), "value")); bars != 31 {
			t.Errorf("%d numbers of 31", bars)
		}
		_, err := Draw(newScene(t), Read("chart of days: "+strings.Join(days, ", "), nil, 1))
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || !strings.Contains(err.Error(), "these are 61") {
			t.Errorf("61 numbers: %v", err)
		}
	})
}

func TestWordsFit(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if _, err := Draw(s, Read("poster for Samstag: Hauptversammlungsprotokollführerwahl, 20 Uhr, Rathaus am Platz", nil, 2)); err != nil {
		t.Fatal(err)
	}
	title := textsOf(s, "title")[0]
	if w, _ := s.Fonts.Measure(scene.Text{Characters: title.Text.Characters, FontFamily: title.Text.FontFamily, FontSize: title.Text.FontSize, FontWeight: title.Text.FontWeight, LineHeight: 1, LetterSpacing: title.Text.LetterSpacing}, 0); w > title.Width {
		t.Errorf("a word of %v is broken in a box of %v", w, title.Width)
	}
	if details := textsOf(s, "detail"); len(details) != 2 || details[0].Text.FontSize != details[1].Text.FontSize {
		t.Errorf("details beside each other have different sizes: %+v", details)
	}
}
