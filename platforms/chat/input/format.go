package input

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Format is the shape of a picture that somebody asked for by a word or a ratio, and what a tool makes of it.
type Format struct {
	Said string // as it was written: "16:9", "square"
	// Values are those of the inputs that take it, by name: width and height, or the choice of a ratio.
	Values map[string]any
}

// Shown writes what was made of the words: "1360 × 768", or a tool's own choice.
func (f *Format) Shown() string {
	width, wide := f.Values["width"]
	height, high := f.Values["height"]
	if wide && high {
		return fmt.Sprintf("%v × %v", width, height)
	}
	for _, value := range f.Values {
		return fmt.Sprint(value)
	}
	return ""
}

// shape is a format as it was asked for: a ratio or, from 64 on, a size in pixels.
type shape struct{ width, height float64 }

// format is a shape with the words for it.
type format struct {
	shape
	by string
}

func (s shape) ratio() float64 { return s.width / s.height }

// inPixels reports whether the sides say how large a picture is, and not only how it is shaped.
func (s shape) inPixels() bool { return s.width >= 64 && s.height >= 64 }

// sides matches a ratio or a size: 16:9, 3x2, 1024×768, and the names of services such as landscape_16_9.
var sides = regexp.MustCompile(`(\d{1,5})\s*[:x×X*/_]\s*(\d{1,5})$`)

// shapeOf reads "16:9", "1024x768" or a word such as "square", in any of our languages.
func shapeOf(text string) (shape, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, f := range formatWords {
		if slices.Contains(f.alone, text) || slices.Contains(f.anywhere, text) {
			return f.shape, true
		}
	}
	m := sides.FindStringSubmatch(text)
	if m == nil || m[0] != text {
		return shape{}, false
	}
	return shapeOfSides(m)
}

func shapeOfSides(m []string) (shape, bool) {
	w, _ := strconv.ParseFloat(m[1], 64)
	h, _ := strconv.ParseFloat(m[2], 64)
	s := shape{w, h}
	return s, w > 0 && h > 0 && s.ratio() <= 8 && s.ratio() >= 1.0/8
}

// ratiosInText are what is taken for a ratio at the end of a sentence, where 12:30 is a time.
var ratiosInText = regexp.MustCompile(`(?:^|\s)(?:(?:in|im|as|als|en|в)\s+)?((?:16|21|4|3|5|1):(?:9|3|2|4|1)|9:16|9:21|2:3|3:4|4:5)[.!]?$`)

// cutFormat finds the words of a text that ask for a format. They are its last words, or stand between commas; those that
// say nothing else are taken out of the text.
func cutFormat(text string) (s shape, said, rest string, ok bool) {
	parts, separators := splitParts(text)
	for i, part := range slices.Backward(parts) {
		word := strings.TrimSpace(part)
		if s, ok = shapeOf(withoutPreposition(word)); ok && len(parts) > 1 {
			if rest = text; !slices.Contains(alsoSubjects, withoutPreposition(word)) {
				rest = joinWithout(parts, separators, i)
			}
			return s, word, rest, true
		}
	}
	last := strings.TrimSpace(text)
	if m := ratiosInText.FindStringSubmatchIndex(last); m != nil {
		s, ok = shapeOf(last[m[2]:m[3]])
		return s, last[m[2]:m[3]], strings.TrimRight(last[:m[0]], " ,;"), ok
	}
	if s, ok = shapeOf(withoutPreposition(last)); ok {
		return s, last, "", true
	}
	s, said, ok = endsInFormat(last)
	return s, said, text, ok
}

// endsInFormat finds words at the end of a text that can mean nothing but a format. They stay in it.
func endsInFormat(text string) (s shape, said string, ok bool) {
	lower := strings.ToLower(strings.TrimRight(text, ".!。！"))
	for _, f := range formatWords {
		for _, phrase := range f.anywhere {
			before, found := strings.CutSuffix(lower, phrase)
			if found && len(phrase) > len(said) && (before == "" || strings.HasSuffix(before, " ") || phrase[0] >= 0xe3) {
				s, said, ok = f.shape, phrase, true
			}
		}
	}
	return s, said, ok
}

