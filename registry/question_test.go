package registry_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// everyField has a field of each kind that a service may ask for.
const everyField = `[
	{"name":"name","type":"string","required":true,"displayName":"Your name","schema":{"type":"string","title":"Your name","minLength":2}},
	{"name":"mail","type":"string","required":false,"schema":{"type":"string","format":"email"}},
	{"name":"size","type":"string","required":true,"choices":[{"value":"s","label":"Small"},{"value":"l","label":"Large"}]},
	{"name":"colour","type":"string","required":false,"choices":[{"value":"#f00","label":"Red"},{"value":"#0f0","label":"Green"}]},
	{"name":"toppings","type":"string","required":false,"choices":["olives","onions"],"multiple":true,"schema":{"type":"array","maxItems":1,"items":{"type":"string","enum":["olives","onions"]}}},
	{"name":"sauces","type":"string","required":false,"choices":[{"value":"a","label":"Aioli"},{"value":"b","label":"Barbecue"}],"multiple":true},
	{"name":"count","type":"number","required":false,"min":1,"max":9,"integer":true},
	{"name":"price","type":"string","required":false,"schema":{"type":"number","exclusiveMinimum":0}},
	{"name":"gift","type":"boolean","required":false,"default":true},
	{"name":"day","type":"string","required":false,"schema":{"type":"string","format":"date"}}
]`

func everyQuestion(t *testing.T) registry.Question {
	t.Helper()
	q := registry.Question{Message: "Your pizza?"}
	if err := json.Unmarshal([]byte(everyField), &q.Fields); err != nil {
		t.Fatal(err)
	}
	return q
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	q := everyQuestion(t)
	t.Run("answers become the values that the service takes", func(t *testing.T) {
		got, bad := q.Check(map[string]any{"name": "Ann", "mail": "ann@example.org", "size": "large", "colour": "Green", "toppings": []any{"Olives"},
			"sauces": []any{"Aioli", "b"}, "count": "3", "price": "2.5", "gift": "no", "day": "2026-11-24"})
		if bad != nil {
			t.Fatal(bad)
		}
		raw, _ := json.Marshal(got)
		if want := `{"colour":"#0f0","count":3,"day":"2026-11-24","gift":false,"mail":"ann@example.org","name":"Ann","price":2.5,"sauces":["a","b"],"size":"l","toppings":["olives"]}`; string(raw) != want {
			t.Errorf("got %s, want %s", raw, want)
		}
	})
	t.Run("what was not filled in is left out", func(t *testing.T) {
		if got, bad := q.Check(map[string]any{"name": "Ann", "size": "s", "mail": "", "count": nil}); bad != nil || len(got) != 2 {
			t.Errorf("got %v, %v", got, bad)
		}
	})
	t.Run("what does not fit is told with its field", func(t *testing.T) {
		for field, value := range map[string]any{"name": "A", "mail": "nobody", "size": "xl", "colour": "blue", "toppings": []any{"olives", "onions"},
			"sauces": []any{"c"}, "count": "2.5", "price": json.Number("0"), "gift": "perhaps", "day": "yesterday", "card": "1234"} {
			values := map[string]any{"name": "Ann", "size": "s"}
			values[field] = value
			if _, bad := q.Check(values); bad == nil || bad.Code != registry.CodeInvalidInput || bad.Field != field {
				t.Errorf("%s: %v: got %v", field, value, bad)
			}
		}
		if _, bad := q.Check(map[string]any{"name": "Ann"}); bad == nil || bad.Field != "size" {
			t.Errorf("without what is required: %v", bad)
		}
	})
	t.Run("a question is the same when it was written down", func(t *testing.T) {
		raw, err := json.Marshal(q)
		var read registry.Question
		if err == nil {
			err = json.Unmarshal(raw, &read)
		}
		if err != nil || fmt.Sprintf("%+v", read) != fmt.Sprintf("%+v", q) {
			t.Errorf("%v: got\n%+v, want\n%+v", err, read, q)
		}
	})
}
