package ordered_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/ordered"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\xef\xbb\xbf {\"b\": 1.50, \"a\": [true, null, \"<&>\\u00e9\"], \"b\": 18446744073709551615} ": `{"b":1.50,"a":[true,null,"<&>é"],"b":18446744073709551615}`,
		"\"a\xffb\"": "\"a\uFFFDb\"",
		`[]`:         `[]`,
		`{}`:         `{}`,
		`-0.0`:       `-0.0`,
	} {
		v, err := ordered.Parse([]byte(text))
		if got := string(ordered.Append(nil, v)); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"{\"a\": 1,\n \"b\": }": "line 2, column ",
		`{"a": `:                "ends too early",
		`{} {}`:                 "something follows the end",
		`[NaN]`:                 "NaN is not a JSON number",
		``:                      "ends too early",
		strings.Repeat("[", ordered.MaxDepth+1) + strings.Repeat("]", ordered.MaxDepth+1): fmt.Sprintf("nested deeper than %d levels", ordered.MaxDepth),
	} {
		if v, err := ordered.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, %v; want %q", text, v, err, want)
		}
	}
	if _, err := ordered.Parse([]byte(strings.Repeat("[", ordered.MaxDepth) + strings.Repeat("]", ordered.MaxDepth))); err != nil {
		t.Error(err)
	}
	if _, err := (ordered.Limits{Values: 3}).Parse([]byte(`[1,2,3]`)); err == nil {
		t.Error("four values are read where three may be")
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	for _, members := range []int{3, 100} { // without and with an index
		o := new(ordered.Object)
		for i := range members {
			o.Add(fmt.Sprint(i), i)
		}
		if o.Repeats() {
			t.Errorf("%d members: a name is said to be there twice", members)
		}
		o.Add("0", "last")
		if !o.Repeats() {
			t.Errorf("%d members: no name is said to be there twice", members)
		}
		o.Add("new", nil)
		if o.Get("0") != "last" || o.Get("1") != 1 || !o.Has("new") || o.Get("nope") != nil || o.Has("nope") || o.Len() != members+2 {
			t.Errorf("%d members: %s", members, ordered.Append(nil, o))
		}
	}
	o := ordered.Of(ordered.Member{Name: "a", Value: " x "}, ordered.Member{Name: "b", Value: json.Number("1.50")})
	o.Set("a", true)
	o.Set("c", []any{" y "})
	o.Set("d", ordered.Of(ordered.Member{Name: "e", Value: " z "}))
	o.Drop("nope")
	if got := string(ordered.Append(nil, o)); got != `{"a":true,"b":1.50,"c":[" y "],"d":{"e":" z "}}` {
		t.Error(got)
	}
	if !o.Bool("a") || o.Number("b") != "1.50" || len(o.List("c")) != 1 || o.Object("d").Text("e") != "z" || o.Bool("b") || o.Text("a") != "" || o.Object("c").Object("d") != nil {
		t.Errorf("%s", ordered.Append(nil, o))
	}
	if o.Drop("a"); o.Has("a") || o.Len() != 3 {
		t.Errorf("%s", ordered.Append(nil, o))
	}
	var none *ordered.Object
	if none.Get("a") != nil || none.Has("a") || none.Len() != 0 || none.Members() != nil {
		t.Error("a nil object has members")
	}
	v, err := ordered.Parse([]byte(`{"b": [1, {"a": "x"}], "a": null}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%#v", ordered.Plain(v)); got != `map[string]interface {}{"a":interface {}(nil), "b":[]interface {}{"1", map[string]interface {}{"a":"x"}}}` {
		t.Error(got)
	}
	if raw, err := json.Marshal(v); err != nil || string(raw) != `{"b":[1,{"a":"x"}],"a":null}` {
		t.Errorf("%s, %v", raw, err)
	}
}

// FuzzParse holds that what is read and written is read again as it was, apart from its text or not, and that encoding/json
// reads the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.50,"\u00e9\ud800"],"a":null}`))
	f.Add([]byte(`{"a":"a","b":["a",{"b":"b"}],"c":"` + strings.Repeat("long ", 20) + `"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ordered.Parse(data)
		if err != nil {
			return
		}
		text := ordered.Append(nil, v)
		again, err := ordered.Parse(text)
		if err != nil || string(ordered.Append(nil, again)) != string(text) {
			t.Fatalf("%q became %q, then %v", data, text, err)
		}
		apart, err := (ordered.Limits{Apart: true}).Parse(bytes.Clone(data))
		if err != nil || string(ordered.Append(nil, apart)) != string(text) {
			t.Fatalf("%q became %q, then %v", data, ordered.Append(nil, apart), err)
		}
		if !json.Valid(text) {
			t.Fatalf("%q became %q", data, text)
		}
	})
}