// splitParts splits a text at commas and ends of lines.
func splitParts(text string) (parts, separators []string) {
	for {
		i := strings.IndexAny(text, ",;\n，、；")
		if i < 0 {
			return append(parts, text), separators
		}
		size := 1
		if text[i] >= 0x80 {
			size = 3
		}
		parts, separators = append(parts, text[:i]), append(separators, text[i:i+size])
		text = text[i+size:]
	}
}

func joinWithout(parts, separators []string, left int) string {
	var b strings.Builder
	for i, part := range parts {
		if i == left {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(separators[i-1])
		}
		b.WriteString(part)
	}
	return strings.TrimSpace(b.String())
}

func withoutPreposition(word string) string {
	word = strings.ToLower(strings.TrimRight(word, ".!。！"))
	for _, p := range []string{"in ", "im ", "as a ", "as ", "als ", "en ", "в ", "ar ", "size "} {
		if rest, ok := strings.CutPrefix(word, p); ok {
			return rest
		}
	}
	return word
}

// alsoSubjects say as well what a picture shows, so that they stay in the text.
var alsoSubjects = []string{"portrait", "landscape", "retrato"}

// formatWords are the words of formats. Those that mean other things as well count only where they stand alone.
var formatWords = []struct {
	shape           shape
	alone, anywhere []string
}{
	{shape{1, 1},
		[]string{"square", "quadrat", "quadratisch", "cuadrado", "cuadrada", "квадрат", "квадратный", "квадратная", "квадратное", "квадратно", "方形", "正方形"},
		[]string{"square format", "quadratformat", "quadratisches format", "formato cuadrado", "квадратный формат", "квадратном формате", "方图", "正方形构图"}},
	{shape{2, 3},
		[]string{"portrait", "vertical", "retrato", "вертикальный", "вертикальная", "вертикально", "портретный", "纵向"},
		[]string{"portrait format", "portrait mode", "vertical format", "hochformat", "hochkant", "formato vertical", "вертикальный формат", "вертикальном формате", "竖版", "竖屏", "竖图"}},
	{shape{3, 2},
		[]string{"landscape", "horizontal", "apaisado", "apaisada", "горизонтальный", "горизонтальная", "горизонтально", "альбомный", "横向"},
		[]string{"landscape format", "landscape mode", "horizontal format", "querformat", "formato horizontal", "formato apaisado", "горизонтальный формат", "горизонтальном формате", "альбомный формат", "横版", "横屏", "横图"}},
	{shape{9, 16},
		[]string{"phone", "mobile", "smartphone", "story", "handy", "móvil", "celular", "teléfono", "телефон", "смартфон", "сторис", "手机"},
		[]string{"phone wallpaper", "for phone", "for my phone", "for the phone", "handyhintergrund", "handy-hintergrund", "fürs handy", "für mein handy", "für das handy", "para móvil", "para el móvil", "para mi móvil", "para el celular", "fondo de móvil", "для телефона", "на телефон", "для смартфона", "обои для телефона", "手机壁纸", "手机屏幕"}},
	{shape{16, 9},
		[]string{"wallpaper", "desktop", "wide", "widescreen", "breit", "hintergrundbild", "panorámico", "fondo de pantalla", "обои", "широкий", "壁纸", "宽屏"},
		[]string{"desktop wallpaper", "widescreen format", "desktophintergrund", "breitbild", "breitbildformat", "für den desktop", "pantalla ancha", "para el escritorio", "обои для рабочего стола", "для рабочего стола", "широкоформатный", "电脑壁纸", "桌面壁纸"}},
}

