package api

import (
	"regexp"
	"strings"
)

// What nodes say when they fail, in the form of Outcome.Exception.

// TooLarge tells whether a size is beyond what the engine takes.
func TooLarge(exception string) bool { return tooLarge.MatchString(exception) }

var tooLarge = regexp.MustCompile(`(?i)larger than this engine allows|\b(size|resolution|dimensions?|pixels|width|height|batch|image|picture|video)\b.*\b(is|are) too (large|big)\b|\bexceeds? the maximum (size|resolution|dimensions?|number of pixels|width|height|batch)`)

// PlainWords are the engine's words on why a node failed, where they are one short plain sentence of the kind that authors of
// nodes write for people. Whatever may be a path, an address, an id, a value or the inside of a program gives "".
func PlainWords(exception string) string {
	kind, text, _ := strings.Cut(exception, ": ")
	switch kind[strings.LastIndexByte(kind, '.')+1:] {
	case "ValueError", "RuntimeError", "AssertionError", "Exception":
	default:
		return ""
	}
	text = strings.TrimRight(strings.TrimSpace(text), ".!")
	if len(text) > 160 || len(strings.Fields(text)) < 3 || !plainSentence.MatchString(text) || insideWords.MatchString(text) {
		return ""
	}
	return text
}

var (
	plainSentence = regexp.MustCompile(`^\pL(?:[\pL\pN ,;()%+-]|\pL'\pL|[:.] |\pN\.\pN)*$`)
	insideWords   = regexp.MustCompile(`(?i)\b(node|tensor|tensors|torch|cuda|cudnn|hip|mps|python|module|attribute|argument|arguments|object|objects|dtype|nonetype|shape|shapes|index|keyword|traceback|mat1|mat2|storage|kernel|pointer|self|token|key|password|secret|host|localhost|port|file|directory|folder|drive|server|prompt)\b|\pN+\.\pN+\.\pN+|[0-9a-fA-F]{8,}`)
)

// DiskFull tells whether there was no room on a disk, by the words of Linux and of Windows.
func DiskFull(exception string) bool {
	return strings.Contains(exception, "No space left on device") || strings.Contains(exception, "There is not enough space on the disk")
}

// OutOfMemory tells whether there was too little memory.
func OutOfMemory(exception string) bool {
	text := strings.ToLower(exception)
	for _, sign := range []string{"outofmemory", "out of memory", "memoryerror", "can't allocate memory", "not enough memory"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}
