package pyval_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

func TestParseReadsWhatPythonReads(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"b": 1, "a": [true, false, null], "b": 2}`: `{'b': 2, 'a': [True, False, None]}`,
		`18446744073709551615`:                       `18446744073709551615`,
		`-9223372036854775808`:                       `-9223372036854775808`,
		`[NaN, Infinity, -Infinity, 1e400]`:          `[nan, inf, -inf, inf]`,
		`[1.0, 1e3, 1E-5, -0.0, 0]`:                  `[1.0, 1000.0, 1e-05, -0.0, 0]`,
		`"\u00e9\ud83d\ude00\n\/"`:                   `'é😀\n/'`,
		"\t\r\n [ ] ":                                `[]`,
	} {
		v, err := pyval.Parse([]byte(text))
		if err != nil || pyval.Repr(v) != want {
			t.Errorf("Parse(%s) = %s, %v; want %s", text, pyval.Repr(v), err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{", "[1,]", `{"a":1,}`, `{a:1}`, "01", "1.", "+1", ".5", "1e", `"a`, "\"a\nb\"", `"\x"`, `"\u12"`, "nul", "[1] x", "\ufeff1", "\xff", "'a'",
		strings.Repeat("[", pyval.MaxDepth+2), strings.Repeat("9", 5000),
	} {
		if v, err := pyval.Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%.40q) = %s, want an error", text, pyval.Repr(v))
		}
	}
}

func TestDumps(t *testing.T) {
	t.Parallel()
	v := pyval.D("é", []any{int64(1), 2.0, "a\"\\\n\x7f😀"}, "n", nil, "e", []any{}, "d", &pyval.Dict{})
	if got, want := pyval.Dumps(v), `{"\u00e9": [1, 2.0, "a\"\\\n\u007f\ud83d\ude00"], "n": null, "e": [], "d": {}}`; got != want {
		t.Errorf("Dumps = %s, want %s", got, want)
	}
	if got, want := pyval.DumpsIndent([]any{"a", pyval.D("k", true)}, "    "), "[\n    \"a\",\n    {\n        \"k\": true\n    }\n]"; got != want {
		t.Errorf("DumpsIndent = %q, want %q", got, want)
	}
}

func TestRepr(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		`'a"b'`: `a"b`, `"a'b"`: `a'b`, `'a\'"'`: `a'"`, `'\x00\x7f\xad'`: "\x00\x7f\u00ad", `'\u200b é'`: "\u200b é",
		"1e+16": 1e16, "1000000000000000.0": 1e15, "0.0001": 1e-4, "1e-05": 1e-5, "-0.0": math.Copysign(0, -1), "None": nil, "[1, True]": []any{int64(1), true},
	} {
		if got := pyval.Repr(v); got != want {
			t.Errorf("Repr(%#v) = %s, want %s", v, got, want)
		}
	}
}

func TestToInt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1": "1", " 12 ": "12", "+5": "5", "-0": "0", "1_000": "1000", "١٢": "12", "\u00a05\u2003": "5", "00012": "12"} {
		if v, err := pyval.ToInt(text); err != nil || pyval.Str(v) != want {
			t.Errorf("ToInt(%q) = %v, %v; want %s", text, v, err, want)
		}
	}
	for _, bad := range []any{"", "1__0", "_1", "1_", "0x1", "1.0", "--1", "+ 1", nil, math.NaN(), math.Inf(1), []any{}} {
		if v, err := pyval.ToInt(bad); err == nil {
			t.Errorf("ToInt(%v) = %v, want an error", bad, v)
		}
	}
	if v, _ := pyval.ToInt(1e30); pyval.Str(v) != "1000000000000000019884624838656" {
		t.Errorf("ToInt(1e30) = %v", v)
	}
}

func TestToFloat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{" 1e3 ": "1000.0", "1_0.5": "10.5", "-Infinity": "-inf", "nan": "nan", "+.5": "0.5", "5.": "5.0", "1e400": "inf", "١.٥": "1.5"} {
		if v, err := pyval.ToFloat(text); err != nil || pyval.FloatRepr(v) != want {
			t.Errorf("ToFloat(%q) = %v, %v; want %s", text, v, err, want)
		}
	}
	for _, bad := range []any{"1e", "--1", "-+1", "0x1p3", "1__0", "1_.5", "1._5", "", nil, new(big.Int).Lsh(big.NewInt(1), 2000)} {
		if v, err := pyval.ToFloat(bad); err == nil {
			t.Errorf("ToFloat(%v) = %v, want an error", bad, v)
		}
	}
}

