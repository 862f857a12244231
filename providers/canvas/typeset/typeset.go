package typeset

import (
	"io"
	"log"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// Config says where to look for fonts of the system.
type Config struct {
	// CacheDir is where the list of the system's fonts is kept. Empty: only the fonts that come with the program are used.
	CacheDir string
}

// Setter sets texts. It is safe for concurrent use.
type Setter struct {
	families []Family
	cacheDir string

	mu        sync.Mutex // the rest is for one at a time
	faces     map[style]*font.Face
	glyphs    map[glyph]geom.Path
	system    *fontscan.FontMap
	looked    bool // for the system's fonts
	segmenter shaping.Segmenter
	shaper    shaping.HarfbuzzShaper
	wrapper   shaping.LineWrapper
}

var _ scene.Typesetter = (*Setter)(nil)

// style chooses a face.
type style struct {
	family string
	weight int
	italic bool
}

type glyph struct {
	face *font.Face
	id   font.GID
}

// New makes a Setter, which reads fonts when it needs them.
func New(cfg Config) *Setter {
	return &Setter{families: bundled(), cacheDir: cfg.CacheDir, faces: map[style]*font.Face{}, glyphs: map[glyph]geom.Path{}}
}

// generic are further names for families.
var generic = map[string]string{
	"sans": "Inter", "sans-serif": "Inter", "system-ui": "Inter", "serif": "Literata", "mono": "JetBrains Mono", "monospace": "JetBrains Mono",
	"display": "Oswald", "impact": "Oswald",
}

// Family gives the exact name of a family, also for sans, serif, mono and display. Where there is none, nearest are the names of all that there are.
func (s *Setter) Family(name string) (exact string, nearest []string) {
	key := strings.ToLower(strings.TrimSpace(name))
	for _, f := range s.families {
		if strings.ToLower(f.Name) == key {
			return f.Name, nil
		}
		nearest = append(nearest, f.Name)
	}
	return generic[key], nearest
}

// Families are all that texts can name.
func (s *Setter) Families() []Family { return s.families }

// Block is a text that is set. Its upper left corner is 0, 0.
type Block struct {
	Pieces  []Piece
	Width   float64
	Height  float64
	Missing string // characters for which no font here has a picture, each once
}

// Piece is a part of a text that has fills of its own, as outlines.
type Piece struct {
	Outline geom.Path
	Fills   []scene.Fill // nil: those of the shape
}

// Measure gives the size of a text in lines of at most width; 0: as wide as it gets.
func (s *Setter) Measure(t scene.Text, width float64) (w, h float64) {
	b := s.set(t, width, 0, false)
	return b.Width, b.Height
}

// Set sets a text into a box.
func (s *Setter) Set(t scene.Text, width, height float64) Block { return s.set(t, width, height, true) }

func (s *Setter) set(t scene.Text, width, height float64, outlines bool) Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.glyphs) > 5000 {
		clear(s.glyphs)
	}
	set := setting{Setter: s, text: t, width: width, outlines: outlines, runes: []rune(transform(t))}
	set.leaveOut()
	start := 0
	for i := 0; i <= len(set.runes); i++ {
		if i == len(set.runes) || set.runes[i] == '\n' {
			set.paragraph(start, i)
			start = i + 1
		}
	}
	if width > 0 && t.GrowType != "auto-width" {
		set.block.Width = width
	}
	set.block.Height = set.y
	set.place(height)
	return set.block
}

// transform is what a text says in capitals, or not.
func transform(t scene.Text) string {
	runes, start := []rune(t.Characters), true
	look := func(i int) string {
		mode := t.Transform
		for _, r := range t.Ranges {
			if i >= r.Start && i < r.End && r.Transform != "" {
				mode = r.Transform
			}
		}
		return mode
	}
	for i, r := range runes {
		switch mode := look(i); {
		case mode == "uppercase", mode == "capitalize" && start:
			runes[i] = unicode.ToUpper(r)
		case mode == "lowercase":
			runes[i] = unicode.ToLower(r)
		}
		start = unicode.IsSpace(r)
	}
	return string(runes)
}

// leaveOut takes out signs such as emoji for which no font has a picture: a text is better without them than with boxes.
func (s *setting) leaveOut() {
	for i, r := range s.runes {
		if !unicode.Is(unicode.So, r) && !unicode.Is(unicode.Sk, r) {
			continue
		}
		faces := &faces{s: s, face: s.face(s.look(i).style)}
		face := faces.ResolveFace(r)
		if id, has := face.NominalGlyph(r); !has || s.isPicture(face, id) {
			s.miss(r)
			s.runes[i] = nothing
		}
	}
}

// nothing is a character without width or outline.
const nothing = '\u200B'

// setting is one text being set.
type setting struct {
	*Setter
	text     scene.Text
	runes    []rune
	width    float64
	outlines bool
	y        float64
	lines    []lineOf
	block    Block
}

// lineOf is a line, its length and the place of its baseline.
type lineOf struct {
	start    int // of its paragraph, by which its runs count their characters
	runs     []shaping.Output
	baseline float64
	length   float64
	last     bool // of its paragraph
}

