package chat

import "testing"

func TestParseCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text    string
		command, rest string
		forUs         bool
	}{
		{"plain text", "hello /x", "", "hello /x", true},
		{"bare command", "/help", "help", "", true},
		{"A44 own name with any case", "/Help@Signal_Bot flux", "Help", "flux", true},
		{"another bot's command", "/help@other", "", "", false},
		{"newline separates", "/run\na red  bicycle\nat dawn", "run", "a red  bicycle\nat dawn", true},
		{"a path is no command", "/usr/bin is a folder", "", "/usr/bin is a folder", true},
		{"a lone slash", "/ hello", "", "/ hello", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			command, rest, forUs := ParseCommand(c.text, "signal_bot")
			if command != c.command || rest != c.rest || forUs != c.forUs {
				t.Errorf("ParseCommand(%q) = %q, %q, %v; want %q, %q, %v", c.text, command, rest, forUs, c.command, c.rest, c.forUs)
			}
		})
	}
}