// fitFormat gives the values by which a tool's inputs take a shape; ok is false where it has no such inputs, or one of
// them has a value already.
func fitFormat(schema registry.InputSchema, s shape, has func(name string) bool) (values map[string]any, ok bool) {
	width, wide := numberNamed(schema, "width")
	height, high := numberNamed(schema, "height")
	if wide && high {
		if has(width.Name) || has(height.Name) {
			return nil, false
		}
		w, h := sizeWithin(s, width, height)
		values = map[string]any{width.Name: w, height.Name: h}
		for _, f := range []registry.InputField{width, height} {
			if _, bad := registry.CheckValue(f, values[f.Name]); bad != nil {
				return nil, false
			}
		}
		return values, true
	}
	f, ok := shapeInput(schema)
	if !ok || has(f.Name) {
		return nil, false
	}
	value, ok := nearestChoice(f, s)
	return map[string]any{f.Name: value}, ok
}

// shapeInput is the input whose choices are shapes.
func shapeInput(schema registry.InputSchema) (registry.InputField, bool) {
	for _, name := range []string{"aspect_ratio", "aspect", "ratio", "size", "image_size", "format", "resolution"} {
		f, ok := FieldNamed(schema, name)
		if ok && slices.ContainsFunc(f.Choices, isShape) {
			return f, true
		}
	}
	return registry.InputField{}, false
}

func isShape(c registry.Choice) bool {
	text, _ := c.Value.(string)
	_, ok := shapeOfChoice(text)
	return ok
}

// ratioSlack is how far a tool's own ratio may lie from the one that was asked for: 1344x768 is called 16:9.
const ratioSlack = 0.06

// nearestChoice gives the choice of an input that has the shape, or nearly so.
func nearestChoice(f registry.InputField, s shape) (value any, ok bool) {
	least := ratioSlack
	for _, c := range f.Choices {
		text, _ := c.Value.(string)
		own, known := shapeOfChoice(text)
		if !known {
			continue
		}
		if off := math.Abs(math.Log(own.ratio() / s.ratio())); off < least {
			value, ok, least = c.Value, true, off
		}
	}
	return value, ok
}

// shapeOfChoice reads the names that services give to shapes. "portrait_4_3" is higher than wide.
func shapeOfChoice(text string) (shape, bool) {
	text = strings.ToLower(text)
	if s, ok := shapeOf(text); ok {
		return s, true
	}
	if strings.HasPrefix(text, "square") {
		return shape{1, 1}, true
	}
	m := sides.FindStringSubmatch(text)
	if m == nil {
		return shape{}, false
	}
	s, ok := shapeOfSides(m)
	if strings.HasPrefix(text, "portrait") && s.ratio() > 1 {
		s = shape{s.height, s.width}
	}
	return s, ok
}

// sizeWithin gives a width and a height of a shape, as large as the tool's own picture or as asked for, within the bounds
// and in the steps of both inputs.
func sizeWithin(s shape, width, height registry.InputField) (w, h json.Number) {
	area := s.width * s.height
	if !s.inPixels() {
		area = numberOr(width.Default, 1024) * numberOr(height.Default, 1024)
	}
	scaled := math.Sqrt(area / (s.width * s.height))
	most := min(numberOr(width.Max, math.Inf(1))/s.width, numberOr(height.Max, math.Inf(1))/s.height)
	least := max(numberOr(width.Min, 1)/s.width, numberOr(height.Min, 1)/s.height)
	scaled = min(max(scaled, least), most)
	return inSteps(s.width*scaled, width), inSteps(s.height*scaled, height)
}

// usualStep is what sides of pictures are multiples of where a tool says nothing.
const usualStep = 8

// inSteps gives the number of an input's steps that is nearest.
func inSteps(side float64, f registry.InputField) json.Number {
	step, from := numberOr(f.Step, 0), numberOr(f.Min, 0)
	if step < 2 {
		step, from = usualStep, 0
	}
	low, high := numberOr(f.Min, 1), numberOr(f.Max, math.Inf(1))
	n := from + math.Round((side-from)/step)*step
	if n > high {
		n -= step
	}
	if n < low {
		n += step
	}
	return json.Number(strconv.FormatFloat(n, 'f', -1, 64))
}

// numberOr reads a number of a definition.
func numberOr(v any, otherwise float64) float64 {
	n, _ := v.(json.Number)
	f, err := n.Float64()
	if err != nil {
		return otherwise
	}
	return f
}