// look is how a character is set.
type look struct {
	style
	size, spacing float64
	decoration    string
	fills         int // the range whose fills count, from 1; 0: the shape's
}

func (s *setting) look(i int) look {
	t := s.text
	l := look{style{t.FontFamily, weightOf(t.FontWeight), t.FontStyle == "italic"}, t.FontSize, t.LetterSpacing, t.Decoration, 0}
	for n, r := range t.Ranges {
		if i < r.Start || i >= r.End {
			continue
		}
		if r.FontFamily != "" {
			l.family = r.FontFamily
		}
		if r.FontWeight != "" {
			l.weight = weightOf(r.FontWeight)
		}
		if r.FontStyle != "" {
			l.italic = r.FontStyle == "italic"
		}
		if r.FontSize > 0 {
			l.size = r.FontSize
		}
		if r.LetterSpacing != 0 {
			l.spacing = r.LetterSpacing
		}
		if r.Decoration != "" {
			l.decoration = r.Decoration
		}
		if r.Fills != nil {
			l.fills = n + 1
		}
	}
	return l
}

// paragraph breaks the characters from start to before end into lines.
func (s *setting) paragraph(start, end int) {
	base := s.look(start)
	if start == end {
		s.y += base.size * s.text.LineHeight
		return
	}
	text := s.runes[start:end]
	var runs []shaping.Output
	for at := 0; at < len(text); {
		l, next := s.look(start+at), at+1
		for next < len(text) && s.look(start+next) == l {
			next++
		}
		runs = append(runs, s.shape(text, at, next, l)...)
		at = next
	}
	room := fixed.Int26_6(1 << 30)
	if s.width > 0 && s.text.GrowType != "auto-width" {
		room = fixed.Int26_6(s.width * 64)
	}
	lines, _ := s.wrapper.WrapParagraphF(shaping.WrapConfig{Direction: s.direction()}, room, text, shaping.NewSliceIterator(runs))
	for i, line := range lines {
		s.line(line, i == len(lines)-1, start)
	}
}

func (s *setting) direction() di.Direction {
	if s.text.Direction == "rtl" {
		return di.DirectionRTL
	}
	return di.DirectionLTR
}

// shape finds the glyphs of characters that look alike, by the faces that have them.
func (s *setting) shape(text []rune, from, to int, l look) []shaping.Output {
	faces := &faces{s: s, face: s.face(l.style)}
	inputs := s.segmenter.Split(shaping.Input{
		Text: text, RunStart: from, RunEnd: to, Direction: s.direction(), Face: faces.face, Size: fixed.Int26_6(l.size*64 + 0.5), Language: language.NewLanguage("en"),
	}, faces)
	var outputs []shaping.Output
	for _, in := range slices.Clone(inputs) {
		outputs = append(outputs, s.shaper.Shape(in))
	}
	if l.spacing != 0 {
		shaping.AddSpacing(outputs, text, 0, fixed.Int26_6(l.spacing*64))
	}
	return outputs
}

// line takes a line as it was broken, and finds its baseline: the height of a line is the font size times lineHeight, and the font's ascent and descent lie in its middle.
func (s *setting) line(line shaping.Line, last bool, start int) {
	runs := slices.Clone(line)
	slices.SortStableFunc(runs, func(a, b shaping.Output) int { return int(a.VisualIndex - b.VisualIndex) })
	high, baseline := 0.0, 0.0
	length := fixed.Int26_6(0)
	for i := range runs {
		l := s.look(start + runs[i].Runes.Offset)
		face := s.face(l.style)
		extents, _ := face.FontHExtents()
		scale := l.size / float64(face.Upem())
		ascent, descent := float64(extents.Ascender)*scale, float64(extents.Descender)*scale
		h := l.size * s.text.LineHeight
		high, baseline = max(high, h), max(baseline, (h-(ascent-descent))/2+ascent)
		length += runs[i].Advance
	}
	s.lines = append(s.lines, lineOf{start, runs, s.y + baseline, float64(length) / 64, last})
	s.y += high
	s.block.Width = max(s.block.Width, float64(length)/64)
}

// place lays the lines out in the box and draws them.
func (s *setting) place(height float64) {
	down := map[string]float64{"center": 0.5, "bottom": 1}[s.text.VerticalAlign] * max(0, height-s.y)
	if height == 0 || !s.outlines {
		down = 0
	}
	pieces := map[int]*geom.Path{}
	for _, line := range s.lines {
		room := s.block.Width - line.length
		x := map[string]float64{"center": 0.5, "right": 1}[s.text.Align] * room
		if s.text.Align == "justify" && !line.last {
			s.justify(line, room)
		}
		for _, run := range line.runs {
			l := s.look(line.start + run.Runes.Offset)
			if pieces[l.fills] == nil {
				pieces[l.fills] = &geom.Path{}
			}
			x = s.draw(pieces[l.fills], line.start, run, l, x, line.baseline+down)
		}
	}
	if !s.outlines {
		return
	}
	for n := 0; n <= len(s.text.Ranges); n++ {
		if p := pieces[n]; p != nil {
			piece := Piece{Outline: *p}
			if n > 0 {
				piece.Fills = s.text.Ranges[n-1].Fills
			}
			s.block.Pieces = append(s.block.Pieces, piece)
		}
	}
}

