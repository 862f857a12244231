package plain

import "testing"

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, got, want string }{
		{"what turns or hides text goes", Text("a\u202eb\u200bc\x1b[0m\td"), "abc[0m d"},
		{"line ends become one sort and stay", Text("a\r\nb\rc"), "a\nb\nc"},
		{"emoji stay whole", Text("\U0001f468\u200d\U0001f4bb\ufe0f"), "\U0001f468\u200d\U0001f4bb\ufe0f"},
		{"a line has single blanks", Line("  a\n\t b "), "a b"},
		{"a cut is marked", Clip("schön und gut", 6), "schön…"},
		{"what fits is not cut", Clip("schön", 5), "schön"},
		{"no rune is cut in two", Cut("aö", 2), "a"},
		{"a name in a message", Quote("a\nb"), `"a b"`},
		{"a slug", Slug(" What to Draw? ", "_"), "what_to_draw"},
		{"a part of an address", Address("_Grüße, Zoë: straße_1!"), "grusse-zoe-strasse-1"},
		{"a title in another script gives none", Address("Кружки"), ""},
		{"keys are hidden", HideKeys("use hf_abcdefghijklmnopqrstuv now"), "use *** now"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	for text, want := range map[string]bool{"sk-0123456789abcdefghij": true, "task-0123456789abcdefghij": false, "a cat on a roof, at night": false} {
		if HoldsKey(text) != want {
			t.Errorf("HoldsKey(%q) = %v", text, !want)
		}
	}
}
