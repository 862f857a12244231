package pages

import (
	"crypto/sha256"
	"fmt"
	"html/template"
	"strings"
)

// emblemShapes are what a cell of an emblem can hold: paths in a square of 20 units.
var emblemShapes = [...]string{
	"M0 0h20a20 20 0 0 1-20 20z", "M20 0v20A20 20 0 0 1 0 0z", "M20 20H0A20 20 0 0 1 20 0z", "M0 20V0a20 20 0 0 1 20 20z",
	"M0 10a10 10 0 1 1 20 0 10 10 0 0 1-20 0z", "M0 0h20v20H0z", "M0 0h20L0 20z", "",
}

// emblem draws a small pattern of a tool's id in shades of the accent, for tools that have no picture yet: always
// the same for one tool, and told apart at a glance.
func emblem(toolID string) template.HTML {
	hash := sha256.Sum256([]byte(toolID))
	var b strings.Builder
	b.WriteString(`<svg class="emblem" viewBox="0 0 60 60" aria-hidden="true">`)
	for i := range 9 {
		shape := emblemShapes[int(hash[i])%len(emblemShapes)]
		if shape == "" {
			continue
		}
		opacity := [...]string{".18", ".4", ".7", "1"}[hash[i+9]%4]
		fmt.Fprintf(&b, `<path transform="translate(%d %d)" d="%s" fill-opacity="%s"/>`, i%3*20, i/3*20, shape, opacity)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}
