package templates

import (
	"slices"
	"strings"
)

// Palette is a set of colours that go together. Ink is for letters on ground, and paper for letters on deep.
type Palette struct {
	Name                                     string
	Ground, Deep, Accent, Second, Ink, Paper string
	words                                    []string // that ask for it
}

// palettes are those of templates. Ink on ground and paper on deep have a contrast of at least 4.5.
func palettes() []Palette {
	return []Palette{
		{"sunset", "#FFE8D1", "#B23A2E", "#FF6B35", "#F7B267", "#3D1308", "#FFF4E6", []string{"summer", "sunset", "warm", "party", "sommer", "verano", "лето", "夏", "beach", "strand", "garden", "garten", "jardín", "сад", "花园", "orange"}},
		{"night", "#E8E6FF", "#1B1446", "#7C5CFF", "#FF5CA8", "#1B1446", "#F5F1FF", []string{"night", "club", "dj", "concert", "nacht", "noche", "ночь", "夜", "konzert", "concierto", "концерт", "dance", "techno", "purple"}},
		{"forest", "#EAF4E2", "#1F4D3A", "#3FA66B", "#E3B23C", "#12291F", "#F3FBEF", []string{"nature", "forest", "green", "spring", "wald", "bosque", "лес", "森林", "yoga", "hike", "market", "markt", "mercado"}},
		{"ocean", "#E3F4FA", "#0B3C5D", "#1793C7", "#F2C14E", "#072A40", "#EFFBFF", []string{"sea", "ocean", "water", "swim", "meer", "mar", "море", "海", "blue", "sail", "winter"}},
		{"rose", "#FFEFF1", "#8C2F4B", "#E8637F", "#F6C7B6", "#4A1226", "#FFF5F6", []string{"love", "wedding", "birthday", "liebe", "hochzeit", "boda", "amor", "любовь", "свадьба", "爱", "婚礼", "geburtstag", "cumpleaños", "pink"}},
		{"mono", "#F4F4F1", "#141414", "#E5383B", "#BFBFB8", "#141414", "#FAFAF7", []string{"exhibition", "design", "modern", "talk", "lecture", "vortrag", "ausstellung", "exposición", "выставка", "展览", "black"}},
		{"honey", "#FFF6DA", "#5B3A00", "#F4A300", "#D95D39", "#3A2400", "#FFF9E8", []string{"breakfast", "coffee", "bread", "autumn", "herbst", "otoño", "осень", "秋", "kaffee", "café", "кофе", "咖啡", "yellow"}},
	}
}

// PaletteFor chooses by the words, and by chance where they name nothing.
func PaletteFor(text string, chance uint64) Palette {
	list := palettes()
	text = strings.ToLower(text)
	for _, p := range list {
		if slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(text, w) }) {
			return p
		}
	}
	return list[chance%uint64(len(list))]
}
