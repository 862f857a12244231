package templates

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/recolour"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// colours are words for colours in the five languages. Russian ones stand without their endings.
var colours = []struct {
	hex   string
	words []string
}{
	{"#C1121F", []string{"dark red", "dunkelrot", "rojo oscuro"}}, {"#0B3C5D", []string{"dark blue", "navy", "dunkelblau", "azul oscuro", "marino"}}, {"#1F4D3A", []string{"dark green", "dunkelgrün", "verde oscuro"}},
	{"#A8DADC", []string{"light blue", "hellblau", "celeste", "голуб"}}, {"#BFE3B4", []string{"light green", "hellgrün", "verde claro"}},
	{"#E63946", []string{"red", "rot", "rote", "roter", "roten", "rotes", "rojo", "roja", "красн", "红"}}, {"#1D6FB8", []string{"blue", "blau", "blaue", "blauer", "blauen", "azul", "син", "蓝"}},
	{"#2A9D5C", []string{"green", "grün", "grüne", "grüner", "grünen", "verde", "зелен", "зелён", "绿"}}, {"#F6C445", []string{"yellow", "gelb", "gelbe", "amarillo", "amarilla", "желт", "жёлт", "黄"}},
	{"#F4813C", []string{"orange", "naranja", "оранж", "橙"}}, {"#7C4DCB", []string{"purple", "violet", "lila", "violett", "morado", "violeta", "фиолет", "紫"}},
	{"#E86A92", []string{"pink", "rosa", "rosado", "розов", "粉"}}, {"#7A4A2B", []string{"brown", "braun", "marrón", "коричнев", "棕"}}, {"#14A3A3", []string{"teal", "turquoise", "türkis", "turquesa", "бирюз"}},
	{"#8A8F98", []string{"gray", "grey", "grau", "graue", "gris", "сер", "灰"}}, {"#D4AF37", []string{"gold", "golden", "dorado", "золот", "金"}},
	{"#111111", []string{"black", "schwarz", "schwarze", "negro", "negra", "черн", "чёрн", "黑"}}, {"#FFFFFF", []string{"white", "weiß", "weiss", "weiße", "blanco", "blanca", "бел", "白"}},
}

var hexColour = regexp.MustCompile(`#[0-9A-Fa-f]{6}\b|#[0-9A-Fa-f]{3}\b`)

// ColorNamed reads a colour by its word or as #RRGGBB.
func ColorNamed(text string) (string, bool) {
	if m := hexColour.FindString(text); m != "" {
		color, err := scene.Color("color", m)
		return color, err == nil
	}
	text = strings.ToLower(text)
	list := fields(text)
	for _, c := range colours {
		for _, w := range c.words {
			first := []rune(w)[0]
			switch {
			case strings.Contains(w, " ") && strings.Contains(text, w), first > 0x3000 && strings.Contains(text, w), slices.Contains(list, w):
				return c.hex, true
			case first >= 'а' && first <= 'ё' && len([]rune(w)) > 2 && slices.ContainsFunc(list, func(f string) bool { return strings.HasPrefix(f, w) }):
				return c.hex, true
			}
		}
	}
	return "", false
}

// targets are words for parts of a drawing, by the names that templates give them.
var targets = []struct {
	names []string
	words []string
}{
	{[]string{"title", "top"}, []string{"title", "heading", "headline", "titel", "überschrift", "título", "titulo", "заголов", "标题"}},
	{[]string{"detail", "detail 2", "detail 3", "detail 4", "bottom"}, []string{"details", "detail", "text below", "details", "детали", "detalles", "细节"}},
	{[]string{"occasion"}, []string{"occasion", "kicker", "anlass", "ocasión", "повод"}},
	{[]string{"sun", "bar", "ring", "disc", "card", "slice"}, []string{"sun", "bars", "bar", "ring", "rings", "circle", "circles", "disc", "kreis", "kreise", "sonne", "balken", "sol", "círculo", "круг", "солнце"}},
	{[]string{""}, []string{"background", "ground", "hintergrund", "fondo", "фон", "背景"}},
}

