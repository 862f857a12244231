package words

import (
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
)

func TestCategoriesAreSaidInWords(t *testing.T) {
	t.Parallel()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	for category, want := range map[string]string{"generate": "Erschaffen", "übungen": "Übungen"} {
		if got := CategoryName(texts.Voice("de"), category); got != want {
			t.Errorf("%s is called %q, expected %q", category, got, want)
		}
	}
}

func TestLabelsInsideLines(t *testing.T) {
	t.Parallel()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ language, label, want string }{
		{"en", "Colours", "colours"}, {"en", "How many", "how many"}, {"en", "CFG scale", "CFG scale"}, {"en", "x", "x"}, {"en", "", ""},
		{"de", "Startzahl", "Startzahl"}, {"ru", "Цвета", "цвета"}, {"zh", "颜色数", "颜色数"},
	} {
		if got := Inside(texts.Voice(c.language), c.label); got != c.want {
			t.Errorf("in %s %q stands inside a line as %q, want %q", c.language, c.label, got, c.want)
		}
	}
}

func TestChoicesAreNamedWhereNoButtonsShowThem(t *testing.T) {
	t.Parallel()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	v := texts.Voice("de")
	f := registry.InputField{Name: "edges", DisplayName: "Kanten", Type: registry.TypeString, Choices: []registry.Choice{{Value: "soft", Label: "weich"}, {Value: "hard"}}}
	if got := WrongValue(v, f); got != "Das passt nicht zu *Kanten*.\nEins davon: weich, hard" && got != "Das passt nicht zu Kanten.\nEins davon: weich, hard" {
		t.Errorf("a wrong choice is answered by %q", got)
	}
	for n := range 30 {
		f.Choices = append(f.Choices, registry.Choice{Value: strconv.Itoa(n)})
	}
	if got := Fitting(v, f); !strings.HasSuffix(got, ", 17, …") {
		t.Errorf("of many choices are named: %q", got)
	}
}
