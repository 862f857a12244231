package web

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/web/door"
)

func TestAnAddressSaysHowItAnswers(t *testing.T) {
	t.Parallel()
	_, err := new(Server).serve([]door.Route{{Pattern: "GET /new", Use: door.Read}})
	if err == nil || !strings.Contains(err.Error(), `"GET /new" does not say how it answers`) {
		t.Errorf("found %v", err)
	}
}
