package words

import (
	"testing"

	"github.com/signalbox/signalbox/internal/i18n"
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
