package decimal_test

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/internal/decimal"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for n, want := range map[json.Number]string{
		"1.5e-9": "0.0000000015", "0.000337": "0.000337", "0.0500": "0.05", "2.0": "2", "1E3": "1000", "0": "0", "-1e-30": "-0.000000000000000000000000000001", "much": "much",
	} {
		if got := decimal.Plain(n); got != want {
			t.Errorf("%s: %s, expected %s", n, got, want)
		}
	}
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	var value any
	if err := decimal.Unmarshal([]byte(" 9007199254740993\n"), &value); err != nil || value != json.Number("9007199254740993") {
		t.Errorf("got %v: %v", value, err)
	}
	for _, text := range []string{"", "{", "1 2", "{}}"} {
		if decimal.Unmarshal([]byte(text), &value) == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
