package scene

import (
	"strings"
	"unicode/utf8"
)

// defaultText is how a text is set that does not say.
func (s *Scene) defaultText() *Text {
	t := &Text{FontSize: 16, FontWeight: "400", FontStyle: "normal", LineHeight: 1.2, Align: "left", GrowType: "auto-width"}
	if s.Fonts != nil {
		t.FontFamily, _ = s.Fonts.Family("sans")
	}
	return t
}

func (s *Scene) applyText(sh *Shape, p Props) error {
	said := p.textFields()
	if sh.Type != TextShape {
		if len(said) > 0 {
			return wrong(said[0], "is for texts, and this is a %s", sh.Type)
		}
		return nil
	}
	t := sh.Text
	for field, v := range map[string]*string{"text": p.Text, "characters": p.Characters} {
		if v == nil {
			continue
		}
		characters, err := readText(field, *v)
		if err != nil {
			return err
		}
		t.Characters, t.Ranges = characters, nil
	}
	if p.FontFamily != nil {
		exact, err := s.family(*p.FontFamily)
		if err != nil {
			return err
		}
		t.FontFamily = exact
	}
	if err := p.figures(t); err != nil {
		return err
	}
	if p.GrowType == nil && (p.Width != nil || p.Height != nil) {
		t.GrowType = "fixed"
	}
	if err := p.styles(t); err != nil {
		return err
	}
	s.grow(sh)
	return nil
}

// textFields are those that were said and are for texts alone.
func (p Props) textFields() []string {
	var said []string
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"text", p.Text != nil}, {"characters", p.Characters != nil}, {"fontFamily", p.FontFamily != nil}, {"fontSize", p.FontSize != nil},
		{"fontWeight", p.FontWeight != nil}, {"fontStyle", p.FontStyle != nil}, {"textAlign", p.TextAlign != nil}, {"align", p.Align != nil},
		{"verticalAlign", p.VerticalAlign != nil}, {"lineHeight", p.LineHeight != nil}, {"letterSpacing", p.LetterSpacing != nil},
		{"textTransform", p.TextTransform != nil}, {"textDecoration", p.TextDecoration != nil}, {"growType", p.GrowType != nil}, {"textColor", p.TextColor != nil},
	} {
		if f.is {
			said = append(said, f.name)
		}
	}
	return said
}

// readText takes what a text says: models write a line break as the two characters \n.
func readText(field, v string) (string, error) {
	if n := utf8.RuneCountInString(v); n > maxText {
		return "", wrong(field, "has %d characters, at most %d are taken", n, maxText)
	}
	v = strings.ReplaceAll(strings.ReplaceAll(v, `\n`, "\n"), "\r\n", "\n")
	if strings.TrimSpace(v) == "" {
		return "", wrong(field, "is empty")
	}
	return v, nil
}

// family finds a font, and names those that look like it where there is none.
func (s *Scene) family(name string) (string, error) {
	if s.Fonts == nil {
		return name, nil
	}
	exact, nearest := s.Fonts.Family(name)
	if exact == "" {
		return "", wrong("fontFamily", "there is no font %q here; there are %s", name, strings.Join(nearest, ", "))
	}
	return exact, nil
}

func (p Props) figures(t *Text) error {
	for _, n := range []struct {
		field     string
		v         *Figure
		to        *float64
		low, high float64
	}{{"fontSize", p.FontSize, &t.FontSize, 1, 2000}, {"lineHeight", p.LineHeight, &t.LineHeight, 0.1, 20}, {"letterSpacing", p.LetterSpacing, &t.LetterSpacing, -500, 500}} {
		if n.v == nil {
			continue
		}
		if err := check(n.field, float64(*n.v), n.low, n.high); err != nil {
			return err
		}
		*n.to = float64(*n.v)
	}
	return nil
}

// Weights are the words and numbers for how bold a font is.
func Weights() []string {
	return []string{"100", "200", "300", "400", "500", "600", "700", "800", "900", "normal", "bold"}
}

