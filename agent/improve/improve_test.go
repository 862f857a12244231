package improve_test

import (
	"testing"

	"github.com/signalbox/signalbox/agent/improve"
)

func TestStyles(t *testing.T) {
	t.Parallel()
	english := improve.Styles("en")
	for _, language := range []string{"de", "es", "ru", "zh"} {
		for i, s := range improve.Styles(language) {
			if s.Name == "" || s.Words == english[i].Words || s.ID != english[i].ID {
				t.Errorf("%s: %+v", language, s)
			}
		}
	}
	photo := english[0]
	if got := photo.Add("a bicycle. "); got != "a bicycle, "+photo.Words {
		t.Errorf("got %q", got)
	}
	if got := photo.Add(photo.Add("a bicycle")); got != photo.Add("a bicycle") {
		t.Errorf("twice in a style: %q", got)
	}
	if got := improve.Styles("fr")[0]; got != photo {
		t.Errorf("a language without texts: %+v", got)
	}
}
