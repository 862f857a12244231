package httptools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/strategy"
)

// placeholder is {{name}}, {{table[name, name]}}, or either with a form: {{name|text}}.
var placeholder = regexp.MustCompile(`\{\{\s*([\w.-]+)\s*(?:\[\s*([\w.-]+(?:\s*,\s*[\w.-]+)*)\s*\]\s*)?(?:\|\s*(\w+)\s*)?\}\}`)

// The members of an object in a body that say when and how often it is there, and what else it has.
const (
	onlyIf  = "$if"    // a condition, see scope.holds
	forEach = "$each"  // an input: one object for each of its values, which are {{item}}, and {{index}} from 1
	members = "$with"  // an object whose members it has, too
	instead = "$value" // what stands in the object's place
)

// ref is one placeholder.
type ref struct {
	name string   // of a value, or of a table
	keys []string // of a table: the values by which it is read
	form string
}

func refOfMatch(m []string) ref {
	r := ref{name: m[1], form: m[3]}
	if m[2] != "" {
		for key := range strings.SplitSeq(m[2], ",") {
			r.keys = append(r.keys, strings.TrimSpace(key))
		}
	}
	return r
}

// refs are the placeholders in a text.
func refs(text string) []ref {
	var list []ref
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		list = append(list, refOfMatch(m))
	}
	return list
}

// text has all places of a request that placeholders can be in.
func (r request) text() string {
	return r.Path + r.URL + string(r.Body) + fmt.Sprint(r.Query) + fmt.Sprint(r.Headers)
}

// names are those of all values that a request asks for.
func (r request) names() []string {
	var names []string
	for _, found := range refs(r.text()) {
		if len(found.keys) > 0 {
			names = append(names, found.keys...)
			continue
		}
		names = append(names, found.name)
	}
	if body, err := decode(r.Body); err == nil {
		names = append(names, conditionNames(body)...)
	}
	return names
}

// conditionNames are the values that the conditions and repetitions of a body ask for.
func conditionNames(v any) []string {
	var names []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			names = append(names, conditionNames(item)...)
		}
	case map[string]any:
		for name, item := range v {
			if text, ok := item.(string); ok && (name == onlyIf || name == forEach) {
				names = append(names, readCondition(text).name)
			}
			names = append(names, conditionNames(item)...)
		}
	}
	return names
}

// scope is what placeholders stand for while requests of one run are made.
type scope struct {
	values map[string]any
	tables map[string]table
	media  string // how files are sent that have no form of their own
	secret func(name string) (string, error)
}

// with gives the scope with one value more.
func (sc scope) with(name string, value any) scope {
	sc.values = maps.Clone(sc.values)
	sc.values[name] = value
	return sc
}

// lookup finds a value by its name, or a part of one: "images.0", "submitted.urls.cancel".
func (sc scope) lookup(name string) (any, bool) {
	if v, there := sc.values[name]; there {
		return v, v != nil
	}
	for i := strings.LastIndexByte(name, '.'); i > 0; i = strings.LastIndexByte(name[:i], '.') {
		if v, there := sc.values[name[:i]]; there {
			part, found := strategy.Lookup(v, strings.Split(name[i+1:], "."))
			return part, found && part != nil
		}
	}
	return nil, false
}

// cell is what a table has for the values behind names, which are put together by a blank.
func (sc scope) cell(name string, keys []string) (any, bool) {
	texts := make([]string, len(keys))
	for i, key := range keys {
		value, _ := sc.lookup(key)
		texts[i] = plain(value)
	}
	rows := sc.tables[name]
	raw, there := rows[strings.Join(texts, " ")]
	if !there {
		raw = rows["*"]
	}
	value, err := decode(raw)
	return value, err == nil && value != nil
}

// plain is a value as text: "" where there is none.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case map[string]any, []any:
		raw, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(raw)
	}
	return fmt.Sprint(value)
}

// resolve gives what a placeholder stands for in its form; false: nothing.
func (sc scope) resolve(r ref) (any, bool, error) {
	value, there := sc.lookup(r.name)
	if len(r.keys) > 0 {
		value, there = sc.cell(r.name, r.keys)
	}
	if !there {
		return nil, false, nil
	}
	formed, err := sc.formed(value, r.form)
	return formed, true, err
}

// formed gives a value in a form: "text" for numbers and switches as text; of files "data" for a data URI, "base64", "mime", "url" and
// "file" for the part of a multipart body. "path" is for paths, and changes nothing elsewhere.
func (sc scope) formed(value any, form string) (any, error) {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			var err error
			if list[i], err = sc.formed(item, form); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *file:
		form = cmp.Or(form, sc.media)
		return v.formed(form)
	}
	if form == "text" {
		return plain(value), nil
	}
	return value, nil
}

// condition is what $if says: a name, alone or before "=" or "!=" and a value, perhaps with "!" in front.
type condition struct {
	name, value string
	compares    bool
	negated     bool
}

func readCondition(text string) condition {
	c := condition{name: strings.TrimSpace(text)}
	if rest, not := strings.CutPrefix(c.name, "!"); not {
		c.name, c.negated = strings.TrimSpace(rest), true
	}
	if name, value, compares := strings.Cut(c.name, "="); compares {
		name, not := strings.CutSuffix(name, "!")
		c = condition{name: strings.TrimSpace(name), value: strings.TrimSpace(value), compares: true, negated: not}
	}
	return c
}

