package nodes

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/meta"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

func TestCaseFollowsPython(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"Title Case", "hello wORLD it's a test2go", "Hello World It'S A Test2Go"}, {"Title Case", "ßtraße ﬁne", "Sstraße Fine"}, {"Title Case", "ΟΔΥΣΣΕΥΣ ΌΣΟΣ", "Οδυσσευς Όσος"},
		{"Capitalize", "ǆ ΑΣ", "ǅ ας"}, {"Capitalize", "İX", "İx"}, {"lowercase", "ΑΣ İ", "ας i̇"}, {"UPPERCASE", "ﬁ ŉ ß", "FI ʼN SS"}, {"Capitalize", "", ""},
	} {
		if got := convertCase(c[1], c[0]); got != c[2] {
			t.Errorf("%s of %q = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestFormatFollowsPython(t *testing.T) {
	t.Parallel()
	f := formatter{values: map[string]any{"a": int64(42), "b": 3.14159, "l": []any{int64(1), "x"}, "s": "héy", "n": nil, "t": true}}
	for text, want := range map[string]string{
		"{a}-{b:.2f}": "42-3.14", "{{}}": "{}", "{a!r:>5}": "   42", "{a:{l[0]}}": "42", "{l[1]}{s[1]}": "xé", "{n}": "None", "{{{a}}}": "{42}", "{t}": "True", "{t:d}": "1", "{l}": "[1, 'x']", "{s!a}": `'h\xe9y'`,
	} {
		if got, err := f.format(text, 2); err != nil || got != want {
			t.Errorf("format(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"{", "}", "{a", "{}", "{0}", "{z}", "{l[9]}", "{a!x}", "{a[0]}", "{n:5}", "{a:{a:{a:{a}}}}"} {
		if got, err := f.format(text, 2); err == nil {
			t.Errorf("format(%q) = %q, want an error", text, got)
		}
	}
}

func TestMathFollowsPython(t *testing.T) {
	t.Parallel()
	names := map[string]any{"a": int64(3), "b": int64(5), "c": 2.5, "values": []any{int64(3), int64(5), 2.5}, "True": true, "None": nil}
	for text, want := range map[string]string{
		"-2**2": "-4", "2**-1": "0.5", "-7//2": "-4", "-7 % 3": "2", "7 % -3": "-2", "-7.5 % 2": "0.5", "2**3**2": "512", "-a**2": "-9", "1 < 2 > 3": "0", "a if a > b else b": "5",
		"a and 0 or c": "2.5", "not a": "0", "round(2.5)": "2", "round(2.675, 2)": "2.67", "round(1250, -2)": "1200", "values[-1]": "2.5", "5 in values": "1", "10**400 / 10**399": "10.0",
		"9007199254740993": "9007199254740993", "1_000 + 0x10 + 0b11": "1019", "1 << 4 | 3": "19", "~5": "-6", "max(values) - min(a, b)": "2", "1if a else 2": "1", "0 ** 0": "1",
	} {
		v, err := evaluate(text, names)
		if err != nil {
			t.Errorf("%s: %s", text, err)
			continue
		}
		want, _ := pyval.Parse([]byte(want))
		if !pyval.Equal(v, want) {
			t.Errorf("%s = %s, want %s", text, pyval.Repr(v), pyval.Repr(want))
		}
	}
	for text, kind := range map[string]string{
		"1 +": "SyntaxError", "(1": "SyntaxError", "a b": "SyntaxError", "07": "SyntaxError", "a.real": "SyntaxError", "__import__('os')": "simpleeval.FunctionNotDefined", "x": "simpleeval.NameNotDefined",
		"1/0": "ZeroDivisionError", "5 % 0": "ZeroDivisionError", "0**-1": "ZeroDivisionError", "sqrt(-1)": "ValueError", "log(0)": "ValueError", "(-8)**(1/3)": "ValueError", "1 << -1": "ValueError",
		"9**9**9": "simpleeval.NumberTooHigh", "pow(2, 5000)": "ValueError", "values[9]": "IndexError", "None + 1": "TypeError", "min(1)": "TypeError", "round()": "TypeError", "10**400 * 1.0": "OverflowError",
	} {
		v, err := evaluate(text, names)
		raised, ok := err.(*node.Exception) // made by this package
		if !ok || raised.Type != kind {
			t.Errorf("%s = %v, %v; want %s", text, v, err, kind)
		}
	}
}

func FuzzMath(f *testing.F) {
	for _, seed := range []string{"a+b", "-2**2**a", "a if b else (c)", "round(a, 2) // 0", "values[0] < 1 <= 2", "1e5%3", "((((", "min(,)", "not not 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = mathResult(text, map[string]any{"a": int64(2), "b": 2.5, "c": true, "values": []any{int64(2), 2.5, true}})
	})
}

func call(values map[string]any) *node.Call { return node.NewCall(&node.Spec{}, nil, values) }

func TestRegexFollowsPython(t *testing.T) {
	t.Parallel()
	replace := func(pattern, text, with string) (any, error) {
		return regexReplace(call(map[string]any{"regex_pattern": pattern, "string": text, "replace": with, "case_insensitive": false}))
	}
	for _, c := range [][4]string{
		{"x*", "abxd", "-", "-a-b--d-"}, {"(?P<y>x)(y)(?P<z>z)", "xyz", `\g<z>\2\g<1>`, "zyx"}, {"(?P<q>.)(?P=q)", "aabbc", `<\1>`, "<a><b>c"}, {"[]a]", "a]b", "-", "--b"},
		{"[^]a]", "a]b", "-", "a]-"}, {`\d`, "١2", "#", "##"}, {`\Aab\Z`, "ab", "ok", "ok"}, {"(a)|b", "ab", `[\1]`, "[a][]"}, {"(?<=a)b", "abb", "-", "a-b"}, {"b", "abc", `\n\\`, "a\n\\c"},
		{"a{,2}b", "aaab", "-", "a-"}, {"xa{,}", "xaay", "-", "-y"}, {"[{,}]", "a,", "-", "a-"}, {`(a)?(?(1)b|c)(d)`, "abdcd", `<\2>`, "<d><d>"},
		{`(?P<q>")?x(?(q)"|y)`, `"x" xy`, "-", "- -"}, {"[[:alpha:]]+", "a:]b", "-", "a-b"}, {"[a-z-[aeiou]]", "ab]-]", "-", "a--"}, {`[^\W\d_]+`, "a1_é", "-", "-1_-"}, {`[^\W]`, "a.", "-", "-."}, {`[\w.]+`, "a.b c", "-", "- -"},
		{`\w+`, "a\u0301b", "-", "-\u0301-"}, {`\W`, "a\u0301b", "-", "a-b"}, {`\U0001F600`, "😀x", "-", "-x"}, {`a\U0000002A`, "aaa*", "-", "aa-"}, {`[\U0000005D]`, "a]", "-", "a-"}, {"a", "a", `\101\07\012`, "A\a\n"}, {"(?<!a)b", "abb", "-", "ab-"},
	} {
		if got, err := replace(c[0], c[1], c[2]); err != nil || got != c[3] {
			t.Errorf("re.sub(%q, %q, %q) = %q, %v; want %q", c[0], c[2], c[1], got, err, c[3])
		}
	}
	for _, c := range [][2]string{{"(", "x"}, {"*a", "x"}, {`\p{L}`, "x"}, {`\z`, "x"}, {"(?P<1a>a)", "x"}, {"a", `\q`}, {"a", `\g<9>`}, {"a", `\g<no>`}, {"a", `\1`}, {"(?<n>a)", "x"}, {"(?'n'a)", "x"}, {"(?P<n>a)|(?P<n>b)", "x"}, {"(?P=n)a|a", "x"}, {"a", `\`}, {"a", `\777`}, {`a|\U99999999`, "x"}, {`a|\U12`, "x"}} {
		if got, err := replace(c[0], "a", c[1]); err == nil {
			t.Errorf("re.sub(%q, %q) = %q, want an error", c[0], c[1], got)
		}
	}
}

// TestFLACTellsItsWorkflow: the texts are Vorbis comments, without those that don't fit.
func TestFLACTellsItsWorkflow(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	texts := []node.MetaText{{Key: "prompt", Text: `{"1": {}}`}, {Key: "huge", Text: strings.Repeat("x", 1<<24)}, {Key: "workflow", Text: "é"}}
	if err := writeFLAC(&file, [][]float32{{0, 0.5}}, 8000, texts); err != nil {
		t.Fatal(err)
	}
	stream, err := flac.Parse(&file)
	if err != nil {
		t.Fatal(err)
	}
	var tags [][2]string
	for _, block := range stream.Blocks {
		if c, ok := block.Body.(*meta.VorbisComment); ok {
			tags = append(tags, c.Tags...)
		}
	}
	if got := fmt.Sprint(tags); got != `[[prompt {"1": {}}] [workflow é]]` {
		t.Errorf("comments %.200s", got)
	}
}

func TestResampleKeepsATone(t *testing.T) {
	t.Parallel()
	row := make([]float32, 8000)
	for i := range row {
		row[i] = float32(math.Sin(2 * math.Pi * 440 * float64(i) / 8000))
	}
	out := resample(&node.Audio{Rate: 8000, Wave: [][][]float32{{row}}}, 16000)
	if out.Samples() != 16000 || out.Rate != 16000 {
		t.Fatalf("%d samples at %d Hz", out.Samples(), out.Rate)
	}
	for i := 200; i < 15800; i++ {
		if want := math.Sin(2 * math.Pi * 440 * float64(i) / 16000); math.Abs(float64(out.Wave[0][0][i])-want) > 0.01 {
			t.Fatalf("sample %d is %v, want %v", i, out.Wave[0][0][i], want)
		}
	}
}
