package chat

import "strings"

// ParseCommand splits a message or caption that starts with a slash command, for platforms where commands
// are plain text. rest is what follows the first white space. "/name@bot" is for the bot of that name
// only: for another one forUs is false. A text that is no command gives an empty name, the whole text as
// rest, and forUs true. botName is without its @ and compared without case.
func ParseCommand(text, botName string) (name, rest string, forUs bool) {
	if !strings.HasPrefix(text, "/") {
		return "", text, true
	}
	name, rest = text[1:], ""
	if i := strings.IndexAny(name, " \n\t\r"); i >= 0 {
		name, rest = name[:i], strings.TrimSpace(name[i+1:])
	}
	name, bot, addressed := strings.Cut(name, "@")
	if !IsCommandName(name) {
		return "", text, true
	}
	if addressed && !strings.EqualFold(bot, botName) {
		return "", "", false
	}
	return name, rest, true
}

// IsCommandName reports whether a word has only the letters that commands have on every platform: A-Z a-z 0-9 _ -.
func IsCommandName(name string) bool {
	for _, r := range name {
		ok := r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !ok {
			return false
		}
	}
	return name != ""
}