// holds tells whether a value is given, is neither false, nor empty, or has the value that the condition names.
func (sc scope) holds(text string) bool {
	c := readCondition(text)
	value, there := sc.lookup(c.name)
	list, isList := value.([]any)
	met := there && value != "" && value != false && (!isList || len(list) > 0)
	if c.compares {
		met = plain(value) == c.value
	}
	return met != c.negated
}

// fill gives a value with its placeholders filled; false: it is one that stands for nothing.
func (sc scope) fill(v any) (any, bool, error) {
	switch v := v.(type) {
	case string:
		return sc.replace(v)
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			filled, there, err := sc.fill(item)
			if err != nil {
				return nil, false, err
			}
			if several, ok := filled.([]any); ok && repeats(item) {
				list = append(list, several...)
			} else if there {
				list = append(list, filled)
			}
		}
		return list, true, nil
	case map[string]any:
		return sc.object(v)
	}
	return v, true, nil
}

func repeats(item any) bool {
	object, ok := item.(map[string]any)
	return ok && object[forEach] != nil
}

func (sc scope) object(v map[string]any) (any, bool, error) {
	if text, ok := v[onlyIf].(string); ok && !sc.holds(text) {
		return nil, false, nil
	}
	if name, ok := v[forEach].(string); ok {
		return sc.each(name, v)
	}
	if value, ok := v[instead]; ok {
		return sc.fill(value)
	}
	object := make(map[string]any, len(v))
	if text, ok := v[members].(string); ok {
		more, _, err := sc.replace(text)
		if err != nil {
			return nil, false, err
		}
		fields, _ := more.(map[string]any)
		maps.Copy(object, fields)
	}
	for name, item := range v {
		if name == onlyIf || name == members {
			continue
		}
		filled, there, err := sc.fill(item)
		if err != nil {
			return nil, false, err
		}
		if there {
			object[name] = filled
		}
	}
	return object, true, nil
}

// each gives a list of objects, one for each value of an input; false: there is none.
func (sc scope) each(name string, v map[string]any) (any, bool, error) {
	value, there := sc.lookup(name)
	if !there {
		return nil, false, nil
	}
	items, several := value.([]any)
	if !several {
		items = []any{value}
	}
	one := maps.Clone(v)
	delete(one, forEach)
	delete(one, onlyIf)
	list := make([]any, 0, len(items))
	for i, item := range items {
		filled, there, err := sc.with("item", item).with("index", json.Number(strconv.Itoa(i+1))).fill(one)
		if err != nil {
			return nil, false, err
		}
		if there {
			list = append(list, filled)
		}
	}
	return list, len(list) > 0, nil
}

// replace fills one text. A text that is nothing but a placeholder becomes the value, with its type, or is
// left out; elsewhere values become text.
func (sc scope) replace(text string) (any, bool, error) {
	text, err := fillSecrets(text, inBodies, sc.secret)
	if err != nil {
		return nil, false, err
	}
	if m := placeholder.FindStringSubmatch(text); m != nil && m[0] == text {
		return sc.resolve(refOfMatch(m))
	}
	var wrong []error
	filled := placeholder.ReplaceAllStringFunc(text, func(found string) string {
		value, _, err := sc.resolve(refOfMatch(placeholder.FindStringSubmatch(found)))
		wrong = append(wrong, err)
		return plain(value)
	})
	return filled, true, errors.Join(wrong...)
}

// inPath fills placeholders in a path. A value can't leave its place: what it has of slashes and question
// marks is escaped, and one that stands for another folder is refused. In the form "path" its slashes stay.
func (sc scope) inPath(path string) (string, error) {
	var wrong error
	filled := placeholder.ReplaceAllStringFunc(path, func(found string) string {
		r := refOfMatch(placeholder.FindStringSubmatch(found))
		value, _, err := sc.resolve(r)
		if err != nil {
			wrong = err
			return ""
		}
		steps := []string{plain(value)}
		if r.form == "path" {
			steps = strings.Split(steps[0], "/")
		}
		for i, step := range steps {
			if step == "." || step == ".." {
				wrong = registry.Say(registry.CodeInvalidInput, said.CantBe, "words", step).At(r.name)
			}
			steps[i] = url.PathEscape(step)
		}
		return strings.Join(steps, "/")
	})
	return filled, wrong
}

// inBody fills placeholders in the texts of a JSON body.
func (sc scope) inBody(raw json.RawMessage) (any, error) {
	body, err := decode(raw)
	if err != nil {
		return nil, registry.Say(registry.CodeInternal, said.BodyUnread).Because(err)
	}
	filled, _, err := sc.fill(body)
	return filled, err
}

// decode reads JSON; its numbers keep all their digits.
func decode(raw []byte) (v any, _ error) {
	err := decimal.Unmarshal(raw, &v)
	return v, err
}

// base is the input that a name stands for, or begins with.
func base(schema registry.InputSchema, name string) (registry.InputField, bool) {
	steps := strings.Split(name, ".")
	for n := range slices.Backward(steps) {
		if f, known := schema.Get(strings.Join(steps[:n+1], ".")); known {
			return f, true
		}
	}
	return registry.InputField{}, false
}