// part finds what a sentence is about: shapes of the board, or the board itself.
func part(s *scene.Scene, board *scene.Shape, text string) []*scene.Shape {
	list, lower := fields(text), strings.ToLower(text)
	for _, t := range targets {
		if !slices.ContainsFunc(t.words, func(w string) bool {
			r := []rune(w)[0]
			return slices.Contains(list, w) || r > 0x3000 && strings.Contains(lower, w) || r >= 'а' && r <= 'ё' && slices.ContainsFunc(list, func(f string) bool { return strings.HasPrefix(f, w) })
		}) {
			continue
		}
		if t.names[0] == "" {
			return []*scene.Shape{board}
		}
		if found := named(s, board, t.names); len(found) > 0 {
			return found
		}
	}
	var found []*scene.Shape
	for _, sh := range s.Children(board.ID) { // by its own name
		if name := strings.ToLower(sh.Name); name != "" && slices.Contains(list, name) {
			found = append(found, sh)
		}
	}
	return found
}

func named(s *scene.Scene, board *scene.Shape, names []string) []*scene.Shape {
	var found []*scene.Shape
	for _, sh := range s.Children(board.ID) {
		if slices.ContainsFunc(names, func(n string) bool { return sh.Name == n || strings.HasPrefix(sh.Name, n+" ") }) {
			found = append(found, sh)
		}
	}
	return found
}

var (
	assigned = regexp.MustCompile(`(?s)^\s*([\pL ]{2,30})\s*[:：]\s*(.+)$`)
	bigger   = []string{"bigger", "larger", "größer", "grösser", "grande", "больше", "крупнее", "更大", "大一点"}
	smaller  = []string{"smaller", "kleiner", "pequeño", "меньше", "мельче", "更小", "小一点"}
	goes     = []string{"delete", "remove", "lösche", "entferne", "borra", "quita", "elimina", "удали", "убери", "删除"}
	fonts    = map[string]string{"serif": "Literata", "sans": "Inter", "mono": "JetBrains Mono", "oswald": "Oswald", "literata": "Literata", "inter": "Inter", "narrow": "Oswald"}
)

func says(text string, words []string) bool {
	list := fields(text)
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(list, w) || []rune(w)[0] > 0x3000 && strings.Contains(text, w)
	})
}

// Edit changes the board that a conversation draws on as a sentence says: a colour ("make it blue", "title red", "background #204060"), other words
// ("title: Winter party"), a size ("bigger title"), a font ("title serif"), a place ("move title up 40"), or what is to go ("delete the sun").
// done is false for a sentence that says nothing of that: then something new is wanted.
func Edit(s *scene.Scene, board *scene.Shape, text string) (changed *scene.Shape, done bool, err error) {
	if _, kind := kindOf(text); kind || isLines(text) || len([]rune(text)) > 200 {
		return nil, false, nil
	}
	about := part(s, board, text)
	if m := assigned.FindStringSubmatch(text); m != nil {
		if to := part(s, board, m[1]); len(to) > 0 && to[0].Type == scene.TextShape {
			return to[0], true, rewrite(s, board, to[0], m[2])
		}
		return nil, false, nil
	}
	color, hasColor := ColorNamed(text)
	switch {
	case says(text, goes) && len(about) > 0 && about[0] != board:
		for _, sh := range about {
			if _, _, err = s.Delete(sh.ID); err != nil {
				return nil, true, err
			}
		}
		return board, true, nil
	case hasColor && len(about) > 0:
		return about[0], true, paint(s, about, color)
	case hasColor:
		return board, true, recolour.Board(s, board, color)
	}
	if len(about) == 0 {
		return nil, false, nil
	}
	factor := 0.0
	if says(text, bigger) {
		factor = 1.25
	} else if says(text, smaller) {
		factor = 0.8
	}
	if factor != 0 {
		return about[0], true, resize(s, about, factor)
	}
	if x, y, ok := direction(text); ok {
		return about[0], true, move(s, about, x, y)
	}
	for word, family := range fonts {
		if says(text, []string{word}) {
			return about[0], true, refont(s, about, family)
		}
	}
	return nil, false, nil
}

// Understands reports whether words say something that is drawn, or changed in a drawing, other than as the text of a poster.
func Understands(words string) bool {
	if brief := Read(words, nil, 0); brief.Named || brief.Kind != Poster || assigned.MatchString(words) {
		return true
	}
	_, hasColor := ColorNamed(words)
	_, _, moves := direction(words)
	return hasColor || moves || says(words, slices.Concat(bigger, smaller, goes, slices.Collect(maps.Keys(fonts))))
}

