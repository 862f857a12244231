package api

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File is where a server keeps a file.
type File struct {
	Filename  string `json:"filename"`
	Subfolder string `json:"subfolder"`
	Type      string `json:"type"`
}

// maxName bounds file and folder names, as file systems do.
const maxName = 255

// Check refuses names that could lead out of the server's folders, wherever they come from, and marks like
// "a.png [input]" that would make the server look in another folder.
func (f File) Check() error {
	if !PlainName(f.Filename) || strings.HasSuffix(f.Filename, "]") {
		return fmt.Errorf("file name %.80q of the engine is not a plain name", f.Filename)
	}
	if f.Subfolder != "" {
		for part := range strings.SplitSeq(strings.ReplaceAll(f.Subfolder, `\`, "/"), "/") {
			if !PlainName(part) {
				return fmt.Errorf("subfolder %.80q of the engine is not a plain relative path", f.Subfolder)
			}
		}
	}
	if f.Type != "output" && f.Type != "temp" && f.Type != "input" {
		return fmt.Errorf("folder type %.80q of the engine is none of output, temp and input", f.Type)
	}
	return nil
}

// PlainName tells whether s names something directly inside a folder, on every system.
func PlainName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= maxName && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return strings.ContainsRune(`/\:`, r) || unicode.IsControl(r) })
}

// InputName is how a node refers to an uploaded file.
func (f File) InputName() string { return path.Join(f.Subfolder, f.Filename) }
