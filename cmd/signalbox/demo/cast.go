package demo

import (
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/users"
)

// cast are the people. The first is the person at this machine, so that they find results of their own.
var cast = [...]struct {
	identity users.Identity
	weight   int // how often they are here
	credit   billing.NanoUSD
}{
	{users.Identity{Platform: "web", ExternalID: "local", Name: "Local user"}, 4, 0},
	{users.Identity{Platform: "telegram", ExternalID: "410001", Name: "Ann Lee", Handle: "@annlee", Language: "en"}, 6, 5 * billing.Dollar},
	{users.Identity{Platform: "telegram", ExternalID: "410002", Name: "Bruno Keller", Handle: "@bkeller", Language: "de"}, 3, 0},
	{users.Identity{Platform: "discord", ExternalID: "410000000000000003", Name: "Carmen", Language: "es"}, 4, 2 * billing.Dollar},
	{users.Identity{Platform: "discord", ExternalID: "410000000000000004", Name: "pixelsmith"}, 5, 10 * billing.Dollar},
	{users.Identity{Platform: "telegram", ExternalID: "410005", Name: "Дарья", Language: "ru"}, 2, 0},
	{users.Identity{Platform: "telegram", ExternalID: "410006", Name: "王芳", Language: "zh"}, 2, 0},
	{users.Identity{Platform: "discord", ExternalID: "410000000000000007", Name: "Elif"}, 1, 0},
}

// wish is what somebody asks for.
type wish struct {
	tool     string
	inputs   map[string]any
	canceled bool // thought better of at once
	torn     bool // of a file that is no whole picture, so that it fails
}

// sentences are what people have drawn.
var sentences = [...]string{
	"a poster for Friday: Summer party, 8 pm, garden",
	"a quote card: Less, but better",
	"a poster for Saturday: Flea market, 10 am, town square",
	"a card: Happy birthday, Bruno",
	"a bar chart: Mon 4, Tue 7, Wed 12, Thu 9, Fri 15",
	"a poster: Jazz in the yard, Sunday, 6 pm",
}

// onPictures are the tools that go on from a picture.
var onPictures = [...]string{"poster", "filmlook", "sticker", "contactsheet", "beforeafter"}

// sizes are those of wallpapers: small, so that a week takes seconds.
var sizes = [...][2]int{{640, 400}, {400, 640}, {512, 512}}

// wish is what a person asks for in the i-th run: a wallpaper, a drawing, or something made of their last picture.
func (h *house) wish(p *person, i int) wish {
	w := wish{canceled: i%17 == 9, torn: i%29 == 20}
	switch n := h.chance.IntN(10); {
	case w.torn:
		w.tool, w.inputs = onPictures[h.chance.IntN(len(onPictures))], map[string]any{}
	case n < 2:
		w.tool, w.inputs = "draw", map[string]any{"text": sentences[i%len(sentences)]}
	case n < 6 && p.picture != "":
		w.tool, w.inputs = onPictures[h.chance.IntN(len(onPictures))], map[string]any{"image": p.picture}
	default:
		size := sizes[h.chance.IntN(len(sizes))]
		w.tool, w.inputs = "wallpaper", map[string]any{"width": size[0], "height": size[1], "colors": 3 + h.chance.IntN(9), "seed": h.chance.IntN(1_000_000)}
	}
	return w
}