// rewrite gives a text other words, as large as they fit.
func rewrite(s *scene.Scene, board, sh *scene.Shape, words string) error {
	words = strings.TrimSpace(words)
	t := *sh.Text
	p := &sheet{Scene: s, board: board}
	f := face{family: t.FontFamily, weight: t.FontWeight, italic: t.FontStyle == "italic", caps: t.Transform == "uppercase", line: t.LineHeight, most: max(t.FontSize, sh.Height/t.LineHeight), least: 10}
	if t.FontSize > 0 {
		f.spacing = t.LetterSpacing / t.FontSize
	}
	size := scene.Figure(p.fit(words, box{W: sh.Width, H: sh.Height}, f))
	spacing := scene.Figure(f.spacing * float64(size))
	_, err := s.Modify(scene.TextShape, sh.ID, scene.Props{Characters: &words, FontSize: &size, LetterSpacing: &spacing}, nil)
	return err
}

func paint(s *scene.Scene, shapes []*scene.Shape, color string) error {
	for _, sh := range shapes {
		p := scene.Props{Color: &color}
		if sh.Type == scene.TextShape {
			p = scene.Props{TextColor: &color}
		}
		if _, err := s.Modify("", sh.ID, p, nil); err != nil {
			return err
		}
	}
	return nil
}

func resize(s *scene.Scene, shapes []*scene.Shape, factor float64) error {
	for _, sh := range shapes {
		p := scene.Props{}
		if sh.Text != nil {
			size := scene.Figure(sized(s, sh, factor))
			p.FontSize = &size
		} else {
			c := sh.Box().Center()
			w, h := sh.Width*factor, sh.Height*factor
			x, y := c.X-w/2, c.Y-h/2
			p.X, p.Y, p.Width, p.Height = &x, &y, &w, &h
		}
		if _, err := s.Modify("", sh.ID, p, nil); err != nil {
			return err
		}
	}
	return nil
}

// sized is the size of a text by so much larger, but not so large that a word would be broken.
func sized(s *scene.Scene, sh *scene.Shape, factor float64) float64 {
	size := sh.Text.FontSize * factor
	if factor < 1 || sh.Text.GrowType == "auto-width" {
		return size
	}
	for word := range strings.FieldsSeq(sh.Text.Characters) {
		alone := *sh.Text
		alone.Characters, alone.Ranges = word, nil
		width, _ := s.Fonts.Measure(alone, 0)
		size = min(size, 0.99*sh.Text.FontSize*sh.Width/width)
	}
	return max(size, sh.Text.FontSize)
}

var distance = regexp.MustCompile(`\d+`)

func direction(text string) (x, y float64, ok bool) {
	by := 60.0
	if m := distance.FindString(text); m != "" {
		by, _ = strconv.ParseFloat(m, 64)
	}
	for _, d := range []struct {
		x, y  float64
		words []string
	}{
		{0, -1, []string{"up", "higher", "hoch", "höher", "arriba", "вверх", "выше", "上"}}, {0, 1, []string{"down", "lower", "runter", "tiefer", "abajo", "вниз", "ниже", "下"}},
		{-1, 0, []string{"left", "links", "izquierda", "влево", "左"}}, {1, 0, []string{"right", "rechts", "derecha", "вправо", "右"}},
	} {
		if says(text, d.words) {
			return d.x * by, d.y * by, true
		}
	}
	return 0, 0, false
}

func move(s *scene.Scene, shapes []*scene.Shape, dx, dy float64) error {
	for _, sh := range shapes {
		x, y := sh.X+dx, sh.Y+dy
		if _, err := s.Modify("", sh.ID, scene.Props{X: &x, Y: &y}, nil); err != nil {
			return err
		}
	}
	return nil
}

func refont(s *scene.Scene, shapes []*scene.Shape, family string) error {
	for _, sh := range shapes {
		if sh.Type != scene.TextShape {
			continue
		}
		if _, err := s.Modify(scene.TextShape, sh.ID, scene.Props{FontFamily: &family}, nil); err != nil {
			return err
		}
	}
	return nil
}
