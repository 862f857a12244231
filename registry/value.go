package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/said"
)

// Bounds of one input value.
const (
	MaxTextBytes  = 100_000 // of a text
	MaxListLength = 100     // of an input that takes several values
	maxURLBytes   = 4096
)

// RandomSeed is the value of a Seed input that asks for a fresh seed at each run.
const RandomSeed json.Number = "-1"

// CheckValue makes of v, a value of one input as it came as text from a chat or as JSON, the value
// that a provider gets: string, bool, json.Number, for an input with a schema any JSON value, for an
// input that takes several a []any. Numbers are exact, integers come as plain digits, a choice may be
// named by its value or label in any case, "random" stands for RandomSeed, media are references. nil
// means not given: it stays nil where the input is optional.
//
// What does not fit is an *Error with CodeInvalidInput and the input's name, never sent to a provider.
func CheckValue(f InputField, v any) (any, *Error) {
	if v == nil {
		if f.Required {
			return nil, invalid(f, "a value is needed")
		}
		return nil, nil
	}
	if !f.Multiple {
		return checkOne(f, v)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	return checkList(f, list)
}

// ParseText is CheckValue for what a person typed. Where the input takes several values they stand
// on lines of their own, or, unless they are texts, between commas or blanks, or in a JSON list.
func ParseText(f InputField, text string) (any, *Error) {
	if !f.Multiple {
		return CheckValue(f, text)
	}
	if list, err := ordered.ParseText(text); err == nil {
		if values, isList := ordered.Plain(list).([]any); isList {
			return CheckValue(f, values)
		}
	}
	split := strings.Split(text, "\n")
	if f.Type != TypeString {
		split = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == ' ' || r == '\t' })
	}
	list := make([]any, 0, len(split))
	for _, part := range split {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return CheckValue(f, list)
}

func invalid(f InputField, format string, args ...any) *Error {
	e := Errorf(CodeInvalidInput, "%s: "+format, append([]any{f.Label()}, args...)...)
	e.Field = f.Name
	return e
}

func checkList(f InputField, list []any) (any, *Error) {
	if f.Required && len(list) == 0 {
		return nil, invalid(f, "at least one value is needed")
	}
	if len(list) > MaxListLength {
		return nil, invalid(f, "takes at most %d values, got %d", MaxListLength, len(list))
	}
	of := f
	if f.SchemaOfList() {
		of.Schema = nil
	}
	checked := make([]any, len(list))
	for i, one := range list {
		value, err := checkOne(of, one)
		if err != nil {
			return nil, err
		}
		checked[i] = value
	}
	if len(of.Schema) == len(f.Schema) {
		return checked, nil
	}
	return checkSchema(f, checked)
}

func checkOne(f InputField, v any) (any, *Error) {
	if len(f.Schema) > 0 {
		return checkSchema(f, v)
	}
	if len(f.Choices) > 0 && !f.Type.IsMedia() {
		return checkChoice(f, v)
	}
	switch f.Type {
	case TypeNumber:
		return checkNumber(f, v)
	case TypeBoolean:
		return checkBool(f, v)
	case TypeString:
		return checkString(f, v)
	case TypeImage, TypeVideo, TypeAudio, TypeFile:
		return checkMedia(f, v)
	}
	return nil, invalid(f, "has the unknown type %q", f.Type)
}

func checkString(f InputField, v any) (any, *Error) {
	s, ok := v.(string)
	if !ok {
		return nil, invalid(f, "takes text, got %s", typeName(v))
	}
	if f.Required && strings.TrimSpace(s) == "" {
		return nil, invalid(f, "a text is needed")
	}
	if len(s) > MaxTextBytes {
		return nil, invalid(f, "takes at most %d bytes of text, got %d", MaxTextBytes, len(s))
	}
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return nil, invalid(f, "the text holds bytes that are no characters")
	}
	return s, nil
}

var truths = map[string]bool{
	"true": true, "yes": true, "y": true, "on": true, "1": true, "enable": true, "enabled": true,
	"false": false, "no": false, "n": false, "off": false, "0": false, "disable": false, "disabled": false,
}

func checkBool(f InputField, v any) (any, *Error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		if truth, ok := truths[strings.ToLower(strings.TrimSpace(v))]; ok {
			return truth, nil
		}
		return nil, invalid(f, "takes yes or no, got %q", said.Brief(v))
	}
	return nil, invalid(f, "takes yes or no, got %s", typeName(v))
}