func (p Props) styles(t *Text) error {
	if p.FontWeight != nil {
		weight := string(*p.FontWeight)
		if err := oneOf("fontWeight", weight, append(Weights(), "thin", "light", "regular", "medium", "semibold", "black")...); err != nil {
			return err
		}
		t.FontWeight = weight
	}
	aligns := []string{"left", "center", "right", "justify"}
	for _, c := range []struct {
		field   string
		v       *string
		to      *string
		allowed []string
	}{
		{"fontStyle", p.FontStyle, &t.FontStyle, []string{"normal", "italic"}},
		{"textAlign", p.TextAlign, &t.Align, aligns}, {"align", p.Align, &t.Align, aligns},
		{"verticalAlign", p.VerticalAlign, &t.VerticalAlign, []string{"top", "center", "bottom"}},
		{"textTransform", p.TextTransform, &t.Transform, []string{"none", "uppercase", "capitalize", "lowercase"}},
		{"textDecoration", p.TextDecoration, &t.Decoration, []string{"none", "underline", "line-through"}},
		{"direction", p.Direction, &t.Direction, []string{"ltr", "rtl"}},
		{"growType", p.GrowType, &t.GrowType, []string{"fixed", "auto-width", "auto-height"}},
	} {
		if c.v == nil {
			continue
		}
		if err := oneOf(c.field, *c.v, c.allowed...); err != nil {
			return err
		}
		*c.to = *c.v
	}
	return nil
}

// grow gives a text the size that it takes, where its box is not fixed.
func (s *Scene) grow(sh *Shape) {
	if sh.Text.GrowType == "fixed" || s.Fonts == nil {
		return
	}
	width := 0.0
	if sh.Text.GrowType == "auto-height" {
		width = sh.Width
	}
	w, h := s.Fonts.Measure(*sh.Text, width)
	if width == 0 {
		sh.Width = max(1, w)
	}
	sh.Height = max(1, h)
}

// ModifyTextRange gives the characters from start to before end another look. It tells what of the properties a range can't have.
func (s *Scene) ModifyTextRange(id string, start, end int, p Props, said map[string]any) (sh *Shape, rejected []string, err error) {
	sh, err = s.find("shapeId", id)
	if err != nil {
		return nil, nil, err
	}
	if sh.Type != TextShape {
		return nil, nil, wrong("shapeId", "%q is a %s, expected a text", sh.Name, sh.Type)
	}
	length := utf8.RuneCountInString(sh.Text.Characters)
	if start < 0 || start >= length {
		return nil, nil, wrong("start", "is %d, and the text has the characters 0 to %d", start, length-1)
	}
	if end <= start || end > length {
		return nil, nil, wrong("end", "is %d, expected %d to %d", end, start+1, length)
	}
	for name := range said {
		switch name {
		case "fontFamily", "fontSize", "fontWeight", "fontStyle", "letterSpacing", "textTransform", "textDecoration", "fills", "textColor":
		default:
			rejected = append(rejected, name)
		}
	}
	if len(rejected) == len(said) {
		return nil, rejected, wrong("props", "has nothing that a part of a text can have")
	}
	whole := Text{}
	if p.FontFamily != nil {
		if whole.FontFamily, err = s.family(*p.FontFamily); err != nil {
			return nil, nil, err
		}
	}
	if err := firstOf(p.figures(&whole), p.styles(&whole)); err != nil {
		return nil, nil, err
	}
	fills, err := p.fills()
	if err != nil {
		return nil, nil, err
	}
	r := Range{start, end, whole.FontFamily, whole.FontSize, whole.FontWeight, whole.FontStyle, whole.LetterSpacing, whole.Transform, whole.Decoration, nil}
	if fills != nil {
		r.Fills = *fills
	}
	s.edit(sh)
	sh.Text.Ranges = append(sh.Text.Ranges[:len(sh.Text.Ranges):len(sh.Text.Ranges)], r)
	s.grow(sh)
	s.fit(sh)
	return sh, rejected, nil
}