// justify widens the blanks of a line, apart from one at its end, which takes no room.
func (s *setting) justify(line lineOf, room float64) {
	var blanks []*shaping.Glyph
	for _, run := range line.runs {
		for j := range run.Glyphs {
			if g := &run.Glyphs[j]; g.Advance > 0 && s.runes[line.start+g.TextIndex()] == ' ' {
				blanks = append(blanks, g)
			}
		}
	}
	for _, g := range blanks {
		g.Advance += fixed.Int26_6(room / float64(len(blanks)) * 64)
	}
}

// draw adds the outlines of a run, and tells where the next one begins.
func (s *setting) draw(to *geom.Path, start int, run shaping.Output, l look, x, baseline float64) float64 {
	scale := l.size / float64(run.Face.Upem())
	begin := x
	for _, g := range run.Glyphs {
		if s.outlines {
			m := geom.Matrix{A: scale, D: -scale, E: x + float64(g.XOffset)/64, F: baseline - float64(g.YOffset)/64}
			*to = append(*to, s.outline(run.Face, g.GlyphID).Transform(m)...)
		}
		if g.GlyphID == 0 || s.isPicture(run.Face, g.GlyphID) {
			s.miss(s.runes[start+g.TextIndex()])
		}
		x += float64(g.Advance) / 64
	}
	if at := map[string]float64{"underline": 0.12, "line-through": -0.3}[l.decoration]; at != 0 && s.outlines {
		*to = append(*to, geom.RoundedRect(geom.Rect{X: begin, Y: baseline + at*l.size - l.size*0.03, W: x - begin, H: l.size * 0.06}, [4]float64{})...)
	}
	return x
}

// isPicture tells of a glyph that is only there as pixels, as those of emoji are. Few fonts have pixels at all, and outlines are long to read.
func (s *Setter) isPicture(face *font.Face, id font.GID) bool {
	pixels, has := face.GlyphDataBitmap(id)
	return has && pixels.Outline == nil
}

func (s *setting) miss(r rune) {
	if !slices.Contains([]rune(s.block.Missing), r) && utf8.RuneCountInString(s.block.Missing) < 20 {
		s.block.Missing += string(r)
	}
}

// outline is a glyph's outline in the units of its font, y upward.
func (s *Setter) outline(face *font.Face, id font.GID) geom.Path {
	key := glyph{face, id}
	if p, ok := s.glyphs[key]; ok {
		return p
	}
	data, _ := face.GlyphDataOutline(id)
	var p geom.Path
	var at geom.Point
	point := func(a font.SegmentPoint) geom.Point { return geom.Point{X: float64(a.X), Y: float64(a.Y)} }
	for _, seg := range data.Segments {
		a := seg.Args
		switch seg.Op {
		case opentype.SegmentOpMoveTo:
			if len(p) > 0 {
				p.Close()
			}
			at = point(a[0])
			p.MoveTo(at)
		case opentype.SegmentOpLineTo:
			at = point(a[0])
			p.LineTo(at)
		case opentype.SegmentOpQuadTo:
			p.QuadTo(at, point(a[0]), point(a[1]))
			at = point(a[1])
		case opentype.SegmentOpCubeTo:
			at = point(a[2])
			p.CurveTo(point(a[0]), point(a[1]), at)
		}
	}
	if len(p) > 0 {
		p.Close()
	}
	s.glyphs[key] = p
	return p
}

func (s *Setter) face(st style) *font.Face {
	if face, ok := s.faces[st]; ok {
		return face
	}
	at := max(0, slices.IndexFunc(s.families, func(f Family) bool { return f.Name == st.family }))
	face := s.families[at].face(st.weight, st.italic)
	s.faces[st] = face
	return face
}

// faces finds a face for each character: the one that was asked for, another that comes with the program, one of the system.
type faces struct {
	s    *setting
	face *font.Face
}

// ResolveFace is what the segmenter asks.
func (f *faces) ResolveFace(r rune) *font.Face {
	if _, has := f.face.NominalGlyph(r); has {
		return f.face
	}
	for _, family := range f.s.families {
		other := f.s.face(style{family.Name, 400, false})
		if _, has := other.NominalGlyph(r); has {
			return other
		}
	}
	if system := f.s.fromSystem(r); system != nil {
		return system
	}
	return f.face
}

func (s *Setter) fromSystem(r rune) *font.Face {
	if !s.looked && s.cacheDir != "" {
		s.looked = true
		system := fontscan.NewFontMap(log.New(io.Discard, "", 0))
		if err := system.UseSystemFonts(s.cacheDir); err == nil {
			system.SetQuery(fontscan.Query{Families: []string{"Noto Sans", "Noto Sans CJK SC", fontscan.SansSerif}})
			s.system = system
		}
	}
	if s.system == nil {
		return nil
	}
	face := s.system.ResolveFace(r)
	if face == nil {
		return nil
	}
	if _, has := face.NominalGlyph(r); !has {
		return nil
	}
	return face
}