func TestCompareIsExact(t *testing.T) {
	t.Parallel()
	large := new(big.Int).Lsh(big.NewInt(1), 64)
	for _, c := range []struct {
		a, b  any
		order int
		ok    bool
	}{
		{large, 18446744073709551616.0, 0, true}, {new(big.Int).Sub(large, big.NewInt(1)), 18446744073709551616.0, -1, true},
		{int64(1), true, 0, true}, {math.Inf(1), large, 1, true}, {math.NaN(), 1.0, 0, false}, {"1", int64(1), 0, false},
	} {
		if order, ok := pyval.Compare(c.a, c.b); order != c.order || ok != c.ok {
			t.Errorf("Compare(%v, %v) = %d, %t", c.a, c.b, order, ok)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v          any
		spec, want string
	}{
		{3.14159, ".2f", "3.14"}, {int64(42), "05d", "00042"}, {int64(42), "#x", "0x2a"}, {int64(1234567), ",", "1,234,567"}, {int64(1234567), "_x", "12_d687"},
		{-2.25, "+08.2f", "-0002.25"}, {0.5, ".1%", "50.0%"}, {math.MaxFloat64, "%", "inf%"}, {"abc", "*^9", "***abc***"}, {"abc", ".2s", "ab"}, {true, ">6", "     1"}, {true, "", "True"},
		{1e16, ".3g", "1e+16"}, {1.0, "", "1.0"}, {int64(42), "<08", "42000000"}, {3.0, ".3", "3.0"}, {int64(65), "c", "A"}, {math.Inf(-1), "08", "-0000inf"},
	} {
		if got, err := pyval.Format(c.v, c.spec); err != nil || got != c.want {
			t.Errorf("Format(%v, %q) = %q, %v; want %q", c.v, c.spec, got, err, c.want)
		}
	}
	for _, c := range []struct {
		v    any
		spec string
	}{{"a", "d"}, {1.5, "d"}, {int64(1), ".2d"}, {"a", "+"}, {"a", ","}, {int64(1), "q"}, {"a", "99999999999"}, {"a", "5x5"}} {
		if got, err := pyval.Format(c.v, c.spec); err == nil {
			t.Errorf("Format(%v, %q) = %q, want an error", c.v, c.spec, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a": [1, 2.5e3, "x\u00e9"]}`, `[NaN]`, `"\ud800"`, `-0`, `{"a":{"a":{}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := pyval.Parse(text)
		if err != nil {
			return
		}
		again, err := pyval.Parse([]byte(pyval.Dumps(v)))
		if err != nil {
			t.Fatalf("what Dumps wrote cannot be read: %s", err)
		}
		if pyval.Repr(again) != pyval.Repr(v) {
			t.Errorf("%s became %s", pyval.Repr(v), pyval.Repr(again))
		}
	})
}

func TestFormatFollowsPython(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value      any
		spec, want string
	}{
		{int64(1234), "010,", "00,001,234"}, {int64(1234), "08,", "0,001,234"}, {int64(-42), "#012_x", "-0x0000_002a"}, {1234.5, "012,.1f", "00,001,234.5"}, {0.1, "09,.1%", "00,010.0%"},
		{123.0, ".3", "1.23e+02"}, {123.0, ".4", "123.0"}, {0.0, ".0", "0e+00"}, {123.0, "#.0f", "123."}, {100.0, "#.0e", "1.e+02"}, {3.5, "#.3g", "3.50"}, {1e22, "#", "1.e+22"},
		{-0.001, "z.1f", "0.0"}, {math.Copysign(0, -1), "z", "0.0"}, {-1.0, "z.1f", "-1.0"}, {"ab", "05", "ab000"}, {true, "5", "    1"}, {1.5, "*<06", "1.5***"}, {int64(65), "5c", "    A"}, {int64(65), "05c", "0000A"},
	} {
		if got, err := pyval.Format(c.value, c.spec); err != nil || got != c.want {
			t.Errorf("format(%v, %q) = %q, %v; want %q", c.value, c.spec, got, err, c.want)
		}
	}
	for _, c := range []struct {
		value any
		spec  string
	}{{int64(5), ",x"}, {int64(5), ",n"}, {1.5, "_n"}, {int64(5), "_c"}, {int64(5), ".1c"}, {int64(5), "+c"}, {int64(5), "#c"}, {int64(5), "z"}, {"a", "z"}, {"a", "=5"}, {"a", "=05"}} {
		if got, err := pyval.Format(c.value, c.spec); err == nil {
			t.Errorf("format(%v, %q) = %q, want an error", c.value, c.spec, got)
		}
	}
}