func checkNumber(f InputField, v any) (any, *Error) {
	text, ok := numberText(v)
	if !ok {
		return nil, invalid(f, "takes a number, got %s", typeName(v))
	}
	if f.Seed && strings.EqualFold(text, "random") {
		return RandomSeed, nil
	}
	n := json.Number(plainNumber(text))
	exact, err := decimal.Parse(n)
	if err != nil {
		return nil, invalid(f, "takes a number, got %q%s", said.Brief(text), commaHint(f, text))
	}
	if f.Seed && exact.Cmp(big.NewRat(-1, 1)) == 0 {
		return RandomSeed, nil
	}
	if e := checkRange(f, exact, n); e != nil {
		return nil, e
	}
	if f.Integer || f.Seed {
		if !exact.IsInt() {
			return nil, invalid(f, "takes a whole number, got %s", n)
		}
		return decimal.Format(exact), nil
	}
	return n, nil
}

// numberText gives a number's digits; Go's own numbers come from code that builds calls.
func numberText(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), true
	case string:
		return strings.TrimSpace(v), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return "", false
}

// plainNumber turns the ways people write numbers (+5, .5, 5.) into JSON's.
func plainNumber(s string) string {
	s = strings.TrimPrefix(s, "+")
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	if strings.HasPrefix(s, "-.") {
		s = "-0" + s[1:]
	}
	return strings.TrimSuffix(s, ".")
}

