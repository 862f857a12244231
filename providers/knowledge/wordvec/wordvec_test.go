package wordvec_test

import (
	"testing"

	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
)

func TestMeaning(t *testing.T) {
	t.Parallel()
	table := wordvec.New()
	near := func(a, b string) (sum float32) {
		t.Helper()
		v, err := table.Embed(t.Context(), []string{a, b})
		if err != nil || len(v) != 2 || len(v[0]) != wordvec.Dimension || len(v[1]) != wordvec.Dimension {
			t.Fatal(v, err)
		}
		for i, x := range v[0] {
			sum += x * v[1][i]
		}
		return sum
	}
	for _, c := range [][3]string{
		{"car", "automobile", "banana"}, {"How do I rotate it?", "spin a wheel", "pay with a card"}, {"delete the picture", "remove an image", "invite a friend to the team"},
	} {
		if like, unlike := near(c[0], c[1]), near(c[0], c[2]); like <= unlike {
			t.Errorf("E38 %q is %.2f near to %q, and %.2f to %q", c[0], like, c[1], unlike, c[2])
		}
	}
	if same := near("a plum", "A plum!"); same < 0.999 || same > 1.001 {
		t.Errorf("the same words are %.3f near", same)
	}
	if v, err := table.Embed(t.Context(), []string{"qwxzy 123 сливы"}); err != nil || v[0] != nil {
		t.Errorf("words that are not known have the vector %v (%v)", v, err)
	}
	if !table.Knows("house") || table.Knows("hosue") || table.Knows("") || !table.Covers("english") || table.Covers("german") {
		t.Error("it knows other words or languages than it should")
	}
}
