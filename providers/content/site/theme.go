package site

import (
	"embed"
	"errors"
	"io/fs"
)

//go:embed theme
var theme embed.FS

// Theme is the theme that comes with the program, as an own one is laid out: theme/layout.html, theme/style.css, theme/icon.svg.
func Theme() fs.FS { return theme }

// themed reads files of the operator's theme, or else of the one that comes with the program.
type themed struct{ own fs.FS }

func (t themed) read(name string) ([]byte, error) {
	if t.own != nil {
		raw, err := fs.ReadFile(t.own, "theme/"+name)
		if !errors.Is(err, fs.ErrNotExist) {
			return raw, err
		}
	}
	return fs.ReadFile(theme, "theme/"+name)
}

// styles are the files that pages load.
func (t themed) styles() fs.FS {
	if t.own != nil {
		if _, err := fs.Stat(t.own, "theme/style.css"); err == nil {
			own, err := fs.Sub(t.own, "theme")
			if err == nil {
				return own
			}
		}
	}
	styles, _ := fs.Sub(theme, "theme") // a folder of the program
	return styles
}