// thousands matches numbers with commas between groups of three digits.
var thousands = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?$`)

// commaHint says how a number with commas is to be written. One comma before three digits may stand for either.
func commaHint(f InputField, text string) string {
	plain, point := strings.ReplaceAll(text, ",", ""), strings.Replace(text, ",", ".", 1)
	grouped := thousands.MatchString(text)
	comma := !f.Integer && !f.Seed && strings.Count(text, ",") == 1 && decimal.IsNumber(point)
	switch {
	case grouped && comma:
		return " (write it without commas: " + plain + ", or " + point + " for a decimal)"
	case grouped:
		return " (write it without commas: " + plain + ")"
	case comma:
		return " (write decimals with a point: " + point + ")"
	}
	return ""
}

func checkRange(f InputField, exact *big.Rat, shown json.Number) *Error {
	if low, ok := decimal.Optional(f.Min); ok && exact.Cmp(low) < 0 {
		return invalid(f, "%s is too small; %s", shown, allowedRange(f))
	}
	if high, ok := decimal.Optional(f.Max); ok && exact.Cmp(high) > 0 {
		return invalid(f, "%s is too large; %s", shown, allowedRange(f))
	}
	return checkStep(f, exact, shown)
}

// checkStep counts steps from Min, or from zero where there is none. The default always fits: authors
// leave defaults beside the steps, and nobody could use such a tool otherwise.
func checkStep(f InputField, exact *big.Rat, shown json.Number) *Error {
	step, ok := decimal.Optional(f.Step)
	if !ok || step.Sign() <= 0 || isDefault(f, exact) {
		return nil
	}
	base, ok := decimal.Optional(f.Min)
	if !ok {
		base = new(big.Rat)
	}
	steps := new(big.Rat).Quo(new(big.Rat).Sub(exact, base), step)
	if steps.IsInt() {
		return nil
	}
	whole := new(big.Rat).SetInt(new(big.Int).Div(steps.Num(), steps.Denom()))
	near := new(big.Rat).Add(base, new(big.Rat).Mul(whole, step))
	return invalid(f, "%s is not in steps of %s; the next below is %s", shown, f.Step, decimal.Format(near))
}

func isDefault(f InputField, exact *big.Rat) bool {
	n, ok := f.Default.(json.Number)
	if !ok {
		return false
	}
	r, err := decimal.Parse(n)
	return err == nil && r.Cmp(exact) == 0
}

func allowedRange(f InputField) string {
	switch {
	case f.Min != "" && f.Max != "":
		return fmt.Sprintf("allowed is %s to %s", f.Min, f.Max)
	case f.Min != "":
		return fmt.Sprintf("at least %s", f.Min)
	}
	return fmt.Sprintf("at most %s", f.Max)
}

// Allowed says in a few words which values an input takes, such as "64 to 2048 in steps of 8", or
// nothing where all of its type are.
func Allowed(f InputField) string {
	if len(f.Choices) > 0 {
		return listed(choiceLabels(f), 20)
	}
	var parts []string
	if f.Min != "" || f.Max != "" {
		parts = append(parts, strings.TrimPrefix(allowedRange(f), "allowed is "))
	}
	if f.Step != "" {
		parts = append(parts, "in steps of "+f.Step.String())
	} else if f.Integer {
		parts = append(parts, "whole numbers")
	}
	if f.Multiple {
		parts = append(parts, "several")
	}
	return strings.Join(parts, ", ")
}

// checkChoice looks for the value itself, then for the value and then the label in any case.
func checkChoice(f InputField, v any) (any, *Error) {
	if i := slices.IndexFunc(f.Choices, func(c Choice) bool { return SameValue(c.Value, v) }); i >= 0 {
		return f.Choices[i].Value, nil
	}
	text, ok := choiceText(v)
	if !ok {
		return nil, invalid(f, "takes one of %s, got %s", listed(choiceLabels(f), 10), typeName(v))
	}
	for _, name := range []func(Choice) string{choiceValueText, func(c Choice) string { return c.Label }} {
		for _, c := range f.Choices {
			if n := name(c); n != "" && strings.EqualFold(n, text) {
				return c.Value, nil
			}
		}
	}
	near := ""
	if n := edit.Nearest(text, choiceLabels(f)); n != "" {
		near = fmt.Sprintf(" (did you mean %s?)", n)
	}
	return nil, invalid(f, "%q is not among the choices%s: %s", said.Brief(text), near, listed(choiceLabels(f), 10))
}

func choiceText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

func choiceValueText(c Choice) string {
	if s, ok := choiceText(c.Value); ok {
		return s
	}
	return fmt.Sprint(c.Value)
}

// Text is what people see: the label, or the value where there is none.
func (c Choice) Text() string {
	if c.Label != "" {
		return c.Label
	}
	return choiceValueText(c)
}

func choiceLabels(f InputField) []string {
	labels := make([]string, len(f.Choices))
	for i, c := range f.Choices {
		labels[i] = c.Text()
	}
	return labels
}

// SameValue compares numbers by worth, so that 1 and 1.0 are one choice, and all else as JSON.
func SameValue(a, b any) bool {
	if ta, isText := a.(string); isText {
		tb, isText := b.(string)
		return isText && ta == tb
	}
	na, isNumber := a.(json.Number)
	if nb, ok := b.(json.Number); ok && isNumber {
		ra, errA := decimal.Parse(na)
		rb, errB := decimal.Parse(nb)
		return errA == nil && errB == nil && ra.Cmp(rb) == 0
	}
	ja, errA := ordered.Marshal(a)
	jb, errB := ordered.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(ja, jb)
}

// checkMedia takes references only: files are stored before they are bound.
func checkMedia(f InputField, v any) (any, *Error) {
	s, ok := v.(string)
	if !ok {
		return nil, invalid(f, "takes %s, got %s", article(f.Type), typeName(v))
	}
	if !IsMediaRef(strings.TrimSpace(s)) {
		return nil, invalid(f, "takes %s: send a file, or give an https address", article(f.Type))
	}
	return strings.TrimSpace(s), nil
}

// IsMediaRef reports whether s is a Media reference: "asset:" with 64 lower-case hex digits, or an
// absolute https URL without a user name.
func IsMediaRef(s string) bool {
	if digits, ok := strings.CutPrefix(s, "asset:"); ok {
		return len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
	}
	if len(s) > maxURLBytes {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}

func article(t InputType) string {
	if t == TypeImage || t == TypeAudio {
		return "an " + string(t)
	}
	return "a " + string(t)
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "yes or no"
	case json.Number, int, int64, uint64, float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", v)
}

// checkSchema judges a nested value; from a chat it comes as JSON text.
func checkSchema(f InputField, v any) (any, *Error) {
	schema, err := compileSchema(f.Schema)
	if err != nil {
		return nil, Say(CodeInternal, said.ToolSchema).At(f.Name).Because(err)
	}
	if schema.Validate(v) == nil {
		return v, nil
	}
	if text, ok := v.(string); ok {
		if parsed, err := ordered.Parse([]byte(text)); err == nil {
			v = ordered.Plain(parsed)
		}
	}
	if err := schema.Validate(v); err != nil {
		if len(f.Choices) > 0 && !f.Multiple {
			return checkChoice(f, v)
		}
		return nil, invalid(f, "%s", schemaFailure(err))
	}
	return v, nil
}

// compileSchema compiles one JSON Schema (2020-12 where it does not say). It reads nothing from
// anywhere: a reference to another document is an error.
func compileSchema(raw json.RawMessage) (*jsonschema.Schema, error) { return compile(raw, false) }

// compile is compileSchema, by whose schema formats count, too, if wanted.
func compile(raw json.RawMessage, formats bool) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if formats {
		c.AssertFormat()
	}
	if err := c.AddResource(schemaURL, document); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

// schemaURL names a schema to the compiler, which would name it by the present folder else.
const schemaURL = "https://input.invalid/"

// schemaFailure puts the first failure in a line: where in the value, and what was expected.
func schemaFailure(err error) string {
	failure, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return "does not fit the schema"
	}
	for len(failure.Causes) > 0 { // what a part of the schema, or what it refers to, says in detail
		failure = failure.Causes[0]
	}
	what := failure.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if len(failure.InstanceLocation) == 0 {
		return what
	}
	return "/" + strings.Join(failure.InstanceLocation, "/") + " " + what
}
