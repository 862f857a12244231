package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// everyField is a schema with a field of each kind that a service may ask for.
const everyField = `{"type":"object","required":["name","size"],"properties":{
	"name":{"type":"string","title":"Your name","minLength":2},
	"mail":{"type":"string","format":"email"},
	"size":{"type":"string","enum":["s","l"],"enumNames":["Small","Large"]},
	"colour":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]},
	"toppings":{"type":"array","maxItems":1,"items":{"type":"string","enum":["olives","onions"]}},
	"sauces":{"type":"array","items":{"anyOf":[{"const":"a","title":"Aioli"},{"const":"b","title":"Barbecue"}]}},
	"count":{"type":"integer","minimum":1,"maximum":9},
	"price":{"type":"number","exclusiveMinimum":0},
	"gift":{"type":"boolean","default":true},
	"day":{"type":"string","format":"date"}}}`

func everyQuestion(t *testing.T) registry.Question {
	t.Helper()
	fields, err := registry.QuestionFields(json.RawMessage(everyField))
	if err != nil {
		t.Fatal(err)
	}
	return registry.Question{Message: "Your pizza?", Fields: fields}
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
	t.Run("what is no flat object is refused", func(t *testing.T) {
		if _, err := registry.QuestionFields(json.RawMessage(`{"type":"array"}`)); err == nil || !strings.Contains(err.Error(), "object") {
			t.Errorf("got %v", err)
		}
	})
}
