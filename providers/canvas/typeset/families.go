// Package typeset sets texts in lines and gives their outlines: the fonts that come with the program, those of the system for characters
// that these lack, shaping and breaking of lines by go-text.
package typeset

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
)

//go:embed fonts/*.ttf
var files embed.FS

// Family is a font family that texts can name.
type Family struct {
	Name   string   `json:"name"`
	Use    string   `json:"use"` // sans, serif, mono or display
	Styles []string `json:"styles"`
	cuts   []cut
}

// cut is one font file. A variable one gives all weights, and italics by its slant.
type cut struct {
	weight   int
	italic   bool
	variable bool
	font     func() *font.Font // read when a text wants it first: together they are megabytes
}

// bundled is what comes with the program: Latin, Greek and Cyrillic, apart from Oswald, which has no Greek.
func bundled() []Family {
	families := []Family{
		{Name: "Inter", Use: "sans", Styles: []string{"100 to 900, normal and italic"}},
		{Name: "Literata", Use: "serif", Styles: []string{"400", "400 italic", "700"}},
		{Name: "JetBrains Mono", Use: "mono", Styles: []string{"400", "700"}},
		{Name: "Oswald", Use: "display", Styles: []string{"700"}},
	}
	for i, cuts := range [][]struct {
		file string
		cut  cut
	}{
		{{"Inter", cut{weight: 400, variable: true}}},
		{{"Literata-Regular", cut{weight: 400}}, {"Literata-Bold", cut{weight: 700}}, {"Literata-Italic", cut{weight: 400, italic: true}}},
		{{"JetBrainsMono-Regular", cut{weight: 400}}, {"JetBrainsMono-Bold", cut{weight: 700}}},
		{{"Oswald-Bold", cut{weight: 700}}},
	} {
		for _, c := range cuts {
			c.cut.font = sync.OnceValue(func() *font.Font { return read(c.file) })
			families[i].cuts = append(families[i].cuts, c.cut)
		}
	}
	return families
}

// read panics where a file that comes with the program is no font: the tests read all of them.
func read(file string) *font.Font {
	raw, err := files.ReadFile("fonts/" + file + ".ttf")
	if err != nil {
		panic(err)
	}
	loader, err := opentype.NewLoader(bytes.NewReader(raw))
	if err != nil {
		panic(fmt.Errorf("the font %s: %w", file, err))
	}
	f, err := font.NewFont(loader)
	if err != nil {
		panic(fmt.Errorf("the font %s: %w", file, err))
	}
	return f
}

// weightOf reads how bold a font is to be.
func weightOf(word string) int {
	words := map[string]int{"thin": 100, "light": 300, "normal": 400, "regular": 400, "medium": 500, "semibold": 600, "bold": 700, "black": 900}
	if w, ok := words[word]; ok {
		return w
	}
	if w, err := strconv.Atoi(word); err == nil {
		return w
	}
	return 400
}

// slant is how far the variable font leans in italics, in degrees.
const slant = -10

// face makes the face of a family that comes nearest to a weight and a style. Where a family has no italics, the style decides before the weight.
func (f *Family) face(weight int, italic bool) *font.Face {
	distance := func(c cut) int {
		d := max(c.weight-weight, weight-c.weight)
		if c.italic != italic && !c.variable {
			d += 1000
		}
		return d
	}
	best := slices.MinFunc(f.cuts, func(a, b cut) int { return distance(a) - distance(b) })
	face := font.NewFace(best.font())
	if best.variable {
		lean := float32(0)
		if italic {
			lean = slant
		}
		face.SetVariations([]font.Variation{{Tag: opentype.MustNewTag("wght"), Value: float32(weight)}, {Tag: opentype.MustNewTag("slnt"), Value: lean}})
	}
	return face
}
